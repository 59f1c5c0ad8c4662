//! Rewinds and files being put back that break off at each of their points, and are broken off again by whoever finishes
//! them: afterwards state, files and journal agree.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use statemark_runs::body::Scope;
use statemark_runs::runs::{Failpoint, ForkRun, RestoreFiles, RewindRun};
use statemark_runs::{
    Body, FinishRestore, ManualClock, Reason, Remedy, RunError, Runs, SendEvent, StartRun, Store,
    explain, plan_rewind, replay_run, state,
};
use statemark_stores::MemoryStore;

use super::SPEC;
use super::repository::Work;
use crate::harness::{BEGIN, Bench, workflows};

/// The points that were reached, in order; the process dies at one of them.
fn dying(at: usize, names: &Arc<Mutex<Vec<String>>>) -> Failpoint {
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
    rewind: RewindRun,
}

/// In `build`, with a file of it; about to go back to where there was none.
fn scene() -> Scene {
    let clock = Arc::new(ManualClock::new(BEGIN));
    let store = Arc::new(MemoryStore::new(Arc::clone(&clock)));
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<_>;
    let bench = Bench::over(&[("case.md", SPEC)], clock, shared);
    let order = bench.order("r");
    let start = StartRun {
        workflow: bench.runs.workflows().ids().remove(0),
        ..StartRun::default()
    };
    bench.runs.execute(&order, &start).unwrap();
    let work = Work::new();
    work.write("plan", "1").commit();
    super::saved(&bench.runs, &bench, work.path(), "one").unwrap();
    let event = "go".to_owned();
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
    work.write("built", "1").write("plan", "2");
    let mut rewind = RewindRun::to(2);
    rewind.scope = Scope::Both;
    rewind.token = Some(plan_rewind(&bench.runs, &order.run, &rewind).unwrap().token);
    Scene {
        bench,
        store,
        work,
        rewind,
    }
}

/// What may be broken off.
#[derive(Clone, Copy, PartialEq)]
enum Deed {
    /// A rewind with files.
    Rewind,
    /// A rewind of the state alone.
    State,
    /// Files are put back, and the state stays.
    Restore,
    /// Another run begins where this one had other files.
    Fork,
}

impl Deed {
    /// The run that it is done to.
    const fn run(self) -> &'static str {
        match self {
            Self::Fork => "f",
            _ => "r",
        }
    }
}

impl Scene {
    /// Over the same store, dying at a point.
    fn dies(&self, at: usize, names: &Arc<Mutex<Vec<String>>>) -> Runs {
        let runs = Runs::new(
            Arc::clone(&self.store) as Arc<_>,
            Arc::new(workflows(&[("case.md", SPEC)])),
            Arc::clone(&self.bench.clock) as Arc<_>,
        );
        runs.with_failpoint(dying(at, names))
    }

    /// The point at which it broke off, if it did.
    fn breaks<T>(
        &self,
        at: usize,
        deed: impl FnOnce(&Runs) -> Result<T, RunError>,
    ) -> Option<String> {
        let names = Arc::new(Mutex::new(Vec::new()));
        let dies = self.dies(at, &names);
        let crash = catch_unwind(AssertUnwindSafe(|| drop(deed(&dies).unwrap())));
        let last = names.lock().unwrap().last().cloned();
        crash.err().and(last)
    }

    fn does(&self, runs: &Runs, deed: Deed) -> Result<(), RunError> {
        let order = self.bench.order(deed.run());
        let name = "one".to_owned();
        match deed {
            Deed::Fork => {
                let mut fork = ForkRun::new("r".parse().unwrap(), 2);
                fork.restore_workspace = true;
                runs.execute(&order, &fork).map(drop)
            }
            Deed::Restore => runs.execute(&order, &RestoreFiles { name }).map(drop),
            Deed::Rewind => runs.execute(&order, &self.rewind).map(drop),
            Deed::State => {
                let mut rewind = RewindRun::to(2);
                rewind.token = Some(plan_rewind(runs, &order.run, &rewind)?.token);
                runs.execute(&order, &rewind).map(drop)
            }
        }
    }
}

/// Breaks a deed off at each of its points, and each time lets somebody else come along, who breaks off, too.
fn broken_off(deed: Deed) -> Vec<String> {
    let mut reached = Vec::new();
    for at in 0.. {
        for again in 0.. {
            let scene = scene();
            let Some(point) = scene.breaks(at, |runs| scene.does(runs, deed)) else {
                // It has no more points.
                return reached;
            };
            reached.extend((again == 0).then(|| point.clone()));
            if !finish_by_other(&scene, deed, &point, again) {
                break;
            }
        }
    }
    reached
}

