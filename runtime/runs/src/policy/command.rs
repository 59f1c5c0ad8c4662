//! Command lines, as far as they are certain to mean what they seem to mean.
//!
//! A call of a shell is judged by every simple command of its line, and by every command that one of them runs (`timeout 9 make`,
//! `find … -exec rm`, `sh -c '…'`). What isn't understood for certain is no command at all: a policy grants none of it and
//! forbids all of it. Source: POSIX.1-2024, *Shell Command Language*, and bash's manual, of which this is a small part.
//!
//! What to rely on: every command that a shell begins when it is given a line which was read is among those that were read
//! from it. A test asks bash itself.
//!
//! Deliberately not here: what a program does with its arguments, besides running or writing what they name. Who grants
//! `python:*` grants everything.

use std::fmt;

use serde_json::Value;

use super::words::pack_tool_of;
use crate::glob::matches_name;
use crate::phrase::shell_word;

/// The tool of the pack, which gives its command to no shell. All other tools that take commands are clients' own.
const EXEC: &str = "exec";

/// The arguments of calls that hold a command.
const ARGUMENTS: [&str; 3] = ["command", "argv", "cmd"];

/// The arguments of calls that name the folder to run in.
const FOLDERS: [&str; 4] = ["cwd", "workdir", "working_directory", "directory"];

/// A program that runs what stands after its options, which are all listed: after others nobody knows what it runs.
struct Wrapper {
    name: &'static str,
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
    is_all: bool,
}

const WRAPPERS: [Wrapper; 7] = [
    Wrapper {
        name: "env",
        flags: "i0v",
        valued: "uC",
        long_flags: &["ignore-environment", "null", "debug"],
        long_valued: &["unset", "chdir"],
        operands: 0,
        is_all: false,
    },
    Wrapper {
        name: "nice",
        flags: "0123456789",
        valued: "n",
        long_flags: &[],
        long_valued: &["adjustment"],
        operands: 0,
        is_all: true,
    },
    Wrapper {
        name: "nohup",
        flags: "",
        valued: "",
        long_flags: &[],
        long_valued: &[],
        operands: 0,
        is_all: true,
    },
    Wrapper {
        name: "stdbuf",
        flags: "",
        valued: "ioe",
        long_flags: &[],
        long_valued: &["input", "output", "error"],
        operands: 0,
        is_all: true,
    },
    Wrapper {
        name: "time",
        flags: "p",
        valued: "",
        long_flags: &[],
        long_valued: &[],
        operands: 0,
        is_all: true,
    },
    Wrapper {
        name: "timeout",
        flags: "fpv",
        valued: "ks",
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_valued: &["kill-after", "signal"],
        operands: 1,
        is_all: true,
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
    },
];

/// Programs that take a line for a shell after `-c`.
const SHELLS: [&str; 9] = [
    "ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh",
];

/// Programs that run another one in a way that isn't read here: only who names all of it means it.
const RUNNERS: &[&str] = &[
    ".",
    "alias",
    "at",
    "batch",
    "builtin",
    "busybox",
    "capsh",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "crontab",
    "doas",
    "enable",
    "entr",
    "eval",
    "exec",
    "expect",
    "firejail",
    "flock",
    "ionice",
    "ltrace",
    "nsenter",
    "parallel",
    "pkexec",
    "prlimit",
    "rlwrap",
    "runuser",
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
    "sudo",
    "systemd-run",
    "taskset",
    "tmux",
    "trap",
    "unshare",
    "watch",
    "xterm",
];

/// Where an option of [`ESCAPES`] stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Anywhere after the program.
    Anywhere,
    /// Before the first word that is no option: it is the program's own, and not a subcommand's.
    Before,
    /// After this subcommand.
    After(&'static str),
}

