//! Records of reports on a run's own steps.

use serde_json::Value;

use super::enter::{Entered, complete_predecessors, enter, finish, is_detached};
use super::{Advance, Registered, Report, is_step, refusal};
use crate::actor::Role;
use crate::blocker::Code;
use crate::body::{Artifact, Body, Cancelled, Closed, Refused, Stage, Step, StepStatus};
use crate::phrase::list;
use crate::runs::draft::Draft;
use crate::runs::{Loaded, RunError};

/// Adds a report to a draft, or returns why it is refused.
///
/// A step that nobody can check is recorded, and moves nothing.
pub(super) fn reported(
    mut draft: Draft,
    advance: &Advance,
    unchecked: bool,
) -> Result<Result<Draft, Refused>, RunError> {
    let refused = match &advance.report {
        Report::Status {
            status,
            message,
            data,
        } => {
            let step = (*status, message.clone(), data);
            on_step(&mut draft, advance, step, unchecked)?
        }
        Report::Waiting { prompt, data } => {
            let step = (StepStatus::Waiting, Some(prompt.clone()), data);
            on_step(&mut draft, advance, step, unchecked)?
        }
        Report::Artifact(registered) => register(&mut draft, advance, registered)?,
        Report::Annotation(annotation) => {
            draft.push(Body::Annotation(annotation.clone()))?;
            None
        }
        Report::Note(note) => {
            draft.push(Body::Note(note.clone()))?;
            None
        }
        Report::Subflow(subflow) => {
            if is_step(&draft.loaded().workflow, &subflow.parent) {
                draft.push(Body::Subflow(subflow.clone()))?;
                None
            } else {
                Some(refusal::unknown_step(draft.loaded(), advance, &[]))
            }
        }
    };
    if let Some(refused) = refused {
        return Ok(Err(refused));
    }
    close(&mut draft, advance)?;
    Ok(Ok(draft))
}

/// Sets a step's status, after entering it if that is called for.
fn on_step(
    draft: &mut Draft,
    advance: &Advance,
    (status, message, data): (StepStatus, Option<String>, &Value),
    unchecked: bool,
) -> Result<Option<Refused>, RunError> {
    let step = match &advance.step {
        Some(step) => step.clone(),
        None => match only_active(draft.loaded()) {
            Some(step) => step,
            None => return Ok(Some(refusal::no_step(draft.loaded(), advance))),
        },
    };
    let loaded = draft.loaded();
    let active = loaded.state.is_active(&step);
    if let Some(refused) = standstill(loaded, advance, &step, status) {
        return Ok(Some(refused));
    }
    // What is over stays over: a late report is recorded, and no more.
    let is_over = loaded.state.status().is_over();
    let mut moves = advance.unit.is_none() && !unchecked && status != StepStatus::NotStarted;
    moves &= !is_over || active && loaded.state.cancelled.is_none();
    let mut detached = false;
    let mut event_data = data.as_object().filter(|it| !it.is_empty()).map(|_| data);
    if moves && !active {
        match enter(draft, advance, &step, event_data.take())? {
            Entered::Inside => {}
            Entered::Held => return Ok(None),
            Entered::Refused(_) if is_detached(draft.loaded(), &step, status) => {
                complete_predecessors(draft, advance, &step, &[])?;
                (moves, detached) = (false, true);
            }
            Entered::Refused(refused) => return Ok(Some(refused)),
        }
    }
    draft.push(Body::Step(Step {
        step: step.clone(),
        unit: advance.unit.clone(),
        status,
        message,
        data: data.clone(),
        unchecked,
        implied: false,
        detached,
    }))?;
    if moves && status == StepStatus::Completed {
        finish(draft, advance, &step, event_data)?;
    }
    Ok(None)
}

/// Returns the reason that nothing can be reported on the run's steps.
///
/// Of a run that has ended by itself, the step where it ended still can, one that is still open, and units. An agent's run
/// that was cancelled because its parent went on takes what comes late.
fn standstill(
    loaded: &Loaded,
    advance: &Advance,
    step: &str,
    status: StepStatus,
) -> Option<Refused> {
    let state = &loaded.state;
    let has_ended = state.ended.is_some() && state.cancelled.is_none();
    let was_left = state.parent.is_some()
        && (has_ended
            || state
                .cancelled_by
                .as_ref()
                .is_some_and(|by| by.role == Role::System));
    let is_late =
        || state.is_active(step) || advance.unit.is_some() || is_detached(loaded, step, status);
    if was_left || has_ended && is_late() {
        return None;
    }
    refusal::stopped(loaded, advance)
}

