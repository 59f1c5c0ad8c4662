//! Back ends: a [`Valid`](crate::valid::Valid) machine in, bytes or text out.
//!
//! None of them can fail.

pub mod dot;
pub mod mermaid;
pub mod rust;
#[cfg(feature = "scxml")]
pub mod scxml;
pub mod stale;
pub mod svg;
pub mod table;