/// Options by which a program runs another one, or writes or reads what it shouldn't: only who names them means them.
///
/// They are compared as the programs do, which take beginnings of long options.
const ESCAPES: &[(&str, Place, &[&str])] = &[
    ("cargo", Place::Anywhere, &["--config"]),
    (
        "curl",
        Place::Anywhere,
        &[
            "--config",
            "-K",
            "--output",
            "-o",
            "-O",
            "--remote-name",
            "--upload-file",
            "-T",
        ],
    ),
    (
        "fd",
        Place::Anywhere,
        &["--exec", "-x", "--exec-batch", "-X"],
    ),
    (
        "git",
        Place::Before,
        &[
            "-c",
            "-C",
            "--config-env",
            "--exec-path",
            "--git-dir",
            "--work-tree",
            "--paginate",
            "-p",
        ],
    ),
    (
        "git",
        Place::Anywhere,
        &[
            "--exec",
            "--ext-diff",
            "--extcmd",
            "--open-files-in-pager",
            "--output",
            "--receive-pack",
            "--upload-pack",
        ],
    ),
    ("git", Place::After("bisect"), &["run"]),
    ("git", Place::After("clone"), &["-c", "--config", "-u"]),
    ("git", Place::After("difftool"), &["-x"]),
    ("git", Place::After("filter-branch"), &["-"]),
    ("git", Place::After("grep"), &["-O"]),
    ("git", Place::After("rebase"), &["-x"]),
    ("git", Place::After("submodule"), &["foreach"]),
    (
        "less",
        Place::Anywhere,
        &["-o", "-O", "--log-file", "--LOG-FILE", "-k"],
    ),
    ("make", Place::Anywhere, &["--eval", "-E"]),
    ("man", Place::Anywhere, &["-P", "--pager", "-H", "--html"]),
    ("rg", Place::Anywhere, &["--pre", "--hostname-bin"]),
    ("rsync", Place::Anywhere, &["-e", "--rsh", "--rsync-path"]),
    (
        "sed",
        Place::Anywhere,
        &["-i", "--in-place", "-f", "--file"],
    ),
    (
        "sort",
        Place::Anywhere,
        &["--compress-program", "-o", "--output", "--files0-from"],
    ),
    (
        "tar",
        Place::Anywhere,
        &[
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "--to-command",
            "-F",
            "--info-script",
            "--new-volume-script",
        ],
    ),
    ("tree", Place::Anywhere, &["-o"]),
    (
        "wget",
        Place::Anywhere,
        &["--config", "-O", "--output-document", "--use-askpass"],
    ),
    ("zip", Place::Anywhere, &["-TT", "--unzip-command"]),
];

/// The words of `find` that change something.
const FIND_CHANGES: [&str; 6] = [
    "-delete",
    "-fls",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-files0-from",
];

/// The words of `find` after which a command stands.
const FIND_RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// Words that begin something else than a simple command.
const RESERVED: [&str; 21] = [
    "!",
    "[[",
    "case",
    "coproc",
    "do",
    "done",
    "elif",
    "else",
    "esac",
    "fi",
    "for",
    "foreach",
    "function",
    "if",
    "in",
    "nocorrect",
    "noglob",
    "repeat",
    "select",
    "then",
    "until",
];

/// Deepest nesting of commands that run commands. Why: nobody writes more.
const MAX_DEPTH: usize = 8;

/// Characters for which a word is shown in quotes: else it would look like several, or like more than one command.
const QUOTED: [char; 17] = [
    ' ', '\t', '\n', '\'', '"', '\\', ';', '|', '&', '<', '>', '(', ')', '$', '`', '#', '\u{a0}',
];

/// Longest command that is read. Unit: bytes. Why: as much as a kernel takes for one word.
const MAX_LINE: usize = 128 << 10;

/// How a line is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// As a shell does.
    Shell,
    /// As words with quotes, without any shell.
    Words,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    /// The text, without quotes.
    text: String,
    /// False if a shell may make something else of it: names of files, a home.
    is_certain: bool,
}

impl Word {
    /// Reports whether it stands for names of files of which one may look like an option.
    fn may_be_option(&self) -> bool {
        !self.is_certain && self.text.starts_with(['*', '?', '['])
    }
}

/// A simple command: a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    words: Vec<Word>,
}

/// The reason for which a command line isn't read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct Unread {
    /// What isn't read, as a noun phrase.
    pub what: String,
    /// Where it stands. Unit: bytes from the beginning of the line.
    pub at: usize,
}

impl Unread {
    fn new(at: usize, what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            at,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.words.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            // A `=` or a brace needs no quotes to be one word, and a glob of a policy hasn't any.
            let is_quoted = word.text.is_empty() || word.text.contains(QUOTED);
            match is_quoted {
                true => write!(out, "{gap}{}", shell_word(&word.text))?,
                false => write!(out, "{gap}{}", word.text)?,
            }
        }
        Ok(())
    }
}

