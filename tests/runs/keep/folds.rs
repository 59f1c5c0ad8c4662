//! Whoever comes first to a long run doesn't read all of it: a fold is kept wherever its journal didn't grow step by step.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use statemark_harness::{is_update, root};
use statemark_runs::maintenance::{ignore_progress, import, migrate, verify};
use statemark_runs::runs::RewindRun;
use statemark_runs::state::LiveRecords;
use statemark_runs::{
    Expect, Hash, SendEvent, StartRun, Store, cache_state, plan_rewind, replay_run, state,
};

use super::{SPEC, fork};
use crate::chaos::Dice;
use crate::harness::Bench;
use crate::stores::in_memory;

/// More records than a fold is kept for.
const LONG: u64 = 300;

/// Up to which record the kept fold of a run goes.
fn fold_cache_seq(store: &dyn Store, run: &str) -> Option<u64> {
    let fold = store.fold_cache(&run.parse().unwrap(), u64::MAX).unwrap();
    fold.map(|(seq, _)| seq)
}

/// A run may be removed, and another one be started under its id while a process remembers the first.
#[test]
fn a_run_that_was_replaced_is_read_anew() {
    let (store, clock) = in_memory();
    let bench = Bench::over(&[("ship.md", SPEC)], Arc::clone(&clock), Arc::clone(&store));
    let other = Bench::over(&[("ship.md", SPEC)], clock, Arc::clone(&store));
    let order = bench.order("again");
    let start = |bench: &Bench, title: &str| {
        let start = StartRun {
            workflow: "ship".to_owned(),
            title: Some(title.to_owned()),
            ..StartRun::default()
        };
        bench.runs.execute(&order, &start).unwrap();
    };
    start(&bench, "first");
    assert_eq!(
        bench.runs.load(&order.run).unwrap().state.title.as_deref(),
        Some("first")
    );
    store.remove(&order.run, Expect::Any).unwrap();
    start(&other, "second");
    let send = SendEvent {
        event: "go".to_owned(),
        data: None,
        ..SendEvent::default()
    };
    other.runs.execute(&order, &send).unwrap();
    let loaded = bench.runs.load(&order.run).unwrap();
    assert_eq!(loaded.state.title.as_deref(), Some("second"));
    assert_eq!(
        *loaded.state,
        state::replay(&*store, &order.run, None).unwrap()
    );
}

#[test]
fn a_fold_is_kept_of_what_was_forked_rewound_or_moved() {
    let (store, clock) = in_memory();
    let bench = Bench::over(&[("ship.md", SPEC)], clock, Arc::clone(&store));
    let order = bench.order("long");
    let start = StartRun {
        workflow: "ship".to_owned(),
        ..StartRun::default()
    };
    bench.runs.execute(&order, &start).unwrap();
    for number in 1..LONG {
        let event = if number % 2 == 1 { "go" } else { "again" };
        let send = SendEvent {
            event: event.to_owned(),
            data: None,
            ..SendEvent::default()
        };
        bench.runs.execute(&order, &send).unwrap();
    }
    assert_eq!(fold_cache_seq(&*store, "long"), Some(256));

    fork(&store, "long", 290, "fork");
    assert_eq!(fold_cache_seq(&*store, "fork"), Some(291));

    let rewind = RewindRun::to(280);
    let plan = plan_rewind(&bench.runs, &order.run, &rewind).unwrap();
    let rewind = RewindRun {
        token: Some(plan.token),
        ..rewind
    };
    let rewound = bench.runs.execute(&order, &rewind).unwrap();
    let last = rewound.loaded.head.seq;
    assert!(last > LONG && rewound.loaded.state.rewinds.len() == 1);
    assert_eq!(fold_cache_seq(&*store, "long"), Some(last));

    let (other, _) = in_memory();
    migrate(&*store, &*other, &mut ignore_progress).unwrap();
    assert_eq!(fold_cache_seq(&*other, "long"), Some(last));
    assert_eq!(fold_cache_seq(&*other, "fork"), Some(291));
    for store in [&*store, &*other] {
        let verified = verify(store, None, &mut ignore_progress).unwrap();
        assert!(verified.differences.is_empty(), "{verified}");
    }
}

/// A kept fold is a shortcut: whatever became of it, the state is what the journal says.
#[test]
fn a_fold_that_is_damaged_or_anothers_is_not_taken() {
    let (store, clock) = in_memory();
    let bench = Bench::over(&[("ship.md", SPEC)], clock, Arc::clone(&store));
    for (run, events) in [("one", ["go", "again"]), ("other", ["nothing", "go"])] {
        let order = bench.order(run);
        let start = StartRun {
            workflow: "ship".to_owned(),
            ..StartRun::default()
        };
        bench.runs.execute(&order, &start).unwrap();
        for event in events {
            let event = event.to_owned();
            bench
                .runs
                .execute(
                    &order,
                    &SendEvent {
                        event,
                        data: None,
                        ..SendEvent::default()
                    },
                )
                .unwrap();
        }
        let loaded = bench.runs.load(&order.run).unwrap();
        cache_state(&bench.runs, &loaded).unwrap();
    }
    let (one, other) = ("one".parse().unwrap(), "other".parse().unwrap());
    let (seq, good) = store.fold_cache(&one, u64::MAX).unwrap().unwrap();
    let state = state::replay(&*store, &one, None).unwrap();
    for at in 0..good.len() {
        for bit in [0, 2, 5] {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            store.put_fold_cache(&one, seq, &bad).unwrap();
            assert_eq!(
                state::load(&*store, &one, None).unwrap(),
                state,
                "bit {bit} of byte {at}"
            );
        }
    }
    let (same, others) = store.fold_cache(&other, u64::MAX).unwrap().unwrap();
    assert_eq!(same, seq);
    store.put_fold_cache(&one, seq, &others).unwrap();
    assert_eq!(state::load(&*store, &one, None).unwrap(), state);
    store.put_fold_cache(&one, seq - 1, &good).unwrap();
    assert_eq!(state::load(&*store, &one, None).unwrap(), state);
}

