//! What records say: one type for each kind, and how old versions are read.
//!
//! The list at the end of this file is the only one. A kind's version grows when its JSON changes in a way that an old
//! reader would misread; `body/upcast.rs` then says how a body of the version before is read. A kind that isn't in the list
//! is kept as it is, so that an older program shows what a newer one wrote.

mod artifact;
mod check;
mod control;
mod event;
mod request;
mod step;
mod upcast;
mod work;

pub use artifact::{Artifact, Finding, Stage, Verdict};
pub use check::Check;
pub use control::{
    Cancelled, CheckpointRestored, CheckpointTaken, Closed, Compensation, Forced, Migrated, Paused,
    Rewound, Scope, Spent,
};
pub use event::{Cause, Event, Forked, Parent, Queued, Refused, Started, Subject};
pub use request::{Opened, RequestKind, Resolution, Resolved, Waiting};
pub use step::{Arming, EffectKey, Microstep, StepRecord};
pub use work::{
    Annotation, ChildEnded, ChildStarted, Effect, EffectStatus, Message, Note, Progress, Step,
    StepStatus, Subflow, Tool, ToolVerdict, Usage,
};

use serde_json::Value;

macro_rules! bodies {
    ($($(#[$docs:meta])* $variant:ident($type:ty) = $kind:literal $version:literal;)*) => {
        /// What a record says.
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
                /// What it says.
                body: Value,
            },
        }

        impl Body {
            /// All kinds that this version knows.
            pub const KINDS: &'static [&'static str] = &[$($kind),*];

            /// Its kind, as journals name it.
            #[must_use]
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                    Self::Unknown { kind, .. } => kind,
                }
            }

            /// The version that it is written in.
            #[must_use]
            pub const fn version(&self) -> u16 {
                match self {
                    $(Self::$variant(_) => $version,)*
                    Self::Unknown { v, .. } => *v,
                }
            }

            /// As JSON.
            #[must_use]
            pub fn to_json(&self) -> String {
                let text = match self {
                    $(Self::$variant(body) => serde_json::to_string(body),)*
                    Self::Unknown { body, .. } => serde_json::to_string(body),
                };
                // INVARIANT: all maps have texts for keys, and nothing else can fail.
                text.unwrap_or_default()
            }

            /// Reads what was written by this version or an older one. A newer version of a kind is unknown.
            ///
            /// # Errors
            ///
            /// The text isn't what its kind and version say.
            pub fn from_json(kind: &str, v: u16, text: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $($kind if v == $version => Ok(Self::$variant(serde_json::from_str(text)?)),
                    $kind if v < $version => {
                        let body = upcast::upcast(kind, v, serde_json::from_str(text)?);
                        Ok(Self::$variant(serde_json::from_value(body)?))
                    })*
                    _ => Ok(Self::Unknown {
                        kind: kind.to_owned(),
                        v,
                        body: serde_json::from_str(text)?,
                    }),
                }
            }
        }
    };
}

bodies! {
    /// A run began.
    Started(Started) = "run.started" 1;
    /// A run began as a copy of another's first records.
    Forked(Forked) = "run.forked" 1;
    /// An event was taken, or found nothing to do.
    Event(Event) = "event" 1;
    /// An event waits until something else is settled.
    Queued(Queued) = "queued" 1;
    /// Something was asked for and refused.
    Refused(Refused) = "refused" 1;
    /// How a step is getting on.
    Step(Step) = "step" 1;
    /// How long work is getting on.
    Progress(Progress) = "progress" 1;
    /// Something that was said.
    Message(Message) = "message" 1;
    /// A call of a tool.
    Tool(Tool) = "tool" 1;
    /// Somebody is asked.
    Opened(Opened) = "request.opened" 1;
    /// A request is over.
    Resolved(Resolved) = "request.resolved" 1;
    /// A revision of an artifact.
    Artifact(Artifact) = "artifact" 1;
    /// A declared check was run.
    Check(Check) = "check" 1;
    /// A working copy was saved.
    CheckpointTaken(CheckpointTaken) = "checkpoint.taken" 1;
    /// A working copy was put back.
    CheckpointRestored(CheckpointRestored) = "checkpoint.restored" 1;
    /// What became of an effect.
    Effect(Effect) = "effect" 1;
    /// The run stands still until somebody continues it.
    Paused(Paused) = "run.paused" 1;
    /// It goes on.
    Continued(Paused) = "run.continued" 1;
    /// It was given up.
    Cancelled(Cancelled) = "run.cancelled" 1;
    /// A person set its state by hand.
    Forced(Forced) = "run.forced" 1;
    /// What came before was taken back.
    Rewound(Rewound) = "run.rewound" 1;
    /// It goes on under another table.
    Migrated(Migrated) = "run.migrated" 1;
    /// It was closed from outside.
    Closed(Closed) = "run.closed" 1;
    /// What an attempt has cost.
    Usage(Usage) = "usage" 1;
    /// A run under this one began.
    ChildStarted(ChildStarted) = "child.started" 1;
    /// A run under this one ended.
    ChildEnded(ChildEnded) = "child.ended" 1;
    /// Steps of somebody else's making, to be shown under one of the run's.
    Subflow(Subflow) = "subflow" 1;
    /// A remark on the run.
    Note(Note) = "note" 1;
    /// A remark on a document.
    Annotation(Annotation) = "annotation" 1;
}
