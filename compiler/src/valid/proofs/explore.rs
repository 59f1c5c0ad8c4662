//! Every configuration that a machine can rest in, found by the engine itself.
//!
//! [`explore`] steps the machine with free guards from its start: in each configuration every event that something there
//! waits for, and every timer that runs, with all answers to all questions. What it finds is exact but for two things:
//! each guard is taken to be able to hold and to fail whatever others do, and what assignments need is there. It goes
//! breadth first, so that the way to each configuration has as few events as there can be. A timer that elapses and isn't
//! taken is over, as it is in a run: what it leaves is a configuration of its own.
//!
//! The work is bounded ([`MOST_WORK`]). A machine with one active leaf, without history and without timers that outlast
//! their state, is done in time linear in its size; one with many regions may have more configurations than can be gone
//! through, and [`Explored::is_whole`] says whether it was.
//!
//! Deliberately not here: interrupts, which lead to states by no event. Who claims anything that they may change asks for
//! them (`Case::has_interrupts`).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use statemark_runtime::{
    Configuration, EventId, Machine as Engine, Outcome, StateId, StepError, Table, TimerId,
};

use super::free::free;
use super::play::{Answers, Armed, Play, Watches};
use crate::arena::Handle;
use crate::ir::{Event, Machine, State, Transition};

/// Most work that is done for one machine. Unit: steps, microsteps, states entered, transitions looked at and taken,
/// events raised, actions carried out, questions asked and ids kept, added up. Why: it is some tens of megabytes and less
/// than a second.
const MOST_WORK: usize = 400_000;

/// What comes from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stimulus {
    Send(EventId),
    Elapse(TimerId),
}

/// A configuration in which the machine rests or has ended.
#[derive(Debug)]
pub(super) struct Node {
    configuration: Configuration,
    armed: Armed,
    /// How it was first reached; `None` at the start.
    from: Option<(usize, Stimulus)>,
    pub(super) has_ended: bool,
    /// Whether it was first reached by a timer that nothing took.
    pub(super) is_over: bool,
    /// Whether anything can be taken, and whether something is taken even if every guard fails.
    pub(super) moves: bool,
    pub(super) surely_moves: bool,
    next: BTreeSet<usize>,
}

/// A step that doesn't come to rest by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Restless {
    /// Where it begins; `None` for the start of the machine.
    pub(super) from: Option<(usize, Stimulus)>,
    /// Whether no guard can stop it.
    pub(super) is_forced: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Explored {
    pub(super) nodes: Vec<Node>,
    /// By state, transition and event: whether it was ever entered, taken, raised.
    entered: Vec<bool>,
    taken: Vec<bool>,
    raised: Vec<bool>,
    /// By state and transition: whether it was entered or taken in a step that didn't come to rest, which no run takes.
    passed: Vec<bool>,
    tried: Vec<bool>,
    /// The first step found that doesn't come to rest, one that no guard stops before others.
    pub(super) restless: Option<Restless>,
    /// Whether nothing was left out.
    pub(super) is_whole: bool,
}

impl Explored {
    pub(super) fn is_entered(&self, state: Handle<State>) -> bool {
        self.entered.get(state.index()).copied().unwrap_or(false)
    }

    pub(super) fn is_taken(&self, transition: Handle<Transition>) -> bool {
        self.taken.get(transition.index()).copied().unwrap_or(false)
    }

    /// Whether a step that doesn't come to rest enters a state.
    pub(super) fn is_passed(&self, state: Handle<State>) -> bool {
        self.passed.get(state.index()).copied().unwrap_or(false)
    }

    /// Whether a step that doesn't come to rest takes a transition.
    pub(super) fn is_tried(&self, transition: Handle<Transition>) -> bool {
        self.tried.get(transition.index()).copied().unwrap_or(false)
    }

    pub(super) fn is_raised(&self, event: Handle<Event>) -> bool {
        self.raised.get(event.index()).copied().unwrap_or(false)
    }

