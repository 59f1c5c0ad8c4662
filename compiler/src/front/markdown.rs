//! Markdown documents.
pub mod document;
