//! Durable runs, through the crate that drives them.

#![cfg(test)]

mod artifacts;
mod chaos;
mod checks;
mod contracts;
mod driving;
mod files;
mod golden;
mod harness;
mod history;
mod hostile;
mod keep;
mod model;
mod postgres;
mod reports;
mod revisions;
mod secrets;
mod sequences;
mod stores;
mod transcripts;
mod travel;
mod why;
