//! Back ends of [`Store`](statemark_runs::Store), and maintenance of a whole store.
//!
//! | back end | for | address |
//! |---|---|---|
//! | [`MemoryStore`] | tests, and runs that nobody needs tomorrow | `memory:` |
//! | [`SqliteStore`] | one machine: a file, with a lock that writers of all processes take in turn | `sqlite:PATH` |
//! | `PostgresStore` | several machines, with the feature `postgres` | `postgres://…` |
//!
//! [`open`] opens one by its address; [`backup`] copies a file of SQLite while others write to it.
//!
//! What to rely on: all back ends pass one suite, and each checks the chain of hashes before it appends.
//!
//! Deliberately not here: what a record means. Back ends keep bytes, and lists that the run state derives.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod backup;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;

pub use address::{Judgement, Place, file_of, holds_password, judge, open, open_as_is, place_of};
pub use backup::{BackedUp, WakeStore, backup};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use sqlite::SqliteStore;
