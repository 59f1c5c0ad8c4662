//! What only the store in PostgreSQL does.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use statemark_runs::{
    Actor, Append, Appended, Expect, Hash, NewRecord, PendingTimer, Role, RunSummary, Store,
    StoreError, SystemClock, Watermark, overflow,
};
use statemark_stores::PostgresStore;

use super::server;
use super::server::PASSWORD;
use crate::stores::all;

/// An append of one note.
pub(super) fn note(run: &str, expect: Expect, key: Option<&str>) -> Append {
    let text = key.unwrap_or("a note");
    Append {
        run: run.parse().unwrap(),
        expect,
        key: key.map(|key| (key.parse().unwrap(), Hash::digest(key.as_bytes()))),
        fence: None,
        records: vec![NewRecord {
            time: 1,
            kind: "note".to_owned(),
            v: 1,
            actor: Actor::new(Role::Agent),
            body: serde_json::json!({ "text": text }).to_string(),
        }],
        summary: RunSummary::default(),
        timers: None,
    }
}

/// However many runs have changed within the time that is looked back, a watcher comes to the last.
#[test]
fn a_crowd_of_changes_is_gone_through() {
    const RUNS: usize = 25_000;
    let Some(server) = server("a crowd of changes", false) else {
        return;
    };
    let store = PostgresStore::open(&server.database("crowd")).unwrap();
    server.sql(
        "crowd",
        &format!(
            "INSERT INTO statemark_runs
                (run, seq, hash, created, updated, changed, workflow, status, summary, fence, lease_until)
            SELECT 'run ' || number, 1, '', 1, 1,
                (extract(epoch FROM now()) * 1000000)::int8 + number, 'w', 'running', '{{}}', 0, 0
            FROM generate_series(1, {RUNS}) AS number"
        ),
    );
    let mut mark = Watermark::default();
    let mut told = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let (next, hints) = store.changes(&mark).unwrap();
        mark = next;
        for hint in hints {
            assert!(told.insert(hint.run.clone()), "{} is told twice", hint.run);
        }
    }
    assert_eq!(told.len(), RUNS);
}

