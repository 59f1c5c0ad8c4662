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

mod builtins;
mod escapes;
mod folder;
mod grant;
mod lex;
mod programs;

use std::fmt;

use serde_json::Value;

use super::arguments::normal_path;
use super::words::pack_tool_of;
use crate::phrase::shell_word;
use escapes::{ESCAPES, FLAGS, Place, VALUED, is_named, is_option, may_be_option};
use folder::{Folder, Moves};
use lex::{Reading, Token, Word, lex};
use programs::{FIND_CHANGES, FIND_RUNS, RUNNERS, SHELLS, WRAPPERS};

pub(super) use grant::{CommandPattern, find_ungranted, is_forbidden};
pub use lex::Unread;

/// The tool of the pack, which gives its command to no shell.
///
/// All other tools that take commands are clients' own.
const EXEC: &str = "exec";

/// The arguments of calls that hold a command.
const ARGUMENTS: [&str; 3] = ["command", "argv", "cmd"];

/// The arguments of calls of commands that name the folder to run in.
pub const FOLDER_ARGUMENTS: [&str; 5] = [
    "cwd",
    "workdir",
    "working_directory",
    "directory",
    "dir_path",
];
/// The arguments of calls that name the program which runs the command.
const INTERPRETERS: [&str; 2] = ["shell", "interpreter"];

/// The arguments of calls that set variables for the command, which may have it run something else.
const VARIABLES: [&str; 4] = ["env", "environment", "environment_variables", "envs"];

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
/// Characters for which a word is shown in quotes.
///
/// Else it would look like several words, or like more than one command.
const QUOTED: [char; 17] = [
    ' ', '\t', '\n', '\'', '"', '\\', ';', '|', '&', '<', '>', '(', ')', '$', '`', '#', '\u{a0}',
];
/// A simple command: a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    words: Vec<Word>,
    folder: Folder,
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
/// A call that is to run in another folder than the root begins with the command that goes there.
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
    if let Err(unread) = check_surroundings(arguments) {
        return Some(Err(unread));
    }
    let more = arguments.get("args").filter(|it| !it.is_null());
    Some(go_to_folder(arguments).and_then(|(mut commands, folder)| {
        let of_words = |words| Command::of_words(words, folder.clone());
        match (command, more) {
            (Value::String(line), None) if tool == EXEC => {
                commands.push(of_words(split_words(line)?));
            }
            (Value::String(line), None) => {
                if is_power_shell(tool) {
                    check_means_itself(line)?;
                }
                commands.extend(read_line_in(line, folder)?);
            }
            (Value::String(program), Some(more)) => {
                let words = std::iter::once(program.clone()).chain(words_of(more)?);
                commands.push(of_words(words.collect()));
            }
            (list, None) => commands.push(of_words(words_of(list)?)),
            (_, Some(_)) => return Err(Unread::new(0, "a list beside `args`")),
        }
        Ok(commands)
    }))
}

/// Reports whether PowerShell reads the lines of a tool.
///
/// It does by its name, or since its client uses that on Windows.
fn is_power_shell(tool: &str) -> bool {
    tool == "PowerShell" || (cfg!(windows) && !["Bash", "Monitor"].contains(&tool))
}

/// Checks that a line has nothing but characters that mean themselves in any shell.
///
/// PowerShell has other quotes, escapes and ends of commands than what this reads. Source: its `about_Quoting_Rules` and
/// `about_Special_Characters`.
fn check_means_itself(line: &str) -> Result<(), Unread> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || " -./:=_+".contains(it);
    match line.find(|it| !is_plain(it)) {
        Some(at) => Err(Unread::new(
            at,
            "a character that PowerShell may read otherwise",
        )),
        None => Ok(()),
    }
}

/// Checks that a call names no shell but the system's, and no variables for its command.
fn check_surroundings(arguments: &Value) -> Result<(), Unread> {
    let given = |name: &&str| arguments.get(*name).filter(|it| !it.is_null());
    let is_known = |shell: &str| {
        let folders = ["/bin/", "/usr/bin/", ""];
        let names = folders.iter().filter_map(|it| shell.strip_prefix(*it));
        names.clone().any(|name| SHELLS.contains(&name))
    };
    for shell in INTERPRETERS.iter().filter_map(given) {
        if !shell.as_str().is_some_and(is_known) {
            return Err(Unread::new(0, "a shell of its own"));
        }
    }
    let is_empty = |variables: &Value| {
        variables.as_object().is_some_and(serde_json::Map::is_empty)
            || variables.as_array().is_some_and(Vec::is_empty)
    };
    if VARIABLES.iter().filter_map(given).all(is_empty) {
        Ok(())
    } else {
        Err(Unread::new(0, "a variable of its own"))
    }
}

