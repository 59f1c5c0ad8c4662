//! Markdown documents.
