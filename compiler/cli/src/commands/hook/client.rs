//! Messages of clients and answers to them, whichever client it is.
//!
//! A client's file maps its messages to an [`Event`], and an [`Answer`] to the client's own form. Claude Code, Codex and
//! Gemini CLI name their fields alike; Cursor's own are among them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::shell_word;

use super::{claude, codex, cursor, gemini, opencode};
use crate::environment::Variable;

/// A client of agents that runs hooks.
pub(in crate::commands) struct Client {
    /// Its name on the command line, and before the ids of its sessions.
    pub(in crate::commands) name: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// The variables in which it tells the project's folder to a hook.
    pub(super) folder: &'static [&'static Variable],
    /// Its own tools that touch nothing but the conversation, or only end what a granted call began.
    ///
    /// No state has to grant them: without the search for tools, for example, a client may not find ours. What a state
    /// disallows stays disallowed.
    pub(super) free: &'static [&'static str],
    /// Its tools whose `command` a shell of POSIX runs, if it takes another command from a hook.
    pub(super) shells: &'static [&'static str],
    /// Returns the event of a message; none for one that is none of ours.
    pub(super) event: fn(&Message) -> Event,
    /// Returns the server and the tool that the name of a call by MCP has in it.
    pub(super) mcp: fn(&str) -> Option<(&str, &str)>,
    /// Returns an answer in the client's form.
    pub(super) say: fn(&Message, &Event, &Answer) -> Option<Value>,
    /// Its settings, in which hooks stand.
    pub(super) settings: Settings,
}

/// The settings of a client, as far as hooks go.
pub(super) struct Settings {
    /// The file of a project.
    pub(super) project: &'static str,
    /// The file of a user, below the home folder.
    pub(super) user: &'static str,
    /// The variable that names another folder for the user's file, and that file in it.
    pub(super) user_folder: Option<(&'static Variable, &'static str)>,
    /// The form of a hook in that file.
    pub(super) form: Form,
    /// The rest that a person has to know or do.
    pub(super) remark: &'static str,
}

/// The form of a hook in a client's settings.
pub(super) enum Form {
    /// Entries of events, beside whatever else the file has.
    Entries(Entries),
    /// A file of its own, in the client's language; the function returns the one that calls a command.
    Plugin(fn(&str) -> String),
}

/// Entries of events in a file of JSON.
pub(super) struct Entries {
    /// Fields of a file that is new.
    pub(super) head: &'static [(&'static str, u64)],
    /// The events at which the hook runs.
    pub(super) events: &'static [(&'static str, At)],
    /// Returns the entry of an event that calls a command.
    pub(super) entry: fn(&str, At) -> Value,
}

impl Client {
    /// Reports whether a shell of POSIX runs the command of a call.
    ///
    /// Only where the client takes another command from a hook.
    pub(super) fn runs_by_shell(&self, call: &Call) -> bool {
        self.shells.contains(&call.tool.as_str())
    }

    /// Reports whether the commands of its shell get the variables that a state says.
    pub(super) const fn applies_variables(&self) -> bool {
        // A plugin is asked for them.
        !self.shells.is_empty() || matches!(self.settings.form, Form::Plugin(_))
    }

    /// Returns the server and the tool of a call by MCP.
    ///
    /// They are those that the client says, else those in the call's name.
    pub(super) fn mcp_tool<'c>(&self, call: &'c Call) -> Option<(&'c str, &'c str)> {
        match &call.mcp {
            Some(tool) => Some((&tool.server_name, &tool.tool_name)),
            None => (self.mcp)(&call.tool),
        }
    }
}

impl Entries {
    /// Returns the hooks of all events, for settings that a client is started with: they demand a run.
    pub(super) fn hooks(&self, program: &str, client: &str) -> Value {
        let command = format!("{} hook {client} --required", shell_word(program));
        let events = self.events.iter();
        let hooks = events.map(|(event, at)| {
            let entry = (self.entry)(&command, *at);
            ((*event).to_owned(), json!([entry]))
        });
        Value::Object(hooks.collect::<Map<_, _>>())
    }
}

/// The moment of an event, as far as its entry in settings depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// Before a tool is called: a hook that fails must keep it from running.
    Before,
    /// After a tool was called.
    After,
    /// Another one, at which no tool waits.
    ///
    /// A hook that fails there keeps nobody from anything, or an agent would never end.
    Elsewhere,
}

/// All clients.
pub(in crate::commands) const CLIENTS: [&Client; 5] = [
    &claude::CLIENT,
    &codex::CLIENT,
    &gemini::CLIENT,
    &cursor::CLIENT,
    &opencode::CLIENT,
];

