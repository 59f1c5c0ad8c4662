//! A machine without one of its rows, whole again: what named the row goes with it, or names another.

use statemark_compiler::arena::{Arena, Handle};
use statemark_compiler::ir::{Action, EventKind, Initial, Machine, State, StateKind, Transition};

use super::map::{Map, moved, places};

/// A kind of row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    State,
    Transition,
    Action,
    Timer,
    Event,
    Guard,
    Field,
}

/// One row that is left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) part: Part,
    pub(super) at: usize,
}

impl Left {
    pub(super) fn is(self, part: Part, at: usize) -> bool {
        self.part == part && self.at == at
    }
}

impl Part {
    pub(super) const ALL: [Self; 7] = [
        Self::State,
        Self::Transition,
        Self::Action,
        Self::Timer,
        Self::Event,
        Self::Guard,
        Self::Field,
    ];

    pub(super) fn count(self, machine: &Machine) -> usize {
        match self {
            Self::State => machine.states.len(),
            Self::Transition => machine.transitions.len(),
            Self::Action => machine.actions.len(),
            Self::Timer => machine.timers.len(),
            Self::Event => machine.events.len(),
            Self::Guard => machine.guards.len(),
            Self::Field => machine.fields.len(),
        }
    }
}

/// The states that stay: with a state goes what is inside it, and a history without a state beside it.
fn staying_states(machine: &Machine, left: Left) -> Vec<bool> {
    let mut stay = vec![true; machine.states.len()];
    if left.part == Part::State {
        let gone = left.at..machine.states.at(Handle::at(left.at)).end;
        stay[gone].fill(false);
    }
    for (handle, state) in machine
        .states
        .iter()
        .filter(|(_, state)| state.kind.is_history())
    {
        let siblings = &machine.states.at(state.parent.unwrap()).children;
        let beside = |&sibling: &Handle<State>| {
            stay[sibling.index()] && !machine.states.at(sibling).kind.is_history()
        };
        stay[handle.index()] &= siblings.iter().any(beside);
    }
    stay
}

/// Where all rows but the actions go.
fn places_without(machine: &Machine, states: Vec<bool>, left: Left) -> Map {
    let timers = places(machine.timers.iter().map(|(at, timer)| {
        let owned = timer.of.is_none_or(|state| states[state.index()]);
        owned && !left.is(Part::Timer, at.index())
    }));
    let events = places(machine.events.iter().map(|(at, event)| {
        let used = machine.timers.iter().any(|(_, timer)| timer.event == at);
        let owned = match event.kind {
            EventKind::Completion(state) => states[state.index()],
            EventKind::Delayed => {
                let mut all = machine.timers.iter();
                all.any(|(timer, row)| row.event == at && timers[timer.index()].is_some())
            }
            _ => true,
        };
        owned && (used || !left.is(Part::Event, at.index()))
    }));
    Map {
        states: places(states),
        events,
        timers,
        guards: places((0..machine.guards.len()).map(|at| !left.is(Part::Guard, at))),
        fields: places((0..machine.fields.len()).map(|at| !left.is(Part::Field, at))),
        actions: vec![None; machine.actions.len()],
    }
}

/// The machine without one row, and where the other rows are. None if it can't be.
pub(super) fn rebuilt(machine: &Machine, left: Left) -> Option<(Machine, Map)> {
    let states = staying_states(machine, left);
    if !states[0] {
        return None;
    }
    let mut map = places_without(machine, states, left);
    let mut actions = Arena::new();
    for (at, action) in machine.actions.iter() {
        // Actions name only actions before them, so that these are in the map already.
        if let Some(kind) = map
            .action(&action.kind)
            .filter(|_| !left.is(Part::Action, at.index()))
        {
            map.actions[at.index()] = Some(actions.len());
            actions.append(Action {
                kind,
                ..action.clone()
            });
        }
    }
    let mut smaller = Machine {
        actions,
        states: Arena::new(),
        transitions: Arena::new(),
        events: Arena::new(),
        timers: Arena::new(),
        guards: retain(&machine.guards, &map.guards),
        fields: retain(&machine.fields, &map.fields),
        ..machine.clone()
    };
    move_events(machine, &mut smaller, &map)?;
    move_states(machine, &mut smaller, &map, left);
    Some((smaller, map))
}

