//! Reasons that something can't happen.
//!
//! A [`Blocker`] is what refusals, enabled events and explanations have in common: one variant for each reason, with the
//! facts that make it one. [`Blocker::code`] is for programs, [`Blocker::message`] for people, [`Blocker::remedy`] what takes
//! it away.
//!
//! Deliberately not here: finding blockers. `legality.rs` finds those of an attempt, `explain.rs` those of a run at rest, and
//! `runs/advance/` those of a report, which take the other workflows to find.

mod message;
mod remedy;
mod report;

use crate::actor::Actor;
use crate::body::{RequestKind, Subject};
use crate::guard::Unmet;
use crate::legality::Missing;

pub use report::{Position, ReportBlocker};

/// A reason that something can't happen, or that a run is where it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Blocker {
    /// The files are being restored.
    Restoring {
        /// The checkpoint.
        checkpoint: String,
    },
    /// The run is paused.
    Paused {
        /// Who paused it.
        by: Option<Actor>,
        /// Why.
        reason: Option<String>,
    },
    /// The run was cancelled.
    Cancelled {
        /// Why.
        reason: Option<String>,
    },
    /// The run has ended, or was closed.
    Ended {
        /// Whether it completed.
        success: bool,
        /// Whether a report closed it where its machine had not ended.
        closed: bool,
        /// Where.
        states: Vec<String>,
    },
    /// The run waits for a request to be settled.
    RequestPending {
        /// Which.
        request: PendingRequest,
        /// The question.
        prompt: String,
    },
    /// An event can't be taken before a request is settled.
    RequestFirst {
        /// Which.
        request: PendingRequest,
    },
    /// A step was reported as waiting.
    StepWaiting {
        /// The step.
        step: String,
        /// The report's message.
        message: Option<String>,
    },
    /// A step waits for its child run.
    ChildRunning {
        /// The step.
        step: String,
        /// The child.
        run: String,
    },
    /// A step waits for a child run whose workflow no spec defines.
    ChildUnknown {
        /// The step.
        step: String,
        /// The workflow.
        workflow: String,
    },
    /// An event is the outcome of a child run, which alone sends it.
    ChildOutcome {
        /// The event.
        event: String,
        /// The state that invokes the child.
        step: String,
        /// The child's workflow.
        workflow: String,
        /// The child, if it has started.
        run: Option<String>,
    },
    /// An event is queued.
    Queued {
        /// The event.
        event: String,
    },
    /// The outcome of an effect is unknown.
    EffectUnknown {
        /// The effect's key.
        key: String,
        /// The action.
        name: String,
        /// Whether it was only announced: it is in progress, or was interrupted.
        intended: bool,
    },
    /// A timer hasn't fired yet.
    TimerPending {
        /// Its event.
        event: String,
        /// When it is due. Unit: milliseconds since 1970.
        due: u64,
        /// Whether something else has to be settled first.
        held: bool,
    },
    /// A state has used its tool calls.
    CallsSpent {
        /// The state.
        state: String,
        /// Its `max_iterations`.
        max: u64,
    },
    /// No transition leads out of states that aren't final.
    DeadEnd {
        /// The active states.
        states: Vec<String>,
    },
    /// The run waits for an event that can be sent.
    EventAwaited {
        /// The event.
        event: String,
        /// The state that it leads from.
        from: String,
        /// The states that it leads to; none if it stays.
        to: Vec<String>,
        /// Whether a person has to approve it.
        requires_approval: bool,
    },
    /// The last request to the run was refused.
    LastRefused {
        /// What was refused.
        subject: Subject,
        /// The record.
        seq: u64,
        /// The refusal's code.
        code: String,
        /// The refusal's reason.
        reason: String,
    },
    /// The machine has no such event.
    UnknownEvent {
        /// The workflow.
        workflow: String,
        /// The event.
        event: String,
        /// The event that may be meant.
        suggestion: Option<String>,
        /// The events that can be sent, here or elsewhere.
        known: Vec<String>,
    },
    /// The machine has no such event, and an active state catches it: it can be sent.
    EventCaught {
        /// The workflow.
        workflow: String,
        /// The event.
        event: String,
        /// The active states.
        states: Vec<String>,
    },
    /// The run raises the event itself: it can't be sent.
    InternalEvent {
        /// The event.
        event: String,
        /// The states that it leads to, if it is told of as what may come next.
        to: Option<Vec<String>>,
        /// The way to a state that takes it.
        path: Path,
    },
    /// Other states than the active ones take the event.
    NotHere {
        /// The event.
        event: String,
        /// The active states.
        states: Vec<String>,
        /// The states that take it.
        takers: Vec<String>,
        /// The way to one of them.
        path: Path,
    },
    /// The guard of a transition is false.
    GuardFalse {
        /// The event.
        event: String,
        /// The states that the transition leads to; none where several transitions are meant.
        to: Vec<String>,
        /// What keeps the guard from being true.
        unmet: Vec<Unmet>,
    },
    /// Another transition takes the event first.
    Preceded {
        /// The event.
        event: String,
        /// The states that it would lead from.
        from: Vec<String>,
    },
    /// Something that a state requires is missing.
    Requires {
        /// The event.
        event: String,
        /// What is missing, at least one.
        missing: Vec<Missing>,
    },
    /// A state was entered as often as it may be.
    VisitLimit {
        /// The event.
        event: String,
        /// The state.
        state: String,
        /// How often it was entered.
        visits: u64,
        /// Its `max_visits`.
        max: u64,
    },
    /// The data that comes with an event can't be used.
    BadData {
        /// The event, if it has a name already.
        event: Option<String>,
        /// What is wrong with it.
        fault: DataFault,
    },
    /// An approved event would do something else now than was approved.
    ApprovalOutdated {
        /// The event.
        event: String,
    },
    /// A report on a step can't be taken.
    Report(ReportBlocker),
}

