//! The messages of the pipeline itself: one file a code.

pub(crate) mod duplicate_machine;
pub(crate) mod machine_too_large;
