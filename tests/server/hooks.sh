#!/usr/bin/env bash
# `statemark hook` in the clients themselves: Claude Code, Codex, Gemini CLI and OpenCode work offline against a scripted model, and a
# tool of their own that one state withholds runs in the next. Then the hook is missing, crashes, or finds no store.
# Of Cursor, whose agent works at its servers, the part that reads and runs hooks is tried.
# Fetches the clients (about 1 GB, two minutes) into the target folder; on demand, not part of tests/run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/server/node.sh

. tests/server/offline.sh
fetch @cursor/sdk cursor-sdk 1.0.32

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

# Starts a run whose commands have other variables than the client.
begin_variables() {
    cat >variables.workflow.json <<'SPEC'
{
  "id": "variables",
  "initial": "work",
  "states": {
    "work": { "allowed_tools": ["Bash"], "blocked_env": ["PLANTED_*"], "env_overrides": { "PROFILE": "test" }, "on": { "DONE": "over" } },
    "over": { "type": "final" }
  }
}
SPEC
    statemark start variables --run-id "$1" >/dev/null
    export PLANTED_KEY=hidden PROFILE=live
}

# Ends it: its commands had what the state says, and none of them counts twice.
end_variables() {
    statemark events "$1" >"$work/events"
    [ "$(grep -c ' may run' "$work/events")" = "$(grep -c ' has run' "$work/events")" ] ||
        fail "calls end that have not begun, or begin and don't end: $(cat "$work/events")"
    statemark send "$1" DONE >/dev/null
    unset PLANTED_KEY PROFILE
}

# What a command says of its variables.
says='printenv PLANTED_KEY || echo [none]; printenv PROFILE'

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
        --mcp-config .mcp.json --allowedTools mcp__statemark__send_event "$@"
}

# Says to Codex where the model is, and that a person trusts the project.
model_of_codex() {
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
}

as_codex() {
    model_of_codex
    timeout 120 "$codex" exec --sandbox danger-full-access "$@" go
}

# Takes the hook's program away, or puts one in its place that crashes, or the right one.
break_hook() {
    rm -f "$work/bin/statemark"
}

crash_hook() {
    break_hook
    printf '#!/bin/sh\nkill -SEGV $$\n' >"$work/bin/statemark"
    chmod +x "$work/bin/statemark"
}

