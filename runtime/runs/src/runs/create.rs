//! Creating runs: their first records, and the tables that they and their children continue under.
//!
//! A child may have to be started by a process that has no spec. So a run's first record pins the tables of its children,
//! with those of their children, and the store keeps them. A workflow that no spec had then may be found later by a process
//! that has one; until then the state waits, and nothing is recorded. A run of an accepted workflow takes accepted children
//! alone: else whoever starts it beside a workflow of the same name would choose what its outcome takes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::change::cache_state;
use super::draft::Base;
use super::remembered::FOLD_EVERY;
use super::{InvalidRequest, Loaded, Order, RunError, Runs, Written};
use crate::body::{Body, Parent, Started};
use crate::check::{self, Program};
use crate::hash::Hash;
use crate::legality::required_names;
use crate::record::{NewRecord, chain, mark_batch};
use crate::signing::Signing;
use crate::step::{Moment, StepInput, Stepper};
use crate::store::{Append, Appended, Expect, StoreError};
use crate::workflow::Workflow;

/// The start of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StartRun {
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

/// Returns the first record of a run. Writes nothing.
pub(super) fn first_record(
    runs: &Runs,
    order: &Order,
    start: &StartRun,
    now: u64,
) -> Result<(Arc<Workflow>, Body), RunError> {
    let workflow = runs.workflow_named(&start.workflow)?;
    check_accepted(runs, order, &workflow)?;
    first_record_of(runs, workflow, &BTreeMap::new(), order, start, now)
}

/// Checks that runs of a workflow may begin here, and of all that it invokes.
fn check_accepted(runs: &Runs, order: &Order, workflow: &Arc<Workflow>) -> Result<(), RunError> {
    if !order.only_accepted && !runs.workflows.only_accepted() {
        return Ok(());
    }
    let invoked = invoked_tables(runs, workflow, &BTreeMap::new(), false)?;
    let invoked = invoked.keys().filter_map(|id| runs.workflows.find(id));
    for workflow in std::iter::once(Arc::clone(workflow)).chain(invoked) {
        let deed = || format!("`{}` can't be started here", workflow.id());
        runs.check_startable(&workflow, order, deed)?;
    }
    Ok(())
}

/// Returns the first record of a run of this workflow; `pinned` has tables by workflow.
pub(super) fn first_record_of(
    runs: &Runs,
    workflow: Arc<Workflow>,
    pinned: &BTreeMap<String, Hash>,
    order: &Order,
    start: &StartRun,
    now: u64,
) -> Result<(Arc<Workflow>, Body), RunError> {
    workflow.check_inputs(order.actor.role, &start.input, true)?;
    let context = context(&workflow, &start.input)?;
    let moment = Moment {
        run: &order.run,
        seq: 1,
        now,
    };
    let mut stepper = Stepper::fresh(&workflow, &context)?;
    let (_, step) = stepper.step(StepInput::Start, None, moment)?;
    let root = project_root(runs, start)?;
    let programs = root.as_deref().map(|root| programs(&workflow, root));
    let signing = signing(runs, &workflow)?;
    let is_reviewed = runs.is_reviewed(&workflow)?;
    let body = Body::Started(Started {
        workflow: start.workflow.clone(),
        table: workflow.hash(),
        invokes: invoked_tables(runs, &workflow, pinned, is_reviewed)?,
        invoking: invoking(&workflow),
        input: start.input.clone(),
        context,
        step,
        project: start.project.clone(),
        session: start.session.clone(),
        title: start.title.clone(),
        parent: start.parent.clone(),
        unreviewed: !is_reviewed,
        root: root.as_deref().map(check::absolute),
        programs: programs.unwrap_or_default(),
        signing,
    });
    Ok((workflow, body))
}

/// Returns the root of a new run's project: that of the run that it works for, else the caller's.
fn project_root(runs: &Runs, start: &StartRun) -> Result<Option<PathBuf>, RunError> {
    let parent = start.parent.as_ref().map(|parent| runs.load(&parent.run));
    match parent {
        Some(Ok(parent)) => Ok(parent.state.root.as_ref().map(PathBuf::from)),
        // The run that it is said to work for need not be there.
        None | Some(Err(RunError::Store(StoreError::NotFound { .. }))) => Ok(runs.root.clone()),
        Some(Err(error)) => Err(error),
    }
}

