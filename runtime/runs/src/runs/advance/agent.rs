//! Reports on an agent's steps: they drive a run of the agent's own machine.
//!
//! The run is a child under the step that is active in the parent.
//!
//! One run for each agent and unit in each visit of the parent's step, and one more whenever the one before has ended and
//! the agent begins anew. Two journals are written, one after the other: the parent's says that the child has begun before
//! the child does, and that it has ended after it has. Whoever stops in between leaves nothing wrong behind: the next report
//! makes up for it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::advance_within;
use super::owner::{Agent, children};
use super::{Advance, Advanced, refusal, report};
use crate::body::{Body, ChildEnded, ChildStarted, Parent, Refused, Step};
use crate::hash::Hash;
use crate::id::{Key, RunId};
use crate::runs::create::{check_child, first_record};
use crate::runs::draft::Draft;
use crate::runs::reconcile::commit;
use crate::runs::{Change, InvalidRequest, Loaded, Order, RunError, Runs, StartRun};
use crate::state::{Child, Status};
use crate::store::StoreError;

/// Most levels of agents under agents.
///
/// Why: each level is a run, and nobody can follow more.
const MAX_LEVELS: usize = 8;

/// Carries out a report on an agent's step.
pub(super) fn advance_agent(
    runs: &Runs,
    order: &Order,
    advance: &Advance,
    loaded: &Loaded,
    agent: &Agent,
    depth: usize,
) -> Result<Advanced, RunError> {
    if advance.close {
        return Err(InvalidRequest::AgentCloses.into());
    }
    if depth >= MAX_LEVELS {
        let max = MAX_LEVELS;
        return Err(InvalidRequest::AgentsTooDeep { max }.into());
    }
    if let Some(expected) = order.expected
        && expected != loaded.head.seq
    {
        let actual = loaded.head.seq;
        return Err(StoreError::Conflict { actual }.into());
    }
    if let Some(refused) = not_now(loaded, advance, agent) {
        return record_refusal(runs, order, advance, &refused);
    }
    let child = match find_or_start_child(runs, order, advance, loaded, agent)? {
        Ok(child) => child,
        Err(refused) => return record_refusal(runs, order, advance, &refused),
    };
    let advanced = advance_child(runs, order, advance, loaded, &child, agent, depth)?;
    if let Some(step) = &advanced.step {
        let step = Step {
            step: format!("{}:{}", agent.id, agent.step),
            unit: advance.unit.clone(),
            implied: false,
            detached: false,
            ..step.clone()
        };
        record_step(runs, order, step)?;
    }
    note_end(runs, order, &child, &advanced)?;
    Ok(advanced)
}

/// Records an agent's report in its parent's journal, under the agent's name.
fn record_step(runs: &Runs, order: &Order, step: Step) -> Result<(), RunError> {
    let order = Order {
        key: None,
        expected: None,
        ..order.clone()
    };
    let bodies = vec![Body::Step(step)];
    commit(runs, &order, &(), |_, _| {
        Ok(Change {
            bodies: bodies.clone(),
        })
    })?;
    Ok(())
}

