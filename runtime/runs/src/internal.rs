//! Internal events: those that a run raises itself, and that nobody can send.
//!
//! Deliberately not here: raising them. An answer raises one in `runs/answer.rs`, a request's end in `runs/timers.rs`, an
//! unknown name in `runs/send.rs`.

/// The event that catches names that the machine doesn't have, where a state has `safe_next`.
pub(crate) const UNKNOWN: &str = "error.unknown_event";

/// The event that a denied approval raises.
pub(crate) const DENIED: &str = "approval_denied";

/// The event that a review raises when it is sent back.
pub(crate) const SENT_BACK: &str = "changes_requested";

/// The event that an expired request raises.
pub(crate) const EXPIRED: &str = "request.expired";

/// Returns when a run raises an internal event; none for an event that can be sent.
///
/// ```
/// use statemark_runs::raised_when;
///
/// assert_eq!(raised_when("changes_requested"), Some("a reviewer sends work back"));
/// assert_eq!(raised_when("submit"), None);
/// ```
#[must_use]
pub fn raised_when(event: &str) -> Option<&'static str> {
    Some(match event {
        UNKNOWN => "an event is sent that the machine doesn't have",
        DENIED => "a person denies an approval",
        SENT_BACK => "a reviewer sends work back",
        EXPIRED => "nobody answers a request in time",
        _ => return None,
    })
}

/// Reports whether only the run itself raises an event of this name.
pub(crate) fn is_internal(event: &str) -> bool {
    raised_when(event).is_some()
}
