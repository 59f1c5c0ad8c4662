//! Journals that nobody of ours has written: no panic, no hang, and the fold that goes on is the fold from the beginning.
//!
//! `tests/fuzz` does the same with a fuzzer; `STATEMARK_FUZZ_INPUTS` sets how many journals are tried here.

mod exercise;

use statemark_runs::reconcile_children;
use std::fs;

use statemark_harness::{is_update, root};
use statemark_runs::NewRecord;
use statemark_runs::maintenance::{export, ignore_progress};

use self::exercise::Seed;
use crate::chaos::Dice;
use crate::harness::Bench;
use crate::script::answer;
use crate::sequences::SPECS;

/// What is done to the runs before somebody else has written in their journals.
const DONE: &[&str] = &[
    "start",
    "send go {\"n\": 1}",
    "used Edit {\"call\": \"1\"}",
    "reserve Edit {\"call\": \"2\"}",
    "open select {\"prompt\": \"Which?\", \"choices\": [\"a\", \"b\"], \"expires_in\": 7000}",
    "as ann answer r:5 \"a\"",
    "send tick",
    "send ask",
    "as ann approve r:8 fine",
    "effect r:2:1 intended",
    "effect r:2:1 succeeded",
    "wait 6s",
    "put plan \"A plan.\"",
    "finalize plan",
    "report all write running ::T1 {\"n\": 1}",
    "report all write waiting ::T1",
    "pause for lunch",
    "continue",
    "report all write running {\"n\": 2}",
    "used Edit {\"files\": [\"db/a.sql\"]}",
    "send done_with_it",
    "send nothing",
    "keyed k sub",
    "look",
    "@r/test/1 send ok",
    "@r/test/1 as ann approve r/test/1:2",
    "look",
    "send go",
    "as ann force told",
    "send go",
    "as ann rewind 28",
    "@f as ann fork r 10",
    "@f send go",
    "@f as ann cancel",
    "send ask",
    "open approval {\"prompt\": \"May I?\", \"expires_in\": 9000}",
    "as ann deny r:32 no",
    "open review {\"prompt\": \"Fine?\"}",
    "as ann send_back r:36 redo",
    "send sub",
    "look",
    "send back",
];

/// The same runs each time, as they are exported.
fn lines() -> String {
    let bench = Bench::new(&SPECS);
    for line in DONE {
        let said = answer(&bench, line);
        if std::env::var_os("SHOW").is_some() {
            println!("> {line}\n{said}");
        }
    }
    let mut lines = Vec::new();
    export(bench.runs.store(), None, &mut lines, &mut ignore_progress).unwrap();
    String::from_utf8(lines).unwrap()
}

/// The fuzzer begins with them, too.
#[test]
fn the_journals_to_begin_with_are_as_they_were() {
    let path = root().join("tests/runs/hostile/journals.jsonl");
    let lines = lines();
    if is_update() {
        fs::write(&path, &lines).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == lines,
        "`UPDATE=1` writes them anew"
    );
}

#[test]
fn whatever_a_journal_says_is_survived() {
    let inputs: u64 = std::env::var("STATEMARK_FUZZ_INPUTS")
        .map_or(300, |text| text.parse().expect("a number of inputs"));
    let seed = Seed::new(lines().as_bytes());
    let mut read = 0_u64;
    for input in 0..inputs {
        let mut dice = Dice::of(&format!("journal {input}"));
        let noise: Vec<u8> = std::iter::repeat_with(|| dice.below(256).to_le_bytes()[0])
            .take(100)
            .collect();
        read += u64::from(seed.exercise(&noise));
    }
    println!("{read} of {inputs} could be read");
    assert!(
        inputs < 100 || read > inputs / 4,
        "too few get through: {read}"
    );
}

/// Runs that work for each other in a ring, which no run of ours can come to.
#[test]
fn runs_in_a_ring_are_gone_through_once() {
    let seed = Seed::new(lines().as_bytes());
    let (run, child) = ("r".parse().unwrap(), "r/test/1".parse().unwrap());
    for ring in [["r", "r"], ["r/test/1", "r"]] {
        let mut runs = seed.runs.clone();
        let records = runs.get_mut(&run).unwrap();
        let begins = |record: &NewRecord| record.kind == "child.started";
        let at = records.iter().position(begins).unwrap();
        records.truncate(at + 1);
        records[at].body = records[at].body.replace("r/test/1", ring[0]);
        let started = records[at].clone();
        let its = runs.get_mut(&child).unwrap();
        its.truncate(1);
        its.push(NewRecord {
            body: started.body.replace(ring[0], ring[1]),
            ..started
        });
        let runs = seed.told(&runs).unwrap();
        exercise::read(&runs, &run);
        assert!(runs.catch_up(&run).is_ok());
        assert!(reconcile_children(&runs, &run).is_ok());
    }
}
