//! The types of a generated module, a file for each kind.

pub(super) mod context;
mod data;
pub(super) mod effect;
pub(super) mod event;
pub(super) mod host;
mod payload;
pub(super) mod state;
