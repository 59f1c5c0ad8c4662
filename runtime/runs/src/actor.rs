//! Actors: callers by role and name.

use std::fmt;

use serde::{Deserialize, Serialize};
use statemark_text::visible;

/// The role of a caller. Ordered by rights: each role has those of the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A reader.
    Observer,
    /// A driver of runs, who can't decide about its own work.
    Agent,
    /// A person, who decides.
    Person,
    /// The store itself: timers, expiry.
    System,
}

impl Role {
    /// Returns its name in journals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Observer => "observer",
            Self::Agent => "agent",
            Self::Person => "person",
            Self::System => "system",
        }
    }

    /// Returns the role with a name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Observer, Self::Agent, Self::Person, Self::System];
        all.into_iter().find(|role| role.name() == name)
    }
}

/// A caller, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// Its role.
    pub role: Role,
    /// The name of a person, a token or an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The connection or the client's session that the call came through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Actor {
    /// Makes an actor without a name.
    #[must_use]
    pub const fn new(role: Role) -> Self {
        Self {
            role,
            name: None,
            session: None,
        }
    }

    /// Sets the name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl AsRef<Self> for Actor {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl fmt::Display for Actor {
    /// Writes the name and the role, on one line.
    ///
    /// A client calls itself what it likes. Its name mustn't look as if another role came with it: `ann (person)`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => {
                let name = visible::line(name).replace(['(', '（'], "[");
                let name = name.replace([')', '）'], "]");
                write!(out, "{name} ({})", self.role.name())
            }
            None => out.write_str(self.role.name()),
        }
    }
}
