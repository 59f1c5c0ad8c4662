//! What a store proves: anchors hold while journals grow, pruned runs leave their ends, and clocks that were ahead are
//! set back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use statemark_runs::authority::{MarkForTesting, NameStore, load_authority};
use statemark_runs::maintenance::{
    Anchors, Prune, PruneRuns, Pruned, ignore_progress, make_anchor, verify,
};
use statemark_runs::{
    Actor, Append, Clock, Expect, ManualClock, Role, RunError, Runs, SendEvent, StartRun, Store,
    fire_due,
};

use super::sqlite::in_a_file;
use super::{Made, begun, in_memory, notes, run, timer, under};
use crate::harness::{BEGIN, Bench};

/// Something that every store does, in a word or two, and how it is seen.
type Promise = (&'static str, fn(Made));

pub(super) const PROMISES: &[Promise] = &[
    ("what is derived is told apart", derived),
    ("an anchor holds while journals grow", anchored),
    ("a pruned run leaves its end", pruned),
    ("only a new store is one for testing", testing),
];

fn over(store: &Arc<dyn Store>, clock: &Arc<ManualClock>) -> Runs {
    let none = Arc::new(BTreeMap::new());
    Runs::new(Arc::clone(store), none, Arc::clone(clock) as Arc<dyn Clock>)
}

fn ann() -> Actor {
    Actor::new(Role::Person).with_name("ann")
}

fn over_append(id: &str) -> Append {
    let mut append = notes(id, Expect::NoRun, &["1", "2"]);
    append.summary.status = "completed".to_owned();
    append
}

fn derived((store, _): Made) {
    let mut append = under(notes("a", Expect::NoRun, &["1", "2"]), "k", "request");
    append.timers = Some(vec![timer(BEGIN + 5, "t", 1), timer(BEGIN, "s", 2)]);
    append.summary.project = Some("shop".to_owned());
    store.append(&append).unwrap();
    store.append(&notes("a", Expect::At(2), &["3"])).unwrap();
    store.put_fold_cache(&run("a"), 2, b"state").unwrap();
    let derived = store.derived(&run("a")).unwrap().unwrap();
    assert_eq!((derived.seq, derived.keys, derived.cached), (3, 1, Some(2)));
    assert_eq!(
        (derived.workflow.as_str(), derived.status.as_str()),
        ("order", "running")
    );
    assert_eq!(
        (derived.project, derived.parent),
        (None, None),
        "the last append's"
    );
    assert_eq!(
        derived.timers,
        [timer(BEGIN, "s", 2), timer(BEGIN + 5, "t", 1)]
    );
    assert!(store.derived(&run("b")).is_err());
    assert_eq!(store.table_damage().unwrap(), Vec::<String>::new());
    assert_eq!(store.loss().unwrap(), None);
}

fn anchored((store, clock): Made) {
    let runs = over(&store, &clock);
    begun(&*store, "a", 2);
    begun(&*store, "b", 1);
    assert!(
        make_anchor(&*store, &Anchors::default(), BEGIN).is_err(),
        "it has no id yet"
    );
    runs.execute(&ann(), &NameStore::new()).unwrap();
    let first = make_anchor(&*store, &Anchors::default(), BEGIN).unwrap();
    assert_eq!(first.len(), 3);
    let mut kept = first.to_line() + "\n";
    let anchors = Anchors::parse(&kept).unwrap();
    assert!(make_anchor(&*store, &anchors, BEGIN).unwrap().is_empty());
    store.append(&notes("a", Expect::At(2), &["3"])).unwrap();
    begun(&*store, "c", 1);
    let second = make_anchor(&*store, &anchors, BEGIN).unwrap();
    assert_eq!(second.len(), 2, "what has changed alone");
    kept += &second.to_line();
    let anchors = Anchors::parse(&kept).unwrap();
    store.append(&notes("a", Expect::At(3), &["4"])).unwrap();
    let compared = anchors.compare(&*store).unwrap();
    assert_eq!(compared.to_string(), "as anchored: 5 ends in 2 anchors");
    store.remove(&run("b"), Expect::Any).unwrap();
    let compared = anchors.compare(&*store).unwrap();
    assert_eq!(compared.differences.len(), 1);
    assert_eq!(
        compared.differences[0].to_string(),
        "run `b`: it is gone, and nobody has pruned it"
    );
    let (other, other_clock) = in_memory();
    over(&other, &other_clock)
        .execute(&ann(), &NameStore::new())
        .unwrap();
    let compared = anchors.compare(&*other).unwrap();
    assert!(
        compared.differences[0].what.contains("another id"),
        "{compared}"
    );
    for (text, word) in [
        ("{}", "no anchor"),
        ("x", "line 1"),
        (
            &kept.replace("\"version\":1", "\"version\":2"),
            "newer version",
        ),
        (
            &kept.replacen("\"store\":\"", "\"store\":\"x", 1),
            "another store",
        ),
    ] {
        let error = Anchors::parse(text).unwrap_err().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}

fn prune(runs: &Runs, actor: &Actor) -> Result<Pruned, RunError> {
    let mut on_progress = ignore_progress;
    let prune = PruneRuns {
        wanted: Prune {
            before: None,
            keep: None,
            delete: true,
        },
        on_progress: RefCell::new(&mut on_progress),
    };
    runs.execute(actor, &prune)
}

fn pruned((store, clock): Made) {
    let runs = over(&store, &clock);
    runs.execute(&ann(), &NameStore::new()).unwrap();
    store.append(&over_append("a")).unwrap();
    begun(&*store, "b", 1);
    let end = store.head(&run("a")).unwrap();
    let line = make_anchor(&*store, &Anchors::default(), BEGIN)
        .unwrap()
        .to_line();
    assert!(prune(&runs, &Actor::new(Role::Agent)).is_err());
    assert_eq!(prune(&runs, &ann()).unwrap().runs.len(), 1);
    let authority = load_authority(&*store).unwrap();
    let left = authority.tombstones(&run("a")).last().unwrap();
    assert_eq!(
        (left.seq, left.hash, left.by.as_str()),
        (end.seq, end.hash, "ann (person)")
    );
    assert!(authority.tombstones(&run("b")).is_empty());
    let compared = Anchors::parse(&line).unwrap().compare(&*store).unwrap();
    assert_eq!(
        compared.to_string(),
        "as anchored: 3 ends in 1 anchor; 1 run was pruned since"
    );
    assert_eq!(store.table_damage().unwrap(), Vec::<String>::new());
}

fn testing((store, clock): Made) {
    let runs = over(&store, &clock);
    let is_for_testing = || load_authority(&*store).unwrap().is_for_testing();
    runs.execute(&ann(), &MarkForTesting).unwrap();
    assert!(is_for_testing());
    runs.execute(&ann(), &MarkForTesting).unwrap();
    assert!(is_for_testing());
    for (used, clock) in [in_memory(), in_memory()] {
        let runs = over(&used, &clock);
        begun(&*used, "a", 1);
        runs.execute(&ann(), &MarkForTesting).unwrap();
        assert!(!load_authority(&*used).unwrap().is_for_testing());
        runs.execute(&ann(), &NameStore::new()).unwrap();
        runs.execute(&ann(), &MarkForTesting).unwrap();
        assert!(!load_authority(&*used).unwrap().is_for_testing());
    }
}

const WAITS: &str = "## STATE-MACHINE: waits\n\n```mermaid\nstateDiagram-v2\n    [*] --> idle\n    idle --> busy : go\n    busy --> late : after 10s\n    late --> [*] : end\n```\n";

/// The clock jumps ahead by ten years, a timer is armed, and the clock is set right again.
#[test]
fn a_clock_that_was_ahead_strands_nothing() {
    for (store, clock) in [in_memory(), in_a_file()] {
        let bench = Bench::over(
            &[("waits.md", WAITS)],
            Arc::clone(&clock),
            Arc::clone(&store),
        );
        for id in ["a", "b"] {
            let start = StartRun {
                workflow: "waits".to_owned(),
                ..StartRun::default()
            };
            bench.runs.execute(&bench.order(id), &start).unwrap();
        }
        let years = 10 * 365 * 24 * 3_600_000;
        clock.set(BEGIN + years);
        let go = SendEvent {
            event: "go".to_owned(),
            ..SendEvent::default()
        };
        bench.runs.execute(&bench.order("a"), &go).unwrap();
        // Somebody claims and leases meanwhile, and is heard of no more.
        store.lease(&run("a"), "one", 60_000).unwrap();
        assert_eq!(
            store
                .claim_due(BEGIN + years + 20_000, 10, 60_000)
                .unwrap()
                .len(),
            1
        );
        clock.set(BEGIN + 1_000);
        store.lease(&run("a"), "two", 1_000).unwrap();
        assert!(
            fire_due(&bench.runs, bench.runs.now(), 10)
                .unwrap()
                .is_empty()
        );
        let records = store.records(&run("a"), 0, 10).unwrap();
        let last = records.last().unwrap();
        assert_eq!(
            (last.kind.as_str(), last.time),
            ("clock.set_back", BEGIN + 1_000)
        );
        assert_eq!(store.head(&run("b")).unwrap().seq, 1, "it was never ahead");
        clock.set(BEGIN + 10_999);
        assert!(
            fire_due(&bench.runs, bench.runs.now(), 10)
                .unwrap()
                .is_empty()
        );
        clock.set(BEGIN + 11_000);
        assert_eq!(
            fire_due(&bench.runs, bench.runs.now(), 10).unwrap().len(),
            1
        );
        let state = bench.runs.load(&run("a")).unwrap().state;
        assert_eq!(state.leaves, ["late"]);
        let verified = verify(&*store, None, &mut ignore_progress).unwrap();
        assert_eq!(verified.differences, []);
    }
}

/// Clocks of several machines differ a little, and nothing is said of that.
#[test]
fn a_clock_that_is_a_little_late_is_no_other() {
    let bench = Bench::new(&[("waits.md", WAITS)]);
    let start = StartRun {
        workflow: "waits".to_owned(),
        ..StartRun::default()
    };
    bench.runs.execute(&bench.order("a"), &start).unwrap();
    bench.clock.set(BEGIN - 60_000);
    let go = SendEvent {
        event: "go".to_owned(),
        ..SendEvent::default()
    };
    bench.runs.execute(&bench.order("a"), &go).unwrap();
    let records = bench.runs.store().records(&run("a"), 0, 10).unwrap();
    let times: Vec<u64> = records.iter().map(|record| record.time).collect();
    assert_eq!(times, [BEGIN, BEGIN]);
}
