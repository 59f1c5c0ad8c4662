//! Entries: SCXML's `enterStates` and `computeEntrySet`.

use super::Content;
use crate::bits;
use crate::chart::{self, Chart};
use crate::configuration::Configuration;
use crate::error::StepError;
use crate::host::Observer;
use crate::id::{ROOT, StateId, TransitionId};
use crate::limits::MAX_DEPTH;
use crate::scratch::EntrySet;
use crate::table::sections::StateKind;

/// Enters the initial configuration.
/// The root is active already, and its initial transition's actions are done.
pub(super) fn initial_states<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    set: &mut EntrySet,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    let mut entry = Entry::new(chart, configuration, set);
    let initial = chart.node(ROOT).map_or(&[][..], |node| node.initial);
    entry.targets(initial, ROOT, MAX_HOPS);
    set.transitions = 1;
    enter(chart, configuration, set, content, observer)
}

/// Enters the targets of the transitions.
pub(super) fn enter_states<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    enabled: &[TransitionId],
    set: &mut EntrySet,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    let mut entry = Entry::new(chart, configuration, set);
    for &transition in enabled {
        if let Some(arrow) = chart.arrow(transition)
            && let Some(domain) = arrow.domain
        {
            entry.targets(arrow.targets, domain, MAX_HOPS);
            entry.set.transitions += 1;
        }
    }
    enter(chart, configuration, set, content, observer)
}

/// Enters the states in document order.
/// Each state becomes active, then its entry actions run, then a final state completes its parent, then the actions of
/// its initial transition run, then those of its history's default transition.
fn enter<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    set: &EntrySet,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    let (from, to) = set.written;
    if set.transitions == 1
        && !observer.watches()
        && configuration.enter_quietly((from, &set.states, to), chart.index())
    {
        return Ok(());
    }
    for word in from..to {
        let states = set.states.get(word).copied().unwrap_or_default();
        for state in bits::states(word, states) {
            configuration.enter(chart, state);
            observer.entered(state);
            content.enter(state, configuration, observer)?;
            if chart::kind(chart, state) == Some(StateKind::Final) {
                complete(chart, configuration, state, content, observer);
            }
            if bits::contains(&set.by_default, state.index()) {
                content.begin(state, configuration, observer)?;
            }
            let mut defaults = set.defaults.iter().rev();
            if let Some(&(_, history)) = defaults.find(|row| row.0 == state) {
                content.begin(history, configuration, observer)?;
            }
        }
    }
    Ok(())
}

/// Completes the parent of a final state.
/// That completes a parallel state if it was the last region, and so on.
fn complete<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &Configuration,
    state: StateId,
    content: &mut K,
    observer: &mut O,
) {
    let Some(parent) = chart::parent(chart, state).filter(|&parent| parent != ROOT) else {
        return;
    };
    content.done(parent, observer);
    for ancestor in chart::chain(chart, parent).skip(1) {
        let parallel = chart::kind(chart, ancestor) == Some(StateKind::Parallel);
        if !parallel || !is_in_final_state(chart, configuration, ancestor, MAX_DEPTH) {
            break;
        }
        content.done(ancestor, observer);
    }
}

/// Reports whether a state is done: SCXML's `isInFinalState`.
/// A compound state is if its active child is final, a parallel one if all regions are done.
fn is_in_final_state<C: Chart>(
    chart: &C,
    configuration: &Configuration,
    state: StateId,
    depth: usize,
) -> bool {
    match chart::kind(chart, state) {
        Some(StateKind::Compound) => matches!(configuration.within(chart, state), [leaf]
        if chart.node(*leaf).is_some_and(|node| {
            node.kind == StateKind::Final && node.parent == Some(state)
        })),
        Some(StateKind::Parallel) => depth.checked_sub(1).is_some_and(|depth| {
            let mut regions = chart::regions(chart, state);
            regions.all(|region| is_in_final_state(chart, configuration, region, depth))
        }),
        _ => false,
    }
}

/// Most steps from a target down to the leaves that it stands for, histories included.
/// INVARIANT: each default entry goes deeper, and so does each default transition of a history but one a level, so this
/// bounds only rows that nobody has verified.
const MAX_HOPS: usize = 3 * MAX_DEPTH;

struct Entry<'a, C> {
    chart: &'a C,
    configuration: &'a Configuration,
    set: &'a mut EntrySet,
}

impl<'a, C: Chart> Entry<'a, C> {
    fn new(chart: &'a C, configuration: &'a Configuration, set: &'a mut EntrySet) -> Self {
        set.reset(chart.node(ROOT).map_or(0, |root| usize::from(root.end)));
        Self {
            chart,
            configuration,
            set,
        }
    }

    /// Adds the states that an entry of the targets from within `domain` enters.
    /// All targets come before what is around any of them, so that no region is entered by default that has a target in
    /// it.
    fn targets(&mut self, targets: &[StateId], domain: StateId, hops: usize) {
        for &target in targets {
            self.descendants(target, hops);
        }
        for &target in targets {
            self.ancestors(target, domain, hops);
        }
    }

    /// Adds the state and what is entered in it by default: SCXML's `addDescendantStatesToEnter`.
    /// For a history, adds what it has recorded, or what its default transition leads to.
    fn descendants(&mut self, state: StateId, hops: usize) {
        let (chart, configuration) = (self.chart, self.configuration);
        let (Some(node), Some(hops)) = (chart.node(state), hops.checked_sub(1)) else {
            return;
        };
        match node.kind {
            StateKind::History | StateKind::DeepHistory => {
                let Some(parent) = node.parent else { return };
                if let Some(recorded) = configuration.recorded(state) {
                    self.targets(recorded, parent, hops);
                } else {
                    self.set.defaults.push((parent, state));
                    self.targets(node.initial, parent, hops);
                }
            }
            StateKind::Compound => {
                self.set.insert(state, true);
                self.targets(node.initial, state, hops);
            }
            StateKind::Parallel => {
                self.set.insert(state, false);
                self.other_regions(state, hops);
            }
            StateKind::Atomic | StateKind::Final => self.set.insert(state, false),
        }
    }

    /// Adds the ancestors of the state within `domain`, with all regions of parallel ones.
    /// This is SCXML's `addAncestorStatesToEnter`.
    fn ancestors(&mut self, state: StateId, domain: StateId, hops: usize) {
        let chart = self.chart;
        let above = chart::chain(chart, state).skip(1);
        for around in above.take_while(|&around| around != domain) {
            if self.set.contains(around) {
                // It was around another target, and then so was everything around it.
                break;
            }
            self.set.insert(around, false);
            if chart::kind(chart, around) == Some(StateKind::Parallel) {
                self.other_regions(around, hops);
            }
        }
    }

    /// Adds the regions of a parallel state in which nothing is entered yet.
    fn other_regions(&mut self, parallel: StateId, hops: usize) {
        let chart = self.chart;
        for region in chart::regions(chart, parallel) {
            let end = chart.node(region).map_or(0, |node| usize::from(node.end));
            if bits::last(&self.set.states, region.index()..end).is_none() {
                self.descendants(region, hops);
            }
        }
    }
}