/// Returns the only active leaf that a person sees.
fn only_active(loaded: &Loaded) -> Option<String> {
    let mut leaves = loaded.state.leaves.iter();
    let leaf = leaves.next()?;
    (leaves.next().is_none() && is_step(&loaded.workflow, leaf)).then(|| leaf.clone())
}

/// Registers a file as an artifact under the name of its path; again, as the next revision.
fn register(
    draft: &mut Draft,
    advance: &Advance,
    registered: &Registered,
) -> Result<Option<Refused>, RunError> {
    let loaded = draft.loaded();
    let contracts = loaded.workflow.meta().get("artifacts");
    if contracts.is_some_and(|it| it.get(&registered.path).is_some()) {
        return Ok(Some(refusal::has_contract(loaded, advance, registered)));
    }
    let before = loaded.state.artifacts.get(&registered.path);
    let last = before.and_then(|revisions| revisions.last());
    draft.push(Body::Artifact(Artifact {
        name: registered.path.clone(),
        revision: last.map_or(0, |last| last.artifact.revision) + 1,
        stage: Stage::Final,
        content: None,
        size: None,
        media: None,
        path: Some(registered.path.clone()),
        storage_root: registered.storage_root.clone(),
        feature: registered.feature.clone(),
        kind: registered.kind.clone(),
        subflow: registered.subflow,
        step: advance.step.clone(),
        unit: advance.unit.clone(),
        verdict: None,
        reason: None,
    }))?;
    Ok(None)
}

/// Closes the run if that is asked for and it hasn't ended.
///
/// Where something still leads on, closing is no end but a cancellation: so it can't avoid an approval or a check.
fn close(draft: &mut Draft, advance: &Advance) -> Result<(), RunError> {
    let loaded = draft.loaded();
    if !advance.close || loaded.state.status().is_over() {
        return Ok(());
    }
    let failed = StepStatus::Failed;
    let failed = matches!(&advance.report, Report::Status { status, .. } if *status == failed);
    if failed || loaded.legality().transitions()?.is_empty() {
        let holds = failed && loaded.holds_if_given_up(draft.role());
        return draft.push(Body::Closed(Closed {
            success: !failed,
            reason: None,
            holds,
        }));
    }
    let reason = format!(
        "closed in {}, which isn't final",
        list(&loaded.state.leaves)
    );
    let holds = loaded.holds_if_given_up(draft.role());
    let reason = Some(reason);
    draft.push(Body::Cancelled(Cancelled { reason, holds }))
}

/// Adds the first report to a run that has just started, or returns why it can't be the first.
pub(super) fn add_first(
    begun: Draft,
    advance: &Advance,
) -> Result<Result<Draft, Refused>, RunError> {
    let loaded = begun.loaded();
    if let Some(step) = &advance.step {
        if !step.contains(':') && !is_step(&loaded.workflow, step) {
            return Ok(Err(refusal::unknown_step(loaded, advance, &[])));
        }
        // Where a run begins with a decision, the report makes it: it says which step is the first.
        if !loaded.state.is_active(step) && !begins_with_decision(loaded) {
            return Ok(Err(refusal::not_initial(loaded, advance)));
        }
    }
    let not_initial = refusal::not_initial(loaded, advance);
    let opened = reported(begun, advance, false)?;
    Ok(opened.map_err(|why| match Code::from_name(&why.code) {
        Some(Code::UnreachableStep) => not_initial,
        _ => why,
    }))
}

/// Reports whether the compiler made up the initial state: the diagram has several `[*] -->`.
fn begins_with_decision(loaded: &Loaded) -> bool {
    let workflow = &loaded.workflow;
    let mut leaves = loaded.state.leaves.iter();
    leaves.any(|leaf| {
        let id = workflow.table().state_named(leaf);
        id.is_some_and(|id| workflow.is_implied(id))
    })
}
