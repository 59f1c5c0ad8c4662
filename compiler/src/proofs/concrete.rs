//! Concrete reachability: every configuration in which a machine can rest.
//!
//! [`explore`] lets the table engine itself find them. It steps the machine with free guards from its start: in each configuration it sends every event that an
//! active state has a transition on, and fires every running timer, with every combination of answers to every question.
//! The result is exact but for two assumptions: each guard can be true or false independently of the others, and the
//! operands of assignments are there. The search is breadth first, so the path to each configuration has as few events as
//! possible. A timer that fires unhandled is spent, as in a run, and leaves a configuration of its own.
//!
//! The work is bounded ([`MOST_WORK`]). A machine with one active leaf, without history and without timers that outlive
//! their state, takes time linear in its size; one with many regions may have too many configurations, and
//! [`StateSpace::is_complete`] says whether all of them were found. Regions that have nothing to do with each other are
//! explored one at a time then (`apart`).
//!
//! Deliberately not here: interrupts, which lead to states without an event. A property that they could change asks for them
//! (`Evidence::has_interrupts`).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use statemark_runtime::{
    Configuration, EventId, Machine as Engine, Outcome, StateId, StepError, Table, TimerId,
};

use super::apart::{Focus, Region, Regions, always_moves, can_always_end};
use super::play::{Armed, Play, PlayHost, PlayObserver, free_table};
use crate::arena::Handle;
use crate::ir::{Event, Machine, State, Transition};

/// Most work for one machine.
///
/// Unit: steps, microsteps, states entered, transitions examined and taken, events raised, actions executed, questions
/// asked and ids stored, added up. Why: some tens of megabytes and less than a second.
pub(super) const MOST_WORK: usize = 400_000;

/// Most work before regions are explored apart.
///
/// Unit: as above. Why: what is explored whole is described more exactly.
const MOST_WORK_WHOLE: usize = MOST_WORK / 8;

/// A stimulus from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stimulus {
    Send(EventId),
    Elapse(TimerId),
}

impl Stimulus {
    /// Returns the event that it delivers.
    pub(super) fn event(self, machine: &Machine) -> Handle<Event> {
        match self {
            Self::Send(event) => Handle::at(event.index()),
            Self::Elapse(timer) => machine.timers.at(Handle::at(timer.index())).event,
        }
    }
}

/// A configuration in which the machine rests or has ended.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) configuration: Configuration,
    armed: Armed,
    /// The part that has moved, in a search region by region.
    pub(super) focus: Focus,
    /// The node and stimulus by which it was first reached; `None` at the start.
    from: Option<(usize, Stimulus)>,
    pub(super) has_ended: bool,
    /// True if it was first reached by a timer that nothing handled.
    pub(super) after_unhandled_timer: bool,
    /// True if some transition can be taken.
    pub(super) can_move: bool,
    /// The regions with a stimulus that is taken even if every guard is false; `None` for no region.
    sure: BTreeSet<Option<Region>>,
    pub(super) next: BTreeSet<usize>,
    /// The regions with a stimulus that leads to where nothing has moved yet; `None` as above.
    pub(super) begins_by: BTreeSet<Option<Region>>,
}

impl Node {
    /// Reports whether some transition is taken even if every guard is false.
    pub(super) fn always_moves(&self) -> bool {
        !self.sure.is_empty()
    }

    /// Reports whether that is so of what concerns no region, or this one.
    pub(super) fn always_moves_by(&self, region: Option<Region>) -> bool {
        self.sure.contains(&None) || self.sure.contains(&region)
    }
}

/// A step that never comes to rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndlessStep {
    /// The node and stimulus that it starts from; `None` for the start of the machine.
    pub(super) from: Option<(usize, Stimulus)>,
    /// True if it loops whatever the guards answer.
    pub(super) is_forced: bool,
}

/// The configurations that were found, and what happened on the way.
#[derive(Debug, Default)]
pub(super) struct StateSpace {
    pub(super) nodes: Vec<Node>,
    /// Flags of the states, transitions and events that were ever entered, taken and raised.
    entered: Vec<bool>,
    taken: Vec<bool>,
    raised: Vec<bool>,
    /// Flags of the states and transitions that were entered and taken in an endless step.
    ///
    /// No run takes such a step.
    entered_in_endless_step: Vec<bool>,
    taken_in_endless_step: Vec<bool>,
    /// The first step found that never comes to rest; forced ones come before others.
    pub(super) endless_step: Option<EndlessStep>,
    /// True if the search left nothing out: every configuration is a node.
    pub(super) is_complete: bool,
    /// The regions that were explored apart, if the search left out nothing but their combinations.
    pub(super) apart: Option<Regions>,
}

