//! Bodies of records: one type for each kind.
//!
//! A kind is a row of `for_each_kind`, the only list of them. Its type stands in a file of `body/`, with the `Kind` that
//! says what it means to a reader. `state/apply.rs` says what it does to the state of a run.
//!
//! A kind's version grows when its JSON changes in a way that an old reader would misread; `Kind::upcast` then reads a body
//! of an older version. A kind that isn't in the list is kept as it is, so that an older program shows a newer one's records.
//!
//! Deliberately not here: redaction. It walks the JSON of a body, whatever its kind.

mod artifact;
mod attempt;
mod control;
mod event;
mod request;
mod step;
mod work;

pub use artifact::{Artifact, Finding, Stage, Verdict};
pub use attempt::{AttemptEnded, AttemptOutcome, AttemptStarted, Message, Usage};
pub use control::{
    Cancelled, CheckpointRestored, CheckpointTaken, ClockSetBack, Closed, Compensation, Continued,
    Forced, Imported, LeftOut, LeftOutCause, Migrated, Paused, Rewound, Scope, Spent,
};
pub use event::{Cause, Event, Forked, Parent, Queued, Refused, Started, Subject};
pub use request::{Again, Opened, RequestKind, Resolution, Resolved, Waiting};
pub use step::{Arming, EffectKey, Microstep, StepRecord};
pub use work::{
    Annotation, Check, ChildEnded, ChildStarted, Effect, EffectStatus, Note, Progress, Session,
    Step, StepStatus, Subflow, Tie, Tool, ToolVerdict, WorktreeMade,
};

use serde_json::Value;

use crate::actor::Role;

/// A type that has a row in `for_each_kind`: nothing reads or writes one that has none.
#[diagnostic::on_unimplemented(message = "`{Self}` has no row in `for_each_kind` of `body.rs`")]
pub(crate) trait Listed {}

/// The meaning of a kind of record.
pub(crate) trait Kind: Listed {
    /// Names of the fields with hashes of blobs that must exist: one, or a map of them.
    const BLOBS: &[&str];

    /// True if records of the system can follow from it in the same append.
    const CAUSES: bool = false;

    /// Describes a record in one line.
    fn summary(&self) -> String;

    /// Reports whether only a person takes such a record of an actor in this role back.
    /// Each kind says so itself: one that forgot would let an agent take it back.
    fn is_decision(&self, by: Role) -> bool;

    /// Turns the body of an older version into one of today's.
    fn upcast(v: u16, body: Value) -> Value {
        let _ = v;
        body
    }
}

/// Calls a macro with all kinds of record: variant and type, name in journals, version.
macro_rules! for_each_kind {
    ($call:ident) => {
        $call! {
            /// The start of a run.
            Started(Started) = "run.started" 1;
            /// The start of a run as a copy of another's first records.
            Forked(Forked) = "run.forked" 1;
            /// An event that was taken, or ignored.
            Event(Event) = "event" 1;
            /// An event that waits until nothing blocks it.
            Queued(Queued) = "queued" 1;
            /// A request that was refused.
            Refused(Refused) = "refused" 1;
            /// A report on a step.
            Step(Step) = "step" 1;
            /// A report on the progress of long work.
            Progress(Progress) = "progress" 1;
            /// A message of a conversation.
            Message(Message) = "message" 1;
            /// A call of a tool.
            Tool(Tool) = "tool" 1;
            /// A request to a person.
            Opened(Opened) = "request.opened" 1;
            /// The end of a request.
            Resolved(Resolved) = "request.resolved" 1;
            /// A revision of an artifact.
            Artifact(Artifact) = "artifact" 1;
            /// A run of a declared check.
            Check(Check) = "check" 1;
            /// A working copy that was saved.
            CheckpointTaken(CheckpointTaken) = "checkpoint.taken" 1;
            /// A working copy that is being restored, or was.
            CheckpointRestored(CheckpointRestored) = "checkpoint.restored" 1;
            /// A git worktree in which the run works from then on.
            WorktreeMade(WorktreeMade) = "worktree.made" 1;
            /// A report on an effect.
            Effect(Effect) = "effect" 1;
            /// The start of a pause.
            Paused(Paused) = "run.paused" 1;
            /// The end of a pause.
            Continued(Continued) = "run.continued" 1;
            /// The cancellation of the run.
            Cancelled(Cancelled) = "run.cancelled" 1;
            /// A state that a person set by hand.
            Forced(Forced) = "run.forced" 1;
            /// A rewind to an earlier record.
            Rewound(Rewound) = "run.rewound" 1;
            /// A migration to another table.
            Migrated(Migrated) = "run.migrated" 1;
            /// The end of the run by a report.
            Closed(Closed) = "run.closed" 1;
            /// The import of the run from another store.
            Imported(Imported) = "run.imported" 1;
            /// The clock was set back.
            ClockSetBack(ClockSetBack) = "clock.set_back" 1;
            /// The start of an attempt.
            AttemptStarted(AttemptStarted) = "attempt.started" 1;
            /// The end of an attempt.
            AttemptEnded(AttemptEnded) = "attempt.ended" 1;
            /// The cost of an attempt.
            Usage(Usage) = "usage" 1;
            /// The start of a child run.
            ChildStarted(ChildStarted) = "child.started" 1;
            /// The end of a child run.
            ChildEnded(ChildEnded) = "child.ended" 1;
            /// Steps of another's making, shown under one of the run's.
            Subflow(Subflow) = "subflow" 1;
            /// A client's session that the run holds from now on, or no longer.
            Session(Session) = "session" 1;
            /// A remark on the run.
            Note(Note) = "note" 1;
            /// A remark on a document.
            Annotation(Annotation) = "annotation" 1;
        }
    };
}

