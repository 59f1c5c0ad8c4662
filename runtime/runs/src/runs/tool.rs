//! Calls of tools: a call is reserved before it runs, and its result is recorded after it.
//!
//! The limits of the active states are counted here; the tools that a state grants are not.
//!
//! A call that several tell of, a hook and a server, is one by its id. A refused one is recorded and doesn't count.

use serde::Serialize;

use super::draft::Draft;
use super::operation::{Decide, DecideCx, Right};
use super::{Change, Loaded, Outcome, RunError};
use crate::blocker::Blocker;
use crate::body::{Body, Cause, Tool, ToolVerdict};
use crate::hash::Hash;
use crate::phrase::list;
use crate::state::{RunState, Visit};

/// A call that is about to run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReserveCall {
    /// The tool.
    pub tool: String,
    /// The id of the call.
    pub call: Option<String>,
    /// The hash of its arguments.
    pub input: Option<Hash>,
    /// The files that it is going to change.
    pub files: Vec<String>,
    /// True if the call runs whatever the limits say: what they say is recorded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub observe: bool,
    /// The reason for which the states don't grant the call, if it runs nevertheless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ungranted: Option<String>,
}

/// A call that has run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RecordCall {
    /// The tool.
    pub tool: String,
    /// The id of the call.
    pub call: Option<String>,
    /// True if it failed.
    pub failed: bool,
    /// The duration. Unit: milliseconds.
    pub milliseconds: Option<u64>,
    /// The hash of its arguments.
    pub input: Option<Hash>,
    /// The size of the output. Unit: bytes.
    pub output: Option<u64>,
    /// The files that it changed.
    pub files: Vec<String>,
}

/// The result of a reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReserveOutcome {
    /// The call may run.
    Yes,
    /// The call may not run.
    No {
        /// The reason, and the enabled events.
        reason: String,
    },
}

/// A call that was reserved before writes nothing, and may run.
impl Outcome for ReserveOutcome {
    fn read(bodies: &[Body]) -> Result<Self, RunError> {
        let denied = bodies.iter().find_map(|body| match body {
            Body::Tool(tool) if tool.verdict == ToolVerdict::Denied => tool.reason.clone(),
            _ => None,
        });
        Ok(denied.map_or(Self::Yes, |reason| Self::No { reason }))
    }
}

/// Records that a tool isn't granted; the call doesn't count.
#[derive(Clone, Debug)]
pub struct DenyTool {
    /// The tool.
    pub tool: String,
    /// The reason, and the enabled events.
    pub reason: String,
}

/// In the digest of a key it stands as it did when it was no type of its own.
impl Serialize for DenyTool {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.tool, &self.reason).serialize(serializer)
    }
}

/// Reserves a place for a call; the outcome says if it may run.
impl Decide for ReserveCall {
    const NAME: &'static str = "reserve";
    const RIGHT: Right = Right::Drive;
    type Outcome = ReserveOutcome;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        if is_known(&run.state, self.call.as_ref()) {
            return Ok(Change::default());
        }
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        let reason = match &self.ungranted {
            Some(reason) => Some(reason.clone()),
            None => draft.unreserved(self)?,
        };
        let observed = reason.is_some() && self.observe;
        let verdict = if reason.is_some() && !observed {
            ToolVerdict::Denied
        } else {
            ToolVerdict::Allowed
        };
        draft.push(Body::Tool(Tool {
            name: self.tool.clone(),
            verdict,
            reason,
            observed,
            call: self.call.clone(),
            reserved: true,
            milliseconds: None,
            input: self.input,
            output: None,
            files: self.files.clone(),
            attempt: cx.order.attempt,
        }))?;
        Ok(draft.finish())
    }
}

impl Decide for DenyTool {
    const NAME: &'static str = "deny";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, _: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let body = Body::Tool(Tool {
            name: self.tool.clone(),
            verdict: ToolVerdict::Denied,
            reason: Some(self.reason.clone()),
            observed: false,
            call: None,
            reserved: false,
            milliseconds: None,
            input: None,
            output: None,
            files: Vec::new(),
            attempt: cx.order.attempt,
        });
        Ok(Change { bodies: vec![body] })
    }
}

/// Records the result of a call, which counts unless it was reserved.
///
/// A changed file may move the run by an interrupt, and the last call that `max_iterations` allows sends
/// `on_max_iterations`.
impl Decide for RecordCall {
    const NAME: &'static str = "used";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let call = self.call.as_ref();
        let runs = call.is_some_and(|it| run.state.running.contains(it));
        if !runs && is_known(&run.state, call) {
            return Ok(Change::default());
        }
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        draft.push(Body::Tool(Tool {
            name: self.tool.clone(),
            verdict: if self.failed {
                ToolVerdict::Failed
            } else {
                ToolVerdict::Allowed
            },
            reason: None,
            observed: false,
            call: self.call.clone(),
            reserved: false,
            milliseconds: self.milliseconds,
            input: self.input,
            output: self.output,
            files: self.files.clone(),
            attempt: cx.order.attempt,
        }))?;
        if !run.state.status().is_over() {
            draft.changed(&self.files)?;
            if draft.state().running.is_empty() {
                draft.spend()?;
            }
        }
        Ok(draft.finish())
    }
}

