//! Faults that are planted into a history without any: each is found, and called what it is.

use statemark_runs::{Hash, Record, RunId};

use super::check::Rule;

use super::{Answer, Ask, Call, Client, Fault, History, On, check, read_log};
use crate::stores::{in_memory, sqlite::folder};

fn run(id: &str) -> RunId {
    id.parse().unwrap()
}

/// Three clients in turn, with leases, expectations, repetitions, reads and an answer that got lost.
fn sound() -> History {
    let (store, _) = in_memory();
    let folder = folder();
    std::fs::create_dir_all(&folder).unwrap();
    let mut clients: Vec<Client<'_>> = ["ann", "ben", "cleo"]
        .map(|name| Client::new(&*store, &folder, name))
        .into();
    let a = run("a");
    let on = On::default();
    let expected = |seq| On {
        expected: Some(seq),
        ..on
    };
    clients[0].append(&a, expected(0));
    clients[1].append(&a, On { count: 3, ..on });
    clients[2].read(&a);
    clients[0].append(&a, expected(4));
    clients[1].append(&a, expected(4));
    for (client, owner) in [(0, "ann"), (1, "ben")] {
        let lease = store.lease(&a, owner, 0).unwrap();
        let fence = Some(lease.fence.0);
        clients[client].append(&a, On { fence, ..on });
    }
    clients[0].append(
        &a,
        On {
            fence: Some(1),
            ..on
        },
    );
    let lost = "lost".parse().unwrap();
    clients[1].append_under(&a, &lost, on);
    clients[2].append_under(&a, &"lost".parse().unwrap(), on);
    clients[0].append(&a, on);
    clients[2].read(&a);
    clients[2].append(&run("b"), expected(0));
    clients[2].append(&run("b"), expected(1));
    let names = ["ann", "ben", "cleo"].map(|name| folder.join(format!("{name}.log")));
    let mut calls: Vec<Call> = names.iter().flat_map(|path| read_log(path)).collect();
    calls.sort_by_key(|call| call.start);
    let asked =
        |call: &&mut Call| matches!(&call.ask, Ask::Append { key, .. } if key.as_str() == "lost");
    calls.iter_mut().find(asked).unwrap().end = None;
    History::of(&*store, calls)
}

/// What is found after a change of the history, shown.
fn faults_after(plant: impl FnOnce(&mut History)) -> Vec<String> {
    let mut history = sound();
    plant(&mut history);
    check(&history).iter().map(Fault::to_string).collect()
}

/// Makes seqs and hashes right again: what a store would do that has lost its mind but not its manners.
fn rechained(journal: &mut [Record]) {
    let mut prev = Hash::ZERO;
    for (record, seq) in journal.iter_mut().zip(1..) {
        (record.seq, record.prev) = (seq, prev);
        prev = record.hash();
    }
}

fn journal(history: &mut History) -> &mut Vec<Record> {
    history.journals.get_mut(&run("a")).unwrap()
}

fn answer_of<'a>(history: &'a mut History, key: &str) -> &'a mut Answer {
    let is =
        |call: &&mut Call| matches!(&call.ask, Ask::Append { key: it, .. } if it.as_str() == key);
    let call = history.calls.iter_mut().find(is).unwrap();
    &mut call.end.as_mut().unwrap().1
}

#[test]
fn a_sound_history_has_no_fault() {
    let history = sound();
    assert_eq!(history.journals[&run("a")].len(), 9);
    assert_eq!(history.calls.len(), 14);
    assert_eq!(faults_after(|_| ()), [""; 0]);
}

#[test]
fn a_lost_append_is_found() {
    let lost = faults_after(|history| _ = journal(history).pop());
    assert_eq!(lost, ["Kept: run `a`, record 9", "Read: run `a`, record 9"]);
    let whole = faults_after(|history| _ = history.journals.remove(&run("b")));
    assert_eq!(
        whole,
        ["Kept: run `b`, record 1", "Kept: run `b`, record 2"]
    );
    // Of three records that were written together, one.
    let torn = faults_after(|history| {
        journal(history).remove(3);
        rechained(journal(history));
    });
    assert!(
        torn.contains(&"Once: run `a`, record 2".to_owned()),
        "{torn:?}"
    );
}

#[test]
fn a_lost_answer_may_have_been_written_or_not() {
    let unanswered = |history: &mut History| {
        let is_lost = |call: &&mut Call| {
            call.client == "ann" && matches!(call.end, Some((_, Answer::Done { first: 9, .. })))
        };
        history.calls.iter_mut().find(is_lost).unwrap().end = None;
    };
    assert_eq!(faults_after(unanswered), [""; 0]);
    let without = faults_after(|history| {
        unanswered(history);
        let last = history
            .calls
            .iter()
            .rposition(|call| call.client == "cleo" && call.ask == Ask::Read);
        history.calls.remove(last.unwrap());
        journal(history).pop();
    });
    assert_eq!(without, [""; 0]);
}