impl StateSpace {
    fn new(machine: &Machine) -> Self {
        Self {
            entered: vec![false; machine.states.len()],
            taken: vec![false; machine.transitions.len()],
            raised: vec![false; machine.events.len()],
            entered_in_endless_step: vec![false; machine.states.len()],
            taken_in_endless_step: vec![false; machine.transitions.len()],
            ..Self::default()
        }
    }

    /// Reports whether everything was met that can ever be entered, taken and raised.
    pub(super) fn has_met_everything(&self) -> bool {
        self.is_complete || self.apart.is_some()
    }

    pub(super) fn is_entered(&self, state: Handle<State>) -> bool {
        self.entered.get(state.index()).copied().unwrap_or(false)
    }

    pub(super) fn is_taken(&self, transition: Handle<Transition>) -> bool {
        self.taken.get(transition.index()).copied().unwrap_or(false)
    }

    /// Reports whether a step that never comes to rest enters a state.
    pub(super) fn is_entered_in_endless_step(&self, state: Handle<State>) -> bool {
        self.entered_in_endless_step
            .get(state.index())
            .copied()
            .unwrap_or(false)
    }

    /// Reports whether a step that never comes to rest takes a transition.
    pub(super) fn is_taken_in_endless_step(&self, transition: Handle<Transition>) -> bool {
        self.taken_in_endless_step
            .get(transition.index())
            .copied()
            .unwrap_or(false)
    }

    pub(super) fn is_raised(&self, event: Handle<Event>) -> bool {
        self.raised.get(event.index()).copied().unwrap_or(false)
    }

    /// Returns the leaves of a node, in document order.
    pub(super) fn leaves(&self, node: usize) -> Vec<Handle<State>> {
        let node = self.nodes.get(node).into_iter();
        node.flat_map(|node| node.configuration.leaves())
            .map(|leaf| Handle::at(leaf.index()))
            .collect()
    }

    /// Returns the stimuli that lead from the start to a node.
    pub(super) fn path_to(&self, node: usize) -> Vec<Stimulus> {
        let mut path = Vec::new();
        let mut current = node;
        while let Some((from, stimulus)) = self.nodes.get(current).and_then(|node| node.from) {
            path.push(stimulus);
            current = from;
        }
        path.reverse();
        path
    }

    /// Reports for each node whether some path leads from it to the end.
    pub(super) fn can_end(&self) -> Vec<bool> {
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut can_end = vec![false; self.nodes.len()];
        let mut open = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            for &next in &node.next {
                if let Some(list) = predecessors.get_mut(next) {
                    list.push(index);
                }
            }
            if node.has_ended {
                open.push(index);
            }
        }
        while let Some(index) = open.pop() {
            if let Some(flag) = can_end.get_mut(index)
                && !*flag
            {
                *flag = true;
                open.extend(predecessors.get(index).into_iter().flatten());
            }
        }
        can_end
    }
}

/// Steps the machine through everything that it can do, within [`MOST_WORK`].
///
/// `is_sure` reports of a node whether some event of a region, or of none, is taken whatever the guards say.
pub(super) fn explore(
    machine: &Machine,
    is_sure: impl Fn(&StateSpace, usize, Option<Region>) -> bool,
) -> StateSpace {
    let Some(table) = free_table(machine) else {
        return StateSpace::new(machine);
    };
    let Some(regions) = Regions::find(machine) else {
        return search(machine, &table, MOST_WORK, None);
    };
    let whole = search(machine, &table, MOST_WORK_WHOLE, None);
    if whole.is_complete {
        return whole;
    }
    let apart = search(machine, &table, MOST_WORK, Some(regions));
    if apart.apart.is_some()
        && always_moves(machine, &apart, |node, region| {
            is_sure(&apart, node, region)
        })
        && can_always_end(machine, &apart)
    {
        return apart;
    }
    // What isn't so of all configurations is shown by one of them.
    let whole = search(machine, &table, MOST_WORK, None);
    match apart.apart {
        Some(_) if !whole.is_complete => apart,
        _ => whole,
    }
}

