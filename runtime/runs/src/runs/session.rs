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
use crate::state::ANY_CALLER;

/// Has a run hold a client's session, which drives it, from now on.
#[derive(Clone, Debug, Serialize)]
pub struct BindSession {
    /// The session.
    pub session: String,
}

/// Has a run go on to hold a client's session that it holds as it does all of its project.
///
/// Why: a session that has worked under the run's states stays under them when another one, such as a sub-agent of its own,
/// takes the run.
#[derive(Clone, Debug, Serialize)]
pub struct HoldSession {
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
        if known.is_some_and(|known| !known.released && !known.loose) {
            return Ok(Change::default());
        }
        Ok(change([&self.session], Tie::Bound))
    }
}

impl Decide for HoldSession {
    const NAME: &'static str = "hold_session";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        // Nor does a full state grow by one record for each call.
        let known = |name: &str| run.state.sessions.contains_key(name);
        if known(&self.session) || known(ANY_CALLER) {
            return Ok(Change::default());
        }
        Ok(change([&self.session], Tie::Held))
    }
}

impl Decide for EndSession {
    const NAME: &'static str = "end_session";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, run: &Loaded, _: &DecideCx<'_>) -> Result<Change, RunError> {
        let known = run.state.sessions.get(&self.session);
        if known.is_none_or(|known| known.released || known.loose) {
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
        let sessions = &run.state.sessions;
        let held = sessions.iter().filter(|(_, it)| !it.released);
        let held = held.map(|(name, _)| name);
        let Some(named) = &self.session else {
            return Ok(change(held, Tie::Released));
        };
        let any = &ANY_CALLER.to_owned();
        let mut held =
            held.filter(|name| *name == named || (*name == any && !sessions.contains_key(named)));
        Ok(change(held.next().map(|_| named), Tie::Released))
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
