//! Nodes: each visit of a visible state in the journal, with its attempts.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use statemark_runs::body::{Body, StepStatus};
use statemark_runs::{Loaded, Status, load_timeline, state};
use statemark_tools::{Ctx, Problem};

use super::is_approval;

/// The visits of a run's states, in the order of entering, without those that were taken back.
pub(super) struct Nodes {
    pub(super) visits: Vec<Visit>,
}

/// A visit.
pub(super) struct Visit {
    pub(super) node: String,
    /// The number of the visit of its state, from 0.
    pub(super) iteration: u64,
    /// The record that entered it.
    pub(super) entered: u64,
    /// The record that left it.
    pub(super) left: Option<u64>,
    /// The time at which it was left.
    pub(super) until: Option<u64>,
    /// The attempts: at least one.
    pub(super) attempts: Vec<Attempt>,
}

/// An attempt.
pub(super) struct Attempt {
    /// The number in its visit, from 1.
    pub(super) number: u64,
    /// The record with which it began.
    pub(super) first: u64,
    /// The time at which it began.
    pub(super) began: u64,
    /// The time at which it ended.
    pub(super) ended: Option<u64>,
    /// The record with which it ended.
    pub(super) last: Option<u64>,
    pub(super) state: &'static str,
}

/// An attempt that began or ended.
pub(super) struct NodeEvent {
    /// The type of the event.
    pub(super) kind: &'static str,
    pub(super) node: String,
    pub(super) iteration: u64,
    pub(super) attempt: u64,
}

