//! Claude Code.
//!
//! A hook that exits with 2, or answers `deny`, keeps a tool from running. One that ends in another way doesn't, unless
//! its entry has `"onFailure": "block"`; the entries that we write have it.
//!
//! Source: <https://code.claude.com/docs/en/hooks>, and the program's behavior in version 2.1.329.

use serde_json::{Value, json};

use super::client::{
    Answer, At, CLIENT_SECONDS, Client, Entries, Event, Form, Message, Settings, split_mcp,
};
use crate::environment;

pub(super) const CLIENT: Client = Client {
    name: "claude",
    title: "Claude Code",
    folder: &[&environment::CLAUDE_PROJECT],
    free: &[
        "ToolSearch",
        "TodoRead",
        "TodoWrite",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskUpdate",
        "TaskOutput",
        "TaskStop",
        "BashOutput",
        "KillBash",
        "KillShell",
        "AskUserQuestion",
        "EnterPlanMode",
        "ExitPlanMode",
        "ListMcpResourcesTool",
        "StructuredOutput",
    ],
    // On Windows, too: PowerShell has a tool of its own there.
    shells: &["Bash", "Monitor"],
    event,
    mcp: split_mcp,
    say,
    settings: Settings {
        project: ".claude/settings.json",
        user: ".claude/settings.json",
        user_folder: Some((&environment::CLAUDE_CONFIG, "settings.json")),
        form: Form::Entries(ENTRIES),
        remark: "sessions that run already take it over at their next start",
    },
};

const ENTRIES: Entries = Entries {
    head: &[],
    events: &[
        ("SessionStart", At::Elsewhere),
        ("UserPromptSubmit", At::Elsewhere),
        ("PreToolUse", At::Before),
        ("PostToolUse", At::After),
        ("PostToolUseFailure", At::After),
        ("SubagentStart", At::Elsewhere),
        ("SubagentStop", At::Elsewhere),
        ("Stop", At::Elsewhere),
        ("SessionEnd", At::Elsewhere),
    ],
    entry,
};

/// Returns settings in which this program is the hook, for a client that is started with them.
pub(in crate::commands) fn settings(program: &str) -> Value {
    json!({"hooks": ENTRIES.hooks(program, CLIENT.name)})
}

fn entry(command: &str, at: At) -> Value {
    let mut handler = json!({"type": "command", "command": command, "timeout": CLIENT_SECONDS});
    if at == At::Before
        && let Value::Object(fields) = &mut handler
    {
        fields.insert("onFailure".to_owned(), json!("block"));
    }
    json!({"hooks": [handler]})
}

/// Returns the event of a message, for clients that name events as Claude Code does.
pub(super) fn event(message: &Message) -> Event {
    let again = message.stop_hook_active;
    match message.hook_event_name.as_str() {
        "SessionStart" | "SubagentStart" => Event::Begin,
        "UserPromptSubmit" => Event::Prompt,
        "PreToolUse" => Event::Before(message.call()),
        "PostToolUse" => Event::After(message.call(), message.done(false)),
        "PostToolUseFailure" => Event::After(message.call(), message.done(true)),
        "Stop" | "SubagentStop" => Event::Stop { again },
        "SessionEnd" => Event::End,
        _ => Event::Other,
    }
}

/// Returns an answer in the form that Claude Code has, and Codex after it.
pub(super) fn say(message: &Message, event: &Event, answer: &Answer) -> Option<Value> {
    let name = &message.hook_event_name;
    match (event, answer) {
        // Without a decision: permissions, and a person who is asked, judge the new input.
        (Event::Before(_), Answer::Rewrite(input)) => Some(json!({
            "hookSpecificOutput": {"hookEventName": name, "updatedInput": input}
        })),
        (_, Answer::Silence | Answer::Rewrite(_)) => None,
        (_, Answer::Environment(variables)) => Some(json!({
            "hookSpecificOutput": {"hookEventName": name, "env": variables}
        })),
        (Event::Before(_), Answer::Deny(reason)) => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": name,
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        })),
        (
            Event::Begin | Event::Prompt | Event::Before(_) | Event::After(..),
            Answer::Context(text),
        ) => Some(json!({
            "hookSpecificOutput": {"hookEventName": name, "additionalContext": text}
        })),
        (Event::Stop { .. }, Answer::Continue(reason)) => {
            Some(json!({"decision": "block", "reason": reason}))
        }
        (_, Answer::Deny(text) | Answer::Context(text) | Answer::Continue(text)) => {
            Some(json!({"systemMessage": text}))
        }
    }
}