    /// The leaves of a node, in document order.
    pub(super) fn leaves(&self, node: usize) -> Vec<Handle<State>> {
        let node = self.nodes.get(node).into_iter();
        node.flat_map(|node| node.configuration.leaves())
            .map(|leaf| Handle::at(leaf.index()))
            .collect()
    }

    /// What leads from the start to a node.
    pub(super) fn way(&self, node: usize) -> Vec<Stimulus> {
        let mut way = Vec::new();
        let mut at = node;
        while let Some((from, stimulus)) = self.nodes.get(at).and_then(|node| node.from) {
            way.push(stimulus);
            at = from;
        }
        way.reverse();
        way
    }

    /// By node: whether some way leads from it to the end.
    pub(super) fn can_end(&self) -> Vec<bool> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut found = vec![false; self.nodes.len()];
        let mut open = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            for &next in &node.next {
                if let Some(list) = before.get_mut(next) {
                    list.push(at);
                }
            }
            if node.has_ended {
                open.push(at);
            }
        }
        while let Some(at) = open.pop() {
            if let Some(flag) = found.get_mut(at)
                && !*flag
            {
                *flag = true;
                open.extend(before.get(at).into_iter().flatten());
            }
        }
        found
    }
}

/// Steps the machine through all that it can do.
pub(super) fn explore(machine: &Machine) -> Explored {
    let found = Explored {
        entered: vec![false; machine.states.len()],
        taken: vec![false; machine.transitions.len()],
        raised: vec![false; machine.events.len()],
        passed: vec![false; machine.states.len()],
        tried: vec![false; machine.transitions.len()],
        ..Explored::default()
    };
    let Some(table) = free(machine) else {
        return found;
    };
    let has_history = machine
        .states
        .iter()
        .any(|(_, state)| state.kind.is_history());
    let mut search = Search {
        machine,
        table: &table,
        forgets: !has_history,
        known: BTreeMap::new(),
        open: VecDeque::new(),
        work: 0,
        is_cut: false,
        found,
    };
    search.step(None, None);
    while let Some(at) = search.open.pop_front() {
        search.stimulate(at);
        if search.work >= MOST_WORK {
            search.is_cut = true;
            break;
        }
    }
    search.found.is_whole = !search.is_cut;
    search.found
}

/// What a node waits for: the events that its states have transitions on, and its timers; and how many transitions were
/// looked at for it.
pub(super) fn stimuli(machine: &Machine, node: &Node) -> (BTreeSet<Stimulus>, usize) {
    let mut around: BTreeSet<Handle<State>> = BTreeSet::new();
    for leaf in node.configuration.leaves() {
        for state in machine.ancestry(Handle::at(leaf.index())) {
            if !around.insert(state) {
                break;
            }
        }
    }
    let timers = node.armed.keys().copied();
    let mut stimuli: BTreeSet<Stimulus> = timers.map(Stimulus::Elapse).collect();
    let ways = around
        .iter()
        .flat_map(|&state| machine.transitions_of(state));
    let mut looked_at = 0_usize;
    for (_, transition) in ways {
        looked_at += transition.triggers.len().max(1);
        for &event in &transition.triggers {
            if machine.events.at(event).kind.is_sendable() {
                stimuli.extend(EventId::from_index(event.index()).map(Stimulus::Send));
            }
        }
    }
    (stimuli, looked_at)
}

struct Search<'m> {
    machine: &'m Machine,
    table: &'m Table,
    forgets: bool,
    known: BTreeMap<Vec<u16>, usize>,
    open: VecDeque<usize>,
    work: usize,
    is_cut: bool,
    found: Explored,
}

