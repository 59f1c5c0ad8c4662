//! Checks of structure: ends, reachability, and histories that remember nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Check, Subject};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{EventKind, Machine, State, StateKind, Transition};
use crate::pass::reach::Reachability;
use crate::source::Span;

/// The checks of this file.
pub(super) const CHECKS: &[Check] = &[
    Check::Text(finals_with_transitions),
    Check::Behavior(unreachable_states),
    Check::Behavior(missing_final_state),
    Check::Behavior(no_path_to_final),
    Check::Behavior(never_completing_states),
    Check::Behavior(useless_histories),
];

/// Reports SM307: final states with transitions, which can never be taken because the parent has ended.
fn finals_with_transitions(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let leaves = machine.leaves();
    for (handle, state) in leaves.filter(|(_, state)| state.kind == StateKind::Final) {
        if let Some((_, transition)) = machine.transitions_of(handle).next() {
            diags.push(final_with_transitions(state, transition));
        }
    }
}

fn final_with_transitions(state: &State, transition: &Transition) -> Diagnostic {
    let message = format!("final state `{}` can't be left", state.id);
    Diagnostic::new(Code::FinalWithTransitions, transition.span, message)
        .label("leaves a final state")
        .related(state.span, format!("`{}` is final", state.id))
        .help("remove the transition, or the state's type `final`")
}

/// Reports SM304: states that no configuration contains.
///
/// Of nested ones only the outermost is reported, and none where an earlier finding says that it is hardly a state.
fn unreachable_states(subject: &Subject<'_>, diags: &mut Diags) {
    let (machine, reach) = (subject.machine, subject.reach());
    let mut circles = Circles::default();
    let following = following_states(subject);
    for (handle, state) in machine.named_states() {
        let is_parent_reached = state.parent.is_none_or(|parent| reach.is_active(parent));
        let is_named = !state.implied && !state.kind.is_history();
        let is_reported =
            subject.reported.explains(&state.id, state.span) || following.contains(&handle);
        if !reach.is_active(handle) && is_parent_reached && is_named && !is_reported {
            match circles.circle_of(handle, subject) {
                [] => diags.push(unreachable_state(machine, handle, state, reach)),
                [first, others @ ..] if *first == handle => {
                    let others = others.iter().map(|&other| machine.states.at(other));
                    diags.push(unreachable_circle(state, &others.collect::<Vec<_>>()));
                }
                // It is reported with the first one.
                _ => {}
            }
        }
    }
}

/// Returns the states that unreachable ones lead to of which an earlier finding says why they are.
fn following_states(subject: &Subject<'_>) -> BTreeSet<Handle<State>> {
    let (machine, reach) = (subject.machine, subject.reach());
    let explained = machine.named_states().filter(|(handle, state)| {
        let is_unreachable = !state.implied && !reach.is_active(*handle);
        is_unreachable && subject.reported.explains(&state.id, state.span)
    });
    let explained: Vec<Handle<State>> = explained.map(|(handle, _)| handle).collect();
    if explained.is_empty() {
        return BTreeSet::new();
    }
    let edges = unreachable_edges(subject);
    let following = explained
        .into_iter()
        .flat_map(|state| led_to(state, &edges));
    following.collect()
}

/// Most states of which it is asked whether they lead to each other.
///
/// Unit: states. Why: the work grows with the square, and who has so many looks for another cause.
const MOST_CIRCLED: usize = 64;

/// The circles of states that only lead to each other.
#[derive(Default)]
struct Circles {
    /// The states that each unreachable state leads to, once the first one is asked for.
    edges: Option<BTreeMap<Handle<State>, BTreeSet<Handle<State>>>>,
    found: Vec<Vec<Handle<State>>>,
}

impl Circles {
    /// Returns the states of an unreachable state's circle, ascending.
    ///
    /// There are none if it is in no circle, or something else leads into it.
    fn circle_of(&mut self, state: Handle<State>, subject: &Subject<'_>) -> &[Handle<State>] {
        let edges = self.edges.get_or_insert_with(|| unreachable_edges(subject));
        if edges.len() > MOST_CIRCLED {
            return &[];
        }
        if !self.found.iter().any(|circle| circle.contains(&state)) {
            let following = led_to(state, edges);
            let mut circle: Vec<Handle<State>> = following.iter().copied().collect();
            circle.retain(|&other| led_to(other, edges).contains(&state));
            let is_entered = edges.iter().any(|(source, targets)| {
                !circle.contains(source) && circle.iter().any(|it| targets.contains(it))
            });
            if circle.len() < 2 || is_entered {
                return &[];
            }
            self.found.push(circle);
        }
        let mut found = self.found.iter();
        found
            .find(|circle| circle.contains(&state))
            .map_or(&[], Vec::as_slice)
    }
}