/// Explores a machine whole, or its regions apart.
pub(super) fn search(
    machine: &Machine,
    table: &Table,
    most_work: usize,
    regions: Option<Regions>,
) -> StateSpace {
    let has_history = machine
        .states
        .iter()
        .any(|(_, state)| state.kind.is_history());
    let mut search = Search {
        machine,
        table,
        has_history,
        most_work,
        regions,
        joined: BTreeSet::new(),
        known: BTreeMap::new(),
        open: VecDeque::new(),
        work: 0,
        is_cut: false,
        space: StateSpace::new(machine),
    };
    search.step(None, None, Move::default());
    while let Some(node) = search.open.pop_front() {
        search.expand(node);
        if search.work >= most_work {
            search.is_cut = true;
            break;
        }
    }
    let mut space = search.space;
    space.is_complete = !search.is_cut && search.regions.is_none();
    space.apart = search.regions.filter(|_| !search.is_cut);
    space
}

/// Returns the stimuli that a node waits for, and how many transitions were examined to find them.
///
/// They are its timers, and the events that its active states have transitions on.
pub(super) fn stimuli(machine: &Machine, node: &Node) -> (BTreeSet<Stimulus>, usize) {
    let mut active: BTreeSet<Handle<State>> = BTreeSet::new();
    for leaf in node.configuration.leaves() {
        for state in machine.ancestry(Handle::at(leaf.index())) {
            if !active.insert(state) {
                break;
            }
        }
    }
    let timers = node.armed.keys().copied();
    let mut stimuli: BTreeSet<Stimulus> = timers.map(Stimulus::Elapse).collect();
    let transitions = active
        .iter()
        .flat_map(|&state| machine.transitions_of(state));
    let mut examined = 0_usize;
    for (_, transition) in transitions {
        examined += transition.triggers.len().max(1);
        for &event in &transition.triggers {
            if machine.events.at(event).kind.is_sendable() {
                stimuli.extend(EventId::from_index(event.index()).map(Stimulus::Send));
            }
        }
    }
    (stimuli, examined)
}

/// Whom a step concerns.
#[derive(Clone, Copy)]
struct Move {
    /// The region whose stimulus it is, in a search region by region.
    region: Option<Region>,
    /// The part that has moved after it, unless it enters something else.
    focus: Focus,
}

impl Default for Move {
    fn default() -> Self {
        Self {
            region: None,
            focus: Focus::Base,
        }
    }
}

struct Search<'m> {
    machine: &'m Machine,
    table: &'m Table,
    has_history: bool,
    most_work: usize,
    /// The regions that are explored apart.
    regions: Option<Regions>,
    /// The regions with which others were joined, with the leaves of those that hadn't moved.
    joined: BTreeSet<(Region, Vec<Handle<State>>)>,
    /// The nodes by the keys of their configurations.
    known: BTreeMap<(Focus, Vec<u16>), usize>,
    /// The nodes that weren't expanded yet.
    open: VecDeque<usize>,
    work: usize,
    /// True if the search left something out.
    is_cut: bool,
    space: StateSpace,
}

