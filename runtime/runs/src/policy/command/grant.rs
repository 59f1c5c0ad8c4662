//! Patterns of commands: what they grant, and what they forbid.

use std::fmt;

use super::lex::Unread;
use super::{Command, MAX_DEPTH, split_words};
use crate::glob::matches_name;

/// A pattern of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandPattern {
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
    /// Parses the text in the parentheses of an entry of `allowed_tools`.
    ///
    /// Such as `cargo test:*`, `git *` and `make check`.
    ///
    /// # Errors
    ///
    /// What of it isn't read.
    pub(crate) fn parse(text: &str) -> Result<Self, Unread> {
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
    pub(crate) fn parse_beginning(text: &str) -> Result<Self, Unread> {
        Ok(match Self::parse(text)? {
            Self::Exact(words) => Self::Beginning(words),
            other => other,
        })
    }

    /// Returns the number of first words of a command that the pattern names.
    ///
    /// `None` if it doesn't match.
    fn named_words(&self, command: &Command) -> Option<usize> {
        if *self == Self::Any {
            return Some(usize::MAX);
        }
        let command = command.located()?;
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
                // Whichever folder it is in.
                let is_program = |word: &String| {
                    let name = word.rsplit('/').next().unwrap_or(word);
                    name.eq_ignore_ascii_case(command.program())
                };
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
                command.escape(0).is_some()
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
pub(crate) fn find_ungranted(
    commands: &[Command],
    patterns: &[CommandPattern],
) -> Option<Ungranted> {
    commands
        .iter()
        .find_map(|it| ungranted(it, patterns, 0).err())
}

/// Reports whether one of the commands, or one that they run, may be one that a pattern forbids.
pub(crate) fn is_forbidden(commands: &[Command], pattern: &CommandPattern) -> bool {
    commands.iter().any(|command| match command.with_inner() {
        Ok(all) => all.iter().any(|it| pattern.may_mean(it)),
        Err(_) => true,
    })
}

/// The reason for which a command isn't granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ungranted {
    /// No pattern matches the command.
    Unmatched(String),
    /// A pattern matches the program alone, and this word makes it run or write what it is told.
    Escapes { command: String, word: String },
    /// The command's program is in a folder that isn't known.
    Elsewhere(String),
    /// The command runs something that isn't known.
    Unread { command: String, what: String },
}

impl fmt::Display for Ungranted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmatched(command) => write!(out, "`{command}` matches none of them"),
            Self::Elsewhere(command) => write!(
                out,
                "`{command}` runs in a folder that isn't known for certain, so that none of them matches"
            ),
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
    let unmatched = || match command.located() {
        Some(command) => Ungranted::Unmatched(command.to_string()),
        None => Ungranted::Elsewhere(command.to_string()),
    };
    if depth > MAX_DEPTH {
        return Err(unmatched());
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
        Err(_) => return Err(unmatched()),
    };
    match (named, command.escape(named.unwrap_or(0))) {
        (None, _) if !inner.is_all => return Err(unmatched()),
        (Some(_), Some(index)) => {
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
