//! State diagrams.
pub mod ast;