mend_hook() {
    ln -sf "$target/debug/statemark" "$work/bin/statemark"
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
break_hook
work_through "$(write five.txt)" as_claude
[ ! -e five.txt ] || fail "a file is written though the hook's program is missing"
crash_hook
work_through "$(write six.txt)" as_claude
[ ! -e six.txt ] || fail "a file is written though the hook crashes"
mend_hook
work_through "$(write seven.txt)" as_claude
[ -e seven.txt ] || fail "nothing is written though the hook is whole again: $(cat "$work/log" "$work/said")"

echo "== Claude Code: its commands have the variables that the state says, and its permissions judge the prefix, too"
begin_variables claude-2
run() {
    echo "{\"name\": \"Bash\", \"input\": {\"command\": \"$1\", \"description\": \"says\"}}"
}
work_through "$(run "$says")" as_claude Bash
answered '[none]\ntest'
work_through "$(run 'touch asked.txt')" as_claude 'Bash(touch:*)'
[ ! -e asked.txt ] || fail "a command runs that a person would have been asked about"
answered 'require approval: unset -v PLANTED_KEY, export PROFILE=test'
statemark events claude-2 | grep -c ' may run' >"$work/begun"
[ "$(cat "$work/begun")" = 2 ] || fail "the call that was asked about isn't recorded"
work_through "$(run 'touch asked.txt')" as_claude 'Bash(touch:*)' 'Bash(unset -v PLANTED_KEY)' 'Bash(export PROFILE=test)'
[ -e asked.txt ] || fail "rules for the prefix don't let it run: the book says that they do"
work_through "$(run 'touch denied.txt')" as_claude Bash --disallowedTools 'Bash(touch:*)'
[ ! -e denied.txt ] || fail "the prefix hides a command from the client's own rules"
statemark send claude-2 DONE >/dev/null
unset PLANTED_KEY PROFILE

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
break_hook
work_through "$(run five.txt)" as_codex --dangerously-bypass-hook-trust
[ ! -e five.txt ] || fail "a program runs though the hook's program is missing"
crash_hook
work_through "$(run six.txt)" as_codex --dangerously-bypass-hook-trust
[ ! -e six.txt ] || fail "a program runs though the hook crashes"
mend_hook
statemark send codex-2 READY >/dev/null
work_through "$(run seven.txt)" as_codex --dangerously-bypass-hook-trust
[ -e seven.txt ] || fail "no program runs though the hook is whole again: $(cat "$work/log" "$work/said")"

echo "== Codex: its commands have the variables that the state says, and it asks about them with the prefix"
begin_variables codex-3
run() {
    echo "{\"name\": \"exec_command\", \"input\": {\"cmd\": \"$1\"$2}}"
}
work_through "$(run "$says" '')" as_codex --dangerously-bypass-hook-trust
answered '[none]\ntest'
as_asking_codex() {
    model_of_codex
    "$node" "$root/tests/server/codex_asks.mjs" "$codex" "$PWD"
}
# Another command: the model's ids of calls begin anew.
work_through "$(run "true; $says" ', "sandbox_permissions": "require_escalated", "justification": "asks"')" as_asking_codex
answered '[none]\ntest'
grep -q 'unset -v PLANTED_KEY; export PROFILE=test; true' "$work/said" || fail "nobody is asked: $(cat "$work/said")"
end_variables codex-3

as_gemini() {
    GOOGLE_GEMINI_BASE_URL=$address timeout 120 "$gemini" --model gemini-2.5-flash --approval-mode yolo "$@" --prompt go
}

write() {
    echo "{\"name\": \"write_file\", \"input\": {\"file_path\": \"$PWD/$1\", \"content\": \"x\\n\"}}"
}

echo "== Gemini CLI: a tool that one state withholds runs in the next, and what the agent is told"
begin gemini
statemark mcp add gemini --name statemark_other
echo "{\"$PWD\": \"TRUST_FOLDER\"}" >"$HOME/.gemini/trustedFolders.json"
export MODEL_DEBUG=1
work_through "$(
    write one.txt
    echo '{"name": "mcp_statemark_other_list_runs", "input": {}}'
    echo '{"name": "mcp_statemark_send_event", "input": {"run_id": "gemini", "event": "READY"}}'
    echo '{"name": "update_topic", "input": {"title": "a", "summary": "b", "strategic_intent": "c"}}'
    write two.txt
    write three.md
    echo "{\"name\": \"read_file\", \"input\": {\"file_path\": \"$PWD/none.txt\"}}"
)" as_gemini
unset MODEL_DEBUG
[ ! -e one.txt ] || fail "the state \`look\` lets a file be written"
[ -e two.txt ] || fail "the state \`change\` lets no file be written: $(cat "$work/log" "$work/said")"
[ ! -e three.md ] || fail "a file is written that no pattern grants"
answered 'isn'"'"'t granted: `look` grants `Read`; go on with `READY` (granted in `change`'
answered '`mcp_statemark_other_list_runs` isn'"'"'t granted'
grep -q 'Look, and change nothing' "$work/log.requests" || fail "the agent isn't told where its run is"
grep -q 'the run that this session drives isn' "$work/log.requests" || fail "the agent stops while its run can go on"
statemark events gemini >"$work/events"
grep -q "session \`gemini:.*is held by" "$work/events" || fail "the session isn't bound: $(cat "$work/events")"
grep -q "\`write_file\` has run" "$work/events" || fail "the call isn't recorded: $(cat "$work/events")"
grep -q "\`read_file\` failed" "$work/events" || fail "the failure isn't recorded: $(cat "$work/events")"
grep -q "\`update_topic\`" "$work/events" && fail "a tool of the conversation alone is judged: $(cat "$work/events")"
grep -q "session \`gemini:.*has ended" "$work/events" || fail "the end isn't recorded: $(cat "$work/events")"
statemark send gemini DONE >/dev/null

