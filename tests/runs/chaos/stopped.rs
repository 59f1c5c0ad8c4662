//! Processes that stand still for a while: one with a lease, and one in the middle of writing.
#![cfg(unix)]

use std::process::{Child, Command};
use std::time::Duration;

use statemark_runs::{RunId, Store as _, StoreError};

use super::killed::read_logs;
use super::{Told, begin, hear, new_folder, notify, open, process};
use crate::history::{Answer, Client, History, On, check, read_log};

/// How long the lease is. Unit: milliseconds. It is longer than what happens in it takes on any machine.
const LEASE: u64 = 4_000;

fn run() -> RunId {
    "r".parse().unwrap()
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([name, &id]).status().unwrap();
    assert!(sent.success());
}

/// Takes a lease, writes under it, stands still when it is told, and writes as if nothing had happened.
pub(super) fn hold(told: &Told) {
    let store = open(&told.folder);
    let mut client = Client::new(&store, &told.folder, &told.name);
    let lease = store.lease(&run(), &told.name, LEASE).unwrap();
    let on = On {
        fence: Some(lease.fence.0),
        ..On::default()
    };
    client.append(&run(), on);
    notify(&told.folder, "leased");
    hear(&told.folder, "go on");
    client.append(&run(), on);
}

#[test]
fn who_was_stopped_and_goes_on_is_fenced() {
    let folder = new_folder();
    let store = open(&folder);
    let mut client = Client::new(&store, &folder, "us");
    client.append(
        &run(),
        On {
            expected: Some(0),
            ..On::default()
        },
    );
    let mut child = begin(process("holder", &folder, "holder"));
    hear(&folder, "leased");
    signal(&child, "-STOP");
    let held = store.lease(&run(), "us", LEASE);
    assert!(matches!(held, Err(StoreError::Busy { by, .. }) if by == "holder"));
    let fence = loop {
        match store.lease(&run(), "us", LEASE) {
            Ok(lease) => break Some(lease.fence.0),
            Err(StoreError::Busy { .. }) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => panic!("{error}"),
        }
    };
    let done = client.append(
        &run(),
        On {
            fence,
            ..On::default()
        },
    );
    assert_eq!(done, Answer::Done { first: 3, last: 3 });
    notify(&folder, "go on");
    signal(&child, "-CONT");
    assert!(child.wait().unwrap().success());
    let mut calls = read_log(&folder.join("holder.log"));
    let last = calls.last().unwrap().end.clone().unwrap();
    assert_eq!(last.1, Answer::Fenced { newest: 2 });
    calls.extend(read_log(&folder.join("us.log")));
    assert_eq!(check(&History::of(&store, calls)), []);
}

#[test]
fn who_stands_in_the_door_is_named() {
    let folder = new_folder();
    let patient = open(&folder);
    let store = open(&folder).with_patience(Duration::from_millis(100));
    let mut client = Client::new(&patient, &folder, "us");
    client.append(
        &run(),
        On {
            expected: Some(0),
            ..On::default()
        },
    );
    notify(&folder, "go");
    let mut child = begin(process("writer", &folder, "writer"));
    // It writes nearly always: a moment at which it does is soon found. It may stand between taking the lock and signing.
    let expected = format!("the store is busy: pid {} holds it", child.id());
    let named = (0..500).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        signal(&child, "-STOP");
        let answer = store.put_fold_cache(&run(), 1, b"x");
        signal(&child, "-CONT");
        answer.err().filter(|error| error.to_string() == expected)
    });
    assert!(named.is_some());
    // Nobody is kept out for good, neither by it nor by the one who gave up.
    for _ in 0..5 {
        assert!(matches!(
            client.append(&run(), On::default()),
            Answer::Done { .. }
        ));
        store.put_fold_cache(&run(), 1, b"y").unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut calls = read_logs(&folder, "writer");
    calls.extend(read_log(&folder.join("us.log")));
    assert_eq!(check(&History::of(&patient, calls)), []);
}
