//! What happens to a run once, however many want it at the same moment; and who may drive one alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};
use std::thread;

use statemark_runs::body::{Cause, RequestKind, Resolution};
use statemark_runs::runs::{RecordTurn, RewindRun, counted_tree_usage, tree_usage};
use statemark_runs::{
    Actor, AnswerRequest, BindSession, Binding, Body, ContinueRun, HoldSession, Key, OpenRequest,
    Order, PauseRun, Record, ReleaseSession, Reply, Role, RunError, RunId, SendEvent, StartRun,
    StoreError, acquire_lease, fire_due, plan_rewind, release_lease, renew_lease, state,
};

use crate::harness::Bench;

const GATE: &str = r#"# Gate

## STATE-MACHINE

```json definition
{
  "id": "gate",
  "initial": "shut",
  "states": {
    "shut": {
      "on": {
        "open": {"target": "wide", "requires_approval": true},
        "request.expired": {"internal": true, "actions": ["note"]}
      }
    },
    "wide": {"after": {"10s": "shut"}, "on": {"shut": "shut"}}
  }
}
```
"#;

/// A run that waits for the approval `r:2`.
fn waiting() -> Bench {
    let bench = Bench::new(&[("gate.md", GATE)]);
    start(&bench);
    let send = SendEvent {
        event: "open".to_owned(),
        data: None,
        ..SendEvent::default()
    };
    bench.runs.execute(&bench.order("r"), &send).unwrap();
    bench
}

fn start(bench: &Bench) {
    let start = StartRun {
        workflow: "gate".to_owned(),
        ..StartRun::default()
    };
    bench.runs.execute(&bench.order("r"), &start).unwrap();
}

fn records(bench: &Bench) -> Vec<Record> {
    let mut all = Vec::new();
    let run = "r".parse().unwrap();
    let keep = |record: &Record| {
        all.push(record.clone());
        Ok(())
    };
    state::for_each_record(bench.runs.store(), &run, 0, None, keep).unwrap();
    all
}

fn person(bench: &Bench, name: &str) -> Order {
    Order {
        actor: Actor::new(Role::Person).with_name(name),
        ..bench.order("r")
    }
}

fn events(bench: &Bench) -> Vec<Option<Cause>> {
    let bodies = records(bench).into_iter().map(|it| it.read().unwrap());
    let events = bodies.filter_map(|it| match it {
        Body::Event(event) => Some(event.cause),
        _ => None,
    });
    events.collect()
}

#[test]
fn an_approval_counts_once() {
    let bench = waiting();
    let barrier = Barrier::new(50);
    thread::scope(|scope| {
        for number in 0..50 {
            let (bench, barrier) = (&bench, &barrier);
            scope.spawn(move || {
                let order = person(bench, &format!("p{number}"));
                barrier.wait();
                let answer = AnswerRequest::new("r:2", Reply::Approve);
                bench.runs.execute(&order, &answer).unwrap()
            });
        }
    });
    let resolved = records(&bench)
        .into_iter()
        .filter(|it| it.kind == "request.resolved");
    assert_eq!(resolved.count(), 1);
    let request = "r:2".to_owned();
    assert_eq!(events(&bench), [Some(Cause::Request { request })]);
}

const PARENT: &str = "# Parent\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> job\n    job --> ok : done\n    \
                      job --> bad : error\n```\n\n```json definition\n\
                      {\"id\": \"gate\", \"states\": {\"job\": {\"invoke\": {\"src\": \"kid\"}}}}\n```\n";
const KID: &str = "# Kid\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> k1\n    k1 --> [*] : fin\n```\n\n\
                   ```json definition\n{\"id\": \"kid\"}\n```\n";

/// Only what was written counts: whoever looks goes on from there, though no spec is where it is.
#[test]
fn a_start_that_dies_before_its_child_begins_is_made_up_for_by_anybody() {
    for point in ["begun", "append", "appended"] {
        let mut bench = Bench::new(&[("parent.md", PARENT), ("kid.md", KID)]);
        let bare = bench.bare();
        bench.runs = bench.runs.with_failpoint(Arc::new(move |at: &str| {
            assert_ne!(at, point, "the process dies");
        }));
        catch_unwind(AssertUnwindSafe(|| start(&bench))).unwrap_err();
        let loaded = bare.runs.catch_up(&"r".parse().unwrap()).unwrap();
        assert_eq!(loaded.state.leaves, ["job"], "{point}");
        let child = bare.runs.load(&"r/job/1".parse().unwrap()).unwrap();
        assert_eq!(child.state.leaves, ["k1"], "{point}");
    }
}

