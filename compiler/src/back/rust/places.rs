//! Places: the configurations of a machine with regions, if they are few, and its steps in each.
//!
//! The table engine itself finds them: it takes each event in each place, once for every way in which guards can answer,
//! and what it does is written down in order. So what is written out does what the engine does, to the last observation,
//! whole macrosteps included.
//!
//! What histories have recorded isn't part of a place, or places would be multiplied by it. Each history has a value, the
//! number of a set of states, and a step that may enter by a history is taken once for each value that it can have.
//!
//! Deliberately not here: machines whose steps read or change more than that. Those with timers, fields, or conditional
//! actions are walked.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use statemark_runtime as runtime;
use statemark_runtime::generated::Notice;
use statemark_runtime::{
    ActionId, Configuration, EventId, GuardId, Host, Observer, Outcome, StateId, Table,
    TransitionId,
};

use crate::arena::Handle;
use crate::ir::{Event, HostGuard, Machine, State};

/// Most places of a machine that is written out by them.
///
/// Unit: places. Why: regions multiply; a drawing of three regions has some forty.
const MAX_PLACES: usize = 256;

/// Most pairs of a place and an event that does something there.
///
/// Unit: arms of a `match`. Why: that of machines without regions is the same number.
const MAX_ARMS: usize = 2_000;

/// Most things that all arms together do.
///
/// Unit: calls of host and observer. Why: each is a line of generated code.
const MAX_DEEDS: usize = 6_000;

/// Most things that are done, and most guards that are asked, in one step that is written out.
///
/// Unit: calls of host and observer. Why: a step that runs on for longer costs more than walking it does.
const MAX_STEP: usize = 200;

/// Most paths of one step, by what its guards answer.
///
/// Unit: outcomes. Why: guards multiply as regions do.
const MAX_PATHS: usize = 16;

/// Most values of the histories by which one step may enter.
///
/// Unit: values, of several histories multiplied. Why: a step is written out for each.
const MAX_RECALLED: usize = 64;

/// A value of a history.
/// It is zero where nothing is recorded, else one more than the number of a set of states.
type Value = u16;

/// A step, or the rest of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The things that are done first.
    pub(super) deeds: Vec<Notice>,
    /// The rest, which may depend on something.
    pub(super) then: Then,
}

/// The continuation of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Depends on a guard of the host's: the steps if it holds, and if it doesn't.
    Ask(Handle<HostGuard>, Box<[Step; 2]>),
    /// Depends on what the history of that number has recorded: a step for each value.
    Recall(usize, Vec<Step>),
    /// Nothing was taken.
    Ignored,
    /// The machine rests.
    Rests(Arrival),
    /// The machine has ended.
    Ends(Arrival),
}

/// The end of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// The number of the place.
    pub(super) place: u16,
    /// The histories, by number, that have recorded something since, each with its value.
    pub(super) recorded: Vec<(usize, Value)>,
}

/// The places of a machine.
#[derive(Debug)]
pub(super) struct Places {
    /// The leaves of each place, sorted.
    pub(super) leaves: Vec<Vec<StateId>>,
    /// The histories, each with the sets of states that its values stand for, sorted.
    pub(super) histories: Vec<(StateId, Vec<Vec<StateId>>)>,
    /// True for each place in which the machine has ended.
    pub(super) ended: Vec<bool>,
    /// The step of an event in a place; none where nothing is done.
    /// A step that isn't there is walked: it doesn't come to rest, or does too much.
    pub(super) steps: BTreeMap<(u16, Handle<Event>), Option<Step>>,
}

impl Places {
    /// Finds the places of a machine; none if they are too many.
    pub(super) fn find(machine: &Machine, table: &Table) -> Option<Self> {
        let states = machine.states.iter();
        let histories = states.filter(|(_, state)| state.kind.is_history());
        let histories = histories.map(|(handle, _)| Some((id(handle)?, Numbers::default())));
        let explorer = Explorer {
            machine,
            table,
            places: Numbers::default(),
            histories: histories.collect::<Option<_>>()?,
            deeds: 0,
        };
        explorer.explore()
    }
}

/// Lists of states, numbered as they are found.
#[derive(Default)]
struct Numbers {
    numbers: BTreeMap<Vec<StateId>, u16>,
    found: Vec<Vec<StateId>>,
}

