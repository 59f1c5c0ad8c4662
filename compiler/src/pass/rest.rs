//! Events that keep a machine from coming to rest, as far as no guard decides.
//!
//! A step continues on its own if an action raises an event, a state is done, or a transition needs no event. If the
//! first candidate has no guard, the next microstep is certain and is followed here; if it has one, the walk stops,
//! because the guard may stop the machine. The order of exits, actions and entries is SCXML's (W3C Recommendation,
//! appendix D), as in the runtime.
//!
//! In a parallel state several regions may take one event, and the target of a history is known only at run time: the
//! walk neither starts nor continues there, and nothing is claimed.
//!
//! Deliberately not here: cycles of eventless transitions alone, which [`crate::valid`] refuses before, and events that
//! the host sends.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::arena::Handle;
use crate::ir::{Action, ActionKind, Event, EventKind, Machine, State, StateKind, Transition};

/// Most microsteps that are followed from one event.
///
/// Unit: microsteps. Why: a step is undone after as many.
const MAX_MICROSTEPS: u32 = statemark_runtime::DEFAULT_STEP_LIMIT;

/// A leaf with the event that it is about to take, while no other event is queued.
type Moment = (Handle<State>, Handle<Event>);

/// A state with an event; `None` for its eventless transitions.
type Trigger = (Handle<State>, Option<Handle<Event>>);

/// An event whose handling never ends.
#[derive(Clone, Copy, Debug)]
pub struct Unrest {
    /// The event.
    pub event: Handle<Event>,
    /// The transition that takes the event and raises it again.
    pub transition: Handle<Transition>,
}

/// Returns the first event of each cycle of raised events, in the order of the given leaves.
#[must_use]
pub fn find_unrest(
    machine: &Machine,
    leaves: impl IntoIterator<Item = Handle<State>>,
) -> Vec<Unrest> {
    let mut walk = Walk::new(machine);
    let mut found = Vec::new();
    if !actions_are_certain(machine) {
        return found;
    }
    for leaf in leaves {
        if !is_followed(machine, leaf) {
            continue;
        }
        let events: BTreeSet<Handle<Event>> = machine
            .ancestry(leaf)
            .flat_map(|state| machine.transitions_of(state))
            .flat_map(|(_, transition)| transition.triggers.iter().copied())
            .collect();
        for event in events {
            found.extend(walk.follow(leaf, event));
        }
    }
    found
}

/// Reports whether the events that actions raise depend on no data.
///
/// No action may be conditional, and no failing assignment may raise an event.
fn actions_are_certain(machine: &Machine) -> bool {
    let has_fault = |(_, event): (_, &Event)| event.kind == EventKind::Fault;
    let faults = machine.events.iter().any(has_fault);
    machine.actions.iter().all(|(_, action)| match action.kind {
        ActionKind::If { .. } => false,
        ActionKind::Assign(_) => !faults,
        _ => true,
    })
}

/// Reports whether entering a state ends in one leaf, which alone is active.
fn is_followed(machine: &Machine, state: Handle<State>) -> bool {
    let is_parallel = |state| machine.states.at(state).kind == StateKind::Parallel;
    machine.default_leaf(state).is_some() && !machine.ancestry(state).any(is_parallel)
}

struct Walk<'m> {
    machine: &'m Machine,
    /// The first transition of each state on each event.
    first: BTreeMap<Trigger, Handle<Transition>>,
    /// The moments that were followed already.
    known: BTreeSet<Moment>,
}

impl<'m> Walk<'m> {
    fn new(machine: &'m Machine) -> Self {
        let mut first = BTreeMap::new();
        for (handle, transition) in machine.transitions.iter() {
            let source = transition.source;
            for &event in &transition.triggers {
                first.entry((source, Some(event))).or_insert(handle);
            }
            if transition.triggers.is_empty() {
                first.entry((source, None)).or_insert(handle);
            }
        }
        Self {
            machine,
            first,
            known: BTreeSet::new(),
        }
    }