impl Nodes {
    pub(super) fn read(ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Self, Problem> {
        let runs = ctx.runs();
        let timeline = load_timeline(runs, &loaded.run)?;
        let visible: Vec<&str> = loaded.workflow.visible_states().map(|it| it.1).collect();
        let visits = timeline.visits.into_iter();
        let counting = visits.filter(|it| it.counts && visible.contains(&it.state.as_str()));
        let visits = counting.map(|visit| Visit {
            iteration: visit.number.saturating_sub(1),
            entered: visit.entered,
            left: visit.left,
            until: visit.until,
            attempts: vec![Attempt {
                number: 1,
                first: visit.entered,
                began: visit.since,
                ended: None,
                last: None,
                state: "in-progress",
            }],
            node: visit.state,
        });
        let mut nodes = Self {
            visits: visits.collect(),
        };
        let live = state::live_records(runs.store(), &loaded.run, Some(loaded.head.seq), &[])?;
        let upto = Some(loaded.head.seq);
        let mut over = None;
        state::for_each_record(runs.store(), &loaded.run, 0, upto, |record| {
            if ["cancelled", "closed"].contains(&record.kind.as_str()) && live.contains(record.seq)
            {
                over = Some(record.seq);
            }
            if record.kind == "step"
                && live.contains(record.seq)
                && let Ok(Body::Step(step)) = record.read()
                && step.unit.is_none()
            {
                nodes.apply_report(&step.step, step.status, (record.seq, record.time));
            }
            Ok(())
        })?;
        // A run that nobody ended has ended with the last state that it entered.
        let over = over.or_else(|| nodes.visits.iter().map(|it| it.entered).max());
        for visit in &mut nodes.visits {
            visit.close(loaded, over);
        }
        Ok(nodes)
    }

    /// Applies a report on a step to the attempts of its visit.
    fn apply_report(&mut self, step: &str, status: StepStatus, (seq, time): (u64, u64)) {
        // `agent:state` is the state's.
        let node = step.rsplit(':').next().unwrap_or(step);
        let count = self.until(seq).len();
        let mut visits = self.visits.iter_mut().take(count).rev();
        let visit = visits.find(|it| it.node == node && it.contains(seq));
        let Some(visit) = visit else { return };
        let end = match status {
            StepStatus::Failed => Some("failed"),
            StepStatus::Completed => Some("finished"),
            StepStatus::Skipped => Some("skipped"),
            StepStatus::NotStarted | StepStatus::Running | StepStatus::Waiting => None,
        };
        let Some(last) = visit.attempts.last_mut() else {
            return;
        };
        if last.ended.is_none() {
            if let Some(state) = end {
                (last.state, last.ended, last.last) = (state, Some(time), Some(seq));
            }
            return;
        }
        // What is said twice ends nothing twice; another end is that of another attempt.
        if end == Some(last.state) {
            return;
        }
        let number = last.number.saturating_add(1);
        visit.attempts.push(Attempt {
            number,
            first: seq,
            began: time,
            ended: end.map(|_| time),
            last: end.map(|_| seq),
            state: end.unwrap_or("in-progress"),
        });
    }

    /// Returns the attempts that ended and began with each record, in this order.
    pub(super) fn events(&self) -> BTreeMap<u64, Vec<NodeEvent>> {
        let mut all: BTreeMap<u64, Vec<NodeEvent>> = BTreeMap::new();
        let mut push = |seq, kind, visit: &Visit, attempt: &Attempt| {
            all.entry(seq).or_default().push(NodeEvent {
                kind,
                node: visit.node.clone(),
                iteration: visit.iteration,
                attempt: attempt.number,
            });
        };
        let attempts: Vec<(&Visit, &Attempt)> = self
            .visits
            .iter()
            .flat_map(|visit| visit.attempts.iter().map(move |attempt| (visit, attempt)))
            .collect();
        // Inner states are exited before outer ones.
        for (visit, attempt) in attempts.iter().rev() {
            if let Some(seq) = attempt.last.filter(|seq| *seq > attempt.first) {
                push(seq, attempt.end_event(), visit, attempt);
            }
        }
        for (visit, attempt) in &attempts {
            push(attempt.first, "NodeStarted", visit, attempt);
        }
        for (visit, attempt) in &attempts {
            if attempt.last == Some(attempt.first) {
                push(attempt.first, attempt.end_event(), visit, attempt);
            }
        }
        all
    }

    /// Returns the visits that began up to a record.
    fn until(&self, seq: u64) -> &[Visit] {
        let count = self.visits.partition_point(|it| it.entered <= seq);
        self.visits.get(..count).unwrap_or_default()
    }

    /// Returns the innermost visit at a record. Of those entered at once, the outer ones come first.
    pub(super) fn at(&self, seq: u64) -> Option<&Visit> {
        self.until(seq).iter().rev().find(|it| it.contains(seq))
    }

    /// Returns the visit of a node that lasts at a record.
    pub(super) fn of_node_at(&self, node: &str, seq: u64) -> Option<&Visit> {
        self.last_of(node, seq, |it| it.contains(seq))
    }

    /// Returns the last visit of a node up to a record that is so.
    pub(super) fn last_of(
        &self,
        node: &str,
        seq: u64,
        is_so: impl Fn(&Visit) -> bool,
    ) -> Option<&Visit> {
        let mut visits = self.until(seq).iter().rev();
        visits.find(|it| it.node == node && is_so(it))
    }

    /// Finds a visit of a node; the last one if none is named.
    pub(super) fn find(&self, node: &str, iteration: Option<u64>) -> Option<&Visit> {
        let mut visits = self.visits.iter().rev();
        visits.find(|it| it.node == node && iteration.is_none_or(|wanted| it.iteration == wanted))
    }

    /// Finds a visit of a node, or reports which there are.
    pub(super) fn require(
        &self,
        loaded: &Loaded,
        node: &str,
        iteration: Option<u64>,
    ) -> Result<&Visit, Problem> {
        check_node(loaded, node)?;
        self.find(node, iteration).ok_or_else(|| {
            let which = iteration.map_or_else(String::new, |it| format!(" in iteration {it}"));
            let message = format!("`{node}` wasn't entered{which}");
            let known = self.visits.iter().filter(|it| it.node == node);
            let known: Vec<u64> = known.map(|it| it.iteration).collect();
            Problem::new("NODE_NOT_FOUND", message).with(json!({"iterations": known}))
        })
    }
}

/// Checks that the workflow has a node.
pub(super) fn check_node(loaded: &Loaded, node: &str) -> Result<(), Problem> {
    let names = loaded.workflow.visible_states().map(|it| it.1);
    let names: Vec<&str> = names.collect();
    if names.contains(&node) {
        return Ok(());
    }
    let message = format!("`{}` has no node `{node}`", loaded.state.workflow);
    Err(Problem::new("NODE_NOT_FOUND", message).with(json!({"nodes": names})))
}

impl Attempt {
    /// Returns the type of the event of its end.
    fn end_event(&self) -> &'static str {
        match self.state {
            "failed" => "NodeFailed",
            "skipped" => "NodeSkipped",
            "cancelled" => "NodeCancelled",
            _ => "NodeFinished",
        }
    }
}

impl Visit {
    /// Checks whether it lasts at a record.
    pub(super) fn contains(&self, seq: u64) -> bool {
        self.entered <= seq && self.left.is_none_or(|left| seq < left)
    }

