//! Definitions.
pub mod ast;
