//! Renderers: findings in, text out.
//!
//! [`full`] is for people at a terminal, [`concise`] for people with a pager and for editors that read lines, `json`
//! (feature `serde`) for programs, and `Report` writes those and the formats of services; [`footer`] sums up. All of them keep the order of the findings
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
#[cfg(feature = "serde")]
mod github;
#[cfg(feature = "serde")]
mod gitlab;
#[cfg(feature = "serde")]
mod grouped;
mod ink;
#[cfg(feature = "serde")]
mod json;
#[cfg(feature = "serde")]
mod junit;
#[cfg(feature = "serde")]
mod prose;
#[cfg(feature = "serde")]
mod rdjson;
#[cfg(feature = "serde")]
mod report;
#[cfg(feature = "serde")]
mod root;
#[cfg(feature = "serde")]
mod sarif;
mod summary;
mod visible;

pub use concise::concise;
pub use full::full;
pub use ink::{INKS, Style};
#[cfg(feature = "serde")]
pub use json::json;
#[cfg(feature = "serde")]
pub use report::{Report, ReportFormat, report};
#[cfg(feature = "serde")]
pub use root::Root;
pub use summary::{Summary, footer, summary_line};
