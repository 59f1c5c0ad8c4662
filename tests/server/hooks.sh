#!/usr/bin/env bash
# `statemark hook` in the clients themselves: Claude Code, Codex and OpenCode work offline against a scripted model, and a tool of their
# own that one state withholds runs in the next. Then the hook is missing, crashes, or finds no store.
# Fetches the clients (about 1 GB, two minutes) into the target folder; on demand, not part of tests/run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

. tests/server/offline.sh

# Begins a project with a run, in which the hook of a client is installed, and goes into it.
begin() {
    local client=$1
    mkdir "$work/$client"
    cd "$work/$client"
    git init --quiet .
    cat >steps.workflow.json <<'SPEC'
{
  "id": "steps",
  "initial": "look",
  "states": {
    "look": { "allowed_tools": ["Read"], "instructions": "Look, and change nothing.", "on": { "READY": "change" } },
    "change": { "allowed_tools": ["Read", "Write(*.txt)", "Bash"], "on": { "DONE": "over" } },
    "over": { "type": "final" }
  }
}
SPEC
    statemark hook install "$client"
    statemark mcp add "$client"
    statemark start steps --run-id "$client" >/dev/null
}

# Lets a client work through a script of calls; what its tools have answered is in `$work/log`.
work_through() {
    local script=$1
    shift
    begin_model "$script"
    "$@" >"$work/said" 2>&1 </dev/null || fail "$(cat "$work/said")"
    kill "$model"
}

as_claude() {
    ANTHROPIC_BASE_URL=$address timeout 120 "$claude" -p go --permission-mode acceptEdits \
        --mcp-config .mcp.json --allowedTools mcp__statemark__send_event
}

as_codex() {
    cat >"$CODEX_HOME/config.toml.new" <<CONFIG
model_provider = "scripted"
model = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "$address/v1"
wire_api = "responses"
[projects."$PWD"]
trust_level = "trusted"
[mcp_servers.statemark]
command = "statemark"
args = ["serve"]
default_tools_approval_mode = "approve"
CONFIG
    mv "$CODEX_HOME/config.toml.new" "$CODEX_HOME/config.toml"
    timeout 120 "$codex" exec --sandbox danger-full-access "$@" go
}

answered() {
    grep -qF -- "$1" "$work/log" || fail "no tool has answered \`$1\`:
$(cat "$work/log" "$work/said")"
}

write() {
    echo "{\"name\": \"Write\", \"input\": {\"file_path\": \"$PWD/$1\", \"content\": \"x\\n\"}}"
}

echo "== Claude Code: a tool that one state withholds runs in the next"
begin claude
work_through "$(
    write one.txt
    echo '{"name": "ToolSearch", "input": {"query": "select:mcp__statemark__send_event"}}'
    echo '{"name": "mcp__statemark__send_event", "input": {"run_id": "claude", "event": "READY"}}'
    write two.txt
    write three.md
)" as_claude
[ ! -e one.txt ] || fail "the state \`look\` lets a file be written"
[ -e two.txt ] || fail "the state \`change\` lets no file be written: $(cat "$work/log" "$work/said")"
[ ! -e three.md ] || fail "a file is written that no pattern grants"
answered 'isn'"'"'t granted: `look` grants `Read`; go on with `READY` (granted in `change`'
statemark events claude >"$work/events"
grep -q "session \`claude:.*is held" "$work/events" || fail "the session isn't bound: $(cat "$work/events")"
grep -q "\`Write\` has run" "$work/events" || fail "the call isn't recorded: $(cat "$work/events")"

echo "== Claude Code: the hook fails, and the tool doesn't run"
mv .statemark/runs.db "$work/runs.db"
work_through "$(write four.txt)" as_claude
[ ! -e four.txt ] || fail "a file is written though the store is gone"
answered "there is no store in"
mv "$work/runs.db" .statemark/runs.db
rm "$work/bin/statemark"
work_through "$(write five.txt)" as_claude
[ ! -e five.txt ] || fail "a file is written though the hook's program is missing"
printf '#!/bin/sh\nkill -SEGV $$\n' >"$work/bin/statemark"
chmod +x "$work/bin/statemark"
work_through "$(write six.txt)" as_claude
[ ! -e six.txt ] || fail "a file is written though the hook crashes"
rm "$work/bin/statemark"
ln -s "$target/debug/statemark" "$work/bin/statemark"
work_through "$(write seven.txt)" as_claude
[ -e seven.txt ] || fail "nothing is written though the hook is whole again: $(cat "$work/log" "$work/said")"

run() {
    echo "{\"name\": \"exec_command\", \"input\": {\"cmd\": \"touch $1\"}}"
}