/// Seconds that a client is to wait for the hook.
///
/// Why: longer than the hook takes at most, so that its own answer arrives.
pub(super) const CLIENT_SECONDS: u64 = 10;

/// A message of a client to a hook. Fields that a client doesn't send are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) hook_event_name: String,
    pub(super) session_id: String,
    /// The session's id as Cursor names it, which may send both.
    pub(super) conversation_id: String,
    /// The sub-agent that is at work, if it is one.
    pub(super) agent_id: Option<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) workspace_roots: Vec<PathBuf>,
    pub(super) tool_name: String,
    #[serde(rename = "mcp_context")]
    pub(super) mcp: Option<McpTool>,
    pub(super) tool_input: Value,
    pub(super) tool_use_id: Option<String>,
    #[serde(alias = "tool_output")]
    pub(super) tool_response: Value,
    #[serde(alias = "duration")]
    pub(super) duration_ms: Option<f64>,
    /// True if the agent goes on because a hook refused to let it stop.
    pub(super) stop_hook_active: bool,
    /// The number of times that a hook has let the agent go on.
    pub(super) loop_count: u64,
}

/// A tool of a server, where a client says it beside the name of a call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct McpTool {
    pub(super) server_name: String,
    pub(super) tool_name: String,
}

/// An event that is answered.
#[derive(Debug)]
pub(super) enum Event {
    /// A session, or a sub-agent in it, begins.
    Begin,
    /// A person has written something.
    Prompt,
    /// A tool is about to be called.
    Before(Call),
    /// A tool was called.
    After(Call, Done),
    /// The agent is about to stop.
    Stop {
        /// True if it has been refused already.
        again: bool,
    },
    /// A command is about to be run: which variables does it get? Those that the client has are named.
    Environment(Vec<String>),
    /// The session has ended.
    End,
    /// Another event.
    Other,
}

/// A call of a tool, as the client names it.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) mcp: Option<McpTool>,
    pub(super) id: Option<String>,
    pub(super) input: Value,
}

/// The end of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    pub(super) failed: bool,
    pub(super) milliseconds: Option<u64>,
    pub(super) response: Value,
}

/// An answer to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing: the client does as it would without a hook.
    Silence,
    /// The call may not run, for this reason.
    Deny(String),
    /// Something that the agent should know.
    Context(String),
    /// The agent may not stop yet, for this reason.
    Continue(String),
    /// The call may run with this input instead of its own.
    Rewrite(Value),
    /// Variables of a command: their values, or none for one that it doesn't get.
    Environment(BTreeMap<String, Option<String>>),
}

impl Message {
    /// Returns the id of the session.
    pub(super) fn session(&self) -> &str {
        if self.session_id.is_empty() {
            &self.conversation_id
        } else {
            &self.session_id
        }
    }

    /// Returns the call that it is about.
    pub(super) fn call(&self) -> Call {
        let input = match &self.tool_input {
            // Cursor sends the arguments of servers' tools as text.
            Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
            input => input.clone(),
        };
        Call {
            tool: self.tool_name.clone(),
            mcp: self.mcp.clone(),
            id: self.tool_use_id.clone(),
            input,
        }
    }

    /// Returns the names of variables that it lists.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.tool_input.as_array().into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns how the call has ended.
    pub(super) fn done(&self, failed: bool) -> Done {
        let milliseconds = self.duration_ms.filter(|it| it.is_finite() && *it >= 0.0);
        Done {
            failed,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is finite and no less than nothing, and a cast saturates"
            )]
            milliseconds: milliseconds.map(|it| it as u64),
            response: self.tool_response.clone(),
        }
    }
}

/// Returns a command that keeps a tool from running also where its program is missing or crashes.
///
/// For clients that run it by a shell, and take 2 alone for a refusal. The shell of Windows, PowerShell 5, has no `||`.
pub(super) fn fail_closed(command: &str, at: At) -> String {
    if at == At::Before && cfg!(not(windows)) {
        format!("{command} || exit 2")
    } else {
        command.to_owned()
    }
}

/// Returns the tools of a client whose shell is PowerShell on Windows, and one of POSIX elsewhere.
pub(super) const fn unless_windows(shells: &'static [&'static str]) -> &'static [&'static str] {
    if cfg!(windows) { &[] } else { shells }
}

/// Returns the server and the tool of a name such as `mcp__server__tool`.
pub(super) fn split_mcp(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}