/// Returns the unreachable states that each unreachable state leads to.
///
/// A nested one counts as the outermost around it that is unreachable.
fn unreachable_edges(subject: &Subject<'_>) -> BTreeMap<Handle<State>, BTreeSet<Handle<State>>> {
    let (machine, reach) = (subject.machine, subject.reach());
    let outermost = |state: Handle<State>| {
        let ancestors = machine.ancestry(state).collect::<Vec<_>>();
        ancestors.into_iter().rev().find(|&it| !reach.is_active(it))
    };
    let mut edges: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (_, transition) in machine.transitions.iter() {
        let Some(source) = outermost(transition.source) else {
            continue;
        };
        let targets = transition.targets.iter().filter_map(|&it| outermost(it));
        let targets = targets.filter(|&target| target != source);
        edges.entry(source).or_default().extend(targets);
    }
    edges
}

/// Returns a state and those that edges lead to from it.
fn led_to(
    state: Handle<State>,
    edges: &BTreeMap<Handle<State>, BTreeSet<Handle<State>>>,
) -> BTreeSet<Handle<State>> {
    let mut reached = BTreeSet::new();
    let mut open = vec![state];
    while let Some(state) = open.pop() {
        if reached.insert(state) {
            open.extend(edges.get(&state).into_iter().flatten());
        }
    }
    reached
}

/// Reports states that lead to each other, and that nothing else leads to.
fn unreachable_circle(first: &State, others: &[&State]) -> Diagnostic {
    let names = std::iter::once(first).chain(others.iter().copied());
    let names: Vec<&str> = names.map(|state| state.id.as_str()).collect();
    let message = format!("states {} can't be reached", quoted_list(&names));
    let mut diagnostic = Diagnostic::new(Code::UnreachableState, first.span, message)
        .may_follow()
        .label("they lead to each other, and nothing else leads here")
        .help("lead to one of them from a state that can be reached, or remove them");
    for state in others.iter().take(4) {
        diagnostic = diagnostic.related(state.span, "nor here");
    }
    diagnostic
}

fn unreachable_state(
    machine: &Machine,
    handle: Handle<State>,
    state: &State,
    reach: &Reachability,
) -> Diagnostic {
    let message = format!("state `{}` can't be reached", state.id);
    let diagnostic = Diagnostic::new(Code::UnreachableState, state.span, message).may_follow();
    let incoming = machine.transitions.iter().find(|(_, transition)| {
        let mut targets = transition.targets.iter();
        targets.any(|&target| machine.is_within(target, handle))
            && !machine.is_within(transition.source, handle)
    });
    match incoming {
        None => diagnostic
            .label("no transition leads here")
            .help("lead to it from a state that can be reached, or remove it"),
        Some((into, transition)) => {
            let source = machine.states.at(transition.source);
            let why = if reach.is_active(transition.source) && !reach.is_live(into) {
                "this transition can't be taken".to_owned()
            } else {
                format!("`{}` can't be reached either", source.id)
            };
            diagnostic
                .label("the only ways here are never taken")
                .related(transition.span, why)
        }
    }
}

/// Reports SM308: a machine without a final state of its own, however it is written.
fn missing_final_state(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let mut states = machine.states.iter();
    let is_end =
        |state: &State| state.kind == StateKind::Final && state.parent == Some(machine.root());
    if !states.any(|(_, state)| is_end(state)) {
        let parts = machine.parts;
        let alone = parts.definition.filter(|_| parts.diagram.is_none());
        let span = alone.map_or(machine.span, Span::before);
        let message = format!("machine `{}` has no end", machine.id.value);
        diags.push(Diagnostic::new(Code::NoFinalState, span, message)
            .label("nothing in it leads to an end")
            .help(
                "lead to `[*]` in the diagram, or give a state `\"type\": \"final\"` in the definition",
            ));
    }
}

