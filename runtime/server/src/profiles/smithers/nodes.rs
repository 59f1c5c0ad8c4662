//! Nodes as the journal has them: each visit of a state that a person sees, with its attempts.

use serde_json::{Value, json};
use statemark_runs::body::{Body, StepStatus};
use statemark_runs::{Loaded, load_timeline, state};

use super::summary;
use crate::ctx::Ctx;
use crate::problem::Problem;

/// The visits of a run's states, in the order of entering. What was taken back is none.
pub(super) struct Nodes {
    pub(super) visits: Vec<Visit>,
}

/// One visit.
pub(super) struct Visit {
    pub(super) node: String,
    /// Which visit of the state, from 0.
    pub(super) iteration: u64,
    /// The record that entered it.
    pub(super) entered: u64,
    /// The record that left it.
    pub(super) left: Option<u64>,
    /// When that was.
    pub(super) until: Option<u64>,
    /// At least one.
    pub(super) attempts: Vec<Attempt>,
}

/// One attempt.
pub(super) struct Attempt {
    /// Which of the visit, from 1.
    pub(super) number: u64,
    /// The record that it began with.
    pub(super) first: u64,
    /// When that was.
    pub(super) began: u64,
    /// When it was over.
    pub(super) ended: Option<u64>,
    pub(super) state: &'static str,
}

impl Nodes {
    pub(super) fn read(ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Self, Problem> {
        let runs = ctx.runs();
        let timeline = load_timeline(runs, &loaded.run)?;
        let visible: Vec<&str> = loaded.workflow.visible_states().map(|it| it.1).collect();
        let visits = timeline.visits.into_iter();
        let counting = visits.filter(|it| it.counts && visible.contains(&it.state.as_str()));
        let visits = counting.map(|it| Visit {
            iteration: it.number.saturating_sub(1),
            entered: it.entered,
            left: it.left,
            until: it.until,
            attempts: vec![Attempt {
                number: 1,
                first: it.entered,
                began: it.since,
                ended: None,
                state: "in-progress",
            }],
            node: it.state,
        });
        let mut nodes = Self {
            visits: visits.collect(),
        };
        let live = state::live_records(runs.store(), &loaded.run, Some(loaded.head.seq), &[])?;
        let upto = Some(loaded.head.seq);
        state::for_each_record(runs.store(), &loaded.run, 0, upto, |record| {
            if record.kind == "step"
                && live.contains(record.seq)
                && let Ok(Body::Step(step)) = record.read()
                && step.unit.is_none()
            {
                nodes.reported(&step.step, step.status, (record.seq, record.time));
            }
            Ok(())
        })?;
        for visit in &mut nodes.visits {
            visit.close(loaded);
        }
        Ok(nodes)
    }

    fn reported(&mut self, step: &str, status: StepStatus, (seq, time): (u64, u64)) {
        // `agent:state` is the state's.
        let node = step.rsplit(':').next().unwrap_or(step);
        let count = self.until(seq).len();
        let mut visits = self.visits.iter_mut().take(count).rev();
        let visit = visits.find(|it| it.node == node && it.holds(seq));
        let Some(visit) = visit else { return };
        let last = visit.attempts.last_mut();
        let over = match status {
            StepStatus::Failed => Some("failed"),
            StepStatus::Completed => Some("finished"),
            StepStatus::Skipped => Some("skipped"),
            StepStatus::NotStarted | StepStatus::Running | StepStatus::Waiting => None,
        };
        match (last, over) {
            (Some(last), Some(state)) => (last.state, last.ended) = (state, Some(time)),
            (Some(last), None) if last.ended.is_some() => {
                let number = last.number.saturating_add(1);
                visit.attempts.push(Attempt {
                    number,
                    first: seq,
                    began: time,
                    ended: None,
                    state: "in-progress",
                });
            }
            _ => {}
        }
    }

    /// The visits that began up to a record.
    fn until(&self, seq: u64) -> &[Visit] {
        let count = self.visits.partition_point(|it| it.entered <= seq);
        self.visits.get(..count).unwrap_or_default()
    }

    /// The innermost visit at a record: those entered at once come with the outer ones first.
    pub(super) fn at(&self, seq: u64) -> Option<&Visit> {
        self.until(seq).iter().rev().find(|it| it.holds(seq))
    }

    /// The visit of a node that goes on at a record.
    pub(super) fn of_at(&self, node: &str, seq: u64) -> Option<&Visit> {
        let mut visits = self.until(seq).iter().rev();
        visits.find(|it| it.node == node && it.holds(seq))
    }

    /// The visit of a node that a record has entered.
    pub(super) fn entered_at(&self, node: &str, seq: u64) -> Option<&Visit> {
        let mut visits = self.until(seq).iter().rev();
        visits.find(|it| it.node == node && it.entered == seq)
    }

    /// The visit of a node that a record has left.
    pub(super) fn left_at(&self, node: &str, seq: u64) -> Option<&Visit> {
        let mut visits = self.until(seq).iter().rev();
        visits.find(|it| it.node == node && it.left == Some(seq))
    }

    /// A visit of a node; the last one if none is named.
    pub(super) fn find(&self, node: &str, iteration: Option<u64>) -> Option<&Visit> {
        let mut visits = self.visits.iter().rev();
        visits.find(|it| it.node == node && iteration.is_none_or(|wanted| it.iteration == wanted))
    }

    /// The visit of a node that has to be there.
    pub(super) fn wanted(
        &self,
        loaded: &Loaded,
        node: &str,
        iteration: Option<u64>,
    ) -> Result<&Visit, Problem> {
        known(loaded, node)?;
        self.find(node, iteration).ok_or_else(|| {
            let which = iteration.map_or_else(String::new, |it| format!(" in iteration {it}"));
            let message = format!("`{node}` wasn't entered{which}");
            let there = self.visits.iter().filter(|it| it.node == node);
            let there: Vec<u64> = there.map(|it| it.iteration).collect();
            Problem::new("NODE_NOT_FOUND", message).with(json!({"iterations": there}))
        })
    }
}

/// Whether the workflow has such a node.
pub(super) fn known(loaded: &Loaded, node: &str) -> Result<(), Problem> {
    let names = loaded.workflow.visible_states().map(|it| it.1);
    let names: Vec<&str> = names.collect();
    if names.contains(&node) {
        return Ok(());
    }
    let message = format!("`{}` has no node `{node}`", loaded.state.workflow);
    Err(Problem::new("NODE_NOT_FOUND", message).with(json!({"nodes": names})))
}

impl Visit {
    /// Whether it goes on at a record.
    pub(super) fn holds(&self, seq: u64) -> bool {
        self.entered <= seq && self.left.is_none_or(|left| seq < left)
    }