/// The events that stay, and the timers.
fn move_events(machine: &Machine, smaller: &mut Machine, map: &Map) -> Option<()> {
    for (at, event) in machine
        .events
        .iter()
        .filter(|(at, _)| map.events[at.index()].is_some())
    {
        let event = smaller.events.append(event.clone());
        if let EventKind::Completion(state) = machine.events.at(at).kind {
            smaller.events.at_mut(event).kind = EventKind::Completion(moved(&map.states, state)?);
        }
    }
    for (_, timer) in machine
        .timers
        .iter()
        .filter(|(at, _)| map.timers[at.index()].is_some())
    {
        let mut timer = timer.clone();
        timer.event = moved(&map.events, timer.event)?;
        timer.of = timer.of.and_then(|state| moved(&map.states, state));
        smaller.timers.append(timer);
    }
    Some(())
}

/// The states that stay, with those of their transitions that do.
fn move_states(machine: &Machine, smaller: &mut Machine, map: &Map, left: Left) {
    for (at, state) in machine
        .states
        .iter()
        .filter(|(at, _)| map.states[at.index()].is_some())
    {
        let start = smaller.transitions.len();
        for (handle, transition) in machine.transitions_of(at) {
            if !left.is(Part::Transition, handle.index())
                && let Some(transition) = move_transition(transition, map)
            {
                smaller.transitions.append(transition);
            }
        }
        let end = smaller.transitions.len();
        let state = move_state(machine, at, state, map);
        let state = smaller.states.append(state);
        smaller.states.at_mut(state).transitions = start..end;
    }
    for state in smaller
        .states
        .handles()
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
    {
        let last = smaller.states.at(state).children.last().copied();
        let end = last.map_or(state.index() + 1, |last| smaller.states.at(last).end);
        smaller.states.at_mut(state).end = end;
    }
}

fn retain<T: Clone>(all: &Arena<T>, map: &[Option<usize>]) -> Arena<T> {
    let mut kept = Arena::new();
    for (handle, value) in all.iter() {
        if map[handle.index()].is_some() {
            kept.append(value.clone());
        }
    }
    kept
}

fn move_state(machine: &Machine, at: Handle<State>, state: &State, map: &Map) -> State {
    let children = map.states(&state.children);
    let real = |&child: &Handle<State>| !machine.states.at(child).kind.is_history();
    let first = |of: Handle<State>| {
        let children: Vec<_> = machine.states.at(of).children.clone();
        let real = children.into_iter().filter(real);
        map.states(&real.collect::<Vec<_>>())
            .into_iter()
            .take(1)
            .collect()
    };
    let kind = if state.kind.has_children() && children.is_empty() {
        StateKind::Atomic
    } else {
        state.kind
    };
    let of = if state.kind.is_history() {
        state.parent.unwrap()
    } else {
        at
    };
    let initial = state.initial.as_ref().filter(|_| kind != StateKind::Atomic);
    State {
        kind,
        parent: state.parent.and_then(|parent| moved(&map.states, parent)),
        children,
        initial: initial.map(|initial| {
            let mut targets = map.states(&initial.targets);
            if targets.is_empty() {
                targets = first(of);
            }
            Initial {
                targets,
                actions: map.actions(&initial.actions),
                ..initial.clone()
            }
        }),
        entry: map.actions(&state.entry),
        exit: map.actions(&state.exit),
        done: state
            .done
            .filter(|_| kind.has_children())
            .and_then(|done| moved(&map.events, done)),
        ..state.clone()
    }
}

fn move_transition(transition: &Transition, map: &Map) -> Option<Transition> {
    let triggers: Vec<_> = transition
        .triggers
        .iter()
        .filter_map(|&event| moved(&map.events, event))
        .collect();
    let targets = map.states(&transition.targets);
    if triggers.is_empty() != transition.triggers.is_empty()
        || targets.is_empty() != transition.targets.is_empty()
    {
        return None;
    }
    let mut smaller = transition.clone();
    smaller.source = moved(&map.states, transition.source)?;
    smaller.triggers = triggers;
    smaller.targets = targets;
    smaller.actions = map.actions(&transition.actions);
    if let Some(guard) = &mut smaller.guard {
        guard.value = map.expression(&guard.value)?;
    }
    Some(smaller)
}