/// Reports SM306, in one finding: leaves that can be active and from which no path leads to the end.
///
/// Says nothing of a machine that has no end at all.
fn no_path_to_final(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let stuck = subject.reach().without_end(machine).into_iter();
    let stuck: Vec<&State> = stuck.map(|leaf| machine.states.at(leaf)).collect();
    // The end inside a compound state has no name; it counts only if nothing else is stuck.
    let named: Vec<&State> = stuck.iter().copied().filter(|leaf| !leaf.implied).collect();
    match (named.split_first(), stuck.first()) {
        (Some((first, others)), _) => diags.push(stuck_states(first, others)),
        (None, Some(end)) => {
            let parent = end
                .parent
                .map_or("", |parent| &machine.states.at(parent).id);
            diags.push(stuck_once_done(end, parent));
        }
        (None, None) => {}
    }
}

fn stuck_states(first: &State, others: &[&State]) -> Diagnostic {
    let names = std::iter::once(first).chain(others.iter().copied());
    let names: Vec<&str> = names.map(|state| state.id.as_str()).collect();
    let message = format!("no path leads from {} to the end", quoted_list(&names));
    let mut diagnostic = Diagnostic::new(Code::NoPathToFinal, first.span, message)
        .label("from here the machine can't end")
        .help("lead on from one of them to a state that can end");
    for state in others.iter().take(4) {
        diagnostic = diagnostic.related(state.span, "nor from here");
    }
    diagnostic
}

fn stuck_once_done(end: &State, parent: &str) -> Diagnostic {
    let message = format!("once `{parent}` is done, no path leads to the end");
    Diagnostic::new(Code::NoPathToFinal, end.span, message)
        .label(format!("`{parent}` is done here"))
        .help(format!(
            "lead on from `{parent}`: a transition without a label is taken when it is done"
        ))
}

/// Reports SM314: transitions on the completion of a state that can't complete.
fn never_completing_states(subject: &Subject<'_>, diags: &mut Diags) {
    let (machine, reach) = (subject.machine, subject.reach());
    for (_, transition) in machine.transitions.iter() {
        for &event in &transition.triggers {
            if let EventKind::Completion(handle) = machine.events.at(event).kind
                && reach.is_active(handle)
                && !reach.can_be_done(machine, handle)
            {
                let is_drawn = machine.parts.diagram.is_some();
                diags.push(never_completes(
                    machine.states.at(handle),
                    transition,
                    is_drawn,
                ));
            }
        }
    }
}

fn never_completes(state: &State, transition: &Transition, is_drawn: bool) -> Diagnostic {
    let id = &state.id;
    let end = match is_drawn {
        true => "`[*]`",
        false => "a state of the type `final`",
    };
    let (why, help) = if state.kind == StateKind::Parallel {
        (
            "not every region has an end that can be reached",
            format!("lead to {end} in each region of `{id}`"),
        )
    } else {
        (
            "no end inside can be reached",
            format!("lead to {end} inside `{id}`"),
        )
    };
    let message = format!("`{id}` is never done, so this is never taken");
    Diagnostic::new(Code::NeverCompletes, transition.span, message)
        .label(format!("waits for `{id}` to be done"))
        .related(state.span, why)
        .help(help)
}

/// Reports SM333: histories that could have recorded one configuration only.
fn useless_histories(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    for (_, history) in machine.named_states() {
        let Some(parent) = history.parent.filter(|_| history.kind.is_history()) else {
            continue;
        };
        let deep = history.kind == StateKind::DeepHistory;
        if !has_choice(machine, parent, deep) {
            diags.push(useless_history(machine.states.at(parent), history, deep));
        }
    }
}

/// Reports whether a state can be exited in several configurations that its history tells apart.
fn has_choice(machine: &Machine, parent: Handle<State>, deep: bool) -> bool {
    let end = if deep {
        machine.states.at(parent).end
    } else {
        parent.index() + 1
    };
    let mut states = (parent.index()..end).map(|index| machine.states.at(Handle::at(index)));
    states.any(|state| {
        let children = state.children.iter();
        let proper = children.filter(|&&child| !machine.states.at(child).kind.is_history());
        state.kind == StateKind::Compound && proper.count() > 1
    })
}

fn useless_history(parent: &State, history: &State, deep: bool) -> Diagnostic {
    let message = format!("`{}` has nothing to remember", history.id);
    let diagnostic = Diagnostic::new(Code::UselessHistory, history.span, message);
    if parent.kind == StateKind::Parallel && !deep {
        let note = "a shallow history remembers which child was active, and in a parallel state all regions always are";
        let help = format!("remember what was active inside them: `{}[H*]`", parent.id);
        return diagnostic
            .label("always begins every region anew")
            .note(note)
            .help(help);
    }
    diagnostic
        .label(format!("always the same state of `{}`", parent.id))
        .help(format!("lead to `{}` itself", parent.id))
}
