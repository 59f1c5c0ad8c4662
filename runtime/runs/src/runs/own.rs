//! The events that a run sends itself, and nobody else: what raises each.
//!
//! Deliberately not here: raising them. Each is raised where that happens: an answer in `answer.rs`, the end of a request's
//! time in `timers.rs`, a name that nobody knows in `send.rs`.

/// What catches names that the machine doesn't have, where a state says so with `safe_next`.
pub(crate) const UNKNOWN: &str = "error.unknown_event";

/// What a denied approval raises.
pub(crate) const DENIED: &str = "approval_denied";

/// What a review raises that is sent back.
pub(crate) const SENT_BACK: &str = "changes_requested";

/// What a request raises whose time is over.
pub(crate) const EXPIRED: &str = "request.expired";

/// When a run sends this event itself; none for an event that others send.
///
/// ```
/// use statemark_runs::raised_when;
///
/// assert_eq!(raised_when("changes_requested"), Some("a person sends a review back"));
/// assert_eq!(raised_when("submit"), None);
/// ```
#[must_use]
pub fn raised_when(event: &str) -> Option<&'static str> {
    Some(match event {
        UNKNOWN => "an event is sent that the machine doesn't have",
        DENIED => "a person denies an approval",
        SENT_BACK => "a person sends a review back",
        EXPIRED => "nobody has answered a request in its time",
        _ => return None,
    })
}

/// Whether nobody but the run itself sends an event of this name.
pub(crate) fn is_own(event: &str) -> bool {
    raised_when(event).is_some()
}

/// That nobody sends an event, and when it comes.
pub(crate) fn sends_itself(event: &str) -> String {
    let when = raised_when(event).map_or_else(String::new, |when| format!(", when {when}"));
    format!("`{event}` comes from the run itself{when}: nobody sends it")
}
