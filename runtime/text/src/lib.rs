//! What several crates ask of strings.
//!
//! | module | answers |
//! |---|---|
//! | [`suggest`] | which known name a misspelled one was meant to be |
//! | [`secret`] | where a string holds a key or a token of a known shape |
//!
//! Compiler, runs, server and command line share these, so that they give one answer to one question.
//!
//! Deliberately not here: anything that knows of machines or runs, and anything that only one crate asks.

pub mod secret;
pub mod suggest;