#[test]
fn many_that_open_a_new_database_at_once_all_can() {
    let Some(server) = server("opening at once", false) else {
        return;
    };
    let address = server.database("opened");
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let address = address.clone();
            std::thread::spawn(move || {
                let store = PostgresStore::open(&address).unwrap();
                let run = format!("run {number}");
                store.append(&note(&run, Expect::NoRun, None)).unwrap();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let store = PostgresStore::open(&address).unwrap();
    let all = store.list(&statemark_runs::Query {
        limit: 100,
        ..Default::default()
    });
    assert_eq!(all.unwrap().heads.len(), 8);

    // A newer version has been here.
    server.sql("opened", "UPDATE statemark_schema SET version = 99");
    let error = PostgresStore::open(&address).err().unwrap();
    assert!(
        matches!(error, StoreError::SchemaTooNew { found: 99, .. }),
        "{error}"
    );
}

/// What would do something else with our tables than is asked, and records that no run has, are told.
#[test]
fn what_is_not_ours_in_the_database_is_told() {
    let Some(server) = server("what isn't ours", false) else {
        return;
    };
    let store = PostgresStore::open(&server.database("odd")).unwrap();
    store.append(&note("a", Expect::NoRun, None)).unwrap();
    assert_eq!(store.table_damage().unwrap(), Vec::<String>::new());
    for (sql, told) in [
        (
            "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
             CREATE TRIGGER quiet BEFORE INSERT OR UPDATE ON statemark_records
                FOR EACH ROW EXECUTE FUNCTION nothing()",
            "the trigger `quiet` on `statemark_records` isn't ours",
        ),
        (
            "DROP TRIGGER quiet ON statemark_records;
             CREATE RULE deaf AS ON INSERT TO statemark_timers DO INSTEAD NOTHING",
            "the rule `deaf` on `statemark_timers` isn't ours",
        ),
        (
            "DROP RULE deaf ON statemark_timers;
             CREATE TABLE kept (LIKE statemark_folds); DROP TABLE statemark_folds;
             CREATE VIEW statemark_folds AS SELECT * FROM kept",
            "the view `statemark_folds` on `statemark_folds` isn't ours",
        ),
        (
            "DROP VIEW statemark_folds; ALTER TABLE kept RENAME TO statemark_folds;
             UPDATE statemark_runs SET seq = 0 WHERE run = 'a'",
            "run `a` ends with record 0, and 1 stand after it",
        ),
        (
            "UPDATE statemark_runs SET seq = 1, changed = changed + 7200000000 WHERE run = 'a'",
            "run `a` was changed at a time that hasn't come: watchers of the store skip what comes before it",
        ),
        (
            "UPDATE statemark_runs SET fence = 9223372036854775807 WHERE run = 'a'",
            "run `a` has a fence that no lease had",
        ),
        (
            "ALTER TABLE statemark_keys DROP CONSTRAINT statemark_keys_pkey",
            "`statemark_keys` has no primary key",
        ),
    ] {
        server.sql("odd", sql);
        let damage = store.table_damage().unwrap();
        // A view has a rule of its own.
        assert!(damage.iter().any(|it| it == told), "{sql}: {damage:?}");
    }
}

/// A rule that takes records away has no append acknowledged.
#[test]
fn what_the_database_throws_away_is_not_acknowledged() {
    let Some(server) = server("what is thrown away", false) else {
        return;
    };
    let store = PostgresStore::open(&server.database("deaf")).unwrap();
    server.sql(
        "deaf",
        "CREATE RULE deaf AS ON INSERT TO statemark_records DO INSTEAD NOTHING",
    );
    let error = store.append(&note("a", Expect::NoRun, None)).unwrap_err();
    let said = "it took 0 of 1 records: `store verify` says what is in the way";
    assert!(error.to_string().contains(said), "{error}");
}

/// Two stores never act on one run: a database that was copied sleeps until it is woken.
#[test]
fn a_copied_database_sleeps_until_it_is_woken() {
    const LONG: u64 = 3_600_000;
    let Some(server) = server("a copied database", false) else {
        return;
    };
    let address = |name: &str| {
        let port = server.port();
        format!("postgres://statemark:{PASSWORD}@127.0.0.1:{port}/{name}")
    };
    server.sql("public", "CREATE DATABASE first");
    let store = PostgresStore::open(&address("first")).unwrap();
    let (run, append) = ("a".parse().unwrap(), note("a", Expect::Any, None));
    let timer = PendingTimer {
        due: 1,
        name: "t".to_owned(),
        seq: 1,
    };
    let armed = Append {
        timers: Some(vec![timer]),
        expect: Expect::NoRun,
        ..append.clone()
    };
    store.append(&armed).unwrap();
    let held = store.lease(&run, "x", LONG).unwrap();
    drop(store);
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'first'";
    server.sql("public", end);
    server.sql("public", "CREATE DATABASE copy TEMPLATE first");

    let first = PostgresStore::open(&address("first")).unwrap();
    let copy = PostgresStore::open(&address("copy")).unwrap();
    assert!(!first.is_asleep().unwrap() && copy.is_asleep().unwrap());
    assert_eq!(copy.head(&run).unwrap().seq, 1);
    let asleep = |result: Result<(), StoreError>| {
        assert!(matches!(result, Err(StoreError::Asleep)), "{result:?}");
    };
    asleep(copy.append(&append).map(drop));
    asleep(copy.create(None, &[note("b", Expect::NoRun, None)]));
    asleep(
        copy.fork(&run, 1, &note("c", Expect::NoRun, None))
            .map(drop),
    );
    asleep(copy.lease(&run, "y", 1).map(drop));
    asleep(copy.remove(&run, Expect::Any));
    assert_eq!(copy.claim_due(2, 9, LONG).unwrap(), []);
    assert_eq!(copy.next_due().unwrap(), None);

    // Whoever has it open finds it awake.
    assert_eq!(
        PostgresStore::open(&address("copy"))
            .unwrap()
            .wake()
            .unwrap(),
        1
    );
    copy.append(&append).unwrap();
    assert_eq!(copy.next_due().unwrap(), Some(1));
    assert_eq!(copy.claim_due(2, 9, LONG).unwrap().len(), 1);
    let late = Append {
        fence: Some(held.fence),
        ..append
    };
    assert!(matches!(copy.append(&late), Err(StoreError::Fenced { .. })));
    let newer = copy.lease(&run, "y", LONG).unwrap();
    assert!(newer.fence > held.fence);
    // A store that is awake keeps what it has.
    assert_eq!(copy.wake().unwrap(), 0);
    assert_eq!(copy.claim_due(2, 9, LONG).unwrap(), []);
    assert!(matches!(
        copy.lease(&run, "z", 1),
        Err(StoreError::Busy { .. })
    ));
    first.append(&late).unwrap();
}

/// The texts of errors go to logs and to agents.
#[test]
fn no_error_shows_a_password() {
    let wrong = format!("postgres://someone:{PASSWORD}@127.0.0.1:1/runs");
    let broken = format!("postgres://someone:{PASSWORD}@127.0.0.1:port/runs?x={PASSWORD}");
    let secret = format!("postgres://someone@127.0.0.1:1/runs?password={PASSWORD}&sslmode=require");
    let mut errors = Vec::new();
    for address in [wrong, broken, secret] {
        errors.push(PostgresStore::open(&address).err().unwrap().to_string());
    }
    if let Some(server) = server("a wrong password", false) {
        let address = server.address("public");
        let role = format!("CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '{PASSWORD}'");
        server.sql("public", &role);
        let right = address.replace("statemark:", "guarded:");
        PostgresStore::open(&right).unwrap();
        let wrong = right.replace(PASSWORD, &format!("{PASSWORD}s"));
        errors.push(PostgresStore::open(&wrong).err().unwrap().to_string());
        let secure = format!("{address}&sslmode=require");
        errors.push(PostgresStore::open(&secure).err().unwrap().to_string());
    }
    for address in [
        format!("mysql://someone:{PASSWORD}@127.0.0.1/runs"),
        format!("postgres://someone:{PASSWORD}@127.0.0.1:port/runs"),
    ] {
        let clock = Arc::new(SystemClock);
        errors.push(
            statemark_stores::open(&address, clock)
                .err()
                .unwrap()
                .to_string(),
        );
    }
    for error in &errors {
        assert!(!error.contains(PASSWORD), "{error}");
    }
    assert!(errors[0].contains("connect"), "{errors:#?}");
    assert!(
        errors[1].contains("postgres://user:password@"),
        "{errors:#?}"
    );
    if errors.len() > 5 {
        assert!(
            errors[3].contains("password authentication failed"),
            "{errors:#?}"
        );
        assert!(errors[4].to_lowercase().contains("tls"), "{errors:#?}");
    }
}

/// The store waits without a runtime on the caller's thread, so that asynchronous callers neither panic nor hang.
#[test]
fn asynchronous_callers_are_answered() {
    let Some(server) = server("asynchronous callers", false) else {
        return;
    };
    let address = server.database("called");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Arc::new(PostgresStore::open(&address).unwrap());
        let first = store.append(&note("r", Expect::NoRun, None)).unwrap();
        assert_eq!(first, Appended::Done { first: 1, last: 1 });
        let other = Arc::clone(&store);
        let second = tokio::task::spawn_blocking(move || {
            other.append(&note("r", Expect::At(1), None)).unwrap()
        });
        assert_eq!(second.await.unwrap(), Appended::Done { first: 2, last: 2 });
        drop(store);
    });
}

