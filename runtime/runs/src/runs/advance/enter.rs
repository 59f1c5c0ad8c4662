//! The transition that a report on a step takes: to enter the step, or to end with it.

use serde_json::Value;
use statemark_runtime::{Candidate, EventId, Outcome, StateId, Table};

use super::{Advance, Report, is_end, refusal};
use crate::body::{Body, Cause, Event, Refused, Step, StepRecord, StepStatus};
use crate::internal::is_internal;
use crate::runs::draft::Draft;
use crate::runs::send::decide_send;
use crate::runs::{Loaded, RunError, SendEvent};
use crate::state::StepState;
use crate::step::{CannotStep, Moment, StepInput, Stepper};
use crate::workflow::Workflow;

/// The result of entering a step.
pub(super) enum Entered {
    /// The step is active.
    Inside,
    /// Something has to be decided first; the draft says what.
    Held,
    /// The step can't be entered.
    Refused(Refused),
}

/// An event that leads to a step.
struct Route {
    event: EventId,
    /// True if a transition of it targets the step itself, and not an ancestor or descendant.
    direct: bool,
    /// True if somebody has to approve it.
    approved: bool,
    /// The step that it makes.
    record: StepRecord,
}

/// Enters a step by the transition that leads there from what is active.
pub(super) fn enter(
    draft: &mut Draft,
    advance: &Advance,
    step: &str,
    data: Option<&Value>,
) -> Result<Entered, RunError> {
    let loaded = draft.loaded();
    let claims = match loaded.workflow.read_claims(advance.claims.as_slice()) {
        Ok(claims) => claims,
        Err(blocker) => {
            let refused = refusal::blocked(loaded, advance, blocker);
            return Ok(Entered::Refused(refused));
        }
    };
    let routes = match routes(loaded, step, (data, &claims), draft.now()) {
        Err(RunError::Step(CannotStep::Data(error))) => {
            let refused = refusal::bad_data(loaded, advance, &error.to_string());
            return Ok(Entered::Refused(refused));
        }
        routes => routes?,
    };
    let table = loaded.workflow.table();
    let name = |route: &Route| table.event_name(route.event).to_owned();
    let Some((first, others)) = routes.split_first() else {
        let refused = refusal::unreachable(loaded, advance, step)?;
        return Ok(Entered::Refused(refused));
    };
    let agree = |route: &Route| route.record == first.record && route.approved == first.approved;
    if !others.iter().all(agree) {
        let events: Vec<String> = routes.iter().map(name).collect();
        let refused = refusal::ambiguous(loaded, advance, step, events);
        return Ok(Entered::Refused(refused));
    }
    let event = name(first);
    let others = others.iter().map(name).collect();
    take(draft, advance, step, (event, others, true), data)
}

/// Takes the step's only unguarded transition to `[*]`, if there is one and its event would take it.
pub(super) fn finish(
    draft: &mut Draft,
    advance: &Advance,
    step: &str,
    data: Option<&Value>,
) -> Result<(), RunError> {
    let loaded = draft.loaded();
    let workflow = &*loaded.workflow;
    let table = workflow.table();
    let Some(state) = table.state_named(step) else {
        return Ok(());
    };
    let mut stepper = Stepper::restored(workflow, &loaded.state)?;
    let mut ends = stepper.candidates(None, None)?;
    ends.retain(|it| is_end_of(workflow, it, state));
    let one = ends.first().map(|it| it.transition);
    if ends.iter().any(|it| Some(it.transition) != one) {
        return Ok(());
    }
    let Some(end) = ends.iter().find(|it| it.enabled) else {
        return Ok(());
    };
    let event = table.event_name(end.event).to_owned();
    if let Entered::Refused(refused) = take(draft, advance, step, (event, Vec::new(), false), data)?
    {
        // The step is done all the same, and the journal says why the run hasn't gone on.
        draft.push(Body::Refused(refused))?;
    }
    Ok(())
}

/// Sends an event for a report's sake.
///
/// If it enters the step, the steps that are completed by that have records of their own, just before.
fn take(
    draft: &mut Draft,
    advance: &Advance,
    step: &str,
    (event, others, completions): (String, Vec<String>, bool),
    data: Option<&Value>,
) -> Result<Entered, RunError> {
    let send = SendEvent {
        event,
        data: data.cloned(),
        claims: advance.claims.clone(),
    };
    let mut body = decide_send(draft.loaded(), &send, draft.now())?;
    if completions && let Body::Event(event) = &body {
        let steps = event.step.steps.iter();
        let exited: Vec<String> = steps.flat_map(|it| it.exited.clone()).collect();
        let before = draft.loaded().head.seq;
        complete_predecessors(draft, advance, step, &exited)?;
        if draft.loaded().head.seq != before {
            // The keys of its effects have the number of its record, which is another one now.
            body = decide_send(draft.loaded(), &send, draft.now())?;
        }
    }
    match body {
        Body::Event(event) => {
            let cause = Cause::Advance {
                step: step.to_owned(),
                others,
                completions,
            };
            draft.push(Body::Event(Event {
                cause: Some(cause),
                ..event
            }))?;
            Ok(Entered::Inside)
        }
        Body::Refused(refused) => Ok(Entered::Refused(Refused {
            subject: refusal::subject(advance),
            ..refused
        })),
        other => {
            draft.push(other)?;
            Ok(Entered::Held)
        }
    }
}

