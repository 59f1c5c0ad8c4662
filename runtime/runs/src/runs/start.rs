//! A run begins.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::change::FOLD_EVERY;
use super::invoke::invoking;
use super::operation::{Door, Operation, Right};
use super::{InvalidRequest, Loaded, Order, RunError, Runs, Written};
use crate::body::{Body, Parent, Started};
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::{NewRecord, chain, mark_batch};
use crate::schema;
use crate::state::RunState;
use crate::step::{Moment, StepInput, Stepper};
use crate::store::{Append, Appended, Expect, Head};
use crate::workflow::Workflow;

/// The start of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Start {
    /// The workflow's id.
    pub workflow: String,
    /// Merged into the context that the spec begins with, if it is an object.
    pub input: Value,
    /// The project.
    pub project: Option<String>,
    /// The client's session.
    pub session: Option<String>,
    /// A name for people.
    pub title: Option<String>,
    /// The run that it works for.
    pub parent: Option<Parent>,
}

/// The records that a new run continues.
pub(super) struct Behind {
    /// Another run, and the last of its records that counts here, too.
    pub(super) other: Option<(RunId, u64)>,
    /// The hash of that record.
    pub(super) last: Hash,
    /// The state at that record.
    pub(super) state: RunState,
}

impl Behind {
    /// Makes the base of a run that continues no other.
    pub(super) fn nothing() -> Self {
        Self {
            other: None,
            last: Hash::ZERO,
            state: RunState::default(),
        }
    }
}

/// Starts a run under the order's id.
///
/// It is an error if there is no such workflow, if the machine doesn't come to rest, or
/// ([`StoreError::Conflict`](crate::StoreError)) if there is a run of that id already.
impl Operation for Start {
    const NAME: &'static str = "start";
    type Response = Written;

    fn right(&self) -> Right {
        Right::Drive
    }

    fn carry_out(&self, door: &Door<'_>) -> Result<Written, RunError> {
        let Door { runs, order } = *door;
        let start = &runs.redact_request(self);
        let digest = runs.digest(order, start)?;
        if let Some(key) = &order.key
            && let Some(seen) = runs.store.key_use(&order.run, key)?
            && seen.request == digest
        {
            return runs.written_before(order, seen.first, seen.last);
        }
        order.run.check_chosen()?;
        let now = runs.now();
        let (workflow, body) = runs.beginning(order, start, now)?;
        runs.found(order, digest, Behind::nothing(), workflow, &[body], now)
    }
}

impl Runs {
    /// Creates a run that another has invoked, with the tables that the other has pinned.
    pub(super) fn start_of(
        &self,
        order: &Order,
        start: &Start,
        table: Hash,
        pinned: &BTreeMap<String, Hash>,
    ) -> Result<Written, RunError> {
        let start = &self.redact_request(start);
        let digest = self.digest(order, start)?;
        let now = self.now();
        let workflow = self.workflow_of(&table)?;
        let (workflow, body) = self.beginning_of(workflow, pinned, order, start, now)?;
        self.found(order, digest, Behind::nothing(), workflow, &[body], now)
    }

    /// Returns the first record of a run. Writes nothing.
    pub(super) fn beginning(
        &self,
        order: &Order,
        start: &Start,
        now: u64,
    ) -> Result<(Arc<Workflow>, Body), RunError> {
        let workflow = self.workflow_named(&start.workflow)?;
        self.beginning_of(workflow, &BTreeMap::new(), order, start, now)
    }

    /// Returns the first record of a run of this workflow; `pinned` has tables by workflow.
    pub(super) fn beginning_of(
        &self,
        workflow: Arc<Workflow>,
        pinned: &BTreeMap<String, Hash>,
        order: &Order,
        start: &Start,
        now: u64,
    ) -> Result<(Arc<Workflow>, Body), RunError> {
        let context = context(&workflow, &start.input)?;
        let moment = Moment {
            run: &order.run,
            seq: 1,
            now,
        };
        let mut stepper = Stepper::fresh(&workflow, &context)?;
        let (_, step) = stepper.step(StepInput::Start, None, moment)?;
        let body = Body::Started(Started {
            workflow: start.workflow.clone(),
            table: workflow.hash(),
            invokes: self.invoked_by(&workflow, pinned)?,
            invoking: invoking(&workflow),
            input: start.input.clone(),
            context,
            step,
            project: start.project.clone(),
            session: start.session.clone(),
            title: start.title.clone(),
            parent: start.parent.clone(),
        });
        Ok((workflow, body))
    }

