//! Sessions of clients: the run that holds one, and its end.
//!
//! A client such as Claude Code names its session to its hooks; an agent in it can't choose another name. So what a hook
//! says of a session tells the agents of one project apart where nothing else does.
//!
//! What to rely on: being held by one more run only takes away what the session may do. Only a person releases it.

use serde::Serialize;

use super::operation::{Decide, DecideCx, Right};
use super::{Change, Loaded, RunError};
use crate::body::{Body, Session, Tie};

/// Has a run hold a client's session from now on.
#[derive(Clone, Debug, Serialize)]
pub struct BindSession {
    /// The session.
    pub session: String,
}

/// Notes that a client's session has ended: whichever session comes next is held instead.
#[derive(Clone, Debug, Serialize)]
pub struct EndSession {
    /// The session.
    pub session: String,
}

/// Releases a client's session from a run, or all of them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReleaseSession {
    /// The session; all that the run holds if none is named.
    pub session: Option<String>,
}

impl Decide for BindSession {
    const NAME: &'static str = "bind";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        let known = run.state.sessions.get(&self.session);
        if known.is_some_and(|known| !known.released) {
            return Ok(Change::default());
        }
        Ok(change([&self.session], Tie::Bound))
    }
}

impl Decide for EndSession {
    const NAME: &'static str = "end_session";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        let known = run.state.sessions.get(&self.session);
        if known.is_none_or(|known| known.released) {
            return Ok(Change::default());
        }
        Ok(change([&self.session], Tie::Ended))
    }
}

impl Decide for ReleaseSession {
    const NAME: &'static str = "release";
    const RIGHT: Right = Right::Decide;
    type Outcome = ();

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        let held = run.state.sessions.iter().filter(|(_, it)| !it.released);
        let held = held.map(|(name, _)| name);
        let named = held.filter(|name| self.session.as_ref().is_none_or(|it| it == *name));
        Ok(change(named, Tie::Released))
    }
}

/// Creates a record for each session.
fn change<'s>(sessions: impl IntoIterator<Item = &'s String>, tie: Tie) -> Change {
    let bodies = sessions.into_iter().map(|session| {
        let session = session.clone();
        Body::Session(Session { session, tie })
    });
    Change {
        bodies: bodies.collect(),
    }
}