/// Reports whether a tool takes commands, as far as its name tells.
pub(super) fn takes_commands(tool: &str) -> bool {
    pack_tool_of(tool) == Some(EXEC)
}

/// Returns the commands of a call; `None` if it has no argument that holds one.
///
/// # Errors
///
/// What of it isn't read.
pub(super) fn commands_of_call(
    tool: &str,
    arguments: &Value,
) -> Option<Result<Vec<Command>, Unread>> {
    let given = ARGUMENTS.iter().filter_map(|name| arguments.get(name));
    let mut given = given.filter(|it| !it.is_null());
    let command = given.next()?;
    if given.next().is_some() {
        return Some(Err(Unread::new(0, "a second command")));
    }
    let more = arguments.get("args").filter(|it| !it.is_null());
    let commands = match (command, more) {
        (Value::String(line), None) if tool == EXEC => {
            split_words(line).map(|words| vec![Command::of_words(words)])
        }
        (Value::String(line), None) => read_line(line),
        (Value::String(program), Some(more)) => words_of(more).map(|words| {
            let words = std::iter::once(program.clone()).chain(words);
            vec![Command::of_words(words.collect())]
        }),
        (list, None) => words_of(list).map(|words| vec![Command::of_words(words)]),
        (_, Some(_)) => Err(Unread::new(0, "a list beside `args`")),
    };
    let elsewhere = FOLDERS
        .iter()
        .any(|name| arguments.get(name).is_some_and(|it| !it.is_null()));
    Some(commands.map(|mut commands| {
        let first = commands.iter_mut().filter_map(|it| it.words.first_mut());
        for word in first.filter(|_| elsewhere) {
            // Another folder has other programs.
            word.is_certain &= word.text.starts_with('/') || !word.text.contains('/');
        }
        commands
    }))
}

fn words_of(list: &Value) -> Result<Vec<String>, Unread> {
    let words = list.as_array().into_iter().flatten();
    let words = words.map(|word| word.as_str().map(str::to_owned));
    let words: Option<Vec<String>> = words.collect();
    words
        .filter(|_| list.is_array())
        .ok_or_else(|| Unread::new(0, "a command that is no list of texts"))
}

/// Splits a text at blanks into words, which may have quotes. What only a shell understands is refused.
///
/// # Errors
///
/// The first operator, substitution or open quote, with its place.
pub fn split_words(line: &str) -> Result<Vec<String>, Unread> {
    let mut words = Vec::new();
    for token in lex(line, Reading::Words)? {
        if let Token::Word(word) = token {
            words.push(word.text);
        }
    }
    Ok(words)
}

/// Returns the simple commands of a line for a shell, in their order.
///
/// # Errors
///
/// What of it isn't read: substitutions, redirections to files, compound commands, variables.
pub fn read_line(line: &str) -> Result<Vec<Command>, Unread> {
    let mut commands = Vec::new();
    let mut words: Vec<Word> = Vec::new();
    for token in lex(line, Reading::Shell)? {
        match token {
            Token::Word(word) => words.push(word),
            Token::End(at) if words.is_empty() => {
                // Only blank lines may be empty.
                if line.as_bytes().get(at).is_some_and(|it| *it != b'\n') {
                    return Err(Unread::new(at, "an operator without a command"));
                }
            }
            Token::End(_) => commands.push(Command {
                words: std::mem::take(&mut words),
            }),
        }
    }
    if !words.is_empty() {
        commands.push(Command { words });
    }
    for command in &commands {
        let first = command.words.first();
        if let Some(word) = first.filter(|it| RESERVED.contains(&it.text.as_str())) {
            return Err(Unread::new(
                0,
                format!("a compound command (`{}`)", word.text),
            ));
        }
    }
    Ok(commands)
}

impl Command {
    fn of_words(words: Vec<String>) -> Self {
        let words = words.into_iter().map(|text| Word {
            text,
            is_certain: true,
        });
        Self {
            words: words.collect(),
        }
    }

    /// Creates a command of the words that a program is started with.
    #[must_use]
    pub fn new(words: &[String]) -> Self {
        Self::of_words(words.to_vec())
    }

