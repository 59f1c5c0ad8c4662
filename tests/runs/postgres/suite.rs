//! What every store promises, of the store in PostgreSQL.

use std::cell::Cell;
use std::sync::Arc;

use statemark_runs::ManualClock;
use statemark_stores::PostgresStore;

use super::{Server, server};
use crate::harness::BEGIN;
use crate::stores::random::behaves_like_memory;
use crate::stores::{Made, keeps_its_promises};

/// Makes empty stores, each in a place of its own.
fn stores(server: &Server) -> impl Fn() -> Made {
    let count = Cell::new(0);
    move || {
        count.set(count.get() + 1);
        let address = server.database(&format!("suite_{}", count.get()));
        let clock = Arc::new(ManualClock::new(BEGIN));
        let store = PostgresStore::open(&address).unwrap();
        (Arc::new(store.with_clock(Arc::clone(&clock))), clock)
    }
}

#[test]
fn postgres_keeps_its_promises() {
    if let Some(server) = server("the promises of stores", false) {
        keeps_its_promises(stores(&server));
    }
}

#[test]
fn postgres_behaves_like_memory() {
    if let Some(server) = server("random commands", false) {
        behaves_like_memory(12, stores(&server));
    }
}
