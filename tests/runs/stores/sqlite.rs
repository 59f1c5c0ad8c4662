//! The store in an SQLite file: what all stores promise, and what only it does.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Once};
use std::time::Duration;

use rusqlite::Connection;
use statemark_runs::{
    Appended, Expect, Hash, ManualClock, Query, REQUESTS_MARK, Store, StoreError,
};
use statemark_stores::SqliteStore;

use super::random::behaves_like_memory;
use super::{Made, all, begun, keeps_its_promises, notes, run, texts};
use crate::harness::BEGIN;

/// A folder that no other test has, and that isn't there yet.
pub(crate) fn folder() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static SWEPT: Once = Once::new();
    let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
    SWEPT.call_once(|| sweep(all));
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    all.join(format!("runs-{}-{number}", std::process::id()))
}

/// Removes what tests have left an hour ago. Not at the end of each: whoever looks into a failure needs it.
fn sweep(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with("runs-");
        let changed = entry.metadata().and_then(|it| it.modified()).ok();
        let age = changed.and_then(|it| it.elapsed().ok());
        if is_ours && age.is_some_and(|age| age > Duration::from_secs(3_600)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A store in that file.
pub(crate) fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, Arc::new(ManualClock::new(BEGIN)))
}

/// An empty store in a file.
pub(crate) fn in_a_file() -> Made {
    let clock = Arc::new(ManualClock::new(BEGIN));
    let path = folder().join("runs.db");
    let store = SqliteStore::open(&path, Arc::clone(&clock)).unwrap();
    (Arc::new(store), clock)
}

#[test]
fn sqlite_keeps_its_promises() {
    keeps_its_promises(in_a_file);
}

#[test]
fn sqlite_behaves_like_memory() {
    behaves_like_memory(48, in_a_file);
}

#[test]
fn what_was_written_is_there_when_it_is_opened_again() {
    let path = folder().join("runs.db");
    let store = open(&path).unwrap();
    begun(&store, "a", 2);
    let hash = store.put_blob(b"blob").unwrap();
    drop(store);
    let store = open(&path).unwrap();
    let other = open(&path).unwrap();
    assert_eq!(texts(&store, "a"), ["1", "2"]);
    assert_eq!(store.blob(&hash).unwrap(), b"blob");
    // And what one has written the other sees at once.
    other.append(&notes("a", Expect::At(2), &["3"])).unwrap();
    assert_eq!(texts(&store, "a"), ["1", "2", "3"]);
    let (mark, _) = store.changes(&Default::default()).unwrap();
    assert_eq!(store.changes(&mark).unwrap().1, []);
    other.append(&notes("a", Expect::At(3), &["4"])).unwrap();
    assert_eq!(store.changes(&mark).unwrap().1[0].seq, 4);
}

#[cfg(unix)]
#[test]
fn only_its_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder();
    let path = folder.join(".statemark").join("runs.db");
    let store = open(&path).unwrap();
    begun(&store, "a", 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let mut files: Vec<(String, u32)> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                mode(&entry.path()),
            )
        })
        .collect();
    files.sort();
    let names = [
        "runs.db",
        "runs.db-lock",
        "runs.db-mark",
        "runs.db-shm",
        "runs.db-wal",
    ];
    assert_eq!(files, names.map(|name| (name.to_owned(), 0o600)));
}

#[test]
fn what_is_no_store_is_left_alone() {
    let folder = folder();
    fs::create_dir_all(&folder).unwrap();
    let refused = |path: &Path| {
        let before = fs::read(path).unwrap();
        let error = open(path).err().unwrap();
        assert_eq!(fs::read(path).unwrap(), before);
        error.to_string()
    };
    let text = folder.join("text");
    fs::write(
        &text,
        "not a database, but a text that is long enough to be one".repeat(20),
    )
    .unwrap();
    assert_eq!(
        refused(&text),
        "the store is damaged: file is not a database"
    );
    let other = folder.join("other.db");
    let connection = Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE mine (x)").unwrap();
    drop(connection);
    let reason = "opening the store: the file is another program's database";
    assert_eq!(refused(&other), reason);
    let newer = folder.join("newer.db");
    drop(open(&newer).unwrap());
    let connection = Connection::open(&newer).unwrap();
    connection.execute_batch("PRAGMA user_version = 7").unwrap();
    drop(connection);
    let reason = "a newer version has written this store (schema 7; this version knows 5)";
    assert_eq!(refused(&newer), reason);
    let error = open(&folder).err().unwrap().to_string();
    assert!(error.starts_with("opening the store: `"), "{error}");
}

