//! Exit of states: SCXML's `exitStates` and `computeExitSet`.

use alloc::vec::Vec;

use super::Content;
use crate::chart::{self, Chart};
use crate::configuration::Configuration;
use crate::error::StepError;
use crate::host::Observer;
use crate::id::{StateId, TransitionId};
use crate::table::sections::StateKind;

/// Exits what is active within the domains of the transitions, in reverse document order.
/// Histories record it before. A state is active while its exit actions run.
pub(super) fn exit_states<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    enabled: &[TransitionId],
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    let exits = exit_set(chart, configuration, enabled);
    for &state in &exits {
        record(chart, configuration, state);
    }
    for &state in exits.iter().rev() {
        content.exit(state, configuration, observer)?;
        configuration.leave(chart, state);
        observer.exited(state);
    }
    Ok(())
}

/// Returns what is left, in document order.
fn exit_set<C: Chart>(
    chart: &C,
    configuration: &Configuration,
    enabled: &[TransitionId],
) -> Vec<StateId> {
    let mut exits = Vec::new();
    for &transition in enabled {
        let Some(domain) = chart.arrow(transition).and_then(|arrow| arrow.domain) else {
            continue;
        };
        let mut before = None;
        for &leaf in configuration.within(chart, domain) {
            // What is around the leaf before this one is in the set already.
            let seen = |state: StateId| before.is_some_and(|before| state < before);
            let inside = chart::chain(chart, leaf);
            exits.extend(inside.take_while(|&state| state != domain && !seen(state)));
            before = Some(leaf);
        }
    }
    exits.sort_unstable();
    exits
}

/// Records what is active in a state that is exited, for each of its histories.
fn record<C: Chart>(chart: &C, configuration: &mut Configuration, state: StateId) {
    let has_children = chart::kind(chart, state).is_some_and(StateKind::has_children);
    if !has_children {
        return;
    }
    for (history, node) in chart::children(chart, state) {
        let states = match node.kind {
            StateKind::DeepHistory => configuration.within(chart, state).to_vec(),
            StateKind::History => {
                let children = chart::regions(chart, state);
                children
                    .filter(|&child| configuration.is_active_in(chart, child))
                    .collect()
            }
            _ => continue,
        };
        configuration.remember(history, states);
    }
}
