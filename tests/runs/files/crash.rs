//! A rewind with files that breaks off at each of its points: afterwards state, files and journal agree.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use statemark_store::body::Scope;
use statemark_store::runs::{Probe, Rewind};
use statemark_store::{ManualClock, MemoryStore, Runs, Send, Start, Store, fold};

use super::SPEC;
use super::repository::Work;
use crate::harness::{BEGIN, Bench, workflows};

/// The points that were reached, in order; the process dies at one of them.
fn dying(at: usize, names: &Arc<Mutex<Vec<String>>>) -> Probe {
    let count = AtomicUsize::new(0);
    let names = Arc::clone(names);
    Arc::new(move |name: &str| {
        names.lock().unwrap().push(name.to_owned());
        if count.fetch_add(1, Ordering::SeqCst) == at {
            std::panic::panic_any(());
        }
    })
}

struct Scene {
    bench: Bench,
    store: Arc<MemoryStore>,
    work: Work,
    rewind: Rewind,
}

/// In `build`, with a file of it; about to go back to where there was none.
fn scene() -> Scene {
    let clock = Arc::new(ManualClock::new(BEGIN));
    let store = Arc::new(MemoryStore::new(Arc::clone(&clock)));
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<_>;
    let bench = Bench::over(&[("case.md", SPEC)], clock, shared);
    let order = bench.order("r");
    let start = Start {
        workflow: bench.runs.workflows().ids().remove(0),
        ..Start::default()
    };
    bench.runs.start(&order, &start).unwrap();
    let work = Work::new();
    work.write("plan", "1").commit();
    super::saved(&bench.runs, &bench, work.path(), "one").unwrap();
    let event = "go".to_owned();
    bench
        .runs
        .send(&order, &Send { event, data: None })
        .unwrap();
    work.write("built", "1").write("plan", "2");
    let mut rewind = Rewind::to(2);
    rewind.scope = Scope::Both;
    rewind.token = Some(bench.runs.plan_rewind(&order.run, &rewind).unwrap().token);
    Scene {
        bench,
        store,
        work,
        rewind,
    }
}

#[test]
fn a_crash_tears_nothing() {
    let mut reached = Vec::new();
    for at in 0.. {
        let scene = scene();
        let order = scene.bench.order("r");
        let names = Arc::new(Mutex::new(Vec::new()));
        let dies = Runs::new(
            Arc::clone(&scene.store) as Arc<_>,
            Arc::new(workflows(&[("case.md", SPEC)])),
            Arc::clone(&scene.bench.clock) as Arc<_>,
        )
        .with_probe(dying(at, &names));
        let crash = catch_unwind(AssertUnwindSafe(|| dies.rewind(&order, &scene.rewind)));
        let name = names.lock().unwrap().last().cloned().unwrap();
        if crash.is_ok() {
            // It has no more points.
            break;
        }
        after(&scene, &name);
        reached.push(name);
    }
    assert_eq!(
        reached,
        [
            "append",
            "appended",
            "restore.intended",
            "restore.saved",
            "restore.compared",
            "append",
            "appended",
            "restore.recorded"
        ]
    );
}

/// Somebody else comes along: nothing moves before it is finished, and then all of it has happened or nothing.
fn after(scene: &Scene, point: &str) {
    let (runs, order) = (&scene.bench.runs, scene.bench.order("r"));
    let loaded = runs.load(&order.run).unwrap();
    if loaded.state.restoring.is_some() {
        let event = "again".to_owned();
        let sent = runs.send(&order, &Send { event, data: None }).unwrap();
        assert_eq!(sent.records[0].kind, "refused", "{point}");
        runs.finish_restore(&order).unwrap();
    }
    let loaded = runs.load(&order.run).unwrap();
    assert_eq!(loaded.state.restoring, None, "{point}");
    let rewound = !loaded.state.rewinds.is_empty();
    let leaves = if rewound { ["plan"] } else { ["build"] };
    assert_eq!(loaded.state.leaves, leaves, "{point}");
    assert_eq!(scene.work.has("built"), !rewound, "{point}");
    let plan = if rewound { "1" } else { "2" };
    assert_eq!(scene.work.read("plan"), plan, "{point}");
    let anew = fold::read_anew(runs.store(), &order.run, None).unwrap();
    assert_eq!(anew, loaded.state, "{point}");
}
