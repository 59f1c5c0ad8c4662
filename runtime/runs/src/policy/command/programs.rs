//! Programs that run others, as far as they are known.

use super::lex::Word;

/// A program that runs the command after its options.
///
/// All options are listed: after another one nobody knows what it runs.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// One-letter options without a value.
    flags: &'static str,
    /// One-letter options with a value.
    valued: &'static str,
    /// Long options without a value, or with one after a `=` alone.
    long_flags: &'static [&'static str],
    /// Long options with a value.
    long_valued: &'static [&'static str],
    /// Words before the command.
    operands: usize,
    /// True if it does nothing besides running the command.
    pub(super) is_all: bool,
    /// True if it adds words of its input to the command.
    pub(super) reads_words: bool,
}

pub(super) const WRAPPERS: [Wrapper; 7] = [
    Wrapper {
        name: "env",
        flags: "i0v",
        valued: "uC",
        long_flags: &["ignore-environment", "null", "debug"],
        long_valued: &["unset", "chdir"],
        operands: 0,
        is_all: false,
        reads_words: false,
    },
    Wrapper {
        name: "nice",
        flags: "0123456789",
        valued: "n",
        long_flags: &[],
        long_valued: &["adjustment"],
        operands: 0,
        is_all: true,
        reads_words: false,
    },
    Wrapper {
        name: "nohup",
        flags: "",
        valued: "",
        long_flags: &[],
        long_valued: &[],
        operands: 0,
        is_all: true,
        reads_words: false,
    },
    Wrapper {
        name: "stdbuf",
        flags: "",
        valued: "ioe",
        long_flags: &[],
        long_valued: &["input", "output", "error"],
        operands: 0,
        is_all: true,
        reads_words: false,
    },
    Wrapper {
        name: "time",
        flags: "p",
        valued: "",
        long_flags: &[],
        long_valued: &[],
        operands: 0,
        is_all: true,
        reads_words: false,
    },
    Wrapper {
        name: "timeout",
        flags: "fpv",
        valued: "ks",
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_valued: &["kill-after", "signal"],
        operands: 1,
        is_all: true,
        reads_words: false,
    },
    Wrapper {
        name: "xargs",
        flags: "0rtpx",
        valued: "adEILnPs",
        long_flags: &[
            "null",
            "no-run-if-empty",
            "verbose",
            "interactive",
            "exit",
            "replace",
            "max-lines",
            "eof",
        ],
        long_valued: &[
            "arg-file",
            "delimiter",
            "max-args",
            "max-procs",
            "max-chars",
        ],
        operands: 0,
        is_all: false,
        reads_words: true,
    },
];

/// Shells that take a line after `-c`, and read it as POSIX says.
pub(super) const SHELLS: [&str; 8] = ["ash", "bash", "dash", "ksh", "mksh", "rbash", "sh", "zsh"];

/// Programs that run another one in a way that isn't read here: only who names all of it means it.
pub(super) const RUNNERS: &[&str] = &[
    ".",
    "alias",
    "at",
    "batch",
    "bind",
    "builtin",
    "busybox",
    "capsh",
    "chroot",
    "chrt",
    "cmd",
    "cmd.exe",
    "command",
    "compgen",
    "complete",
    "coproc",
    "crontab",
    "csh",
    "doas",
    "elvish",
    "emulate",
    "enable",
    "entr",
    "eval",
    "exec",
    "expect",
    "fc",
    "firejail",
    "fish",
    "flock",
    "gosu",
    "ionice",
    "ltrace",
    "newgrp",
    "nsenter",
    "nu",
    "parallel",
    "pkexec",
    "powershell",
    "powershell.exe",
    "prlimit",
    "pwsh",
    "rlwrap",
    "rsh",
    "runuser",
    "sched",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "source",
    "ssh",
    "start-stop-daemon",
    "strace",
    "su",
    "su-exec",
    "sudo",
    "systemd-run",
    "taskset",
    "tcsh",
    "tmux",
    "trap",
    "unshare",
    "watch",
    "xonsh",
    "xterm",
    "zargs",
];

/// The words of `find` that change something.
pub(super) const FIND_CHANGES: [&str; 6] = [
    "-delete",
    "-fls",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-files0-from",
];

/// The words of `find` after which a command stands.
pub(super) const FIND_RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
impl Wrapper {
    /// Returns the index of the first word of the command that it runs; `None` if an option isn't known.
    pub(super) fn skip_options(&self, words: &[Word]) -> Option<usize> {
        let mut index = 1;
        while let Some(word) = words.get(index) {
            if !word.is_certain {
                return None;
            }
            let takes_next = match word.text.strip_prefix("--") {
                Some("") => {
                    index = index.saturating_add(1);
                    break;
                }
                Some(long) => {
                    let (name, value) = match long.split_once('=') {
                        Some((name, value)) => (name, Some(value)),
                        None => (long, None),
                    };
                    let is_valued = self.long_valued.contains(&name);
                    if !is_valued && !self.long_flags.contains(&name) {
                        return None;
                    }
                    is_valued && value.is_none()
                }
                None => match word.text.strip_prefix('-') {
                    None | Some("") => break,
                    Some(letters) => self.takes_next(letters)?,
                },
            };
            index = index.saturating_add(if takes_next { 2 } else { 1 });
        }
        let from = index.saturating_add(self.operands);
        let skipped = words.get(..from.min(words.len())).unwrap_or_default();
        // A name of files could become several words.
        skipped.iter().all(|word| word.is_certain).then_some(from)
    }

    /// Reports whether an option makes it run the command in another folder.
    pub(super) fn changes_folder(&self, option: &str) -> bool {
        let is_letter = option.starts_with('-') && !option.starts_with("--");
        self.long_valued.contains(&"chdir")
            && (option.starts_with("--chdir") || is_letter && option.contains('C'))
    }

    /// Reports whether the last of some letters has its value in the next word; `None` if one isn't known.
    fn takes_next(&self, letters: &str) -> Option<bool> {
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            if self.valued.contains(letter) {
                return Some(letters.as_str().is_empty());
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(false)
    }
}
