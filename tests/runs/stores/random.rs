//! Random commands, done to a store and to the one in memory: the answers are equal, errors by their kind.
//!
//! Names, keys and numbers come from small sets, so that commands meet: most appends conflict or succeed on something
//! that another command has left.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use statemark_runs::{
    Append, Cursor, Expect, Fence, Hash, Lease, ManualClock, Query, RunSummary, Store, StoreError,
    Watermark,
};

use super::{Made, in_memory, key, note, run, timer};
use crate::harness::BEGIN;

const RUNS: [&str; 5] = ["a", "b", "c", "ab", "d"];
const KEYS: [&str; 3] = ["k", "l", "m"];
const WORKFLOWS: [&str; 3] = ["order", "ship", "nobody's"];
const STATUSES: [&str; 3] = ["running", "waiting", "failed"];

/// Something that is done to a store. Numbers choose from small sets.
#[derive(Clone, Debug)]
enum Command {
    Append(Writing),
    Fork {
        from: usize,
        at: u64,
        writing: Writing,
    },
    Records {
        run: usize,
        after: u64,
        limit: usize,
    },
    KeyUse {
        run: usize,
        key: usize,
    },
    List {
        filter: usize,
        status: usize,
        limit: usize,
        on: bool,
    },
    Lease {
        run: usize,
        owner: usize,
        milliseconds: u64,
    },
    Release {
        lease: usize,
    },
    Due {
        now: u64,
        limit: usize,
        claim: u64,
    },
    Changes {
        old: bool,
    },
    PutFold {
        run: usize,
        seq: u64,
    },
    Fold {
        run: usize,
        upto: u64,
    },
    Blob {
        which: u8,
        put: bool,
    },
    Remove {
        run: usize,
    },
    Wait {
        milliseconds: u64,
    },
}

#[derive(Clone, Debug)]
struct Writing {
    run: usize,
    expect: usize,
    at: u64,
    key: Option<(usize, u8)>,
    fence: Option<u64>,
    count: usize,
    time: u64,
    status: usize,
    timers: Option<Vec<(u64, u64)>>,
}

fn writings() -> impl Strategy<Value = Writing> {
    let key = prop::option::weighted(0.4, (0..KEYS.len(), 0..2_u8));
    let fence = prop::option::weighted(0.2, 0..4_u64);
    let timers = prop::option::weighted(0.5, prop::collection::vec((0..2_u64, 0..2_u64), 0..3));
    let place = (0..RUNS.len(), 0..6_usize, 0..6_u64);
    let what = (0..4_usize, 0..9_u64, 0..STATUSES.len());
    (place, key, fence, what, timers).prop_map(|(place, key, fence, what, timers)| Writing {
        run: place.0,
        expect: place.1,
        at: place.2,
        key,
        fence,
        // Rarely none at all, which is refused.
        count: if what.0 == 0 && what.1 > 0 { 1 } else { what.0 },
        time: what.1,
        status: what.2,
        timers,
    })
}

fn commands() -> impl Strategy<Value = Command> {
    let run = || 0..RUNS.len();
    prop_oneof![
        12 => writings().prop_map(Command::Append),
        3 => (run(), 0..6_u64, writings())
            .prop_map(|(from, at, writing)| Command::Fork { from, at, writing }),
        3 => (run(), 0..8_u64, 0..6_usize)
            .prop_map(|(run, after, limit)| Command::Records { run, after, limit }),
        1 => (run(), 0..KEYS.len()).prop_map(|(run, key)| Command::KeyUse { run, key }),
        4 => (0..9_usize, 0..3_usize, 0..4_usize, any::<bool>())
            .prop_map(|(filter, status, limit, on)| Command::List { filter, status, limit, on }),
        3 => (run(), 0..2_usize, 0..60_u64)
            .prop_map(|(run, owner, milliseconds)| Command::Lease { run, owner, milliseconds }),
        1 => (0..4_usize).prop_map(|lease| Command::Release { lease }),
        5 => (0..4_u64, 0..4_usize, 0..200_u64)
            .prop_map(|(now, limit, claim)| Command::Due { now, limit, claim }),
        2 => any::<bool>().prop_map(|old| Command::Changes { old }),
        1 => (run(), 0..9_u64).prop_map(|(run, seq)| Command::PutFold { run, seq }),
        2 => (run(), 0..9_u64).prop_map(|(run, upto)| Command::Fold { run, upto }),
        1 => (0..3_u8, any::<bool>()).prop_map(|(which, put)| Command::Blob { which, put }),
        1 => run().prop_map(|run| Command::Remove { run }),
        2 => (0..40_u64).prop_map(|milliseconds| Command::Wait { milliseconds }),
    ]
}