/// Reports whether a call was counted before.
fn is_known(state: &RunState, call: Option<&String>) -> bool {
    call.is_some_and(|call| {
        let mut visits = state.visits.values();
        state.running.contains(call) || visits.any(|it| it.calls.contains(call))
    })
}

impl Draft {
    /// Returns the reason that a call may not run.
    fn unreserved(&mut self, reserve: &ReserveCall) -> Result<Option<String>, RunError> {
        if let Some(blocker) = self.loaded().legality().standstill() {
            return Ok(Some(blocker.message()));
        }
        let spent = self
            .loaded()
            .active_visits()
            .into_iter()
            .find_map(|(state, visit)| {
                let most = self.loaded().limit(state, "max_iterations")?;
                (visit.iterations >= most).then(|| (state.clone(), most))
            });
        if let Some((state, most)) = spent {
            let had = Blocker::CallsSpent { state, max: most }.message();
            let before = self.state().leaves.clone();
            self.spend()?;
            let loaded = self.loaded();
            return Ok(Some(if loaded.state.leaves == before {
                format!("{had}{}", instead(loaded))
            } else {
                let leaves = list(&loaded.state.leaves);
                format!("{had}; the run has moved to {leaves}")
            }));
        }
        let loaded = self.loaded();
        for (state, visit) in loaded.active_visits() {
            if let Some(most) = loaded.limit(state, "max_files_per_state") {
                let new = reserve.files.iter().filter(|it| !visit.files.contains(*it));
                let new: std::collections::BTreeSet<&String> = new.collect();
                let files = visit.files.len().saturating_add(new.len());
                if !new.is_empty() && u64::try_from(files).unwrap_or(u64::MAX) > most {
                    let new: Vec<String> = new.into_iter().cloned().collect();
                    return Ok(Some(format!(
                        "{} would make {files} files changed in `{state}`, whose `max_files_per_state` is {most}{}",
                        list(&new),
                        instead(loaded)
                    )));
                }
            }
            if let Some(most) = loaded.limit(state, "context_budget_bytes")
                && visit.bytes >= most
            {
                let bytes = visit.bytes;
                return Ok(Some(format!(
                    "tools have returned {bytes} bytes in `{state}`, whose `context_budget_bytes` is {most}{}",
                    instead(loaded)
                )));
            }
        }
        Ok(None)
    }

    /// Sends the events of the active states that have had all their calls.
    fn spend(&mut self) -> Result<(), RunError> {
        let loaded = self.loaded();
        let spent = loaded
            .active_visits()
            .into_iter()
            .filter_map(|(state, visit)| {
                let most = loaded.limit(state, "max_iterations")?;
                let id = loaded.workflow.table().state_named(state)?;
                let event = loaded.workflow.state_meta(id).get("on_max_iterations")?;
                (visit.iterations >= most)
                    .then(|| (state.clone(), event.as_str().map(str::to_owned)))
            });
        for (state, event) in spent.collect::<Vec<_>>() {
            let cause = Cause::Limit {
                limit: "max_iterations".to_owned(),
                state: state.clone(),
            };
            let waits = self.state().queue.iter().any(|it| it.cause == cause);
            if let Some(event) = event
                && self.state().is_active(&state)
                && !waits
            {
                self.deliver(&event, None, cause)?;
            }
        }
        Ok(())
    }
}

/// Returns the events to send where no tool can run.
fn instead(loaded: &Loaded) -> String {
    let events = loaded.legality().enabled_events();
    if events.is_empty() {
        return "; no event can be sent: ask a person".to_owned();
    }
    format!("; send {}", list(&events))
}

impl Loaded {
    /// Checks that a change of so many lines is within the `max_edit_lines` of the active states.
    ///
    /// # Errors
    ///
    /// The reason, for the caller.
    pub fn check_edit(&self, lines: u64) -> Result<(), String> {
        for (state, _) in self.active_visits() {
            if let Some(most) = self.limit(state, "max_edit_lines")
                && lines > most
            {
                return Err(format!(
                    "this would change {lines} lines, and `max_edit_lines` of `{state}` is {most}: make a smaller change{}",
                    instead(self)
                ));
            }
        }
        Ok(())
    }

    /// Returns the visits of the active states, innermost first.
    fn active_visits(&self) -> Vec<(&String, &Visit)> {
        let table = self.workflow.table();
        let visits = self.state.visits.iter().filter(|(_, it)| it.left.is_none());
        let mut visits: Vec<_> = visits.collect();
        visits.sort_by_key(|(state, _)| std::cmp::Reverse(table.state_named(state)));
        visits
    }
}
