#!/usr/bin/env bash
# `statemark agent run` with the command lines of agents themselves: Claude Code, Codex, Gemini CLI and OpenCode work offline against a
# scripted model, start our server for the run alone, and a tool of their own that the state withholds doesn't run.
# Fetches the clients (about 1 GB, two minutes) into the target folder; on demand, not part of tests/run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

. tests/server/offline.sh

# Begins a project whose first state is worked on by a client; further keys of the state may follow.
begin() {
    local client=$1 program=$2 keys=${3:-}
    mkdir "$work/$client"
    cd "$work/$client"
    git init --quiet .
    cat >steps.workflow.json <<SPEC
{
  "id": "steps",
  "initial": "look",
  "states": {
    "look": { "executor": "$client", "max_attempts": 1, $keys"allowed_tools": ["Read"], "instructions": "Look, and change nothing.", "on": { "READY": "over" } },
    "over": { "type": "final" }
  }
}
SPEC
    cat >statemark.toml <<CONFIG
[executor.$client]
command = ["$program"]
inherit = ["ANTHROPIC_API_KEY", "GEMINI_API_KEY"]
CONFIG
}

# Lets the executor work while a scripted model makes these calls.
work_through() {
    begin_model "$1"
    model_of_opencode
    if [ -e "$CODEX_HOME/config.toml" ]; then sed -i "s|ADDRESS|$address|" "$CODEX_HOME/config.toml"; fi
    ANTHROPIC_BASE_URL=$address GOOGLE_GEMINI_BASE_URL=$address timeout 180 statemark agent run steps --run-id r >"$work/said" 2>&1 </dev/null ||
        fail "$(cat "$work/said" "$work/log"; statemark transcript r)"
    kill "$model"
}

# Checks that the state has kept a tool from writing a file, that the attempt tells so with what it cost, and that the run is over.
check_attempt() {
    local refused=$1
    [ ! -e one.txt ] || fail "the state \`look\` lets a file be written"
    statemark transcript r >"$work/transcript"
    grep -q "$refused denied" "$work/transcript" || fail "the refusal isn't recorded in the attempt: $(cat "$work/transcript")"
    grep -q 'tokens read' "$work/transcript" || fail "nobody says what it cost: $(cat "$work/transcript")"
    statemark state r | grep -q completed || fail "the run isn't over: $(statemark state r)"
}

echo "== Claude Code: withheld tools don't run, the event is sent by a server for this run alone"
begin claude "$claude"
work_through "$(
    echo "{\"name\": \"Write\", \"input\": {\"file_path\": \"$PWD/one.txt\", \"content\": \"x\\n\"}}"
    echo '{"name": "ToolSearch", "input": {"query": "select:mcp__statemark__send_event"}}'
    echo '{"name": "mcp__statemark__send_event", "input": {"event": "READY"}}'
)"
check_attempt Write

echo "== Codex: the same, with the hook in its own configuration"
begin codex "$codex"
statemark hook install codex
cat >"$CODEX_HOME/config.toml" <<CONFIG
model_provider = "scripted"
model = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "ADDRESS/v1"
wire_api = "responses"
[projects."$PWD"]
trust_level = "trusted"
[mcp_servers.statemark]
default_tools_approval_mode = "approve"
CONFIG
printf 'arguments = ["--dangerously-bypass-hook-trust"]\n' >>statemark.toml
work_through "$(
    echo '{"name": "exec_command", "input": {"cmd": "touch one.txt"}}'
    echo '{"name": "send_event", "namespace": "mcp__statemark", "input": {"event": "READY"}}'
)"
check_attempt Bash

echo "== Gemini CLI: the same, with settings that are made for it, also where it hides variables from what it starts"
begin gemini "$gemini" '"model": "gemini-2.5-flash", '
export GITHUB_SHA=none
work_through "$(
    echo "{\"name\": \"write_file\", \"input\": {\"file_path\": \"$PWD/one.txt\", \"content\": \"x\\n\"}}"
    echo '{"name": "mcp_statemark_send_event", "input": {"event": "READY"}}'
)"
unset GITHUB_SHA
check_attempt write_file
grep -q '\[mcp_statemark_send_event' "$work/transcript" || fail "what the agent has done isn't recorded: $(cat "$work/transcript")"
echo '{}' >"$work/system.json"
if GEMINI_CLI_SYSTEM_SETTINGS_PATH=$work/system.json statemark agent run steps --run-id s >"$work/said" 2>&1 </dev/null; then
    fail "an attempt takes the place of the system's settings"
fi
grep -q "settings for this system" "$work/said" || fail "$(cat "$work/said")"

echo "== OpenCode: the same, with a plugin that is made for it"
begin opencode "$opencode"
work_through "$(
    echo "{\"name\": \"write\", \"input\": {\"filePath\": \"$PWD/one.txt\", \"content\": \"x\\n\"}}"
    echo '{"name": "statemark_send_event", "input": {"event": "READY"}}'
)"
check_attempt write
