//! OpenCode.
//!
//! It calls no command, but plugins: functions in a file of JavaScript. Ours calls the hook with messages like Claude
//! Code's, and throws what the hook refuses. A plugin can't keep an agent from stopping; but it is asked for the variables
//! of a command.
//!
//! Source: <https://opencode.ai/docs/plugins>, and the program's behavior in version 1.18.33.

use serde_json::json;

use super::client::{Client, Event, Form, Message, Settings};
use super::{claude, our_tools};
use crate::environment;

pub(super) const CLIENT: Client = Client {
    name: "opencode",
    title: "OpenCode",
    folder: &[],
    free: &[
        "invalid",
        "plan_enter",
        "plan_exit",
        "question",
        "todoread",
        "todowrite",
    ],
    // It asks for the variables of a command.
    shells: &[],
    event,
    mcp,
    say: claude::say,
    settings: Settings {
        project: ".opencode/plugins/statemark.js",
        user: ".config/opencode/plugins/statemark.js",
        user_folder: Some((&environment::CONFIG_HOME, "opencode/plugins/statemark.js")),
        form: Form::Plugin(plugin),
        remark: "OpenCode takes a plugin over at its next start",
    },
};

/// The plugin, with the command as it is in a project.
const PLUGIN: &str = include_str!("opencode.js");

/// The beginning of the line with the command.
const COMMAND: &str = "const COMMAND = ";

/// Returns the plugin that calls a command.
pub(in crate::commands) fn plugin(command: &str) -> String {
    let lines = PLUGIN.lines().map(|line| {
        if line.starts_with(COMMAND) {
            format!("{COMMAND}{};\n", json!(command))
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}

/// Returns the command that a plugin calls.
pub(super) fn command_of(plugin: &str) -> Option<String> {
    let line = plugin.lines().find_map(|line| line.strip_prefix(COMMAND))?;
    serde_json::from_str(line.trim_end().strip_suffix(';')?).ok()
}

fn event(message: &Message) -> Event {
    match message.hook_event_name.as_str() {
        "ShellEnv" => Event::Environment(message.names()),
        _ => claude::event(message),
    }
}

/// Returns the server and the tool of a call by MCP, for tools of ours.
///
/// Its name is `server_tool`, and each may have `_` in it.
fn mcp(name: &str) -> Option<(&str, &str)> {
    let ours = our_tools().filter_map(|tool| {
        let before = name.strip_suffix(&*tool.name)?.strip_suffix('_')?;
        Some((before, name.get(before.len().saturating_add(1)..)?))
    });
    ours.min_by_key(|(server, _)| server.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_has_its_command() {
        for command in [
            "statemark hook opencode",
            "'/opt/a b/statemark' hook opencode --observe",
        ] {
            let text = plugin(command);
            assert_eq!(command_of(&text).as_deref(), Some(command));
        }
        assert_eq!(plugin("statemark hook opencode"), PLUGIN);
        assert_eq!(command_of("export const Other = 1;\n"), None);
    }

    #[test]
    fn names_of_servers_and_tools_are_told_apart() {
        for (name, parts) in [
            ("statemark_send_event", Some(("statemark", "send_event"))),
            ("my_own_send_event", Some(("my_own", "send_event"))),
            ("apply_patch", None),
            ("github_create_issue", None),
        ] {
            assert_eq!(mcp(name), parts, "{name}");
        }
    }
}