/// Completes the steps before one that is reported as running, each by a record of its own.
///
/// They are those with a transition to it, and those that are exited for it, as far as they are under way.
pub(super) fn complete_predecessors(
    draft: &mut Draft,
    advance: &Advance,
    step: &str,
    exited: &[String],
) -> Result<(), RunError> {
    let runs = StepStatus::Running;
    if !matches!(&advance.report, Report::Status { status, .. } if *status == runs) {
        return Ok(());
    }
    let loaded = draft.loaded();
    let before = predecessors(&loaded.workflow, step);
    let names = loaded.workflow.visible_states().map(|(_, name)| name);
    let completed: Vec<String> = names
        .filter(|name| *name != step && own_report(loaded, name).is_some_and(StepState::is_open))
        .filter(|name| before.contains(name) || exited.iter().any(|it| it == name))
        .map(str::to_owned)
        .collect();
    for step in completed {
        draft.push(Body::Step(Step {
            step,
            unit: None,
            status: StepStatus::Completed,
            message: None,
            data: Value::Null,
            unchecked: false,
            implied: true,
            detached: false,
        }))?;
    }
    Ok(())
}

/// Reports whether a step may be reported beside the active ones, though no transition leads there now.
///
/// The report moves nothing.
///
/// One that was left while it was under way can be ended. In a machine that nothing holds up, a step after one that the
/// run has entered and left is another branch of it, unless it was reported since that one began.
pub(super) fn is_detached(loaded: &Loaded, step: &str, status: StepStatus) -> bool {
    use StepStatus::{Completed, Failed, Skipped};
    let own = own_report(loaded, step);
    let is_open = own.is_some_and(StepState::is_open);
    if is_open && matches!(status, Completed | Failed | Skipped) {
        return true;
    }
    if !loaded.workflow.is_plain() {
        return false;
    }
    if is_open && own.is_some_and(|own| own.detached.is_some()) {
        return true;
    }
    let visits = &loaded.state.visits;
    let entered = visits.get(step).map_or(0, |visit| visit.entered);
    let reported = own.filter(|own| own.status != StepStatus::NotStarted);
    let seen = reported.map_or(entered, |own| own.seq.max(entered));
    // A branch begins with the step before it.
    let begun = |before: &str| match own_report(loaded, before).and_then(|own| own.detached) {
        Some(begun) => Some(begun),
        None => {
            let visit = visits.get(before)?;
            visit.left.map(|_| visit.entered)
        }
    };
    let before = predecessors(&loaded.workflow, step);
    before
        .into_iter()
        .filter_map(begun)
        .any(|begun| seen < begun)
}

/// Returns the last report on a step itself.
fn own_report<'l>(loaded: &'l Loaded, step: &str) -> Option<&'l StepState> {
    loaded.state.steps.get(step)?.get("")
}

/// Returns the steps that have a transition to one.
fn predecessors<'w>(workflow: &'w Workflow, step: &str) -> Vec<&'w str> {
    let table = workflow.table();
    let Some(state) = table.state_named(step) else {
        return Vec::new();
    };
    let transitions = table.transitions();
    let leading = transitions.filter(|(id, _)| table.targets(*id).contains(&state));
    leading
        .map(|(_, row)| table.state_name(row.source))
        .collect()
}

/// Returns the events after which a step would be active, in the order of selection.
///
/// If some target the step itself, only those.
fn routes(
    loaded: &Loaded,
    step: &str,
    (data, claims): (Option<&Value>, &[String]),
    now: u64,
) -> Result<Vec<Route>, RunError> {
    let workflow = &*loaded.workflow;
    let table = workflow.table();
    let Some(state) = table.state_named(step) else {
        return Ok(Vec::new());
    };
    let mut stepper = loaded.legality().claiming(claims).stepper()?;
    let mut candidates = stepper.candidates_by_event(data)?;
    // What nobody sends, a report doesn't either.
    candidates.retain(|it| !is_internal(table.event_name(it.event)));
    let mut routes: Vec<Route> = Vec::new();
    for candidate in candidates.iter().filter(|it| it.enabled) {
        if routes.iter().any(|route| route.event == candidate.event) {
            continue;
        }
        let of_event = |it: &&Candidate| it.enabled && it.event == candidate.event;
        let of_event = || candidates.iter().filter(of_event);
        let moment = Moment {
            run: &loaded.run,
            seq: loaded.head.seq + 1,
            now,
        };
        let mut stepper = loaded.legality().claiming(claims).stepper()?;
        let stepped = stepper.step(StepInput::Event(candidate.event), data, moment);
        // An event at which the machine would fail leads nowhere.
        let Ok((Outcome::Taken | Outcome::Ended, mut record)) = stepped else {
            continue;
        };
        if !leads_to(table, &record, state) {
            continue;
        }
        for microstep in &mut record.steps {
            microstep.transitions.clear();
        }
        routes.push(Route {
            event: candidate.event,
            direct: of_event().any(|it| table.targets(it.transition).contains(&state)),
            approved: of_event().any(|it| loaded.workflow.requires_approval(it.transition)),
            record,
        });
    }
    if routes.iter().any(|route| route.direct) {
        routes.retain(|route| route.direct);
    }
    Ok(routes)
}

/// Reports whether a state is active after a step.
fn leads_to(table: &Table, record: &StepRecord, state: StateId) -> bool {
    let leaves = record
        .leaves
        .iter()
        .filter_map(|leaf| table.state_named(leaf));
    let mut leaves = leaves;
    leaves.any(|leaf| leaf == state || table.is_descendant(leaf, state))
}

/// Reports whether a transition is a state's unguarded one to `[*]`.
fn is_end_of(workflow: &Workflow, candidate: &Candidate, state: StateId) -> bool {
    let table = workflow.table();
    let row = table.transition(candidate.transition);
    row.is_some_and(|row| row.source == state && row.guard.is_empty())
        && is_end(workflow, table.targets(candidate.transition))
}
