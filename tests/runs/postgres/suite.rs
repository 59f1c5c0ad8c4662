//! What every store promises, of the store in PostgreSQL.

use std::cell::Cell;
use std::sync::Arc;

use statemark_runs::ManualClock;
use statemark_stores::PostgresStore;

use super::server;
use crate::harness::BEGIN;
use crate::stores::keeps_its_promises;

#[test]
fn postgres_keeps_its_promises() {
    let Some(server) = server("the promises of stores", false) else {
        return;
    };
    let count = Cell::new(0);
    keeps_its_promises(|| {
        count.set(count.get() + 1);
        let address = server.database(&format!("promise_{}", count.get()));
        let clock = Arc::new(ManualClock::new(BEGIN));
        let store = PostgresStore::open(&address).unwrap();
        (Arc::new(store.with_clock(Arc::clone(&clock))), clock)
    });
}
