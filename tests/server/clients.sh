#!/usr/bin/env bash
# Clients that others have written connect to `statemark serve`, over standard input and output and over HTTP: the MCP
# Inspector in both eras with its strict look at schemas and a call that errs, Claude Code, and Codex.
# Fetches them (about 900 MB, a minute and a half) into the target folder; on demand, not part of tests/run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

fetch @modelcontextprotocol/inspector inspector 2.12.0
fetch @anthropic-ai/claude-code claude-code 2.1.329
fetch @openai/codex codex 0.169.0
inspector=$home/inspector-2.12.0/node_modules/.bin/mcp-inspector
claude=$home/claude-code-2.1.329/node_modules/.bin/claude
codex=$home/codex-0.169.0/node_modules/.bin/codex

cargo build --workspace --bin statemark
statemark=$target/debug/statemark

work=$(mktemp -d "$home/clients.XXXXXX")
mkdir -p "$work/home" "$work/project/.statemark"
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
# Nothing of whoever runs this is read or changed.
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config CODEX_HOME=$work/home/.codex
unset STATEMARK_STORE STATEMARK_TOKEN
cp examples/paper/paper.md "$work/project"
cd "$work/project"
"$statemark" serve --http 127.0.0.1:0 2>"$work/listening" &
server=$!
line=$(for _ in $(seq 200); do [ -s "$work/listening" ] && head -n 1 "$work/listening" && break; sleep 0.05; done)
url=${line#listening at }

fail() {
    echo "$*" >&2
    exit 1
}

# Runs the Inspector, and checks that it says something; its exit code tells of errors that a tool has answered with, too.
inspect() {
    local wanted=$1 said
    shift
    said=$("$inspector" --cli --protocol-era "$era" "$@" 2>&1) || true
    grep -qF -- "$wanted" <<<"$said" || fail "the Inspector ($era) with $* doesn't say \`$wanted\`:
$said"
}

for era in legacy modern; do
    for transport in stdio http; do
        echo "== Inspector, $era era, $transport"
        if [ "$transport" = stdio ]; then
            target_of=("$statemark" serve)
        else
            target_of=("$url")
        fi
        "$inspector" --cli --protocol-era "$era" --method tools/list --strict "${target_of[@]}" >"$work/tools" 2>"$work/strict" ||
            fail "$(cat "$work/tools" "$work/strict")"
        run=$era-$transport
        inspect '"ok": true' --method tools/call --tool-name start_run --tool-arg workflow=paper "run_id=$run" -- "${target_of[@]}"
        inspect unknown_run --method tools/call --tool-name get_run --tool-arg run_id=none -- "${target_of[@]}"
        inspect drive-paper --method prompts/list "${target_of[@]}"
        inspect statemark://workflow/paper/table --method resources/list "${target_of[@]}"
        inspect run.started --method resources/read --uri "statemark://run/$run" "${target_of[@]}"
    done
done

echo "== Claude Code"
"$statemark" mcp add claude --user --name by-stdio
"$statemark" mcp add claude --user --name by-http --http "$url"
listed=$("$claude" mcp list 2>&1)
for name in by-stdio by-http; do
    grep -E "^$name:.*Connected" <<<"$listed" || fail "Claude Code isn't connected with $name:
$listed"
done

echo "== Codex"
"$statemark" mcp add codex --name by_stdio
"$statemark" mcp add codex --name by_http --http "$url"
listed=$("$node" "$OLDPWD/tests/server/codex.mjs" "$codex")
for name in by_stdio by_http; do
    grep -E "^$name .*\bsend_event\b" <<<"$listed" || fail "Codex has no tools of $name:
$listed"
done