    /// Returns the name of the program without its folder.
    #[must_use]
    pub fn program(&self) -> &str {
        let name = self.words.first().map_or("", |word| word.text.as_str());
        name.rsplit('/').next().unwrap_or(name)
    }

    /// Returns the words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.text.as_str())
    }

    /// Reports whether a shell runs a file: that is a program as any other.
    #[must_use]
    pub fn is_script(&self) -> bool {
        let first = self.words.get(1).map(|word| word.text.as_str());
        SHELLS.contains(&self.program()) && first.is_some_and(|it| !it.starts_with(['-', '+']))
    }

    /// Returns the command with each one that it runs, and those that these run.
    ///
    /// # Errors
    ///
    /// It runs something that isn't read.
    pub fn with_inner(&self) -> Result<Vec<Self>, Unread> {
        let mut all = vec![self.clone()];
        self.collect_inner(&mut all, 0)?;
        Ok(all)
    }

    fn collect_inner(&self, all: &mut Vec<Self>, depth: usize) -> Result<(), Unread> {
        if depth >= MAX_DEPTH {
            return Err(Unread::new(0, "commands in commands in commands"));
        }
        for inner in self.inner_commands()? {
            all.push(inner.clone());
            inner.collect_inner(all, depth.saturating_add(1))?;
        }
        Ok(())
    }

    /// Returns the commands that the command runs, without those that they run.
    ///
    /// # Errors
    ///
    /// It runs something that isn't read.
    pub fn inner_commands(&self) -> Result<Vec<Self>, Unread> {
        Ok(self.inner()?.commands)
    }

    /// Returns what the command runs besides itself.
    fn inner(&self) -> Result<Inner, Unread> {
        let program = self.program();
        if self.has_assignment() {
            return Err(Unread::new(0, "a variable that is set for a command"));
        }
        if let Some(wrapper) = WRAPPERS.iter().find(|it| it.name == program) {
            return match wrapper.skip_options(&self.words) {
                Some(from) => Ok(Inner::at(self, from, wrapper.is_all)),
                None => Err(Unread::new(0, format!("what `{program}` runs"))),
            };
        }
        if SHELLS.contains(&program) {
            return self.inner_line(program);
        }
        if program == "find" {
            return self.inner_of_find();
        }
        if RUNNERS.contains(&program) {
            let what = format!("what `{program}` runs");
            return Err(Unread::new(0, what));
        }
        Ok(Inner::default())
    }

    /// Returns the commands of the line that a shell is given.
    fn inner_line(&self, shell: &str) -> Result<Inner, Unread> {
        let unread = || Err(Unread::new(0, format!("what `{shell}` runs")));
        // Options in one word (`-lc`), then the line, then its parameters.
        let [_, option, line, ..] = self.words.as_slice() else {
            return unread();
        };
        let is_line = option.text.starts_with('-')
            && !option.text.starts_with("--")
            && option.text.ends_with('c');
        let options = option.text.trim_start_matches('-');
        if !is_line || !options.chars().all(|it| "celux".contains(it)) || !line.is_certain {
            return unread();
        }
        Ok(Inner {
            commands: read_line(&line.text)?,
            from: 2,
            is_all: false,
        })
    }

    fn inner_of_find(&self) -> Result<Inner, Unread> {
        let mut inner = Inner {
            from: self.words.len(),
            ..Inner::default()
        };
        let mut words = self.words.iter().enumerate();
        while let Some((index, word)) = words.next() {
            if word.may_be_option() {
                return Err(Unread::new(0, format!("what `{}` stands for", word.text)));
            }
            if FIND_CHANGES.contains(&word.text.as_str()) {
                return Err(Unread::new(0, format!("what `find {}` changes", word.text)));
            }
            if !FIND_RUNS.contains(&word.text.as_str()) {
                continue;
            }
            inner.from = inner.from.min(index.saturating_add(1));
            let command = words.by_ref().map(|(_, word)| word);
            let command = command.take_while(|it| it.text != ";" && it.text != "+");
            inner.commands.push(Self {
                words: command.cloned().collect(),
            });
        }
        Ok(inner)
    }

    fn has_assignment(&self) -> bool {
        let first = self.words.first();
        let name = first.and_then(|word| word.text.split_once('='));
        name.is_some_and(|(name, _)| {
            let mut bytes = name.trim_end_matches('+').bytes();
            !name.is_empty() && bytes.all(|it| it.is_ascii_alphanumeric() || b"_[]".contains(&it))
        })
    }

    /// Returns the index of the first word by which the program runs, writes or reads what it is told.
    fn escape(&self) -> Option<usize> {
        let rows = ESCAPES
            .iter()
            .filter(|(name, _, _)| *name == self.program());
        let found = rows.filter_map(|(_, place, options)| {
            let subcommand = self.words.iter().skip(1);
            let subcommand = subcommand
                .clone()
                .position(|word| !word.text.starts_with('-'))
                .map_or(self.words.len(), |index| index.saturating_add(1));
            let (from, to) = match place {
                Place::Anywhere => (1, self.words.len()),
                Place::Before => (1, subcommand),
                Place::After(name) => {
                    let is_it = self.words.get(subcommand)?.text == *name;
                    (
                        is_it.then_some(subcommand)?.saturating_add(1),
                        self.words.len(),
                    )
                }
            };
            let mut words = self.words.get(from..to)?.iter();
            let index = words.position(|word| {
                word.may_be_option() || options.iter().any(|option| is_option(&word.text, option))
            })?;
            Some(from.saturating_add(index))
        });
        found.min()
    }
}