#[test]
fn a_wait_that_is_too_long_names_the_holder() {
    let path = folder().join("runs.db");
    let store = open(&path)
        .unwrap()
        .with_patience(Duration::from_millis(50));
    begun(&store, "a", 1);
    let mut door = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path.with_file_name("runs.db-lock"))
        .unwrap();
    door.lock().unwrap();
    door.write_all(b"4711      \n").unwrap();
    let busy = store.append(&notes("a", Expect::Any, &["x"]));
    let error = busy.unwrap_err().to_string();
    assert_eq!(error, "the store is busy: pid 4711 holds it");
    // Readers aren't kept out.
    assert_eq!(texts(&store, "a"), ["1"]);
    door.unlock().unwrap();
    // Nor is anybody by the one who went away.
    for _ in 0..3 {
        store.append(&notes("a", Expect::Any, &["y"])).unwrap();
        open(&path)
            .unwrap()
            .append(&notes("a", Expect::Any, &["z"]))
            .unwrap();
    }
}

#[test]
fn of_fifty_connections_with_one_expectation_one_wins() {
    let path = folder().join("runs.db");
    begun(&open(&path).unwrap(), "a", 1);
    let barrier = Barrier::new(50);
    let approve = || {
        let store = open(&path).unwrap();
        barrier.wait();
        store.append(&notes("a", Expect::At(1), &["approved"]))
    };
    let answers: Vec<Result<Appended, StoreError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..50).map(|_| scope.spawn(approve)).collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let won = answers.iter().filter(|answer| answer.is_ok()).count();
    let is_conflict =
        |it: &&Result<_, StoreError>| matches!(it, Err(StoreError::Conflict { actual: 2 }));
    assert_eq!((won, answers.iter().filter(is_conflict).count()), (1, 49));
    assert_eq!(texts(&open(&path).unwrap(), "a"), ["1", "approved"]);
}

#[test]
fn a_damaged_row_is_noticed() {
    let path = folder().join("runs.db");
    let store = open(&path).unwrap();
    begun(&store, "a", 5);
    let hash = store.put_blob(b"blob").unwrap();
    let connection = Connection::open(&path).unwrap();
    let damaged = |sql: &str| {
        connection.execute_batch(sql).unwrap();
        match store.records(&run("a"), 0, 10) {
            Err(error) => error.to_string(),
            Ok(records) => {
                let mut prev = Hash::ZERO;
                let broken = records.iter().find(|record| {
                    let is_chained = record.prev == prev;
                    prev = record.hash();
                    !is_chained
                });
                format!("the chain breaks before {:?}", broken.map(|it| it.seq))
            }
        }
    };
    assert_eq!(
        damaged("UPDATE records SET body = '{\"text\":\"9\"}' WHERE seq = 2"),
        "the chain breaks before Some(3)"
    );
    assert_eq!(
        damaged("DELETE FROM records WHERE seq = 4"),
        "the store is damaged in run `a` at record 4: the record is missing"
    );
    assert_eq!(
        damaged("UPDATE records SET role = 'king' WHERE seq = 2"),
        "the store is damaged: no role is `king`"
    );
    connection
        .execute_batch("UPDATE blobs SET bytes = x'00'")
        .unwrap();
    assert!(matches!(store.blob(&hash), Err(StoreError::Corrupt { .. })));
    let circle = "UPDATE runs SET forked_run = 'a', forked_seq = 5";
    assert_eq!(
        damaged(circle),
        "the store is damaged in run `a`: its forks lead in a circle"
    );
}

