//! What is entered: SCXML's `enterStates` and `computeEntrySet`.

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

/// What is entered, in document order.
#[derive(Debug, Default)]
struct EntrySet {
    /// The states, and whether they are entered by default, so that the actions of their initial transitions run: SCXML's
    /// `statesToEnter` and `statesForDefaultEntry`.
    states: BTreeMap<StateId, bool>,
    /// The histories that have recorded nothing, by their parents; the actions of their default transitions run if those
    /// are entered: SCXML's `defaultHistoryContent`.
    defaults: BTreeMap<StateId, StateId>,
}

/// Enters the initial configuration. The root is active already, and its initial transition's actions are done.
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

/// In document order: each state becomes active, then its entry actions run, then what its being final completes, then
/// the actions of its initial transition, then those of its history's default transition.
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

/// A final state completes its parent; that completes the parallel state around it if it was the last region, and so on.
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
    for around in chart::chain(chart, parent).skip(1) {
        let parallel = chart::kind(chart, around) == Some(StateKind::Parallel);
        if !parallel || !is_in_final_state(chart, configuration, around, MAX_DEPTH) {
            break;
        }
        content.done(around, observer);
    }
}

/// SCXML's `isInFinalState`: of a compound state its active child is final, of a parallel one all regions are done.
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

/// Most steps from a target down to the leaves that it stands for, histories included. INVARIANT: each default entry goes
/// deeper, and so does each default transition of a history but one a level, so this bounds only rows that nobody has
/// verified.
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

    /// What entering the targets from within `domain` enters. All targets come before what is around any of them, so that
    /// no region is entered by default that has a target in it.
    fn targets(&mut self, targets: &[StateId], domain: StateId, hops: usize) {
        for &target in targets {
            self.descendants(target, hops);
        }
        for &target in targets {
            self.ancestors(target, domain, hops);
        }
    }

    /// SCXML's `addDescendantStatesToEnter`: the state and what is entered in it by default; of a history what it has
    /// recorded, or what its default transition leads to.
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

    /// SCXML's `addAncestorStatesToEnter`: what is around the state within `domain`, and of parallel ones all regions.
    fn ancestors(&mut self, state: StateId, domain: StateId, hops: usize) {
        let chart = self.chart;
        let above = chart::chain(chart, state).skip(1);
        for around in above.take_while(|&around| around != domain) {
            if self.set.states.contains_key(&around) {
                // It was around another target, and then so was all that is around it.
                break;
            }
            self.set.states.insert(around, false);
            if chart::kind(chart, around) == Some(StateKind::Parallel) {
                self.other_regions(around, hops);
            }
        }
    }

    /// The regions of a parallel state in which nothing is entered yet.
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