impl Search<'_> {
    /// Steps a node by everything that it waits for.
    fn expand(&mut self, node: usize) {
        let machine = self.machine;
        let nodes = &self.space.nodes;
        let Some(resting) = nodes.get(node).filter(|node| !node.has_ended) else {
            return;
        };
        let (stimuli, examined) = stimuli(machine, resting);
        let focus = resting.focus;
        let mut regions = None;
        if let Some(apart) = &self.regions
            && let Some(parallel) = apart.active(machine, &resting.configuration)
        {
            let next = apart.next_joining(machine, parallel, resting);
            let next = next.filter(|next| self.joined.insert(next.clone()));
            let stimuli = stimuli.iter();
            let concerned = stimuli
                .map(|&it| apart.concerned(parallel, it))
                .collect::<Vec<_>>();
            regions = Some((concerned, next.map(|(region, _)| region)));
        }
        self.work = self.work.saturating_add(examined);
        for (index, stimulus) in stimuli.into_iter().enumerate() {
            if self.work >= self.most_work {
                self.is_cut = true;
                return;
            }
            let turn = match &regions {
                None => Some(Move::default()),
                Some((concerned, next)) => {
                    turn(focus, concerned.get(index).copied().flatten(), *next)
                }
            };
            if let Some(turn) = turn {
                self.step(Some(node), Some(stimulus), turn);
            }
        }
    }

    /// Takes one step, the start or a stimulus in a node, once for every combination of answers.
    fn step(&mut self, index: Option<usize>, stimulus: Option<Stimulus>, turn: Move) {
        let node = index.and_then(|index| self.space.nodes.get(index));
        let configuration = node.map(|node| node.configuration.clone());
        let mut armed = node.map(|node| node.armed.clone()).unwrap_or_default();
        if let Some(Stimulus::Elapse(timer)) = stimulus {
            let count = armed.remove(&timer).unwrap_or(0);
            if count > 1 {
                armed.insert(timer, count - 1);
            }
        }
        let from = index.zip(stimulus);
        let play = RefCell::new(Play::default());
        let mut is_first = true;
        loop {
            play.borrow_mut().begin(&armed);
            let outcome = self.play(&play, configuration.as_ref(), stimulus);
            let played = play.borrow();
            self.work = self.work.saturating_add(played.work());
            self.is_cut |= played.is_cut;
            if played.loops {
                self.note_endless_step(from, false);
            }
            match outcome {
                Some(Ok((configuration, outcome))) if outcome != Outcome::Ignored => {
                    self.note_step(&played);
                    let focus = self.focus_after(turn, &played);
                    let next = self.arrive(from, configuration, &played.armed, (focus, false));
                    self.note_move(index, is_first.then_some(turn.region));
                    self.connect(index, next, turn.region);
                }
                Some(Err(StepError::StepLimit { .. } | StepError::RaiseLimit)) => {
                    self.note_endless_play(&played);
                    self.note_endless_step(from, played.was_silent());
                }
                Some(Ok((configuration, _))) => {
                    // An ignored event changes nothing; a timer is spent in any case.
                    if let Some(Stimulus::Elapse(_)) = stimulus {
                        let focus = turn.focus;
                        let next = self.arrive(from, configuration, &played.armed, (focus, true));
                        self.connect(index, next, turn.region);
                    }
                }
                // A label that another region's state makes ambiguous changes nothing.
                Some(Err(StepError::Ambiguous { .. })) => {}
                // No other error can occur here.
                Some(Err(_)) | None => self.is_cut = true,
            }
            drop(played);
            is_first = false;
            if !play.borrow_mut().next_script() {
                return;
            }
            if self.work >= self.most_work {
                self.is_cut = true;
                return;
            }
        }
    }

    /// Returns what has moved after a step: nothing, if it has entered anything but states of its region.
    fn focus_after(&self, turn: Move, played: &Play) -> Focus {
        let mut entered = played.entered.iter();
        let is_inside = |state: &StateId| {
            let state = Handle::at(state.index());
            turn.region
                .is_some_and(|region| state != region && self.machine.is_within(state, region))
        };
        match entered.all(is_inside) {
            true => turn.focus,
            false => Focus::Base,
        }
    }

    /// Plays a step once. `None` if the engine refuses the configuration.
    fn play(
        &self,
        play: &RefCell<Play>,
        configuration: Option<&Configuration>,
        stimulus: Option<Stimulus>,
    ) -> Option<Result<(Configuration, Outcome), StepError>> {
        let host = PlayHost(play);
        let mut observer = PlayObserver {
            play,
            table: self.table,
            has_history: self.has_history,
        };
        let Some((configuration, stimulus)) = configuration.zip(stimulus) else {
            let started = Engine::start_observed(self.table, host, &mut observer);
            return Some(started.map(|engine| (engine.configuration().clone(), Outcome::Taken)));
        };
        let mut engine = Engine::restore(self.table, host, configuration.clone()).ok()?;
        let outcome = match stimulus {
            Stimulus::Send(event) => engine.send_observed(event, &mut observer),
            Stimulus::Elapse(timer) => engine.elapse_observed(timer, &mut observer),
        };
        Some(outcome.map(|outcome| (engine.configuration().clone(), outcome)))
    }

    /// Notes what a step that came to rest has done.
    fn note_step(&mut self, played: &Play) {
        let space = &mut self.space;
        let entered = played.entered.iter().map(|it| it.index());
        let taken = played.taken.iter().map(|it| it.index());
        let raised = played.raised.iter().map(|it| it.index());
        entered.for_each(|index| set(&mut space.entered, index));
        taken.for_each(|index| set(&mut space.taken, index));
        raised.for_each(|index| set(&mut space.raised, index));
    }

    /// Notes what a step that never came to rest has done.
    fn note_endless_play(&mut self, played: &Play) {
        let space = &mut self.space;
        let entered = played.entered.iter().map(|it| it.index());
        let taken = played.taken.iter().map(|it| it.index());
        entered.for_each(|index| set(&mut space.entered_in_endless_step, index));
        taken.for_each(|index| set(&mut space.taken_in_endless_step, index));
    }

    /// Returns the node of a configuration, which is added if it is new.
    fn arrive(
        &mut self,
        from: Option<(usize, Stimulus)>,
        configuration: Configuration,
        armed: &Armed,
        (focus, after_unhandled_timer): (Focus, bool),
    ) -> usize {
        let key = key(&configuration, armed);
        self.work = self.work.saturating_add(key.len());
        let count = self.space.nodes.len();
        let node = *self.known.entry((focus, key)).or_insert(count);
        if node == count {
            self.space.nodes.push(Node {
                has_ended: configuration.is_ended(self.table),
                configuration,
                armed: armed.clone(),
                focus,
                from,
                after_unhandled_timer,
                can_move: false,
                sure: BTreeSet::new(),
                next: BTreeSet::new(),
                begins_by: BTreeSet::new(),
            });
            self.open.push_back(node);
        }
        node
    }

    /// Notes that a stimulus is taken in a node.
    ///
    /// `sure` is its region if it is taken even if every guard is false.
    fn note_move(&mut self, node: Option<usize>, sure: Option<Option<Region>>) {
        if let Some(node) = node.and_then(|node| self.space.nodes.get_mut(node)) {
            node.can_move = true;
            node.sure.extend(sure);
        }
    }

    fn connect(&mut self, from: Option<usize>, to: usize, region: Option<Region>) {
        let target = self.space.nodes.get(to);
        let begins = target.is_some_and(|node| node.focus == Focus::Base);
        if let Some(node) = from.and_then(|from| self.space.nodes.get_mut(from)) {
            node.next.insert(to);
            node.begins_by.extend(begins.then_some(region));
        }
    }

    fn note_endless_step(&mut self, from: Option<(usize, Stimulus)>, is_forced: bool) {
        let known = self.space.endless_step;
        if known.is_none_or(|known| is_forced && !known.is_forced) {
            self.space.endless_step = Some(EndlessStep { from, is_forced });
        }
    }
}

