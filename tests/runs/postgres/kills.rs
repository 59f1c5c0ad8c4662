//! The server is killed while writers write: what was acknowledged is there, once.
//!
//! Seven kills, every other of all its processes at once; with `STATEMARK_CHAOS=long` fifty, and at least 20,000 appends
//! that were acknowledged between them. A writer goes on under the same key until it knows what became of its append, as a
//! client would.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use statemark_runs::{Appended, Expect, Hash, MAX_PAGE, Record, RunId, Store, StoreError};
use statemark_stores::PostgresStore;

use super::checks::note;
use super::server;

const WRITERS: u64 = 4;

/// Two runs that two writers share, and one for each writer alone.
fn runs_of(writer: u64) -> [String; 2] {
    [format!("own-{writer}"), format!("shared-{}", writer % 2)]
}

/// What a writer was told, by key: where its append begins.
type Told = BTreeMap<(String, String), u64>;

#[test]
fn what_was_acknowledged_survives_kills_of_the_server() {
    let Some(mut server) = server("kills of the server", true) else {
        return;
    };
    let long = std::env::var("STATEMARK_CHAOS").as_deref() == Ok("long");
    let (kills, between) = if long { (50, 400) } else { (7, 100) };
    let address = server.database("killed");
    let stop = Arc::new(AtomicBool::new(false));
    let count = Arc::new(AtomicU64::new(0));
    let unsure = Arc::new(AtomicU64::new(0));
    // Each has a store of its own, as a process would.
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = PostgresStore::open(&address).unwrap();
            for run in runs_of(writer) {
                match store.append(&note(&run, Expect::NoRun, None)) {
                    Ok(_) | Err(StoreError::Conflict { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            let (stop, count, unsure) = (stop.clone(), count.clone(), unsure.clone());
            std::thread::spawn(move || write(&store, writer, &stop, &count, &unsure))
        })
        .collect();
    for number in 0..kills {
        // A kill that nobody wrote between proves nothing.
        let before = count.load(Ordering::SeqCst);
        while count.load(Ordering::SeqCst) < before + between {
            assert!(
                writers.iter().all(|it| !it.is_finished()),
                "a writer failed"
            );
            sleep(Duration::from_millis(5));
        }
        // All processes at once is what leaves answers behind that nobody gets.
        server.kill(number % 2 == 1);
    }
    stop.store(true, Ordering::SeqCst);
    let mut told = Told::new();
    for writer in writers {
        told.extend(writer.join().unwrap());
    }
    let store = PostgresStore::open(&address).unwrap();
    let faults = check(&store, &told);
    assert!(faults.is_empty(), "{faults:#?}");
    eprintln!(
        "{kills} kills, {} acknowledged, {} answers lost and asked for again: none lost, none doubled",
        told.len(),
        unsure.load(Ordering::SeqCst)
    );
}

fn write(
    store: &PostgresStore,
    writer: u64,
    stop: &AtomicBool,
    count: &AtomicU64,
    unsure: &AtomicU64,
) -> Told {
    let runs = runs_of(writer);
    let mut told = Told::new();
    for number in 0_u64.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let run = &runs[usize::try_from(number % 2).unwrap()];
        let key = format!("{writer}-{number}");
        let append = note(run, Expect::Any, Some(&key));
        let first = loop {
            match store.append(&append) {
                Ok(Appended::Done { first, .. }) => break first,
                Ok(Appended::Replayed { first, .. }) => {
                    unsure.fetch_add(1, Ordering::SeqCst);
                    break first;
                }
                Err(StoreError::Unknown { .. } | StoreError::Failed { .. }) => {
                    sleep(Duration::from_millis(20));
                }
                Err(error) => panic!("{error}"),
            }
        };
        told.insert((run.clone(), key), first);
        count.fetch_add(1, Ordering::SeqCst);
    }
    told
}

/// What is wrong: acknowledged and not there, there twice, a gap, or a broken chain.
fn check(store: &dyn Store, told: &Told) -> Vec<String> {
    let mut faults = Vec::new();
    let mut places: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for run in (0..WRITERS).flat_map(runs_of) {
        let id: RunId = run.parse().unwrap();
        let mut prev = (0, Hash::ZERO);
        let mut page: Vec<Record> = store.records(&id, 0, MAX_PAGE).unwrap();
        while !page.is_empty() {
            for record in &page {
                if (record.seq, record.prev) != (prev.0 + 1, prev.1) {
                    faults.push(format!("{run}: the chain breaks at {}", record.seq));
                }
                prev = (record.seq, record.hash());
                if let Some(key) = &record.key {
                    let at = (run.clone(), key.to_string());
                    let places = places.entry(at).or_default();
                    if !places.contains(&record.seq) {
                        places.push(record.seq);
                    }
                }
            }
            page = store.records(&id, prev.0, MAX_PAGE).unwrap();
        }
        let head = store.head(&id).unwrap();
        if (head.seq, head.hash) != prev {
            faults.push(format!("{run}: the head isn't its last record"));
        }
    }
    for (at, seqs) in &places {
        if seqs.len() > 1 {
            faults.push(format!("{at:?} was written {seqs:?}"));
        }
    }
    for (at, first) in told {
        if places.get(at).is_none_or(|seqs| seqs != &[*first]) {
            faults.push(format!("{at:?} was acknowledged at {first}"));
        }
    }
    faults
}
