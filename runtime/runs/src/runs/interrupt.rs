//! Detours: a change of a file moves the run where its interrupt says, and back.

use serde_json::Value;
use statemark_runtime::StateId;

use super::RunError;
use super::draft::{Draft, spent};
use crate::body::{Body, Cause, Event, Queued};
use crate::glob;
use crate::state::RunState;
use crate::workflow::Workflow;

/// The target of an interrupt that returns from the last detour.
const RETURN: &str = "$return";

impl Draft {
    /// Files were changed: the interrupts that wait for one of them move the run, each once.
    pub(super) fn changed(&mut self, files: &[String]) -> Result<(), RunError> {
        let workflow = std::sync::Arc::clone(&self.loaded().workflow);
        let interrupts = workflow.meta().get("interrupts").and_then(Value::as_object);
        for (name, interrupt) in interrupts.into_iter().flatten() {
            let text = |key: &str| interrupt.get(key).and_then(Value::as_str);
            let (Some(pattern), Some(target)) = (text("file_pattern"), text("target")) else {
                continue;
            };
            let Some(path) = files.iter().find(|path| glob::matches_path(pattern, path)) else {
                continue;
            };
            if target == RETURN && self.state().detours.is_empty() {
                continue;
            }
            // Work that goes on where the interrupt leads doesn't lead there anew.
            if self.state().is_active(target) || self.state().status().is_over() {
                continue;
            }
            if self.state().is_held() {
                let cause = cause(name, path, target);
                let event = event(name);
                if !self.state().queue.iter().any(|it| it.event == event) {
                    let data = None;
                    self.push(Body::Queued(Queued { event, data, cause }))?;
                }
            } else {
                self.interrupt(name, path)?;
            }
        }
        Ok(())
    }

    /// Moves the run where an interrupt says.
    pub(super) fn interrupt(&mut self, name: &str, path: &str) -> Result<(), RunError> {
        let workflow = std::sync::Arc::clone(&self.loaded().workflow);
        let target = target(&workflow, name);
        let names = leads(&workflow, self.state(), name, target == RETURN);
        let states = states(&workflow, &names);
        let event = event(name);
        let step = if states.is_empty() {
            self.unmoved()
        } else {
            self.jump(&states)?
        };
        if let Some((state, most)) = spent(&self.loaded().workflow, self.state(), &step) {
            let cause = cause(name, path, target);
            return self.stop_at(&state, most, &event, None, cause);
        }
        self.push(Body::Event(Event {
            event,
            data: None,
            claims: Vec::new(),
            cause: Some(cause(name, path, target)),
            step,
        }))
    }
}

/// Returns its event in the journal. No machine has it: a name ends where a space begins.
pub(super) fn event(interrupt: &str) -> String {
    format!("interrupt {interrupt}")
}

fn cause(interrupt: &str, path: &str, target: &str) -> Cause {
    Cause::Interrupt {
        interrupt: interrupt.to_owned(),
        path: path.to_owned(),
        returns: target == RETURN,
    }
}

/// Returns the target of an interrupt by its definition.
fn target<'w>(workflow: &'w Workflow, interrupt: &str) -> &'w str {
    let interrupts = workflow.meta().get("interrupts");
    let target = interrupts.and_then(|it| it.get(interrupt)?.get("target")?.as_str());
    target.unwrap_or(RETURN)
}

/// Reports whether a definition has the interrupt, and it returns or doesn't.
pub(super) fn is_known(workflow: &Workflow, interrupt: &str, returns: bool) -> bool {
    let known = workflow.meta().get("interrupts");
    let known = known.is_some_and(|it| it.get(interrupt).is_some());
    known && (target(workflow, interrupt) == RETURN) == returns
}

/// Returns the states that an interrupt enters: those that the last detour left, or its target.
pub(super) fn leads(
    workflow: &Workflow,
    state: &RunState,
    interrupt: &str,
    returns: bool,
) -> Vec<String> {
    if returns {
        return state.detours.last().cloned().unwrap_or_default();
    }
    vec![target(workflow, interrupt).to_owned()]
}

/// Returns the states with these names.
pub(super) fn states(workflow: &Workflow, names: &[String]) -> Vec<StateId> {
    let table = workflow.table();
    names
        .iter()
        .filter_map(|it| table.state_named(it))
        .collect()
}
