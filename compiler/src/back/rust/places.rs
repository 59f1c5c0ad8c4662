//! Places: the configurations that a machine with regions can come to, if they are few, and what it does in each.
//!
//! A place is a configuration together with what histories have recorded. The table engine itself finds them: it takes
//! each event in each place, once for every way in which guards can answer, and what it does is written down in order.
//! So what is written out does what the engine does, to the last observation, whole macrosteps included.
//!
//! Deliberately not here: machines whose steps read or change more than places. Those with timers, fields, or conditional
//! actions are walked.

use std::cell::RefCell;
use std::collections::BTreeMap;

use statemark_runtime as runtime;
use statemark_runtime::{
    ActionId, Configuration, EventId, GuardId, Host, Observer, Outcome, StateId, Table, TransitionId,
};

use crate::arena::Handle;
use crate::ir::{Event, HostGuard, Machine};

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

/// Most ways in which the guards of one step can answer.
///
/// Unit: outcomes. Why: guards multiply as regions do.
const MAX_WAYS: usize = 16;

/// A configuration: its leaves, and what histories have recorded.
pub(super) type Place = (Vec<StateId>, Vec<(StateId, Vec<StateId>)>);

/// Something that a step does, as an observer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Microstep,
    Transition(TransitionId),
    Exited(StateId),
    Action(ActionId),
    Entered(StateId),
    Raised(EventId),
}

/// A step, or the rest of one.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// What is done first.
    pub(super) deeds: Vec<Deed>,
    /// What comes then.
    pub(super) then: Then,
}

/// The continuation of a step.
#[derive(Clone, Debug)]
pub(super) enum Then {
    /// Depends on a guard of the host's: the steps if it holds, and if it doesn't.
    Ask(Handle<HostGuard>, Box<[Step; 2]>),
    /// Nothing was taken.
    Ignored,
    /// The machine rests in the place of that number.
    Rests(u16),
    /// The machine has ended in the place of that number.
    Ends(u16),
}

/// The places of a machine.
#[derive(Debug)]
pub(super) struct Places {
    /// The places, sorted.
    pub(super) rows: Vec<Place>,
    /// True for each place in which the machine has ended.
    pub(super) ended: Vec<bool>,
    /// What the machine does in a place for an event; nothing where there is no step.
    /// A step that isn't there is walked: it doesn't come to rest, or does too much.
    pub(super) steps: BTreeMap<(u16, Handle<Event>), Option<Step>>,
}

impl Places {
    /// Finds the places of a machine; none if they are too many.
    pub(super) fn find(machine: &Machine, table: &Table) -> Option<Self> {
        Explorer {
            machine,
            table,
            numbers: BTreeMap::new(),
            found: Vec::new(),
            deeds: 0,
        }
        .explore()
    }
}

/// What a step did, in order, with the guards that it asked.
#[derive(Default)]
struct Log {
    /// The answers that are given, in order; further ones are true.
    answers: Vec<bool>,
    deeds: Vec<Deed>,
    /// The guards that were asked, each with the number of deeds before it.
    asked: Vec<(usize, GuardId)>,
}

/// The host and the observer of a step, which share its log.
#[derive(Clone, Copy)]
struct Witness<'l>(&'l RefCell<Log>);

impl Witness<'_> {
    fn write(&self, deed: Deed) {
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
        self.write(Deed::Microstep);
    }

    fn transition(&mut self, transition: TransitionId) {
        self.write(Deed::Transition(transition));
    }

    fn exited(&mut self, state: StateId) {
        self.write(Deed::Exited(state));
    }

    fn action(&mut self, action: ActionId) {
        self.write(Deed::Action(action));
    }

    fn entered(&mut self, state: StateId) {
        self.write(Deed::Entered(state));
    }

    fn raised(&mut self, event: EventId) {
        self.write(Deed::Raised(event));
    }
}

struct Explorer<'m> {
    machine: &'m Machine,
    table: &'m Table,
    /// The number of each place, in the order in which they are found.
    numbers: BTreeMap<Place, u16>,
    found: Vec<Configuration>,
    /// The number of deeds in all steps.
    deeds: usize,
}