/// A pattern of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandPattern {
    /// Every command, read or not.
    Any,
    /// A command with these words and no others.
    Exact(Vec<String>),
    /// A command that begins with these words.
    Beginning(Vec<String>),
    /// A command whose text matches this glob.
    Glob(String),
}

impl CommandPattern {
    /// Parses what stands in the parentheses of an entry of `allowed_tools`: `cargo test:*`, `git *`, `make check`.
    ///
    /// # Errors
    ///
    /// What of it isn't read.
    pub(super) fn parse(text: &str) -> Result<Self, Unread> {
        let text = text.trim();
        if text == "*" || text == ":*" {
            return Ok(Self::Any);
        }
        if let Some(beginning) = text.strip_suffix(":*") {
            return split_words(beginning).map(Self::Beginning);
        }
        match text.contains('*') {
            true => Ok(Self::Glob(text.to_owned())),
            false => split_words(text).map(Self::Exact),
        }
    }

    /// Parses an entry of `allowed_commands`: the beginning of a command, or a glob if it has a `*`.
    ///
    /// # Errors
    ///
    /// What of it isn't read.
    pub(super) fn parse_beginning(text: &str) -> Result<Self, Unread> {
        Ok(match Self::parse(text)? {
            Self::Exact(words) => Self::Beginning(words),
            other => other,
        })
    }

    /// Returns the number of the first words of a command that the pattern names; `None` if it doesn't match.
    fn named_words(&self, command: &Command) -> Option<usize> {
        let begins = |words: &[String]| {
            let mut pairs = words.iter().zip(&command.words);
            !words.is_empty()
                && words.len() <= command.words.len()
                && pairs.all(|(word, own)| own.is_certain && own.text == *word)
        };
        match self {
            Self::Any => Some(usize::MAX),
            Self::Exact(words) => {
                (begins(words) && words.len() == command.words.len()).then_some(usize::MAX)
            }
            Self::Beginning(words) => begins(words).then_some(words.len()),
            Self::Glob(glob) => {
                let named = glob
                    .split(' ')
                    .take_while(|word| !word.contains(['*', '?']));
                matches_name(glob, &command.to_string()).then(|| named.count())
            }
        }
    }

    /// Reports whether a command may be one that the pattern means.
    fn may_mean(&self, command: &Command) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(words) | Self::Beginning(words) => {
                let is_program = |word: &String| word.eq_ignore_ascii_case(command.program());
                let is_exact = matches!(self, Self::Exact(_));
                let Some((program, rest)) = words.split_first() else {
                    return true;
                };
                let first = command.words.first();
                if first.is_none_or(|it| it.is_certain) && !is_program(program) {
                    return false;
                }
                let own = command.words.get(1..).unwrap_or_default();
                // Options of the program may stand before what is meant.
                command.escape().is_some()
                    || (!is_exact || own.iter().any(|it| !it.is_certain) || own.len() == rest.len())
                        && rest.len() <= own.len()
                        && rest
                            .iter()
                            .zip(own)
                            .all(|(word, own)| !own.is_certain || own.text == *word)
            }
            Self::Glob(glob) => {
                let is_certain = command.words.iter().all(|it| it.is_certain);
                let mut named = command.clone();
                if let Some(first) = named.words.first_mut() {
                    first.text = command.program().to_owned();
                }
                !is_certain
                    || matches_name(glob, &command.to_string())
                    || matches_name(glob, &named.to_string())
            }
        }
    }
}

