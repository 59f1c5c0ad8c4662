//! Cases of the compiler and of runs, each a test of its own name: `corpus::SM304-unreachable-state::pipeline`.
//!
//! `cargo test --workspace --test cases FILTER` plays those that the filter names, here and in the command line's and the
//! server's binaries of that name. `UPDATE=1` rewrites expected texts.

#![cfg(test)]

mod contracts;
mod corpus;
#[path = "../runs/harness.rs"]
mod harness;
mod pages;
mod rust;
#[path = "../runs/script/mod.rs"]
mod script;
mod scxml;
mod transcripts;
mod why;
mod wild;

use std::process::ExitCode;

use statemark_harness::Suite;

fn main() -> ExitCode {
    let mut suite = Suite::new();
    corpus::add(&mut suite);
    pages::add(&mut suite);
    wild::add(&mut suite);
    scxml::add(&mut suite);
    rust::add(&mut suite);
    contracts::add(&mut suite);
    transcripts::add(&mut suite);
    why::add(&mut suite);
    suite.run()
}
