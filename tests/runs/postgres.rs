//! The store in PostgreSQL, on a server of its own.
//!
//! Where no server is installed these tests say so and are left out; with `STATEMARK_POSTGRES=required` they fail.

mod answers;
mod checks;
mod kills;
mod rate;
#[cfg(unix)]
mod secure;
mod server;
mod suite;
mod transcripts;

use server::Server;

/// A server for one test; none if there is none on this machine, which is said.
fn server(test: &str, fsync: bool) -> Option<Server> {
    let Some(programs) = server::programs() else {
        assert!(
            std::env::var("STATEMARK_POSTGRES").as_deref() != Ok("required"),
            "no PostgreSQL server is installed"
        );
        eprintln!("left out: {test}: no PostgreSQL server is installed");
        return None;
    };
    Some(Server::start(&programs, fsync))
}
