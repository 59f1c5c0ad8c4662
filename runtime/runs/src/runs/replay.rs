//! The journal is made again, and compared with what was written.
//!
//! A fold believes what records say; a replay runs the machine. Time and data come in with the records, so that the same
//! table makes the same steps: a difference is damage, or another table. Records that were taken back are made again, too.
//!
//! What a person set by hand and where an interrupt led is made again as a jump. An event that came and had to be let go
//! (its approval fell away, or it would have spent a limit) is made again to see that there was a reason.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use statemark_runtime::{StateId, TransitionId};

use super::draft::moves_by;
use super::draft::spent;
use super::follow::unmoved;
use super::{RunError, Runs, interrupt};
use crate::body::{Body, Cause, Event, Forced, Resolution, Started, StepRecord};
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::Record;
use crate::state::{self, LiveRecords, RunState};
use crate::step::{CannotStep, Moment, StepInput, Stepper};
use crate::store::StoreError;
use crate::workflow::Workflow;

/// The result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Replay {
    /// The number of records read.
    pub records: u64,
    /// The number of steps that were made again, and are equal.
    pub steps: u64,
    /// The first difference. Nothing after it was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// A difference of a journal from the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The record.
    pub seq: u64,
    /// The defect.
    pub what: String,
    /// The place in the record, if it is one: names and numbers with dots between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The journal's value.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub journal: Value,
    /// The machine's value.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub again: Value,
}

impl Difference {
    fn new(seq: u64, what: impl Into<String>) -> Self {
        Self {
            seq,
            what: what.into(),
            path: None,
            journal: Value::Null,
            again: Value::Null,
        }
    }
}

