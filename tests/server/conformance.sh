#!/usr/bin/env bash
# Runs the official conformance suite against a fixture on our own router (tests/server/conformance): 0.1.16 with all its
# scenarios, and 0.2.0-alpha.12 with the requirements of both eras. No failure is expected, so there is no list of such. The
# extension for tasks, which the suite runs but doesn't score, isn't offered by the server.
# Fetches Node.js and the suite into the target folder the first time; `conformance.sh fetch` does only that.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

fetch @modelcontextprotocol/conformance conformance 0.1.16
fetch @modelcontextprotocol/conformance conformance 0.2.0-alpha.12
if [ "${1:-}" = fetch ]; then
    exit
fi

cargo build --workspace --example conformance
address=$home/conformance.url
rm -f "$address"
"$target/debug/examples/conformance" 127.0.0.1:0 >"$address" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
url=$(line_of "$address")

suite() {
    local version=$1
    shift
    echo "== conformance $version $*"
    local log=$home/conformance-$version.log
    (cd "$home" && "$node" "conformance-$version/node_modules/@modelcontextprotocol/conformance/dist/index.js" \
        server --url "$url" "$@") >"$log" 2>&1 || { tail -n 60 "$log"; echo "it failed: $log" >&2; exit 1; }
    if grep '^✗' "$log" | grep -v '^✗ tasks-'; then
        echo "these failed: $log" >&2
        exit 1
    fi
    # Scenarios of the extension are counted apart.
    grep -E '^✓' "$log" | awk '{ passed += $3; scenarios += 1 } END { print scenarios " scenarios, " passed " checks passed, none failed" }'
    grep -E '^Not scored' "$log" || true
}

suite 0.1.16 --suite all
suite 0.2.0-alpha.12 --requirements 2025-11-25
suite 0.2.0-alpha.12 --requirements 2026-07-28
