//! Reasons that something can't happen.
//!
//! A [`Blocker`] is what refusals, enabled events and explanations have in common: one variant for each reason, with the
//! facts that make it one. [`Blocker::code`] is for programs, [`Blocker::message`] for people, [`Blocker::remedy`] what takes
//! it away.
//!
//! Deliberately not here: finding blockers. `legality.rs` finds those of an attempt, `explain.rs` those of a run at rest, and
//! `runs/advance/` those of a report, which take the other workflows to find.

mod artifact;
mod code;
mod message;
mod missing;
mod operation;
mod remedy;
mod report;
mod request;

use crate::actor::Actor;
use crate::body::{Refused, RequestKind, Subject};
use crate::guard::Unmet;
use crate::phrase::{list, with_reason};

use message::{
    describe_ambiguous, describe_child, describe_claims, describe_effect, describe_end,
    describe_guard, describe_internal, describe_pause, describe_takers, describe_targets,
    suggest_event,
};

pub use artifact::ArtifactBlocker;
pub(crate) use code::Code;
pub use missing::{Missing, MissingArtifact, MissingCheck};
pub use operation::OperationBlocker;
pub use report::{Position, ReportBlocker};
pub use request::RequestBlocker;

/// A reason that something can't happen, or that a run is where it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Blocker {
    /// The files are being restored.
    #[error(
        "files are being restored to checkpoint `{checkpoint}`; finish that or give it up first"
    )]
    Restoring {
        /// The checkpoint.
        checkpoint: String,
    },
    /// The run is paused.
    #[error("{}", describe_pause(by.as_ref(), reason.as_ref()))]
    Paused {
        /// The actor who paused it.
        by: Option<Actor>,
        /// The reason.
        reason: Option<String>,
    },
    /// The run was cancelled.
    #[error("{}", with_reason("the run was cancelled", reason.as_ref()))]
    Cancelled {
        /// The reason.
        reason: Option<String>,
    },
    /// The run has ended, or was closed.
    #[error("{}", describe_end(*success, *closed, states))]
    Ended {
        /// True if it completed.
        success: bool,
        /// True if a report closed it where its machine had not ended.
        closed: bool,
        /// The states.
        states: Vec<String>,
    },
    /// The run waits for a request to be settled.
    #[error("{}: {prompt}", request.message())]
    RequestPending {
        /// The name.
        request: PendingRequest,
        /// The question.
        prompt: String,
    },
    /// An event can't be taken before a request is settled.
    #[error("{}", request.message())]
    RequestFirst {
        /// The name.
        request: PendingRequest,
    },
    /// A step was reported as waiting.
    #[error("{}", with_reason(format!("`{}` was reported as waiting", step), message.as_ref()))]
    StepWaiting {
        /// The step.
        step: String,
        /// The report's message.
        message: Option<String>,
    },
    /// A step waits for its child run.
    #[error("`{step}` waits for child run `{run}`")]
    ChildRunning {
        /// The step.
        step: String,
        /// The child.
        run: String,
    },
    /// A step waits for a child run whose workflow no spec defines as a person has accepted it.
    #[error(
        "`{step}` invokes `{workflow}`, of which no spec has an accepted definition; its run starts with the next report made where one has"
    )]
    ChildUnknown {
        /// The step.
        step: String,
        /// The workflow.
        workflow: String,
    },
    /// An event is the outcome of a child run, which alone sends it.
    #[error("`{event}` can only be sent by {}", describe_child(step, workflow, run.as_deref(), *ended))]
    ChildOutcome {
        /// The event.
        event: String,
        /// The state that invokes the child.
        step: String,
        /// The child's workflow.
        workflow: String,
        /// The child, if it has started.
        run: Option<String>,
        /// The success of the child, once it is over: the event would say something else.
        ended: Option<bool>,
    },
    /// An event is queued.
    #[error("`{event}` is queued until nothing blocks it")]
    Queued {
        /// The event.
        event: String,
    },
    /// The outcome of an effect is unknown.
    #[error("{}", describe_effect(key, name, *intended))]
    EffectUnknown {
        /// The effect's key.
        key: String,
        /// The action.
        name: String,
        /// True if it was only announced: it is in progress, or was interrupted.
        intended: bool,
    },
    /// A timer hasn't fired yet.
    #[error("`{event}` fires when its timer is due{}", if *held { " and nothing blocks it" } else { "" })]
    TimerPending {
        /// Its event.
        event: String,
        /// The time at which it is due. Unit: milliseconds since 1970.
        due: u64,
        /// True if something else has to be settled first.
        held: bool,
    },
    /// A state has used its tool calls.
    #[error("`{state}` has used its {max} tool call{} (`max_iterations`)", if *max == 1 { "" } else { "s" })]
    CallsSpent {
        /// The state.
        state: String,
        /// Its `max_iterations`.
        max: u64,
    },
    /// No transition leads out of states that aren't final.
    #[error("nothing leads out of {}, which isn't final", list(states))]
    DeadEnd {
        /// The active states.
        states: Vec<String>,
    },
    /// The run waits for an event that can be sent.
    #[error("`{event}` {}{}", describe_targets(from, to), if *requires_approval { " after an approval" } else { "" })]
    EventAwaited {
        /// The event.
        event: String,
        /// The state that it leads from.
        from: String,
        /// The states that it leads to; none if it stays.
        to: Vec<String>,
        /// True if a person has to approve it.
        requires_approval: bool,
    },
    /// The last request to the run was refused.
    #[error("{} was refused (record {seq}): {reason}", subject.name())]
    LastRefused {
        /// The subject of a refusal.
        subject: Subject,
        /// The record.
        seq: u64,
        /// The refusal's code.
        code: String,
        /// The refusal's reason.
        reason: String,
    },
    /// The machine has no such event.
    #[error("`{workflow}` has no event `{event}`{}", suggest_event(suggestion.as_deref(), known))]
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
    /// The event is a label that leads to several places from active states.
    #[error("{}", describe_ambiguous(event, states, choices))]
    AmbiguousEvent {
        /// The label.
        event: String,
        /// The active states.
        states: Vec<String>,
        /// The events that it may mean there.
        choices: Vec<String>,
    },
    /// The machine has no such event, and an active state catches it: it can be sent.
    #[error(
        "`{workflow}` has no event `{event}`, but {} catches it (`safe_next`)",
        list(states)
    )]
    EventCaught {
        /// The workflow.
        workflow: String,
        /// The event.
        event: String,
        /// The active states.
        states: Vec<String>,
    },
    /// The run raises the event itself: it can't be sent.
    #[error("{}", describe_internal(event, to.as_deref(), path))]
    InternalEvent {
        /// The event.
        event: String,
        /// The states that it leads to, if it is told of as what may come next.
        to: Option<Vec<String>>,
        /// The way to a state that takes it.
        path: Path,
    },
    /// Other states than the active ones take the event.
    #[error("{}{}", describe_takers(event, states, takers), path.message())]
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
    #[error("{}", describe_guard(event, to, unmet))]
    GuardFalse {
        /// The event.
        event: String,
        /// The states that the transition leads to; none where several transitions are meant.
        to: Vec<String>,
        /// The facts that keep the guard from being true.
        unmet: Vec<Unmet>,
    },
    /// The guard of a transition holds only if the sender of the event claims so.
    #[error("{}", describe_claims(event, paths))]
    ClaimsNeeded {
        /// The event.
        event: String,
        /// The transitions with what opens each, at least one.
        paths: Vec<ClaimedPath>,
    },
    /// The machine has no such claim.
    #[error("`{workflow}` has no claim `{claim}`{}", suggest_event(suggestion.as_deref(), known))]
    UnknownClaim {
        /// The workflow.
        workflow: String,
        /// The claim.
        claim: String,
        /// The claim that may be meant.
        suggestion: Option<String>,
        /// The claims that the machine has.
        known: Vec<String>,
    },
    /// Another transition takes the event first.
    #[error("another transition precedes `{event}` in {}", list(from))]
    Preceded {
        /// The event.
        event: String,
        /// The states that it would lead from.
        from: Vec<String>,
    },
    /// Something that a state requires is missing.
    #[error("`{event}` isn't taken yet: {}", .missing.iter().map(Missing::message).collect::<Vec<_>>().join("; "))]
    Requires {
        /// The event.
        event: String,
        /// The missing things, at least one.
        missing: Vec<Missing>,
    },
    /// A state was entered as often as it may be.
    #[error("`{event}` would exceed `max_visits` of `{state}` ({visits} of {max} visits used)")]
    VisitLimit {
        /// The event.
        event: String,
        /// The state.
        state: String,
        /// The number of its visits.
        visits: u64,
        /// Its `max_visits`.
        max: u64,
    },
    /// The data that comes with an event can't be used.
    #[error("{}", fault.message(event.as_deref()))]
    BadData {
        /// The event, if it has a name already.
        event: Option<String>,
        /// The defect.
        fault: DataFault,
    },
    /// An approved event would do something else now than was approved.
    #[error("`{event}` would do something else by now; send it again to ask anew")]
    ApprovalOutdated {
        /// The event.
        event: String,
    },
    /// An approved event waits again: the run's data isn't what the approval was asked over.
    #[error(
        "the run's data or artifacts have changed since it was asked: `{again}` asks again for `{event}`"
    )]
    ApprovalOverOther {
        /// The event.
        event: String,
        /// The new request.
        again: String,
    },
    /// A report on a step can't be taken.
    #[error(transparent)]
    Report(Box<ReportBlocker>),
    /// A request can't be opened, answered or withdrawn.
    #[error(transparent)]
    Request(#[from] RequestBlocker),
    /// An artifact can't be submitted, finalized or discarded.
    #[error(transparent)]
    Artifact(#[from] ArtifactBlocker),
    /// An operation on the run as a whole can't be done.
    #[error(transparent)]
    Operation(#[from] OperationBlocker),
}

impl Refused {
    /// Makes the record of something that a blocker prevents, with the events that are enabled instead.
    pub(crate) fn new(
        subject: Subject,
        surface: Surface,
        blocker: &Blocker,
        enabled: Vec<String>,
    ) -> Self {
        Self {
            subject,
            code: blocker.code(surface).to_owned(),
            reason: blocker.message(),
            legal: enabled,
        }
    }
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
    /// The persons who may settle it; empty if every person may.
    pub approvers: Vec<String>,
    /// True if other events wait for it.
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
        /// True if it has more transitions, or can't be taken now.
        is_far: bool,
    },
}

/// A transition that claims alone would open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedPath {
    /// The states that it leads to; none if it stays.
    pub to: Vec<String>,
    /// The claims, in their author's words.
    pub claims: Vec<String>,
}

