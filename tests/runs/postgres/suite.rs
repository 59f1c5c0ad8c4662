//! What every store promises, of the store in PostgreSQL.

use std::cell::Cell;
use std::sync::{Arc, Barrier};

use statemark_runs::{
    Append, Appended, Expect, Hash, Key, ManualClock, RunId, Store, StoreError, overflow,
};
use statemark_stores::PostgresStore;

use super::{Server, server};
use crate::harness::BEGIN;
use crate::stores::random::behaves_like_memory;
use crate::stores::{Made, all, begun, keeps_its_promises, notes, run};

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

/// How a run is made: by one append or by several, with a key or without, from another run or from nothing.
type Making = (
    &'static str,
    fn(&dyn Store, &RunId) -> Result<Appended, StoreError>,
);

const MAKINGS: &[Making] = &[
    ("plain", |store, id| {
        store.append(&notes(id.as_str(), Expect::NoRun, &["1", "2"]))
    }),
    ("keyed", |store, id| {
        store.append(&keyed(notes(id.as_str(), Expect::NoRun, &["1", "2"])))
    }),
    ("large", |store, id| {
        let text = "x".repeat(overflow::LARGE + 1);
        store.append(&notes(id.as_str(), Expect::NoRun, &["1", &text]))
    }),
    ("fork", |store, id| {
        let append = notes(id.as_str(), Expect::NoRun, &["2"]);
        store.fork(&run("parent"), 1, &append)
    }),
    ("several", |store, id| {
        let append = notes(id.as_str(), Expect::NoRun, &["1"]);
        let done = store.create(None, &[append.clone(), append]);
        done.map(|()| Appended::Done { first: 1, last: 2 })
    }),
];

fn keyed(append: Append) -> Append {
    let key: Key = "again".parse().unwrap();
    Append {
        key: Some((key, Hash::digest(b"asked again"))),
        ..append
    }
}

/// One of them makes it, the others learn that it is there, and none of it is an error in the server's log.
#[test]
fn what_several_make_at_once_leaves_no_error_in_the_log() {
    let Some(server) = server("several that make one run", false) else {
        return;
    };
    let address = server.database("several");
    let stores: Vec<_> = (0..6)
        .map(|_| PostgresStore::open(&address).unwrap())
        .collect();
    begun(&stores[0], "parent", 1);
    for (name, make) in MAKINGS {
        for round in 0..10 {
            let id = run(&format!("{name}-{round}"));
            let start = Barrier::new(stores.len());
            let answers: Vec<_> = std::thread::scope(|scope| {
                let (start, id) = (&start, &id);
                let threads: Vec<_> = stores
                    .iter()
                    .map(|store| {
                        scope.spawn(move || {
                            start.wait();
                            make(store, id)
                        })
                    })
                    .collect();
                threads.into_iter().map(|it| it.join().unwrap()).collect()
            });
            let made = |it: &&_| matches!(it, Ok(Appended::Done { .. }));
            assert_eq!(answers.iter().filter(made).count(), 1, "{answers:?}");
            let others = answers.iter().filter(|it| !made(it));
            for answer in others {
                match (*name, answer) {
                    ("keyed", Ok(Appended::Replayed { first: 1, last: 2 }))
                    | (
                        "plain" | "large" | "fork" | "several",
                        Err(StoreError::Conflict { actual: 2 }),
                    ) => {}
                    (name, answer) => panic!("{name}: {answer:?}"),
                }
            }
            assert_eq!(all(&stores[0], id.as_str()).len(), 2, "{name}");
        }
    }
    // A client that asks again after others have asked.
    let send = || stores[0].append(&keyed(notes("parent", Expect::Any, &["2"])));
    assert_eq!(send().unwrap(), Appended::Done { first: 2, last: 2 });
    let further = stores[0].append(&notes("parent", Expect::Any, &["3"]));
    assert_eq!(further.unwrap(), Appended::Done { first: 3, last: 3 });
    assert_eq!(send().unwrap(), Appended::Replayed { first: 2, last: 2 });
    let log = server.log();
    let errors = log.lines().filter(|line| line.contains("ERROR"));
    assert_eq!(errors.collect::<Vec<_>>(), Vec::<&str>::new(), "{log}");
}
