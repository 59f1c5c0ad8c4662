//! A long run: what it takes to know its state, to go through all of it, and to go on.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use statemark_compiler::source::Sources;
use statemark_compiler::{Options, back, compile};
use statemark_runs::runs::{ForkRun, RewindRun};
use statemark_runs::{
    Actor, Append, Expect, Hash, ManualClock, NewRecord, Order, Record, Role, RunId, Runs,
    SendEvent, StartRun, Store, SystemClock, Workflow, plan_rewind, state,
};
use statemark_stores::{MemoryStore, SqliteStore};

const SPEC: &str = "\
## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> one
    one --> two : work
    two --> one : work
```
";

/// Records of one transaction while the run is copied.
const BATCH: usize = 1_000;

/// Most memory that this process has had. Unit: KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

pub(crate) fn measure(folder: &Path, records: u64) {
    let run: RunId = "long".parse().unwrap();
    let path = folder.join("long.db");
    let mut sources = Sources::new();
    sources.add("long.md", SPEC);
    let compiled = compile(&sources, &Options::default());
    let machine = compiled.machines.first().expect("a machine");
    let workflow = Arc::new(Workflow::from_bytes(back::table::write(machine)).unwrap());
    let workflows = Arc::new(std::collections::BTreeMap::from([(
        workflow.id().to_owned(),
        Arc::clone(&workflow),
    )]));
    let over = |store: Arc<dyn Store>| {
        let clock = Arc::new(ManualClock::new(1_800_000_000_000));
        Runs::new(store, Arc::clone(&workflows) as Arc<_>, clock)
    };
    let order = Order::new(run.clone(), Actor::new(Role::Agent));
    let send = SendEvent {
        event: "work".to_owned(),
        data: None,
        ..SendEvent::default()
    };
    // A few in memory, whose records then repeat: each transition is one that the machine makes.
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new(SystemClock));
    let few = over(Arc::clone(&memory));
    let start = StartRun {
        workflow: workflow.id().to_owned(),
        ..StartRun::default()
    };
    few.execute(&order, &start).unwrap();
    few.execute(&order, &send).unwrap();
    few.execute(&order, &send).unwrap();
    let pattern = memory.records(&run, 0, 1_000).unwrap();
    let summary = memory.head(&run).unwrap().summary;
    let first = pattern.len() as u64 - 2;

    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path, SystemClock).unwrap());
    let begun = Instant::now();
    let template = |seq: u64| {
        let index = if seq < first {
            seq
        } else {
            first + (seq - first) % 2
        };
        let record = pattern.get(usize::try_from(index).unwrap()).unwrap();
        new(record)
    };
    let bytes = memory.blob(&workflow.hash()).unwrap();
    store.put_blob(&bytes).unwrap();
    let mut seq = 0;
    while seq < records {
        let upto = (seq + BATCH as u64).min(records);
        let append = Append {
            run: run.clone(),
            expect: if seq == 0 {
                Expect::NoRun
            } else {
                Expect::At(seq)
            },
            key: None,
            fence: None,
            records: (seq..upto).map(template).collect(),
            summary: summary.clone(),
            timers: None,
        };
        store.append(&append).unwrap();
        seq = upto;
        // As one that grew step by step has them.
        let runs = over(Arc::clone(&store));
        statemark_runs::cache_state(&runs, &runs.load(&run).unwrap()).unwrap();
    }
    println!(
        "{records} records written in {:?}, {BATCH} at a time",
        begun.elapsed()
    );
    drop(store);
    let size = std::fs::metadata(&path).unwrap().len();
    println!("the file: {} bytes a record", size / records);

    read(&path, &run, &over, &order, &send, records);
}

fn read(
    path: &Path,
    run: &RunId,
    over: &impl Fn(Arc<dyn Store>) -> Runs,
    order: &Order,
    send: &SendEvent,
    records: u64,
) {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path, SystemClock).unwrap());
    let before = peak();
    let begun = Instant::now();
    let (mut prev, mut count) = (Hash::ZERO, 0);
    state::for_each_record(&*store, run, 0, None, |record| {
        assert_eq!(record.prev, prev);
        prev = record.hash();
        count += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!((count, prev), (records, store.head(run).unwrap().hash));
    println!(
        "every hash checked in {:?}; memory {} KiB more",
        begun.elapsed(),
        peak() - before
    );

    let begun = Instant::now();
    let replayed = state::replay(&*store, run, None).unwrap();
    println!(
        "state without a fold in {:?}; memory {} KiB more",
        begun.elapsed(),
        peak() - before
    );
    assert_eq!(*over(Arc::clone(&store)).load(run).unwrap().state, replayed);
    for _ in 0..100 {
        over(Arc::clone(&store)).execute(order, send).unwrap();
    }
    let (at, fold) = store.fold_cache(run, u64::MAX).unwrap().unwrap();
    println!("the fold: {} bytes, up to record {at}", fold.len());
    drop(store);

    let begun = Instant::now();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path, SystemClock).unwrap());
    let opened = begun.elapsed();
    let runs = over(store);
    let loaded = runs.load(run).unwrap();
    println!(
        "opened in {opened:?}, state of {} records in {:?}",
        loaded.head.seq,
        begun.elapsed()
    );
    let begun = Instant::now();
    runs.execute(order, send).unwrap();
    println!("one event more in {:?}", begun.elapsed());

    let begun = Instant::now();
    let fork = ForkRun::new(run.clone(), records / 2);
    let other = Order::new("fork".parse().unwrap(), Actor::new(Role::Agent));
    runs.execute(&other, &fork).unwrap();
    println!("a fork at the middle in {:?}", begun.elapsed());
    let begun = Instant::now();
    plan_rewind(&runs, run, &RewindRun::to(records - records / 100)).unwrap();
    println!(
        "the plan of a rewind of the last hundredth in {:?}",
        begun.elapsed()
    );
}

fn new(record: &Record) -> NewRecord {
    NewRecord {
        time: record.time,
        kind: record.kind.clone(),
        v: record.v,
        actor: record.actor.clone(),
        body: record.body.clone(),
    }
}