/// Replays a journal under its own tables, or under another one to see what would change.
///
/// # Errors
///
/// There is no such run, or the store or a table can't be read. What is wrong in the journal is no error.
pub fn replay_run(
    runs: &Runs,
    run: &RunId,
    under: Option<Arc<Workflow>>,
) -> Result<Replay, RunError> {
    let head = runs.store.head(run)?;
    let mut player = Player {
        lineage: lineage(runs, run)?,
        runs,
        run,
        under,
        last: Hash::ZERO,
        state: RunState::default(),
        replay: Replay::default(),
    };
    let mut failed = None;
    state::for_each_record(&*runs.store, run, 0, Some(head.seq), |record| {
        if player.replay.difference.is_none() && failed.is_none() {
            match player.take(record) {
                Ok(difference) => player.replay.difference = difference,
                Err(error) => failed = Some(error),
            }
        }
        Ok(())
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let mut replay = player.replay;
    if replay.difference.is_none() && (replay.records, player.last) != (head.seq, head.hash) {
        let what = "the journal doesn't end with the record that the store says is its last";
        replay.difference = Some(Difference::new(head.seq, what));
    }
    Ok(replay)
}

/// Returns the runs that a fork's first records are of, with their last records, in order.
fn lineage(runs: &Runs, run: &RunId) -> Result<Vec<(u64, RunId)>, RunError> {
    let mut lineage = vec![(u64::MAX, run.clone())];
    let mut next = runs.store.head(run)?.forked;
    let mut upto = u64::MAX;
    while let Some((parent, at)) = next {
        upto = upto.min(at);
        lineage.push((upto, parent.clone()));
        next = runs.store.head(&parent)?.forked;
    }
    lineage.reverse();
    Ok(lineage)
}

/// A replay while it goes on.
struct Player<'r> {
    runs: &'r Runs,
    run: &'r RunId,
    lineage: Vec<(u64, RunId)>,
    under: Option<Arc<Workflow>>,
    last: Hash,
    state: RunState,
    replay: Replay,
}

impl Player<'_> {
    fn take(&mut self, record: &Record) -> Result<Option<Difference>, RunError> {
        let seq = record.seq;
        if seq != self.replay.records + 1 {
            let what = format!("the record before it is {}", self.replay.records);
            return Ok(Some(Difference::new(seq, what)));
        }
        if record.prev != self.last {
            let what = "its hash of the record before it isn't that record's";
            return Ok(Some(Difference::new(seq, what)));
        }
        self.last = record.hash();
        let body = match record.read() {
            Ok(body) => body,
            Err(error) => {
                let what = format!("`{}` can't be read: {error}", record.kind);
                return Ok(Some(Difference::new(seq, what)));
            }
        };
        if body.version() == record.v && body.to_json() != record.plain_body() {
            let what = format!("`{}` isn't written as it reads", record.kind);
            return Ok(Some(different(
                seq,
                &what,
                &record.plain_body(),
                &body.to_json(),
            )));
        }
        if let Some(difference) = self.step(record, &body)? {
            return Ok(Some(difference));
        }
        self.replay.records = seq;
        if LiveRecords::rewind_target(record).is_some() {
            self.state = state::replay(self.runs.store(), self.run, Some(seq))?;
        } else {
            self.state
                .apply(record)
                .map_err(|error| StoreError::Corrupt {
                    run: Some(self.run.clone()),
                    seq: Some(seq),
                    what: error.to_string(),
                })?;
        }
        Ok(None)
    }

    /// Makes the step of a record again, if it has one.
    fn step(&mut self, record: &Record, body: &Body) -> Result<Option<Difference>, RunError> {
        let table = match body {
            Body::Started(started) => Some(started.table),
            Body::Event(_) | Body::Forced(_) => self.state.table,
            _ => return Ok(None),
        };
        let seq = record.seq;
        let Some(table) = table else {
            let what = "nothing has begun before it";
            return Ok(Some(Difference::new(seq, what)));
        };
        let workflow = self.workflow(&table)?;
        if let Body::Event(event) = body
            && self.under.is_none()
            && self.lacks_approval(&workflow, event)
        {
            let what = format!(
                "`{}` needs an approval, and nobody has given it",
                event.event
            );
            return Ok(Some(Difference::new(seq, what)));
        }
        let made = match body {
            Body::Started(started) => self.start(record, &workflow, started),
            Body::Event(event) => {
                match self.moves(&workflow, event) {
                    Some(moves) => {
                        let made = self.again(
                            record,
                            &workflow,
                            &moves,
                            (event.data.as_ref(), &event.claims),
                        );
                        made.map(|step| self.drop_step(&workflow, event, step))
                    }
                    // It came, and there is nothing that could have taken it.
                    None if came_for_nothing(event) => Ok(unmoved(&self.state)),
                    None => {
                        let what = format!("the table has no `{}`", event.event);
                        return Ok(Some(Difference::new(seq, what)));
                    }
                }
            }
            Body::Forced(forced) => {
                let Some(to) = workflow.table().state_named(&forced.to) else {
                    let what = format!("the table has no state `{}`", forced.to);
                    return Ok(Some(Difference::new(seq, what)));
                };
                let moves = Moves::Jump(vec![to]);
                self.state.context.extend(forced.context.clone());
                self.again(record, &workflow, &moves, (None, &[]))
            }
            _ => return Ok(None),
        };
        match made.map(|step| with_step(body, step)) {
            Ok(again) if again.to_json() == record.plain_body() => {
                self.replay.steps += 1;
                Ok(None)
            }
            Ok(again) => {
                let what = "the machine does something else";
                Ok(Some(different(
                    seq,
                    what,
                    &record.plain_body(),
                    &again.to_json(),
                )))
            }
            Err(error) => {
                let what = format!("the machine can't do it: {error}");
                Ok(Some(Difference::new(seq, what)))
            }
        }
    }

    /// Returns the input of the machine for an event, if the table has it.
    fn moves(&self, workflow: &Workflow, event: &Event) -> Option<Moves> {
        match &event.cause {
            Some(Cause::Interrupt {
                interrupt, returns, ..
            }) => {
                // One that waited may have come to a table that doesn't have it, and does nothing there.
                let waited = self.state.queue.iter().any(|it| it.event == event.event);
                let known = interrupt::is_known(workflow, interrupt, *returns)
                    && event.event == interrupt::event(interrupt);
                if !waited && !known {
                    return None;
                }
                let names = interrupt::leads(workflow, &self.state, interrupt, *returns);
                Some(Moves::Jump(interrupt::states(workflow, &names)))
            }
            cause => {
                let moves = moves_by(workflow, &self.state, &event.event, cause.as_ref());
                moves.map(Moves::Event)
            }
        }
    }

    /// Returns an unmoved step, if the event had to be dropped.
    ///
    /// An event of the run itself isn't taken if it would exceed a limit, or if an approval isn't of what was asked.
    fn drop_step(&self, workflow: &Workflow, event: &Event, made: StepRecord) -> StepRecord {
        let stood_still = event.cause.is_some() && event.step.steps.is_empty();
        let ignored = made.steps.is_empty();
        let unapproved = || {
            let taken = made.steps.iter().flat_map(|it| &it.transitions);
            taken
                .copied()
                .any(|it| workflow.requires_approval(TransitionId::new(it)))
        };
        let reason = ignored || spent(workflow, &self.state, &made).is_some() || unapproved();
        if stood_still && reason {
            return event.step.clone();
        }
        made
    }

    /// Reports whether an event takes a transition that needs an approval, and nobody has approved it.
    fn lacks_approval(&self, workflow: &Workflow, event: &Event) -> bool {
        let taken = event.step.steps.iter().flat_map(|it| &it.transitions);
        let mut taken = taken.map(|it| TransitionId::new(*it));
        if !taken.any(|it| workflow.requires_approval(it)) {
            return false;
        }
        let request = match &event.cause {
            Some(Cause::Request { request }) => self.state.requests.get(request),
            _ => None,
        };
        let resolved = request.and_then(|it| it.resolved.as_ref());
        !resolved.is_some_and(|(it, ..)| it.resolution == Resolution::Approved)
    }

    fn workflow(&self, table: &Hash) -> Result<Arc<Workflow>, RunError> {
        match &self.under {
            Some(workflow) => Ok(Arc::clone(workflow)),
            None => self.runs.workflow_of(table),
        }
    }

    fn start(
        &self,
        record: &Record,
        workflow: &Workflow,
        started: &Started,
    ) -> Result<StepRecord, CannotStep> {
        let mut stepper = Stepper::fresh(workflow, &started.context)?;
        let made = stepper.step(StepInput::Start, None, self.moment(record));
        made.map(|(_, step)| step)
    }

    fn again(
        &self,
        record: &Record,
        workflow: &Workflow,
        moves: &Moves,
        (data, claims): (Option<&Value>, &[String]),
    ) -> Result<StepRecord, CannotStep> {
        let mut stepper = Stepper::restored(workflow, &self.state)?;
        stepper.claim(claims);
        let moves = match moves {
            // Where nothing is left to lead to, nothing moves.
            Moves::Jump(targets) if targets.is_empty() => return Ok(unmoved(&self.state)),
            Moves::Jump(targets) => StepInput::Jump(targets),
            Moves::Event(moves) => *moves,
        };
        let made = stepper.step(moves, data, self.moment(record));
        made.map(|(_, step)| step)
    }

    /// Effects are named after the run that wrote the record.
    fn moment(&self, record: &Record) -> Moment<'_> {
        let owner = self.lineage.iter().find(|(upto, _)| record.seq <= *upto);
        Moment {
            run: owner.map_or(self.run, |(_, run)| run),
            seq: record.seq,
            now: record.time,
        }
    }
}

