//! Gemini CLI.
//!
//! A hook that exits with 2, or answers `deny`, keeps a tool from running; any other exit code is a warning, and the tool
//! runs. Calls have no ids. Nothing but one JSON object may be printed.
//!
//! Source: <https://geminicli.com/docs/hooks/reference>.

use serde_json::{Value, json};

use super::client::{
    Answer, At, CLIENT_SECONDS, Client, Entries, Event, Form, Message, Settings, split_mcp,
};
use crate::environment;

pub(super) const CLIENT: Client = Client {
    name: "gemini",
    title: "Gemini CLI",
    folder: &[&environment::GEMINI_PROJECT],
    free: &[
        "write_todos",
        "ask_user",
        "enter_plan_mode",
        "exit_plan_mode",
        "complete_task",
    ],
    event,
    mcp,
    say,
    settings: Settings {
        project: ".gemini/settings.json",
        user: ".gemini/settings.json",
        user_folder: None,
        form: Form::Entries(Entries {
            head: &[],
            events: &[
                ("SessionStart", At::Elsewhere),
                ("BeforeAgent", At::Elsewhere),
                ("BeforeTool", At::Before),
                ("AfterTool", At::After),
                ("AfterAgent", At::Elsewhere),
                ("SessionEnd", At::Elsewhere),
            ],
            entry,
        }),
        remark: "Gemini CLI asks a person before it runs the hooks of a project for the first time; it lets a tool run if \
                 the hook is missing or crashes",
    },
};

fn entry(command: &str, _: At) -> Value {
    let handler = json!({
        "name": "statemark",
        "type": "command",
        "command": command,
        // Milliseconds.
        "timeout": CLIENT_SECONDS * 1_000,
    });
    json!({"hooks": [handler]})
}

fn event(message: &Message) -> Event {
    let again = message.stop_hook_active;
    let failed = message
        .tool_response
        .get("error")
        .is_some_and(|it| !it.is_null());
    match message.hook_event_name.as_str() {
        "SessionStart" => Event::Begin,
        "BeforeAgent" => Event::Prompt,
        "BeforeTool" => Event::Before(message.call()),
        "AfterTool" => Event::After(message.call(), message.done(failed)),
        "AfterAgent" => Event::Stop { again },
        "SessionEnd" => Event::End,
        _ => Event::Other,
    }
}

/// Returns the server and the tool of a call by MCP.
///
/// Its name is `mcp__server__tool`, or `mcp_server_tool` in later versions.
fn mcp(name: &str) -> Option<(&str, &str)> {
    split_mcp(name).or_else(|| name.strip_prefix("mcp_")?.split_once('_'))
}

fn say(message: &Message, event: &Event, answer: &Answer) -> Option<Value> {
    let name = &message.hook_event_name;
    Some(match (event, answer) {
        (_, Answer::Silence | Answer::Environment(_)) => json!({}),
        (Event::Before(_), Answer::Deny(reason))
        | (Event::Stop { .. }, Answer::Continue(reason)) => {
            json!({"decision": "deny", "reason": reason})
        }
        (Event::Begin | Event::Prompt | Event::After(..), Answer::Context(text)) => json!({
            "hookSpecificOutput": {"hookEventName": name, "additionalContext": text}
        }),
        (_, Answer::Deny(text) | Answer::Context(text) | Answer::Continue(text)) => {
            json!({"systemMessage": text})
        }
    })
}
