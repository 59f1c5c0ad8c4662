//! Durable runs, through the crate that drives them.

#![cfg(test)]

mod chaos;
mod driving;
mod files;
mod golden;
mod harness;
mod history;
mod keep;
mod model;
mod postgres;
mod reports;
mod stores;
mod transcripts;
mod travel;