impl Numbers {
    /// Returns the number of a list; none if it is one too many.
    fn number(&mut self, states: Vec<StateId>) -> Option<u16> {
        if let Some(&number) = self.numbers.get(&states) {
            return Some(number);
        }
        let number = self.found.len();
        let number = u16::try_from(number).ok().filter(|_| number < MAX_PLACES)?;
        self.numbers.insert(states.clone(), number);
        self.found.push(states);
        Some(number)
    }

    /// Returns the lists in their order, and the place of each in it.
    fn sorted(self) -> (Vec<Vec<StateId>>, Vec<u16>) {
        let mut places = vec![0; self.found.len()];
        for (at, &found) in (0..).zip(self.numbers.values()) {
            if let Some(place) = places.get_mut(usize::from(found)) {
                *place = at;
            }
        }
        (self.numbers.into_keys().collect(), places)
    }
}

/// A log of what a step did, in order, with the guards that it asked.
#[derive(Default)]
struct Log {
    /// The answers that are given, in order; further ones are true.
    answers: Vec<bool>,
    deeds: Vec<Notice>,
    /// The guards that were asked, each with the number of deeds before it.
    asked: Vec<(usize, GuardId)>,
}

/// The host and the observer of a step, which share its log.
#[derive(Clone, Copy)]
struct Witness<'l>(&'l RefCell<Log>);

impl Witness<'_> {
    fn write(&self, deed: Notice) {
        self.0.borrow_mut().deeds.push(deed);
    }
}

impl Host for Witness<'_> {
    fn guard(&mut self, guard: GuardId) -> bool {
        let mut log = self.0.borrow_mut();
        let (deeds, number) = (log.deeds.len(), log.asked.len());
        log.asked.push((deeds, guard));
        log.answers.get(number).copied().unwrap_or(true)
    }
}

impl Observer for Witness<'_> {
    fn microstep(&mut self) {
        self.write(Notice::Microstep);
    }

    fn transition(&mut self, transition: TransitionId) {
        self.write(Notice::Transition(transition.raw()));
    }

    fn exited(&mut self, state: StateId) {
        self.write(Notice::Exited(state.raw()));
    }

    fn action(&mut self, action: ActionId) {
        self.write(Notice::Action(action.raw()));
    }

    fn entered(&mut self, state: StateId) {
        self.write(Notice::Entered(state.raw()));
    }

    fn raised(&mut self, event: EventId) {
        self.write(Notice::Raised(event.raw()));
    }
}

struct Explorer<'m> {
    machine: &'m Machine,
    table: &'m Table,
    places: Numbers,
    /// The histories in document order, each with the sets of states that it has recorded.
    histories: Vec<(StateId, Numbers)>,
    /// The number of deeds in all steps.
    deeds: usize,
}

/// A step that was found, with the histories by which it may enter.
/// Each has the number of its values then.
struct Found {
    step: Option<Step>,
    recalled: Vec<(usize, usize)>,
}

/// The begin of a step: an event, the leaves, and the value of each history.
struct Start {
    event: Handle<Event>,
    leaves: Vec<StateId>,
    values: Vec<Value>,
}