/// A defect of an event's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataFault {
    /// A mismatch with the event's schema.
    Schema(String),
    /// A value that isn't an object.
    NotAnObject {
        /// The value's kind.
        found: &'static str,
        /// An object as it could be.
        example: String,
    },
    /// The context can't take it.
    Context(String),
    /// A value that can't be stored.
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
    /// Returns the name of the blocker's code.
    #[must_use]
    pub fn code(&self, surface: Surface) -> &'static str {
        self.surface_code(surface).name()
    }

    fn surface_code(&self, surface: Surface) -> Code {
        let by_surface = |refusal, explanation| match surface {
            Surface::Refusal | Surface::Report => refusal,
            Surface::Explanation => explanation,
        };
        match self {
            Self::Restoring { .. } => Code::Restoring,
            Self::Paused { .. } => Code::Paused,
            Self::Cancelled { .. } => Code::Cancelled,
            Self::Ended { closed: true, .. } if surface == Surface::Report => Code::Closed,
            Self::Ended { .. } => Code::Ended,
            Self::RequestPending { request, .. } => match (request.kind, request.blocking) {
                (RequestKind::Approval, _) => Code::ApprovalOpen,
                (_, true) => Code::QuestionBlocks,
                (_, false) => Code::QuestionOpen,
            },
            Self::RequestFirst { .. } => by_surface(Code::WaitingForRequest, Code::Held),
            Self::StepWaiting { .. } => Code::StepWaits,
            Self::ChildOutcome { ended: Some(_), .. } => Code::ChildEnded,
            Self::ChildRunning { .. } | Self::ChildOutcome { run: Some(_), .. } => Code::ChildRuns,
            Self::ChildUnknown { .. } | Self::ChildOutcome { run: None, .. } => Code::ChildUnknown,
            Self::Queued { .. } => Code::Queued,
            Self::EffectUnknown { .. } => Code::EffectUnknown,
            Self::TimerPending { held: false, .. } => Code::TimerPending,
            Self::TimerPending { held: true, .. } => Code::TimerHeld,
            Self::CallsSpent { .. } => Code::CallsSpent,
            Self::DeadEnd { .. } => Code::DeadEnd,
            Self::EventAwaited { .. } => Code::CanBeSent,
            Self::LastRefused { .. } => Code::Refused,
            Self::UnknownEvent { .. } => Code::UnknownEvent,
            Self::AmbiguousEvent { .. } => Code::AmbiguousEvent,
            Self::EventCaught { .. } => Code::Caught,
            Self::InternalEvent { .. } => by_surface(Code::UnknownEvent, Code::InternalEvent),
            Self::NotHere { .. } => by_surface(Code::NotTaken, Code::NotHere),
            Self::GuardFalse { unmet, .. } => {
                let is_undecided = unmet.iter().any(Unmet::is_undecided);
                by_surface(
                    Code::NotTaken,
                    if is_undecided {
                        Code::GuardUndecided
                    } else {
                        Code::GuardFalse
                    },
                )
            }
            Self::ClaimsNeeded { .. } => Code::ClaimNeeded,
            Self::UnknownClaim { .. } => Code::UnknownClaim,
            Self::Preceded { .. } => by_surface(Code::NotTaken, Code::Preceded),
            Self::Requires { missing, .. } => {
                let first = missing.first();
                first.map_or(Code::ArtifactMissing, Missing::code)
            }
            Self::VisitLimit { .. } => by_surface(Code::MaxVisits, Code::VisitsSpent),
            Self::BadData { .. } => Code::BadData,
            Self::ApprovalOutdated { .. } => Code::ApprovalOutdated,
            Self::ApprovalOverOther { .. } => Code::AskedAgain,
            Self::Report(report) => report.code(),
            Self::Request(request) => request.code(),
            Self::Artifact(artifact) => artifact.code(),
            Self::Operation(operation) => operation.code(),
        }
    }
}