echo "== Gemini CLI: a run that the agent begins holds it and its sub-agent, and counts"
cat >counted.workflow.json <<'SPEC'
{
  "id": "counted",
  "initial": "look",
  "states": {
    "look": { "allowed_tools": ["Read", "invoke_agent"], "max_iterations": 2, "on": { "READY": "over" } },
    "over": { "type": "final" }
  }
}
SPEC
work_through "$(
    write four.txt
    echo '{"name": "mcp_statemark_start_run", "input": {"workflow": "counted", "run_id": "gemini-2"}}'
    echo '{"name": "invoke_agent", "input": {"agent_name": "generalist", "prompt": "write"}}'
    write five.txt
    echo '{"name": "complete_task", "input": {"result": {"response": "ended"}}}'
    echo "{\"name\": \"read_file\", \"input\": {\"file_path\": \"$PWD/two.txt\"}}"
    echo "{\"name\": \"read_file\", \"input\": {\"file_path\": \"$PWD/four.txt\"}}"
)" as_gemini
[ -e four.txt ] || fail "no file is written though no run holds the session: $(cat "$work/log" "$work/said")"
[ ! -e five.txt ] || fail "a sub-agent writes a file that its session may not write"
answered 'isn'"'"'t granted: `look` grants `Read`, `invoke_agent`; go on with `READY`'
answered 'ended'
answered '`look` has used its 2 tool calls (`max_iterations`); send `READY`'
statemark events gemini-2 >"$work/events"
grep -q "session \`gemini:.*is held by" "$work/events" || fail "the session isn't bound: $(cat "$work/events")"

echo "== Gemini CLI: the hook fails, and the tool doesn't run"
statemark send gemini-2 READY >/dev/null
statemark start steps --run-id gemini-3 >/dev/null
statemark send gemini-3 READY >/dev/null
mv .statemark/runs.db "$work/runs.db"
work_through "$(write six.txt)" as_gemini
[ ! -e six.txt ] || fail "a file is written though the store is gone"
answered "there is no store in"
mv "$work/runs.db" .statemark/runs.db
break_hook
work_through "$(write six.txt)" as_gemini
[ ! -e six.txt ] || fail "a file is written though the hook's program is missing"
crash_hook
work_through "$(write six.txt)" as_gemini
[ ! -e six.txt ] || fail "a file is written though the hook crashes"
mend_hook
work_through "$(write six.txt)" as_gemini
[ -e six.txt ] || fail "nothing is written though the hook is whole again: $(cat "$work/log" "$work/said")"

echo "== Gemini CLI: its commands have the variables that the state says"
begin_variables gemini-4
work_through "{\"name\": \"run_shell_command\", \"input\": {\"command\": \"$says\", \"description\": \"says\"}}" as_gemini
answered '[none]\ntest'
end_variables gemini-4

echo "== Gemini CLI: what it does in a folder that nobody trusts, which the book says"
rm "$HOME/.gemini/trustedFolders.json"
begin_model "$(write seven.txt)"
as_gemini >"$work/said" 2>&1 </dev/null && fail "Gemini CLI works without its hooks: the book says that it doesn't"
kill "$model"
grep -q "not running in a trusted directory" "$work/said" || fail "$(cat "$work/said")"
[ ! -e seven.txt ] || fail "a file is written in a folder that nobody trusts"

# Lets Cursor's runner of hooks go through events of a session, one a line; its answers are in `$work/answers`.
as_cursor() {
    "$node" "$root/tests/server/cursor.mjs" "$home/cursor-sdk-1.0.32" "$PWD" <<<"$1" >"$work/answers" || fail "$(cat "$work/answers")"
}

# Checks that the answer to the event of a number has a text in it.
answered_by() {
    sed -n "$1p" "$work/answers" | grep -qF -- "$2" || fail "the answer $1 isn't \`$2\`:
$(cat "$work/answers")"
}

call() {
    echo "{\"step\": \"$1\", \"tool_name\": \"$2\", \"tool_input\": {\"file_path\": \"$PWD/$3\"}, \"tool_use_id\": \"$3\", \"cwd\": \"$PWD\"}"
}