echo "== Codex: a tool that one state withholds runs in the next"
begin codex
work_through "$(
    run one.txt
    echo '{"name": "send_event", "namespace": "mcp__statemark", "input": {"run_id": "codex", "event": "READY"}}'
    run two.txt
)" as_codex --dangerously-bypass-hook-trust
[ ! -e one.txt ] || fail "the state \`look\` lets a program run"
[ -e two.txt ] || fail "the state \`change\` lets no program run: $(cat "$work/log" "$work/said")"
answered 'isn'"'"'t granted: `look` grants `Read`; go on with `READY` (granted in `change`'
statemark events codex >"$work/events"
grep -q "session \`codex:.*is held" "$work/events" || fail "the session isn't bound: $(cat "$work/events")"
grep -q "\`Bash\` has run" "$work/events" || fail "the call isn't recorded: $(cat "$work/events")"

echo "== Codex: what it does without the hook's answer, which the book says"
mv .statemark/runs.db "$work/runs.db"
work_through "$(run three.txt)" as_codex --dangerously-bypass-hook-trust
[ ! -e three.txt ] || fail "a program runs though the store is gone"
mv "$work/runs.db" .statemark/runs.db
statemark start steps --run-id codex-2 >/dev/null
work_through "$(run four.txt)" as_codex
[ -e four.txt ] || fail "Codex runs a hook that nobody trusts: the book says that it doesn't"
rm "$work/bin/statemark"
work_through "$(run five.txt)" as_codex --dangerously-bypass-hook-trust
[ -e five.txt ] || fail "Codex keeps a tool from running where the hook is missing: the book says that it doesn't"

as_opencode() {
    model_of_opencode
    timeout 120 "$opencode" run --format json -- go
}

write() {
    echo "{\"name\": \"write\", \"input\": {\"filePath\": \"$PWD/$1\", \"content\": \"x\\n\"}}"
}

ln -sf "$target/debug/statemark" "$work/bin/statemark"
echo "== OpenCode: a tool that one state withholds runs in the next, and a sub-agent's is held, too"
begin opencode
export MODEL_DEBUG=1
work_through "$(
    write one.txt
    echo '{"name": "statemark_send_event", "input": {"run_id": "opencode", "event": "READY"}}'
    write two.txt
    write three.md
    echo "{\"name\": \"read\", \"input\": {\"filePath\": \"$PWD/none.txt\"}}"
)" as_opencode
unset MODEL_DEBUG
[ ! -e one.txt ] || fail "the state \`look\` lets a file be written"
[ -e two.txt ] || fail "the state \`change\` lets no file be written: $(cat "$work/log" "$work/said")"
[ ! -e three.md ] || fail "a file is written that no pattern grants"
answered 'isn'"'"'t granted: `look` grants `Read`; go on with `READY` (granted in `change`'
grep -q 'Look, and change nothing' "$work/log.requests" || fail "the agent isn't told where its run is"
statemark events opencode >"$work/events"
grep -q "session \`opencode:.*is held by" "$work/events" || fail "the session isn't bound: $(cat "$work/events")"
grep -q "\`write\` has run" "$work/events" || fail "the call isn't recorded: $(cat "$work/events")"
grep -q "\`read\` failed" "$work/events" || fail "the failure isn't recorded: $(cat "$work/events")"
statemark send opencode DONE >/dev/null
cat >helped.workflow.json <<'SPEC'
{
  "id": "helped",
  "initial": "look",
  "states": {
    "look": { "allowed_tools": ["Read", "task"], "on": { "READY": "over" } },
    "over": { "type": "final" }
  }
}
SPEC
statemark start helped --run-id opencode-2 >/dev/null
work_through "$(
    echo '{"name": "task", "input": {"description": "write", "prompt": "write", "subagent_type": "general"}}'
    write four.txt
)" as_opencode
[ ! -e four.txt ] || fail "a sub-agent writes a file that its session may not write"
answered 'isn'"'"'t granted: `look` grants `Read`, `task`; go on with `READY`'

echo "== OpenCode: its commands have the variables that the state says"
statemark send opencode-2 READY >/dev/null
cat >variables.workflow.json <<'SPEC'
{
  "id": "variables",
  "initial": "work",
  "states": {
    "work": { "allowed_tools": ["Bash"], "blocked_env": ["AWS_*"], "env_overrides": { "PROFILE": "test" }, "on": { "DONE": "over" } },
    "over": { "type": "final" }
  }
}
SPEC
statemark start variables --run-id opencode-3 >/dev/null
AWS_KEY=hidden PROFILE=live work_through \
    '{"name": "bash", "input": {"command": "echo [${AWS_KEY-none}] [$PROFILE]", "description": "says"}}' as_opencode
answered '[none] [test]'
statemark send opencode-3 DONE >/dev/null
statemark start steps --run-id opencode-4 >/dev/null

echo "== OpenCode: the hook fails, and the tool doesn't run"
mv .statemark/runs.db "$work/runs.db"
work_through "$(write five.txt)" as_opencode
[ ! -e five.txt ] || fail "a file is written though the store is gone"
answered "there is no store in"
mv "$work/runs.db" .statemark/runs.db
rm "$work/bin/statemark"
work_through "$(write six.txt)" as_opencode
[ ! -e six.txt ] || fail "a file is written though the hook's program is missing"
