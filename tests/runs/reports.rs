//! Reports that several callers make at the same moment, and reports around a crash.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use statemark_runs::body::{ChildStarted, Parent, StepStatus};
use statemark_runs::runs::WriteRaw;
use statemark_runs::{Advance, Body, Loaded, ManualClock, StartRun};
use statemark_stores::MemoryStore;

use crate::harness::{BEGIN, Bench};
use crate::script::reports::{report, steps};

const WORK: &str = "## STATE-MACHINE: work\n\n```mermaid\nstateDiagram-v2\n    [*] --> build\n    build --> [*] : built\n```\n\n\
                    ## STATE-MACHINE: builder\n\n```mermaid\nstateDiagram-v2\n    [*] --> building\n    building --> [*] : done\n```\n";

/// Reports of eight at the same moment.
fn at_once(bench: &Bench, line: &str) -> Vec<String> {
    thread::scope(|scope| {
        let handles: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| report(bench, "r", line).unwrap()))
            .collect();
        handles.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

fn kinds(bench: &Bench, run: &str) -> Vec<String> {
    let records = bench.runs.store().records(&run.parse().unwrap(), 0, 100);
    records.unwrap().into_iter().map(|it| it.kind).collect()
}

#[test]
fn first_reports_at_the_same_moment_start_one_run() {
    let bench = Bench::new(&[("work.md", WORK)]);
    let said = at_once(&bench, "work build running");
    let began = said.iter().filter(|it| it.starts_with("began r\n"));
    assert_eq!(began.count(), 1, "{said:#?}");
    assert!(
        said.iter().all(|it| it.ends_with("r: build running\n")),
        "{said:#?}"
    );
    let mut expected = vec!["step"; 9];
    expected[0] = "run.started";
    assert_eq!(kinds(&bench, "r"), expected);
}

#[test]
fn first_reports_of_a_unit_at_the_same_moment_start_one_child() {
    let bench = Bench::new(&[("work.md", WORK)]);
    report(&bench, "r", "work build running").unwrap();
    let said = at_once(&bench, "work builder:building running ::T1");
    let began = said
        .iter()
        .filter(|it| it.starts_with("began r/builder::T1\n"));
    assert_eq!(began.count(), 1, "{said:#?}");
    // The run's own journal has each report, under the agent's name.
    let mut expected = vec!["step"; 11];
    (expected[0], expected[2]) = ("run.started", "child.started");
    assert_eq!(kinds(&bench, "r"), expected);
    assert_eq!(kinds(&bench, "r/builder::T1").len(), 9);
}

#[test]
fn a_stop_between_two_journals_is_made_up_for() {
    let specs = [("work.md", WORK)];
    let clock = Arc::new(ManualClock::new(BEGIN));
    let store = Arc::new(MemoryStore::new(Arc::clone(&clock)));
    let bench = Bench::over(&specs, Arc::clone(&clock), Arc::clone(&store) as Arc<_>);
    report(&bench, "r", "work build running").unwrap();
    // The parent's journal has the child, and the child never began.
    let began = Body::ChildStarted(ChildStarted {
        table: None,
        run: "r/builder::T1".parse().unwrap(),
        workflow: "builder".to_owned(),
        step: Some("build".to_owned()),
        unit: Some("T1".to_owned()),
    });
    let began = WriteRaw(|_: &Loaded, _| vec![began.clone()]);
    bench.runs.execute(&bench.order("r"), &began).unwrap();
    let said = report(&bench, "r", "work builder:building running ::T1").unwrap();
    assert_eq!(
        said,
        "began r/builder::T1\nr/builder::T1: building running\n"
    );
    assert_eq!(kinds(&bench, "r").len(), 4);
    // The child has ended, and the parent's journal doesn't say so.
    let mut dies = Bench::over(&specs, clock, store);
    dies.runs = dies.runs.with_failpoint(Arc::new(|point: &str| {
        assert_ne!(point, "appended", "the process dies");
    }));
    let last = || report(&dies, "r/builder::T1", "builder building completed");
    catch_unwind(AssertUnwindSafe(last)).unwrap_err();
    assert!(
        steps(&bench, "r")
            .unwrap()
            .contains("r/builder::T1 under build: at work")
    );
    let said = report(&bench, "r", "work builder:nothing completed ::T1").unwrap();
    assert!(said.contains("unknown_step"), "{said}");
    assert!(
        steps(&bench, "r")
            .unwrap()
            .contains("r/builder::T1 under build: done")
    );
}

#[test]
fn a_run_that_has_a_childs_id_by_chance_is_not_taken_for_it() {
    let bench = Bench::new(&[("work.md", WORK)]);
    report(&bench, "r", "work build running").unwrap();
    // Nobody may call a run so but the machine of a parent, here another one.
    let chosen = report(&bench, "r/builder::T1", "builder building running").unwrap_err();
    assert!(
        chosen
            .to_string()
            .starts_with("the id of a run has a `/` in it"),
        "{chosen}"
    );
    let start = StartRun {
        workflow: "builder".to_owned(),
        parent: Some(Parent {
            run: "other".parse().unwrap(),
            step: None,
            unit: None,
        }),
        ..StartRun::default()
    };
    let advance = Advance::status("building", StepStatus::Running).starting(start);
    bench
        .runs
        .execute(&bench.order("r/builder::T1"), &advance)
        .unwrap();
    let error = report(&bench, "r", "work builder:building running ::T1").unwrap_err();
    let expected = "the run `r/builder::T1` isn't one of an agent under `r`";
    assert_eq!(error.to_string(), expected);
}
