//! What runs have to survive whose journals were written by nobody: wrong bodies, places, times and kinds, in chains whose
//! hashes are right.
//!
//! `tests/fuzz/` includes this file, too.

#[path = "../../../runtime/engine/src/tests/entropy.rs"]
mod entropy;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use statemark_runs::body::{RequestKind, StepStatus};
use statemark_runs::maintenance::{export, ignore_progress, import, verify};
use statemark_runs::policy::Gating;
use statemark_runs::runs::{ForkRun, MigrateRun, PutArtifact, RewindRun};
use statemark_runs::{
    Actor, Advance, AnswerRequest, Append, Body, CancelRun, ContinueRun, Expect, ForceState,
    ManualClock, NewRecord, OpenRequest, Order, PauseRun, RecordCall, Reply, ReserveCall, Role,
    RunId, RunSummary, Runs, SendEvent, Store, Workflow, fire_due, load_timeline, plan_fork,
    plan_migration, plan_rewind, read_artifact, reconcile_children, replay_run, state,
};
use statemark_stores::MemoryStore;

use entropy::Entropy;

/// What is kept of a store whose runs are as they should be.
pub(crate) struct Seed {
    pub(crate) runs: BTreeMap<RunId, Vec<NewRecord>>,
    blobs: Vec<Vec<u8>>,
    /// All that bodies say, to be said in other places.
    values: Vec<Value>,
    /// When the last record was written. Unit: milliseconds since 1970.
    end: u64,
}

impl Seed {
    /// Of an export.
    pub(crate) fn new(lines: &[u8]) -> Self {
        let store = MemoryStore::new(ManualClock::new(0));
        let imported = import(&store, &mut &*lines).expect("an export");
        let mut seed = Self {
            runs: BTreeMap::new(),
            blobs: Vec::new(),
            values: Vec::new(),
            end: 0,
        };
        for run in imported.new {
            let records = store.records(&run, 0, 1_000).expect("records");
            for record in &records {
                let body: Value = serde_json::from_str(&record.body).expect("a body");
                for hash in strings(&body) {
                    let blob = hash.parse().ok().and_then(|hash| store.blob(&hash).ok());
                    seed.blobs.extend(blob);
                }
                gather(&body, &mut seed.values);
                seed.end = seed.end.max(record.time);
            }
            let records = records.iter().map(|record| NewRecord {
                time: record.time,
                kind: record.kind.clone(),
                v: record.v,
                actor: record.actor.clone(),
                body: record.body.clone(),
            });
            seed.runs.insert(run, records.collect());
        }
        seed
    }

    /// Changes a run at will, and does to it what faces do. Whether it could still be read.
    pub(crate) fn exercise(&self, input: &[u8]) -> bool {
        let mut entropy = Entropy::new(input);
        let which = entropy.below(self.runs.len());
        let mut runs = self.runs.clone();
        let Some((run, records)) = runs.iter_mut().nth(which) else {
            return false;
        };
        let run = run.clone();
        for _ in 0..=entropy.below(3) {
            self.edit(&mut entropy, records);
        }
        // What no store takes is harmless.
        let Some(runs) = self.told(&runs) else {
            return false;
        };
        let is_read = runs.load(&run).is_ok();
        read(&runs, &run);
        act(&runs, &run, &mut entropy);
        read(&runs, &run);
        is_read
    }

    /// A store in which runs say what they are made to say; none if it doesn't take one of them.
    pub(crate) fn told(&self, runs: &BTreeMap<RunId, Vec<NewRecord>>) -> Option<Runs> {
        let clock = Arc::new(ManualClock::new(self.end + 1_000));
        let store = MemoryStore::new(Arc::clone(&clock));
        for blob in &self.blobs {
            store.put_blob(blob).expect("a blob");
        }
        for (run, records) in runs.iter().filter(|(_, records)| !records.is_empty()) {
            let append = Append {
                run: run.clone(),
                expect: Expect::NoRun,
                key: None,
                fence: None,
                records: records.clone(),
                summary: RunSummary::default(),
                timers: None,
            };
            store.append(&append).ok()?;
        }
        let workflows: BTreeMap<String, Arc<Workflow>> = BTreeMap::new();
        Some(Runs::new(Arc::new(store), Arc::new(workflows), clock))
    }

    fn edit(&self, entropy: &mut Entropy<'_>, records: &mut Vec<NewRecord>) {
        if records.is_empty() {
            return;
        }
        let (at, other) = (entropy.below(records.len()), entropy.below(records.len()));
        match entropy.below(16) {
            0 => drop(records.remove(at)),
            1 => records.insert(other, records[at].clone()),
            2 => records.swap(at, other),
            3 => records[at].kind = records[other].kind.clone(),
            4 => records[at].kind = Body::KINDS[entropy.below(Body::KINDS.len())].to_owned(),
            5 => records[at].v = [0, 2, u16::MAX][entropy.below(3)],
            6 => records[at].time = [0, 1, self.end * 2, u64::MAX >> 12][entropy.below(4)],
            7 => records[at].body = records[other].body.clone(),
            8 => records[at].actor = Actor::new(Role::Observer),
            _ => {
                let mut body = serde_json::from_str(&records[at].body).unwrap_or(Value::Null);
                self.alter(entropy, &mut body);
                records[at].body = body.to_string();
            }
        }
    }

