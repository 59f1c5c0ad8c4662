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
    Long { characters: usize },
    Control,
}

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
    RunId, "the id of a run"
}

name! {
    /// What tells a repeated request from a new one: the same key with the same request is answered as the first time.
    Key, "an idempotency key"
}

impl RunId {
    /// A new id that says what it is a run of: `ship-4f1c9a07`. Two may be alike, seldom.
    #[must_use]
    pub fn of_workflow(workflow: &str) -> Self {
        let digits = uuid::Uuid::now_v7().simple().to_string();
        let end: String = digits.chars().skip(24).collect();
        let id: String = workflow.chars().take(MAX_NAME / 2).collect();
        Self(format!("{id}-{end}"))
    }

    /// The id of the run that is made of a workflow under a key: always the same one.
    #[must_use]
    pub fn of_workflow_for(workflow: &str, key: &str) -> Self {
        let sum = crate::hash::Hash::of(format!("{workflow}\n{key}").as_bytes()).to_string();
        let end: String = sum.chars().take(12).collect();
        let id: String = workflow.chars().take(MAX_NAME / 2).collect();
        Self(format!("{id}-{end}"))
    }

    /// An id that no other run has: a UUID of version 7, so that ids sort by the time when they were made.
    #[must_use]
    pub fn random() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }
}