/// The events that wait in the run.
fn waiting_events(bench: &Bench) -> usize {
    let loaded = bench.runs.load(&"r".parse().unwrap()).unwrap();
    loaded.state.queue.len()
}

#[test]
fn everything_that_has_waited_is_taken_however_much_it_is() {
    for taken_back in [false, true] {
        let bench = Bench::new(&[("gate.md", GATE)]);
        start(&bench);
        for number in 0..100 {
            let ask = OpenRequest {
                expires_in: Some(1_000),
                ..OpenRequest::new(RequestKind::Text, format!("question {number}"))
            };
            bench.runs.execute(&bench.order("r"), &ask).unwrap();
        }
        let send = SendEvent {
            event: "open".to_owned(),
            data: None,
            ..SendEvent::default()
        };
        let asked = bench.runs.execute(&bench.order("r"), &send).unwrap();
        bench.clock.advance(1_000);
        bench.runs.catch_up(&"r".parse().unwrap()).unwrap();
        assert_eq!(waiting_events(&bench), 100);
        let request = asked.loaded.state.held_by().unwrap();
        let request = request.opened.request.clone();
        let ann = person(&bench, "ann");
        let answer = AnswerRequest::new(&request, Reply::Deny);
        let written = bench.runs.execute(&ann, &answer).unwrap();
        assert_eq!(waiting_events(&bench), 0);
        assert_eq!(written.loaded.state.queue.len(), 0);
        if !taken_back {
            assert_eq!(events(&bench).len(), 100);
            continue;
        }
        // The answer's append took 32 of them: behind it the others wait again, and nothing is in their way.
        let answered = written.records.last().unwrap().seq;
        let mut rewind = RewindRun::to(answered);
        let run = "r".parse().unwrap();
        rewind.token = Some(plan_rewind(&bench.runs, &run, &rewind).unwrap().token);
        bench.runs.execute(&ann, &rewind).unwrap();
        assert_eq!(waiting_events(&bench), 0);
        assert_eq!(events(&bench).len(), 168);
    }
}

#[test]
fn of_two_answers_one_stands() {
    for _ in 0..20 {
        let bench = waiting();
        let barrier = Barrier::new(8);
        thread::scope(|scope| {
            for number in 0..8 {
                let (bench, barrier) = (&bench, &barrier);
                scope.spawn(move || {
                    let order = person(bench, &format!("p{number}"));
                    let reply = if number % 2 == 0 {
                        Reply::Approve
                    } else {
                        Reply::Deny
                    };
                    barrier.wait();
                    bench
                        .runs
                        .execute(&order, &AnswerRequest::new("r:2", reply))
                        .unwrap();
                });
            }
        });
        let all: Vec<Body> = records(&bench)
            .iter()
            .map(|it| it.read().unwrap())
            .collect();
        let resolved: Vec<Resolution> = all
            .iter()
            .filter_map(|it| match it {
                Body::Resolved(resolved) => Some(resolved.resolution),
                _ => None,
            })
            .collect();
        let refused = all.iter().filter(|it| matches!(it, Body::Refused(_)));
        assert_eq!((resolved.len(), refused.count()), (1, 4));
        let taken = usize::from(resolved == [Resolution::Approved]);
        assert_eq!(events(&bench).len(), taken);
    }
}

#[test]
fn a_repeated_approval_is_the_first_one() {
    let bench = waiting();
    let mut order = person(&bench, "ann");
    order.key = Some("k".parse::<Key>().unwrap());
    let answer = AnswerRequest::new("r:2", Reply::Approve);
    let first = bench.runs.execute(&order, &answer).unwrap();
    let again = bench.runs.execute(&order, &answer).unwrap();
    assert_eq!(first.records, again.records);
    assert_eq!((first.replayed, again.replayed), (false, true));
}

#[test]
fn a_timer_fires_once() {
    let bench = waiting();
    let answer = AnswerRequest::new("r:2", Reply::Approve);
    bench.runs.execute(&person(&bench, "ann"), &answer).unwrap();
    bench.clock.advance(10_000);
    let barrier = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                fire_due(&bench.runs, bench.runs.now(), 10).unwrap()
            });
        }
    });
    let timer = "after.wide.1".to_owned();
    assert_eq!(events(&bench).last(), Some(&Some(Cause::Timer { timer })));
    assert_eq!(events(&bench).len(), 2);
}

