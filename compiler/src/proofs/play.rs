//! Free guards: a machine that asks instead of evaluating, and the host that plays all the answers.
//!
//! [`free_table`] replaces each guard, of a transition or of a conditional action, by a question of its own to the host. An
//! assignment asks for one field, whose value the host gives or withholds; where its failure raises no event it asks
//! nothing. Everything else steps as it does in the machine, and the ids are the same.
//!
//! A [`Play`] is one step of such a machine, as its host and its observer. It answers questions by its script and, where
//! that ends, with `false`, so the first play of a step is the one in which every guard is false. [`Play::next_script`]
//! makes the next script, until all were played.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use statemark_runtime::{
    ActionId, EventId, FieldId, GuardId, Host, Observer, StateId, Table, TimerId, TransitionId,
    Value, verify,
};

use crate::arena::Arena;
use crate::back::table;
use crate::ir::{
    ActionKind, Assign, EventKind, Expression, ExpressionKind, HostGuard, Machine, Meta,
};
use crate::source::Span;

/// Most questions of one step that are answered both ways.
///
/// Unit: questions. Why: a machine that loops while a guard holds would ask forever. Further answers are `false`, and no
/// property relies on the others.
const MOST_ASKED: usize = 64;

/// Microsteps without a question after which a step counts as endless.
///
/// Unit: microsteps. Why: half of the engine's limit; a step that asks nothing for so long is in a loop.
const SILENCE: u32 = statemark_runtime::DEFAULT_STEP_LIMIT / 2;

/// Most instances of one timer that run at once.
///
/// Unit: timers. Why: a loop that starts one more each time would never repeat a configuration. No property relies on
/// further ones.
const MOST_ARMED: u8 = 2;

/// The running timers, with the number of instances of each.
pub(super) type Armed = BTreeMap<TimerId, u8>;

/// Returns the table of a machine with free guards; `None` if a table can't hold that many questions.
pub(super) fn free_table(machine: &Machine) -> Option<Table> {
    let mut freed = without_metadata(machine);
    let mut questions = Arena::new();
    let mut ask = |span: Span| {
        let name = format!("q{}", questions.len());
        let text = name.clone();
        let kind = ExpressionKind::Ask(questions.append(HostGuard {
            name,
            text,
            span,
            is_claim: false,
        }));
        Expression { span, kind }
    };
    for handle in machine.transitions.handles() {
        if let Some(guard) = &mut freed.transitions.at_mut(handle).guard {
            guard.value = ask(guard.span);
        }
    }
    let faults = machine
        .events
        .iter()
        .any(|(_, event)| event.kind == EventKind::Fault);
    for handle in machine.actions.handles() {
        let action = freed.actions.at_mut(handle);
        let span = action.span;
        match &mut action.kind {
            ActionKind::If { guard, .. } => *guard = ask(span),
            ActionKind::Assign(assigns) => {
                action.kind = match assigns.first() {
                    Some(assign) if faults => ActionKind::Assign(vec![Assign {
                        field: assign.field,
                        value: Expression {
                            span,
                            kind: ExpressionKind::Field(assign.field),
                        },
                    }]),
                    _ => ActionKind::Host,
                };
            }
            _ => {}
        }
    }
    freed.guards = questions;
    verify(table::rows(&freed)).ok()
}

/// Returns the machine without the data that only hosts and people read.
fn without_metadata(machine: &Machine) -> Machine {
    let mut bare = machine.clone();
    bare.meta = Meta::new();
    bare.notes.clear();
    bare.interrupts.clear();
    bare.context = None;
    bare.context_schema = None;
    for handle in machine.states.handles() {
        let state = bare.states.at_mut(handle);
        state.meta = Meta::new();
        state.instructions = None;
    }
    for handle in machine.transitions.handles() {
        let transition = bare.transitions.at_mut(handle);
        transition.meta = Meta::new();
        transition.label = None;
    }
    for handle in machine.events.handles() {
        bare.events.at_mut(handle).data = None;
    }
    for handle in machine.actions.handles() {
        bare.actions.at_mut(handle).meta = Meta::new();
    }
    bare
}

