//! Internal events of runs: those that a run raises itself.
//!
//! Specs use their names in transitions. Nobody can send them. Nor can anybody send the machine's own, such as timers: they aren't `EventKind::Named`.
//!
//! Deliberately not here: raising them. An answer raises one in `runs/answer.rs`, a request's end in `runs/follow.rs`; an
//! unknown name becomes one in `legality.rs`.

use crate::runs::LIMIT_REACHED;

/// The event that catches names that the machine doesn't have, where a state has `safe_next`.
pub(crate) const UNKNOWN: &str = "error.unknown_event";

/// The event that a denied approval raises.
pub(crate) const DENIED: &str = "approval_denied";

/// The event that a review raises when it is sent back, and an approval that is denied with a comment.
pub(crate) const SENT_BACK: &str = "changes_requested";

/// The event that an expired request raises.
pub(crate) const EXPIRED: &str = "request.expired";

/// Returns when a run raises one of its internal events; none for any other event.
///
/// ```
/// use statemark_runs::raised_when;
///
/// assert_eq!(raised_when("changes_requested"), Some("a person denies an approval with a comment, or sends a review back"));
/// assert_eq!(raised_when("submit"), None);
/// ```
#[must_use]
pub fn raised_when(event: &str) -> Option<&'static str> {
    Some(match event {
        UNKNOWN => "an event is sent that the machine doesn't have",
        DENIED => "a person denies an approval",
        SENT_BACK => "a person denies an approval with a comment, or sends a review back",
        EXPIRED => "nobody answers a request in time",
        LIMIT_REACHED => "a limit of executors is reached",
        _ => return None,
    })
}

/// Reports whether only the run itself raises an event of this name.
pub(crate) fn is_internal(event: &str) -> bool {
    raised_when(event).is_some()
}