/// Returns the answer of an agent's run under this key, if one has answered.
pub(super) fn replayed_by_agent(
    runs: &Runs,
    order: &Order,
    key: &Key,
    advance: &Advance,
    loaded: &Loaded,
    depth: usize,
) -> Result<Option<Advanced>, RunError> {
    let Some(step) = &advance.step else {
        return Ok(None);
    };
    let state = &loaded.state;
    for (run, child) in state.children.iter().chain(&state.orphans) {
        let prefix = format!("{}:", child.workflow);
        let agent = Agent {
            id: child.workflow.clone(),
            step: step.strip_prefix(&prefix).unwrap_or(step).to_owned(),
        };
        let child = read_id(run)?;
        if runs.store.key_use(&child, key)?.is_some() {
            let answer = advance_child(runs, order, advance, loaded, &child, &agent, depth)?;
            note_end(runs, order, &child, &answer)?;
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

/// Returns the run that the report drives.
///
/// It is the one at work, else a new one, which the parent's journal has from now on.
fn find_or_start_child(
    runs: &Runs,
    order: &Order,
    advance: &Advance,
    loaded: &Loaded,
    agent: &Agent,
) -> Result<Result<RunId, Refused>, RunError> {
    let latest = latest(loaded, advance, agent);
    // What began under an earlier step takes what comes late, if nothing new can begin with it.
    let former = latest_of(loaded.state.children.iter(), advance, agent);
    if loaded.state.status().is_over()
        && let Some((run, _)) = former
    {
        return Ok(Ok(read_id(run)?));
    }
    let latest = latest.or(former.filter(|(_, child)| child.ended.is_some()));
    let begins = match (latest, check_beginning(runs, order, advance, agent)) {
        (Some((run, child)), _) if child.ended.is_none() => return Ok(Ok(read_id(run)?)),
        // The one that has ended says so itself.
        (Some((run, _)), Ok(Err(_)) | Err(RunError::UnknownWorkflow { .. })) => {
            return Ok(Ok(read_id(run)?));
        }
        (_, begins) => begins?,
    };
    if let Err(refused) = begins {
        return Ok(Err(refused));
    }
    check_child(runs, loaded, &agent.id)?;
    let mut found = None;
    let order = Order {
        key: None,
        ..order.clone()
    };
    commit(runs, &order, &(), |loaded, _| {
        if let Some((run, child)) = self::latest(loaded, advance, agent)
            && child.ended.is_none()
        {
            found = Some(read_id(run)?);
            return Ok(Change::default());
        }
        let run = child_id(loaded, advance, agent)?;
        found = Some(run.clone());
        let started = ChildStarted {
            run,
            workflow: agent.id.clone(),
            table: None,
            step: loaded.state.leaves.first().cloned(),
            unit: advance.unit.clone(),
        };
        Ok(Change {
            bodies: vec![Body::ChildStarted(started)],
        })
    })?;
    let missing = || StoreError::NotFound {
        what: "the agent's run".to_owned(),
    };
    Ok(Ok(found.ok_or_else(missing)?))
}

/// Checks that a run of the agent's machine can start with the report. Writes nothing.
pub(super) fn check_beginning(
    runs: &Runs,
    order: &Order,
    advance: &Advance,
    agent: &Agent,
) -> Result<Result<(), Refused>, RunError> {
    let start = StartRun {
        workflow: agent.id.clone(),
        ..StartRun::default()
    };
    let now = runs.now();
    let (workflow, body) = first_record(runs, order, &start, now)?;
    let begun = Draft::start(&order.run, &order.actor, workflow, body, now)?;
    let report = Advance {
        step: Some(agent.step.clone()),
        unit: None,
        start: None,
        ..advance.clone()
    };
    let opened = report::add_first(begun, &report)?;
    let subject = refusal::subject(advance);
    Ok(opened.map(|_| ()).map_err(|why| Refused { subject, ..why }))
}

/// Makes the report on the child's own step.
fn advance_child(
    runs: &Runs,
    order: &Order,
    advance: &Advance,
    loaded: &Loaded,
    run: &RunId,
    agent: &Agent,
    depth: usize,
) -> Result<Advanced, RunError> {
    let (state, id) = (&loaded.state, run.as_str());
    let recorded = state.children.get(id).or_else(|| state.orphans.get(id));
    let step = match recorded {
        Some(child) => child.step.as_ref(),
        None => loaded.state.leaves.first(),
    };
    let parent = Parent {
        run: loaded.run.clone(),
        step: step.cloned(),
        unit: advance.unit.clone(),
    };
    match runs.load(run) {
        Ok(found) if found.state.parent.as_ref().map(|it| &it.run) != Some(&loaded.run) => {
            let (run, parent) = (run.clone(), loaded.run.clone());
            return Err(InvalidRequest::NotAnAgents { run, parent }.into());
        }
        Ok(_) | Err(RunError::Store(StoreError::NotFound { .. })) => {}
        Err(error) => return Err(error),
    }
    let start = StartRun {
        workflow: agent.id.clone(),
        project: loaded.state.project.clone(),
        session: loaded.state.session.clone(),
        parent: Some(parent),
        ..StartRun::default()
    };
    let order = Order {
        run: run.clone(),
        actor: order.actor.clone(),
        key: order.key.clone(),
        expected: None,
        fence: None,
        attempt: order.attempt,
        only_accepted: order.only_accepted,
    };
    let report = Advance {
        step: Some(agent.step.clone()),
        unit: None,
        start: Some(start),
        ..advance.clone()
    };
    advance_within(runs, &order, &report, depth + 1)
}

/// Records in the parent's journal that the child has ended, once.
fn note_end(runs: &Runs, order: &Order, run: &RunId, advanced: &Advanced) -> Result<(), RunError> {
    let Some(written) = &advanced.written else {
        return Ok(());
    };
    let status = match &written.loaded.run {
        child if child == run => written.loaded.state.status(),
        _ => runs.load(run)?.state.status(),
    };
    if !status.is_over() {
        return Ok(());
    }
    let order = Order {
        key: None,
        expected: None,
        ..order.clone()
    };
    commit(runs, &order, &(), |loaded, _| {
        let child = loaded.state.children.get(run.as_str());
        if child.is_none_or(|child| child.ended.is_some()) {
            return Ok(Change::default());
        }
        let ended = ChildEnded {
            run: run.clone(),
            success: status == Status::Completed,
            reason: None,
        };
        Ok(Change {
            bodies: vec![Body::ChildEnded(ended)],
        })
    })?;
    Ok(())
}

/// Records in the parent's journal why the report was refused.
fn record_refusal(
    runs: &Runs,
    order: &Order,
    advance: &Advance,
    refused: &Refused,
) -> Result<Advanced, RunError> {
    let request = ("advance", advance);
    let written = commit(runs, order, &request, |_, _| {
        Ok(Change {
            bodies: vec![Body::Refused(refused.clone())],
        })
    })?;
    Advanced::from_written(written)
}

/// Returns the reason that the agent can't report.
///
/// In a run that has ended by itself, one that was at work still can.
fn not_now(loaded: &Loaded, advance: &Advance, agent: &Agent) -> Option<Refused> {
    let mismatch = refusal::other_workflow(loaded, advance);
    let state = &loaded.state;
    let is_late = || {
        let has_ended = state.ended.is_some() && state.cancelled.is_none();
        has_ended && latest_of(state.children.iter(), advance, agent).is_some()
    };
    mismatch.or_else(|| refusal::stopped(loaded, advance).filter(|_| !is_late()))
}

/// Returns the agent's latest run for the unit under the active step.
fn latest<'l>(
    loaded: &'l Loaded,
    advance: &Advance,
    agent: &Agent,
) -> Option<(&'l String, &'l Child)> {
    latest_of(children(loaded), advance, agent)
}

/// Returns the agent's latest run for the unit among some.
fn latest_of<'l>(
    children: impl Iterator<Item = (&'l String, &'l Child)>,
    advance: &Advance,
    agent: &Agent,
) -> Option<(&'l String, &'l Child)> {
    let own = children.filter(|(_, it)| it.workflow == agent.id && it.unit == advance.unit);
    own.max_by_key(|(_, child)| child.seq)
}

/// The signs that an id spells out: all but those of which an id may be chosen.
const UNPLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Returns an id that names the run, its agent and the unit.
///
/// It is `RUN/AGENT` or `RUN/AGENT::UNIT`, and from the second on ends with `#2`; a hash if that is too long.
///
/// What a unit's name has besides plain letters is spelled out: no unit gets the id of another's second run, or of a run
/// that a state invokes, and none looks like another.
fn child_id(loaded: &Loaded, advance: &Advance, agent: &Agent) -> Result<RunId, RunError> {
    let same = |child: &&Child| child.workflow == agent.id && child.unit == advance.unit;
    // Those whose beginning was taken back keep their ids.
    let all = loaded.state.children.values();
    let before = all
        .chain(loaded.state.orphans.values())
        .filter(same)
        .count();
    let mut id = format!("{}/{}", loaded.run, agent.id);
    if let Some(unit) = &advance.unit {
        id = format!("{id}::{}", utf8_percent_encode(unit, UNPLAIN));
    }
    if before > 0 {
        id = format!("{id}#{}", before + 1);
    }
    match id.parse() {
        Ok(id) => Ok(id),
        Err(_) => read_id(&format!("agent-{}", Hash::digest(id.as_bytes()))),
    }
}

fn read_id(id: &str) -> Result<RunId, RunError> {
    Ok(id.parse::<RunId>()?)
}
