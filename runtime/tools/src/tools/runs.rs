//! Starting runs, looking at them, and moving them.

pub(super) mod events;
pub(super) mod look;
pub(super) mod send;
pub(super) mod start;