/// Returns the commands that go to the folder of a call, and that folder.
///
/// A folder decides what a command does, as its words do: a repository, a `Makefile` or a configuration that is there.
fn go_to_folder(arguments: &Value) -> Result<(Vec<Command>, Folder), Unread> {
    let given = FOLDER_ARGUMENTS
        .iter()
        .filter_map(|name| arguments.get(name));
    let given = given.filter(|it| !it.is_null()).map(|folder| {
        let folder = folder.as_str();
        folder.ok_or_else(|| Unread::new(0, "a folder that is no text"))
    });
    let mut given: Vec<&str> = given.collect::<Result<_, _>>()?;
    given.dedup();
    let folder = match given.as_slice() {
        [] => Folder::Root,
        [one] => Folder::Root.enter(one),
        // Nobody knows which of them the tool reads.
        _ => Folder::Unknown,
    };
    let elsewhere = given.into_iter().map(|folder| {
        let normal = normal_path(folder);
        normal.unwrap_or_else(|| folder.to_owned())
    });
    let elsewhere = elsewhere.filter(|folder| !folder.is_empty());
    let commands = elsewhere.map(|folder| {
        let words = vec!["cd".to_owned(), folder];
        Command::of_words(words, Folder::Root)
    });
    Ok((commands.collect(), folder))
}

/// Returns the operator at a byte of a line.
fn operator_at(line: &str, at: usize) -> &str {
    let rest = line.get(at..).unwrap_or_default();
    match rest.strip_prefix("&&") {
        Some(_) => "&&",
        None if rest.starts_with("||") => "||",
        None => rest.get(..1).unwrap_or_default(),
    }
}

/// Reports whether a word is certainly one of those in a text.
fn is_one_of(word: &Word, others: &str) -> bool {
    word.is_certain && others.split(' ').any(|own| own == word.text)
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
/// What of it isn't read: substitutions, redirections to files, compound commands, variables, and words that a builtin
/// of the shell evaluates once more.
pub fn read_line(line: &str) -> Result<Vec<Command>, Unread> {
    read_line_in(line, Folder::Root)
}

/// Returns the simple commands of a line that begins in a folder.
fn read_line_in(line: &str, folder: Folder) -> Result<Vec<Command>, Unread> {
    let mut commands = Vec::new();
    let mut moves = Moves::new(folder);
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
            Token::End(at) => {
                let words = std::mem::take(&mut words);
                let folder = moves.pass(&words, operator_at(line, at));
                commands.push(Command { words, folder });
            }
        }
    }
    if !words.is_empty() {
        let folder = moves.pass(&words, "\n");
        commands.push(Command { words, folder });
    }
    for command in &commands {
        let first = command.words.first();
        if let Some(word) = first.filter(|it| RESERVED.contains(&it.text.as_str())) {
            return Err(Unread::new(
                0,
                format!("a compound command (`{}`)", word.text),
            ));
        }
        builtins::check(&command.words)?;
    }
    Ok(commands)
}

impl Command {
    fn of_words(words: Vec<String>, folder: Folder) -> Self {
        let words = words.into_iter().map(Word::certain);
        Self {
            words: words.collect(),
            folder,
        }
    }

    /// Creates a command of the words that a program is started with.
    #[must_use]
    pub fn new(words: &[String]) -> Self {
        Self::of_words(words.to_vec(), Folder::Root)
    }

