//! Messages of blockers.

use super::{Blocker, DataFault, Missing, Path, PendingRequest};
use crate::body::RequestKind;
use crate::guard::Unmet;
use crate::internal::raised_when;
use crate::phrase::{list, with_reason};

impl Blocker {
    /// Returns the blocker in words, for people.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Restoring { checkpoint } => {
                format!(
                    "files are being restored to checkpoint `{checkpoint}`; finish that or give it up first"
                )
            }
            Self::Paused { by, reason } => {
                let by = by
                    .as_ref()
                    .map_or_else(String::new, |by| format!(" by {by}"));
                with_reason(format!("the run is paused{by}"), reason.as_ref())
            }
            Self::Cancelled { reason } => {
                with_reason("the run was cancelled".to_owned(), reason.as_ref())
            }
            Self::Ended {
                success,
                closed,
                states,
            } => ended(*success, *closed, states),
            Self::RequestPending { request, prompt } => {
                format!("{}: {prompt}", request.message())
            }
            Self::RequestFirst { request } => request.message(),
            Self::StepWaiting { step, message } => with_reason(
                format!("`{step}` was reported as waiting"),
                message.as_ref(),
            ),
            Self::ChildRunning { step, run } => format!("`{step}` waits for child run `{run}`"),
            Self::ChildUnknown { step, workflow } => format!(
                "`{step}` invokes `{workflow}`, which no spec defines; its run starts with the next report made where a spec does"
            ),
            Self::Queued { event } => format!("`{event}` is queued until nothing blocks it"),
            Self::EffectUnknown {
                key,
                name,
                intended: true,
            } => format!("effect `{name}` (`{key}`) is in progress or was interrupted"),
            Self::EffectUnknown { key, name, .. } => {
                format!("the outcome of effect `{name}` (`{key}`) is unknown")
            }
            Self::TimerPending { event, held, .. } => {
                let then = if *held { " and nothing blocks it" } else { "" };
                format!("`{event}` fires when its timer is due{then}")
            }
            Self::CallsSpent { state, max } => {
                let calls = if *max == 1 { "call" } else { "calls" };
                format!("`{state}` has used its {max} tool {calls} (`max_iterations`)")
            }
            Self::DeadEnd { states } => {
                format!("nothing leads out of {}, which isn't final", list(states))
            }
            Self::LastRefused {
                subject,
                seq,
                reason,
                ..
            } => format!("{} was refused (record {seq}): {reason}", subject.name()),
            Self::Report(report) => report.message(),
            Self::Request(request) => request.to_string(),
            Self::Artifact(artifact) => artifact.to_string(),
            Self::Operation(operation) => operation.to_string(),
            _ => self.of_event(),
        }
    }

    /// Returns the message of a blocker that is about one event.
    fn of_event(&self) -> String {
        match self {
            Self::EventAwaited {
                event,
                from,
                to,
                requires_approval,
            } => {
                let then = if *requires_approval {
                    " after an approval"
                } else {
                    ""
                };
                match to.as_slice() {
                    [] => format!("`{event}` stays in `{from}`{then}"),
                    to => format!("`{event}` leads to {}{then}", list(to)),
                }
            }
            Self::ChildOutcome {
                event,
                step,
                workflow,
                run,
            } => match run {
                Some(run) => format!("`{event}` can only be sent by child run `{run}`"),
                None => format!(
                    "`{event}` can only be sent by the run of `{workflow}` that `{step}` invokes, which hasn't started"
                ),
            },
            Self::UnknownEvent {
                workflow,
                event,
                suggestion,
                known,
            } => {
                let instead = match (suggestion, known.as_slice()) {
                    (Some(suggestion), _) => format!("; did you mean `{suggestion}`?"),
                    (None, []) => String::new(),
                    (None, known) => format!("; it has {}", list(known)),
                };
                format!("`{workflow}` has no event `{event}`{instead}")
            }
            Self::EventCaught {
                workflow,
                event,
                states,
            } => format!(
                "`{workflow}` has no event `{event}`, but {} catches it (`safe_next`)",
                list(states)
            ),
            Self::InternalEvent { event, to, path } => internal(event, to.as_deref(), path),
            Self::NotHere {
                event,
                states,
                takers,
                path,
            } => {
                let here = match takers.as_slice() {
                    [] => format!("nothing takes `{event}`"),
                    takers => format!(
                        "`{event}` is taken in {}, not in {}",
                        list(takers),
                        list(states)
                    ),
                };
                format!("{here}{}", path.message())
            }
            Self::GuardFalse { event, to, unmet } => {
                let to = match to.as_slice() {
                    [] => String::new(),
                    to => format!(" to {}", list(to)),
                };
                let unmet: Vec<String> = unmet.iter().map(Unmet::describe).collect();
                format!("the guard of `{event}`{to} fails: {}", unmet.join(", "))
            }
            Self::Preceded { event, from } => {
                format!("another transition precedes `{event}` in {}", list(from))
            }
            Self::Requires { event, missing } => {
                let missing: Vec<String> = missing.iter().map(Missing::message).collect();
                format!("`{event}` isn't taken yet: {}", missing.join("; "))
            }
            Self::VisitLimit {
                event,
                state,
                visits,
                max,
            } => format!(
                "`{event}` would exceed `max_visits` of `{state}` ({visits} of {max} visits used)"
            ),
            Self::BadData { event, fault } => fault.message(event.as_deref()),
            Self::ApprovalOutdated { event } => {
                format!("`{event}` would do something else by now; send it again to ask anew")
            }
            _ => String::new(),
        }
    }
}

fn ended(success: bool, closed: bool, states: &[String]) -> String {
    let states = list(states);
    match (closed, success) {
        (false, true) => format!("the run completed in {states}"),
        (false, false) => format!("the run failed in {states}"),
        (true, true) => format!("the run was closed as completed in {states}"),
        (true, false) => format!("the run was closed as failed in {states}"),
    }
}

fn internal(event: &str, to: Option<&[String]>, path: &Path) -> String {
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
    fn message(&self) -> String {
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
    fn message(&self) -> String {
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
    fn message(&self, event: Option<&str>) -> String {
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