/// A store, and what its answers are used for later.
struct Player {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    leases: Vec<Lease>,
    cursor: Option<Cursor>,
    mark: Watermark,
}

impl Player {
    fn new((store, clock): Made) -> Self {
        Self {
            store,
            clock,
            leases: Vec::new(),
            cursor: None,
            mark: Watermark::default(),
        }
    }

    /// Does it, and says what came of it.
    fn play(&mut self, command: &Command) -> String {
        let store = &*self.store;
        match command {
            Command::Append(writing) => describe(store.append(&append(writing))),
            Command::Fork { from, at, writing } => {
                describe(store.fork(&run(RUNS[*from]), *at, &append(writing)))
            }
            Command::Records {
                run: id,
                after,
                limit,
            } => describe(store.records(&run(RUNS[*id]), *after, *limit)),
            Command::KeyUse { run: id, key: name } => {
                describe(store.key_use(&run(RUNS[*id]), &key(KEYS[*name])))
            }
            Command::List {
                filter,
                status,
                limit,
                on,
            } => {
                let answer = store.list(&self.query(*filter, *status, *limit, *on));
                self.cursor = answer.as_ref().ok().and_then(|page| page.next.clone());
                describe(answer)
            }
            Command::Lease {
                run: id,
                owner,
                milliseconds,
            } => {
                let owner = ["ann", "ben"][*owner];
                let answer = store.lease(&run(RUNS[*id]), owner, *milliseconds);
                self.leases.extend(answer.as_ref().ok().cloned());
                describe(answer)
            }
            Command::Release { lease } => match self.leases.get(*lease) {
                Some(lease) => describe(store.release(lease)),
                None => String::new(),
            },
            Command::Due { now, limit, claim } => {
                describe(store.claim_due(BEGIN + now, *limit, *claim))
            }
            Command::Changes { old } => self.changes(*old),
            Command::PutFold { run: id, seq } => {
                describe(store.put_fold_cache(&run(RUNS[*id]), *seq, &seq.to_le_bytes()))
            }
            Command::Fold { run: id, upto } => describe(store.fold_cache(&run(RUNS[*id]), *upto)),
            Command::Blob { which, put: true } => describe(store.put_blob(&[*which])),
            Command::Blob { which, put: false } => describe(store.blob(&Hash::digest(&[*which]))),
            Command::Remove { run: id } => describe(store.remove(&run(RUNS[*id]), Expect::Any)),
            Command::Wait { milliseconds } => {
                self.clock.advance(*milliseconds);
                String::new()
            }
        }
    }

    fn query(&self, filter: usize, status: usize, limit: usize, on: bool) -> Query {
        let mut query = Query {
            limit,
            after: self.cursor.clone().filter(|_| on),
            ..Query::default()
        };
        match filter {
            1 => query.statuses = vec![STATUSES[status].to_owned()],
            2 => query.statuses = STATUSES[..2].iter().map(|&it| it.to_owned()).collect(),
            3 => query.prefix = Some("a".to_owned()),
            4 => query.parent = Some(run("a")),
            5 => query.project = Some(format!("p{status}")),
            6 => query.has_requests = true,
            7 => query.workflow = Some(WORKFLOWS[status].to_owned()),
            8 => {
                query.workflow = Some(WORKFLOWS[0].to_owned());
                query.statuses = STATUSES[1..].iter().map(|&it| it.to_owned()).collect();
            }
            _ => {}
        }
        query
    }