impl Explorer<'_> {
    fn explore(mut self) -> Option<Places> {
        self.starts(&[], &mut 0)?;
        let events: Vec<_> = self.machine.events.iter().collect();
        let events = events.into_iter().filter(|(_, it)| it.kind.is_sendable());
        let events: Vec<Handle<Event>> = events.map(|(handle, _)| handle).collect();
        let mut steps = BTreeMap::new();
        let mut next = 0;
        while let Some(configuration) = self.found.get(next).cloned() {
            let place = u16::try_from(next).ok()?;
            next += 1;
            if configuration.is_ended(self.table) {
                continue;
            }
            for &event in &events {
                let step = self.step(&configuration, event, &mut Vec::new(), &mut 0)?;
                if !matches!(&step, Some(Step { then: Then::Ignored, deeds }) if deeds.is_empty()) {
                    steps.insert((place, event), step);
                }
                if steps.len() > MAX_ARMS || self.deeds > MAX_DEEDS {
                    return None;
                }
            }
        }
        Some(self.sorted(steps))
    }

    /// Finds the places in which the machine can come to rest when it starts, with these answers to the first guards.
    fn starts(&mut self, answers: &[bool], ways: &mut usize) -> Option<()> {
        let log = RefCell::new(Log {
            answers: answers.to_vec(),
            ..Log::default()
        });
        let witness = Witness(&log);
        let machine = runtime::Machine::start_observed(self.table, witness, &mut { witness });
        // One that doesn't come to rest for some answers can for others.
        if let Ok(machine) = machine {
            self.number(machine.configuration())?;
        }
        *ways += 1;
        // An eventless loop asks without end.
        let asked = log.take().asked.len().min(MAX_WAYS);
        if *ways > MAX_WAYS {
            return None;
        }
        // Each guard after those has answered with true; the others follow from the first that doesn't.
        (answers.len()..asked).try_for_each(|trues| {
            let mut other = answers.to_vec();
            other.resize(trues, true);
            other.push(false);
            self.starts(&other, ways)
        })
    }

    /// Takes an event with these answers to the first guards; the rest of the step after what they have led to.
    /// The outer `None` is for too many places, the inner one for a step that must be walked.
    fn step(
        &mut self,
        configuration: &Configuration,
        event: Handle<Event>,
        answers: &mut Vec<bool>,
        ways: &mut usize,
    ) -> Option<Option<Step>> {
        let log = RefCell::new(Log {
            answers: answers.clone(),
            ..Log::default()
        });
        let witness = Witness(&log);
        let machine = runtime::Machine::restore(self.table, witness, configuration.clone());
        let mut machine = machine.ok()?;
        let event_id = EventId::new(u16::try_from(event.index()).ok()?);
        let outcome = machine.send_observed(event_id, &mut { witness });
        let log = log.take();
        if log.deeds.len() + log.asked.len() > MAX_STEP {
            return Some(None);
        }
        let asked_before = answers.len().checked_sub(1).and_then(|at| log.asked.get(at));
        let from = asked_before.map_or(0, |&(deeds, _)| deeds);
        if let Some(&(to, guard)) = log.asked.get(answers.len()) {
            let deeds = log.deeds.get(from..to).unwrap_or_default().to_vec();
            self.deeds += deeds.len() + 1;
            let mut branch = |explorer: &mut Self, answer| {
                answers.push(answer);
                let step = explorer.step(configuration, event, answers, ways);
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
        *ways += 1;
        if *ways > MAX_WAYS {
            return Some(None);
        }
        let deeds = log.deeds.get(from..).unwrap_or_default().to_vec();
        self.deeds += deeds.len();
        let then = match outcome {
            Ok(Outcome::Ignored) => Then::Ignored,
            Ok(Outcome::Taken) => Then::Rests(self.number(machine.configuration())?),
            Ok(Outcome::Ended) => Then::Ends(self.number(machine.configuration())?),
            // It doesn't come to rest.
            Ok(_) | Err(_) => return Some(None),
        };
        Some(Some(Step { deeds, then }))
    }

    /// Returns the number of a place; none if it is one too many.
    fn number(&mut self, configuration: &Configuration) -> Option<u16> {
        let place = place(configuration);
        if let Some(&number) = self.numbers.get(&place) {
            return Some(number);
        }
        if self.found.len() >= MAX_PLACES {
            return None;
        }
        let number = u16::try_from(self.found.len()).ok()?;
        self.numbers.insert(place, number);
        self.found.push(configuration.clone());
        Some(number)
    }

    /// Numbers the places in their order.
    fn sorted(self, steps: BTreeMap<(u16, Handle<Event>), Option<Step>>) -> Places {
        let mut numbers = vec![0; self.numbers.len()];
        for (at, &found) in self.numbers.values().enumerate() {
            if let Some(number) = numbers.get_mut(usize::from(found)) {
                *number = u16::try_from(at).unwrap_or_default();
            }
        }
        let renumbered = |found: u16| numbers.get(usize::from(found)).copied().unwrap_or_default();
        let steps = steps.into_iter().map(|((place, event), step)| {
            let step = step.map(|step| step.renumbered(&renumbered));
            ((renumbered(place), event), step)
        });
        let ended = self.numbers.values().map(|&found| {
            let found = self.found.get(usize::from(found));
            found.is_some_and(|configuration| configuration.is_ended(self.table))
        });
        Places {
            ended: ended.collect(),
            steps: steps.collect(),
            rows: self.numbers.into_keys().collect(),
        }
    }
}

impl Step {
    fn renumbered(mut self, number: &impl Fn(u16) -> u16) -> Self {
        self.then = match self.then {
            Then::Ask(guard, both) => {
                let both = both.map(|step| step.renumbered(number));
                Then::Ask(guard, Box::new(both))
            }
            Then::Ignored => Then::Ignored,
            Then::Rests(place) => Then::Rests(number(place)),
            Then::Ends(place) => Then::Ends(number(place)),
        };
        self
    }
}

fn place(configuration: &Configuration) -> Place {
    let history = configuration.history();
    let history = history.map(|(history, states)| (history, states.to_vec()));
    (configuration.leaves().collect(), history.collect())
}