/// What PostgreSQL can't keep is said, and the connection is as good as before.
#[test]
fn a_text_with_a_nul_is_refused() {
    let Some(server) = server("a text with a NUL", false) else {
        return;
    };
    let store = PostgresStore::open(&server.database("nul")).unwrap();
    let mut append = note("r", Expect::NoRun, None);
    append.summary.project = Some("a\0b".to_owned());
    let error = store.append(&append).unwrap_err();
    assert!(matches!(error, StoreError::Invalid { .. }), "{error}");
    // In JSON it is written in another way.
    append.summary.project = None;
    append.records[0].actor = Actor::new(Role::Agent).with_name("a\0b");
    store.append(&append).unwrap();
    let records = store.records(&append.run, 0, 10).unwrap();
    assert_eq!(records[0].actor, append.records[0].actor);
}

/// Leases go by the server's time, unless a clock is given.
#[test]
fn leases_go_by_the_time_of_the_server() {
    let Some(server) = server("the time of the server", false) else {
        return;
    };
    let address = server.database("leased");
    let store = PostgresStore::open(&address).unwrap();
    let run = "r".parse().unwrap();
    store.append(&note("r", Expect::NoRun, None)).unwrap();
    let first = store.lease(&run, "one", 3_000).unwrap();
    let busy = store.lease(&run, "two", 3_000).unwrap_err();
    assert!(
        matches!(&busy, StoreError::Busy { by, .. } if by == "one"),
        "{busy}"
    );
    let second = loop {
        match store.lease(&run, "two", 3_000) {
            Ok(lease) => break lease,
            Err(StoreError::Busy { .. }) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(second.fence.0, first.fence.0 + 1);
    let mut late = note("r", Expect::Any, None);
    late.fence = Some(first.fence);
    let error = store.append(&late).unwrap_err();
    assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
}

/// Sixteen writers of one run: each acknowledged append is there once, and nobody is told of a conflict.
#[test]
fn writers_of_one_run_take_turns() {
    let Some(server) = server("writers of one run", false) else {
        return;
    };
    let store = Arc::new(PostgresStore::open(&server.database("turns")).unwrap());
    store.append(&note("r", Expect::NoRun, None)).unwrap();
    let threads: Vec<_> = (0..16)
        .map(|writer| {
            let store = Arc::clone(&store);
            std::thread::spawn(move || {
                for number in 0..20 {
                    let key = format!("{writer}-{number}");
                    store.append(&note("r", Expect::Any, Some(&key))).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let head = store.head(&"r".parse().unwrap()).unwrap();
    assert_eq!(head.seq, 1 + 16 * 20);
}

/// How a run is made: by one append or by several, with a key or without, from another run or from nothing.
type Making = (
    &'static str,
    fn(&dyn Store, &str) -> Result<Appended, StoreError>,
);

const MAKINGS: &[Making] = &[
    ("plain", |store, run| {
        store.append(&note(run, Expect::NoRun, None))
    }),
    ("keyed", |store, run| {
        store.append(&note(run, Expect::NoRun, Some("k")))
    }),
    ("large", |store, run| {
        let mut append = note(run, Expect::NoRun, None);
        append.records[0].body = format!("\"{}\"", "x".repeat(overflow::LARGE));
        store.append(&append)
    }),
    ("fork", |store, run| {
        let append = note(run, Expect::NoRun, None);
        store.fork(&"parent".parse().unwrap(), 1, &append)
    }),
    ("several", |store, run| {
        let append = note(run, Expect::NoRun, None);
        let done = store.create(None, &[append.clone(), append]);
        done.map(|()| Appended::Done { first: 1, last: 2 })
    }),
];

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
    let send = |expect, key| stores[0].append(&note("parent", expect, key)).unwrap();
    send(Expect::NoRun, None);
    for (name, make) in MAKINGS {
        for round in 0..10 {
            let run = format!("{name}-{round}");
            let start = Barrier::new(stores.len());
            let answers: Vec<_> = std::thread::scope(|scope| {
                let (start, run) = (&start, &run);
                let make = |store| {
                    scope.spawn(move || {
                        start.wait();
                        make(store, run)
                    })
                };
                let threads: Vec<_> = stores.iter().map(|it| make(it)).collect();
                threads.into_iter().map(|it| it.join().unwrap()).collect()
            });
            let end = all(&stores[0], &run).len() as u64;
            let made = |it: &&_| matches!(it, Ok(Appended::Done { last, .. }) if *last == end);
            assert_eq!(answers.iter().filter(made).count(), 1, "{answers:?}");
            for answer in answers.iter().filter(|it| !made(it)) {
                let is_told = match answer {
                    Ok(Appended::Replayed { last, .. }) => *name == "keyed" && *last == end,
                    Err(StoreError::Conflict { actual }) => *name != "keyed" && *actual == end,
                    _ => false,
                };
                assert!(is_told, "{name}: {answer:?}");
            }
        }
    }
    // A client that asks again after others have asked.
    let done = Appended::Done { first: 2, last: 2 };
    assert_eq!(send(Expect::Any, Some("again")), done);
    send(Expect::Any, None);
    let replayed = Appended::Replayed { first: 2, last: 2 };
    assert_eq!(send(Expect::Any, Some("again")), replayed);
    server.has_logged_no_error();
}