    /// Returns the command with the name that its program has from the root; `None` if that isn't known.
    fn located(&self) -> Option<Self> {
        let mut located = self.clone();
        if let Some(program) = located.words.first_mut() {
            program.text = self.folder.locate(&program.text)?;
        }
        Some(located)
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
                Some(from) => {
                    let mut inner = Inner::at(self, from, wrapper.is_all);
                    let options = self.words.get(1..from).unwrap_or_default();
                    if options.iter().any(|it| wrapper.changes_folder(&it.text)) {
                        let moved = inner.commands.iter_mut();
                        moved.for_each(|it| it.folder = Folder::Unknown);
                    }
                    if wrapper.reads_words {
                        // Nobody knows what its input adds, which may be an option.
                        let unknown = inner.commands.iter_mut();
                        unknown.for_each(|it| it.words.push(Word::unknown()));
                    }
                    Ok(inner)
                }
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
            commands: read_line_in(&line.text, self.folder.clone())?,
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
            if word.may_begin_option() {
                return Err(Unread::new(0, format!("what `{}` stands for", word.text)));
            }
            if FIND_CHANGES.contains(&word.text.as_str()) {
                return Err(Unread::new(0, format!("what `find {}` changes", word.text)));
            }
            if !FIND_RUNS.contains(&word.text.as_str()) {
                continue;
            }
            inner.from = inner.from.min(index.saturating_add(1));
            let mut command: Vec<Word> = Vec::new();
            for (_, word) in words.by_ref() {
                // A `+` ends the command after `{}` alone; elsewhere it is a word of it.
                let is_after_names = command.last().is_some_and(|it| it.text == "{}");
                if word.text == ";" || word.text == "+" && is_after_names {
                    break;
                }
                command.push(word.clone());
            }
            // Those run in the folder of each file.
            let folder = match word.text.ends_with("dir") {
                true => Folder::Unknown,
                false => self.folder.clone(),
            };
            inner.commands.push(Self {
                words: command,
                folder,
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
    ///
    /// The first `named` words of the command don't count.
    fn escape(&self, named: usize) -> Option<usize> {
        let program = self.program();
        let rows = ESCAPES
            .iter()
            .filter(|(names, ..)| is_named(program, names));
        let end = self.words.len();
        let subcommands = self.subcommands();
        let subcommand = subcommands.first().copied().unwrap_or(end);
        let last = subcommands.last().copied().unwrap_or(end);
        let after = subcommand.saturating_add(1);
        let is_any = |word: &Word, options: &str| {
            let mut options = options.split_whitespace();
            options.any(|option| match word.is_certain {
                true => is_option(&word.text, option),
                false => may_be_option(word.beginning(), option),
            })
        };
        let found = rows.filter_map(|(_, place, options)| {
            // What may become an option, or several words, leaves open which word is the subcommand.
            let before = self.words.get(1..last.saturating_add(1).min(end));
            let before = before.unwrap_or_default();
            if let Some(index) = before.iter().position(|it| !it.is_certain)
                && place.is_by_subcommand()
            {
                let index = index.saturating_add(1);
                return (index >= named).then_some(index);
            }
            let (from, to) = match place {
                Place::Anywhere => (1, end),
                Place::Before => (1, last),
                Place::Subcommand | Place::NoneOf => {
                    let is_harmful = |word| is_any(word, options) == (*place == Place::Subcommand);
                    let mut subcommands = subcommands.iter().copied();
                    return subcommands.find(|index| {
                        *index >= named && self.words.get(*index).is_some_and(is_harmful)
                    });
                }
                Place::Unless(others) => {
                    let rest = self.words.get(after..).unwrap_or_default();
                    let mut rest = rest.iter().take_while(|it| it.text != "--");
                    let is_harmless = rest.any(|it| is_one_of(it, others));
                    (!is_harmless).then_some((subcommand, after))?
                }
                Place::UnlessNext(others) => {
                    let next = self.words.get(after);
                    let is_harmless = next.is_some_and(|it| is_one_of(it, others));
                    (!is_harmless).then_some((subcommand, after))?
                }
                Place::After(name) => {
                    let mut words = self.words.iter().skip(1);
                    let index = words.position(|it| is_any(it, name))?;
                    (index.saturating_add(2), end)
                }
                Place::Letters => {
                    let first = self.words.get(1)?;
                    let mut letters = options.split_whitespace();
                    let is_it = !first.text.starts_with('-')
                        && (!first.is_certain || letters.any(|it| first.text.contains(it)));
                    return (is_it && named <= 1).then_some(1);
                }
            };
            let from = from.max(named);
            let mut words = self.words.get(from..to.min(end))?.iter();
            let index = words.position(|word| is_any(word, options))?;
            Some(from.saturating_add(index))
        });
        found.min()
    }

    /// Returns the indexes of the words of which one is the subcommand.
    ///
    /// That is the first which is neither an option nor the value of one. They are several if it isn't known whether an
    /// option before them has a value.
    fn subcommands(&self) -> Vec<usize> {
        let program = self.program();
        let options_of = |rows: &[(&str, &'static str)]| {
            let mut rows = rows.iter();
            let row = rows.find(|(names, _)| is_named(program, names));
            row.map_or("", |(_, options)| options)
        };
        let (valued, flags) = (options_of(VALUED), options_of(FLAGS));
        let is_of =
            |text: &str, options: &str| options.split_whitespace().any(|option| option == text);
        let mut found = Vec::new();
        let mut may_be_value = false;
        let mut index: usize = 1;
        while let Some(word) = self.words.get(index) {
            let text = word.text.as_str();
            // `+` chooses a version of cargo.
            if !text.starts_with(['-', '+']) {
                found.push(index);
                if !may_be_value {
                    break;
                }
                may_be_value = false;
            } else if is_of(text, valued) {
                may_be_value = false;
                index = index.saturating_add(1);
            } else {
                may_be_value = text.starts_with('-') && !text.contains('=') && !is_of(text, flags);
            }
            index = index.saturating_add(1);
        }
        found
    }
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
            folder: command.folder.clone(),
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

#[cfg(test)]
mod tests;
