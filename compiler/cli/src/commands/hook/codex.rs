//! Codex.
//!
//! It has Claude Code's events and forms, and accepts no other fields in an answer. It calls each of its ways to run a
//! command `Bash`; a patch is the text of one call of `apply_patch`.
//!
//! A hook that nobody has trusted is skipped without a word, and one that fails lets the tool run: Codex has no word for
//! the opposite.
//!
//! Source: <https://developers.openai.com/codex/hooks>, and the program's behavior in version 0.169.0.

use serde_json::{Value, json};

use super::claude;
use super::client::{At, CLIENT_SECONDS, Client, Entries, Form, Settings, split_mcp};
use crate::environment;

pub(super) const CLIENT: Client = Client {
    name: "codex",
    title: "Codex",
    folder: &[],
    free: &["update_plan", "request_user_input"],
    event: claude::event,
    mcp: split_mcp,
    say: claude::say,
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
                 it with `/hooks`; it lets a tool run if the hook is missing or fails",
    },
};

fn entry(command: &str, _: At) -> Value {
    let handler = json!({"type": "command", "command": command, "timeout": CLIENT_SECONDS});
    json!({"hooks": [handler]})
}