/// Finds the first command of a call that no pattern grants; `None` if all are granted.
///
/// A command that runs others is granted if it and they are, and by who names what it runs.
pub(super) fn find_ungranted(
    commands: &[Command],
    patterns: &[CommandPattern],
) -> Option<Ungranted> {
    commands
        .iter()
        .find_map(|it| ungranted(it, patterns, 0).err())
}

/// Reports whether one of the commands, or one that they run, may be one that a pattern forbids.
pub(super) fn is_forbidden(commands: &[Command], pattern: &CommandPattern) -> bool {
    commands.iter().any(|command| match command.with_inner() {
        Ok(all) => all.iter().any(|it| pattern.may_mean(it)),
        Err(_) => true,
    })
}

/// The reason for which a command isn't granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ungranted {
    /// No pattern matches the command.
    Unmatched(String),
    /// A pattern matches the program alone, and this word makes it run or write what it is told.
    Escapes { command: String, word: String },
    /// It isn't known what the command runs.
    Unread { command: String, what: String },
}

impl fmt::Display for Ungranted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmatched(command) => write!(out, "`{command}` matches none of them"),
            Self::Escapes { command, word } => write!(
                out,
                "`{word}` in `{command}` lets it run or write what it is told, so that only a pattern that names it matches"
            ),
            Self::Unread { command, what } => {
                write!(
                    out,
                    "{what} isn't known, so that only a pattern that says more than `{command}` matches"
                )
            }
        }
    }
}

/// Fails if a command isn't granted.
fn ungranted(
    command: &Command,
    patterns: &[CommandPattern],
    depth: usize,
) -> Result<(), Ungranted> {
    if depth > MAX_DEPTH {
        return Err(Ungranted::Unmatched(command.to_string()));
    }
    let named = patterns
        .iter()
        .filter_map(|it| it.named_words(command))
        .max();
    if named == Some(usize::MAX) {
        return Ok(());
    }
    let inner = match command.inner() {
        Ok(inner) => inner,
        // Who names more than the program knows what it runs.
        Err(_) if named.is_some_and(|it| it > 1) => return Ok(()),
        Err(unread) if named.is_some() => {
            return Err(Ungranted::Unread {
                command: command.program().to_owned(),
                what: unread.what,
            });
        }
        Err(_) => return Err(Ungranted::Unmatched(command.to_string())),
    };
    match (named, command.escape()) {
        (None, _) if !inner.is_all => return Err(Ungranted::Unmatched(command.to_string())),
        (Some(named), Some(index)) if index >= named => {
            let word = command.words.get(index).map(|it| it.text.clone());
            return Err(Ungranted::Escapes {
                command: command.to_string(),
                word: word.unwrap_or_default(),
            });
        }
        _ => {}
    }
    if named.is_some_and(|named| named > inner.from) {
        return Ok(());
    }
    let mut commands = inner.commands.iter();
    commands.try_for_each(|it| ungranted(it, patterns, depth.saturating_add(1)))
}

/// The commands that a command runs.
#[derive(Default)]
struct Inner {
    commands: Vec<Command>,
    /// The index of the first word that belongs to them.
    from: usize,
    /// True if the command does nothing besides running them.
    is_all: bool,
}

impl Inner {
    fn at(command: &Command, from: usize, is_all: bool) -> Self {
        let words = command.words.get(from..).unwrap_or_default();
        let command = Command {
            words: words.to_vec(),
        };
        Self {
            commands: if words.is_empty() {
                Vec::new()
            } else {
                vec![command]
            },
            from,
            is_all: is_all && !words.is_empty(),
        }
    }
}

