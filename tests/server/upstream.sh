#!/usr/bin/env bash
# Servers of others behind our gate: the reference servers for files and for everything that the protocol has, over standard
# input and output and over HTTP, accepted, pinned, granted by state, and called through `statemark serve`.
# Fetches Node.js and both servers (130 MB) into the target folder the first time; `upstream.sh fetch` does only that.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

fetch @modelcontextprotocol/server-filesystem filesystem 2026.8.31
fetch @modelcontextprotocol/server-everything everything 2026.8.31
fetch @modelcontextprotocol/inspector inspector 2.12.0
if [ "${1:-}" = fetch ]; then
    exit
fi
inspector=$home/inspector-2.12.0/node_modules/.bin/mcp-inspector
filesystem=$home/filesystem-2026.8.31/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js
everything=$home/everything-2026.8.31/node_modules/@modelcontextprotocol/server-everything/dist/index.js
. tests/server/served.sh

# The server that listens, at a free port.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
PORT=$port "$node" "$everything" streamableHttp 2>"$work/everything" >&2 &
far=$!
trap 'kill ${server:-} ${far:-} 2>/dev/null || true; rm -rf "$work"' EXIT

mkdir -p "$work/project/notes"
echo "the text of a file" >"$work/project/notes/a.txt"
# The Inspector passes no variables on, so the store stands here.
cat >statemark.toml <<TOML
store = "gate.db"

[upstream.files]
command = ["$node", "$filesystem", "$work/project/notes"]

[upstream.near]
command = ["$node", "$everything", "stdio"]

[upstream.far]
url = "http://127.0.0.1:$port/mcp"
TOML
cat >gate.md <<'SPEC'
## STATE-MACHINE: gate

```mermaid
stateDiagram-v2
    [*] --> look
    look --> act : ready
```

```json definition
{"states": {"look": {"allowed_tools": ["files__read_*", "files__list_*"]}, "act": {"allowed_tools": ["*__*"]}}}
```
SPEC
token=smk_$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')
printf %s "$token" | sha256sum | cut -d' ' -f1 >"$work/ann.sha256"
"$statemark" store init --person ann --token-hash "$work/ann.sha256"
for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done
for name in files near far; do
    STATEMARK_TOKEN=$token "$statemark" upstream accept "$name" >"$work/accepted" || fail "$name: $(cat "$work/accepted")"
done
"$statemark" upstream check || fail "the servers aren't as they were pinned"

offered="files__read_text_file near__echo far__echo"

# Calls a tool, and checks that the answer says something.
call() {
    local wanted=$1 tool=$2 said
    shift 2
    said=$("$inspector" --cli --method tools/call --tool-name "$tool" --tool-arg "$@" -- "$statemark" serve 2>&1) || true
    grep -qF -- "$wanted" <<<"$said" || fail "\`$tool $*\` doesn't say \`$wanted\`:
$said"
}

# The Inspector reads one page of a list.
"$inspector" --cli --method tools/list --strict -- "$statemark" serve --allowed-tools "$(tr ' ' , <<<"$offered")" >"$work/tools" 2>"$work/strict" ||
    fail "$(cat "$work/tools" "$work/strict")"
for tool in $offered; do
    grep -qF "\"$tool\"" "$work/tools" || fail "\`$tool\` isn't offered"
done
"$statemark" start gate --run-id g >/dev/null
call "the text of a file" files__read_text_file "path=$work/project/notes/a.txt"
call not_granted files__write_file "path=$work/project/notes/b.txt" content=no
call not_granted near__echo message=no
[ ! -e notes/b.txt ] || fail "a file was written that the state doesn't grant"
"$statemark" send g ready >/dev/null
call "Echo: hello" near__echo message=hello
call "Echo: hello" far__echo message=hello
call "denied" files__read_text_file path=/etc/passwd
"$statemark" events g | grep -qF '`near__echo` has run' || fail "the call isn't in the journal"

# A definition that the server changes: here another version would do that.
sed -i 's/"description": "Echoes back the input/"description": "Echoes back nothing of the input/' statemark.lock
"$statemark" upstream check >"$work/changed" && fail "a changed tool passes"
grep -qF "near__echo: not the tool that was accepted" "$work/changed" || fail "$(cat "$work/changed")"
# It is offered to nobody.
call tool_not_found near__echo message=hello
echo "== servers of others: files, everything over standard input and output, everything over HTTP"
