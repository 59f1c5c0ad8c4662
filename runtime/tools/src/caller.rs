//! Callers of tools.

use statemark_runs::{Actor, Role, RunId};

/// The caller of a tool, as its connection identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The caller's role and name.
    pub actor: Actor,
    /// The only run that the caller may touch.
    pub run: Option<RunId>,
    /// The project that the caller works on.
    pub project: Option<String>,
}

impl Caller {
    /// Creates an agent without a name: a caller without a token.
    #[must_use]
    pub const fn agent() -> Self {
        Self {
            actor: Actor::new(Role::Agent),
            run: None,
            project: None,
        }
    }

    /// Takes the client's name, unless the caller has one by a token.
    #[must_use]
    pub fn with_client(mut self, client: Option<&str>) -> Self {
        if self.actor.name.is_none() {
            self.actor.name = client.map(str::to_owned);
        }
        self
    }
}
