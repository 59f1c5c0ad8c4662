//! What lists and watchers are promised.

use statemark_runs::{
    Cursor, Expect, Hint, MAX_PAGE, ManualClock, Query, REQUESTS_MARK, Store, Watermark,
};

use super::{Promise, begun, note, notes, run};
use crate::harness::BEGIN;

pub(super) const PROMISES: &[Promise] = &[
    ("the newest change comes first", newest_first),
    ("each filter filters", filters),
    ("runs that ask something are found among others", asking),
    (
        "a list of several statuses or a workflow is in order",
        merged,
    ),
    ("pages of a list join", pages),
    ("a limit is kept", limits),
    ("runs are counted by status", counts),
    ("each change is told", changes_are_listed),
    ("a change after a removal is told", changes_after_removal),
    ("many changes are told in parts", changes_in_parts),
    ("a mark of another store is no mark", others_mark),
];

fn ids(store: &dyn Store, query: &Query) -> Vec<String> {
    let page = store.list(query).unwrap();
    let ids = page.heads.iter().map(|head| head.run.as_str().to_owned());
    ids.collect()
}

fn ten() -> Query {
    Query {
        limit: 10,
        ..Query::default()
    }
}

fn newest_first(store: &dyn Store, _: &ManualClock) {
    assert_eq!(ids(store, &ten()), [""; 0]);
    for (id, time) in [("a", 3), ("b", 1), ("c", 2), ("d", 2)] {
        let mut append = notes(id, Expect::NoRun, &["x"]);
        append.records[0].time = time;
        store.append(&append).unwrap();
    }
    assert_eq!(ids(store, &ten()), ["a", "d", "c", "b"]);
    let mut append = notes("b", Expect::Any, &[]);
    append.records = vec![note(4, "first"), note(9, "last")];
    store.append(&append).unwrap();
    assert_eq!(ids(store, &ten()), ["b", "a", "d", "c"]);
    let page = store.list(&ten()).unwrap();
    assert_eq!(page.next, None);
    assert_eq!(page.heads[0], store.head(&run("b")).unwrap());
    assert_eq!((page.heads[0].created, page.heads[0].updated), (1, 9));
}

fn filters(store: &dyn Store, _: &ManualClock) {
    let some = |text: &str| Some(text.to_owned());
    for (id, status, workflow, project, parent) in [
        ("a1", "running", "order", None, None),
        ("a2", "waiting", "order", some("p"), None),
        ("b1", "waiting", "ship", some("p"), Some("a1")),
        ("b2", "failed", "ship", some("q"), Some("a2")),
    ] {
        let mut append = notes(id, Expect::NoRun, &["x"]);
        append.summary.status = status.to_owned();
        append.summary.workflow = workflow.to_owned();
        append.summary.project = project;
        append.summary.parent = parent.map(run);
        store.append(&append).unwrap();
    }
    let with = |change: fn(&mut Query)| {
        let mut query = ten();
        change(&mut query);
        ids(store, &query)
    };
    assert_eq!(with(|_| ()), ["b2", "b1", "a2", "a1"]);
    assert_eq!(
        with(|it| it.statuses = vec!["waiting".into()]),
        ["b1", "a2"]
    );
    let two = |it: &mut Query| it.statuses = vec!["running".into(), "failed".into()];
    assert_eq!(with(two), ["b2", "a1"]);
    assert_eq!(with(|it| it.workflow = Some("ship".into())), ["b2", "b1"]);
    assert_eq!(with(|it| it.project = Some("p".into())), ["b1", "a2"]);
    assert_eq!(with(|it| it.parent = Some(run("a1"))), ["b1"]);
    assert_eq!(with(|it| it.prefix = Some("b".into())), ["b2", "b1"]);
    assert_eq!(with(|it| it.prefix = Some("a2".into())), ["a2"]);
    for nothing in ["%", "_1", "A", "a22", "a\0"] {
        let query = Query {
            prefix: Some(nothing.to_owned()),
            ..ten()
        };
        assert_eq!(ids(store, &query), [""; 0], "{nothing}");
    }
    assert_eq!(with(|it| it.prefix = Some(String::new())).len(), 4);
    let all = |it: &mut Query| {
        it.statuses = vec!["waiting".into()];
        it.workflow = Some("ship".into());
        it.project = Some("p".into());
        it.parent = Some(run("a1"));
        it.prefix = Some("b".into());
    };
    assert_eq!(with(all), ["b1"]);
    store
        .fork(&run("a2"), 1, &notes("c1", Expect::NoRun, &["x"]))
        .unwrap();
    assert_eq!(with(|it| it.forked = Some(run("a2"))), ["c1"]);
    assert_eq!(with(|it| it.forked = Some(run("a1"))), [""; 0]);
    // What was, isn't found.
    store.append(&notes("b1", Expect::Any, &["x"])).unwrap();
    assert_eq!(with(|it| it.statuses = vec!["waiting".into()]), ["a2"]);
    assert_eq!(with(|it| it.parent = Some(run("a1"))), [""; 0]);
}

