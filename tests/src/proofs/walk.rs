//! All that a machine with free guards does, by brute force.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use statemark_runtime::{
    Configuration, EventId, EventKind, FieldId, GuardId, Host, Machine, Outcome, Record, Recorder,
    StateId, StepError, Table, TimerId, Value,
};

/// How many questions of a step are answered in all patterns. Beyond, the answer is no, and the walk isn't whole.
const ASKED: u32 = 6;

/// Most microsteps of a step. Why: a small machine that takes more goes round.
const LIMIT: u32 = 60;

/// Most places of a walk.
const PLACES: usize = 60;

/// Where a machine is: its configuration, and how often each timer runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    configuration: Configuration,
    armed: BTreeMap<TimerId, u32>,
}

/// What a machine was seen to do.
#[derive(Debug, Default)]
pub(super) struct Walk {
    places: Vec<Place>,
    /// Where each place leads, and whether by some event whatever guards say.
    next: Vec<(BTreeSet<usize>, bool)>,
    ended: BTreeSet<usize>,
    pub(super) entered: BTreeSet<usize>,
    pub(super) taken: BTreeSet<usize>,
    pub(super) raised: BTreeSet<usize>,
    pub(super) is_restless: bool,
    pub(super) is_whole: bool,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Start,
    Send(EventId),
    Elapse(TimerId),
}

/// The host: answers by a pattern.
#[derive(Debug)]
struct Asked {
    pattern: u64,
    asked: Cell<u32>,
    armed: BTreeMap<TimerId, u32>,
}

impl Asked {
    fn answer(&self) -> bool {
        let asked = self.asked.get();
        self.asked.set(asked + 1);
        asked < u64::BITS && self.pattern >> asked & 1 == 1
    }
}

impl Host for Asked {
    fn guard(&mut self, _: GuardId) -> bool {
        self.answer()
    }

    fn field(&self, _: FieldId) -> Value<'_> {
        if self.answer() {
            Value::Absent
        } else {
            Value::Int(1)
        }
    }

    fn schedule(&mut self, timer: TimerId, _: u64) {
        *self.armed.entry(timer).or_default() += 1;
    }

    fn cancel(&mut self, timer: TimerId) {
        self.armed.remove(&timer);
    }
}

/// What came of a step: where it led, what it did, how many questions it asked.
struct Done {
    result: Result<(Place, Outcome), StepError>,
    record: Record,
    asked: u32,
}

fn play(table: &Table, place: Option<&Place>, step: Step, pattern: u64) -> Done {
    let mut recorder = Recorder::new();
    let mut host = Asked {
        pattern,
        asked: Cell::new(0),
        armed: place.map(|place| place.armed.clone()).unwrap_or_default(),
    };
    if let Step::Elapse(timer) = step {
        let left = host.armed.remove(&timer).unwrap() - 1;
        if left > 0 {
            host.armed.insert(timer, left);
        }
    }
    let result = match place {
        None => Machine::start_observed(table, &mut host, &mut recorder)
            .map(|machine| (machine.configuration().clone(), Outcome::Taken)),
        Some(place) => {
            let configuration = place.configuration.clone();
            let mut machine = Machine::restore(table, &mut host, configuration).unwrap();
            machine.set_step_limit(LIMIT);
            let outcome = match step {
                Step::Send(event) => machine.send_observed(event, &mut recorder),
                Step::Elapse(timer) => machine.elapse_observed(timer, &mut recorder),
                Step::Start => panic!("it has started"),
            };
            outcome.map(|outcome| (machine.configuration().clone(), outcome))
        }
    };
    let (asked, armed) = (host.asked.get(), host.armed);
    Done {
        result: result.map(|(configuration, outcome)| {
            let place = Place {
                configuration,
                armed,
            };
            (place, outcome)
        }),
        record: recorder.finish(None, Outcome::Taken),
        asked,
    }
}

impl Place {
    pub(super) fn leaves(&self) -> Vec<StateId> {
        self.configuration.leaves().collect()
    }

    pub(super) fn has_ended(&self, table: &Table) -> bool {
        self.configuration.is_ended(table)
    }

    /// Whether anything at all can be taken.
    pub(super) fn moves(&self, table: &Table) -> bool {
        self.steps(table).into_iter().any(|step| {
            (0..1 << ASKED).any(|pattern| {
                let done = play(table, Some(self), step, pattern);
                matches!(done.result, Ok((_, outcome)) if outcome != Outcome::Ignored)
            })
        })
    }

    fn steps(&self, table: &Table) -> Vec<Step> {
        let named = table
            .events()
            .filter(|(_, row)| row.kind == EventKind::Named);
        let sent = named.map(|(event, _)| Step::Send(event));
        sent.chain(self.armed.keys().map(|&timer| Step::Elapse(timer)))
            .collect()
    }
}

