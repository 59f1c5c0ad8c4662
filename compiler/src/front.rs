//! Front ends: text in, syntax trees and diagnostics out.
//!
//! None of them fails and none resolves a name: that is [`crate::lower`]'s.

pub mod definition;
pub mod expression;
pub mod label;
pub mod markdown;
pub mod mermaid;
#[cfg(feature = "scxml")]
pub mod scxml;
pub mod words;
mod yaml;