/// What looks like an open request in a name is none.
fn asking(store: &dyn Store, _: &ManualClock) {
    let is = |wanted: &[&str]| {
        let query = Query {
            has_requests: true,
            ..ten()
        };
        assert_eq!(ids(store, &query), wanted);
    };
    let mut append = notes("named", Expect::NoRun, &["x"]);
    append.summary.title = Some(format!("{REQUESTS_MARK} \\\"requests\":[\"a:1\"]"));
    store.append(&append).unwrap();
    is(&[]);
    for (id, requests, status) in [
        ("a", vec!["a:1"], "waiting"),
        ("b", vec!["b:1", "b:2"], "paused"),
        ("c", vec![], "waiting"),
    ] {
        let mut append = notes(id, Expect::NoRun, &["x"]);
        append.summary.requests = requests.into_iter().map(str::to_owned).collect();
        append.summary.status = status.to_owned();
        store.append(&append).unwrap();
    }
    is(&["b", "a"]);
    let with = |change: fn(&mut Query)| {
        let mut query = Query {
            has_requests: true,
            ..ten()
        };
        change(&mut query);
        ids(store, &query)
    };
    let both = |it: &mut Query| it.statuses = vec!["waiting".into(), "paused".into()];
    assert_eq!(with(both), ["b", "a"]);
    assert_eq!(with(|it| it.statuses = vec!["waiting".into()]), ["a"]);
    assert_eq!(with(|it| it.workflow = Some("ship".into())), [""; 0]);
    assert_eq!(with(|it| it.limit = 1), ["b"]);
    // What was answered isn't found, and what is asked anew is.
    store.append(&notes("b", Expect::Any, &["x"])).unwrap();
    is(&["a"]);
    let mut append = notes("c", Expect::Any, &["x"]);
    append.summary.requests = vec!["c:2".to_owned()];
    store.append(&append).unwrap();
    is(&["c", "a"]);
}

fn merged(store: &dyn Store, _: &ManualClock) {
    let statuses = ["running", "waiting", "failed", ""];
    for number in 0..24_usize {
        let mut append = notes(&format!("r{number:02}"), Expect::NoRun, &["x"]);
        append.records[0].time = BEGIN + (number % 5) as u64;
        append.summary.status = statuses[number % 4].to_owned();
        append.summary.workflow = ["order", "ship", ""][number % 3].to_owned();
        store.append(&append).unwrap();
    }
    let everything = Query {
        limit: 100,
        ..Query::default()
    };
    let everything = store.list(&everything).unwrap().heads;
    for workflow in [None, Some("order"), Some(""), Some("nobody's")] {
        for wanted in [
            &[][..],
            &["failed"],
            &["waiting", "running"],
            &["", "failed", "failed"],
        ] {
            let mut query = Query {
                workflow: workflow.map(str::to_owned),
                statuses: wanted.iter().map(|&it| it.to_owned()).collect(),
                limit: 3,
                ..Query::default()
            };
            let expected = everything.iter().filter(|head| query.matches(head));
            let expected: Vec<_> = expected.cloned().collect();
            let mut found = Vec::new();
            loop {
                let page = store.list(&query).unwrap();
                assert!(page.next.is_none() || page.heads.len() == 3);
                found.extend(page.heads);
                query.after = page.next;
                if query.after.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected, "{workflow:?} {wanted:?}");
        }
    }
}