    /// Something in a value becomes something else, or isn't there any more.
    fn alter(&self, entropy: &mut Entropy<'_>, value: &mut Value) {
        match value {
            Value::Object(fields) if !fields.is_empty() && !entropy.once_in(8) => {
                let key = fields.keys().nth(entropy.below(fields.len())).cloned();
                let key = key.expect("a field");
                if entropy.once_in(6) {
                    fields.remove(&key);
                } else {
                    self.alter(entropy, &mut fields[&key]);
                }
            }
            Value::Array(items) if !items.is_empty() && !entropy.once_in(8) => {
                let at = entropy.below(items.len());
                match entropy.below(6) {
                    0 => drop(items.remove(at)),
                    1 => items.push(items[at].clone()),
                    _ => self.alter(entropy, &mut items[at]),
                }
            }
            other => *other = self.strange(entropy),
        }
    }

    fn strange(&self, entropy: &mut Entropy<'_>) -> Value {
        match entropy.below(12) {
            0 => Value::Null,
            1 => json!(-1),
            2 => json!(u64::MAX),
            3 => json!(i64::MIN),
            4 => json!(0.5),
            5 => json!(""),
            6 => json!("\u{0}\u{202e}ö/../\n"),
            7 => json!([]),
            8 => json!(u16::MAX),
            _ => self.values[entropy.below(self.values.len())].clone(),
        }
    }
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

fn gather(value: &Value, all: &mut Vec<Value>) {
    all.push(value.clone());
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, all)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, all)),
        _ => {}
    }
}

/// All that faces look at. Whatever is wrong is an error and no panic.
pub(crate) fn read(runs: &Runs, run: &RunId) {
    let store = runs.store();
    let records = store.records(run, 0, 1_000).unwrap_or_default();
    for record in &records {
        assert!(!record.summary().is_empty());
    }
    let anew = state::replay(store, run, None);
    if let Ok(loaded) = runs.load(run) {
        assert_eq!(
            *loaded.state,
            anew.expect("what was loaded"),
            "the folds of {run}"
        );
        drop(loaded.view());
        for event in [None, Some("go"), Some("nothing")] {
            drop(statemark_runs::explain(&loaded, event));
        }
        drop(loaded.legality().transitions());
        drop(
            loaded
                .legality()
                .transitions_of(None, Some(&json!({"n": 3}))),
        );
        let _ = loaded.may_offer("Edit", Gating::Counted);
        for revision in loaded.state.artifacts.values().flatten() {
            drop(read_artifact(runs, &loaded, &revision.artifact.name, None));
        }
    }
    drop(load_timeline(runs, run));
    drop(replay_run(runs, run, None));
    drop(plan_migration(
        runs,
        run,
        &MigrateRun::default(),
        Role::Agent,
    ));
    for at in [1, records.len() as u64 / 2, records.len() as u64] {
        drop(plan_rewind(runs, run, &RewindRun::to(at)));
        drop(plan_fork(runs, &ForkRun::new(run.clone(), at)));
    }
    drop(verify(store, None, &mut ignore_progress));
    drop(export(
        store,
        Some(run),
        &mut Vec::new(),
        &mut ignore_progress,
    ));
}

/// Some of what faces do.
fn act(runs: &Runs, run: &RunId, entropy: &mut Entropy<'_>) {
    let agent = Order::new(run.clone(), Actor::new(Role::Agent));
    let person = Order::new(run.clone(), Actor::new(Role::Person).with_name("ann"));
    for _ in 0..6 {
        match entropy.below(16) {
            0 => drop(runs.catch_up(run)),
            1 => drop(fire_due(runs, runs.now() + 60_000, 10)),
            2 => drop(runs.execute(&agent, &PauseRun::default())),
            3 => drop(runs.execute(&agent, &ContinueRun::default())),
            4 => drop(runs.execute(&agent, &CancelRun::because("enough"))),
            5 => {
                let force = ForceState {
                    to: "write".to_owned(),
                    ..ForceState::default()
                };
                drop(runs.execute(&person, &force));
            }
            6 => {
                let report = Advance::status("plan", StepStatus::Completed);
                drop(runs.execute(&agent, &report));
            }
            7 => drop(runs.execute(&agent, &PutArtifact::draft("plan", "text"))),
            8 => {
                let fork = ForkRun::new(run.clone(), 3);
                let new = Order::new("fork".parse().expect("an id"), Actor::new(Role::Agent));
                drop(runs.execute(&new, &fork));
            }
            9 => {
                let reserve = ReserveCall {
                    tool: "Edit".to_owned(),
                    ..ReserveCall::default()
                };
                drop(runs.execute(&agent, &reserve));
                let used = RecordCall {
                    tool: "Edit".to_owned(),
                    files: vec!["db/a.sql".to_owned()],
                    ..RecordCall::default()
                };
                drop(runs.execute(&agent, &used));
            }
            10 => drop(runs.execute(&agent, &OpenRequest::new(RequestKind::Text, "Well?"))),
            11 => drop(reconcile_children(runs, run)),
            12 => {
                let plan = plan_rewind(runs, run, &RewindRun::to(2));
                let token = plan.ok().map(|plan| plan.token);
                let rewind = RewindRun {
                    token,
                    force: true,
                    ..RewindRun::to(2)
                };
                drop(runs.execute(&person, &rewind));
            }
            13 => {
                let loaded = runs.load(run).ok();
                for request in loaded.iter().flat_map(|it| it.state.open_requests()) {
                    let request = request.opened.request.clone();
                    drop(runs.execute(&person, &AnswerRequest::new(request, Reply::Approve)));
                }
            }
            _ => {
                let legal = runs
                    .load(run)
                    .and_then(|it| it.legality().transitions())
                    .unwrap_or_default();
                let event = legal.get(entropy.below(legal.len().max(1)));
                let event = event.map_or("go", |it| &it.event).to_owned();
                drop(runs.execute(
                    &agent,
                    &SendEvent {
                        event,
                        data: None,
                        ..SendEvent::default()
                    },
                ));
            }
        }
    }
}