#[test]
fn a_timer_whose_claimer_died_is_fired_by_another() {
    let bench = waiting();
    let answer = AnswerRequest::new("r:2", Reply::Approve);
    bench.runs.execute(&person(&bench, "ann"), &answer).unwrap();
    bench.clock.advance(10_000);
    let now = || bench.runs.now();
    // Somebody claims it, and is heard of no more.
    assert_eq!(
        bench
            .runs
            .store()
            .claim_due(now(), 10, 5_000)
            .unwrap()
            .len(),
        1
    );
    assert!(fire_due(&bench.runs, now(), 10).unwrap().is_empty());
    bench.clock.advance(5_000);
    assert_eq!(fire_due(&bench.runs, now(), 10).unwrap().len(), 1);
    assert_eq!(events(&bench).len(), 2);
}

#[test]
fn a_late_holder_of_a_lease_changes_nothing() {
    let bench = Bench::new(&[("gate.md", GATE)]);
    start(&bench);
    let run = "r".parse().unwrap();
    let first = acquire_lease(&bench.runs, &run, "one", 1_000).unwrap();
    let busy = acquire_lease(&bench.runs, &run, "two", 1_000);
    assert!(matches!(busy, Err(RunError::Store(StoreError::Busy { by, .. })) if by == "one"));
    let renewed = renew_lease(&bench.runs, &first, 2_000).unwrap();
    assert_eq!(renewed.fence, first.fence);
    bench.clock.advance(2_001);
    let second = acquire_lease(&bench.runs, &run, "two", 1_000).unwrap();
    let under = |fence| Order {
        fence: Some(fence),
        ..bench.order("r")
    };
    let late = bench
        .runs
        .execute(&under(first.fence), &PauseRun::default());
    assert!(matches!(
        late,
        Err(RunError::Store(StoreError::Fenced { .. }))
    ));
    assert_eq!(records(&bench).len(), 1);
    bench
        .runs
        .execute(&under(second.fence), &PauseRun::default())
        .unwrap();
    release_lease(&bench.runs, &second).unwrap();
    let third = acquire_lease(&bench.runs, &run, "three", 1_000).unwrap();
    bench.clock.advance(1_001);
    acquire_lease(&bench.runs, &run, "four", 1_000).unwrap();
    bench.clock.advance(1_001);
    // Four had it in between: three can't go on as if nothing had happened.
    let error = renew_lease(&bench.runs, &third, 1_000).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the lease of `r` was over before it was renewed: get a new one and read the run again"
    );
}

/// Each event alone is small enough; what they leave together couldn't be read back.
#[test]
fn data_that_grows_too_large_is_refused_and_the_run_goes_on() {
    let spec = r#"## STATE-MACHINE

```json definition
{"id": "gate", "initial": "shut", "states": {"shut": {"on": {"open": "shut"}}}}
```
"#;
    let bench = Bench::new(&[("gate.md", spec)]);
    start(&bench);
    let send = |field: &str, length: usize| {
        let send = SendEvent {
            event: "open".to_owned(),
            data: Some(serde_json::json!({field: "x".repeat(length)})),
            ..SendEvent::default()
        };
        let written = bench.runs.execute(&bench.order("r"), &send).unwrap();
        written.records.iter().find_map(|it| match it.read() {
            Ok(Body::Refused(refused)) => Some((refused.code, refused.reason)),
            _ => None,
        })
    };
    assert_eq!(send("a", 400 << 10), None);
    assert_eq!(send("b", 400 << 10), None);
    let (code, reason) = send("c", 400 << 10).unwrap();
    assert_eq!(code, "bad_data");
    assert_eq!(
        reason,
        "the data can't be stored: longer than 1048576 bytes"
    );
    assert_eq!(send("c", 1), None);
    let loaded = bench.runs.catch_up(&"r".parse().unwrap()).unwrap();
    assert_eq!(loaded.legality().enabled_events(), ["open"]);
}