/// Returns whom a stimulus concerns, by the region that takes it; `None` if it is left to another node.
///
/// `next` is the region that goes on once those before it are done.
fn turn(focus: Focus, region: Option<Region>, next: Option<Region>) -> Option<Move> {
    let focus = match (focus, region) {
        (_, None) => focus,
        (Focus::Base, Some(region)) => Focus::Apart(region),
        (Focus::Apart(moved) | Focus::Joining(moved), Some(region)) if moved == region => focus,
        (_, Some(region)) if next == Some(region) => Focus::Joining(region),
        _ => return None,
    };
    Some(Move { region, focus })
}

fn set(flags: &mut [bool], at: usize) {
    if let Some(flag) = flags.get_mut(at) {
        *flag = true;
    }
}

/// Returns the identity of a configuration: its leaves, recorded histories and running timers.
fn key(configuration: &Configuration, armed: &Armed) -> Vec<u16> {
    let mut key: Vec<u16> = configuration.leaves().map(StateId::raw).collect();
    for (history, states) in configuration.history() {
        // No id is this large, so the parts can't run into each other.
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
    fn raised_events_count_as_work() {
        for (is_complete, raises) in [(true, 10), (false, 250)] {
            let mut sources = Sources::new();
            sources.add("spec.md", loud(600, raises));
            let compiled = compile(&sources, &Options::default());
            let machine = compiled.machines.first();
            let machine = machine.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
            assert_eq!(
                explore(machine, |_, _, _| false).is_complete,
                is_complete,
                "{raises}"
            );
        }
    }
}
