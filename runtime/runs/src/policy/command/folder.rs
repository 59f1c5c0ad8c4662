//! The folder that a command runs in, as far as its line and its call tell.
//!
//! A program with a `/` in its name is another one in another folder, so a pattern is compared with the name that it has from
//! the root. Where the folder isn't known for certain, no pattern matches such a program.

use super::builtins;
use super::lex::Word;
use crate::policy::arguments::normal_path;

/// Builtins that change the folder for the commands after them.
const CHANGING: [&str; 4] = ["cd", "chdir", "popd", "pushd"];

/// The folder that a command runs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Folder {
    /// The root: that of the project, or of the worktree that the work is in.
    #[default]
    Root,
    /// A folder below the root, or a whole path.
    At(String),
    /// One that isn't known.
    Unknown,
}

impl Folder {
    /// Returns the folder that a path leads to from this one.
    pub(super) fn enter(&self, path: &str) -> Self {
        // With a link on the way, `..` leads elsewhere than it seems to.
        let Some(below) = normal_path(path.trim_start_matches('/')) else {
            return Self::Unknown;
        };
        if path.starts_with('/') {
            return Self::At(format!("/{below}"));
        }
        match self {
            Self::Unknown => Self::Unknown,
            folder if below.is_empty() => folder.clone(),
            Self::Root => Self::At(below),
            Self::At(folder) => Self::At(format!("{folder}/{below}")),
        }
    }

    /// Returns the name of a program as it is from the root; `None` if it isn't known.
    pub(super) fn locate(&self, program: &str) -> Option<String> {
        if !program.contains('/') || program.starts_with('/') {
            return Some(program.to_owned());
        }
        match self {
            Self::Root => Some(program.to_owned()),
            Self::Unknown => None,
            Self::At(folder) => {
                let below = normal_path(program)?;
                let begins_here = program.starts_with("./") && !folder.starts_with('/');
                let start = if begins_here { "./" } else { "" };
                Some(format!("{start}{folder}/{below}"))
            }
        }
    }
}

/// The folder of each command of a line, one after the other.
pub(super) struct Moves {
    folder: Folder,
    /// True once a command has changed the folder.
    has_moved: bool,
    /// True as long as each command of the list runs only after those before it, in the same shell.
    is_chain: bool,
}

impl Moves {
    pub(super) const fn new(folder: Folder) -> Self {
        Self {
            folder,
            has_moved: false,
            is_chain: true,
        }
    }

    /// Returns the folder of a command, which this operator follows.
    pub(super) fn pass(&mut self, words: &[Word], operator: &str) -> Folder {
        let own = self.folder.clone();
        let is_and = operator == "&&";
        if changes_folder(words) {
            self.has_moved = true;
            self.folder = match words {
                [_, path] if is_and && self.is_chain && is_plain(path) => own.enter(&path.text),
                _ => Folder::Unknown,
            };
        } else if self.has_moved && !is_and {
            // It may have been another shell's, or may not have been reached.
            self.folder = Folder::Unknown;
        }
        self.is_chain = match operator {
            "&&" => self.is_chain,
            operator => matches!(operator, ";" | "\n"),
        };
        own
    }
}

/// Reports whether a command may change the folder.
fn changes_folder(words: &[Word]) -> bool {
    let builtin = builtins::split(words).map(|(builtin, _)| builtin);
    builtin.is_some_and(|it| !it.is_certain || CHANGING.contains(&it.text.as_str()))
}

/// Reports whether `cd` takes a word for a folder as it is.
fn is_plain(word: &Word) -> bool {
    word.is_certain && !word.text.is_empty() && !word.text.starts_with('-')
}
