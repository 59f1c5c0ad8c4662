//! Who calls.

use statemark_runs::{Actor, Role, RunId};

/// Who calls, as far as the connection tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// In which role and under which name.
    pub actor: Actor,
    /// The only run that the caller may touch.
    pub run: Option<RunId>,
    /// The project that the caller works in.
    pub project: Option<String>,
}

impl Caller {
    /// An agent without a name: who comes without a token.
    #[must_use]
    pub const fn agent() -> Self {
        Self {
            actor: Actor::new(Role::Agent),
            run: None,
            project: None,
        }
    }

    /// The same with the client's name, if it has none by a token.
    #[must_use]
    pub fn through(mut self, client: Option<&str>) -> Self {
        if self.actor.name.is_none() {
            self.actor.name = client.map(str::to_owned);
        }
        self
    }
}
