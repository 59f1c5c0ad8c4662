//! String utilities that several crates share.
//!
//! | module | answers |
//! |---|---|
//! | [`drain`] | which kinds of work a state can be for |
//! | [`hex`] | how bytes are spelled in hexadecimal digits |
//! | [`json`] | whether an object of JSON has a key twice, and where |
//! | [`list`] | how items are joined in a sentence |
//! | [`secret`] | where a string holds a key or a token of a known shape |
//! | [`shorten`] | how much of a long string a message quotes |
//! | [`suggest`] | which known name a misspelled one was meant to be |
//! | [`tool`] | which words grant which tools, and what clients call them |
//! | [`visible`] | how text that others wrote is shown without what it hides |
//!
//! Compiler, runs, server and command line share these, so that they give one answer to one question.
//!
//! Deliberately not here: anything that knows of machines or runs, and anything that only one crate asks.

pub mod drain;
pub mod hex;
pub mod json;
pub mod list;
pub mod markup;
pub mod secret;
pub mod shorten;
pub mod suggest;
pub mod tool;
pub mod visible;
