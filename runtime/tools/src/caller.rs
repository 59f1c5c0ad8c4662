//! Callers of tools.

use statemark_runs::authority::Founding;
use statemark_runs::{Actor, Binding, Fence, Role, RunId, Token};
use statemark_text::shorten::shorten;
use statemark_text::visible;

/// Most characters of a client's name. Unit: characters. Why: as many as a token's name has.
const MAX_CLIENT: usize = 64;

/// The way in which a caller is known, which says which runs hold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Credential {
    /// None: agents without a token can't be told apart, and are one caller for each project.
    #[default]
    Nothing,
    /// A token: its holder is bound to the runs that it has started or acted on.
    Token,
    /// A token for many runs.
    ///
    /// Its holder is judged by the run that a call means, and starts accepted workflows alone.
    ManyRuns,
}

impl Credential {
    /// Returns the credential of a token.
    ///
    /// That of a server's session file is everybody's on the machine, and another one at each start: it tells nobody apart.
    #[must_use]
    pub fn of_token(token: &Token) -> Self {
        if token.founding == Some(Founding::Session) {
            Self::Nothing
        } else if token.many_runs {
            Self::ManyRuns
        } else {
            Self::Token
        }
    }
}

/// The attempt of an executor in which calls are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfAttempt {
    /// The run that is worked on.
    pub run: RunId,
    /// The number of the attempt.
    pub number: u64,
    /// The token of the run's lease: a newer one ends what the attempt may do.
    pub fence: Fence,
}

/// The caller of a tool, as its connection identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The caller's role and name.
    pub actor: Actor,
    /// The only run that the caller may touch.
    pub run: Option<RunId>,
    /// The project that the caller works on.
    pub project: Option<String>,
    /// The way in which the caller is known.
    pub credential: Credential,
    /// The attempt of an executor that the caller makes, or a program does for it.
    pub attempt: Option<OfAttempt>,
}

impl Caller {
    /// Creates an agent without a name: a caller without a token.
    #[must_use]
    pub const fn agent() -> Self {
        Self {
            actor: Actor::new(Role::Agent),
            run: None,
            project: None,
            credential: Credential::Nothing,
            attempt: None,
        }
    }

    /// Returns the identity under which runs hold the caller.
    #[must_use]
    pub fn binding(&self) -> Binding<'_> {
        match &self.actor.name {
            Some(name) if self.credential != Credential::Nothing => Binding::Token(name),
            _ => Binding::Project(self.project.as_deref()),
        }
    }

    /// Returns the only project whose runs the caller may touch and see, if it is an agent without a token.
    ///
    /// Nothing but its project tells such an agent apart; stores have the runs of many projects.
    #[must_use]
    pub fn confined_to(&self) -> Option<&str> {
        let is_known = self.credential != Credential::Nothing || self.actor.role != Role::Agent;
        self.project.as_deref().filter(|_| !is_known)
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