/// The input of the machine.
enum Moves {
    Event(StepInput<'static>),
    Jump(Vec<StateId>),
}

/// Reports whether an event of the run itself was recorded and nothing more.
fn came_for_nothing(event: &Event) -> bool {
    let by_itself = !matches!(event.cause, None | Some(Cause::Interrupt { .. }));
    by_itself && event.step.steps.is_empty()
}

/// Returns a record's body with another step.
fn with_step(body: &Body, step: StepRecord) -> Body {
    match body.clone() {
        Body::Started(started) => Body::Started(Started { step, ..started }),
        Body::Event(event) => Body::Event(Event { step, ..event }),
        Body::Forced(forced) => Body::Forced(Forced { step, ..forced }),
        other => other,
    }
}

/// Returns the first difference of two bodies.
fn different(seq: u64, what: &str, journal: &str, again: &str) -> Difference {
    let mut difference = Difference::new(seq, what);
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (mut journal, mut again) = (read(journal), read(again));
    let mut path: Vec<String> = Vec::new();
    while let Some(key) = unlike(&journal, &again) {
        let inside = |value: &mut Value| match value {
            Value::Object(fields) => fields.remove(&key),
            Value::Array(items) => {
                let index = key.parse::<usize>().ok();
                index
                    .and_then(|index| items.get_mut(index))
                    .map(Value::take)
            }
            _ => None,
        };
        journal = inside(&mut journal).unwrap_or_default();
        again = inside(&mut again).unwrap_or_default();
        path.push(key);
    }
    difference.path = (!path.is_empty()).then(|| path.join("."));
    (difference.journal, difference.again) = (journal, again);
    difference
}

/// Returns the first key or index under which two values differ, if there is one.
fn unlike(one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut keys = one.keys().chain(other.keys());
            keys.find(|key| one.get(*key) != other.get(*key)).cloned()
        }
        (Value::Array(one), Value::Array(other)) => {
            let longest = one.len().max(other.len());
            let mut places = 0..longest;
            let differs = places.find(|place| one.get(*place) != other.get(*place));
            differs.map(|place| place.to_string())
        }
        _ => None,
    }
}