/// A request that isn't settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRequest {
    /// Its id.
    pub id: String,
    /// The kind of answer that it takes.
    pub kind: RequestKind,
    /// The event that waits for the approval.
    pub event: Option<String>,
    /// Who may settle it; empty if every person may.
    pub approvers: Vec<String>,
    /// Whether other events wait for it.
    pub blocking: bool,
}

/// The way from the active states to one that takes an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Path {
    /// Nobody has looked for one.
    Unexplored,
    /// There is none.
    Missing,
    /// There is one.
    Through {
        /// Its first transition: an event that can be sent, or what blocks it.
        first: Box<Blocker>,
        /// Whether it has more transitions, or can't be taken now.
        is_far: bool,
    },
}

/// A defect of an event's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataFault {
    /// It doesn't match the event's schema.
    Schema(String),
    /// It isn't an object.
    NotAnObject {
        /// What it is.
        found: &'static str,
        /// An object as it could be.
        example: String,
    },
    /// The context can't take it.
    Context(String),
    /// It can't be stored.
    Unstorable(String),
}

/// An interface that has codes of its own for blockers.
///
/// The codes are older than [`Blocker`], and programs know them: so a reason has the code that it always had in each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// A refused event or operation, in journals; `held_by` of enabled events has the same code.
    Refusal,
    /// A refused report on a step.
    Report,
    /// An explanation.
    Explanation,
}

impl Blocker {
    /// Returns the blocker's code: all codes of refused events and reports and of explanations are in this list.
    #[must_use]
    pub fn code(&self, surface: Surface) -> &'static str {
        let by_surface = |refusal, explanation| match surface {
            Surface::Refusal | Surface::Report => refusal,
            Surface::Explanation => explanation,
        };
        match self {
            Self::Restoring { .. } => "restoring",
            Self::Paused { .. } => "paused",
            Self::Cancelled { .. } => "cancelled",
            Self::Ended { closed: true, .. } if surface == Surface::Report => "closed",
            Self::Ended { .. } => "ended",
            Self::RequestPending { request, .. } => match (request.kind, request.blocking) {
                (RequestKind::Approval, _) => "approval_open",
                (_, true) => "question_blocks",
                (_, false) => "question_open",
            },
            Self::RequestFirst { .. } => by_surface("waiting_for_request", "held"),
            Self::StepWaiting { .. } => "step_waits",
            Self::ChildRunning { .. } | Self::ChildOutcome { run: Some(_), .. } => "child_runs",
            Self::ChildUnknown { .. } | Self::ChildOutcome { run: None, .. } => "child_unknown",
            Self::Queued { .. } => "queued",
            Self::EffectUnknown { .. } => "effect_unknown",
            Self::TimerPending { held: false, .. } => "timer_pending",
            Self::TimerPending { held: true, .. } => "timer_held",
            Self::CallsSpent { .. } => "calls_spent",
            Self::DeadEnd { .. } => "dead_end",
            Self::EventAwaited { .. } => "can_be_sent",
            Self::LastRefused { .. } => "refused",
            Self::UnknownEvent { .. } => "unknown_event",
            Self::EventCaught { .. } => "caught",
            Self::InternalEvent { .. } => by_surface("unknown_event", "internal_event"),
            Self::NotHere { .. } => by_surface("not_taken", "not_here"),
            Self::GuardFalse { unmet, .. } => {
                let is_undecided = unmet.iter().any(Unmet::is_undecided);
                by_surface(
                    "not_taken",
                    if is_undecided {
                        "guard_undecided"
                    } else {
                        "guard_false"
                    },
                )
            }
            Self::Preceded { .. } => by_surface("not_taken", "preceded"),
            Self::Requires { missing, .. } => {
                let first = missing.first();
                first.map_or("artifact_missing", Missing::code)
            }
            Self::VisitLimit { .. } => by_surface("max_visits", "visits_spent"),
            Self::BadData { .. } => "bad_data",
            Self::ApprovalOutdated { .. } => "approval_outdated",
            Self::Report(report) => report.code(),
        }
    }
}