echo "== Cursor: what its runner of hooks makes of ours"
begin cursor
as_cursor "$(
    echo '{"step": "sessionStart", "is_background_agent": false}'
    call preToolUse Write one.txt
    call preToolUse Read none.txt
    call postToolUseFailure Read none.txt
    echo '{"step": "preToolUse", "tool_name": "MCP:send_event", "tool_input": {"run_id": "cursor", "event": "READY"}, "tool_use_id": "a"}'
)"
answered_by 1 'Look, and change nothing'
answered_by 2 'isn'"'"'t granted: `look` grants `Read`; go on with `READY` (granted in `change`'
answered_by 2 '"permission":"deny"'
answered_by 3 '"permission":"allow"'
answered_by 5 '"permission":"allow"'
statemark send cursor READY >/dev/null
as_cursor "$(
    echo '{"step": "postToolUse", "tool_name": "MCP:send_event", "tool_input": {"run_id": "cursor", "event": "READY"}, "tool_output": "{}", "duration": 3, "tool_use_id": "a"}'
    call preToolUse Write two.txt
    call postToolUse Write two.txt
    call preToolUse Write three.md
    call preToolUse Shell four
    echo '{"step": "stop", "status": "completed", "loop_count": 0}'
    echo '{"step": "stop", "status": "completed", "loop_count": 1}'
    echo '{"step": "sessionEnd", "reason": "completed", "duration_ms": 5}'
)"
answered_by 2 '"permission":"allow"'
answered_by 4 '"permission":"deny"'
answered_by 5 '"permission":"allow"'
answered_by 6 'the run that this session drives isn'
sed -n 7p "$work/answers" | grep -q followup && fail "the agent isn't let stop a second time"
statemark events cursor >"$work/events"
grep -q "session \`cursor:.*is held by" "$work/events" || fail "the session isn't bound: $(cat "$work/events")"
grep -q "\`Read\` failed" "$work/events" || fail "the failure isn't recorded: $(cat "$work/events")"
grep -q "\`Write\` has run" "$work/events" || fail "the call isn't recorded: $(cat "$work/events")"
grep -q "session \`cursor:.*has ended" "$work/events" || fail "the end isn't recorded: $(cat "$work/events")"
statemark send cursor DONE >/dev/null
begin_variables cursor-2
as_cursor "$(
    echo '{"step": "preToolUse", "tool_name": "Shell", "tool_input": {"command": "ls", "cwd": ""}, "tool_use_id": "b", "cwd": "'"$PWD"'"}'
    echo '{"step": "postToolUse", "tool_name": "Shell", "tool_input": {"command": "unset -v PLANTED_KEY; export PROFILE=test; ls", "cwd": ""}, "tool_output": "{}", "duration": 3, "tool_use_id": "b", "cwd": "'"$PWD"'"}'
)"
answered_by 1 '"updated_input":{"command":"unset -v PLANTED_KEY; export PROFILE=test; ls","cwd":""}'
end_variables cursor-2
break_hook
as_cursor "$(call preToolUse Read five)"
answered_by 1 '"permission":"deny"'
crash_hook
as_cursor "$(call preToolUse Read six)"
answered_by 1 '"permission":"deny"'
mend_hook

as_opencode() {
    model_of_opencode
    timeout 120 "$opencode" run --format json -- go
}

write() {
    echo "{\"name\": \"write\", \"input\": {\"filePath\": \"$PWD/$1\", \"content\": \"x\\n\"}}"
}

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
begin_variables opencode-3
work_through "{\"name\": \"bash\", \"input\": {\"command\": \"$says\", \"description\": \"says\"}}" as_opencode
answered '[none]\ntest'
end_variables opencode-3
statemark start steps --run-id opencode-4 >/dev/null

echo "== OpenCode: the hook fails, and the tool doesn't run"
mv .statemark/runs.db "$work/runs.db"
work_through "$(write five.txt)" as_opencode
[ ! -e five.txt ] || fail "a file is written though the store is gone"
answered "there is no store in"
mv "$work/runs.db" .statemark/runs.db
break_hook
work_through "$(write six.txt)" as_opencode
[ ! -e six.txt ] || fail "a file is written though the hook's program is missing"
