//! A third engine, for tests alone: SCXML's algorithm over the IR, written to be obvious.
//!
//! Section by section it is appendix D of the recommendation (*Algorithm for SCXML Interpretation*): each procedure is
//! a function of its name, and its doc says which. Sets are plain lists and ordered sets, nothing is looked up quickly,
//! nothing is kept that could be found again. What the recommendation leaves to its platform (limits, the order in
//! which a step is told, what a fault is) is as the runtime's docs promise it.
//!
//! No code is shared with the engines but what a record is made of: guards and expressions are walked as trees, values
//! are its own. So where this and an engine agree, two authors have read the recommendation alike.

mod content;
mod datum;
mod enter;
mod exit;
mod expression;
mod host;
mod interpret;
mod select;
mod tree;

pub(crate) use datum::Datum;
pub(crate) use host::Host;
pub(crate) use interpret::{Failure, Interpreter};
