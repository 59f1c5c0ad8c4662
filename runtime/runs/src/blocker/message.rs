//! Messages of blockers.

use super::{Blocker, ClaimedPath, DataFault, Path, PendingRequest};
use statemark_text::list::join;

use crate::actor::Actor;
use crate::body::RequestKind;
use crate::guard::Unmet;
use crate::internal::raised_when;
use crate::phrase::{list, with_reason};

impl Blocker {
    /// Returns the blocker in words, for people.
    #[must_use]
    pub fn message(&self) -> String {
        self.to_string()
    }
}

pub(super) fn describe_pause(by: Option<&Actor>, reason: Option<&String>) -> String {
    let by = by.map_or_else(String::new, |by| format!(" by {by}"));
    with_reason(format!("the run is paused{by}"), reason)
}

pub(super) fn describe_effect(key: &str, name: &str, intended: bool) -> String {
    if intended {
        return format!("effect `{name}` (`{key}`) is in progress or was interrupted");
    }
    format!("the outcome of effect `{name}` (`{key}`) is unknown")
}

pub(super) fn describe_targets(from: &str, to: &[String]) -> String {
    match to {
        [] => format!("stays in `{from}`"),
        to => format!("leads to {}", list(to)),
    }
}

pub(super) fn describe_child(
    step: &str,
    workflow: &str,
    run: Option<&str>,
    ended: Option<bool>,
) -> String {
    match run {
        Some(run) => match ended {
            None => format!("child run `{run}`"),
            Some(true) => format!("child run `{run}`, which has completed"),
            Some(false) => format!(
                "child run `{run}`, which hasn't completed: take another way, or rewind this run to before it"
            ),
        },
        None => format!("the run of `{workflow}` that `{step}` invokes, which hasn't started"),
    }
}

pub(super) fn suggest_event(suggestion: Option<&str>, known: &[String]) -> String {
    match (suggestion, known) {
        (Some(suggestion), _) => format!("; did you mean `{suggestion}`?"),
        (None, []) => String::new(),
        (None, known) => format!("; it has {}", list(known)),
    }
}

pub(super) fn describe_ambiguous(event: &str, states: &[String], choices: &[String]) -> String {
    let choices: Vec<String> = choices.iter().map(|it| format!("`{it}`")).collect();
    let (states, choices) = (list(states), join(&choices, "or"));
    format!("`{event}` leads to several places from {states}; send {choices}")
}

pub(super) fn describe_takers(event: &str, states: &[String], takers: &[String]) -> String {
    match takers {
        [] => format!("nothing takes `{event}`"),
        takers => {
            let (takers, states) = (list(takers), list(states));
            format!("`{event}` is taken in {takers}, not in {states}")
        }
    }
}

pub(super) fn describe_guard(event: &str, to: &[String], unmet: &[Unmet]) -> String {
    let to = match to {
        [] => String::new(),
        to => format!(" to {}", list(to)),
    };
    let unmet: Vec<String> = unmet.iter().map(Unmet::describe).collect();
    format!("the guard of `{event}`{to} fails: {}", unmet.join(", "))
}

pub(super) fn describe_claims(event: &str, paths: &[ClaimedPath]) -> String {
    let paths = paths.iter().map(|path| {
        let to = match path.to.as_slice() {
            [] => String::new(),
            to => format!(" to {}", list(to)),
        };
        let claims = list(&path.claims);
        format!("`{event}`{to} is taken only if its sender claims {claims}")
    });
    let paths: Vec<String> = paths.collect();
    paths.join("; ")
}

pub(super) fn describe_end(success: bool, closed: bool, states: &[String]) -> String {
    let states = list(states);
    match (closed, success) {
        (false, true) => format!("the run completed in {states}"),
        (false, false) => format!("the run failed in {states}"),
        (true, true) => format!("the run was closed as completed in {states}"),
        (true, false) => format!("the run was closed as failed in {states}"),
    }
}

pub(super) fn describe_internal(event: &str, to: Option<&[String]>, path: &Path) -> String {
    let raised =
        raised_when(event).map_or_else(String::new, |when| format!(" (raised when {when})"));
    match to {
        None => format!(
            "`{event}` is an internal event{raised}; it can't be sent{}",
            path.message_if_any()
        ),
        Some([]) => format!("`{event}` changes no state{raised}"),
        Some(to) => format!("`{event}` leads to {}{raised}", list(to)),
    }
}

impl PendingRequest {
    pub(super) fn message(&self) -> String {
        let id = &self.id;
        let names: Vec<String> = self.approvers.iter().map(|it| format!("`{it}`")).collect();
        let who = match names.as_slice() {
            [] => "a person".to_owned(),
            names => names.join(" or "),
        };
        match (self.kind, &self.event) {
            (RequestKind::Approval, Some(event)) => {
                format!("waiting for approval {id} of `{event}` from {who}")
            }
            (RequestKind::Approval, None) => format!("waiting for approval {id} from {who}"),
            (_, _) if !self.blocking => format!("question {id} to {who} is open"),
            (RequestKind::Review, _) => format!("waiting for review {id} from {who}"),
            (_, _) => format!("waiting for an answer to {id} from {who}"),
        }
    }
}

impl Path {
    pub(super) fn message(&self) -> String {
        match self {
            Self::Missing => ", and nothing leads there from here".to_owned(),
            other => other.message_if_any(),
        }
    }

    fn message_if_any(&self) -> String {
        match self {
            Self::Unexplored | Self::Missing => String::new(),
            Self::Through {
                first,
                is_far: false,
            } => format!("; {}", first.message()),
            Self::Through { first, .. } => format!("; on the way there, {}", first.message()),
        }
    }
}

impl DataFault {
    pub(super) fn message(&self, event: Option<&str>) -> String {
        let data = match event {
            Some(event) => format!("the data of `{event}`"),
            None => "the data".to_owned(),
        };
        match self {
            Self::Schema(error) => format!("{data} doesn't match its schema: {error}"),
            Self::NotAnObject { found, example } => {
                format!("{data} must be an object such as {example}, not {found}")
            }
            Self::Context(error) => format!("with {data} {error}"),
            Self::Unstorable(error) => format!("{data} can't be stored: {error}"),
        }
    }
}
