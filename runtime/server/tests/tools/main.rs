//! The tools of the server, called as its clients call them, without a connection.

#![cfg(test)]

mod bench;
mod bound;
mod bounds;
mod files;
mod gating;
mod hostile;
mod profiles;
mod requests;
mod smithers;
mod spelling;
mod transcripts;
