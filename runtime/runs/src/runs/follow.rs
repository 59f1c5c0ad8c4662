//! Consequences of records, in the same append.
//!
//! - A request about states that were left, or of a run that is over, is withdrawn.
//! - A state that was entered and invokes a workflow has a child run; one of a state that was left ends.
//! - Once nothing is in the way any more, what waited is taken in order: first events that came meanwhile, then timers
//!   that are due.

use std::collections::BTreeMap;

use super::draft::moves_by;
use super::draft::{Draft, Taking, Took};
use super::{Loaded, RunError};
use crate::actor::{Actor, Role};
use crate::blocker::Blocker;
use crate::body::{
    Body, Cause, ChildEnded, ChildStarted, Event, Paused, Queued, Resolution, Resolved, StepRecord,
};
use crate::hash::Hash;
use crate::id::RunId;
use crate::internal::EXPIRED;
use crate::phrase::list;
use crate::state::RunState;
use crate::step::StepInput;
use crate::store::PendingTimer;

/// Most events that are taken in one append. Unit: events.
///
/// Why: a timer may arm itself again; the rest is taken as timers are.
const MOST: usize = 32;

/// Returns the records that follow from those of an order; they are the system's.
///
/// The run is given as it was `before` the order's records and as it is `after` them.
pub(super) fn follow(
    before: &Loaded,
    after: &Loaded,
    bodies: &[Body],
    now: u64,
) -> Result<Vec<Body>, RunError> {
    // What came before is read anew after these; nothing follows from them by itself.
    let is_other = |body: &Body| matches!(body, Body::Rewound(_) | Body::Migrated(_));
    if !bodies.iter().any(Body::is_cause) || bodies.iter().any(is_other) {
        return Ok(Vec::new());
    }
    let mut draft = Draft::new(after, &Actor::new(Role::System), now);
    draft.tidy()?;
    draft.update_children()?;
    // What more has waited than one append takes comes with the next.
    if before.state.is_held() || !draft.state().queue.is_empty() {
        draft.drain()?;
    }
    Ok(draft.finish().bodies)
}

impl Draft {
    /// Withdraws the requests that are about nothing any more.
    pub(super) fn tidy(&mut self) -> Result<(), RunError> {
        let state = self.state();
        let over = state.status().is_over();
        let open = state.open_requests().into_iter();
        let stale = open.filter_map(|request| {
            let about = &request.opened.states;
            let left = !about.is_empty() && !about.iter().any(|it| state.is_active(it));
            let comment = match (over, left) {
                (true, _) => "the run is over".to_owned(),
                (_, true) => format!("{} was left", list(about)),
                _ => return None,
            };
            Some((request.opened.request.clone(), comment))
        });
        for (request, comment) in stale.collect::<Vec<_>>() {
            self.push(Body::Resolved(Resolved {
                request,
                resolution: Resolution::Withdrawn,
                value: None,
                comment: Some(comment),
                relayed: false,
                elicited: false,
                signature: None,
            }))?;
        }
        Ok(())
    }

    /// Takes what has waited, until something is in the way again.
    pub(super) fn drain(&mut self) -> Result<(), RunError> {
        for _ in 0..MOST {
            let state = self.state();
            if state.paused.is_some() || state.restoring.is_some() || state.status().is_over() {
                return Ok(());
            }
            let due = |it: &&PendingTimer| it.due <= self.now();
            if state.is_held() {
                // What holds everything up may itself be late.
                let expired = |it: &&PendingTimer| due(it) && it.name.starts_with("request:");
                let Some(timer) = state.timers.iter().find(expired).cloned() else {
                    return Ok(());
                };
                self.elapse(&timer)?;
            } else if let Some(queued) = self.state().queue.first().cloned() {
                self.unqueue(queued)?;
            } else if let Some(timer) = self.state().timers.iter().find(due).cloned() {
                self.elapse(&timer)?;
            } else {
                return Ok(());
            }
            self.tidy()?;
            self.update_children()?;
        }
        Ok(())
    }

    /// Takes an event that has waited.
    fn unqueue(&mut self, queued: Queued) -> Result<(), RunError> {
        if let Cause::Interrupt {
            interrupt, path, ..
        } = &queued.cause
        {
            return self.interrupt(interrupt, path);
        }
        let workflow = std::sync::Arc::clone(&self.loaded().workflow);
        let cause = Some(&queued.cause);
        let took = match moves_by(&workflow, self.state(), &queued.event, cause) {
            Some(moves) => self.take(Taking {
                moves,
                event: &queued.event,
                data: queued.data.as_ref(),
                claims: &[],
                cause: Some(queued.cause.clone()),
                approved: None,
            }),
            None => Ok(Took::Ignored),
        };
        let took = match took {
            Err(RunError::Step(error)) => {
                // It has come, and must not keep everything behind it from being taken.
                let event = &queued.event;
                let reason = Some(format!("`{event}`, which waited, can't be taken: {error}"));
                self.finish_event(Took::Ignored, event, queued.data, queued.cause)?;
                return self.push(Body::Paused(Paused { reason }));
            }
            took => took?,
        };
        self.finish_event(took, &queued.event, queued.data.clone(), queued.cause)
    }

