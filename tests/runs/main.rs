//! Durable runs, through the crate that drives them.

mod golden;
mod harness;
mod stores;
mod transcripts;