/// Returns the programs of the checks that states of a workflow require, as they are found now.
///
/// One that can't be found is left out: it may be built later, and a check that runs it then counts.
fn programs(workflow: &Workflow, root: &Path) -> BTreeMap<String, Program> {
    let table = workflow.table();
    let metas = table.states().map(|(state, _)| workflow.state_meta(state));
    let required: BTreeSet<String> = metas
        .flat_map(|meta| required_names(meta.get("requires"), None))
        .collect();
    let checks = workflow.checks().into_iter();
    let checks = checks.filter(|name| required.contains(name));
    let programs = checks.filter_map(|name| {
        let declared = workflow.check(&name)?.ok()?;
        Some((name, Program::find(&declared, root)?))
    });
    programs.collect()
}

/// Returns the keys by which decisions about a run of a workflow are signed, if it demands that.
///
/// They are those that the store has now: a key that is added later counts for later runs.
fn signing(runs: &Runs, workflow: &Workflow) -> Result<Option<Signing>, RunError> {
    let approvers = workflow.approvers();
    if !approvers.signed {
        return Ok(None);
    }
    let authority = runs.authority()?;
    let keys = authority.keys_of(&approvers.names);
    let Some(store) = authority.store_id().filter(|_| !keys.is_empty()) else {
        return Err(InvalidRequest::NoSigner {
            workflow: workflow.id().to_owned(),
            names: approvers.names,
        }
        .into());
    };
    Ok(Some(Signing {
        store: store.to_owned(),
        keys,
        guarded: workflow.guarded_transitions(),
    }))
}

/// Writes the first records of a run: alone, or after those of another.
pub(super) fn create(
    runs: &Runs,
    order: &Order,
    digest: Hash,
    base: &Base,
    workflow: Arc<Workflow>,
    bodies: &[Body],
    now: u64,
) -> Result<Written, RunError> {
    if !runs.authority()?.tombstones(&order.run).is_empty() {
        let run = order.run.clone();
        return Err(InvalidRequest::Pruned { run }.into());
    }
    if let Some(Body::Started(started)) = bodies.first() {
        runs.store.put_blob(workflow.bytes())?;
        store_tables(runs, &started.invokes)?;
    }
    let new = |body: &Body| runs.redact_record(&workflow, (now, &order.actor), body.clone());
    let (mut new, bodies): (Vec<NewRecord>, Vec<Body>) = bodies.iter().map(new).unzip();
    mark_batch(&mut new);
    let at = base.other.as_ref().map_or(0, |(_, at)| *at);
    let (records, hash) = chain(&new, order.key.as_ref(), at, base.last);
    let mut loaded = base.to_loaded(&order.run, workflow, now);
    let mut chained = records.iter();
    chained.try_for_each(|record| loaded.apply_record(record))?;
    let append = Append {
        run: order.run.clone(),
        expect: Expect::NoRun,
        key: order.key.clone().map(|key| (key, digest)),
        fence: None,
        records: new,
        summary: loaded.state.summary(),
        timers: Some(loaded.state.timers.clone()),
    };
    runs.failpoint("begin");
    let appended = match &base.other {
        None => runs.store.append(&append)?,
        Some((from, at)) => runs.store.fork(from, *at, &append)?,
    };
    if let Appended::Replayed { first, last } = appended {
        return runs.written_before(order, first, last);
    }
    runs.failpoint("begun");
    runs.commits.note();
    loaded.head.hash = hash;
    loaded.head.summary = append.summary;
    if at >= FOLD_EVERY {
        // The run is there; without a fold its journal is read.
        let _ = cache_state(runs, &loaded);
    }
    Ok(Written {
        outcome: (),
        records,
        bodies,
        replayed: false,
        loaded,
    })
}

