//! Cursor.
//!
//! Of its events, `preToolUse` comes before every tool; those before single kinds of tools would ask twice. A hook that
//! fails lets the tool run unless its entry has `"failClosed": true`; the entries that we write have it.
//!
//! Its messages have the session's id by two names, and an edit comes as `Write` with the whole text.
//!
//! Source: <https://cursor.com/docs/hooks>, and the runner of hooks in `@cursor/sdk` 1.0.32, which was run here. Its agent
//! works at Cursor's servers, and never was.

use std::path::PathBuf;

use serde_json::{Value, json};
use statemark_profiles::SETS;
use statemark_runs::files::read_regular;
use statemark_tools::Set;

use super::client::{
    Answer, At, CLIENT_SECONDS, Client, Entries, Event, Form, Message, Settings, split_mcp,
    unless_windows,
};
use crate::environment;

/// Largest list of servers that is read. Unit: bytes. Why: an entry has some lines.
const MAX_SERVERS: u64 = 1 << 20;

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

/// Returns the profiles that our server has, as Cursor's configurations start it.
///
/// The project's configuration counts, else the user's. None if neither starts it, or one that can't be read does.
pub(super) fn profiles(server: &str) -> Vec<Set> {
    let files = [Some(PathBuf::new()), environment::home()];
    let files = files.into_iter().flatten();
    let entries = files.map(|folder| folder.join(".cursor/mcp.json"));
    let mut entries =
        entries.filter_map(|file| entry_of(&read_regular(&file, MAX_SERVERS).ok()??, server));
    entries.next().unwrap_or_default()
}

/// Returns the profiles in the arguments of a server's entry, if a configuration has that entry.
fn entry_of(config: &str, server: &str) -> Option<Vec<Set>> {
    let config: Value = serde_json::from_str(config).ok()?;
    let entry = config.get("mcpServers")?.get(server)?;
    let words = entry.get("args").and_then(Value::as_array);
    let mut words = words.into_iter().flatten().filter_map(Value::as_str);
    let mut profiles = Vec::new();
    while let Some(word) = words.next() {
        let named = match word.strip_prefix("--profile") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        let named = named.into_iter().flat_map(|names| names.split(','));
        let named = named.flat_map(|name| SETS.into_iter().filter(move |it| it.name() == name));
        profiles.extend(named);
    }
    Some(profiles)
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

#[cfg(test)]
mod tests {
    use super::{entry_of, json};

    #[test]
    fn the_profiles_of_a_server_are_those_that_its_entry_names() {
        for (args, expected) in [
            (json!(["serve"]), &[][..]),
            (
                json!(["serve", "--profile", "rstn,ralph"]),
                &["rstn", "ralph"],
            ),
            (
                json!(["serve", "--profile=smithers", "--profile"]),
                &["smithers"],
            ),
            (json!(["serve", "--profiled", "rstn", "ralph"]), &[]),
            (json!(null), &[]),
        ] {
            let config = json!({"mcpServers": {"statemark": {"args": args}}}).to_string();
            let found = entry_of(&config, "statemark").unwrap();
            let names: Vec<&str> = found.iter().map(|set| set.name()).collect();
            assert_eq!(names, expected, "{config}");
            assert_eq!(entry_of(&config, "other"), None);
        }
        assert_eq!(entry_of("{", "statemark"), None);
    }
}