    /// What came of it.
    pub(super) fn state(&self) -> &'static str {
        self.attempts.last().map_or("pending", |last| last.state)
    }

    pub(super) fn last_attempt(&self) -> u64 {
        self.attempts.last().map_or(0, |last| last.number)
    }

    /// What tells its attempts from others.
    pub(super) fn key(&self, attempt: u64) -> String {
        format!("{}:{}:{attempt}", self.node, self.iteration)
    }

    /// The attempt that a record belongs to.
    pub(super) fn attempt_at(&self, seq: u64) -> u64 {
        let began = self.attempts.iter().rev().find(|it| it.first <= seq);
        began.map_or(1, |it| it.number)
    }

    /// The last attempt is over if the visit is; else it is as the run is.
    fn close(&mut self, loaded: &Loaded) {
        let until = self.until;
        let is_last = self.left.is_none();
        let Some(last) = self.attempts.last_mut() else {
            return;
        };
        if last.ended.is_some() {
            return;
        }
        if is_last {
            last.state = summary::node_state(loaded, &self.node);
            if summary::is_terminal(loaded) {
                last.ended = Some(last.began.max(loaded.state.updated));
            }
        } else {
            last.state = "finished";
            last.ended = until;
        }
    }

    /// As steps of a run are listed.
    pub(super) fn told(&self, loaded: &Loaded) -> Value {
        let last = self.attempts.last();
        let updated = last.map(|it| it.ended.unwrap_or(it.began));
        json!({
            "nodeId": self.node,
            "iteration": self.iteration,
            "state": self.state(),
            "lastAttempt": self.last_attempt(),
            "updatedAtMs": updated,
            "outputTable": summary::output_of(loaded, &self.node),
            "label": summary::label(loaded, &self.node),
        })
    }
}