    /// Fires a timer: takes its event, or lets its request expire.
    pub(super) fn elapse(&mut self, timer: &PendingTimer) -> Result<(), RunError> {
        if let Some(request) = timer.name.strip_prefix("request:") {
            return self.expire(request);
        }
        let name = timer.name.strip_prefix("timer:").unwrap_or(&timer.name);
        let workflow = std::sync::Arc::clone(&self.loaded().workflow);
        let table = workflow.table();
        let found = table.timers().find(|(id, _)| table.timer_name(*id) == name);
        let cause = Cause::Timer {
            timer: name.to_owned(),
        };
        let Some((id, row)) = found else {
            // A table without the timer has taken the place of the one that armed it.
            return self.finish_event(Took::Ignored, name, None, cause);
        };
        let event = table.event_name(row.event);
        let taking = Taking {
            moves: StepInput::Timer(id),
            event,
            data: None,
            claims: &[],
            cause: Some(cause.clone()),
            approved: None,
        };
        match self.take(taking) {
            Ok(took) => self.finish_event(took, event, None, cause),
            Err(RunError::Step(error)) => {
                let reason = Some(format!("the timer `{name}` can't be taken: {error}"));
                self.push(Body::Paused(Paused { reason }))
            }
            Err(error) => Err(error),
        }
    }

    /// Records an event of the run itself that must not come again.
    fn finish_event(
        &mut self,
        took: Took,
        event: &str,
        data: Option<serde_json::Value>,
        cause: Cause,
    ) -> Result<(), RunError> {
        match took {
            Took::Taken | Took::Asked => Ok(()),
            Took::Blocked(Blocker::VisitLimit { state, max, .. }) => {
                self.stop_at(&state, max, event, data, cause)
            }
            Took::Ignored | Took::Unapproved | Took::AskedAgain(_) | Took::Blocked(_) => {
                let step = self.unmoved();
                self.push(Body::Event(Event {
                    event: event.to_owned(),
                    data,
                    claims: Vec::new(),
                    cause: Some(cause),
                    step,
                }))
            }
        }
    }

    /// Returns a step that leaves everything as it is.
    pub(super) fn unmoved(&self) -> StepRecord {
        unmoved(self.state())
    }

    /// Ends a request that nobody has answered in time.
    fn expire(&mut self, request: &str) -> Result<(), RunError> {
        self.push(Body::Resolved(Resolved {
            request: request.to_owned(),
            resolution: Resolution::Expired,
            value: None,
            comment: None,
            relayed: false,
            elicited: false,
            signature: None,
        }))?;
        let cause = Cause::Request {
            request: request.to_owned(),
        };
        let data = serde_json::json!({ "request": request });
        self.deliver(EXPIRED, Some(data), cause)?;
        Ok(())
    }
}

/// Returns a step that leaves everything as it is.
pub(super) fn unmoved(state: &RunState) -> StepRecord {
    StepRecord {
        leaves: state.leaves.clone(),
        history: state.history.clone(),
        ended: state.ended,
        ..StepRecord::default()
    }
}

impl Draft {
    /// Records the children of entered states, and the ends of children of states that were left.
    ///
    /// States whose tables the run doesn't know are left out.
    fn update_children(&mut self) -> Result<(), RunError> {
        let tables = self.state().invokes.clone();
        self.update_children_with(&tables)
    }

    /// Records starts and ends of children, with the tables of workflows.
    pub(super) fn update_children_with(
        &mut self,
        tables: &BTreeMap<String, Hash>,
    ) -> Result<(), RunError> {
        let current = self.loaded().invoking_states().filter_map(|it| it.child);
        let current: Vec<RunId> = current.map(|(id, _)| id).collect();
        let over = self.state().status().is_over();
        let left = self.loaded().invoked_children();
        let left = left.filter(|(id, it)| it.ended.is_none() && (over || !current.contains(id)));
        let why = match (over, self.state().cancelled.is_some()) {
            (_, true) => "the run was cancelled",
            (true, false) => "the run has ended",
            (false, false) => "its state was left",
        };
        for (run, _) in left.collect::<Vec<_>>() {
            self.push(Body::ChildEnded(ChildEnded {
                run,
                success: false,
                reason: Some(why.to_owned()),
            }))?;
        }
        for invoking in self.loaded().childless_states().collect::<Vec<_>>() {
            let table = tables.get(&invoking.workflow).copied();
            let id = self.loaded().child_id(&invoking);
            let (Some(table), Some(run)) = (table, id) else {
                continue;
            };
            self.push(Body::ChildStarted(ChildStarted {
                run,
                workflow: invoking.workflow,
                table: Some(table),
                step: Some(invoking.step),
                unit: None,
            }))?;
        }
        Ok(())
    }
}