/// Returns the first context of a run: the spec's, overlaid by the input's fields.
fn context(workflow: &Workflow, input: &Value) -> Result<Map<String, Value>, RunError> {
    let initial = workflow.meta().get("context").and_then(Value::as_object);
    let mut context = initial.cloned().unwrap_or_default();
    match input {
        Value::Object(fields) => {
            // By a schema the whole is checked below, what the spec begins with included.
            if workflow.meta().get("context_schema").is_none()
                && let Some(error) = workflow.find_mistyped(fields)
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
        if let Err(error) = workflow.schemas().validate(schema, &whole) {
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

/// Returns the tables of all workflows that states of this one invoke, and so on.
///
/// They are the pinned ones, else those of specs, which have to be accepted if a reviewed run is to have them. A workflow
/// that neither has is left out.
pub(super) fn invoked_tables(
    runs: &Runs,
    workflow: &Workflow,
    pinned: &BTreeMap<String, Hash>,
    is_reviewed: bool,
) -> Result<BTreeMap<String, Hash>, RunError> {
    let mut found = BTreeMap::new();
    let mut open: Vec<String> = invoked(workflow);
    while let Some(id) = open.pop() {
        if found.contains_key(&id) {
            continue;
        }
        if let Some(next) = find_invoked(runs, &id, pinned, is_reviewed)? {
            open.extend(invoked(&next));
            found.insert(id, next.hash());
        }
    }
    Ok(found)
}

/// Returns the workflow that an id means.
fn find_invoked(
    runs: &Runs,
    id: &str,
    pinned: &BTreeMap<String, Hash>,
    is_reviewed: bool,
) -> Result<Option<Arc<Workflow>>, RunError> {
    match pinned.get(id) {
        Some(table) => runs.workflow_of(table).map(Some),
        None => find_child(runs, id, is_reviewed),
    }
}

/// Returns the workflow of the specs that a run may take for a child.
fn find_child(runs: &Runs, id: &str, is_reviewed: bool) -> Result<Option<Arc<Workflow>>, RunError> {
    let Some(workflow) = runs.workflows.find(id) else {
        return Ok(None);
    };
    Ok(runs.may_begin(&workflow, is_reviewed)?.then_some(workflow))
}

/// Checks that a run may have a run of a workflow work for it.
///
/// # Errors
///
/// [`RunError::Unreviewed`], and [`RunError::UnknownWorkflow`].
pub(super) fn check_child(runs: &Runs, loaded: &Loaded, id: &str) -> Result<(), RunError> {
    let workflow = runs.workflow_named(id)?;
    if runs.may_begin(&workflow, !loaded.is_unreviewed())? {
        return Ok(());
    }
    let deed = format!(
        "`{id}` can't work for `{}`, whose workflow is accepted",
        loaded.run
    );
    Err(runs.authority()?.unreviewed(deed, &workflow))
}

/// Keeps the tables that come from specs. Those that another run has pinned are kept already.
pub(super) fn store_tables(runs: &Runs, tables: &BTreeMap<String, Hash>) -> Result<(), RunError> {
    for (id, table) in tables {
        if let Some(workflow) = runs.workflows.find(id).filter(|it| it.hash() == *table) {
            runs.store.put_blob(workflow.bytes())?;
        }
    }
    Ok(())
}

/// Returns the tables for children of active states that have none, and stores them.
///
/// A workflow that nobody knows is left out, as is one that the run may not take.
pub(super) fn startable_tables(
    runs: &Runs,
    loaded: &Loaded,
) -> Result<BTreeMap<String, Hash>, RunError> {
    let mut tables = BTreeMap::clone(&loaded.state.invokes);
    for missing in loaded.childless_states() {
        if !tables.contains_key(&missing.workflow)
            && let Some(workflow) = find_child(runs, &missing.workflow, !loaded.is_unreviewed())?
        {
            runs.store.put_blob(workflow.bytes())?;
            tables.insert(missing.workflow, workflow.hash());
        }
    }
    Ok(tables)
}

/// Returns the ids of the workflows that states of one invoke.
fn invoked(workflow: &Workflow) -> Vec<String> {
    invoking(workflow).into_values().collect()
}

/// Returns, by state, the workflow that it invokes.
pub(super) fn invoking(workflow: &Workflow) -> BTreeMap<String, String> {
    let table = workflow.table();
    let states = table.states().filter_map(|(state, _)| {
        let id = workflow.invoked_workflow(state)?;
        Some((table.state_name(state).to_owned(), id.to_owned()))
    });
    states.collect()
}
