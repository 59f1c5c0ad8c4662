//! Renderers: findings in, text out.
//!
//! [`full`] is for people at a terminal, [`concise`] for people with a pager and for editors that read lines, `json`
//! (feature `serde`) for programs; [`footer`] sums up. All of them keep the order of the findings
//! ([`Diags::into_sorted`](super::Diags::into_sorted) gives reading order), count columns as
//! [`Position`](crate::source::Position) does, and return the same bytes for the same findings.
//!
//! A spec may be untrusted, so no control character of a text, a name or a message reaches the terminal: it is shown as
//! its picture (`␛`).
//!
//! Deliberately not here: where the text goes, and whether it has colors, which front ends decide by [`Style`].

mod concise;
mod excerpt;
mod fix;
mod full;
mod ink;
#[cfg(feature = "serde")]
mod json;
mod summary;
mod visible;

pub use concise::concise;
pub use full::full;
pub use ink::{INKS, Style};
#[cfg(feature = "serde")]
pub use json::json;
pub use summary::{Summary, footer};
