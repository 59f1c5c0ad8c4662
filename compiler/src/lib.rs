//! Compiles state machines that people write in Markdown.

pub mod arena;
pub mod diag;
pub mod excerpt;
pub mod front;
pub mod source;