impl Explorer<'_> {
    fn explore(mut self) -> Option<Places> {
        self.starts(&[], &mut 0)?;
        let events = self.machine.events.iter();
        let events = events.filter(|(_, event)| event.kind.is_sendable());
        let events: Vec<Handle<Event>> = events.map(|(handle, _)| handle).collect();
        let mut found: BTreeMap<(u16, Handle<Event>), Found> = BTreeMap::new();
        let mut ended = Vec::new();
        // A new value of a history gives steps that enter by it another way.
        loop {
            let mut is_new = false;
            let mut next = 0;
            while let Some(leaves) = self.places.found.get(next).cloned() {
                let place = u16::try_from(next).ok()?;
                if next == ended.len() {
                    let configuration = Configuration::from_leaves(self.table, &leaves).ok()?;
                    ended.push(configuration.is_ended(self.table));
                }
                let is_ended = *ended.get(next)?;
                next += 1;
                if is_ended {
                    continue;
                }
                for &event in &events {
                    let known = found.get(&(place, event));
                    if known.is_some_and(|known| self.is_complete(known)) {
                        continue;
                    }
                    is_new = true;
                    let step = self.find_step(event, &leaves)?;
                    found.insert((place, event), step);
                    if found.len() > MAX_ARMS * 4 || self.deeds > MAX_DEEDS * 4 {
                        return None;
                    }
                }
            }
            if !is_new {
                break;
            }
        }
        self.sorted(found, &ended)
    }

    /// Reports whether no history by which a step may enter has a value since it was found.
    fn is_complete(&self, found: &Found) -> bool {
        let mut recalled = found.recalled.iter();
        recalled.all(|&(history, values)| self.values(history) == values)
    }

    /// Returns the number of values that the history of that number is known to have.
    fn values(&self, history: usize) -> usize {
        let history = self.histories.get(history);
        1 + history.map_or(0, |(_, numbers)| numbers.found.len())
    }

    /// Finds places in which the machine can come to rest when it starts.
    /// The first guards answer as given.
    fn starts(&mut self, answers: &[bool], paths: &mut usize) -> Option<()> {
        let log = RefCell::new(Log {
            answers: answers.to_vec(),
            ..Log::default()
        });
        let witness = Witness(&log);
        let machine = runtime::Machine::start_observed(self.table, witness, &mut { witness });
        // One that doesn't come to rest for some answers can for others.
        if let Ok(machine) = machine {
            self.arrival(machine.configuration(), &[])?;
        }
        *paths += 1;
        // Where further paths lead to, the machine finds out when it is walked there.
        let asked = log.take().asked.len().min(MAX_PATHS);
        if *paths >= MAX_PATHS {
            return Some(());
        }
        // Each guard after those has answered with true; the others follow from the first that doesn't.
        (answers.len()..asked).try_for_each(|trues| {
            let mut other = answers.to_vec();
            other.resize(trues, true);
            other.push(false);
            self.starts(&other, paths)
        })
    }

    /// Finds the step of an event in the place with those leaves.
    /// It is taken for each value of the histories by which it may enter.
    /// `None` is for too many places.
    fn find_step(&mut self, event: Handle<Event>, leaves: &[StateId]) -> Option<Found> {
        let mut histories = BTreeSet::new();
        loop {
            let known = histories.clone();
            let recalled: Vec<_> = known.iter().map(|&it| (it, self.values(it))).collect();
            let values: usize = recalled.iter().map(|&(_, values)| values).product();
            let mut start = Start {
                event,
                leaves: leaves.to_vec(),
                values: vec![0; self.histories.len()],
            };
            let step = match values {
                0..=MAX_RECALLED => self.recall(&mut start, &recalled, &mut histories)?,
                _ => None,
            };
            if histories == known {
                return Some(Found { step, recalled });
            }
        }
    }

    /// Takes a step for each value of those histories, and notes those by which it may enter.
    fn recall(
        &mut self,
        start: &mut Start,
        histories: &[(usize, usize)],
        entered: &mut BTreeSet<usize>,
    ) -> Option<Option<Step>> {
        let Some((&(history, values), rest)) = histories.split_first() else {
            return self.step(start, &mut Vec::new(), &mut 0, entered);
        };
        let mut steps = Vec::new();
        for value in 0..u16::try_from(values).ok()? {
            *start.values.get_mut(history)? = value;
            steps.push(self.recall(start, rest, entered)?);
        }
        let Some(steps) = steps.into_iter().collect::<Option<Vec<Step>>>() else {
            return Some(None);
        };
        if let Some((first, others)) = steps.split_first()
            && others.iter().all(|other| other == first)
        {
            return Some(Some(first.clone()));
        }
        let (deeds, then) = (Vec::new(), Then::Recall(history, steps));
        Some(Some(Step { deeds, then }))
    }

    /// Takes an event with these answers to the first guards.
    /// Returns the rest of the step after what they have led to.
    /// The outer `None` is for too many places, the inner one for a step that must be walked.
    fn step(
        &mut self,
        start: &Start,
        answers: &mut Vec<bool>,
        paths: &mut usize,
        entered: &mut BTreeSet<usize>,
    ) -> Option<Option<Step>> {
        // Each guard doubles the paths, so those that are too many aren't even looked at.
        if *paths > MAX_PATHS {
            return Some(None);
        }
        let log = RefCell::new(Log {
            answers: answers.clone(),
            ..Log::default()
        });
        let witness = Witness(&log);
        let configuration = self.configuration(start)?;
        let machine = runtime::Machine::restore(self.table, witness, configuration);
        let mut machine = machine.ok()?;
        let event = EventId::new(u16::try_from(start.event.index()).ok()?);
        let outcome = machine.send_observed(event, &mut { witness });
        let log = log.take();
        entered.extend(self.entered_by(&log.deeds));
        if log.deeds.len() + log.asked.len() > MAX_STEP {
            *paths += 1;
            return Some(None);
        }
        let asked_before = answers
            .len()
            .checked_sub(1)
            .and_then(|at| log.asked.get(at));
        let from = asked_before.map_or(0, |&(deeds, _)| deeds);
        if let Some(&(to, guard)) = log.asked.get(answers.len()) {
            let deeds = log.deeds.get(from..to).unwrap_or_default().to_vec();
            self.deeds += deeds.len() + 1;
            let mut branch = |explorer: &mut Self, answer| {
                answers.push(answer);
                let step = explorer.step(start, answers, paths, entered);
                answers.pop();
                step
            };
            let holds = branch(self, true)?;
            let fails = branch(self, false)?;
            let both = holds.zip(fails);
            return Some(both.map(|(holds, fails)| Step {
                deeds,
                then: Then::Ask(Handle::at(guard.index()), Box::new([holds, fails])),
            }));
        }
        *paths += 1;
        if *paths > MAX_PATHS {
            return Some(None);
        }
        let deeds = log.deeds.get(from..).unwrap_or_default().to_vec();
        self.deeds += deeds.len();
        let arrival =
            |explorer: &mut Self| explorer.arrival(machine.configuration(), &start.values);
        let then = match outcome {
            Ok(Outcome::Ignored) => Then::Ignored,
            Ok(Outcome::Taken) => Then::Rests(arrival(self)?),
            Ok(Outcome::Ended) => Then::Ends(arrival(self)?),
            // It doesn't come to rest.
            Ok(_) | Err(_) => return Some(None),
        };
        Some(Some(Step { deeds, then }))
    }

    /// Returns the configuration that a step begins with.
    fn configuration(&self, start: &Start) -> Option<Configuration> {
        let made = Configuration::from_leaves(self.table, &start.leaves).ok()?;
        let mut recorded = self.histories.iter().zip(&start.values);
        recorded.try_fold(made, |made, ((history, numbers), &value)| {
            let Some(at) = usize::from(value).checked_sub(1) else {
                return Some(made);
            };
            let states = numbers.found.get(at)?;
            made.record(self.table, *history, states).ok()
        })
    }

    /// Returns the numbers of the histories by which what was done may have entered states.
    fn entered_by(&self, deeds: &[Notice]) -> Vec<usize> {
        let machine = self.machine;
        let taken = deeds.iter().filter_map(|deed| match deed {
            Notice::Transition(id) => Some(machine.transitions.at(Handle::at(usize::from(*id)))),
            _ => None,
        });
        let mut targets: Vec<_> = taken.flat_map(|it| it.targets.iter().copied()).collect();
        if !targets.is_empty() {
            let initials = machine
                .states
                .iter()
                .filter_map(|(_, it)| it.initial.as_ref());
            targets.extend(initials.flat_map(|initial| initial.targets.iter().copied()));
        }
        let entered = |&(at, (history, _)): &(usize, &(StateId, Numbers))| {
            targets
                .iter()
                .any(|target| target.index() == history.index())
                .then_some(at)
        };
        self.histories
            .iter()
            .enumerate()
            .filter_map(|it| entered(&it))
            .collect()
    }

    /// Numbers a configuration, and what its histories have recorded since they had these values.
    fn arrival(&mut self, configuration: &Configuration, before: &[Value]) -> Option<Arrival> {
        let place = self.places.number(configuration.leaves().collect())?;
        let mut recorded = Vec::new();
        for (history, states) in configuration.history() {
            let at = self.histories.iter().position(|(id, _)| *id == history)?;
            let (_, numbers) = self.histories.get_mut(at)?;
            let value = numbers.number(states.to_vec())? + 1;
            if before.get(at) != Some(&value) {
                recorded.push((at, value));
            }
        }
        Some(Arrival { place, recorded })
    }

    /// Numbers the places and values in their order; none if there is too much to write.
    fn sorted(
        self,
        found: BTreeMap<(u16, Handle<Event>), Found>,
        ended: &[bool],
    ) -> Option<Places> {
        let (leaves, places) = self.places.sorted();
        let mut histories = Vec::new();
        let mut values = Vec::new();
        for (history, numbers) in self.histories {
            let (sets, numbers) = numbers.sorted();
            histories.push((history, sets));
            // Zero stays: nothing is recorded.
            let numbers = numbers.iter().map(|number| number + 1);
            values.push([0].into_iter().chain(numbers).collect::<Vec<Value>>());
        }
        let order = Order { places, values };
        let mut sorted = vec![false; ended.len()];
        for (found, is_ended) in (0..).zip(ended) {
            *sorted.get_mut(usize::from(order.place_number(found)))? = *is_ended;
        }
        let mut steps = BTreeMap::new();
        let mut deeds = 0;
        for ((place, event), found) in found {
            let step = found.step.map(|step| step.renumbered(&order));
            if step.as_ref().is_some_and(Step::is_nothing) {
                continue;
            }
            deeds += step.as_ref().map_or(1, Step::deeds);
            steps.insert((order.place_number(place), event), step);
        }
        let is_written = steps.values().any(Option::is_some);
        (is_written && steps.len() <= MAX_ARMS && deeds <= MAX_DEEDS).then_some(Places {
            leaves,
            histories,
            ended: sorted,
            steps,
        })
    }
}