/// However many sessions a run comes to know, none that it holds goes free.
#[test]
fn a_crowd_of_sessions_frees_none() {
    let bench = waiting();
    let name = |number: u32| format!("claude:{number}");
    let held = |name: &str| {
        let names = [name.to_owned()];
        let held = bench.runs.runs_holding(Binding::Session(None, &names));
        !held.unwrap().is_empty()
    };
    let session = name(0);
    let hold = HoldSession { session };
    bench.runs.execute(&bench.order("r"), &hold).unwrap();
    for number in 1..200 {
        let session = name(number);
        let actor = Actor {
            session: Some(session.clone()),
            ..Actor::new(Role::Agent)
        };
        let order = Order::new("r".parse().unwrap(), actor);
        bench
            .runs
            .execute(&order, &BindSession { session })
            .unwrap();
        bench.runs.execute(&order, &PauseRun::default()).unwrap();
    }
    let state = bench.runs.load(&"r".parse().unwrap()).unwrap().state;
    assert!(state.sessions.len() <= 65, "{}", state.sessions.len());
    for name in [
        name(0),
        name(1),
        name(63),
        name(199),
        "claude:new".to_owned(),
    ] {
        assert!(held(&name), "{name}");
    }
    // A person releases one of them, or all: then whoever comes is held by what holds all of a project.
    let ann = Order::new("r".parse().unwrap(), Actor::new(Role::Person));
    let session = Some(name(199));
    bench
        .runs
        .execute(&ann, &ReleaseSession { session })
        .unwrap();
    assert!(!held(&name(199)) && held(&name(198)));
    bench
        .runs
        .execute(&ann, &ReleaseSession::default())
        .unwrap();
    assert!(!held(&name(0)) && held("claude:new"));
}

/// What the runs below a run use counts for it, through a rewind too, and a person who continues it lets it count anew.
#[test]
fn a_run_counts_what_the_runs_below_it_use() {
    let invoking = |id: &str, inner: &str| {
        format!(
            r#"# {id}

## STATE-MACHINE

```json definition
{{"id": "{id}", "initial": "a", "states": {{"a": {{{inner}}}, "b": {{"type": "final"}}}}}}
```
"#
        )
    };
    let invoke = |other: &str| format!(r#""invoke": {{"src": "{other}", "on_done": "b"}}"#);
    let bench = Bench::new(&[
        ("outer.md", &invoking("outer", &invoke("middle"))),
        ("middle.md", &invoking("middle", &invoke("inner"))),
        ("inner.md", &invoking("inner", r#""on": {"go": "b"}"#)),
    ]);
    let start = StartRun {
        workflow: "outer".to_owned(),
        ..StartRun::default()
    };
    bench.runs.execute(&bench.order("r"), &start).unwrap();
    let spend = |run: &str, tokens: u64, cost: Option<u64>| {
        let turn = RecordTurn {
            usage: Some((tokens, 1, cost)),
            ..RecordTurn::default()
        };
        bench.runs.execute(&bench.order(run), &turn).unwrap();
    };
    let run: RunId = "r".parse().unwrap();
    let counted = || {
        let loaded = bench.runs.load(&run).unwrap();
        let used = counted_tree_usage(&bench.runs, &loaded).unwrap();
        (used.own.tokens(), used.below.tokens(), used.total().cost)
    };
    assert_eq!(counted(), (0, 0, None));
    spend("r", 9, None);
    spend("r/a/1", 19, Some(5));
    spend("r/a/1/a/1", 29, Some(7));
    assert_eq!(counted(), (10, 50, Some(12)));
    bench
        .runs
        .execute(&bench.order("r"), &PauseRun::default())
        .unwrap();
    let ann = Order::new(run.clone(), Actor::new(Role::Person));
    bench.runs.execute(&ann, &ContinueRun::default()).unwrap();
    assert_eq!(counted(), (0, 0, Some(0)));
    spend("r/a/1/a/1", 39, None);
    assert_eq!(counted(), (0, 40, Some(0)));
    // The run below is given up with what began it; what it has used is used.
    let mut rewind = RewindRun::to(1);
    rewind.token = Some(plan_rewind(&bench.runs, &run, &rewind).unwrap().token);
    bench.runs.execute(&ann, &rewind).unwrap();
    let all = tree_usage(&bench.runs, &bench.runs.load(&run).unwrap()).unwrap();
    assert_eq!((all.own.tokens(), all.below.tokens()), (10, 90));
    assert_eq!(all.total().cost, Some(12));
}
