//! A damaged store is noticed, and where.

use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, params};
use statemark_runs::maintenance::{ignore_progress, verify};
use statemark_runs::{Expect, ManualClock, Store};
use statemark_stores::SqliteStore;

use super::filled;
use crate::harness::BEGIN;
use crate::stores::sqlite::folder;
use crate::stores::{in_memory, notes};

/// What a record is stored in; `run` and `seq` are where.
const COLUMNS: [&str; 9] = [
    "time", "kind", "v", "role", "name", "session", "key", "body", "prev",
];

#[test]
fn a_whole_store_is_found_whole() {
    let store = filled(in_memory());
    let verified = verify(&*store, None, &mut ignore_progress).unwrap();
    assert_eq!(
        verified.to_string(),
        "whole: 3 runs, 11 records, 1 blob",
        "the fork has three of its four records from another run"
    );
}

/// A body that lies beside the journal is part of its record.
#[test]
fn a_large_body_that_is_lost_is_found_with_its_run_and_seq() {
    let path = folder().join("runs.db");
    let clock = Arc::new(ManualClock::new(BEGIN));
    let store = SqliteStore::open(&path, Arc::clone(&clock)).unwrap();
    let large = "x".repeat(300_000);
    store
        .append(&notes("a", Expect::NoRun, &["1", &large, "3"]))
        .unwrap();
    let file = Connection::open(&path).unwrap();
    let row: String = file
        .query_row("SELECT body FROM records WHERE seq = 2", [], |row| {
            row.get(0)
        })
        .unwrap();
    let hash = statemark_runs::Hash::digest(format!("{{\"text\":\"{large}\"}}").as_bytes());
    assert_eq!(row, format!("@blob {hash} 300011"));
    let found = || {
        let verified = verify(&store, None, &mut ignore_progress).unwrap();
        let differences = verified.differences.iter().map(ToString::to_string);
        differences.collect::<Vec<_>>()
    };
    let wrong =
        format!("run `a` at record 2: its body, blob {hash}, is missing or has other bytes");
    file.execute_batch("UPDATE blobs SET bytes = x'7b7d'")
        .unwrap();
    assert_eq!(found().first(), Some(&wrong));
    file.execute_batch("DELETE FROM blobs").unwrap();
    assert_eq!(found().first(), Some(&wrong));
}

/// Every byte of every record, one after the other, with a bit of it flipped.
#[test]
fn a_flipped_byte_is_found_with_its_run_and_seq() {
    let path = folder().join("runs.db");
    let clock = Arc::new(ManualClock::new(BEGIN));
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path, Arc::clone(&clock)).unwrap());
    let store = filled((store, clock));
    assert!(
        verify(&*store, None, &mut ignore_progress)
            .unwrap()
            .differences
            .is_empty()
    );
    let file = Connection::open(&path).unwrap();
    file.execute_batch("PRAGMA synchronous = OFF").unwrap();
    let mut flipped = 0;
    for (run, last) in [("done", 5_i64), ("open", 2)] {
        let run = run.parse().unwrap();
        for seq in 1..=last {
            for column in COLUMNS {
                let place = params![statemark_runs::RunId::as_str(&run), seq];
                let sql = format!("SELECT {column} FROM records WHERE run = ?1 AND seq = ?2");
                let whole: Value = file.query_row(&sql, place, |row| row.get(0)).unwrap();
                for (number, damaged) in flips(&whole).into_iter().enumerate() {
                    let as_text = if matches!(whole, Value::Text(_)) {
                        "CAST(?3 AS TEXT)"
                    } else {
                        "?3"
                    };
                    let sql = format!(
                        "UPDATE records SET {column} = {as_text} WHERE run = ?1 AND seq = ?2"
                    );
                    let run_text = statemark_runs::RunId::as_str(&run);
                    file.execute(&sql, params![run_text, seq, damaged]).unwrap();
                    let verified = verify(&*store, Some(&run), &mut ignore_progress).unwrap();
                    let first = verified.differences.first();
                    let first = first.map(|it| (it.run.as_str(), it.seq));
                    assert_eq!(
                        first,
                        Some((run_text, Some(seq.unsigned_abs()))),
                        "{column} of record {seq}, byte {number}: {verified}"
                    );
                    let sql =
                        format!("UPDATE records SET {column} = ?3 WHERE run = ?1 AND seq = ?2");
                    file.execute(&sql, params![run_text, seq, whole]).unwrap();
                    flipped += 1;
                }
            }
        }
    }
    assert!(flipped > 1_000, "{flipped}");
    assert!(
        verify(&*store, None, &mut ignore_progress)
            .unwrap()
            .differences
            .is_empty()
    );
}

/// The value with one bit of each of its bytes flipped, as bytes if it was a text.
fn flips(value: &Value) -> Vec<Value> {
    let bytes = match value {
        Value::Null => return Vec::new(),
        Value::Integer(number) => {
            // The sign isn't among them: no time is below zero.
            return (0..62)
                .step_by(8)
                .map(|bit| Value::Integer(number ^ (1 << bit)))
                .collect();
        }
        Value::Text(text) => text.clone().into_bytes(),
        Value::Blob(bytes) => bytes.clone(),
        Value::Real(_) => panic!("a table without such numbers"),
    };
    let flip = |at: usize| {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        Value::Blob(damaged)
    };
    (0..bytes.len()).map(flip).collect()
}

/// What else can be wrong, each in a word.
#[test]
fn what_else_is_damaged_is_said() {
    let cases = [
        (
            "DELETE FROM records WHERE run = 'open' AND seq = 2",
            "run `open` at record 2: the record is missing",
        ),
        (
            "DELETE FROM records WHERE run = 'done' AND seq = 4",
            "run `done` at record 4: the record is missing",
        ),
        (
            "UPDATE runs SET hash = zeroblob(32) WHERE run = 'open'",
            "run `open` at record 2: it isn't the record that the run ends with",
        ),
        (
            "UPDATE folds SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"retries\":1', '\"retries\":9') AS BLOB) \
             WHERE run = 'open'",
            "run `open` at record 2: its fold cache isn't what the records say",
        ),
        (
            "UPDATE runs SET summary = replace(summary, 'build', 'plan') WHERE run = 'open'",
            "run `open`: its summary in lists isn't what its records say",
        ),
        (
            "DELETE FROM keys WHERE run = 'open' AND key = 'key 1'",
            "run `open` at record 2: its key `key 1` isn't known",
        ),
        (
            "UPDATE blobs SET bytes = CAST('x' AS BLOB)",
            "run `done` at record 1: ",
        ),
        (
            "DELETE FROM blobs",
            "run `done` at record 1: there is no blob",
        ),
        (
            "DELETE FROM runs WHERE run = 'done'",
            "run `fork`: there is no run `done`",
        ),
    ];
    for (damage, expected) in cases {
        let path = folder().join("runs.db");
        let clock = Arc::new(ManualClock::new(BEGIN));
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path, Arc::clone(&clock)).unwrap());
        let store = filled((store, clock));
        let file = Connection::open(&path).unwrap();
        assert!(file.execute(damage, []).unwrap() > 0, "{damage}");
        let verified = verify(&*store, None, &mut ignore_progress).unwrap();
        let all: Vec<String> = verified
            .differences
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(
            all.iter().any(|it| it.starts_with(expected)),
            "{damage}: {all:#?}"
        );
    }
}
