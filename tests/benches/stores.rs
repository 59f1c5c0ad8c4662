//! What the SQLite store costs beside bare SQLite, and how it carries a long run.
//!
//! `cargo bench -p statemark-tests --bench stores` prints ratios and sizes; rates by themselves say more about the disk.
//! `stores long` writes a run of 100,000 records instead, and reads, forks and rewinds it. `stores bare FILE RUN COUNT`
//! commits to bare SQLite alone, `stores bare-postgres ADDRESS RUN COUNT` to bare PostgreSQL: so many for each line of the
//! input, and it prints the microseconds of each turn. `stores postgres` has a server, until its input ends. In a test build
//! each part runs briefly.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark prints, and stops where something is wrong, as a test does"
)]

#[path = "stores/bare.rs"]
mod bare;
#[path = "stores/long.rs"]
mod long;
#[path = "stores/postgres.rs"]
mod postgres;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use statemark_runs::{
    Actor, Append, Expect, Hash, NewRecord, Role, RunSummary, Store as _, SystemClock,
};
use statemark_stores::SqliteStore;

use bare::Bare;

/// Least part of bare SQLite's rate that the store must reach.
const LEAST: f64 = 0.8;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *words.as_slice() {
        ["bare", file, run, count] => {
            return write_bare(Path::new(file), run, count.parse().unwrap());
        }
        ["bare-postgres", address, run, count] => {
            return postgres::write_bare(address, run, count.parse().unwrap());
        }
        ["postgres"] => return postgres::serve(),
        _ => {}
    }
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stores-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    if std::env::args().any(|argument| argument == "long") {
        long::measure(&folder, 100_000);
    } else {
        rate(&folder, if is_bench { 40 } else { 6 });
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Commits to bare SQLite for each line of the input, and prints the microseconds.
///
/// The connection stays open, as a server's does: closing the last one removes the log, and a log that grows is slower.
fn write_bare(path: &Path, run: &str, count: u64) {
    drop(SqliteStore::open(path, SystemClock).unwrap());
    let bare = Bare::open(path);
    let lock = std::fs::File::create(path.with_extension("lock")).unwrap();
    let mut seq = 0;
    for _ in std::io::stdin().lines() {
        let appends: Vec<Append> = (seq..seq + count)
            .map(|seq| Append {
                run: run.parse().unwrap(),
                ..append(seq, seq)
            })
            .collect();
        seq += count;
        let begun = Instant::now();
        for append in &appends {
            // Who waits is woken by the kernel; SQLite would have it sleep and look again.
            lock.lock().unwrap();
            bare.append(append);
            lock.unlock().unwrap();
        }
        println!("{}", begun.elapsed().as_micros());
    }
}

/// An append as a small workflow makes it: one event under a key.
fn append(seq: u64, number: u64) -> Append {
    let body = format!(
        "{{\"event\":\"work\",\"data\":{{\"number\":{number}}},\"step\":{{\"exited\":[\"one\"],\"entered\":[\"two\"],\
         \"actions\":[],\"effects\":[],\"changed\":{{\"count\":{number}}},\"leaves\":[\"two\"]}}}}"
    );
    Append {
        run: "run".parse().unwrap(),
        expect: if seq == 0 {
            Expect::NoRun
        } else {
            Expect::At(seq)
        },
        key: Some((
            format!("key-{seq}").parse().unwrap(),
            Hash::digest(body.as_bytes()),
        )),
        fence: None,
        records: vec![NewRecord {
            time: 1_800_000_000_000 + seq,
            kind: "event".to_owned(),
            v: 1,
            actor: Actor::new(Role::Agent).with_name("ann"),
            body,
        }],
        summary: RunSummary {
            workflow: "order".to_owned(),
            status: "running".to_owned(),
            leaves: vec!["two".to_owned()],
            ..RunSummary::default()
        },
        timers: None,
    }
}

/// The store and bare SQLite in turns, because the disk is another one each second.
fn rate(folder: &Path, rounds: u32) {
    const TURN: u64 = 50;
    let path = |name: &str| -> PathBuf { folder.join(name) };
    let store = SqliteStore::open(&path("store.db"), SystemClock).unwrap();
    drop(SqliteStore::open(&path("bare.db"), SystemClock).unwrap());
    let bare = Bare::open(&path("bare.db"));
    let mut seq = 0;
    let mut ratios: Vec<f64> = Vec::new();
    let (mut by_store, mut by_bare) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..rounds {
        let appends: Vec<Append> = (seq..seq + TURN).map(|seq| append(seq, seq)).collect();
        let begun = Instant::now();
        for append in &appends {
            store.append(append).unwrap();
        }
        let one = begun.elapsed();
        let begun = Instant::now();
        for append in &appends {
            bare.append(append);
        }
        let other = begun.elapsed();
        ratios.push(other.as_secs_f64() / one.as_secs_f64());
        by_store += one;
        by_bare += other;
        seq += TURN;
    }
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.get(ratios.len() / 2).copied().unwrap();
    let per = |time: Duration| time.as_micros() / u128::from(seq);
    println!(
        "append: {} µs, bare SQLite {} µs; rate {middle:.2} of bare SQLite's (median of {rounds} turns)",
        per(by_store),
        per(by_bare)
    );
    assert!(middle >= LEAST, "less than {LEAST}: {ratios:?}");
}
