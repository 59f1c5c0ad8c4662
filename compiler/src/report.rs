//! The messages of the pipeline itself: one file a code.

pub(crate) mod duplicate_machine;