fn pages(store: &dyn Store, _: &ManualClock) {
    for number in 0..25 {
        let id = format!("r{number:02}");
        let mut append = notes(&id, Expect::NoRun, &["x"]);
        // Several at the same moment, so that the id must decide.
        append.records[0].time = BEGIN + number / 4;
        store.append(&append).unwrap();
    }
    let whole = ids(
        store,
        &Query {
            limit: 100,
            ..ten()
        },
    );
    assert_eq!(whole.len(), 25);
    for limit in [1, 3, 5, 24, 25] {
        let mut joined: Vec<String> = Vec::new();
        let mut after: Option<Cursor> = None;
        loop {
            let query = Query {
                limit,
                after: after.clone(),
                ..Query::default()
            };
            let page = store.list(&query).unwrap();
            assert!(page.heads.len() <= limit && !page.heads.is_empty());
            joined.extend(page.heads.iter().map(|head| head.run.to_string()));
            assert!(joined.len() <= 25, "pages of {limit} don't end");
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(joined, whole, "pages of {limit}");
    }
}

fn limits(store: &dyn Store, _: &ManualClock) {
    for id in 0..3 {
        begun(store, &format!("r{id}"), 1);
    }
    assert_eq!(ids(store, &Query::default()).len(), 1, "at least one");
    for number in 3..=MAX_PAGE {
        begun(store, &format!("r{number}"), 1);
    }
    let query = Query {
        limit: usize::MAX,
        ..Query::default()
    };
    let page = store.list(&query).unwrap();
    assert_eq!(page.heads.len(), MAX_PAGE);
    let query = Query {
        after: page.next,
        ..query
    };
    assert_eq!(store.list(&query).unwrap().heads.len(), 1);
}

fn counts(store: &dyn Store, _: &ManualClock) {
    let is = |wanted: &[(&str, u64)]| {
        let counts = store.status_counts().unwrap();
        let counts: Vec<(&str, u64)> = counts.iter().map(|(name, it)| (&**name, *it)).collect();
        assert_eq!(counts, wanted);
    };
    is(&[]);
    for (id, status) in [("a", "running"), ("b", "waiting"), ("c", "running")] {
        let mut append = notes(id, Expect::NoRun, &["x"]);
        append.summary.status = status.to_owned();
        store.append(&append).unwrap();
    }
    is(&[("running", 2), ("waiting", 1)]);
    // A run counts once, as it is now.
    let mut append = notes("b", Expect::Any, &["x", "y"]);
    append.summary.status = "completed".to_owned();
    store.append(&append).unwrap();
    let fork = notes("d", Expect::NoRun, &["x"]);
    store.fork(&run("a"), 1, &fork).unwrap();
    is(&[("completed", 1), ("running", 3)]);
    store.remove(&run("d"), Expect::Any).unwrap();
    store.remove(&run("b"), Expect::Any).unwrap();
    is(&[("running", 2)]);
    // More of them than a page of a list has.
    for number in 0..=MAX_PAGE as u64 {
        begun(store, &format!("r{number}"), 1);
    }
    is(&[("running", MAX_PAGE as u64 + 3)]);
}

fn changes_are_listed(store: &dyn Store, _: &ManualClock) {
    let (start, none) = store.changes(&Watermark::default()).unwrap();
    assert_eq!(none, []);
    begun(store, "a", 1);
    begun(store, "b", 2);
    let hint = |id: &str, seq| Hint { run: run(id), seq };
    let (mark, hints) = store.changes(&start).unwrap();
    assert_eq!(hints, [hint("a", 1), hint("b", 2)]);
    assert_eq!(store.changes(&mark).unwrap(), (mark.clone(), Vec::new()));
    store.append(&notes("a", Expect::Any, &["x", "y"])).unwrap();
    store
        .fork(&run("b"), 1, &notes("c", Expect::NoRun, &["x"]))
        .unwrap();
    let (last, hints) = store.changes(&mark).unwrap();
    assert_eq!(hints, [hint("a", 3), hint("c", 2)]);
    // A watcher that is behind hears of everything that it hasn't seen.
    let (_, mut hints) = store.changes(&start).unwrap();
    hints.sort_by(|one, other| one.run.cmp(&other.run));
    assert_eq!(hints, [hint("a", 3), hint("b", 2), hint("c", 2)]);
    assert_eq!(store.changes(&last).unwrap().1, []);
}

fn changes_after_removal(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    begun(store, "b", 1);
    let (mark, _) = store.changes(&Watermark::default()).unwrap();
    store.remove(&run("b"), Expect::Any).unwrap();
    let (mark, hints) = store.changes(&mark).unwrap();
    assert_eq!(hints, []);
    begun(store, "c", 1);
    let (_, hints) = store.changes(&mark).unwrap();
    let seq = 1;
    assert_eq!(hints, [Hint { run: run("c"), seq }]);
}

/// More than SQLite tells at once.
fn changes_in_parts(store: &dyn Store, _: &ManualClock) {
    const MANY: usize = MAX_PAGE + 10;
    begun(store, "parent", 1);
    let (start, _) = store.changes(&Watermark::default()).unwrap();
    let runs: Vec<String> = (0..MANY).map(|number| format!("r{number}")).collect();
    for run in &runs {
        begun(store, run, 1);
    }
    let (mut mark, mut told) = (start, Vec::new());
    loop {
        let (next, hints) = store.changes(&mark).unwrap();
        if hints.is_empty() {
            assert_eq!(next, mark);
            break;
        }
        assert!(next > mark, "{next:?}");
        told.extend(hints.into_iter().map(|hint| hint.run.to_string()));
        mark = next;
    }
    assert!(told == runs, "{} of {MANY} were told", told.len());
}

/// Whoever comes with a mark that this store never gave gets a smaller one, and knows by that that it may have missed something.
fn others_mark(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    let newest = newest(store);
    for beyond in [1 << 40, 1 << 60] {
        let foreign = Watermark(newest.0 + beyond);
        let (next, hints) = store.changes(&foreign).unwrap();
        assert_eq!((next, hints), (newest.clone(), Vec::new()));
    }
}

/// The mark behind all changes.
fn newest(store: &dyn Store) -> Watermark {
    let mut mark = Watermark::default();
    loop {
        let (next, _) = store.changes(&mark).unwrap();
        if next == mark {
            return mark;
        }
        mark = next;
    }
}
