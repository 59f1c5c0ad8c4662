//! Names that clients give: of runs, and of requests that may be repeated.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de};

/// Most characters of a run's id or of a key. Unit: characters. Why: a UUID with a prefix fits several times.
pub const MAX_NAME: usize = 128;

/// A text that can't be an id or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameError {
    what: &'static str,
    kind: NameErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameErrorKind {
    Empty,
    Long {
        characters: usize,
    },
    Control,
    /// A run is to be called so.
    Odd {
        character: char,
    },
    /// A run is to be called so.
    Begins {
        character: char,
    },
}

/// What the id of a run may be made of, where somebody chooses it.
const CHOSEN: &str = "one is made of letters, digits, `-`, `_` and `.`, and begins with a letter or a digit, such as `build-7`";

impl fmt::Display for NameError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what;
        match self.kind {
            NameErrorKind::Empty => write!(out, "{what} is empty"),
            NameErrorKind::Long { characters } => {
                write!(
                    out,
                    "{what} has {characters} characters; most are {MAX_NAME}"
                )
            }
            NameErrorKind::Control => write!(out, "{what} has a control character"),
            NameErrorKind::Odd { character: ' ' } => {
                write!(out, "{what} has a blank in it: {CHOSEN}")
            }
            NameErrorKind::Odd { character } => {
                write!(out, "{what} has a `{character}` in it: {CHOSEN}")
            }
            NameErrorKind::Begins { character } => {
                write!(out, "{what} begins with `{character}`: {CHOSEN}")
            }
        }
    }
}

impl std::error::Error for NameError {}

fn check(what: &'static str, text: &str) -> Result<(), NameError> {
    let kind = if text.is_empty() {
        NameErrorKind::Empty
    } else if text.len() > MAX_NAME && text.chars().count() > MAX_NAME {
        let characters = text.chars().count();
        NameErrorKind::Long { characters }
    } else if text.chars().any(char::is_control) {
        NameErrorKind::Control
    } else {
        return Ok(());
    };
    Err(NameError { what, kind })
}

macro_rules! name {
    ($(#[$docs:meta])* $type:ident, $what:literal) => {
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $type(String);

        impl $type {
            /// Its text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                check($what, text)?;
                Ok(Self(text.to_owned()))
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

name! {
    /// The id of a run: any text of 1 to 128 characters without control characters. Knowing one gives no authority.
    ///
    /// A run that begins by itself has an id as [`RunId::check_chosen`] wants it. Those of children are made of their
    /// parent's, with `/`, `::` and `#`; and a store may have runs from before there was such a rule.
    RunId, "the id of a run"
}

name! {
    /// What tells a repeated request from a new one: the same key with the same request is answered as the first time.
    Key, "an idempotency key"
}

/// Whether the id of a run may have that character, where somebody chooses it.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// What begins the id of a run of a workflow: at most half of what an id has room for, as one may choose it.
fn stem(workflow: &str) -> String {
    let plain = |it: char| if is_plain(it) { it } else { '-' };
    let stem: String = workflow.chars().take(MAX_NAME / 2).map(plain).collect();
    let stem = stem.trim_start_matches(|it: char| !it.is_alphanumeric());
    if stem.is_empty() { "run" } else { stem }.to_owned()
}

impl RunId {
    /// Whether somebody may call a new run so. Ids are typed, quoted for shells and put in paths and addresses; `RUN:SEQ` is
    /// a request, and `RUN/STATE` a child.
    ///
    /// ```
    /// use statemark_runs::RunId;
    ///
    /// let run: RunId = "a:b".parse()?;
    /// let error = run.check_chosen().unwrap_err();
    /// assert!(error.to_string().starts_with("the id of a run has a `:` in it: "));
    /// # Ok::<(), statemark_runs::NameError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// It has another character than letters, digits, `-`, `_` and `.`, or begins with one of the last three.
    pub fn check_chosen(&self) -> Result<(), NameError> {
        let mut characters = self.0.chars();
        let odd = characters.find(|it| !is_plain(*it));
        let first = self.0.chars().next().filter(|it| !it.is_alphanumeric());
        let kind = match (odd, first) {
            (Some(character), _) => NameErrorKind::Odd { character },
            (None, Some(character)) => NameErrorKind::Begins { character },
            (None, None) => return Ok(()),
        };
        Err(NameError {
            what: "the id of a run",
            kind,
        })
    }

    /// A new id that says what it is a run of: `ship-4f1c9a07`. Two may be alike, seldom.
    #[must_use]
    pub fn of_workflow(workflow: &str) -> Self {
        let digits = uuid::Uuid::now_v7().simple().to_string();
        let end: String = digits.chars().skip(24).collect();
        Self(format!("{}-{end}", stem(workflow)))
    }

    /// The id of the run that is made of a workflow under a key: always the same one.
    #[must_use]
    pub fn of_workflow_for(workflow: &str, key: &str) -> Self {
        let sum = crate::hash::Hash::of(format!("{workflow}\n{key}").as_bytes()).to_string();
        let end: String = sum.chars().take(12).collect();
        Self(format!("{}-{end}", stem(workflow)))
    }

    /// An id that no other run has: a UUID of version 7, so that ids sort by the time when they were made.
    #[must_use]
    pub fn random() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }
}
