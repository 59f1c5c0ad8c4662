//! The commands that drive runs, one file each, and how they show a run.

pub(super) mod artifacts;
pub(super) mod ask;
pub(super) mod check;
pub(super) mod checkpoint;
pub(super) mod control;
pub(super) mod decide;
pub(super) mod effect;
pub(super) mod emit;
pub(super) mod events;
mod files;
pub(super) mod fork;
pub(super) mod inbox;
pub(super) mod migrate;
mod outcome;
pub(super) mod replay;
pub(super) mod rewind;
pub(super) mod runs;
pub(super) mod send;
mod shown;
pub(super) mod start;
pub(super) mod state;
pub(super) mod timeline;
pub(super) mod wait;
pub(super) mod why;

pub(super) use shown::json;
