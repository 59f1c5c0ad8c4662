//! `RunSummary`: a run in the document's words.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use statemark_runs::body::{RequestKind, StepStatus};
use statemark_runs::state::Request;
use statemark_runs::{Loaded, PendingTimer, Status, WaitingFor};

use super::nodes::Nodes;
use crate::ctx::Ctx;
use crate::problem::Problem;

/// Tells runs in the document's words.
pub(super) struct Teller {
    /// By workflow: where its spec lies.
    paths: BTreeMap<String, String>,
    now: u64,
}

impl Teller {
    pub(super) fn of(ctx: &Ctx<'_>) -> Self {
        let specs = ctx.catalog().specs().into_iter();
        Self {
            paths: specs.map(|spec| (spec.id, spec.source)).collect(),
            now: ctx.runs().now(),
        }
    }

    /// The time. Unit: milliseconds since 1970.
    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    /// A run in short.
    pub(super) fn summary(&self, ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Value, Problem> {
        let state = &loaded.state;
        let status = status(loaded)?;
        let parent = state.parent.as_ref().map(|it| &it.run);
        let parent = parent.or_else(|| loaded.head.forked.as_ref().map(|(run, _)| run));
        let active = active_node(loaded);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, name) in loaded.workflow.visible_states() {
            *counts.entry(node_state(loaded, name)).or_default() += 1;
        }
        let pending = approvals(loaded).len();
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
            "finishedAtMs": finished(loaded),
            "heartbeatAtMs": null,
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
        let told = own_timers(loaded).map(|timer| {
            json!({
                "nodeId": node,
                "iteration": iteration,
                "firesAtMs": timer.due,
                "remainingMs": timer.due.saturating_sub(self.now),
                "timerType": "duration",
            })
        });
        Ok(told.collect())
    }
}

/// A run's status.
pub(super) fn status(loaded: &Loaded) -> Result<&'static str, Problem> {
    Ok(match loaded.state.status() {
        Status::Completed => "finished",
        Status::Failed => "failed",
        Status::Cancelled => "cancelled",
        Status::Paused => "waiting-event",
        Status::Waiting => {
            let waits = loaded.state.waiting_for();
            let approval = waits.iter().any(|it| match it {
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

/// Whether nothing more will happen, as the document tells it from a status.
pub(super) fn is_terminal(loaded: &Loaded) -> bool {
    loaded.state.status().is_over()
}

/// The timers of the machine; those of requests aren't nodes' timers.
pub(super) fn own_timers(loaded: &Loaded) -> impl Iterator<Item = &PendingTimer> {
    let timers = loaded.state.timers.iter();
    timers.filter(|timer| timer.name.starts_with("timer:"))
}

/// When it ended: when its last state was entered, or it was closed or given up.
fn finished(loaded: &Loaded) -> Option<u64> {
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

/// The leaf that was entered last, if the run goes on.
pub(super) fn active_node(loaded: &Loaded) -> Option<&str> {
    let state = &loaded.state;
    if state.status().is_over() {
        return None;
    }
    let entered = |leaf: &&String| state.visits.get(*leaf).map_or(0, |visit| visit.entered);
    let leaf = state.leaves.iter().rev().max_by_key(entered)?;
    Some(leaf)
}

/// Which visit of a node is the last one, from 0.
pub(super) fn iteration(ctx: &Ctx<'_>, loaded: &Loaded, node: &str) -> Result<u64, Problem> {
    if loaded.state.rewinds.is_empty() {
        let visit = loaded.state.visits.get(node);
        return Ok(visit.map_or(0, |visit| visit.count.saturating_sub(1)));
    }
    // What was taken back counts towards limits, and is no iteration.
    let nodes = Nodes::read(ctx, loaded)?;
    Ok(nodes.find(node, None).map_or(0, |visit| visit.iteration))
}

/// A node's name for people.
pub(super) fn label(loaded: &Loaded, node: &str) -> String {
    let table = loaded.workflow.table();
    let id = table.state_named(node);
    let title = id.and_then(|id| loaded.workflow.state_meta(id).get("title"));
    let title = title.and_then(Value::as_str);
    title.unwrap_or(node).to_owned()
}

/// What has become of a node in its last visit.
pub(super) fn node_state(loaded: &Loaded, node: &str) -> &'static str {
    let state = &loaded.state;
    // Of a visit that was taken back only what it has used up is known.
    let Some(visit) = state.visits.get(node).filter(|visit| visit.entered > 0) else {
        return "pending";
    };
    let own = state.steps.get(node).and_then(|units| units.get(""));
    let said = own.filter(|it| it.seq >= visit.entered);
    let said = said.map(|it| it.status);
    match said {
        Some(StepStatus::Failed) => return "failed",
        Some(StepStatus::Skipped) => return "skipped",
        _ => {}
    }
    if visit.left.is_some() {
        return "finished";
    }
    match state.status() {
        Status::Completed => return "finished",
        Status::Failed => return "failed",
        Status::Cancelled => return "cancelled",
        Status::Running | Status::Waiting | Status::Paused => {}
    }
    let mut open = state.open_requests().into_iter();
    if let Some(request) = open.find(|it| it.opened.states.iter().any(|it| it == node)) {
        return if is_approval(request) {
            "waiting-approval"
        } else {
            "waiting-event"
        };
    }
    if said == Some(StepStatus::Waiting) {
        "waiting-event"
    } else {
        "in-progress"
    }
}

/// Whether a request is answered with yes or no.
pub(super) const fn is_approval(request: &Request) -> bool {
    matches!(
        request.opened.kind,
        RequestKind::Approval | RequestKind::Confirm | RequestKind::Review
    )
}

/// The approvals that nobody has decided.
pub(super) fn approvals(loaded: &Loaded) -> Vec<&Request> {
    let mut open = loaded.state.open_requests();
    open.retain(|request| is_approval(request));
    open
}

/// The artifact that a node has handed in last.
pub(super) fn output_of<'l>(loaded: &'l Loaded, node: &str) -> Option<&'l str> {
    let all = loaded.state.artifacts.values();
    let current = all.filter_map(|revisions| {
        let mut revisions = revisions.iter().rev();
        revisions.find(|it| it.artifact.step.as_deref() == Some(node))
    });
    let last = current.max_by_key(|revision| revision.seq)?;
    Some(&last.artifact.name)
}