    /// Follows one event, and returns it, or one that it raises, if that is raised forever.
    fn follow(&mut self, leaf: Handle<State>, event: Handle<Event>) -> Option<Unrest> {
        let mut leaf = leaf;
        let mut queue = VecDeque::from([event]);
        let mut passed: BTreeMap<Moment, Handle<Transition>> = BTreeMap::new();
        let mut last = None;
        for _ in 0..MAX_MICROSTEPS {
            let (event, alone) = match self.first_candidate(leaf, None) {
                Some(eventless) => match self.take(eventless, &mut leaf, &mut queue) {
                    Some(()) => continue,
                    None => break,
                },
                None => (queue.pop_front(), queue.is_empty()),
            };
            let Some(event) = event else {
                break;
            };
            let Some(transition) = self.first_candidate(leaf, Some(event)) else {
                continue;
            };
            let moment = (leaf, event);
            if alone {
                if let Some(&transition) = passed.get(&moment) {
                    self.known.extend(passed.keys());
                    return Some(Unrest { event, transition });
                }
                if self.known.contains(&moment) {
                    break;
                }
                passed.insert(moment, transition);
            }
            last = Some(Unrest { event, transition });
            if self.take(transition, &mut leaf, &mut queue).is_none() {
                break;
            }
        }
        self.known.extend(passed.keys());
        // The queue has grown: handling events raises more of them than it takes.
        last.filter(|_| queue.len() > 1)
    }

    /// Returns the transition that is tried first in a leaf.
    fn first_candidate(
        &self,
        leaf: Handle<State>,
        event: Option<Handle<Event>>,
    ) -> Option<Handle<Transition>> {
        let mut states = self.machine.ancestry(leaf);
        states.find_map(|state| self.first.get(&(state, event)).copied())
    }

    /// Takes a microstep; returns `None` if a guard decides, or if the machine has ended.
    fn take(
        &self,
        transition: Handle<Transition>,
        leaf: &mut Handle<State>,
        queue: &mut VecDeque<Handle<Event>>,
    ) -> Option<()> {
        let machine = self.machine;
        let transition = machine.transitions.at(transition);
        if transition.guard.is_some() {
            queue.clear();
            return None;
        }
        let raise = |actions: &[Handle<Action>], queue: &mut VecDeque<Handle<Event>>| {
            let raised = actions
                .iter()
                .filter_map(|&action| machine.actions.at(action).kind.raised());
            queue.extend(raised);
        };
        let target = match transition.targets.as_slice() {
            &[target] if is_followed(machine, target) => target,
            [] => {
                raise(&transition.actions, queue);
                return Some(());
            }
            _ => {
                queue.clear();
                return None;
            }
        };
        let stays = |state: &Handle<State>| {
            let proper = transition.internal || *state != transition.source;
            proper
                && machine.is_within(transition.source, *state)
                && machine.is_within(target, *state)
                && target != *state
        };
        for state in machine.ancestry(*leaf).take_while(|state| !stays(state)) {
            raise(&machine.states.at(state).exit, queue);
        }
        raise(&transition.actions, queue);
        let mut entered: Vec<Handle<State>> = machine
            .ancestry(target)
            .take_while(|state| !stays(state))
            .collect();
        while let Some(state) = entered.pop() {
            raise(&machine.states.at(state).entry, queue);
            *leaf = state;
            let Some(initial) = &machine.states.at(state).initial else {
                continue;
            };
            if entered.is_empty() {
                raise(&initial.actions, queue);
                let path = initial
                    .targets
                    .iter()
                    .flat_map(|&target| machine.ancestry(target));
                entered.extend(path.take_while(|&inner| inner != state));
            }
        }
        let end = machine.states.at(*leaf);
        if end.kind == StateKind::Final {
            let parent = end.parent.unwrap_or_else(|| machine.root());
            if parent == machine.root() {
                queue.clear();
                return None;
            }
            queue.extend(machine.states.at(parent).done);
        }
        Some(())
    }
}