#[test]
fn what_no_writer_leaves_is_found() {
    let path = folder().join("runs.db");
    let store = open(&path).unwrap();
    begun(&store, "a", 5);
    begun(&store, "b", 5);
    store.lease(&run("a"), "me", 60_000).unwrap();
    assert_eq!(store.table_damage().unwrap(), Vec::<String>::new());
    let connection = Connection::open(&path).unwrap();
    for (change, back, found) in [
        (
            "UPDATE runs SET fence = -1 WHERE run = 'a'",
            "UPDATE runs SET fence = 1 WHERE run = 'a'",
            "run `a` has a fence that no lease had",
        ),
        (
            "UPDATE runs SET lease_until = 5 WHERE run = 'b'",
            "UPDATE runs SET lease_until = 0 WHERE run = 'b'",
            "run `b` has a lease of nobody",
        ),
        (
            "UPDATE runs SET version = 99 WHERE run = 'b'",
            "UPDATE runs SET version = 2 WHERE run = 'b'",
            "run `b` has changed at a time that is still to come",
        ),
        (
            "UPDATE counts SET value = 9223372036854775807 WHERE name = 'version'",
            "UPDATE counts SET value = 2 WHERE name = 'version'",
            "the count `version` is one that nobody counts to",
        ),
    ] {
        connection.execute_batch(change).unwrap();
        assert_eq!(store.table_damage().unwrap(), [found]);
        connection.execute_batch(back).unwrap();
        assert_eq!(store.table_damage().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_fork_reads_what_was_written_by_others() {
    let path = folder().join("runs.db");
    let (store, other) = (open(&path).unwrap(), open(&path).unwrap());
    begun(&store, "a", 3);
    other
        .fork(&run("a"), 2, &notes("b", Expect::NoRun, &["x"]))
        .unwrap();
    assert_eq!(all(&store, "b").len(), 3);
}

/// A file as the versions before made it: the indexes of lists and the states that are kept beside the newest are made.
#[test]
fn an_older_file_is_brought_up_to_date() {
    let path = folder().join("runs.db");
    let store = open(&path).unwrap();
    begun(&store, "a", 3);
    let mut asks = notes("b", Expect::NoRun, &["x"]);
    asks.summary.requests = vec!["b:1".to_owned()];
    store.append(&asks).unwrap();
    store.put_fold_cache(&run("a"), 1, b"one").unwrap();
    drop(store);
    let older = "DROP INDEX runs_by_workflow; DROP INDEX runs_by_request; DROP TABLE older_folds;
        PRAGMA user_version = 2;";
    Connection::open(&path)
        .unwrap()
        .execute_batch(older)
        .unwrap();
    let store = open(&path).unwrap();
    let query = Query {
        has_requests: true,
        workflow: Some("order".to_owned()),
        ..Query::default()
    };
    assert_eq!(store.list(&query).unwrap().heads[0].run, run("b"));
    store.put_fold_cache(&run("a"), 2, b"two").unwrap();
    for (seq, bytes) in [(1, b"one"), (2, b"two")] {
        let fold = store.fold_cache(&run("a"), seq).unwrap();
        assert_eq!(fold, Some((seq, bytes.to_vec())));
    }
    assert_eq!(texts(&store, "a"), ["1", "2", "3"]);
}

/// However many runs a list leaves out, it doesn't read them: the plans name the indexes.
#[test]
fn lists_read_what_they_show() {
    let path = folder().join("runs.db");
    drop(open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    let order = "ORDER BY updated DESC, run DESC LIMIT 3";
    let asks = format!("instr(summary, '{REQUESTS_MARK}') > 0");
    for (conditions, index) in [
        (
            "status IN ('waiting')".to_owned(),
            "runs_by_status (status=?)",
        ),
        (
            "status = 'waiting' AND workflow = 'order'".to_owned(),
            "runs_by_workflow (workflow=? AND status=?)",
        ),
        (
            "status = 'waiting' AND workflow = 'order' AND (updated, run) < (4, 'r')".to_owned(),
            "runs_by_workflow (workflow=? AND status=? AND (updated,run)<(?,?))",
        ),
        (asks.clone(), "runs_by_request"),
        (
            format!("+status IN ('waiting', 'paused') AND +workflow = 'order' AND {asks}"),
            "runs_by_request",
        ),
    ] {
        let sql = format!("EXPLAIN QUERY PLAN SELECT summary FROM runs WHERE {conditions} {order}");
        let mut plan = connection.prepare(&sql).unwrap();
        let plan = plan.query_map([], |row| row.get::<_, String>(3)).unwrap();
        let plan: Vec<String> = plan.map(Result::unwrap).collect();
        assert!(plan.len() == 1 && plan[0].ends_with(index), "{plan:?}");
    }
}
