#!/usr/bin/env bash
# Agents that others have written connect to `statemark serve`, over standard input and output and over HTTP: Claude Code,
# Codex and Gemini CLI, by the entries that `statemark mcp add` writes.
# Fetches them (about 900 MB, a minute and a half) into the target folder; on demand, not part of tests/run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

fetch @anthropic-ai/claude-code claude-code 2.1.329
fetch @openai/codex codex 0.169.0
fetch @google/gemini-cli gemini-cli 0.61.0
claude=$home/claude-code-2.1.329/node_modules/.bin/claude
gemini=$home/gemini-cli-0.61.0/node_modules/.bin/gemini
codex=$home/codex-0.169.0/node_modules/.bin/codex
. tests/server/served.sh

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
listed=$("$node" "$root/tests/server/codex.mjs" "$codex")
for name in by_stdio by_http; do
    grep -E "^$name .*\bsend_event\b" <<<"$listed" || fail "Codex has no tools of $name:
$listed"
done

echo "== Gemini CLI"
"$statemark" mcp add gemini --user --name by-stdio
"$statemark" mcp add gemini --user --name by-http --http "$url"
listed=$(GEMINI_CLI_TRUST_WORKSPACE=true "$gemini" mcp list 2>&1)
for name in by-stdio by-http; do
    grep -E "$name:.*Connected" <<<"$listed" || fail "Gemini CLI isn't connected with $name:
$listed"
done
