//! Regions that have nothing to do with each other, explored one at a time.
//!
//! Twenty regions of four states have 4²⁰ configurations. If no region can tell what the others do, each moves as it would
//! if they stood still, so it is enough to explore each while they do: 80 configurations. [`Regions::find`] says of which
//! parallel states that is so; the search then sends a node only what concerns one region, or none (`Search::expand`).
//! Where the completion of the parallel state is awaited, one more way through it is explored, on which the regions end in
//! their order.
//!
//! What can ever be entered, taken and raised is found so, and where every step leads that concerns no region. What holds
//! in all configurations is read off the regions: every configuration is made of one of each, and moves or ends as soon as
//! one region, or everything around them, can see to it alone ([`always_moves`], [`can_always_end`]).

use std::collections::{BTreeMap, BTreeSet};

use statemark_runtime::Configuration;

use super::concrete::{Node, StateSpace, Stimulus};
use crate::arena::Handle;
use crate::ir::{Event, EventKind, Machine, State, StateKind, Timer, Transition};

/// A region of a separate parallel state, by its outermost state.
pub(super) type Region = Handle<State>;

/// The part that has moved since a parallel state was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Focus {
    /// Nothing, or no separate parallel state is active.
    Base,
    /// One region; the others are where they began.
    Apart(Region),
    /// One region; those before it are done, and those after it are where they began.
    Joining(Region),
}

/// The separate parallel states: outermost ones whose regions have nothing to do with each other.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// The regions of each, in document order.
    by_parallel: BTreeMap<Handle<State>, Vec<Region>>,
    /// The regions that take an event.
    by_event: BTreeMap<(Handle<State>, Handle<Event>), Region>,
    /// The regions that a timer's state is in.
    by_timer: BTreeMap<(Handle<State>, Handle<Timer>), Region>,
}

impl Regions {
    /// Finds the separate parallel states; `None` if there are none.
    ///
    /// Histories, raised events and timers that outlive their states may tie anything to anything, so a machine with one has
    /// none.
    pub(super) fn find(machine: &Machine) -> Option<Self> {
        let mut states = machine.states.iter();
        let mut actions = machine.actions.iter();
        let mut events = machine.events.iter();
        let mut timers = machine.timers.iter();
        let is_tied = states.any(|(_, state)| state.kind.is_history())
            || actions.any(|(_, action)| action.kind.raised().is_some())
            || events.any(|(_, event)| event.kind == EventKind::Fault)
            || timers.any(|(_, timer)| timer.of.is_none());
        if is_tied {
            return None;
        }
        let mut found = Self::default();
        for (handle, state) in machine.states.iter() {
            let mut ancestry = machine.ancestry(handle).skip(1);
            let is_outermost = state.kind == StateKind::Parallel
                && !ancestry.any(|outer| machine.states.at(outer).kind == StateKind::Parallel);
            if is_outermost {
                found.add(machine, handle);
            }
        }
        (!found.by_parallel.is_empty()).then_some(found)
    }

    /// Adds a parallel state unless its regions have to do with each other, or with what is around them.
    fn add(&mut self, machine: &Machine, parallel: Handle<State>) -> Option<()> {
        let regions = &machine.states.at(parallel).children;
        let is_parallel = |region: &Region| machine.states.at(*region).kind == StateKind::Parallel;
        if regions.len() < 2 || regions.iter().any(is_parallel) {
            return None;
        }
        let region_of = |state| {
            regions
                .iter()
                .copied()
                .find(|&it| machine.is_within(state, it))
        };
        let mut by_event: BTreeMap<Handle<Event>, Region> = BTreeMap::new();
        let mut outer_events: BTreeSet<Handle<Event>> = BTreeSet::new();
        for (_, transition) in machine.transitions.iter() {
            if let Some(region) = region_of(transition.source) {
                if !is_own(machine, transition, region) {
                    return None;
                }
                for &event in &transition.triggers {
                    if *by_event.entry(event).or_insert(region) != region {
                        return None;
                    }
                }
            } else if machine.is_within(parallel, transition.source) {
                // With a target inside, it might leave some of the regions alone.
                let has_inner_target = transition.internal && !transition.targets.is_empty();
                if transition.triggers.is_empty() || has_inner_target {
                    return None;
                }
                outer_events.extend(&transition.triggers);
            }
            let completes = |event: &Handle<Event>| match machine.events.at(*event).kind {
                EventKind::Completion(state) => region_of(state),
                _ => None,
            };
            let mut completed = transition.triggers.iter().filter_map(completes);
            if completed.any(|region| region_of(transition.source) != Some(region)) {
                return None;
            }
        }
        // Where a label is ambiguous, it is refused everywhere.
        for ambiguity in &machine.ambiguities {
            if let Some(region) = region_of(ambiguity.source)
                && *by_event.entry(ambiguity.label).or_insert(region) != region
            {
                return None;
            }
        }
        let mut by_timer = BTreeMap::new();
        for (handle, timer) in machine.timers.iter() {
            let region = timer.of.and_then(region_of);
            let taken = by_event.get(&timer.event).copied();
            if taken.is_some_and(|taken| region != Some(taken)) {
                return None;
            }
            by_timer.extend(region.map(|region| (handle, region)));
            if region.is_some() && outer_events.contains(&timer.event) {
                return None;
            }
        }
        if by_event.keys().any(|event| outer_events.contains(event)) {
            return None;
        }
        let by_event = by_event.into_iter();
        self.by_event
            .extend(by_event.map(|(event, region)| ((parallel, event), region)));
        let by_timer = by_timer.into_iter();
        self.by_timer
            .extend(by_timer.map(|(timer, region)| ((parallel, timer), region)));
        self.by_parallel.insert(parallel, regions.clone());
        Some(())
    }

