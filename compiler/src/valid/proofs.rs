//! What is certain of a machine that was checked: claims, each with what it rests on and what shows it.
//!
//! [`proofs`] steps the machine through all configurations that it can rest in (`explore`), which is what most claims are
//! read from; where that is too much, what the checks know of reachability still denies some of them, and of the rest
//! nothing is claimed. A claim `holds` only where that was shown, and it names what it takes for granted.
//!
//! Deliberately not here: what a machine should be like, which is the checks' to say. A claim that fails is a fact: a
//! controller that never ends is none the worse for it.

mod ends;
mod explore;
mod free;
mod guards;
mod moves;
mod order;
mod play;
mod reached;
mod regions;
mod rest;

use serde::Serialize;

use super::Valid;
use crate::arena::Handle;
use crate::ir::{Action, ActionKind, EventKind, Machine, State, StateKind};
use crate::pass::reach::Reach;
use explore::{Explored, Stimulus, explore};

/// A claim about a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Its name, which stays: `can-end`.
    pub claim: &'static str,
    /// The claim as one sentence, without a full stop.
    pub text: &'static str,
    /// What was found.
    pub verdict: Judgment,
    /// Why it isn't known, or what speaks against it; of some that hold, what shows it.
    pub why: Option<String>,
    /// What it rests on.
    pub assumes: Vec<&'static str>,
    /// What shows it.
    pub witness: Option<Witness>,
}

/// What was found about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgment {
    /// It was shown.
    Holds,
    /// The contrary was shown.
    Fails,
    /// Neither.
    Unknown,
}

/// What shows a claim or its contrary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// Events that lead there from the start, by their ids; a timer is named by its event (`after.paid.1`). Each is taken
    /// if the guards on its way answer as they have to; of a timer it may be what matters that nothing takes it, since it
    /// doesn't come again.
    pub events: Vec<String>,
    /// The states it is about, by their ids: where the events lead, or what can't be reached.
    pub states: Vec<String>,
}

