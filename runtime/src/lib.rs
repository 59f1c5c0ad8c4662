//! Runs state machines from verified tables.
#![no_std]

extern crate alloc;

mod error;
mod host;
mod id;
mod record;
mod table;
mod value;

pub use error::StepError;
pub use host::{Host, Observer};
pub use id::{ActionId, EventId, FieldId, GuardId, StateId, TextId, TransitionId};
pub use record::{Microstep, Outcome, Record, Recorder};
pub use table::sections::{
    ActionRow, Constant, EventKind, EventRow, Instruction, Sections, StateKind, StateRow,
    TransitionRow, Verdict,
};
pub use value::{Operator, Value};
