# Gets Claude Code and Codex, and a folder in which they work offline against a scripted model. Sourced by the scripts beside
# it, after `node.sh`, from the root of the project; sets `claude`, `codex`, `root`, `work`.
fetch @anthropic-ai/claude-code claude-code 2.1.329
fetch @openai/codex codex 0.169.0
claude=$home/claude-code-2.1.329/node_modules/.bin/claude
codex=$home/codex-0.169.0/node_modules/.bin/codex
cargo build --workspace --bin statemark --example conformance
root=$PWD
work=$(mktemp -d "$home/offline.XXXXXX")
trap 'kill ${model:-} 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$work/home/.codex" "$work/bin"
ln -s "$target/debug/statemark" "$work/bin/statemark"
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config CODEX_HOME=$work/home/.codex PATH=$work/bin:$PATH
export ANTHROPIC_API_KEY=none CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
unset STATEMARK_STORE STATEMARK_TOKEN STATEMARK_RUN

fail() {
    echo "$*" >&2
    exit 1
}

# Starts a model that makes the calls of a script; what tools have answered comes into `$work/log`. Sets `address`.
begin_model() {
    rm -f "$work/log" "$work/address"
    touch "$work/log"
    printf '%s\n' "$1" >"$work/script"
    "$node" "$root/tests/server/model.mjs" "$work/script" "$work/log" >"$work/address" &
    model=$!
    address=$(line_of "$work/address")
}