    /// Returns the separate parallel state that is active.
    pub(super) fn active(
        &self,
        machine: &Machine,
        configuration: &Configuration,
    ) -> Option<Handle<State>> {
        // They are outermost, so no two are active at once, and every leaf is in it.
        let leaf = Handle::at(configuration.leaves().next()?.index());
        let mut ancestry = machine.ancestry(leaf);
        ancestry.find(|state| self.by_parallel.contains_key(state))
    }

    /// Returns the region that a stimulus concerns while a parallel state is active.
    pub(super) fn concerned(&self, parallel: Handle<State>, stimulus: Stimulus) -> Option<Region> {
        match stimulus {
            Stimulus::Send(event) => {
                let event = Handle::at(event.index());
                self.by_event.get(&(parallel, event)).copied()
            }
            Stimulus::Elapse(timer) => {
                let timer = Handle::at(timer.index());
                self.by_timer.get(&(parallel, timer)).copied()
            }
        }
    }

    /// Returns the region that goes on once those before it are done, and the leaves that haven't moved.
    ///
    /// `None` unless something awaits the completion of the parallel state.
    pub(super) fn next_joining(
        &self,
        machine: &Machine,
        parallel: Handle<State>,
        node: &Node,
    ) -> Option<(Region, Vec<Handle<State>>)> {
        machine.states.at(parallel).done?;
        let (Focus::Apart(moved) | Focus::Joining(moved)) = node.focus else {
            return None;
        };
        let regions = self.by_parallel.get(&parallel)?;
        let done = regions.iter().take_while(|&&it| is_done(machine, node, it));
        let done = done.count();
        let next = *regions.get(done)?;
        let has_moved = regions.iter().position(|&it| it == moved)? < done;
        let leaves = leaves(node).filter(|leaf| *leaf >= next);
        has_moved.then(|| (next, leaves.collect()))
    }
}

/// Reports whether nothing but its region tells when a transition is taken.
fn is_own(machine: &Machine, transition: &Transition, region: Region) -> bool {
    let is_inside = |state: Handle<State>| state != region && machine.is_within(state, region);
    // A guard without an event is asked again whenever anything moves.
    let waits = !transition.triggers.is_empty() || transition.guard.is_none();
    let mut triggers = transition.triggers.iter();
    let completes = |event: &Handle<Event>| match machine.events.at(*event).kind {
        EventKind::Completion(state) => is_inside(state),
        _ => true,
    };
    is_inside(transition.source) && waits && triggers.all(completes)
}

fn leaves(node: &Node) -> impl Iterator<Item = Handle<State>> {
    let leaves = node.configuration.leaves();
    leaves.map(|leaf| Handle::at(leaf.index()))
}

/// Reports whether a region rests in one of its final states.
fn is_done(machine: &Machine, node: &Node, region: Region) -> bool {
    leaves(node).any(|leaf| {
        let leaf = machine.states.at(leaf);
        leaf.kind == StateKind::Final && leaf.parent == Some(region)
    })
}

/// A space that was explored region by region.
struct Explored<'s> {
    machine: &'s Machine,
    regions: &'s Regions,
    space: &'s StateSpace,
    /// For each node, the separate parallel state that is active.
    active: Vec<Option<Handle<State>>>,
}

impl<'s> Explored<'s> {
    fn new(machine: &'s Machine, space: &'s StateSpace) -> Option<Self> {
        // A step that never comes to rest isn't taken, and what regions do together may be one.
        let regions = space
            .apart
            .as_ref()
            .filter(|_| space.endless_step.is_none())?;
        let nodes = space.nodes.iter();
        let active = nodes.map(|node| regions.active(machine, &node.configuration));
        Some(Self {
            machine,
            regions,
            space,
            active: active.collect(),
        })
    }

