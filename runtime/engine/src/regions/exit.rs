//! Exits: SCXML's `exitStates` and `computeExitSet`.

use super::Content;
use crate::chart::Chart;
use crate::configuration::Configuration;
use crate::error::StepError;
use crate::host::Observer;
use crate::id::TransitionId;
use crate::scratch::Undo;

/// Exits what is active within the domains of the transitions, in reverse document order.
/// Histories record it before. A state is active while its exit actions run.
pub(super) fn exit_states<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    enabled: &[TransitionId],
    undo: &mut Undo,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    let domains = enabled.iter().rev().filter_map(|&transition| {
        let domain = chart.arrow(transition)?.domain?;
        Some((domain, chart.node(domain)?.end))
    });
    for below in domains.clone() {
        chart.index().histories(below, |parent, history, is_deep| {
            configuration.remember(chart, (parent, history, is_deep), undo);
        });
    }
    for (domain, end) in domains {
        if !observer.watches() && configuration.leave_quietly((domain, end), chart.index().exit) {
            continue;
        }
        let mut end = end;
        while let Some(state) = configuration.last_active(domain, end) {
            content.exit(state, configuration, observer)?;
            configuration.leave(chart, state);
            observer.exited(state);
            end = state.raw();
        }
    }
    Ok(())
}
