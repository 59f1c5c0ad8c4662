//! One step of a machine with free guards: the answers that it is given, and what it does.
//!
//! A [`Play`] is host and observer in one. It answers questions by its script and, where that ends, with no; so the first
//! play of a step is the one in which every guard fails. [`Play::turn`] makes the next script, until all were played.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use statemark_runtime::{
    ActionId, EventId, FieldId, GuardId, Host, Observer, StateId, Table, TimerId, TransitionId,
    Value,
};

/// Most questions of one step that are answered both ways. Unit: questions. Why: a machine that goes round as long as a
/// guard holds would ask without end; beyond, every answer is no, and nothing is claimed that needs the others.
const MOST_ASKED: usize = 64;

/// Microsteps without a question after which nothing but the engine's limit ends a step. Unit: microsteps. Why: half of
/// the engine's limit; who asks nothing for so long goes round.
const SILENCE: u32 = statemark_runtime::DEFAULT_STEP_LIMIT / 2;

/// Most times that one timer runs at once. Unit: timers. Why: a step that starts one more each time would never be seen
/// twice; beyond, nothing is claimed that needs the others.
const MOST_ARMED: u8 = 2;

/// The timers that run, and how often each does.
pub(super) type Armed = BTreeMap<TimerId, u8>;

/// What is done in one step, and what answers it.
#[derive(Debug, Default)]
pub(super) struct Play {
    /// The answers, in the order of the questions.
    script: Vec<bool>,
    /// How many of them were given.
    asked: usize,
    /// The timers that run.
    pub(super) armed: Armed,
    /// What was entered, taken and raised in this step.
    pub(super) entered: Vec<StateId>,
    pub(super) taken: Vec<TransitionId>,
    pub(super) raised: Vec<EventId>,
    /// How many actions were carried out.
    actions: usize,
    /// How many microsteps there were, and how many when the last question was asked.
    pub(super) microsteps: u32,
    spoken: u32,
    /// Where the step was some microsteps ago, to see that it comes back.
    since: Option<Moment>,
    /// Whether the step came back to where it had been, by answers that it was given on the way.
    pub(super) goes_round: bool,
    /// Whether there were questions that weren't answered both ways.
    pub(super) is_cut: bool,
}

/// A moment within a step, and what has changed since.
#[derive(Debug)]
struct Moment {
    /// States that are active now and weren't then, or the other way round.
    changed: BTreeSet<StateId>,
    armed: Armed,
    raised: usize,
    asked: usize,
    /// Whether all transitions since waited for no event.
    is_eventless: bool,
    /// How many microsteps there were.
    at: u32,
}

impl Play {
    /// The same step from the beginning, with the timers that ran then.
    pub(super) fn begin(&mut self, armed: &Armed) {
        let script = std::mem::take(&mut self.script);
        *self = Self {
            script,
            armed: armed.clone(),
            ..Self::default()
        };
    }

    /// Turns the last no among the answers given into a yes. `false` if there is none: all were played.
    pub(super) fn turn(&mut self) -> bool {
        self.script.truncate(self.asked);
        while self.script.last() == Some(&true) {
            self.script.pop();
        }
        match self.script.last_mut() {
            Some(last) => {
                *last = true;
                true
            }
            None => false,
        }
    }

    /// What the step has cost. Unit: as that of the search's work.
    pub(super) fn work(&self) -> usize {
        // Every raised event is looked up once more when its turn comes.
        let raised = self.raised.len().saturating_mul(2);
        [
            self.microsteps as usize,
            self.entered.len(),
            self.taken.len(),
            self.actions,
            self.asked,
            raised,
        ]
        .into_iter()
        .fold(1, usize::saturating_add)
    }

    /// Whether a step that failed would have failed whatever was answered late in it.
    pub(super) fn was_silent(&self) -> bool {
        self.microsteps.saturating_sub(self.spoken) >= SILENCE
    }

    fn answer(&mut self) -> bool {
        self.spoken = self.microsteps;
        if let Some(&answer) = self.script.get(self.asked) {
            self.asked += 1;
            return answer;
        }
        if self.goes_round {
            // From here on it can only do what it could do when it was here before.
            return false;
        }
        if self.asked >= MOST_ASKED {
            self.is_cut = true;
            return false;
        }
        self.script.push(false);
        self.asked += 1;
        false
    }

    fn microstep(&mut self) {
        self.microsteps = self.microsteps.saturating_add(1);
        let Some(since) = &self.since else {
            return;
        };
        let is_same = since.changed.is_empty()
            && since.is_eventless
            && since.at < self.microsteps
            && since.raised == self.raised.len()
            && since.armed == self.armed;
        if is_same && since.asked < self.asked {
            self.goes_round = true;
        }
    }

    /// Remembers the moment behind microstep 2, 4, 8, …: in the end one is within whatever it goes round in.
    fn remember(&mut self) {
        if self.microsteps.is_power_of_two() && !self.goes_round {
            self.since = Some(Moment {
                changed: BTreeSet::new(),
                armed: self.armed.clone(),
                raised: self.raised.len(),
                asked: self.asked,
                is_eventless: true,
                at: self.microsteps,
            });
        }
    }

    fn toggle(&mut self, state: StateId) {
        if let Some(since) = &mut self.since
            && !since.changed.remove(&state)
        {
            since.changed.insert(state);
        }
    }
}

/// The play as the host.
pub(super) struct Answers<'p>(pub(super) &'p RefCell<Play>);

impl Host for Answers<'_> {
    fn guard(&mut self, _: GuardId) -> bool {
        self.0.borrow_mut().answer()
    }

    fn field(&self, _: FieldId) -> Value<'_> {
        // Absent, and so a fault, where the answer is yes: the first play is without faults.
        match self.0.borrow_mut().answer() {
            true => Value::Absent,
            false => Value::Bool(true),
        }
    }

    fn schedule(&mut self, timer: TimerId, _: u64) {
        let mut play = self.0.borrow_mut();
        let count = play.armed.entry(timer).or_default();
        if *count < MOST_ARMED {
            *count += 1;
        } else {
            play.is_cut = true;
        }
    }

    fn cancel(&mut self, timer: TimerId) {
        self.0.borrow_mut().armed.remove(&timer);
    }
}

/// The play as the observer.
pub(super) struct Watches<'p> {
    pub(super) play: &'p RefCell<Play>,
    pub(super) table: &'p Table,
    /// Whether coming back to a configuration means coming back to all there is: no history remembers.
    pub(super) forgets: bool,
}

impl Observer for Watches<'_> {
    fn microstep(&mut self) {
        let mut play = self.play.borrow_mut();
        if self.forgets {
            play.microstep();
            play.remember();
        } else {
            play.microsteps = play.microsteps.saturating_add(1);
        }
    }

    fn transition(&mut self, transition: TransitionId) {
        let mut play = self.play.borrow_mut();
        play.taken.push(transition);
        let is_eventless = self.table.triggers(transition).is_empty();
        if let Some(since) = &mut play.since {
            since.is_eventless &= is_eventless;
        }
    }

    fn exited(&mut self, state: StateId) {
        self.play.borrow_mut().toggle(state);
    }

    fn entered(&mut self, state: StateId) {
        let mut play = self.play.borrow_mut();
        play.entered.push(state);
        play.toggle(state);
    }

    fn action(&mut self, _: ActionId) {
        let mut play = self.play.borrow_mut();
        play.actions = play.actions.saturating_add(1);
    }

    fn raised(&mut self, event: EventId) {
        self.play.borrow_mut().raised.push(event);
    }
}
