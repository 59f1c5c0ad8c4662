//! Entry of states: SCXML's `enterStates` and `computeEntrySet`.

use alloc::collections::BTreeMap;

use super::Content;
use crate::chart::{self, Chart};
use crate::configuration::Configuration;
use crate::error::StepError;
use crate::host::Observer;
use crate::id::{StateId, TransitionId};
use crate::limits::MAX_DEPTH;
use crate::table::ROOT;
use crate::table::sections::StateKind;

/// The states to enter, in document order.
#[derive(Debug, Default)]
struct EntrySet {
    /// The states, each with its way of entry: SCXML's `statesToEnter` and `statesForDefaultEntry`.
    /// It is true for a state that is entered by default, whose initial transition's actions run.
    states: BTreeMap<StateId, bool>,
    /// The histories without a record, by their parents: SCXML's `defaultHistoryContent`.
    /// The actions of their default transitions run if the parents are entered.
    defaults: BTreeMap<StateId, StateId>,
}

/// Enters the initial configuration.
/// The root is active already, and its initial transition's actions are done.
pub(super) fn initial_states<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    let mut entry = Entry::new(chart, configuration);
    let initial = chart.node(ROOT).map_or(&[][..], |node| node.initial);
    entry.targets(initial, ROOT, MAX_HOPS);
    let set = entry.set;
    enter(chart, configuration, &set, content, observer)
}

/// Enters what the transitions lead to.
pub(super) fn enter_states<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    enabled: &[TransitionId],
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    let mut entry = Entry::new(chart, configuration);
    for &transition in enabled {
        if let Some(arrow) = chart.arrow(transition)
            && let Some(domain) = arrow.domain
        {
            entry.targets(arrow.targets, domain, MAX_HOPS);
        }
    }
    let set = entry.set;
    enter(chart, configuration, &set, content, observer)
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
    for (&state, &default) in &set.states {
        configuration.enter(chart, state);
        observer.entered(state);
        content.enter(state, configuration, observer)?;
        if chart::kind(chart, state) == Some(StateKind::Final) {
            complete(chart, configuration, state, content, observer);
        }
        if default {
            content.begin(state, configuration, observer)?;
        }
        if let Some(&history) = set.defaults.get(&state) {
            content.begin(history, configuration, observer)?;
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
    set: EntrySet,
}

impl<'a, C: Chart> Entry<'a, C> {
    fn new(chart: &'a C, configuration: &'a Configuration) -> Self {
        Self {
            chart,
            configuration,
            set: EntrySet::default(),
        }
    }

    /// Returns what entering the targets from within `domain` enters.
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
                    self.set.defaults.insert(parent, state);
                    self.targets(node.initial, parent, hops);
                }
            }
            StateKind::Compound => {
                self.set.states.insert(state, true);
                self.targets(node.initial, state, hops);
            }
            StateKind::Parallel => {
                self.set.states.entry(state).or_default();
                self.other_regions(state, hops);
            }
            StateKind::Atomic | StateKind::Final => {
                self.set.states.entry(state).or_default();
            }
        }
    }

    /// Adds the ancestors of the state within `domain`: SCXML's `addAncestorStatesToEnter`.
    /// For a parallel ancestor, adds all regions.
    fn ancestors(&mut self, state: StateId, domain: StateId, hops: usize) {
        let chart = self.chart;
        let above = chart::chain(chart, state).skip(1);
        for ancestor in above.take_while(|&ancestor| ancestor != domain) {
            if self.set.states.contains_key(&ancestor) {
                // It contains another target, and then so do its ancestors.
                break;
            }
            self.set.states.insert(ancestor, false);
            if chart::kind(chart, ancestor) == Some(StateKind::Parallel) {
                self.other_regions(ancestor, hops);
            }
        }
    }

    /// Returns the regions of a parallel state in which nothing is entered yet.
    fn other_regions(&mut self, parallel: StateId, hops: usize) {
        let chart = self.chart;
        for region in chart::regions(chart, parallel) {
            let end = StateId::new(chart.node(region).map_or(0, |node| node.end));
            let entered = region < end && self.set.states.range(region..end).next().is_some();
            if !entered {
                self.descendants(region, hops);
            }
        }
    }
}
