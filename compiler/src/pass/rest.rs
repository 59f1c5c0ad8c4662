//! Whether a machine comes to rest after an event, as far as no guard decides.
//!
//! A step goes on by itself where an action raises an event, a state is done, or a transition needs no event. Where the
//! transition that is first in line has no guard, what follows is certain, so it can be followed here; where it has one,
//! the walk stops, because the guard may stop the machine. The order of exits, actions and entries is SCXML's (W3C
//! Recommendation, appendix D), as in the runtime.
//!
//! Within a parallel state several regions may take one event, and where history leads is known only at run time: there the
//! walk neither begins nor goes on, and nothing is claimed.
//!
//! Deliberately not here: circles of eventless transitions alone ([`crate::valid`] refuses them before), and what the host
//! sends.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::arena::Handle;
use crate::ir::{Action, ActionKind, Event, EventKind, Machine, State, StateKind, Transition};

/// Most microsteps that are followed from one event. Unit: microsteps. Why: a step is undone after as many.
const MOST: u32 = statemark_runtime::DEFAULT_STEP_LIMIT;

/// A leaf, and the event that it is about to take while nothing else waits.
type Moment = (Handle<State>, Handle<Event>);

/// A state, and the event that it is asked for; `None` for its eventless transitions.
type Asked = (Handle<State>, Option<Handle<Event>>);

/// An event whose handling never ends.
#[derive(Clone, Copy, Debug)]
pub struct Unrest {
    /// The event.
    pub event: Handle<Event>,
    /// The transition that takes it and by which it comes back.
    pub transition: Handle<Transition>,
}

/// The first event of each circle of raised events, in the order of the leaves given.
#[must_use]
pub fn unrests(machine: &Machine, leaves: impl IntoIterator<Item = Handle<State>>) -> Vec<Unrest> {
    let mut walk = Walk::new(machine);
    let mut found = Vec::new();
    if !actions_are_certain(machine) {
        return found;
    }
    for leaf in leaves {
        if !is_followed(machine, leaf) {
            continue;
        }
        let own: BTreeSet<Handle<Event>> = machine
            .ancestry(leaf)
            .flat_map(|state| machine.transitions_of(state))
            .flat_map(|(_, transition)| transition.triggers.iter().copied())
            .collect();
        for event in own {
            found.extend(walk.follow(leaf, event));
        }
    }
    found
}

/// Whether what each list of actions raises depends on no data: no action is conditional, and no assignment's failure has
/// an event.
fn actions_are_certain(machine: &Machine) -> bool {
    let has_fault = |(_, event): (_, &Event)| event.kind == EventKind::Fault;
    let faults = machine.events.iter().any(has_fault);
    machine.actions.iter().all(|(_, action)| match action.kind {
        ActionKind::If { .. } => false,
        ActionKind::Assign(_) => !faults,
        _ => true,
    })
}

/// Whether entering a state ends in one leaf, which alone is active.
fn is_followed(machine: &Machine, state: Handle<State>) -> bool {
    let is_parallel = |around| machine.states.at(around).kind == StateKind::Parallel;
    machine.default_leaf(state).is_some() && !machine.ancestry(state).any(is_parallel)
}

struct Walk<'m> {
    machine: &'m Machine,
    /// The state's first transition for an event.
    first: BTreeMap<Asked, Handle<Transition>>,
    /// Moments of which it is known how they go on.
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

    /// Follows one event; gives it, or one that it raises, if that comes back without end.
    fn follow(&mut self, leaf: Handle<State>, event: Handle<Event>) -> Option<Unrest> {
        let mut leaf = leaf;
        let mut queue = VecDeque::from([event]);
        let mut passed: BTreeMap<Moment, Handle<Transition>> = BTreeMap::new();
        let mut last = None;
        for _ in 0..MOST {
            let (event, alone) = match self.line(leaf, None) {
                Some(eventless) => match self.take(eventless, &mut leaf, &mut queue) {
                    Some(()) => continue,
                    None => break,
                },
                None => (queue.pop_front(), queue.is_empty()),
            };
            let Some(event) = event else {
                break;
            };
            let Some(transition) = self.line(leaf, Some(event)) else {
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
        // Still more events wait than one: they raise more than they take away.
        last.filter(|_| queue.len() > 1)
    }

    /// The transition that is first in line in a leaf.
    fn line(
        &self,
        leaf: Handle<State>,
        event: Option<Handle<Event>>,
    ) -> Option<Handle<Transition>> {
        let mut around = self.machine.ancestry(leaf);
        around.find_map(|state| self.first.get(&(state, event)).copied())
    }

    /// One microstep. `None` where a guard decides, or the machine has ended.
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
            let around = end.parent.unwrap_or_else(|| machine.root());
            if around == machine.root() {
                queue.clear();
                return None;
            }
            queue.extend(machine.states.at(around).done);
        }
        Some(())
    }
}
