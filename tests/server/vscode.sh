#!/usr/bin/env bash
# The extension of VS Code in VS Code itself: code-server, driven in Chromium. It is built, packaged and installed from
# `compiler/lsp/vscode`; a document has its findings, the drawing follows the text and a run, and nothing of the page is refused.
# Fetches code-server (600 MB), playwright-core and what builds the extension into the target folder, pinned; on demand, not part
# of tests/run. Needs Chromium (or CHROMIUM=/path/to/it), python3 with pip, a C++ compiler and, on Debian,
# libkrb5-dev libsecret-1-dev libx11-dev libxkbfile-dev pkg-config.
# `vscode.sh FILE` writes a picture there, too.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$chromium" ]; then
    echo "no Chromium: install one, or say where it is with CHROMIUM" >&2
    exit 1
fi
fetch playwright-core playwright-core 1.65.1

# Its own packages come by a script after its installation, which npm runs only where it is told to.
code=$home/code-server-4.139.1
if [ ! -e "$code/.whole" ]; then
    rm -rf "$code"
    mkdir -p "$code"
    (
        cd "$code"
        "${npm[@]}" install --no-audit --no-fund --silent code-server@4.139.1
        "${npm[@]}" approve-scripts code-server argon2
        "${npm[@]}" rebuild --silent argon2 code-server
    )
    touch "$code/.whole"
fi

cargo build --workspace --bin statemark --example conformance

work=$(mktemp -d "$home/vscode.XXXXXX")
server=
trap '[ -z "$server" ] || kill "$server" || true; wait || true; rm -rf "$work"' EXIT
cp -RL compiler/lsp/vscode "$work/extension"
(
    cd "$work/extension"
    "${npm[@]}" install --no-audit --no-fund --silent
    "${npm[@]}" run --silent package >/dev/null
)

statemark=$target/debug/statemark
project=$work/project
mkdir -p "$project/.statemark" "$work/data/User" "$work/data/Machine"
cp tests/server/editors/door.md "$project/"
cp examples/turnstile/turnstile.md "$project/"
(
    cd "$project"
    # By the same user as the server below: stores are their maker's.
    export HOME=$work
    "$statemark" start turnstile --run-id at-the-gate >/dev/null
    "$statemark" send at-the-gate coin >/dev/null
)
cat >"$work/data/User/settings.json" <<JSON
{
  "workbench.startupEditor": "none",
  "workbench.colorTheme": "Default Light Modern",
  "chat.disableAIFeatures": true,
  "security.workspace.trust.enabled": false
}
JSON

printf '{ "statemark.server.path": "%s" }\n' "$statemark" >"$work/data/Machine/settings.json"

run=("$node" "$code/node_modules/code-server/out/node/entry.js"
    --user-data-dir "$work/data" --extensions-dir "$work/extensions")
"${run[@]}" --install-extension "$work/extension/statemark.vsix" </dev/null >"$work/install.log" 2>&1 ||
    { cat "$work/install.log" >&2; exit 1; }

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
HOME=$work "${run[@]}" --auth none --bind-addr "127.0.0.1:$port" --disable-telemetry --disable-update-check \
    --disable-workspace-trust "$project" </dev/null >"$work/server.log" 2>&1 &
server=$!

HOME=$work CHROMIUM=$chromium STATEMARK=$statemark PROJECT=$project PICTURE=${1:-} \
    PLAYWRIGHT=$home/playwright-core-1.65.1/node_modules/playwright-core/index.mjs \
    timeout 300 "$node" tests/server/editors/vscode.mjs "http://127.0.0.1:$port/?folder=$project"
