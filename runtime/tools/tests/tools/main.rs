//! The tools of the server, called as its clients call them, without a connection.

#![cfg(test)]

#[expect(dead_code, reason = "the cases in `cases.rs` use the rest")]
mod bench;
mod bound;
mod bounds;
mod files;
mod gating;
mod hostile;
mod profiles;
mod reference;
mod requests;
mod smithers;
mod spelling;