#[test]
fn a_doubled_append_is_found() {
    let doubled = faults_after(|history| {
        let again = journal(history)[0].clone();
        journal(history).push(again);
        rechained(journal(history));
    });
    assert_eq!(doubled, ["Once: run `a`, record 10"]);
    let beside = faults_after(|history| {
        let again = journal(history)[8].clone();
        journal(history).push(again);
        rechained(journal(history));
    });
    assert!(
        beside.contains(&"Once: run `a`, record 9".to_owned()),
        "{beside:?}"
    );
    // A repetition that was told to be the first time, too.
    let twice = faults_after(|history| {
        let cleo = history
            .calls
            .iter_mut()
            .find(|call| matches!(call.end, Some((_, Answer::Replayed { .. }))));
        cleo.unwrap().end.as_mut().unwrap().1 = Answer::Done { first: 8, last: 8 };
        let lost = |call: &&mut Call| call.end.is_none();
        let lost = history.calls.iter_mut().find(lost).unwrap();
        lost.end = Some((lost.start + 1, Answer::Done { first: 8, last: 8 }));
    });
    assert_eq!(twice, ["Once: run `a`, record 8"]);
}

#[test]
fn a_stale_fence_is_found() {
    // As if the holder that was fenced had written at the end.
    let stale = faults_after(|history| {
        *answer_of(history, "ann-4") = Answer::Done {
            first: 10,
            last: 10,
        };
        let mut late = journal(history)[8].clone();
        late.key = Some("ann-4".parse().unwrap());
        journal(history).push(late);
        rechained(journal(history));
    });
    assert!(
        stale.contains(&"Fenced: run `a`, record 10".to_owned()),
        "{stale:?}"
    );
}

#[test]
fn swapped_records_are_found() {
    let swapped = |history: &mut History| journal(history).swap(4, 5);
    let seqs = faults_after(swapped);
    assert!(
        seqs.contains(&"Dense: run `a`, record 5".to_owned()),
        "{seqs:?}"
    );
    // Even if they were written again with each other's places, and their clients were told so.
    let order = faults_after(|history| {
        journal(history).swap(5, 6);
        rechained(journal(history));
        *answer_of(history, "ann-3") = Answer::Done { first: 7, last: 7 };
        *answer_of(history, "ben-3") = Answer::Done { first: 6, last: 6 };
    });
    assert!(
        order.contains(&"RealTime: run `a`, record 6".to_owned()),
        "{order:?}"
    );
    assert!(
        order.contains(&"Fenced: run `a`, record 7".to_owned()),
        "{order:?}"
    );
}

#[test]
fn a_changed_byte_is_found() {
    let changed = faults_after(|history| {
        let body = &mut journal(history)[1].body;
        *body = body.replace("words", "wards");
    });
    assert_eq!(changed, ["Chained: run `a`, record 3"]);
    // In the last record nothing but a reader's hash tells.
    let last = faults_after(|history| journal(history)[8].time += 1);
    assert_eq!(last, ["Read: run `a`, record 9"]);
    let missing = faults_after(|history| _ = journal(history).remove(4));
    assert!(
        missing.contains(&"Dense: run `a`, record 5".to_owned()),
        "{missing:?}"
    );
}

#[test]
fn what_was_refused_and_is_there_is_found() {
    let refused = faults_after(|history| *answer_of(history, "ann-5") = Answer::Refused);
    assert_eq!(refused, ["Refused: run `a`, record 9"]);
    let stranger = faults_after(|history| {
        let mut stranger = journal(history)[0].clone();
        stranger.key = None;
        journal(history).push(stranger);
        rechained(journal(history));
    });
    assert_eq!(stranger, ["Refused: run `a`, record 10"]);
}

#[test]
fn a_wrong_comparison_is_found() {
    let set = |history: &mut History, name: &str, seq| {
        let is =
            |call: &&mut Call| matches!(&call.ask, Ask::Append { key, .. } if key.as_str() == name);
        let call = history.calls.iter_mut().find(is).unwrap();
        if let Ask::Append { expected, .. } = &mut call.ask {
            *expected = Some(seq);
        }
    };
    let made = faults_after(|history| set(history, "ann-2", 3));
    assert_eq!(made, ["Expected: run `a`, record 5"]);
    let refused = faults_after(|history| set(history, "ben-2", 5));
    assert_eq!(refused, ["Expected: run `a`, record 5"]);
}

#[test]
fn a_wrong_read_is_found() {
    let read = |history: &mut History, answer: Answer| {
        let is = |call: &&mut Call| call.ask == Ask::Read;
        let last = history.calls.iter_mut().rfind(is).unwrap();
        last.end.as_mut().unwrap().1 = answer;
    };
    let stale = faults_after(|history| {
        let hash = journal(history)[7].hash().to_string();
        read(history, Answer::Read { seq: 8, hash });
    });
    assert_eq!(stale, ["Read: run `a`, record 8"]);
    let of_nobody = faults_after(|history| {
        let hash = Hash::ZERO.to_string();
        read(history, Answer::Read { seq: 9, hash });
    });
    assert_eq!(of_nobody, ["Read: run `a`, record 9"]);
    let none = faults_after(|history| {
        let hash = Hash::ZERO.to_string();
        read(history, Answer::Read { seq: 0, hash });
    });
    assert_eq!(none, ["Read: run `a`, record 0"]);
}

#[test]
fn every_rule_finds_something() {
    // The tests above name each; a new rule shall not be forgotten.
    let text = include_str!("planted.rs");
    let rules = [
        Rule::Dense,
        Rule::Chained,
        Rule::Kept,
        Rule::Once,
        Rule::Refused,
        Rule::RealTime,
        Rule::Expected,
        Rule::Fenced,
        Rule::Read,
    ];
    for rule in rules {
        assert!(text.contains(&format!("{rule:?}: run")), "{rule:?}");
    }
}
