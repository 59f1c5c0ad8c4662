//! Compiles state machines that people write in Markdown.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod arena;
pub mod back;
#[cfg(feature = "build")]
pub mod build;
pub mod datum;
pub mod diag;
pub mod excerpt;
mod fix;
mod format;
pub mod front;
pub mod ir;
pub mod lower;
mod meaning;
mod mention;
pub mod pass;
mod pipeline;
pub mod proofs;
pub mod source;
mod suppress;
pub mod valid;

pub use fix::{FixedText, fix_text};
pub use format::{Formatted, format_text};
pub use front::definition::{KeyReference, Servers, definition_schema, key_page, keys, keys_page};
pub use meaning::changed_rows;
pub use mention::{Mention, NameKind, mentions};
pub use pipeline::{Compiled, Format, Options, compile, read_specs};
