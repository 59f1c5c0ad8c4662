//! Callers of tools.

use statemark_runs::{Actor, Role, RunId};
use statemark_text::shorten::shorten;
use statemark_text::visible;

/// Most characters of a client's name. Unit: characters. Why: as many as a token's name has.
const MAX_CLIENT: usize = 64;

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
    ///
    /// A client calls itself what it likes: hidden characters are shown as what they are, and it is cut to
    /// 64 characters.
    #[must_use]
    pub fn with_client(mut self, client: Option<&str>) -> Self {
        if self.actor.name.is_none() {
            self.actor.name = client.map(|name| shorten(&visible::line(name), MAX_CLIENT));
        }
        self
    }
}