impl Wrapper {
    /// Returns the index of the first word of the command that it runs; `None` if an option isn't known.
    fn skip_options(&self, words: &[Word]) -> Option<usize> {
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

/// Reports whether a word is an option, alone, with its value, or shortened as `getopt_long(3)` allows it.
fn is_option(word: &str, option: &str) -> bool {
    if let Some(name) = option.strip_prefix("--") {
        let given = word
            .strip_prefix("--")
            .map(|it| it.split('=').next().unwrap_or(it));
        return given.is_some_and(|given| !given.is_empty() && name.starts_with(given));
    }
    match option.strip_prefix('-') {
        // Among other letters, too: `-xf`.
        Some(letter) if letter.chars().count() == 1 => {
            word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
        }
        _ => word == option,
    }
}

/// A piece of a line.
enum Token {
    Word(Word),
    /// The end of a command, at a byte.
    End(usize),
}

/// Cuts a line into words and ends of commands.
fn lex(line: &str, reading: Reading) -> Result<Vec<Token>, Unread> {
    if line.len() > MAX_LINE {
        return Err(Unread::new(MAX_LINE, "a longer line than is read"));
    }
    let mut lexer = Lexer {
        line,
        at: 0,
        reading,
        tokens: Vec::new(),
        word: None,
        begin: 0,
    };
    lexer.run()?;
    lexer.end_word();
    Ok(lexer.tokens)
}

struct Lexer<'l> {
    line: &'l str,
    at: usize,
    reading: Reading,
    tokens: Vec<Token>,
    word: Option<Word>,
    /// Where the word begins. Unit: bytes.
    begin: usize,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), Unread> {
        while let Some(char) = self.peek(0) {
            let at = self.at;
            if self.word.is_none() {
                self.begin = at;
            }
            match char {
                ' ' | '\t' => {
                    self.advance();
                    self.end_word();
                }
                '\n' if self.reading == Reading::Words => {
                    self.advance();
                    self.end_word();
                }
                '\'' => self.read_single()?,
                '"' => self.read_double()?,
                '\\' => {
                    self.advance();
                    match self.advance() {
                        // A line goes on.
                        Some('\n') if self.reading == Reading::Shell => {}
                        Some(char) => self.push(char, true),
                        None => return Err(Unread::new(at, "a `\\` at the end")),
                    }
                }
                '`' => return Err(Unread::new(at, "a substitution (`` ` ``)")),
                '$' => self.read_dollar(false)?,
                '<' | '>' => self.read_redirection()?,
                '\n' | ';' | '&' | '|' => self.read_operator()?,
                char if char.is_control() => {
                    return Err(Unread::new(at, "a control character"));
                }
                char if self.reading == Reading::Words => {
                    self.advance();
                    self.push(char, true);
                }
                '(' | ')' => return Err(Unread::new(at, format!("`{char}`"))),
                '{' | '}'
                    if self
                        .line
                        .get(at..)
                        .is_some_and(|rest| rest.starts_with("{}")) =>
                {
                    self.advance();
                    self.advance();
                    self.push('{', true);
                    self.push('}', true);
                }
                '{' | '}' => return Err(Unread::new(at, format!("`{char}`"))),
                '#' if self.word.is_none() => return Err(Unread::new(at, "a comment")),
                '~' | '=' if self.word.is_none() => {
                    self.advance();
                    self.push(char, false);
                }
                '*' | '?' | '[' | ']' | '^' => {
                    self.advance();
                    self.push(char, false);
                }
                char => {
                    self.advance();
                    self.push(char, true);
                }
            }
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.line.get(self.at..)?.chars().nth(ahead)
    }

    fn advance(&mut self) -> Option<char> {
        let char = self.peek(0)?;
        self.at = self.at.saturating_add(char.len_utf8());
        Some(char)
    }

    fn push(&mut self, char: char, is_certain: bool) {
        let word = self.begin_word();
        word.text.push(char);
        word.is_certain &= is_certain;
    }

    fn begin_word(&mut self) -> &mut Word {
        self.word.get_or_insert_with(|| Word {
            text: String::new(),
            is_certain: true,
        })
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            self.tokens.push(Token::Word(word));
        }
    }