    /// Returns the nodes of a parallel state in which nothing, or only that region, has moved.
    fn alone(&self, parallel: Handle<State>, region: Region) -> impl Iterator<Item = usize> {
        let nodes = self.space.nodes.iter().zip(&self.active).enumerate();
        let is_alone = move |focus| focus == Focus::Base || focus == Focus::Apart(region);
        let alone = nodes
            .filter(move |(_, (node, active))| **active == Some(parallel) && is_alone(node.focus));
        alone.map(|(index, _)| index)
    }

    fn node(&self, index: usize) -> Option<&Node> {
        self.space.nodes.get(index)
    }

    /// Reports whether a completion is awaited, and the machine never rests with all regions done.
    fn leaves_when_done(&self, parallel: Handle<State>, regions: &[Region]) -> bool {
        let mut nodes = self.space.nodes.iter().zip(&self.active);
        self.machine.states.at(parallel).done.is_some()
            && !nodes.any(|(node, active)| {
                let mut regions = regions.iter();
                *active == Some(parallel)
                    && regions.all(|&region| is_done(self.machine, node, region))
            })
    }

    /// Reports whether a region alone can always lead out of its parallel state, or end if that suffices.
    fn leads_on(&self, parallel: Handle<State>, region: Region, may_end: bool) -> bool {
        let alone: BTreeSet<usize> = self.alone(parallel, region).collect();
        let mut into: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut open: Vec<usize> = Vec::new();
        for &index in &alone {
            let Some(node) = self.node(index) else {
                continue;
            };
            let has_left = node.begins_by.contains(&None) || node.begins_by.contains(&Some(region));
            if has_left || (may_end && is_done(self.machine, node, region)) {
                open.push(index);
            }
            for &next in &node.next {
                if self
                    .node(next)
                    .is_some_and(|it| it.focus == Focus::Apart(region))
                {
                    into.entry(next).or_default().push(index);
                }
            }
        }
        let mut found = BTreeSet::new();
        while let Some(index) = open.pop() {
            if found.insert(index) {
                open.extend(into.get(&index).into_iter().flatten());
            }
        }
        alone.iter().all(|index| found.contains(index))
    }
}

/// Reports whether in every configuration some event is taken even if every guard is false.
///
/// `is_sure` says it of a node with what concerns no region, or the one given. A configuration rests only if all of its
/// regions do, so one region suffices that never does, or all if they rest only when done and the machine moves on then.
pub(super) fn always_moves(
    machine: &Machine,
    space: &StateSpace,
    is_sure: impl Fn(usize, Option<Region>) -> bool,
) -> bool {
    let Some(explored) = Explored::new(machine, space) else {
        return false;
    };
    let mut others = space.nodes.iter().zip(&explored.active).enumerate();
    let rests = |(index, (node, active)): (usize, (&Node, &Option<Handle<State>>))| {
        active.is_none() && !node.has_ended && !is_sure(index, None)
    };
    if others.any(rests) {
        return false;
    }
    explored
        .regions
        .by_parallel
        .iter()
        .all(|(&parallel, regions)| {
            let is_sure_alone = |region: Region| {
                let mut alone = explored.alone(parallel, region);
                alone.all(|index| is_sure(index, Some(region)))
            };
            let rests_only_done = |region: Region| {
                let mut alone = explored.alone(parallel, region);
                alone.all(|index| {
                    let node = space.nodes.get(index);
                    is_sure(index, Some(region))
                        || node.is_some_and(|node| is_done(machine, node, region))
                })
            };
            regions.iter().any(|&region| is_sure_alone(region))
                || (explored.leaves_when_done(parallel, regions)
                    && regions.iter().all(|&region| rests_only_done(region)))
        })
}

/// Reports whether the end can be reached from every configuration.
///
/// In a parallel state, one region suffices that can always lead out alone, or all if each can always come to its end.
pub(super) fn can_always_end(machine: &Machine, space: &StateSpace) -> bool {
    let Some(explored) = Explored::new(machine, space) else {
        return false;
    };
    // Where nothing has moved yet, the explored steps are all there are.
    let can_end = space.can_end();
    let mut bases = space.nodes.iter().zip(&can_end);
    if bases.any(|(node, can_end)| node.focus == Focus::Base && !can_end) {
        return false;
    }
    let parallels = &mut explored.regions.by_parallel.iter();
    parallels.all(|(&parallel, regions)| {
        let leads_on = |region: &Region, may_end| explored.leads_on(parallel, *region, may_end);
        regions.iter().any(|region| leads_on(region, false))
            || (explored.leaves_when_done(parallel, regions)
                && regions.iter().all(|region| leads_on(region, true)))
    })
}

#[cfg(test)]
mod tests;
