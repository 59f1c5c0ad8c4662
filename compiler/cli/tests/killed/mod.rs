//! `statemark send` killed at any moment, by `kill -9`: what was acknowledged is in the journal, once, and the store is whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::keeping::{filled, said};
use crate::shell::statemark;

/// How many senders are killed before the test ends.
const KILLS: u64 = 200;

/// The longest time for it. Why: a machine that can't start a program in a second says nothing about stores.
const LONG: Duration = Duration::from_secs(300);

/// Senders at one time.
const SENDERS: u64 = 3;

/// How many of the sends that got no answer are asked again. Why: each starts a program twice.
const ASKED_AGAIN: usize = 40;

/// What the senders share: how many sends there have been, and how many of them were killed without an answer.
#[derive(Default)]
struct Counts {
    sent: AtomicU64,
    killed: AtomicU64,
}

#[test]
fn no_acknowledged_send_is_lost_when_senders_are_killed() {
    let scratch = filled("killed");
    said(&scratch, "statemark start door --run-id k1", 0);
    let shared = Counts::default();
    let sent: Vec<(String, bool)> = std::thread::scope(|scope| {
        let senders = (0..SENDERS).map(|number| {
            let (folder, shared) = (&scratch.path, &shared);
            scope.spawn(move || send_until_killed(folder, number, shared))
        });
        let senders: Vec<_> = senders.collect();
        senders
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    });
    let whole = said(&scratch, "statemark store verify", 0).stdout;
    let counts = journal(&scratch.path);
    let lost = sent
        .iter()
        .filter(|(key, acknowledged)| *acknowledged && counts.get(key) != Some(&1));
    assert_eq!(lost.count(), 0, "{counts:?}");
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    // Who got no answer asks again, and whatever came of it is there once.
    let unanswered: Vec<&String> = sent.iter().filter(|it| !it.1).map(|it| &it.0).collect();
    let again = unanswered.len().div_ceil(ASKED_AGAIN).max(1);
    let again: Vec<&&String> = unanswered.iter().step_by(again).collect();
    for key in &again {
        let mut again = send(&scratch.path, key);
        assert!(matches!(again.wait().unwrap().code(), Some(0 | 1)));
    }
    let counts = journal(&scratch.path);
    let mut answered = sent
        .iter()
        .filter(|it| it.1)
        .map(|it| &it.0)
        .chain(again.into_iter().copied());
    assert!(
        answered.all(|key| counts.get(key) == Some(&1)) && counts.values().all(|it| *it == 1),
        "{counts:?}"
    );
    said(&scratch, "statemark store verify", 0);
    said(&scratch, "statemark replay k1", 0);
    println!(
        "{} sends, {} killed without an answer; {whole}",
        sent.len(),
        unanswered.len()
    );
    let kills = u64::try_from(unanswered.len()).unwrap();
    assert!(kills >= KILLS && sent.len() > unanswered.len());
}

/// Sends one event after the other, each under a key of its own, and kills most of them: the keys, and whether each was
/// acknowledged.
fn send_until_killed(folder: &Path, sender: u64, shared: &Counts) -> Vec<(String, bool)> {
    let mut sent = Vec::new();
    let begun = Instant::now();
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64 ^ sender;
    let mut usual = Duration::from_millis(40);
    while shared.killed.load(Ordering::Relaxed) < KILLS && begun.elapsed() < LONG {
        let number = shared.sent.fetch_add(1, Ordering::Relaxed);
        let key = format!("s{sender}-{number}");
        let since = Instant::now();
        let mut child = send(folder, &key);
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        // One in three lives; the others are killed somewhere between their birth and a little behind their end.
        if !dice.is_multiple_of(3) {
            let most = usual.as_micros().max(1);
            let after = u64::try_from(u128::from(dice >> 3) % (most * 5 / 4)).unwrap();
            std::thread::sleep(Duration::from_micros(after));
            let _ = child.kill();
        }
        let ended = child.wait().unwrap();
        if ended.code().is_some() {
            usual = (usual + since.elapsed()) / 2;
        } else {
            shared.killed.fetch_add(1, Ordering::Relaxed);
        }
        // Refused is an answer, too: the door was open already.
        sent.push((key, matches!(ended.code(), Some(0 | 1))));
    }
    sent
}

fn send(folder: &Path, key: &str) -> Child {
    let mut command = statemark(folder);
    command
        .args(["send", "k1", "push", "--key", key])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// How many records there are under each key.
fn journal(folder: &Path) -> BTreeMap<String, usize> {
    let events = statemark(folder)
        .args(["events", "k1", "--json"])
        .output()
        .unwrap();
    assert!(events.status.success());
    let mut counts = BTreeMap::new();
    for line in String::from_utf8(events.stdout).unwrap().lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(key) = record["key"].as_str() {
            *counts.entry(key.to_owned()).or_default() += 1;
        }
    }
    counts
}