impl Search<'_> {
    /// Everything that a node waits for.
    fn stimulate(&mut self, at: usize) {
        let machine = self.machine;
        let Some(node) = self.found.nodes.get(at).filter(|node| !node.has_ended) else {
            return;
        };
        let (stimuli, looked_at) = stimuli(machine, node);
        self.work = self.work.saturating_add(looked_at);
        for stimulus in stimuli {
            if self.work >= MOST_WORK {
                self.is_cut = true;
                return;
            }
            self.step(Some(at), Some(stimulus));
        }
    }

    /// One step with all answers to all questions: of the machine's start, or of a stimulus in a node.
    fn step(&mut self, at: Option<usize>, stimulus: Option<Stimulus>) {
        let node = at.and_then(|at| self.found.nodes.get(at));
        let configuration = node.map(|node| node.configuration.clone());
        let mut armed = node.map(|node| node.armed.clone()).unwrap_or_default();
        if let Some(Stimulus::Elapse(timer)) = stimulus {
            let count = armed.remove(&timer).unwrap_or(0);
            if count > 1 {
                armed.insert(timer, count - 1);
            }
        }
        let from = at.zip(stimulus);
        let play = RefCell::new(Play::default());
        let mut is_first = true;
        loop {
            play.borrow_mut().begin(&armed);
            let outcome = self.play(&play, configuration.as_ref(), stimulus);
            let done = play.borrow();
            self.work = self.work.saturating_add(done.work());
            self.is_cut |= done.is_cut;
            if done.goes_round {
                self.restless(from, false);
            }
            match outcome {
                Some(Ok((configuration, outcome))) if outcome != Outcome::Ignored => {
                    self.keep(&done);
                    let next = self.arrive(from, configuration, &done.armed, false);
                    self.moves(at, next, is_first);
                }
                Some(Err(StepError::StepLimit { .. } | StepError::RaiseLimit)) => {
                    self.pass(&done);
                    self.restless(from, done.was_silent());
                }
                Some(Ok((configuration, _))) => {
                    // An event that is ignored changes nothing; a timer is over, whatever comes of it.
                    if let Some(Stimulus::Elapse(_)) = stimulus {
                        let next = self.arrive(from, configuration, &done.armed, true);
                        self.leads(at, next);
                    }
                }
                // Nothing else can happen to it.
                Some(Err(_)) | None => self.is_cut = true,
            }
            drop(done);
            is_first = false;
            if !play.borrow_mut().turn() {
                return;
            }
            if self.work >= MOST_WORK {
                self.is_cut = true;
                return;
            }
        }
    }

    /// One play of a step. `None` if the engine doesn't take the configuration.
    fn play(
        &self,
        play: &RefCell<Play>,
        configuration: Option<&Configuration>,
        stimulus: Option<Stimulus>,
    ) -> Option<Result<(Configuration, Outcome), StepError>> {
        let host = Answers(play);
        let mut watches = Watches {
            play,
            table: self.table,
            forgets: self.forgets,
        };
        let Some((configuration, stimulus)) = configuration.zip(stimulus) else {
            let started = Engine::start_observed(self.table, host, &mut watches);
            return Some(started.map(|engine| (engine.configuration().clone(), Outcome::Taken)));
        };
        let mut engine = Engine::restore(self.table, host, configuration.clone()).ok()?;
        let outcome = match stimulus {
            Stimulus::Send(event) => engine.send_observed(event, &mut watches),
            Stimulus::Elapse(timer) => engine.elapse_observed(timer, &mut watches),
        };
        Some(outcome.map(|outcome| (engine.configuration().clone(), outcome)))
    }

    fn keep(&mut self, done: &Play) {
        let found = &mut self.found;
        let entered = done.entered.iter().map(|it| it.index());
        let taken = done.taken.iter().map(|it| it.index());
        let raised = done.raised.iter().map(|it| it.index());
        entered.for_each(|at| set(&mut found.entered, at));
        taken.for_each(|at| set(&mut found.taken, at));
        raised.for_each(|at| set(&mut found.raised, at));
    }

    fn pass(&mut self, done: &Play) {
        let found = &mut self.found;
        let entered = done.entered.iter().map(|it| it.index());
        let taken = done.taken.iter().map(|it| it.index());
        entered.for_each(|at| set(&mut found.passed, at));
        taken.for_each(|at| set(&mut found.tried, at));
    }

    /// The node of a configuration; if it is new, this is the way to it.
    fn arrive(
        &mut self,
        from: Option<(usize, Stimulus)>,
        configuration: Configuration,
        armed: &Armed,
        is_over: bool,
    ) -> usize {
        let key = key(&configuration, armed);
        self.work = self.work.saturating_add(key.len());
        let next = self.found.nodes.len();
        let next = *self.known.entry(key).or_insert(next);
        if next == self.found.nodes.len() {
            self.found.nodes.push(Node {
                has_ended: configuration.is_ended(self.table),
                configuration,
                armed: armed.clone(),
                from,
                is_over,
                moves: false,
                surely_moves: false,
                next: BTreeSet::new(),
            });
            self.open.push_back(next);
        }
        next
    }

    /// A step that is taken leads from one node to another.
    fn moves(&mut self, from: Option<usize>, to: usize, surely: bool) {
        if let Some(node) = from.and_then(|at| self.found.nodes.get_mut(at)) {
            node.moves = true;
            node.surely_moves |= surely;
        }
        self.leads(from, to);
    }

    fn leads(&mut self, from: Option<usize>, to: usize) {
        if let Some(node) = from.and_then(|at| self.found.nodes.get_mut(at)) {
            node.next.insert(to);
        }
    }

    fn restless(&mut self, from: Option<(usize, Stimulus)>, is_forced: bool) {
        let known = self.found.restless;
        if known.is_none_or(|known| is_forced && !known.is_forced) {
            self.found.restless = Some(Restless { from, is_forced });
        }
    }
}

