//! Cursor.
//!
//! Of its events, `preToolUse` comes before every tool; those before single kinds of tools would ask twice. A hook that
//! fails lets the tool run unless its entry has `"failClosed": true`; the entries that we write have it.
//!
//! Its messages have the session's id by two names, and an edit comes as `Write` with the whole text.
//!
//! Source: <https://cursor.com/docs/hooks>, and the runner of hooks in `@cursor/sdk` 1.0.32, which was run here. Its agent
//! works at Cursor's servers, and never was.

use serde_json::{Value, json};

use super::client::{
    Answer, At, CLIENT_SECONDS, Client, Entries, Event, Form, Message, Settings, split_mcp,
    unless_windows,
};
use crate::environment;

pub(super) const CLIENT: Client = Client {
    name: "cursor",
    title: "Cursor",
    folder: &[&environment::CURSOR_PROJECT],
    free: &[
        "TodoWrite",
        "AskQuestion",
        "SwitchMode",
        "CreatePlan",
        "ListMcpResources",
    ],
    shells: unless_windows(&["Shell", "run_terminal_cmd"]),
    event,
    mcp,
    say,
    settings: Settings {
        project: ".cursor/hooks.json",
        user: ".cursor/hooks.json",
        user_folder: None,
        form: Form::Entries(Entries {
            head: &[("version", 1)],
            events: &[
                ("sessionStart", At::Elsewhere),
                ("preToolUse", At::Before),
                ("postToolUse", At::After),
                ("postToolUseFailure", At::After),
                ("stop", At::Elsewhere),
                ("sessionEnd", At::Elsewhere),
            ],
            entry,
        }),
        remark: "Cursor runs the hooks of a project only where a person has trusted its folder",
    },
};

fn entry(command: &str, at: At) -> Value {
    if at == At::Before {
        json!({"command": command, "timeout": CLIENT_SECONDS, "failClosed": true})
    } else {
        json!({"command": command, "timeout": CLIENT_SECONDS})
    }
}

fn event(message: &Message) -> Event {
    let again = message.loop_count > 0;
    match message.hook_event_name.as_str() {
        "sessionStart" => Event::Begin,
        "preToolUse" => Event::Before(message.call()),
        "postToolUse" => Event::After(message.call(), message.done(false)),
        "postToolUseFailure" => Event::After(message.call(), message.done(true)),
        "stop" => Event::Stop { again },
        "sessionEnd" => Event::End,
        _ => Event::Other,
    }
}

/// Returns the server and the tool of a call by MCP.
///
/// Its name is `MCP:tool`, which names no server, or `MCP:server:tool`.
fn mcp(name: &str) -> Option<(&str, &str)> {
    let name = match name.strip_prefix("MCP:") {
        Some(name) => name,
        None => return split_mcp(name),
    };
    Some(name.split_once(':').unwrap_or(("", name)))
}

fn say(_: &Message, event: &Event, answer: &Answer) -> Option<Value> {
    Some(match (event, answer) {
        (Event::Before(_), Answer::Deny(reason)) => json!({
            "permission": "deny",
            "user_message": reason,
            "agent_message": reason,
        }),
        (Event::Before(_), Answer::Rewrite(input)) => {
            json!({"permission": "allow", "updated_input": input})
        }
        (Event::Before(_), _) => json!({"permission": "allow"}),
        (Event::Stop { .. }, Answer::Continue(reason)) => json!({"followup_message": reason}),
        (Event::Begin | Event::After(..), Answer::Context(text)) => {
            json!({"additional_context": text})
        }
        _ => json!({}),
    })
}