    /// What has changed, without marks: they are the store's own.
    fn changes(&mut self, old: bool) -> String {
        let since = if old {
            Watermark::default()
        } else {
            self.mark.clone()
        };
        describe(self.store.changes(&since).map(|(mark, mut hints)| {
            self.mark = mark;
            hints.sort_by(|one, other| one.run.cmp(&other.run));
            hints
        }))
    }

    /// All that can be read.
    fn whole(&mut self) -> String {
        let store = Arc::clone(&self.store);
        let mut all = vec![
            describe(store.list(&Query {
                limit: 100,
                ..Query::default()
            })),
            describe(store.status_counts()),
            describe(store.next_due()),
            self.changes(true),
        ];
        for id in RUNS.map(run) {
            all.push(describe(store.head(&id)));
            all.push(describe(store.records(&id, 0, 1_000)));
            all.extend((0..9).map(|upto| describe(store.fold_cache(&id, upto))));
            all.extend(KEYS.map(|name| describe(store.key_use(&id, &key(name)))));
        }
        all.join("\n")
    }
}

fn append(writing: &Writing) -> Append {
    let number = |index: usize| note(BEGIN + writing.time, &index.to_string());
    Append {
        run: run(RUNS[writing.run]),
        expect: match writing.expect {
            0 => Expect::NoRun,
            1 | 2 => Expect::At(writing.at),
            _ => Expect::Any,
        },
        key: writing
            .key
            .map(|(name, request)| (key(KEYS[name]), Hash::digest(&[request]))),
        fence: writing.fence.map(Fence),
        records: (0..writing.count).map(number).collect(),
        summary: RunSummary {
            workflow: WORKFLOWS[usize::from(writing.run > 2)].to_owned(),
            requests: (0..writing.at % 3).map(|it| it.to_string()).collect(),
            status: STATUSES[writing.status].to_owned(),
            project: (writing.time > 3).then(|| format!("p{}", writing.status)),
            parent: (writing.at == 1).then(|| run("a")),
            ..RunSummary::default()
        },
        timers: writing.timers.as_ref().map(|timers| {
            let timers = timers.iter();
            timers
                .map(|(due, seq)| timer(BEGIN + due, ["t", "u"][usize::from(*due > 0)], *seq))
                .collect()
        }),
    }
}

/// An answer as text, an error as its kind and what callers act on.
fn describe<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> String {
    match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(StoreError::NotFound { .. }) => "not found".to_owned(),
        Err(StoreError::Invalid { .. }) => "invalid".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

/// Compares a store with the one in memory, in so many cases; in many more if it may take long.
///
/// # Panics
///
/// They answer differently; the shortest sequence of commands that was found is shown.
pub(crate) fn behaves_like_memory(cases: u32, make: impl Fn() -> Made) {
    let is_long = std::env::var("STATEMARK_CHAOS").is_ok_and(|it| it == "long");
    let config = Config {
        cases: if is_long { cases * 20 } else { cases },
        failure_persistence: None,
        ..Config::default()
    };
    let sequences = prop::collection::vec(commands(), 1..60);
    let compared = TestRunner::new(config).run(&sequences, |commands| {
        let (mut store, mut memory) = (Player::new(make()), Player::new(in_memory()));
        for command in &commands {
            prop_assert_eq!(store.play(command), memory.play(command), "{:?}", command);
        }
        prop_assert_eq!(store.whole(), memory.whole());
        Ok(())
    });
    if let Err(difference) = compared {
        panic!("{difference}");
    }
}
