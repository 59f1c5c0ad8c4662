//! Codex.
//!
//! It has Claude Code's events and forms, and accepts no other fields in an answer. It calls each of its ways to run a
//! command `Bash`; a patch is the text of one call of `apply_patch`.
//!
//! A hook that nobody has trusted is skipped without a word. One that exits with 2 keeps a tool from running, and one that
//! fails in another way doesn't; so the entries that we write end in 2 whatever kept the hook from an answer.
//!
//! Source: <https://developers.openai.com/codex/hooks>, and the program's behavior in version 0.169.0.

use serde_json::{Value, json};

use super::claude;
use super::client::{
    Answer, At, CLIENT_SECONDS, Client, Entries, Event, Form, Message, Settings, fail_closed,
    split_mcp, unless_windows,
};
use crate::environment;

pub(super) const CLIENT: Client = Client {
    name: "codex",
    title: "Codex",
    folder: &[],
    free: &["update_plan", "request_user_input"],
    shells: unless_windows(&["Bash"]),
    event: claude::event,
    mcp: split_mcp,
    say,
    settings: Settings {
        project: ".codex/hooks.json",
        user: ".codex/hooks.json",
        user_folder: Some((&environment::CODEX_HOME, "hooks.json")),
        form: Form::Entries(Entries {
            head: &[],
            events: &[
                ("SessionStart", At::Elsewhere),
                ("UserPromptSubmit", At::Elsewhere),
                ("PreToolUse", At::Before),
                ("PostToolUse", At::After),
                ("Stop", At::Elsewhere),
            ],
            entry,
        }),
        remark: "Codex runs no hook that a person hasn't trusted, and says nothing about it: open `codex` here, and trust \
                 it with `/hooks`; a hook that takes too long keeps no tool from running",
    },
};

/// Returns an answer in Claude Code's form.
///
/// A new input needs the decision `allow`, which approves nothing here: whom Codex asks, it asks about the new input.
fn say(message: &Message, event: &Event, answer: &Answer) -> Option<Value> {
    let mut said = claude::say(message, event, answer)?;
    let output = said.get_mut("hookSpecificOutput");
    if matches!(answer, Answer::Rewrite(_))
        && let Some(output) = output.and_then(Value::as_object_mut)
    {
        output.insert("permissionDecision".to_owned(), json!("allow"));
    }
    Some(said)
}

fn entry(command: &str, at: At) -> Value {
    let command = fail_closed(command, at);
    let handler = json!({"type": "command", "command": command, "timeout": CLIENT_SECONDS});
    json!({"hooks": [handler]})
}
