//! Facts about a machine that several stages need.

pub mod delay;
pub mod names;
pub(crate) mod program;
pub mod reach;
pub mod rest;
pub(crate) mod shape;
