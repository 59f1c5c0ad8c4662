//! Names that clients choose: ids of runs, and idempotency keys.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de};

/// Most characters of a run's id or a key. Unit: characters.
///
/// Why: a UUID with a prefix fits several times.
pub const MAX_NAME: usize = 128;

/// The error for a string that can't be an id or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {kind}")]
pub struct NameError {
    what: &'static str,
    kind: NameErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum NameErrorKind {
    #[error("is empty")]
    Empty,
    #[error("has {characters} characters; most are {MAX_NAME}")]
    Long { characters: usize },
    #[error("has a control character")]
    Control,
    #[error("can't be `{STORE_JOURNAL}`, which is reserved")]
    Reserved,
    /// A character that the id of a new run can't have.
    #[error("has {} in it: {CHOSEN}", quoted(*character))]
    Odd { character: char },
    /// A character that the id of a new run can't begin with.
    #[error("begins with `{character}`: {CHOSEN}")]
    Begins { character: char },
}

/// The reserved id of the store's own journal.
const STORE_JOURNAL: &str = "$store";

/// The rule for the id of a new run.
const CHOSEN: &str = "one is made of letters, digits, `-`, `_` and `.`, and begins with a letter or a digit, such as `build-7`";

fn quoted(character: char) -> String {
    match character {
        ' ' => "a blank".to_owned(),
        other => format!("a `{other}`"),
    }
}

fn check(what: &'static str, text: &str, reserved: &[&str]) -> Result<(), NameError> {
    let kind = if reserved.contains(&text) {
        NameErrorKind::Reserved
    } else if text.is_empty() {
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

/// Checks that the name of an event has no control character, as no machine's has.
///
/// # Errors
///
/// The name has one.
pub(crate) fn check_event_name(text: &str) -> Result<(), NameError> {
    if !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(NameError {
        what: "the name of an event",
        kind: NameErrorKind::Control,
    })
}

macro_rules! name {
    ($(#[$docs:meta])* $type:ident, $what:literal, $reserved:expr) => {
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $type(String);

        impl $type {
            /// Returns it as a string.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                check($what, text, $reserved)?;
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
    /// The id of a run: 1 to 128 characters, no control characters. Knowing one gives no authority.
    ///
    /// The id of a run without a parent meets [`RunId::check_chosen`], unless its store is older than the rule. A child's is
    /// `PARENT/STATE/VISIT`, or `PARENT/AGENT`, `PARENT/AGENT::UNIT`, and `#2` after these for a second one; a hash takes its
    /// place where it is too long.
    RunId, "the id of a run", &[STORE_JOURNAL]
}

name! {
    /// An idempotency key: a repeated request with its key gets the first answer.
    Key, "an idempotency key", &[]
}

/// Reports whether the id of a new run may have a character.
///
/// Letters of other scripts, and wide forms, look like those of ASCII: an agent could begin a run whose id a person can't tell
/// from another's.
fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Returns the first part of an id for a run of a workflow: at most half of an id's length.
fn stem(workflow: &str) -> String {
    let plain = |it: char| if is_plain(it) { it } else { '-' };
    let stem: String = workflow.chars().take(MAX_NAME / 2).map(plain).collect();
    let stem = stem.trim_start_matches(|it: char| !it.is_ascii_alphanumeric());
    if stem.is_empty() { "run" } else { stem }.to_owned()
}

impl RunId {
    /// Returns the reserved id under which a store keeps its own journal ([`Authority`](crate::Authority)).
    ///
    /// It can't be parsed, so no client can name it, and lists don't show it.
    #[must_use]
    pub fn store_journal() -> Self {
        Self(STORE_JOURNAL.to_owned())
    }

    /// Reports whether it is that of the store's own journal.
    #[must_use]
    pub fn is_store_journal(&self) -> bool {
        self.0 == STORE_JOURNAL
    }

    /// Reads an id from a store's row, where the reserved one may stand.
    ///
    /// # Errors
    ///
    /// The string is no id.
    pub fn from_stored(text: &str) -> Result<Self, NameError> {
        if text == STORE_JOURNAL {
            return Ok(Self::store_journal());
        }
        text.parse()
    }

    /// Checks that a new run may have this id.
    ///
    /// Ids are typed, quoted for shells and put in paths and URLs; `RUN:SEQ` is a request, and `RUN/STATE` a child.
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
    /// It has a character other than letters of ASCII, digits, `-`, `_` and `.`, or begins with one of the last three.
    pub fn check_chosen(&self) -> Result<(), NameError> {
        let mut characters = self.0.chars();
        let odd = characters.find(|it| !is_plain(*it));
        let first = self
            .0
            .chars()
            .next()
            .filter(|it| !it.is_ascii_alphanumeric());
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

    /// Makes a new id for people to type: it names the workflow, such as `ship-4f1c9a07`.
    ///
    /// Collisions are rare, not impossible.
    #[must_use]
    pub fn for_workflow(workflow: &str) -> Self {
        // A UUID of version 7 begins with the time; its last digits are random.
        let digits = uuid::Uuid::now_v7().simple().to_string();
        let end: String = digits.chars().skip(24).collect();
        Self(format!("{}-{end}", stem(workflow)))
    }

    /// Returns the id for the run of a workflow that a key starts: always the same one.
    ///
    /// Where callers could choose the same key, it has to hold what tells them apart, too.
    #[must_use]
    pub fn for_workflow_and_key(workflow: &str, key: &str) -> Self {
        let sum = crate::hash::Hash::digest(format!("{workflow}\n{key}").as_bytes()).to_string();
        let end: String = sum.chars().take(12).collect();
        Self(format!("{}-{end}", stem(workflow)))
    }

    /// Makes a unique id for programs: a UUID of version 7, so that ids sort by their time of creation.
    #[must_use]
    pub fn random() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }
}
