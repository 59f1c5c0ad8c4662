//! The interpreter.
pub(super) use super::table::run;