pub(crate) use for_each_kind;

macro_rules! bodies {
    ($($(#[$docs:meta])* $variant:ident($type:ty) = $kind:literal $version:literal;)*) => {
        /// The body of a record.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Body {
            $($(#[$docs])* $variant($type),)*
            /// A kind that this version doesn't know.
            Unknown {
                /// Its name.
                kind: String,
                /// Its version.
                v: u16,
                /// The body.
                body: Value,
            },
        }

        $(impl Listed for $type {})*

        impl Body {
            /// All kinds that this version knows.
            pub const KINDS: &'static [&'static str] = &[$($kind),*];

            /// Returns the names of the fields of a kind with hashes of blobs that must exist.
            pub(crate) fn blob_fields(kind: &str) -> &'static [&'static str] {
                match kind {
                    $($kind => <$type as Kind>::BLOBS,)*
                    _ => &[],
                }
            }

            /// Returns its kind, as journals name it.
            #[must_use]
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                    Self::Unknown { kind, .. } => kind,
                }
            }

            /// Returns the version that it is written in.
            #[must_use]
            pub const fn version(&self) -> u16 {
                match self {
                    $(Self::$variant(_) => $version,)*
                    Self::Unknown { v, .. } => *v,
                }
            }

            /// Returns it as JSON.
            #[must_use]
            pub fn to_json(&self) -> String {
                let text = match self {
                    $(Self::$variant(body) => serde_json::to_string(body),)*
                    Self::Unknown { body, .. } => serde_json::to_string(body),
                };
                // INVARIANT: all maps have texts for keys, and nothing else can fail.
                text.unwrap_or_default()
            }

            /// Reads a body that this version or an older one wrote. A newer version of a kind is unknown.
            ///
            /// # Errors
            ///
            /// The text isn't what its kind and version say.
            pub fn from_json(kind: &str, v: u16, text: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $($kind if v == $version => Ok(Self::$variant(serde_json::from_str(text)?)),
                    $kind if v < $version => {
                        let body = <$type as Kind>::upcast(v, serde_json::from_str(text)?);
                        Ok(Self::$variant(serde_json::from_value(body)?))
                    })*
                    _ => Ok(Self::Unknown {
                        kind: kind.to_owned(),
                        v,
                        body: serde_json::from_str(text)?,
                    }),
                }
            }

            /// Describes the record in one line.
            #[must_use]
            pub fn summary(&self) -> String {
                match self {
                    $(Self::$variant(body) => body.summary(),)*
                    Self::Unknown { kind, v, .. } => format!("`{kind}` in version {v}, unknown here"),
                }
            }

            /// Reports whether records of the system can follow from it in the same append.
            pub(crate) const fn is_cause(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$type as Kind>::CAUSES,)*
                    Self::Unknown { .. } => false,
                }
            }

            /// Reports whether only a person takes such a record of an actor in this role back.
            pub(crate) fn is_decision(&self, by: Role) -> bool {
                match self {
                    $(Self::$variant(body) => body.is_decision(by),)*
                    Self::Unknown { .. } => false,
                }
            }
        }
    };
}

for_each_kind!(bodies);
