//! Attempts of executors: their start, what is said and spent in them, and their end.
//!
//! An executor holds the run's lease, so of two attempts in one state the older is over, whatever its executor believes.
//! Whoever starts the next one says so in the journal: what a lost attempt did outside isn't known.
//!
//! A limit that an attempt reaches is the machine's to handle, by the event [`LIMIT_REACHED`]. A machine without it stops,
//! and a person continues the run or ends it.

use serde::Serialize;
use serde_json::json;

use super::draft::Draft;
use super::operation::{Decide, DecideCx, Right};
use super::{Change, InvalidRequest, Loaded, Outcome, RunError};
use crate::body::{
    AttemptEnded, AttemptOutcome, AttemptStarted, Body, Cause, Message, Paused, Usage,
};
use crate::hash::Hash;
use crate::state::AttemptState;

/// The event that a machine is sent when an executor reaches a limit.
pub const LIMIT_REACHED: &str = "limit.reached";

/// Starts an attempt in a state. The order has the fence of the run's lease.
#[derive(Clone, Debug, Serialize)]
pub struct StartAttempt {
    /// The state.
    pub state: String,
    /// The executor, by its name in the configuration.
    pub executor: String,
    /// The model.
    pub model: Option<String>,
    /// The goal of the run, if it is named anew.
    pub task: Option<String>,
    /// The prompt, which the store has.
    pub prompt: Hash,
    /// The parts that the prompt had no room for.
    pub left_out: Vec<String>,
}

/// Records what was said in an attempt, and what that cost. The order names the attempt.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RecordTurn {
    /// By author: the texts.
    pub messages: Vec<(String, String)>,
    /// The tokens read and written, and the money in millionths of a US dollar.
    pub usage: Option<(u64, u64, Option<u64>)>,
    /// By which model.
    pub model: Option<String>,
}

/// Ends the attempt that the order names. One that has ended stays as it is.
#[derive(Clone, Debug, Serialize)]
pub struct EndAttempt {
    /// The outcome.
    pub outcome: AttemptOutcome,
    /// In words.
    pub reason: Option<String>,
}

/// Tells the machine that the attempts in a state have reached a limit.
///
/// A machine that has no event for it stops.
#[derive(Clone, Debug, Serialize)]
pub struct ReachLimit {
    /// The limit, by the key that sets it.
    pub limit: String,
    /// The state.
    pub state: String,
    /// In words: what was used, and what the limit is.
    pub reason: String,
}

/// The number of an attempt.
impl Outcome for u64 {
    fn read(bodies: &[Body]) -> Result<Self, RunError> {
        let started = bodies.iter().find_map(|body| match body {
            Body::AttemptStarted(started) => Some(started.attempt),
            _ => None,
        });
        let expected = "attempt.started";
        started.ok_or_else(|| InvalidRequest::OtherRecords { expected }.into())
    }
}

impl Decide for StartAttempt {
    const NAME: &'static str = "start_attempt";
    const RIGHT: Right = Right::Drive;
    type Outcome = u64;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        if cx.order.fence.is_none() {
            return Err(InvalidRequest::NoLease.into());
        }
        if let Some(blocker) = run.legality().standstill() {
            return Err(InvalidRequest::Blocked(Box::new(blocker)).into());
        }
        if !run.state.leaves.contains(&self.state) {
            let state = self.state.clone();
            return Err(InvalidRequest::NotActive { state }.into());
        }
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        for (attempt, _) in run.state.open_attempts(&self.state) {
            draft.push(Body::AttemptEnded(AttemptEnded {
                attempt,
                state: self.state.clone(),
                outcome: AttemptOutcome::Lost,
                reason: None,
            }))?;
        }
        draft.push(Body::AttemptStarted(AttemptStarted {
            attempt: run.state.attempted.saturating_add(1),
            state: self.state.clone(),
            number: run.state.attempts_in_visit(&self.state).saturating_add(1),
            executor: self.executor.clone(),
            model: self.model.clone(),
            task: self.task.clone(),
            prompt: self.prompt,
            left_out: self.left_out.clone(),
        }))?;
        Ok(draft.finish())
    }
}

impl Decide for RecordTurn {
    const NAME: &'static str = "record_turn";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, _: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let attempt = cx.order.attempt;
        let messages = self.messages.iter().map(|(role, text)| {
            Body::Message(Message {
                role: role.clone(),
                text: text.clone(),
                attempt,
            })
        });
        let mut bodies: Vec<Body> = messages.collect();
        if let Some((input_tokens, output_tokens, cost)) = self.usage {
            bodies.push(Body::Usage(Usage {
                input_tokens,
                output_tokens,
                cost,
                model: self.model.clone(),
                attempt,
            }));
        }
        Ok(Change { bodies })
    }
}