    fn read_single(&mut self) -> Result<(), Unread> {
        let at = self.at;
        self.advance();
        self.begin_word();
        loop {
            match self.advance() {
                Some('\'') => return Ok(()),
                Some(char) => self.push(char, true),
                None => return Err(Unread::new(at, "a quote that isn't closed")),
            }
        }
    }

    fn read_double(&mut self) -> Result<(), Unread> {
        let at = self.at;
        self.advance();
        self.begin_word();
        loop {
            let here = self.at;
            match self.advance() {
                Some('"') => return Ok(()),
                Some('\\') => match self.peek(0) {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => {
                        self.advance();
                        self.push(escaped, true);
                    }
                    Some('\n') if self.reading == Reading::Shell => drop(self.advance()),
                    _ => self.push('\\', true),
                },
                Some('`') => return Err(Unread::new(here, "a substitution (`` ` ``)")),
                Some('$') => {
                    self.at = here;
                    self.read_dollar(true)?;
                }
                // Of some shells' interactive history.
                Some('!') if self.reading == Reading::Shell => self.push('!', false),
                Some(char) => self.push(char, true),
                None => return Err(Unread::new(at, "a quote that isn't closed")),
            }
        }
    }

    /// Reads a `$`, which stands for itself where no name follows.
    fn read_dollar(&mut self, in_quotes: bool) -> Result<(), Unread> {
        let at = self.at;
        self.advance();
        let next = self.peek(0);
        if next == Some('(') {
            return Err(Unread::new(at, "a substitution (`$(`)"));
        }
        let stands_alone = match next {
            Some('"') => in_quotes,
            next => next.is_none_or(|it| it == ' ' || it == '\t'),
        };
        if self.reading == Reading::Words || stands_alone {
            self.push('$', true);
            return Ok(());
        }
        Err(Unread::new(at, "a variable (`$`)"))
    }

    /// Reads a redirection, of which those that change no file are read.
    fn read_redirection(&mut self) -> Result<(), Unread> {
        let at = self.at;
        let unread = || Err(Unread::new(at, "a redirection"));
        if self.reading == Reading::Words {
            let char = self.peek(0).unwrap_or('>');
            return Err(Unread::new(at, format!("`{char}`")));
        }
        // A number before it belongs to it.
        match &self.word {
            // As it is written, without quotes.
            Some(word)
                if word.text.bytes().all(|it| it.is_ascii_digit())
                    && self.line.get(self.begin..at) == Some(word.text.as_str()) =>
            {
                self.word = None;
            }
            Some(_) => self.end_word(),
            None => {}
        }
        let rest = self.line.get(at..).unwrap_or_default();
        let operator = ["&>>", "&>", ">>", ">&", ">", "<"];
        let Some(operator) = operator.into_iter().find(|it| rest.starts_with(it)) else {
            return unread();
        };
        let after = rest.get(operator.len()..).unwrap_or_default();
        let target = after.trim_start_matches([' ', '\t']);
        let end = target.find([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);
        let target = target
            .get(..end.unwrap_or(target.len()))
            .unwrap_or_default();
        let is_harmless = match operator {
            ">&" => target == "1" || target == "2",
            _ => target == "/dev/null",
        };
        if !is_harmless {
            return unread();
        }
        let blanks = after
            .len()
            .saturating_sub(after.trim_start_matches([' ', '\t']).len());
        let length = operator
            .len()
            .saturating_add(blanks)
            .saturating_add(target.len());
        self.at = at.saturating_add(length);
        Ok(())
    }

    /// Reads an operator between two commands.
    fn read_operator(&mut self) -> Result<(), Unread> {
        let at = self.at;
        let rest = self.line.get(at..).unwrap_or_default();
        if self.reading == Reading::Words {
            let known = ["&&", "||", "|&", ";", "&", "|"];
            let operator = known.into_iter().find(|it| rest.starts_with(it));
            return Err(Unread::new(at, format!("`{}`", operator.unwrap_or(";"))));
        }
        if rest.starts_with("&>") {
            self.end_word();
            return self.read_redirection();
        }
        self.end_word();
        let known = ["&&", "||", "|&", ";", "&", "|", "\n"];
        let operator = known.into_iter().find(|it| rest.starts_with(it));
        self.at = at.saturating_add(operator.map_or(1, str::len));
        self.tokens.push(Token::End(at));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