/// One step: the answers it is given, and what it does.
#[derive(Debug, Default)]
pub(super) struct Play {
    /// The answers, in the order of the questions.
    script: Vec<bool>,
    /// The number of answers given so far.
    asked: usize,
    /// The running timers.
    pub(super) armed: Armed,
    /// Everything entered, taken and raised in this step.
    pub(super) entered: Vec<StateId>,
    pub(super) taken: Vec<TransitionId>,
    pub(super) raised: Vec<EventId>,
    /// The number of actions executed.
    actions: usize,
    /// The number of microsteps, and their number when the last question was asked.
    microsteps: u32,
    microsteps_at_question: u32,
    /// An earlier moment of the step, to notice that it comes back there.
    since: Option<Moment>,
    /// True if the step came back to an earlier moment, by the answers given in between.
    pub(super) loops: bool,
    /// True if some questions weren't answered both ways.
    pub(super) is_cut: bool,
}

/// An earlier moment of a step, and everything that has changed since.
#[derive(Debug)]
struct Moment {
    /// States that are active now or were active then, but not both.
    changed: BTreeSet<StateId>,
    armed: Armed,
    raised: usize,
    asked: usize,
    /// True if all transitions since were eventless.
    is_eventless: bool,
    /// The number of microsteps then.
    microsteps: u32,
}

impl Play {
    /// Restarts the step, with the timers that ran at its beginning.
    pub(super) fn begin(&mut self, armed: &Armed) {
        let script = std::mem::take(&mut self.script);
        *self = Self {
            script,
            armed: armed.clone(),
            ..Self::default()
        };
    }

    /// Turns the last `false` among the answers into `true`.
    ///
    /// Returns `false` if there is none, which means that all scripts were played.
    pub(super) fn next_script(&mut self) -> bool {
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

    /// Returns the cost of the step, in the unit of the search's work.
    pub(super) fn work(&self) -> usize {
        // Every raised event is looked up again when it is dequeued.
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

    /// Reports whether a failed step asked nothing for so long that no answer could have saved it.
    pub(super) fn was_silent(&self) -> bool {
        self.microsteps.saturating_sub(self.microsteps_at_question) >= SILENCE
    }

    fn answer(&mut self) -> bool {
        self.microsteps_at_question = self.microsteps;
        if let Some(&answer) = self.script.get(self.asked) {
            self.asked += 1;
            return answer;
        }
        if self.loops {
            // From here on it can do only what it could do the first time.
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
            && since.microsteps < self.microsteps
            && since.raised == self.raised.len()
            && since.armed == self.armed;
        if is_same && since.asked < self.asked {
            self.loops = true;
        }
    }

    /// Remembers the moment after microsteps 2, 4, 8, …, one of which eventually lies within any loop.
    fn remember(&mut self) {
        if self.microsteps.is_power_of_two() && !self.loops {
            self.since = Some(Moment {
                changed: BTreeSet::new(),
                armed: self.armed.clone(),
                raised: self.raised.len(),
                asked: self.asked,
                is_eventless: true,
                microsteps: self.microsteps,
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

/// A play as the host.
pub(super) struct PlayHost<'p>(pub(super) &'p RefCell<Play>);

impl Host for PlayHost<'_> {
    fn guard(&mut self, _: GuardId) -> bool {
        self.0.borrow_mut().answer()
    }

    fn field(&self, _: FieldId) -> Value<'_> {
        // `true` is an absent field, and so a fault: the first play has no faults.
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

/// A play as the observer.
pub(super) struct PlayObserver<'p> {
    pub(super) play: &'p RefCell<Play>,
    pub(super) table: &'p Table,
    /// True if a history may tell two moments in one configuration apart.
    pub(super) has_history: bool,
}

impl Observer for PlayObserver<'_> {
    fn microstep(&mut self) {
        let mut play = self.play.borrow_mut();
        if self.has_history {
            play.microsteps = play.microsteps.saturating_add(1);
        } else {
            play.microstep();
            play.remember();
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
