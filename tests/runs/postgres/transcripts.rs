//! Every transcript, in PostgreSQL.

use std::fs;
use std::sync::Arc;

use statemark_harness::{files, root};
use statemark_runs::ManualClock;
use statemark_stores::PostgresStore;

use super::server;
use crate::harness::{BEGIN, Bench};
use crate::script;

#[test]
fn transcripts_are_the_same_in_postgres() {
    let Some(server) = server("transcripts", false) else {
        return;
    };
    let paths = files(&root().join("tests/runs/cases"));
    assert!(!paths.is_empty());
    for (number, path) in paths.into_iter().enumerate() {
        let text = fs::read_to_string(&path).unwrap();
        let address = server.database(&format!("transcript_{number}"));
        let played = script::play(&text, |specs| {
            let clock = Arc::new(ManualClock::new(BEGIN));
            let store = PostgresStore::open(&address).unwrap();
            let store = store.with_clock(Arc::clone(&clock));
            Bench::over(specs, clock, Arc::new(store))
        });
        assert_eq!(played, text, "{}", path.display());
    }
}