fn set(flags: &mut [bool], at: usize) {
    if let Some(flag) = flags.get_mut(at) {
        *flag = true;
    }
}

/// What tells configurations apart: leaves, what histories have recorded, and the timers that run.
fn key(configuration: &Configuration, armed: &Armed) -> Vec<u16> {
    let mut key: Vec<u16> = configuration.leaves().map(StateId::raw).collect();
    for (history, states) in configuration.history() {
        // No id is this large, so that the parts can't run into each other.
        key.extend([u16::MAX, history.raw()]);
        key.extend(states.iter().map(|state| state.raw()));
    }
    key.push(u16::MAX);
    key.push(u16::MAX);
    for (timer, &count) in armed {
        key.extend([timer.raw(), count.into()]);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::explore;
    use crate::source::Sources;
    use crate::{Options, compile};

    /// A machine whose every step raises many events that nothing takes, and goes nowhere.
    fn loud(events: usize, raises: usize) -> String {
        let on: Vec<String> = (0..events).map(|at| format!(r#""go{at}": "a""#)).collect();
        let entry = vec![r#""tell""#; raises].join(", ");
        let on = on.join(", ");
        format!(
            "## STATE-MACHINE\n\n```json definition\n{{\"initial\": \"a\", \"actions\": {{\"tell\": {{\"raise\": \"told\"}}}},\n\
             \"states\": {{\"a\": {{\"entry\": [{entry}], \"on\": {{{on}, \"stop\": \"b\"}}}},\n\
             \"b\": {{\"type\": \"final\", \"on\": {{}}}}, \"c\": {{\"on\": {{\"told\": \"b\"}}}}}}}}\n```\n"
        )
    }

    #[test]
    fn what_is_raised_counts_as_work() {
        for (is_whole, raises) in [(true, 10), (false, 250)] {
            let mut sources = Sources::new();
            sources.add("spec.md", loud(600, raises));
            let compiled = compile(&sources, &Options::default());
            let machine = compiled.machines.first();
            let machine = machine.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
            assert_eq!(explore(machine).is_whole, is_whole, "{raises}");
        }
    }
}