    /// Writes the first records of a run: alone, or behind those of another.
    pub(super) fn found(
        &self,
        order: &Order,
        digest: Hash,
        behind: Behind,
        workflow: Arc<Workflow>,
        bodies: &[Body],
        now: u64,
    ) -> Result<Written, RunError> {
        if let Some(Body::Started(started)) = bodies.first() {
            self.store.put_blob(workflow.bytes())?;
            self.keep_tables(&started.invokes)?;
        }
        let new = |body: &Body| self.redact_record(&workflow, (now, &order.actor), body);
        let (mut new, bodies): (Vec<NewRecord>, Vec<Body>) = bodies.iter().map(new).unzip();
        mark_batch(&mut new);
        let Behind { other, last, state } = behind;
        let at = other.as_ref().map_or(0, |(_, at)| *at);
        let (records, hash) = chain(&new, order.key.as_ref(), at, last);
        let mut state = state;
        for record in &records {
            let applied = state.apply(record);
            applied.map_err(|error| InvalidRequest::UnreadableRecord {
                kind: record.kind.clone(),
                cause: error.to_string(),
            })?;
        }
        let append = Append {
            run: order.run.clone(),
            expect: Expect::NoRun,
            key: order.key.clone().map(|key| (key, digest)),
            fence: None,
            records: new,
            summary: state.summary(),
            timers: Some(state.timers.clone()),
        };
        self.probe("begin");
        let appended = match &other {
            None => self.store.append(&append)?,
            Some((from, at)) => self.store.fork(from, *at, &append)?,
        };
        if let Appended::Replayed { first, last } = appended {
            return self.written_before(order, first, last);
        }
        self.probe("begun");
        let head = Head {
            run: order.run.clone(),
            seq: state.seq,
            hash,
            created: now,
            updated: now,
            forked: other,
            summary: append.summary,
        };
        let loaded = Loaded {
            run: order.run.clone(),
            head,
            state,
            workflow,
        };
        if at >= FOLD_EVERY {
            // The run is there; without a fold its journal is read.
            let _ = self.keep_fold(&loaded);
        }
        let mut written = Written {
            outcome: (),
            records,
            bodies,
            replayed: false,
            loaded,
        };
        self.attend(&mut written);
        Ok(written)
    }
}

/// Returns the first context of a run: the spec's, overlaid by the input's fields.
fn context(workflow: &Workflow, input: &Value) -> Result<Map<String, Value>, RunError> {
    let initial = workflow.meta().get("context").and_then(Value::as_object);
    let mut context = initial.cloned().unwrap_or_default();
    match input {
        Value::Object(fields) => {
            // By a schema the whole is checked below, what the spec begins with included.
            if workflow.meta().get("context_schema").is_none()
                && let Some(error) = workflow.context_defect(&context, fields)
            {
                return Err(RunError::Invalid(InvalidRequest::Input {
                    workflow: workflow.id().to_owned(),
                    cause: error,
                }));
            }
            context.extend(fields.clone());
        }
        Value::Null => {}
        other => {
            let found = other.clone();
            return Err(InvalidRequest::InputNotObject { found }.into());
        }
    }
    if let Some(schema) = workflow.meta().get("context_schema") {
        let whole = Value::Object(context);
        if let Err(error) = schema::validate(schema, &whole) {
            return Err(RunError::Invalid(InvalidRequest::ContextSchema {
                workflow: workflow.id().to_owned(),
                cause: error.to_string(),
            }));
        }
        let Value::Object(fields) = whole else {
            return Ok(Map::new());
        };
        return Ok(fields);
    }
    Ok(context)
}