    /// Checks whether two are the same visit.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.node, self.iteration) == (&other.node, other.iteration)
    }

    /// Returns the state of its last attempt.
    pub(super) fn state(&self) -> &'static str {
        self.attempts.last().map_or("pending", |last| last.state)
    }

    pub(super) fn last_attempt(&self) -> u64 {
        self.attempts.last().map_or(0, |last| last.number)
    }

    /// Returns a key that no other attempt has.
    pub(super) fn key(&self, attempt: u64) -> String {
        format!("{}:{}:{attempt}", self.node, self.iteration)
    }

    /// Returns the attempt that a record belongs to.
    pub(super) fn attempt_at(&self, seq: u64) -> u64 {
        let began = self.attempts.iter().rev().find(|it| it.first <= seq);
        began.map_or(1, |it| it.number)
    }

    /// Ends the last attempt if its visit has ended, or its run, with the record `over`.
    fn close(&mut self, loaded: &Loaded, over: Option<u64>) {
        let (until, left) = (self.until, self.left);
        let is_last = self.left.is_none();
        let Some(last) = self.attempts.last_mut() else {
            return;
        };
        if last.ended.is_some() {
            return;
        }
        if is_last {
            last.state = node_state(loaded, &self.node);
            if loaded.state.status().is_over() {
                last.ended = Some(last.began.max(loaded.state.updated));
                last.last = over;
            }
        } else {
            last.state = "finished";
            last.ended = until;
            last.last = left;
        }
    }

    /// Returns it as a step of `get_run`.
    pub(super) fn describe(&self, loaded: &Loaded) -> Value {
        let last = self.attempts.last();
        let updated = last.map(|it| it.ended.unwrap_or(it.began));
        json!({
            "nodeId": self.node,
            "iteration": self.iteration,
            "state": self.state(),
            "lastAttempt": self.last_attempt(),
            "updatedAtMs": updated,
            "outputTable": output_of(loaded, &self.node),
            "label": label(loaded, &self.node),
        })
    }
}

/// Returns the leaf that was entered last, unless the run has ended.
pub(super) fn active_node(loaded: &Loaded) -> Option<&str> {
    let state = &loaded.state;
    if state.status().is_over() {
        return None;
    }
    let entered = |leaf: &&String| state.visits.get(*leaf).map_or(0, |visit| visit.entered);
    let leaf = state.leaves.iter().rev().max_by_key(entered)?;
    Some(leaf)
}

/// Returns the number of a node's last visit, from 0.
pub(super) fn iteration(ctx: &Ctx<'_>, loaded: &Loaded, node: &str) -> Result<u64, Problem> {
    if loaded.state.rewinds.is_empty() {
        let visit = loaded.state.visits.get(node);
        return Ok(visit.map_or(0, |visit| visit.count.saturating_sub(1)));
    }
    // What was taken back counts towards limits, and is no iteration.
    let nodes = Nodes::read(ctx, loaded)?;
    Ok(nodes.find(node, None).map_or(0, |visit| visit.iteration))
}

/// Returns a node's name for people.
pub(super) fn label(loaded: &Loaded, node: &str) -> String {
    let table = loaded.workflow.table();
    let id = table.state_named(node);
    let title = id.and_then(|id| loaded.workflow.state_meta(id).get("title"));
    let title = title.and_then(Value::as_str);
    title.unwrap_or(node).to_owned()
}

/// Returns the state of a node in its last visit.
pub(super) fn node_state(loaded: &Loaded, node: &str) -> &'static str {
    let state = &loaded.state;
    // A visit that was taken back only counts towards limits.
    let Some(visit) = state.visits.get(node).filter(|visit| visit.entered > 0) else {
        return "pending";
    };
    let own = state.steps.get(node).and_then(|units| units.get(""));
    let reported = own.filter(|it| it.seq >= visit.entered);
    let reported = reported.map(|it| it.status);
    match reported {
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
    if reported == Some(StepStatus::Waiting) {
        "waiting-event"
    } else {
        "in-progress"
    }
}

/// Returns the artifact that a node has handed in last.
pub(super) fn output_of<'l>(loaded: &'l Loaded, node: &str) -> Option<&'l str> {
    let all = loaded.state.artifacts.values();
    let current = all.filter_map(|revisions| {
        let mut revisions = revisions.iter().rev();
        revisions.find(|it| it.artifact.step.as_deref() == Some(node))
    });
    let last = current.max_by_key(|revision| revision.seq)?;
    Some(&last.artifact.name)
}
