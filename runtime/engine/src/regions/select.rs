//! The selection of transitions.
//!
//! It is SCXML's `selectTransitions`, `selectEventlessTransitions` and `removeConflictingTransitions`.

use alloc::vec::Vec;

use crate::chart::{self, Chart};
use crate::configuration::Configuration;
use crate::id::{EventId, StateId, TransitionId};
use crate::scratch::{Answer, Selection};

/// Selects the transitions that the event takes in the configuration.
///
/// Eventless transitions are those of [`EVENTLESS`](crate::chart::EVENTLESS).
///
/// For each leaf the innermost state around it that has an enabled transition gives its first one. `holds` says whether a
/// transition's guard does; each guard is asked once, for the first leaf that its state is around.
#[inline]
pub(crate) fn select<C: Chart>(
    chart: &C,
    configuration: &Configuration,
    event: EventId,
    selection: &mut Selection,
    mut holds: impl FnMut(TransitionId) -> bool,
) {
    let Selection { enabled, sources } = selection;
    enabled.clear();
    sources.clear();
    chart
        .index()
        .sources(configuration.active(), event, |state| {
            sources.push((state, Answer::NotAsked));
        });
    let mut ask = |state| chart.triggered(state, event).find(|&it| holds(it));
    if are_apart(chart, sources) {
        // Each is the innermost for the leaves in it, so that the order of leaves is document order.
        enabled.extend(sources.iter().filter_map(|&(state, _)| ask(state)));
    } else {
        select_by_leaf(chart, configuration, sources, enabled, ask);
    }
    if enabled.len() > 1 && !have_disjoint_domains(chart, enabled) {
        remove_conflicting(chart, enabled);
    }
}

/// Returns whether no state is around another one. They are in document order.
#[inline]
fn are_apart<C: Chart>(chart: &C, sources: &[(StateId, Answer)]) -> bool {
    let ends = sources.iter().map(|&(state, _)| end_of(chart, state));
    let next = sources.iter().skip(1);
    ends.zip(next).all(|(end, &(state, _))| state.raw() >= end)
}

fn end_of<C: Chart>(chart: &C, state: StateId) -> u16 {
    chart.node(state).map_or(0, |node| node.end)
}

/// Asks for each leaf the states around it, innermost first, until one has an enabled transition.
fn select_by_leaf<C: Chart>(
    chart: &C,
    configuration: &Configuration,
    sources: &mut [(StateId, Answer)],
    enabled: &mut Vec<TransitionId>,
    mut ask: impl FnMut(StateId) -> Option<TransitionId>,
) {
    for leaf in configuration.leaves() {
        for (state, answer) in sources.iter_mut().rev() {
            if *state > leaf || leaf.raw() >= end_of(chart, *state) {
                continue;
            }
            if *answer == Answer::NotAsked {
                let found = ask(*state);
                enabled.extend(found);
                *answer = found.map_or(Answer::Nothing, |_| Answer::Selected);
            }
            if *answer == Answer::Selected {
                break;
            }
        }
    }
}

/// Reports whether the transitions' domains are disjoint subtrees in document order.
#[inline]
fn have_disjoint_domains<C: Chart>(chart: &C, enabled: &[TransitionId]) -> bool {
    let arrows = enabled.iter().filter_map(|&it| chart.arrow(it));
    let mut domains = arrows.filter_map(|arrow| arrow.domain);
    let mut end = 0;
    domains.all(|domain| {
        let is_later = domain.raw() >= end;
        end = end_of(chart, domain);
        is_later
    })
}

/// Removes conflicting transitions: SCXML's `removeConflictingTransitions`.
/// Of two transitions that would exit a state in common, the one with the inner source stays, else the one that was
/// selected first.
///
/// Two transitions have a state in common if and only if the domain of one is, or is around, the domain of the other:
/// domains are active and are left empty. Those that stay have domains apart from one another, which stand in document
/// order as the leaves do; so a conflict is with the last of them. It can be with more, but then with one whose source
/// isn't around the new one's, which decides.
fn remove_conflicting<C: Chart>(chart: &C, enabled: &mut Vec<TransitionId>) {
    let mut kept: Vec<Option<TransitionId>> = Vec::with_capacity(enabled.len());
    // Of those that leave something: the place among the kept, the source and the domain.
    let mut leaving: Vec<(usize, StateId, StateId)> = Vec::new();
    for &transition in enabled.iter() {
        let Some(arrow) = chart.arrow(transition) else {
            continue;
        };
        let Some(domain) = arrow.domain else {
            kept.push(Some(transition));
            continue;
        };
        let conflicts = |&(_, _, other): &(usize, StateId, StateId)| {
            other == domain
                || chart::is_descendant(chart, other, domain)
                || chart::is_descendant(chart, domain, other)
        };
        let mut latest = leaving.iter().rev();
        let one = latest.next().filter(|it| conflicts(it)).copied();
        let more = latest.next().is_some_and(conflicts);
        match one {
            None => {}
            Some((at, source, _)) if !more && chart::is_descendant(chart, arrow.source, source) => {
                leaving.pop();
                if let Some(place) = kept.get_mut(at) {
                    *place = None;
                }
            }
            Some(_) => continue,
        }
        leaving.push((kept.len(), arrow.source, domain));
        kept.push(Some(transition));
    }
    enabled.clear();
    enabled.extend(kept.into_iter().flatten());
}
