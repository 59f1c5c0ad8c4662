//! The variables of the environment: the only list, and the only place that reads them.
//!
//! What to rely on: a variable that a command reads is in [`variables!`] with what it means, or is named by the user
//! (`${NAME}` in `statemark.toml`). `statemark help configuration` is made from the list.

use std::ffi::OsString;
use std::path::PathBuf;

/// A variable of the environment.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    /// Its meaning, and its default.
    pub(crate) meaning: &'static str,
}

/// Writes the list of variables: the constant that reads one, its name, and its meaning.
macro_rules! variables {
    ($($id:ident $name:literal $meaning:literal,)*) => {
        $(pub(crate) const $id: Variable = Variable { name: $name, meaning: $meaning };)*

        /// The variables that commands read.
        pub(crate) const VARIABLES: &[Variable] = &[$($id,)*];
    };
}

variables! {
    STORE "STATEMARK_STORE" "Where runs are kept: a file or an address. `--store` comes first, `store` in `statemark.toml` after it.",
    TOKEN "STATEMARK_TOKEN" "The caller's token. Without it a command is an agent's; at a terminal, a person's saved token is offered.",
    SIGNING_KEY "STATEMARK_SIGNING_KEY" "The file of the SSH key that signs decisions. `--sign-with` comes first, `~/.config/statemark/signing-key` after it.",
    UPSTREAM "STATEMARK_UPSTREAM" "Set for servers that a server starts: one of ours starts no further ones, or two that name each other would never end.",
    RUN "STATEMARK_RUN" "The run that `run-check` is for, where none is named; the run that a client's session works in, for `hook`.",
    ATTEMPT "STATEMARK_ATTEMPT" "Set for programs that an executor starts: the attempt that they work for. Once another executor has taken over, nothing that they do moves the run.",
    LOG "STATEMARK_LOG" "What is logged to standard error: `error`, `warn`, `info`, `debug`, `trace` or `off`. `--log` comes first. Default: `info` for `serve`, else `off`.",
    OUTPUT_FORMAT "STATEMARK_OUTPUT_FORMAT" "How `lint` prints findings: a format of `--output-format`, which comes first.",
    NOW "STATEMARK_NOW" "The time, for scripts that have to print the same twice. It counts only in stores that were made while it was set.",
    CONFIG_HOME "XDG_CONFIG_HOME" "The folder of your own configuration, in which `statemark/token`, `statemark/signing-key` and `statemark/places` lie. Default: `~/.config`.",
    CACHE_HOME "XDG_CACHE_HOME" "The folder of caches; `lint` remembers files without findings there. Default: `~/.cache`.",
    HOME "HOME" "Your folder, where a path begins with `~` and where nothing else says a folder.",
    USER_PROFILE "USERPROFILE" "The same on Windows, for `mcp add` and hooks.",
    CODEX_HOME "CODEX_HOME" "The folder of Codex' configuration, for `mcp add codex` and `hook install codex`. Default: `~/.codex`.",
    CLAUDE_CONFIG "CLAUDE_CONFIG_DIR" "The folder of Claude Code's configuration, for `hook install claude --user`. Default: `~/.claude`.",
    CLAUDE_PROJECT "CLAUDE_PROJECT_DIR" "The project's folder, as Claude Code tells it to `hook`.",
    GEMINI_PROJECT "GEMINI_PROJECT_DIR" "The same, by Gemini CLI.",
    GEMINI_SYSTEM "GEMINI_CLI_SYSTEM_SETTINGS_PATH" "The file of Gemini CLI's settings for a system; the executor `gemini` doesn't work where there is one. Default: the file of that name that Gemini CLI has.",
    CURSOR_PROJECT "CURSOR_PROJECT_DIR" "The same, by Cursor.",
    TERM_PROGRAM "TERM_PROGRAM" "The terminal's program, as it says itself: some show pictures (`show --graph`) and can't be asked.",
    SSH_AGENT "SSH_AUTH_SOCK" "The socket of `ssh-agent`, which signs with a key that only it has.",
}

impl Variable {
    /// Returns its value, unless it is empty or no text.
    pub(crate) fn text(&self) -> Option<String> {
        read(self.name)
    }

    /// Returns its value as the system has it, unless it is empty.
    pub(crate) fn value(&self) -> Option<OsString> {
        #[expect(clippy::disallowed_methods, reason = "the list is here")]
        std::env::var_os(self.name).filter(|value| !value.is_empty())
    }
}

/// Returns the value of a variable that the user or a profile names, unless it is empty or no text.
pub(crate) fn read(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the list is here")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the names of all variables, but for those that are no text.
pub(crate) fn names() -> impl Iterator<Item = String> {
    #[expect(clippy::disallowed_methods, reason = "the list is here")]
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

/// Returns the attempt of an executor that this process works for, if it was started by one.
pub(crate) fn attempt() -> Option<statemark_tools::OfAttempt> {
    statemark_executor::parse_attempt(&ATTEMPT.text()?)
}

/// Returns the user's home folder, if the environment says where it is.
pub(crate) fn home() -> Option<PathBuf> {
    let home = HOME.value().or_else(|| USER_PROFILE.value());
    home.map(PathBuf::from)
}

/// Returns the folder that a variable names, else one in the user's home folder, if there is one.
pub(crate) fn user_folder(variable: &Variable, in_home: &str) -> Option<PathBuf> {
    let folder = variable.value().map(PathBuf::from);
    folder.or_else(|| Some(PathBuf::from(HOME.value()?).join(in_home)))
}
