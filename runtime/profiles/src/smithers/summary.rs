//! `RunSummary`: runs in the document's words.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use statemark_runs::state::Request;
use statemark_runs::{Loaded, PendingTimer, Status, WaitingFor};
use statemark_tools::{Ctx, Problem};

use super::is_approval;
use super::nodes::{active_node, iteration, label, node_state};

/// A summarizer of several runs.
pub(super) struct Summarizer {
    /// The paths of specs, by workflow.
    paths: BTreeMap<String, String>,
    /// The time of the summaries. Unit: milliseconds since 1970.
    pub(super) now: u64,
}

impl Summarizer {
    pub(super) fn new(ctx: &Ctx<'_>) -> Self {
        let specs = ctx.catalog().specs().into_iter();
        Self {
            paths: specs.map(|spec| (spec.id, spec.source)).collect(),
            now: ctx.runs().now(),
        }
    }

    /// Returns a run in short.
    pub(super) fn summarize(&self, ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Value, Problem> {
        let state = &loaded.state;
        let status = status(loaded)?;
        let parent = state.parent.as_ref().map(|it| &it.run);
        let parent = parent.or_else(|| loaded.head.forked.as_ref().map(|(run, _)| run));
        let active = active_node(loaded);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, name) in loaded.workflow.visible_states() {
            *counts.entry(node_state(loaded, name)).or_default() += 1;
        }
        let pending = open_approvals(loaded).len();
        let timers = if status == "waiting-timer" {
            self.timers(ctx, loaded)?
        } else {
            Vec::new()
        };
        Ok(json!({
            "runId": loaded.run,
            "workflowName": state.workflow,
            "workflowPath": self.paths.get(&state.workflow),
            "parentRunId": parent,
            "status": status,
            "createdAtMs": loaded.head.created,
            "startedAtMs": loaded.head.created,
            "finishedAtMs": finish_time(loaded),
            // No process owns a run: its last record is the last that was heard of it.
            "heartbeatAtMs": (!state.status().is_over()).then_some(state.updated),
            "activeNodeId": active,
            "activeNodeLabel": active.map(|name| label(loaded, name)),
            "pendingApprovalCount": pending,
            "waitingTimers": timers,
            "countsByState": counts,
        }))
    }

    fn timers(&self, ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Vec<Value>, Problem> {
        let node = active_node(loaded).unwrap_or_default();
        let iteration = iteration(ctx, loaded, node)?;
        let timers = own_timers(loaded).map(|timer| {
            json!({
                "nodeId": node,
                "iteration": iteration,
                "firesAtMs": timer.due,
                "remainingMs": timer.due.saturating_sub(self.now),
                "timerType": "duration",
            })
        });
        Ok(timers.collect())
    }
}

/// Returns a run's status.
pub(super) fn status(loaded: &Loaded) -> Result<&'static str, Problem> {
    Ok(match loaded.state.status() {
        Status::Completed => "finished",
        Status::Failed => "failed",
        Status::Cancelled => "cancelled",
        Status::Paused => "waiting-event",
        Status::Waiting => {
            let waits = loaded.state.waiting_for();
            let approval = waits.iter().any(|waiting| match waiting {
                WaitingFor::Approval { .. } => true,
                WaitingFor::Question { request } => {
                    loaded.state.requests.get(request).is_some_and(is_approval)
                }
                _ => false,
            });
            if approval {
                "waiting-approval"
            } else {
                "waiting-event"
            }
        }
        Status::Running => {
            if own_timers(loaded).next().is_some() && loaded.legality().transitions()?.is_empty() {
                "waiting-timer"
            } else {
                "running"
            }
        }
    })
}

/// Checks whether a run has ended.
pub(super) fn is_terminal(loaded: &Loaded) -> bool {
    loaded.state.status().is_over()
}

/// Returns the timers of the machine. Those of requests aren't nodes' timers.
pub(super) fn own_timers(loaded: &Loaded) -> impl Iterator<Item = &PendingTimer> {
    let timers = loaded.state.timers.iter();
    timers.filter(|timer| timer.name.starts_with("timer:"))
}

/// Returns the time at which a run ended.
///
/// That is the entry of its last state, or the time when it was closed or cancelled.
fn finish_time(loaded: &Loaded) -> Option<u64> {
    let state = &loaded.state;
    if !state.status().is_over() {
        return None;
    }
    if state.ended.is_none() || state.cancelled.is_some() {
        return Some(state.updated);
    }
    let leaves = state.leaves.iter();
    let since = leaves.filter_map(|leaf| state.visits.get(leaf).map(|visit| visit.since));
    since.max().or(Some(state.updated))
}

/// Returns the approvals that nobody has decided.
pub(super) fn open_approvals(loaded: &Loaded) -> Vec<&Request> {
    let mut open = loaded.state.open_requests();
    open.retain(|request| is_approval(request));
    open
}
