//! Checks of the project's English, as GLOSSARY.md has it.
//!
//! [`check`] finds faults in one source: first lines of documentation that aren't as they should be, names that are
//! forbidden, and closures over several lines whose parameter has no name. `statemark-tidy FOLDER` prints them.
//!
//! Deliberately not here: rules about crates, files and diagnostics, which need more than a source (`tests/src/tidy.rs`).

mod docs;
mod lex;
mod names;
mod walk;

pub use walk::{CRATES, faults, folders};

/// A fault, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: usize,
    /// The kind of fault.
    pub rule: Rule,
    /// The words that are at fault.
    pub text: String,
}

/// A rule that a fault breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A first line begins as none should.
    Opener,
    /// A first line is longer than a hover shows well.
    Long,
    /// A first line doesn't end with a full stop.
    Stop,
    /// A function's first line doesn't begin with a verb in the third person.
    Verb,
    /// A name is forbidden.
    Name,
    /// A closure over several lines has a parameter `it`.
    It,
}

impl Rule {
    /// All rules, in the order of the table.
    pub const ALL: [Self; 6] = [
        Self::Opener,
        Self::Long,
        Self::Stop,
        Self::Verb,
        Self::Name,
        Self::It,
    ];

    /// Returns the rule's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Opener => "opener",
            Self::Long => "long",
            Self::Stop => "stop",
            Self::Verb => "verb",
            Self::Name => "name",
            Self::It => "it",
        }
    }

    /// Returns the rule in a clause.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Opener => {
                "a first line begins with a verb (function) or a noun phrase (everything else)"
            }
            Self::Long => "a first line has at most 100 characters",
            Self::Stop => "a first line is a sentence and ends with a full stop",
            Self::Verb => "a function's first line begins with a verb in the third person",
            Self::Name => "GLOSSARY.md has another word",
            Self::It => "a closure over several lines names its parameter after its type",
        }
    }
}

/// Finds the faults of a source.
#[must_use]
pub fn check(source: &str) -> Vec<Fault> {
    let tokens = lex::lex(source);
    let tokens = docs::without_tests(&tokens);
    let mut faults = docs::check(tokens);
    faults.extend(names::check(tokens));
    faults.sort();
    faults
}
