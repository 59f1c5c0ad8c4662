//! Rights: what a caller can ask for, and the role that grants it.

use crate::actor::{Actor, Role};
use crate::runs::RunError;

/// A right that an operation's caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Right {
    /// Read the runs that the caller's token may see.
    See,
    /// Move runs: send, report, submit, ask; fork and rewind over nothing that a person did.
    Drive,
    /// Add workflows that don't exist yet, where the server offers that.
    Author,
    /// Accept workflows; change or shadow accepted ones; declare what has programs run.
    Accept,
    /// Decide: answer, approve, force; fork and rewind over decisions; continue what a person paused.
    Decide,
    /// Maintain the store: import, prune, migrate, wake a backup.
    Keep,
    /// Create, rotate and revoke tokens.
    Tokens,
}

impl Right {
    /// All rights, in the order of their documentation.
    pub const ALL: [Self; 7] = [
        Self::See,
        Self::Drive,
        Self::Author,
        Self::Accept,
        Self::Decide,
        Self::Keep,
        Self::Tokens,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::See => "see",
            Self::Drive => "drive",
            Self::Author => "author",
            Self::Accept => "accept",
            Self::Decide => "decide",
            Self::Keep => "keep",
            Self::Tokens => "tokens",
        }
    }

    /// Describes what it allows, for the documentation and for refusals: `only a person may …`.
    #[must_use]
    pub const fn allows(self) -> &'static str {
        match self {
            Self::See => "read the runs that its token may see",
            Self::Drive => {
                "send, report, submit and ask; fork and rewind over nothing that a person did"
            }
            Self::Author => "add workflows that don't exist yet, where the server offers that",
            Self::Accept => {
                "accept workflows, change or shadow accepted ones, and declare checks, upstream servers and environment"
            }
            Self::Decide => {
                "decide: answer, approve, deny, force a state, fork and rewind over decisions, continue what a person paused"
            }
            Self::Keep => "import, prune and migrate runs, and wake a backup",
            Self::Tokens => "create, rotate and revoke tokens, and keys that sign decisions",
        }
    }

    /// Returns the least role that grants it. Each role has the rights of the ones before it.
    #[must_use]
    pub const fn least_role(self) -> Role {
        match self {
            Self::See => Role::Observer,
            Self::Drive | Self::Author => Role::Agent,
            Self::Accept | Self::Decide | Self::Keep | Self::Tokens => Role::Person,
        }
    }

    /// Reports whether a role grants it.
    #[must_use]
    pub fn is_granted(self, role: Role) -> bool {
        role >= self.least_role()
    }

    /// Checks that an actor has the right.
    ///
    /// # Errors
    ///
    /// [`RunError::ReadOnly`] if the actor only reads; [`RunError::NotAPerson`] if only a person has the right.
    pub fn check(self, actor: &Actor) -> Result<(), RunError> {
        if self.is_granted(actor.role) {
            return Ok(());
        }
        let (is_reader, actor) = (actor.role < Role::Agent, actor.clone());
        // Who only reads is told so, whatever was asked for: so each front end says the same.
        Err(if is_reader {
            RunError::ReadOnly { actor }
        } else {
            RunError::NotAPerson { actor, right: self }
        })
    }

    /// Returns the table of rights by role, in Markdown.
    ///
    /// The documentation has it between two marks, and a test compares them.
    #[must_use]
    pub fn table() -> String {
        let roles = [Role::Observer, Role::Agent, Role::Person];
        let mut text = "| right | allows to | observer | agent | person |\n\
                        |---|---|---|---|---|\n"
            .to_owned();
        for right in Self::ALL {
            let marks = roles.map(|role| if right.is_granted(role) { "✓" } else { "–" });
            let [observer, agent, person] = marks;
            let (name, allows) = (right.name(), right.allows());
            text += &format!("| {name} | {allows} | {observer} | {agent} | {person} |\n");
        }
        text
    }
}
