//! Selection of transitions.
//! It is SCXML's `selectTransitions`, `selectEventlessTransitions` and `removeConflictingTransitions`.

use alloc::vec::Vec;

use crate::chart::{self, Chart};
use crate::configuration::Configuration;
use crate::id::{EventId, StateId, TransitionId};

/// Returns the transitions that the event, or `EVENTLESS`, takes in the configuration.
/// They are in the order of the leaves that they were selected for. `holds` says whether a transition's guard does, and
/// is asked of each once.
pub(crate) fn select<C: Chart>(
    chart: &C,
    configuration: &Configuration,
    event: EventId,
    holds: &mut impl FnMut(TransitionId) -> bool,
) -> Vec<TransitionId> {
    let mut enabled = Vec::new();
    // The states around the leaf that were asked for a leaf before it, and what they said.
    let mut asked: Vec<(StateId, bool)> = Vec::new();
    for leaf in configuration.leaves() {
        asked.retain(|&(state, _)| chart::is_descendant(chart, leaf, state));
        for state in chart::chain(chart, leaf) {
            let known = asked.iter().find(|&&(other, _)| other == state);
            let taken = match known {
                // If it has one, it is selected already.
                Some(&(_, taken)) => taken,
                None => {
                    let mut triggered = chart.triggered(state, event);
                    let found = triggered.find(|&transition| holds(transition));
                    enabled.extend(found);
                    asked.push((state, found.is_some()));
                    found.is_some()
                }
            };
            if taken {
                break;
            }
        }
    }
    if enabled.len() > 1 {
        remove_conflicting(chart, &mut enabled);
    }
    enabled
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