impl Walk {
    pub(super) fn new(table: &Table) -> Self {
        let mut walk = Self {
            is_whole: true,
            ..Self::default()
        };
        walk.step(table, None, Step::Start);
        walk.go(table);
        walk
    }

    /// The walk from a place on.
    pub(super) fn from(table: &Table, place: Place) -> Self {
        let mut walk = Self {
            is_whole: true,
            ..Self::default()
        };
        walk.at(table, place);
        walk.go(table);
        walk
    }

    fn go(&mut self, table: &Table) {
        let mut at = 0;
        while at < self.places.len() {
            if at >= PLACES {
                self.is_whole = false;
                return;
            }
            if !self.ended.contains(&at) {
                for step in self.places[at].steps(table) {
                    self.step(table, Some(at), step);
                }
            }
            at += 1;
        }
    }

    fn step(&mut self, table: &Table, at: Option<usize>, step: Step) {
        let place = at.map(|at| self.places[at].clone());
        let mut most = 0;
        for pattern in 0..1 << ASKED {
            // Further patterns differ in questions that nobody asks.
            if pattern >= 1_u64 << most.min(ASKED) && pattern > 0 {
                break;
            }
            let done = play(table, place.as_ref(), step, pattern);
            most = most.max(done.asked);
            match done.result {
                Ok((place, Outcome::Ignored)) => {
                    // A timer is over even so.
                    if let (Step::Elapse(_), Some(at)) = (step, at) {
                        let next = self.at(table, place);
                        self.next[at].0.insert(next);
                    }
                }
                Ok((place, _)) => {
                    for step in &done.record.steps {
                        self.entered
                            .extend(step.entered.iter().map(|it| it.index()));
                        self.taken
                            .extend(step.transitions.iter().map(|it| it.index()));
                        self.raised.extend(step.raised.iter().map(|it| it.index()));
                    }
                    let next = self.at(table, place);
                    if let Some(at) = at {
                        self.next[at].0.insert(next);
                        self.next[at].1 |= pattern == 0;
                    }
                }
                Err(StepError::StepLimit { .. } | StepError::RaiseLimit) => self.is_restless = true,
                Err(other) => panic!("{other}"),
            }
        }
        self.is_whole &= most <= ASKED;
    }

    fn at(&mut self, table: &Table, place: Place) -> usize {
        if let Some(known) = self.places.iter().position(|known| *known == place) {
            return known;
        }
        if place.has_ended(table) {
            self.ended.insert(self.places.len());
        }
        self.places.push(place);
        self.next.push(Default::default());
        self.places.len() - 1
    }

    pub(super) fn ends(&self) -> bool {
        !self.ended.is_empty()
    }

    /// A place from which no end can be reached.
    pub(super) fn first_lost(&self) -> Option<usize> {
        let mut fine = self.ended.clone();
        loop {
            let more = (0..self.places.len())
                .filter(|at| !fine.contains(at) && !self.next[*at].0.is_disjoint(&fine));
            let more: Vec<usize> = more.collect();
            if more.is_empty() {
                return (0..self.places.len()).find(|at| !fine.contains(at));
            }
            fine.extend(more);
        }
    }

    /// Whether a place that was gone through is left by no event if all guards fail.
    pub(super) fn has_unsure(&self) -> bool {
        let gone = 0..self.places.len().min(PLACES);
        gone.into_iter()
            .any(|at| !self.ended.contains(&at) && !self.next[at].1)
    }
}

/// The places that events lead to, over all answers.
pub(super) fn follow(table: &Table, events: &[String]) -> Vec<Place> {
    let mut walk = Walk::default();
    walk.step(table, None, Step::Start);
    let mut places = walk.places;
    for event in events {
        let mut next = Walk::default();
        for place in places {
            let place = next.at(table, place);
            for step in steps(table, &next.places[place], event) {
                next.step(table, Some(place), step);
            }
        }
        let reached: BTreeSet<usize> = next.next.iter().flat_map(|it| it.0.clone()).collect();
        places = reached.iter().map(|&at| next.places[at].clone()).collect();
    }
    places
}

/// Whether the last of some events may not come to rest.
pub(super) fn is_restless(table: &Table, events: &[String]) -> bool {
    let mut walk = Walk::default();
    let Some((last, before)) = events.split_last() else {
        walk.step(table, None, Step::Start);
        return walk.is_restless;
    };
    for place in follow(table, before) {
        let at = walk.at(table, place);
        for step in steps(table, &walk.places[at].clone(), last) {
            walk.step(table, Some(at), step);
        }
    }
    walk.is_restless
}

/// The ways in which an event of that name comes.
fn steps(table: &Table, place: &Place, event: &str) -> Vec<Step> {
    let named = place.steps(table).into_iter();
    let named = named.filter(|step| {
        let id = match step {
            Step::Send(event) => *event,
            Step::Elapse(timer) => table.timer(*timer).unwrap().event,
            Step::Start => return false,
        };
        table.event_name(id) == event
    });
    named.collect()
}
