//! Renderers: findings in, text out.
//!
//! [`full`] is for people at a terminal, [`concise`] for people with a pager and for editors that read lines, [`json`]
//! for programs; [`footer`] sums up. All of them show the findings in the order in which they come
//! ([`Diags::into_sorted`](super::Diags::into_sorted) is the order of reading), count columns as
//! [`Position`](crate::source::Position) says, and give the same bytes for the same findings.
//!
//! A spec may come from a stranger, so no control character of a text, a name or a message reaches the terminal: it is
//! shown as its picture (`␛`).
//!
//! Deliberately not here: where the text goes, and whether there is color. A face decides and says so in [`Style`].

mod concise;
mod excerpt;
mod fix;
mod full;
mod ink;
mod json;
mod summary;
mod visible;

pub use concise::concise;
pub use full::full;
pub use json::json;
pub use summary::{Summary, footer};

/// How a text for people looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to mark parts with ANSI colors.
    pub color: bool,
}
