//! The facts that properties are read from, and their words.

use super::concrete::{StateSpace, Stimulus};
use super::{Judgment, Proof, Witness};
use crate::arena::Handle;
use crate::ir::{Action, ActionKind, EventKind, Machine, State, StateKind};
use crate::pass::reach::Reachability;

/// The facts that properties are read from.
pub(super) struct Evidence<'m> {
    pub(super) machine: &'m Machine,
    pub(super) reach: Reachability,
    pub(super) space: StateSpace,
}

/// A verdict that isn't joined with its property yet.
pub(super) struct Finding {
    verdict: Judgment,
    why: Option<String>,
    witness: Option<Witness>,
}

impl Finding {
    pub(super) fn holds() -> Self {
        Self {
            verdict: Judgment::Holds,
            why: None,
            witness: None,
        }
    }

    pub(super) fn fails(why: impl Into<String>) -> Self {
        Self {
            verdict: Judgment::Fails,
            why: Some(why.into()),
            witness: None,
        }
    }

    pub(super) fn unknown(why: impl Into<String>) -> Self {
        Self {
            verdict: Judgment::Unknown,
            why: Some(why.into()),
            witness: None,
        }
    }

    pub(super) fn with_witness(self, witness: Witness) -> Self {
        Self {
            witness: Some(witness),
            ..self
        }
    }

    pub(super) fn into_proof(
        self,
        property: &'static str,
        text: &'static str,
        assumes: Vec<&'static str>,
    ) -> Proof {
        Proof {
            property,
            text,
            verdict: self.verdict,
            why: self.why,
            assumes,
            witness: self.witness,
        }
    }
}

impl Evidence<'_> {
    /// Returns the assumptions behind every property about behavior that concern this machine.
    pub(super) fn assumptions(&self) -> Vec<&'static str> {
        let machine = self.machine;
        let mut assumes = vec!["events arrive in any order"];
        if !machine.timers.is_empty() {
            assumes.push("any running timer can fire next");
        }
        if self.has_guards() {
            assumes.push("every guard can be true or false, independently of the others");
        }
        let is_assign = |(_, action): (_, &Action)| matches!(action.kind, ActionKind::Assign(_));
        if machine.actions.iter().any(is_assign) {
            let mut events = machine.events.iter();
            let faults = events.any(|(_, event)| event.kind == EventKind::Fault);
            assumes.push(match faults {
                true => "every assignment may yield a value or none",
                false => "every assignment yields a value",
            });
        }
        let fails = |(_, action): (_, &Action)| action.kind == ActionKind::Fallible;
        if machine.actions.iter().any(fails) {
            assumes.push("no action fails");
        }
        let mut transitions = machine.transitions.iter();
        if transitions.any(|(_, transition)| transition.meta.contains_key("requires_approval")) {
            assumes.push("requested approvals are granted");
        }
        // Limits that a run enforces and the machine doesn't know.
        let state_has = |key| {
            let mut states = machine.states.iter();
            states.any(|(_, state)| state.meta.contains_key(key))
        };
        if state_has("max_visits") {
            assumes.push("no state reaches its `max_visits`");
        }
        if state_has("requires") {
            assumes.push("everything that states require is provided");
        }
        assumes
    }

    /// Reports whether any guard decides anything in the machine.
    fn has_guards(&self) -> bool {
        let mut transitions = self.machine.transitions.iter();
        let mut actions = self.machine.actions.iter();
        transitions.any(|(_, transition)| transition.guard.is_some())
            || actions.any(|(_, action)| matches!(action.kind, ActionKind::If { .. }))
    }

    /// Reports whether everything that the machine can do was explored.
    pub(super) fn is_exhaustive(&self) -> bool {
        self.space.has_met_everything() && !self.has_interrupts()
    }

    /// Reports whether file edits can lead to states without a transition.
    pub(super) fn has_interrupts(&self) -> bool {
        !self.machine.interrupts.is_empty()
    }

    /// Returns the finding for a search that stopped at its limit.
    pub(super) fn too_large(&self) -> Finding {
        let count = self.space.nodes.len();
        Finding::unknown(format!(
            "state space too large: search stopped after {count} configurations"
        ))
    }

    /// Returns the finding for a search that stopped at its limit, or that left interrupts out.
    pub(super) fn not_exhaustive(&self) -> Finding {
        if self.space.has_met_everything() {
            Finding::unknown("interrupts aren't explored, and may lead elsewhere")
        } else {
            self.too_large()
        }
    }

    /// Describes a node by its active states.
    ///
    /// A node that differs from another only by a timer that has fired says so.
    pub(super) fn describe_node(&self, node: usize) -> String {
        let leaves = self.describe_states(&self.space.leaves(node));
        match self.space.nodes.get(node) {
            Some(node) if node.after_unhandled_timer => {
                format!("{leaves} after a timer that nothing handled")
            }
            _ => leaves,
        }
    }

    /// Returns the witness of a node: its states, and how it is reached.
    pub(super) fn witness(&self, node: usize) -> Witness {
        let path = self.space.path_to(node).into_iter();
        Witness {
            events: path.map(|stimulus| self.event_id(stimulus)).collect(),
            states: self.ids(self.space.leaves(node)),
        }
    }

    pub(super) fn event_id(&self, stimulus: Stimulus) -> String {
        let event = stimulus.event(self.machine);
        self.machine.events.at(event).id.clone()
    }

    pub(super) fn ids(&self, states: impl IntoIterator<Item = Handle<State>>) -> Vec<String> {
        let states = states.into_iter();
        states
            .map(|state| self.machine.states.at(state).id.clone())
            .collect()
    }

    /// Lists states: `` `a`, `b` and 3 more ``.
    pub(super) fn describe_states(&self, states: &[Handle<State>]) -> String {
        join(states.iter().map(|&state| state_name(self.machine, state)))
    }
}

/// Most items that a sentence names. Unit: items. Why: the witness has them all.
const MOST_NAMED: usize = 5;

/// Joins items as `a, b and c`, or `a, b, c, d, e and 3 more`.
pub(super) fn join(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(MOST_NAMED);
    let mut items: Vec<String> = items.take(MOST_NAMED).collect();
    if more > 0 {
        items.push(format!("{more} more"));
    }
    statemark_text::list::join(&items, "and")
}

/// Names a state. The final state of a `[*]` has an id that its author never wrote.
pub(super) fn state_name(machine: &Machine, handle: Handle<State>) -> String {
    let state = machine.states.at(handle);
    if !state.implied || state.kind != StateKind::Final {
        return format!("`{}`", state.id);
    }
    match state.parent.filter(|&parent| parent != machine.root()) {
        Some(parent) => format!("the end of `{}`", machine.states.at(parent).id),
        None => "`[*]`".to_owned(),
    }
}
