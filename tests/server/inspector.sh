#!/usr/bin/env bash
# The MCP Inspector's command line connects to `statemark serve` in both eras of the protocol, over standard input and output
# and over HTTP, with its strict look at schemas and a call that errs.
# Fetches Node.js and the Inspector (110 MB) into the target folder the first time; `inspector.sh fetch` does only that.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

fetch @modelcontextprotocol/inspector inspector 2.12.0
if [ "${1:-}" = fetch ]; then
    exit
fi
inspector=$home/inspector-2.12.0/node_modules/.bin/mcp-inspector
. tests/server/served.sh

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
