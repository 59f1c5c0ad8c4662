//! Facts about a machine that several stages need.

pub(crate) mod components;
pub mod internal;
pub(crate) mod merge;
pub mod names;
pub(crate) mod program;
pub mod reach;
pub mod rest;
pub(crate) mod shape;
pub mod trigger;
