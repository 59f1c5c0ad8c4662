//! Who did something.

use std::fmt;

use serde::{Deserialize, Serialize};

/// In which role somebody acts. Order: what one may do, the next may do, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads.
    Observer,
    /// Drives runs, and decides nothing about itself.
    Agent,
    /// Decides.
    Person,
    /// The store itself: timers, expiry.
    System,
}

impl Role {
    /// Its name in journals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Observer => "observer",
            Self::Agent => "agent",
            Self::Person => "person",
            Self::System => "system",
        }
    }

    /// The role with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Observer, Self::Agent, Self::Person, Self::System];
        all.into_iter().find(|role| role.name() == name)
    }
}

/// Who did something, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// In which role.
    pub role: Role,
    /// A name: of a person, a token, an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The connection or the client's session that it came through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Actor {
    /// Somebody in a role, without a name.
    #[must_use]
    pub const fn new(role: Role) -> Self {
        Self {
            role,
            name: None,
            session: None,
        }
    }

    /// The same with a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(out, "{name} ({})", self.role.name()),
            None => out.write_str(self.role.name()),
        }
    }
}
