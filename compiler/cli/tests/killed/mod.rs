//! `statemark send` killed at any moment, by `kill -9`: what was acknowledged is in the journal, once, and the store is whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::keeping::{filled, said};
use crate::shell::statemark;

/// How long senders are killed.
const LONG: Duration = Duration::from_secs(4);

/// Senders at one time.
const SENDERS: u64 = 3;

#[test]
fn no_acknowledged_send_is_lost_when_senders_are_killed() {
    let scratch = filled("killed");
    said(&scratch, "statemark start door --run-id k1", 0);
    let told = AtomicU64::new(0);
    let sent: Vec<(String, bool)> = std::thread::scope(|scope| {
        let senders = (0..SENDERS).map(|number| {
            let (folder, told) = (&scratch.path, &told);
            scope.spawn(move || send_until_killed(folder, number, told))
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
    for key in &unanswered {
        let mut again = send(&scratch.path, key);
        assert!(matches!(again.wait().unwrap().code(), Some(0 | 1)));
    }
    let counts = journal(&scratch.path);
    assert!(
        sent.iter().all(|(key, _)| counts.get(key) == Some(&1)),
        "{counts:?}"
    );
    said(&scratch, "statemark store verify", 0);
    said(&scratch, "statemark replay k1", 0);
    println!(
        "{} sends, {} killed without an answer; {whole}",
        sent.len(),
        unanswered.len()
    );
    assert!(unanswered.len() >= 5 && sent.len() > unanswered.len());
}

/// Sends one event after the other, each under a key of its own, and kills some of them: the keys, and whether each was
/// acknowledged.
fn send_until_killed(folder: &Path, sender: u64, told: &AtomicU64) -> Vec<(String, bool)> {
    let mut sent = Vec::new();
    let begun = Instant::now();
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64 ^ sender;
    let mut usual = Duration::from_millis(40);
    while begun.elapsed() < LONG {
        let number = told.fetch_add(1, Ordering::Relaxed);
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
