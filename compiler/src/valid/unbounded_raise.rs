//! SM405: an event whose handling raises it again.

use std::collections::{BTreeMap, BTreeSet};

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{Action, Event, Machine, State, Transition};

/// Reports events that transitions without a guard raise again, over any number of steps.
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    if machine
        .actions
        .iter()
        .all(|(_, action)| action.raises.is_none())
    {
        return;
    }
    let mut raises: BTreeMap<Handle<Event>, BTreeMap<Handle<Event>, &Transition>> = BTreeMap::new();
    for (_, transition) in machine
        .transitions
        .iter()
        .filter(|(_, transition)| transition.guard.is_none())
    {
        for raised in raised_by(machine, transition) {
            for &event in &transition.triggers {
                raises
                    .entry(event)
                    .or_default()
                    .entry(raised)
                    .or_insert(transition);
            }
        }
    }
    let mut reported: BTreeSet<Handle<Event>> = BTreeSet::new();
    for (&event, nexts) in &raises {
        let comes_back = reachable(&raises, event);
        if comes_back.contains(&event) && !reported.contains(&event) {
            reported.extend(comes_back);
            if let Some(transition) = nexts.values().next() {
                diags.push(unbounded_raise(machine, event, transition));
            }
        }
    }
}

/// The events that a transition raises: by its own actions, and on entering where it leads.
fn raised_by(machine: &Machine, transition: &Transition) -> BTreeSet<Handle<Event>> {
    let mut actions: Vec<Handle<Action>> = transition.actions.clone();
    if let Some(target) = transition.target {
        let mut entered: Vec<Handle<State>> = machine
            .ancestry(target)
            .take_while(|&state| {
                !machine.is_within(transition.source, state) || state == transition.source
            })
            .collect();
        let leaf = machine.default_leaf(target).unwrap_or(target);
        entered.extend(machine.ancestry(leaf).take_while(|&state| state != target));
        for state in entered {
            actions.extend(&machine.states.at(state).entry);
        }
    }
    actions
        .iter()
        .filter_map(|&action| machine.actions.at(action).raises)
        .collect()
}

fn reachable(
    raises: &BTreeMap<Handle<Event>, BTreeMap<Handle<Event>, &Transition>>,
    from: Handle<Event>,
) -> BTreeSet<Handle<Event>> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(event) = open.pop() {
        for &next in raises.get(&event).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

fn unbounded_raise(machine: &Machine, event: Handle<Event>, transition: &Transition) -> Diagnostic {
    let id = &machine.events.at(event).id;
    Diagnostic::new(
        Code::UnboundedRaise,
        transition.span,
        format!("handling `{id}` may raise `{id}` again, without end"),
    )
    .label("no guard stops it")
    .note("a step that doesn't come to rest within 1,000 microsteps is undone")
    .help("give the transition a guard, or raise another event")
}
