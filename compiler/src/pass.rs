//! Facts about a machine that several stages need.

pub mod names;
pub mod reach;
pub mod rest;
