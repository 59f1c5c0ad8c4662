//! Runs state machines from verified tables.
//!
//! A *machine* is a set of nested states and the transitions between them, as in UML and SCXML. This crate takes a
//! machine as a *table* of bytes, looks at it with suspicion, and steps it. It has no dependency, no clock and no IO,
//! needs an allocator but no standard library, and doesn't panic on any input.
//!
//! # From bytes to a running machine
//!
//! | from | by | to | what you know then |
//! |---|---|---|---|
//! | bytes | [`decode`] | [`Sections`] | they are rows: numbers and texts that may mean anything |
//! | [`Sections`] | [`verify`] | [`Table`] | they are a machine: all invariants hold |
//! | [`Table`] | [`Machine::start`] | [`Machine`] | it is in its initial configuration |
//! | an [`EventId`] | [`Machine::send`] | [`Outcome`] | it has come to rest again |
//!
//! [`encode`] is the way back from rows to bytes. Usually the compiler fills in the rows; here they are written by hand,
//! for a turnstile that is unlocked by a coin and locked by a push:
//!
//! ```
//! use statemark_runtime::*;
//!
//! // Texts first: all other rows name them by number.
//! let texts = ["turnstile", "locked", "unlocked", "coin", "push", "thank"];
//! let name = TextId::new;
//! let state = |text, kind, parent, end| StateRow {
//!     name: name(text),
//!     kind,
//!     verdict: Verdict::Success,
//!     parent,
//!     end,
//!     initial: 0..0,
//!     initial_calls: 0..0,
//!     entry: 0..0,
//!     exit: 0..0,
//!     transitions: 0..0,
//!     done: None,
//!     metadata: None,
//! };
//! let transition = |source, trigger, calls, target| TransitionRow {
//!     source: StateId::new(source),
//!     internal: false,
//!     triggers: trigger,
//!     guard: 0..0,
//!     calls,
//!     targets: target,
//!     metadata: None,
//! };
//! let root = Some(StateId::new(0));
//! let sections = Sections {
//!     name: name(0),
//!     texts: texts.map(Into::into).to_vec(),
//!     states: vec![
//!         // The root stands for the machine; it ends after state 2, and its initial target is `targets[0..1]`.
//!         StateRow { initial: 0..1, ..state(0, StateKind::Compound, None, 3) },
//!         StateRow { transitions: 0..1, ..state(1, StateKind::Atomic, root, 2) },
//!         StateRow { transitions: 1..2, ..state(2, StateKind::Atomic, root, 3) },
//!     ],
//!     events: vec![
//!         EventRow { name: name(3), kind: EventKind::Named, metadata: None },
//!         EventRow { name: name(4), kind: EventKind::Named, metadata: None },
//!     ],
//!     transitions: vec![transition(1, 0..1, 0..1, 1..2), transition(2, 1..2, 0..0, 0..1)],
//!     actions: vec![ActionRow { name: name(5), kind: ActionKind::Host, metadata: None }],
//!     targets: vec![StateId::new(1), StateId::new(2)],
//!     triggers: vec![EventId::new(0), EventId::new(1)],
//!     calls: vec![ActionId::new(0)],
//!     ..Sections::default()
//! };
//!
//! // What the compiler would write to a file, and what a host reads from it.
//! let bytes = encode(&sections)?;
//! assert_eq!(decode(&bytes)?, sections);
//! let table = verify(decode(&bytes)?)?;
//!
//! // The host carries out actions and answers guards.
//! #[derive(Default)]
//! struct Thanks(u32);
//!
//! impl Host for Thanks {
//!     fn action(&mut self, _: ActionId) {
//!         self.0 += 1;
//!     }
//! }
//!
//! let [coin, push] = ["coin", "push"].map(|name| table.event_named(name).unwrap());
//! let unlocked = table.state_named("unlocked").unwrap();
//! let mut machine = Machine::start(&table, Thanks::default())?;
//! assert_eq!(machine.send(push)?, Outcome::Ignored);
//!
//! // A recorder watches: what was left, done and entered.
//! let mut recorder = Recorder::new();
//! let outcome = machine.send_observed(coin, &mut recorder)?;
//! let record = recorder.finish(Some(coin), outcome);
//! assert_eq!(record.outcome, Outcome::Taken);
//! assert_eq!(record.steps[0].entered, [unlocked]);
//! assert!(machine.is_in(unlocked));
//! assert_eq!(machine.into_host().0, 1);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # How it steps
//!
//! The algorithm is the *Algorithm for SCXML Interpretation* (W3C, State Chart XML, appendix D). An event from outside
//! makes one *macrostep*: in each active region the innermost active state that has an enabled transition for it takes
//! that transition; then eventless transitions and events raised from inside are taken until there is nothing left to take.
//! What happens in which order, to the call, is said at [`Observer`].
//!
//! Where machines have parallel states a [`Configuration`] has several leaves; where they have history it also keeps what
//! was active. An assignment without a value raises `error.execution`; a machine that has no such event fails the step.
//!
//! The same table, configuration, context and events always give the same [`Record`]s.
//!
//! # What to rely on
//!
//! - Nothing here panics or loops without end, whoever wrote the bytes. Guards jump forward only; a macrostep that
//!   doesn't come to rest within a number of microsteps is [`StepError::StepLimit`], one that raises too many events is
//!   [`StepError::RaiseLimit`]. Every error leaves the configuration and what histories have recorded as they were, and a
//!   host that has timers or a context is told to do the same ([`Host::rollback`]).
//! - A step allocates nothing: the list of raised events and the sets that a step with regions needs are kept for the next
//!   one, and grow with the first few. It costs what it changes, whatever regions there are besides. A machine with
//!   regions also learns steps that don't depend on its host, in memory that [`Machine::set_learning_limit`] bounds.
//!
//! Deliberately not here: compiling, storing, and a clock. The [`Host`] has the context and the timers, for which there
//! are [`Data`] and [`Timers`] ready-made; the machine asks, and is told by [`Machine::elapse`] that a time is over.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]

