//! Power that fails.
//!
//! What a disk has been told to keep is what was synced. So two things are shown: nothing is acknowledged before its log
//! is synced, by watching the system calls; and of a log whose end was never synced, whatever became of that end, all
//! that was acknowledged is read, and nothing that wasn't written.

use std::fs;
use std::path::Path;
use std::process::Command;

use statemark_runs::{Expect, Record, Store as _};

use super::{Dice, Told, new_folder, open, process};
use crate::history::{Client, On};
use crate::stores::{all, begun, notes, run};

/// Appends, few enough that the log isn't emptied in between.
const COUNT: u64 = 60;

/// Writes a little, and its answers into its log.
pub(super) fn few(told: &Told) {
    let store = open(&told.folder);
    let mut client = Client::new(&store, &told.folder, &told.name);
    client.append(
        &run("a"),
        On {
            expected: Some(0),
            ..On::default()
        },
    );
    for _ in 1..COUNT {
        client.append(&run("a"), On::default());
    }
}

/// What the system calls of a process did to a file whose name ends so.
#[derive(PartialEq)]
enum Call {
    Wrote,
    Synced,
}

fn call(line: &str, name: &str) -> Option<Call> {
    let is_of_it = line.contains(&format!("{name}>"));
    let is = |call: &str| line.contains(&format!(" {call}(")) || line.starts_with(call);
    if !is_of_it || line.contains("= -1") {
        None
    } else if is("pwrite64") || is("write") {
        Some(Call::Wrote)
    } else {
        (is("fdatasync") || is("fsync")).then_some(Call::Synced)
    }
}

#[test]
fn nothing_is_acknowledged_before_it_is_synced() {
    let folder = new_folder();
    let trace = folder.join("trace");
    let part = process("few", &folder, "few");
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "-y",
        "-s",
        "16",
        "-e",
        "trace=pwrite64,write,fsync,fdatasync",
        "-o",
    ]);
    strace
        .arg(&trace)
        .arg(part.get_program())
        .args(part.get_args());
    for (name, value) in part.get_envs() {
        strace.env(name, value.unwrap());
    }
    match strace.output() {
        Ok(output) if output.status.success() => {}
        other => {
            println!("left out, because system calls can't be watched here: {other:?}");
            return;
        }
    }
    let text = fs::read_to_string(&trace).unwrap();
    let (mut answered, mut syncs, mut unsynced) = (0, 0, false);
    for line in text.lines() {
        match call(line, "runs.db-wal") {
            Some(Call::Wrote) => unsynced = true,
            Some(Call::Synced) => (syncs, unsynced) = (syncs + 1, false),
            None if call(line, "few.log") == Some(Call::Wrote) && line.contains("Answered") => {
                answered += 1;
                assert!(!unsynced && syncs > 0, "acknowledged before a sync: {line}");
                syncs = 0;
            }
            None => {}
        }
    }
    assert_eq!(answered, COUNT, "{text}");
}

/// What the disk has after the power failed: the database, a log, and the mark of a commit that was acknowledged.
///
/// The mark never leads: whatever became of the log behind that commit, the store is opened.
fn after_a_failure(folder: &Path, database: &[u8], log: &[u8], mark: &[u8]) -> Vec<Record> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("runs.db"), database).unwrap();
    fs::write(folder.join("runs.db-wal"), log).unwrap();
    fs::write(folder.join("runs.db-mark"), mark).unwrap();
    all(&open(folder), "a")
}

#[test]
fn what_was_synced_survives_whatever_became_of_the_rest() {
    let folder = new_folder();
    let store = open(&folder);
    begun(&store, "a", 1);
    let log = folder.join("runs.db-wal");
    // How long the log was when each append was acknowledged: so much is synced. And the mark of then.
    let (mut synced, mut marks) = (Vec::new(), Vec::new());
    for number in 1..COUNT {
        let append = notes("a", Expect::At(number), &["some text"]);
        store.append(&append).unwrap();
        synced.push(usize::try_from(fs::metadata(&log).unwrap().len()).unwrap());
        marks.push(fs::read(folder.join("runs.db-mark")).unwrap());
    }
    let (database, log) = (
        fs::read(folder.join("runs.db")).unwrap(),
        fs::read(&log).unwrap(),
    );
    assert!(synced.is_sorted() && synced.last() == Some(&log.len()));
    let whole = all(&store, "a");
    let copy = folder.join("after");
    let mut dice = Dice::of("power");
    let rounds = if super::is_long() { 2_000 } else { 100 };
    for round in 0..rounds {
        let which = usize::try_from(dice.below(synced.len() as u64)).unwrap();
        let safe = synced[which];
        let mut torn = log.clone();
        // What came after: cut off somewhere, and each sector of the rest old, new, or neither.
        let end = usize::try_from(dice.below((log.len() - safe) as u64 + 1)).unwrap();
        torn.truncate(safe + end);
        for sector in torn[safe..].chunks_mut(512) {
            match dice.below(8) {
                0 => sector.fill(0),
                1 => sector.iter_mut().for_each(|byte| *byte ^= 0x5a),
                _ => {}
            }
        }
        let left = after_a_failure(&copy, &database, &torn, &marks[which]);
        let acknowledged = which + 2;
        assert!(
            left.len() >= acknowledged,
            "round {round}: {} of {acknowledged}",
            left.len()
        );
        assert_eq!(left, whole[..left.len()], "round {round}");
    }
}

/// A log that lost what was acknowledged is told, at every length.
#[test]
fn a_log_that_is_too_short_is_told() {
    let folder = new_folder();
    let store = open(&folder);
    begun(&store, "a", 1);
    let log = folder.join("runs.db-wal");
    let before = fs::metadata(&log).unwrap().len();
    store
        .append(&notes("a", Expect::At(1), &["acknowledged"]))
        .unwrap();
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let (database, log, mark) = (
        read("runs.db"),
        fs::read(&log).unwrap(),
        read("runs.db-mark"),
    );
    let copy = folder.join("after");
    for length in (usize::try_from(before).unwrap()..log.len()).step_by(97) {
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir_all(&copy).unwrap();
        fs::write(copy.join("runs.db"), &database).unwrap();
        fs::write(copy.join("runs.db-wal"), &log[..length]).unwrap();
        fs::write(copy.join("runs.db-mark"), &mark).unwrap();
        let clock = statemark_runs::SystemClock;
        let opened = statemark_stores::SqliteStore::open(&copy.join("runs.db"), clock);
        let error = opened.err().map(|it| it.to_string());
        assert!(
            error.as_ref().is_some_and(|it| it.contains("lost records")),
            "{length} of {}: {error:?}",
            log.len()
        );
    }
}