/// The claims about a machine, in an order that stays. Those that mean nothing for it (of regions, where it has none) are
/// left out.
///
/// ```
/// use statemark_compiler::valid::{Judgment, proofs};
/// use statemark_compiler::{Options, compile, source::Sources};
///
/// let mut sources = Sources::new();
/// sources.add("door.mmd", "stateDiagram-v2\n[*] --> shut\nshut --> open : push\nopen --> [*] : leave");
/// let compiled = compile(&sources, &Options::default());
/// let all = proofs(&compiled.machines[0]);
/// let end = all.iter().find(|proof| proof.claim == "can-end").unwrap();
/// assert_eq!(end.verdict, Judgment::Holds);
/// assert_eq!(end.witness.as_ref().unwrap().events, ["push", "leave"]);
/// ```
#[must_use]
pub fn proofs(valid: &Valid) -> Vec<Proof> {
    let case = Case {
        machine: valid,
        reach: Reach::of(valid),
        explored: explore(valid),
    };
    [
        reached::states(&case),
        reached::transitions(&case),
        ends::can_end(&case),
        ends::can_always_end(&case),
        moves::never_stuck(&case),
        rest::comes_to_rest(&case),
        order::unambiguous(&case),
        regions::can_complete(&case),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What claims are read from.
struct Case<'m> {
    machine: &'m Machine,
    reach: Reach,
    explored: Explored,
}

/// What was found about a claim, before it is put with the claim.
struct Found {
    verdict: Judgment,
    why: Option<String>,
    witness: Option<Witness>,
}

impl Found {
    fn holds() -> Self {
        Self {
            verdict: Judgment::Holds,
            why: None,
            witness: None,
        }
    }

    fn fails(why: impl Into<String>) -> Self {
        Self {
            verdict: Judgment::Fails,
            why: Some(why.into()),
            witness: None,
        }
    }

    fn unknown(why: impl Into<String>) -> Self {
        Self {
            verdict: Judgment::Unknown,
            why: Some(why.into()),
            witness: None,
        }
    }

    fn shown_by(self, witness: Witness) -> Self {
        Self {
            witness: Some(witness),
            ..self
        }
    }

    fn claim(self, claim: &'static str, text: &'static str, assumes: Vec<&'static str>) -> Proof {
        Proof {
            claim,
            text,
            verdict: self.verdict,
            why: self.why,
            assumes,
            witness: self.witness,
        }
    }
}

impl Case<'_> {
    /// What every claim about what can happen rests on, as far as the machine has any of it.
    fn possibly(&self) -> Vec<&'static str> {
        let machine = self.machine;
        let mut assumes = vec!["events come in any order"];
        if !machine.timers.is_empty() {
            assumes.push("any timer that runs may be the next to be over");
        }
        if self.asks() {
            assumes.push("every guard can hold and can fail, whatever the others do");
        }
        let has = |is: fn(&ActionKind) -> bool| {
            let mut actions = machine.actions.iter();
            actions.any(|(_, action): (_, &Action)| is(&action.kind))
        };
        let mut events = machine.events.iter();
        let faults = events.any(|(_, event)| event.kind == EventKind::Fault);
        if !faults && has(|kind| matches!(kind, ActionKind::Assign(_))) {
            assumes.push("assignments have values");
        } else if faults && has(|kind| matches!(kind, ActionKind::Assign(_))) {
            assumes.push("every assignment can have a value and can have none");
        }
        let mut transitions = machine.transitions.iter();
        if transitions.any(|(_, it)| it.meta.contains_key("requires_approval")) {
            assumes.push("people give the approvals that are asked of them");
        }
        // What keeps a run from taking what the machine would take.
        let mut states = machine.states.iter();
        if states.any(|(_, it)| it.meta.contains_key("max_visits")) {
            assumes.push("no state is entered more often than it may be");
        }
        let mut states = machine.states.iter();
        if states.any(|(_, it)| it.meta.contains_key("requires")) {
            assumes.push("what states require is there");
        }
        assumes
    }

    /// Whether anything in the machine is decided by a guard.
    fn asks(&self) -> bool {
        let mut transitions = self.machine.transitions.iter();
        let mut actions = self.machine.actions.iter();
        transitions.any(|(_, transition)| transition.guard.is_some())
            || actions.any(|(_, action)| matches!(action.kind, ActionKind::If { .. }))
    }

    /// Why nothing more is known, where the search wasn't whole.
    fn limit(&self) -> Found {
        let count = self.explored.nodes.len();
        Found::unknown(format!(
            "there is more that it can do than is gone through: the search ended after {count} configurations"
        ))
    }

    /// Why nothing more is known, where the search wasn't whole or there is what it doesn't go through.
    fn unfollowed(&self) -> Found {
        if self.explored.is_whole {
            Found::unknown("interrupts may lead elsewhere, and they aren't followed")
        } else {
            self.limit()
        }
    }

    /// Whether file edits lead to states by no transition.
    fn has_interrupts(&self) -> bool {
        !self.machine.interrupts.is_empty()
    }

    /// A node for a sentence. What sets it apart from another in the same states may be that a timer is over.
    fn place(&self, node: usize) -> String {
        let leaves = self.list(&self.explored.leaves(node));
        match self.explored.nodes.get(node) {
            Some(node) if node.is_over => {
                format!("{leaves} once a timer is over that wasn't taken")
            }
            _ => leaves,
        }
    }

    /// Where a node is, and how it is reached.
    fn witness(&self, node: usize) -> Witness {
        let way = self.explored.way(node).into_iter();
        Witness {
            events: way.map(|stimulus| self.event_of(stimulus)).collect(),
            states: self.ids(self.explored.leaves(node)),
        }
    }

    fn event_of(&self, stimulus: Stimulus) -> String {
        let machine = self.machine;
        let event = match stimulus {
            Stimulus::Send(event) => Handle::at(event.index()),
            Stimulus::Elapse(timer) => machine.timers.at(Handle::at(timer.index())).event,
        };
        machine.events.at(event).id.clone()
    }

    fn ids(&self, states: impl IntoIterator<Item = Handle<State>>) -> Vec<String> {
        let states = states.into_iter();
        states
            .map(|state| self.machine.states.at(state).id.clone())
            .collect()
    }

    /// States for a sentence: `` `a`, `b` and 3 more ``.
    fn list(&self, states: &[Handle<State>]) -> String {
        several(states.iter().map(|&state| name(self.machine, state)))
    }
}

/// Most items that a sentence names. Unit: items. Why: the witness has them all.
const MOST_NAMED: usize = 5;

/// `a, b and c`; `a, b, c, d, e and 3 more`.
fn several(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(MOST_NAMED);
    let mut items: Vec<String> = items.take(MOST_NAMED).collect();
    if more > 0 {
        items.push(format!("{more} more"));
    }
    match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// A state for a sentence. What a `[*]` stands for has a name that its author never wrote.
fn name(machine: &Machine, state: Handle<State>) -> String {
    let found = machine.states.at(state);
    if !found.implied || found.kind != StateKind::Final {
        return format!("`{}`", found.id);
    }
    match found.parent.filter(|&parent| parent != machine.root()) {
        Some(parent) => format!("the end of `{}`", machine.states.at(parent).id),
        None => "`[*]`".to_owned(),
    }
}

/// Whether a state ends the machine.
fn is_end(machine: &Machine, state: Handle<State>) -> bool {
    let found = machine.states.at(state);
    found.kind == StateKind::Final && found.parent == Some(machine.root())
}
