//! Durable runs, through the crate that drives them.

#![cfg(test)]

mod chaos;
mod checks;
mod contracts;
mod driving;
mod files;
mod harness;
mod history;
mod hostile;
mod keep;
mod model;
mod postgres;
mod recalled;
mod reports;
mod revisions;
mod script;
mod secrets;
mod sequences;
mod stores;
mod wide;