/// Wherever states are kept and whatever was taken back, a run's state at a record is what its journal says.
#[test]
fn states_from_any_kept_fold_are_those_of_the_journal() {
    let (store, clock) = in_memory();
    let bench = Bench::over(&[("ship.md", SPEC)], clock, Arc::clone(&store));
    let order = bench.order("run");
    let start = StartRun {
        workflow: "ship".to_owned(),
        ..StartRun::default()
    };
    bench.runs.execute(&order, &start).unwrap();
    let mut dice = Dice::of("kept folds");
    for _ in 0..400 {
        let loaded = bench.runs.load(&order.run).unwrap();
        let last = loaded.head.seq;
        if dice.below(8) == 0 {
            let rewind = RewindRun::to(last.saturating_sub(dice.below(60)).max(1));
            // Not every record can be gone back to.
            if let Ok(plan) = plan_rewind(&bench.runs, &order.run, &rewind) {
                let token = Some(plan.token);
                bench
                    .runs
                    .execute(&order, &RewindRun { token, ..rewind })
                    .unwrap();
            }
        } else {
            let event = match dice.below(3) {
                0 => "go",
                1 => "again",
                _ => "nothing",
            };
            let event = event.to_owned();
            let send = SendEvent {
                event,
                data: None,
                ..SendEvent::default()
            };
            bench.runs.execute(&order, &send).unwrap();
        }
        if dice.below(5) == 0 {
            let loaded = bench.runs.load(&order.run).unwrap();
            cache_state(&bench.runs, &loaded).unwrap();
        }
    }
    let last = store.head(&order.run).unwrap().seq;
    let mut rewinds = 0;
    for upto in 1..=last {
        let state = state::replay(&*store, &order.run, Some(upto)).unwrap();
        assert_eq!(
            state::load(&*store, &order.run, Some(upto)).unwrap(),
            state,
            "at record {upto}"
        );
        let live = state::live_records(&*store, &order.run, Some(upto), &[]).unwrap();
        let by_rewinds = LiveRecords::after_rewinds(&*store, &order.run, &state).unwrap();
        assert_eq!(by_rewinds, live, "at record {upto}");
        rewinds = state.rewinds.len();
    }
    assert!(rewinds > 10, "{rewinds}");
    let verified = verify(&*store, None, &mut ignore_progress).unwrap();
    assert!(verified.differences.is_empty(), "{verified}");
    // One that says something else is named, wherever it is.
    let (seq, _) = store.fold_cache(&order.run, last / 2).unwrap().unwrap();
    let (_, other) = store.fold_cache(&order.run, last).unwrap().unwrap();
    store.put_fold_cache(&order.run, seq, &other).unwrap();
    let verified = verify(&*store, None, &mut ignore_progress).unwrap();
    let found: Vec<_> = verified.differences.iter().map(|it| it.seq).collect();
    assert_eq!(found, [Some(seq)], "{verified}");
}

/// They say less than today's: what a child's outcome and an approval were about is known by the event alone.
#[test]
fn journals_from_before_are_made_again_as_they_were() {
    let lines = fs::read(root().join("tests/runs/keep/before.jsonl")).unwrap();
    let (store, clock) = in_memory();
    let imported = import(&*store, &mut &lines[..]).unwrap();
    assert!(!imported.new.is_empty());
    let bench = Bench::over(&[], clock, Arc::clone(&store));
    for run in &imported.new {
        let replay = replay_run(&bench.runs, run, None).unwrap();
        assert_eq!(replay.difference, None, "{run}");
    }
    let verified = verify(&*store, None, &mut ignore_progress).unwrap();
    assert!(verified.differences.is_empty(), "{verified}");
}

/// A fold that was kept by an older program is read by its version alone.
#[test]
fn another_fold_has_another_version() {
    let lines = fs::read(root().join("tests/runs/hostile/journals.jsonl")).unwrap();
    let (store, _) = in_memory();
    let imported = import(&*store, &mut &lines[..]).unwrap();
    let states = imported.new.iter().map(|run| {
        let state = state::replay(&*store, run, None).unwrap();
        (run.to_string(), serde_json::to_value(state).unwrap())
    });
    let states: serde_json::Map<String, Value> = states.collect();
    let journals = Hash::digest(&lines);
    let now = json!({"version": state::VERSION, "journals": journals, "states": states});
    let path = root().join("tests/runs/keep/folds.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let before: Value = serde_json::from_str(&text).unwrap();
    if now == before {
        return;
    }
    // Of other journals the states are others, too.
    assert!(
        now["version"] != before["version"] || now["journals"] != before["journals"],
        "the fold has changed: raise `VERSION` in state/cache.rs, so that cached states aren't taken for today's"
    );
    assert!(is_update(), "`UPDATE=1` writes {} anew", path.display());
    fs::write(path, serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
}