/// The numbers of places and of values in their order, by those under which they were found.
struct Order {
    places: Vec<u16>,
    values: Vec<Vec<Value>>,
}

impl Order {
    fn place_number(&self, found: u16) -> u16 {
        // INVARIANT: each number that was given out is in the list.
        self.places
            .get(usize::from(found))
            .copied()
            .unwrap_or_default()
    }

    fn value(&self, history: usize, found: Value) -> Value {
        let values = self.values.get(history);
        values
            .and_then(|values| values.get(usize::from(found)))
            .copied()
            .unwrap_or_default()
    }
}

impl Step {
    /// Reports whether it does nothing at all.
    const fn is_nothing(&self) -> bool {
        self.deeds.is_empty() && matches!(self.then, Then::Ignored)
    }

    /// Returns the number of deeds and questions in all its branches.
    fn deeds(&self) -> usize {
        let then = match &self.then {
            Then::Ask(_, both) => 1 + both.iter().map(Self::deeds).sum::<usize>(),
            Then::Recall(_, steps) => steps.iter().map(Self::deeds).sum(),
            Then::Ignored | Then::Rests(_) | Then::Ends(_) => 1,
        };
        self.deeds.len() + then
    }

    fn renumbered(mut self, order: &Order) -> Self {
        let arrival = |arrival: Arrival| {
            let recorded = arrival.recorded.into_iter();
            let recorded = recorded.map(|(history, value)| (history, order.value(history, value)));
            Arrival {
                place: order.place_number(arrival.place),
                recorded: recorded.collect(),
            }
        };
        self.then = match self.then {
            Then::Ask(guard, both) => {
                let both = both.map(|step| step.renumbered(order));
                Then::Ask(guard, Box::new(both))
            }
            Then::Recall(history, steps) => {
                let steps = (0..).zip(steps);
                let mut steps: Vec<_> = steps
                    .map(|(value, step)| (order.value(history, value), step.renumbered(order)))
                    .collect();
                steps.sort_unstable_by_key(|(value, _)| *value);
                Then::Recall(history, steps.into_iter().map(|(_, step)| step).collect())
            }
            Then::Ignored => Then::Ignored,
            Then::Rests(it) => Then::Rests(arrival(it)),
            Then::Ends(it) => Then::Ends(arrival(it)),
        };
        self
    }
}

/// Returns the id of a state, which is its number.
fn id(state: Handle<State>) -> Option<StateId> {
    StateId::from_index(state.index())
}