extern crate alloc;

/// Implements serde's traits for data of a generated machine, with the feature `serde`.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! impl_serde {
    ($name:ident) => {
        impl $crate::generated::serde::Serialize for $name {
            fn serialize<S: $crate::generated::serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let datum = $crate::generated::Stored::store(self);
                $crate::generated::serde::Serialize::serialize(&datum, serializer)
            }
        }

        impl<'de> $crate::generated::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::generated::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let datum = $crate::generated::serde::Deserialize::deserialize(deserializer)?;
                $crate::generated::Stored::load(datum)
                    .map_err(<D::Error as $crate::generated::serde::de::Error>::custom)
            }
        }
    };
}

/// Implements nothing: the feature `serde` is off.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! impl_serde {
    ($name:ident) => {};
}
#[cfg(test)]
extern crate std;

mod bits;
mod candidate;
mod chart;
mod configuration;
mod content;
mod data;
mod datum;
mod error;
mod expression;
mod failure;
mod flat;
pub mod generated;
mod host;
mod id;
mod jump;
mod learned;
mod limits;
mod machine;
mod operation;
mod outbox;
mod quick;
mod record;
mod regions;
mod saved;
mod scratch;
mod step;
mod table;
#[cfg(test)]
mod tests;
mod timers;
mod value;
mod words;

pub use candidate::Candidate;
pub use configuration::{Configuration, RestoreError};
pub use data::Data;
pub use datum::{Datum, JsonError};
pub use error::{Fault, NamedError, StepError};
pub use expression::{compare, evaluate};
pub use failure::{ActionError, Cause, FailedStart, StepFailure};
pub use host::{Host, Observer};
pub use id::{ActionId, EventId, FieldId, GuardId, StateId, TextId, TimerId, TransitionId};
pub use limits::{
    DEFAULT_LEARNING_LIMIT, DEFAULT_STEP_LIMIT, MAX_ASSIGNS, MAX_CALLS, MAX_CLAIM_BYTES,
    MAX_DATUM_BYTES, MAX_DATUM_DEPTH, MAX_DEPTH, MAX_DONE, MAX_EVENTS, MAX_LEVELS, MAX_NAMES,
    MAX_PROGRAM, MAX_RAISED, MAX_ROWS, MAX_STATES, MAX_TABLE_BYTES, MAX_TRANSITIONS,
};
pub use machine::Machine;
pub use outbox::Outbox;
pub use record::{Microstep, Outcome, Record, Recorder};
pub use saved::{
    FieldError, FieldFault, LoadError, MAX_SAVED_BYTES, ReadError, SaveError, Saved, SavedEffect,
};
pub use table::Table;
pub use table::decode::{DecodeError, decode};
pub use table::dump::dump;
pub use table::encode::{EncodeError, encode};
pub use table::part::Part;
pub use table::sections::{
    ActionKind, ActionRow, AmbiguityRow, AssignRow, ClaimRow, Constant, EventKind, EventRow,
    Instruction, MergeKind, MergeRow, Sections, StateKind, StateRow, TimerRow, TransitionRow,
    Verdict,
};
pub use table::spell::{Dialect, operands, spell};
pub use table::verify::{VerifyError, verify};
pub use timers::Timers;
pub use value::{BinaryOperator, Operator, UnaryOperator, Value};
pub use words::{begins_word, same_words, words};