/// Somebody else comes along: nothing moves before it is finished, and then all of it has happened or nothing. Whether the
/// one who finishes it broke off, too.
fn finish_by_other(scene: &Scene, deed: Deed, point: &str, at: usize) -> bool {
    let (runs, order) = (&scene.bench.runs, scene.bench.order(deed.run()));
    let mut broke_off = false;
    let begun = runs.load(&order.run);
    if let Ok(loaded) = begun
        && loaded.state.restoring.is_some()
    {
        let event = "again".to_owned();
        let sent = runs
            .execute(
                &order,
                &SendEvent {
                    event,
                    data: None,
                    ..SendEvent::default()
                },
            )
            .unwrap();
        assert_eq!(sent.records[0].kind, "refused", "{point}");
        let why = explain(&runs.load(&order.run).unwrap(), None).unwrap();
        let restore = |it: &&Reason| it.remedy == Some(Remedy::Restore);
        let codes = why.reasons.iter().filter(restore).map(Reason::code);
        assert_eq!(codes.collect::<Vec<_>>(), ["restoring"], "{point}");
        broke_off = scene
            .breaks(at, |dies| dies.execute(&order, &FinishRestore))
            .is_some();
        if runs.load(&order.run).unwrap().state.restoring.is_some() {
            runs.execute(&order, &FinishRestore).unwrap();
        }
        let why = explain(&runs.load(&order.run).unwrap(), None).unwrap();
        assert!(!why.reasons.iter().any(|it| restore(&it)), "{point}");
    }
    agree(scene, deed, point);
    broke_off
}

/// State, files and journal agree.
fn agree(scene: &Scene, deed: Deed, point: &str) {
    let (runs, order) = (&scene.bench.runs, scene.bench.order("r"));
    let loaded = runs.load(&order.run).unwrap();
    let fork = runs.load(&"f".parse().unwrap());
    assert_eq!(loaded.state.restoring, None, "{point}");
    let rewound = !loaded.state.rewinds.is_empty();
    assert!(!rewound || deed != Deed::Restore, "{point}");
    let leaves = if rewound { ["plan"] } else { ["build"] };
    assert_eq!(loaded.state.leaves, leaves, "{point}");
    let back = match deed {
        Deed::Rewind => rewound,
        Deed::State => false,
        Deed::Fork => {
            assert_eq!(loaded.head.seq, 3, "the other run is untouched: {point}");
            fork.is_ok()
        }
        Deed::Restore => {
            let records = runs.store().records(&order.run, 0, 100).unwrap();
            let mut bodies = records.iter().map(|it| it.read().unwrap());
            bodies.any(|it| matches!(it, Body::CheckpointRestored(it) if it.done))
        }
    };
    assert_eq!(scene.work.has("built"), !back, "{point}");
    let plan = if back { "1" } else { "2" };
    assert_eq!(scene.work.read("plan"), plan, "{point}");
    for loaded in [Ok(loaded), fork].into_iter().flatten() {
        let anew = state::replay(runs.store(), &loaded.run, None).unwrap();
        assert_eq!(anew, *loaded.state, "{point}");
        assert_eq!(loaded.state.restoring, None, "{point}");
        let replay = replay_run(runs, &loaded.run, None).unwrap();
        assert_eq!(replay.difference, None, "{point}");
        let leaves = if loaded.run.as_str() == "f" {
            ["plan"]
        } else {
            leaves
        };
        assert_eq!(loaded.state.leaves, leaves, "{point}");
    }
}

/// The points of what is done to files.
const WITH_FILES: [&str; 8] = [
    "append",
    "appended",
    "restore.intended",
    "restore.saved",
    "restore.compared",
    "append",
    "appended",
    "restore.recorded",
];

#[test]
fn a_crash_of_a_rewind_with_files_tears_nothing() {
    assert_eq!(broken_off(Deed::Rewind), WITH_FILES);
}

#[test]
fn a_crash_of_a_fork_with_files_tears_nothing() {
    let mut points = WITH_FILES;
    (points[0], points[1]) = ("begin", "begun");
    assert_eq!(broken_off(Deed::Fork), points);
}

#[test]
fn a_crash_while_files_are_put_back_tears_nothing() {
    assert_eq!(broken_off(Deed::Restore), WITH_FILES);
}

#[test]
fn a_crash_of_a_rewind_tears_nothing() {
    assert_eq!(broken_off(Deed::State), ["append", "appended"]);
}
