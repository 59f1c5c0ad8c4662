//! Every transcript, in PostgreSQL.

use std::sync::Arc;

use statemark_runs::ManualClock;
use statemark_stores::PostgresStore;

use super::server;
use crate::harness::{BEGIN, Bench};
use crate::transcripts;

#[test]
fn transcripts_are_the_same_in_postgres() {
    let Some(server) = server("transcripts", false) else {
        return;
    };
    for (number, (path, text)) in transcripts::all().into_iter().enumerate() {
        let address = server.database(&format!("transcript_{number}"));
        let played = transcripts::play(&text, |specs| {
            let clock = Arc::new(ManualClock::new(BEGIN));
            let store = PostgresStore::open(&address).unwrap();
            let store = store.with_clock(Arc::clone(&clock));
            Bench::over(specs, clock, Arc::new(store))
        });
        assert_eq!(played, text, "{}", path.display());
    }
}
