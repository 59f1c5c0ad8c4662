//! Gemini CLI.
//!
//! A hook that exits with 2, or answers `deny`, keeps a tool from running; any other exit code is a warning, and the tool
//! runs. So the entries that we write end in 2 whatever kept the hook from an answer. Calls have no ids. Nothing but one
//! JSON object may be printed. A sub-agent's calls come as its session's.
//!
//! Source: <https://geminicli.com/docs/hooks/reference>, and the program's behavior in version 0.61.0.

use serde_json::{Map, Value, json};
use statemark_executor::VARIABLES;

use super::client::{
    Answer, At, CLIENT_SECONDS, Client, Entries, Event, Form, Message, Settings, fail_closed,
    split_mcp, unless_windows,
};
use crate::environment;

pub(super) const CLIENT: Client = Client {
    name: "gemini",
    title: "Gemini CLI",
    folder: &[&environment::GEMINI_PROJECT],
    free: &[
        "write_todos",
        "tracker_create_task",
        "tracker_update_task",
        "tracker_get_task",
        "tracker_list_tasks",
        "tracker_add_dependency",
        "tracker_visualize",
        "update_topic",
        "list_background_processes",
        "read_background_output",
        "list_mcp_resources",
        "ask_user",
        "enter_plan_mode",
        "exit_plan_mode",
        "complete_task",
    ],
    shells: unless_windows(&["run_shell_command"]),
    event,
    mcp,
    say,
    settings: Settings {
        project: ".gemini/settings.json",
        user: ".gemini/settings.json",
        user_folder: None,
        form: Form::Entries(ENTRIES),
        remark: "Gemini CLI runs hooks only in a folder that a person has trusted; a hook that takes \
                 too long keeps no tool from running",
    },
};

/// The file of its settings for a system.
pub(in crate::commands) const SYSTEM_SETTINGS: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/GeminiCli/settings.json"
} else if cfg!(windows) {
    r"C:\ProgramData\gemini-cli\settings.json"
} else {
    "/etc/gemini-cli/settings.json"
};

const ENTRIES: Entries = Entries {
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
};

/// Returns settings in which this program is the hook and the only server, for an attempt.
///
/// Gemini CLI puts the values of its variables in. They are named because it hides most of them in the CI of GitHub.
pub(in crate::commands) fn settings(program: &str) -> Value {
    let variables = VARIABLES.iter();
    let variables: Map<String, Value> = variables
        .map(|name| ((*name).to_owned(), json!(format!("${{{name}:-}}"))))
        .collect();
    let mut hooks = ENTRIES.hooks(program, CLIENT.name);
    let handlers = hooks.as_object_mut().into_iter().flat_map(Map::values_mut);
    for handler in handlers.filter_map(|it| it.pointer_mut("/0/hooks/0")?.as_object_mut()) {
        handler.insert("env".to_owned(), json!(variables));
    }
    json!({
        "hooksConfig": {"enabled": true},
        "hooks": hooks,
        "mcp": {"allowed": ["statemark"]},
        "mcpServers": {"statemark": {
            "command": program,
            "args": ["serve", ".", "--run", format!("${}", environment::RUN.name)],
            "env": variables,
            "trust": true,
        }},
    })
}

fn entry(command: &str, at: At) -> Value {
    let handler = json!({
        "name": "statemark",
        "type": "command",
        "command": fail_closed(command, at),
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

/// Returns the server and the tool that the name of a call by MCP has in it.
///
/// It is `mcp__server__tool`, or `mcp_server_tool` in later versions, which say the server and the tool beside it.
fn mcp(name: &str) -> Option<(&str, &str)> {
    split_mcp(name).or_else(|| name.strip_prefix("mcp_")?.split_once('_'))
}

fn say(message: &Message, event: &Event, answer: &Answer) -> Option<Value> {
    let name = &message.hook_event_name;
    Some(match (event, answer) {
        // The whole input, which takes the place of the old one before policies and persons judge it.
        (Event::Before(_), Answer::Rewrite(input)) => json!({
            "hookSpecificOutput": {"hookEventName": name, "tool_input": input}
        }),
        (_, Answer::Silence | Answer::Environment(_) | Answer::Rewrite(_)) => json!({}),
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