impl Decide for EndAttempt {
    const NAME: &'static str = "end_attempt";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let attempts = &run.state.attempts;
        let open = cx.order.attempt.and_then(|number| {
            let open = attempts.get(&number).filter(|it| it.ended.is_none())?;
            Some((number, open))
        });
        let Some((attempt, open)) = open else {
            return Ok(Change::default());
        };
        let body = Body::AttemptEnded(AttemptEnded {
            attempt,
            state: open.state.clone(),
            outcome: self.outcome,
            reason: self.reason.clone(),
        });
        Ok(Change { bodies: vec![body] })
    }
}

impl Decide for ReachLimit {
    const NAME: &'static str = "reach_limit";
    const RIGHT: Right = Right::Drive;
    type Outcome = ();

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let is_standing = run.legality().standstill().is_some();
        if is_standing || !run.state.is_active(&self.state) {
            return Ok(Change::default());
        }
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        let cause = Cause::Limit {
            limit: self.limit.clone(),
            state: self.state.clone(),
        };
        let data = json!({"limit": self.limit, "state": self.state, "reason": self.reason});
        // Without an attempt in between, as many as there are states lead in a circle.
        let states = run.workflow.table().states().len();
        let most = u64::try_from(states).unwrap_or(u64::MAX);
        let is_circle = run.state.limits_reached > most;
        if is_circle || !draft.deliver(LIMIT_REACHED, Some(data), cause)? {
            let circle = if is_circle {
                format!(", and `{LIMIT_REACHED}` leads in a circle")
            } else {
                String::new()
            };
            let reason = format!(
                "{}{circle}; a person continues the run, which counts anew then, or cancels it",
                self.reason
            );
            draft.push(Body::Paused(Paused {
                reason: Some(reason),
            }))?;
        }
        Ok(draft.finish())
    }
}

impl AttemptState {
    /// Returns why it came to nothing, if it did: its reason, if it has one.
    #[must_use]
    pub fn failure(&self) -> Option<Option<&str>> {
        let ended = self.ended.as_ref();
        if let Some((_, reason, _)) = ended.filter(|(outcome, ..)| outcome.is_failure()) {
            return Some(reason.as_deref());
        }
        let unfinished = self.taken_back.filter(|it| it.unfinished);
        unfinished.map(|_| Some("it was taken back by a rewind before it had ended"))
    }
}

impl crate::state::RunState {
    /// Returns the attempts in a state that haven't ended, with their numbers.
    pub fn open_attempts<'s>(
        &'s self,
        state: &'s str,
    ) -> impl Iterator<Item = (u64, &'s AttemptState)> + 's {
        let attempts = self.attempts.iter();
        let open = attempts.filter(move |(_, it)| it.state == state && it.ended.is_none());
        open.map(|(number, it)| (*number, it))
    }

    /// Returns the attempts of a state's present visit that count towards its limits, in order.
    ///
    /// Those before a person continued the run don't. Those that an agent has taken back do.
    pub fn counted_attempts<'s>(
        &'s self,
        state: &'s str,
    ) -> impl Iterator<Item = &'s AttemptState> + 's {
        let continued = self.allowance.as_ref().map_or(0, |it| it.seq);
        let attempts = self.attempts_of_visit(state);
        attempts.filter(move |it| it.seq >= continued)
    }

    /// Returns the attempts of a state's present visit, in order.
    ///
    /// Those that an agent has taken back belong to the visit in which it went on.
    pub fn attempts_of_visit<'s>(
        &'s self,
        state: &'s str,
    ) -> impl Iterator<Item = &'s AttemptState> + 's {
        let visit = self.visits.get(state);
        let (entered, count) = visit.map_or((0, 0), |it| (it.entered, it.count));
        let attempts = self.attempts.values();
        attempts.filter(move |attempt| {
            let counts = match attempt.taken_back {
                Some(taken) => taken.visit == count,
                None => attempt.seq >= entered,
            };
            counts && attempt.state == state
        })
    }

    /// Returns the number of attempts in a state's present visit.
    fn attempts_in_visit(&self, state: &str) -> u64 {
        let attempts = self.attempts_of_visit(state);
        attempts.map(|it| it.number).max().unwrap_or_default()
    }

    /// Returns the cost of the run alone since a person has continued it.
    #[must_use]
    pub fn counted_usage(&self) -> Usage {
        match &self.allowance {
            Some(allowance) => self.usage.since(&allowance.usage),
            None => self.usage.clone(),
        }
    }
}
