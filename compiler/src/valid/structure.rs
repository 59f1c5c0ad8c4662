//! Checks of structure: ends, reachability, and histories that remember nothing.

use std::collections::BTreeSet;

use super::{Check, Subject};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{EventKind, Machine, State, StateKind, Transition};
use crate::pass::components::components;
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

/// Reports SM304: states that no configuration contains, once for all that only they lead to.
///
/// Of nested ones only the outermost counts, and none where an earlier finding says that it is hardly a state.
fn unreachable_states(subject: &Subject<'_>, diags: &mut Diags) {
    let (machine, reach) = (subject.machine, subject.reach());
    let states = || machine.named_states().filter(|(_, state)| !state.implied);
    let is_explained = |state: &State| subject.reported.explains(&state.id, state.span);
    // A history is never active.
    if states().all(|(handle, state)| reach.is_active(handle) || state.kind.is_history()) {
        return;
    }
    let unreached = Unreached::new(machine, reach);
    let next = &unreached.next;
    let mut reported = vec![false; machine.states.len()];
    for (handle, state) in states() {
        if !reach.is_active(handle) && is_explained(state) {
            mark(handle.index(), next, &mut reported);
        }
    }
    let is_subject = |index: &usize| {
        let handle = Handle::<State>::at(*index);
        let state = machine.states.at(handle);
        let is_outermost = state.parent.is_none_or(|parent| reach.is_active(parent));
        let is_named = !state.implied && !state.kind.is_history();
        is_named && is_outermost && !reach.is_active(handle)
    };
    // Groups that nothing else leads to come last.
    for group in components(next).into_iter().rev() {
        let named: Vec<usize> = group.iter().copied().filter(is_subject).collect();
        let is_reported = |index: &usize| reported.get(*index).is_none_or(|it| *it);
        if named.is_empty() || group.iter().any(is_reported) {
            continue;
        }
        let following: Vec<usize> = mark_all(&group, next, &mut reported);
        let of = |list: &[usize]| -> Vec<&State> {
            let states = list.iter().map(|&index| Handle::<State>::at(index));
            states.map(|it| machine.states.at(it)).collect()
        };
        let following: Vec<usize> = following.into_iter().filter(is_subject).collect();
        let inside: BTreeSet<usize> = named.iter().copied().collect();
        let into = unreached.untaken(&inside);
        let (group, following) = (of(&named), of(&following));
        if let [first, others @ ..] = group.as_slice() {
            let found = match others {
                // Alone in a drawing, it is a second drawing, or a box beside the others.
                [] => {
                    let is_alone = into.is_none() && !unreached.leads_out(&inside);
                    unreachable_state(first, into).of_machine(is_alone)
                }
                others => unreachable_circle(first, others, into),
            };
            diags.push(with_following(found, &following));
        }
    }
}

/// Marks a node and those behind it as reported.
fn mark(node: usize, next: &[Vec<usize>], reported: &mut [bool]) {
    mark_all(&[node], next, reported);
}

/// Marks nodes and those following them as reported, and returns the others that weren't, ascending.
fn mark_all(nodes: &[usize], next: &[Vec<usize>], reported: &mut [bool]) -> Vec<usize> {
    let mut following = Vec::new();
    let mut open = nodes.to_vec();
    while let Some(node) = open.pop() {
        if let Some(is_reported) = reported.get_mut(node).filter(|it| !**it) {
            *is_reported = true;
            following.push(node);
            open.extend(next.get(node).into_iter().flatten());
        }
    }
    let nodes: BTreeSet<usize> = nodes.iter().copied().collect();
    following.retain(|node| !nodes.contains(node));
    following.sort_unstable();
    following
}

/// The transitions from and to states that no configuration contains.
///
/// A nested state counts as the outermost around it that is unreachable.
struct Unreached<'m> {
    machine: &'m Machine,
    reach: &'m Reachability,
    /// By state's index: the unreachable ones that it leads to, by their indices.
    next: Vec<Vec<usize>>,
    /// By state's index: the transitions that lead to it.
    into: Vec<Vec<Handle<Transition>>>,
    /// By state's index: the transitions that lead on from it.
    out: Vec<Vec<Handle<Transition>>>,
}

impl<'m> Unreached<'m> {
    fn new(machine: &'m Machine, reach: &'m Reachability) -> Self {
        let count = machine.states.len();
        let mut unreached = Self {
            machine,
            reach,
            next: vec![Vec::new(); count],
            into: vec![Vec::new(); count],
            out: vec![Vec::new(); count],
        };
        for (handle, transition) in machine.transitions.iter() {
            let source = unreached.outermost(transition.source);
            let targets = transition.targets.iter();
            let targets: Vec<usize> = targets.filter_map(|&it| unreached.outermost(it)).collect();
            for &target in &targets {
                push(&mut unreached.into, target, handle);
            }
            if let Some(source) = source {
                push(&mut unreached.out, source, handle);
                let others = targets.into_iter().filter(|it| *it != source);
                others.for_each(|target| push(&mut unreached.next, source, target));
            }
        }
        unreached
    }

    /// Returns the index of the outermost state around a state, or itself, that is unreachable.
    fn outermost(&self, state: Handle<State>) -> Option<usize> {
        let unreachable = self.machine.ancestry(state);
        let unreachable = unreachable.take_while(|&it| !self.reach.is_active(it));
        unreachable.last().map(Handle::index)
    }

    /// Returns a transition into some outermost states from elsewhere, and why it is never taken.
    fn untaken(&self, states: &BTreeSet<usize>) -> Option<(Span, String)> {
        let arrows = self.transitions_of(&self.into, states).filter(|arrow| {
            let source = self.outermost(arrow.source);
            source.is_none_or(|source| !states.contains(&source))
        });
        // That of a state that can be reached says more.
        let arrow = arrows.min_by_key(|it| !self.reach.is_active(it.source))?;
        let why = match self.reach.is_active(arrow.source) {
            true => "this transition can't be taken".to_owned(),
            false => format!(
                "`{}` can't be reached either",
                self.machine.states.at(arrow.source).id
            ),
        };
        Some((arrow.span, why))
    }

    /// Reports whether a transition leads out of some outermost states.
    fn leads_out(&self, states: &BTreeSet<usize>) -> bool {
        let is_inside = |state: Handle<State>| {
            let outermost = self.outermost(state);
            outermost.is_some_and(|it| states.contains(&it))
        };
        self.transitions_of(&self.out, states).any(|arrow| {
            let is_held = || arrow.targets.iter().all(|&to| is_inside(to));
            !arrow.implied && !is_held()
        })
    }

    /// Returns the transitions that a list has for some states, in the order of the machine.
    fn transitions_of(
        &self,
        list: &[Vec<Handle<Transition>>],
        states: &BTreeSet<usize>,
    ) -> impl Iterator<Item = &'m Transition> {
        let lists = states.iter().filter_map(|&state| list.get(state));
        let found: BTreeSet<Handle<Transition>> = lists.flatten().copied().collect();
        found.into_iter().map(|it| self.machine.transitions.at(it))
    }
}

/// Adds to the list at an index.
fn push<T>(lists: &mut [Vec<T>], index: usize, item: T) {
    if let Some(list) = lists.get_mut(index) {
        list.push(item);
    }
}

/// Reports states that lead to each other; `into` is a way to one of them that is never taken.
fn unreachable_circle(
    first: &State,
    others: &[&State],
    into: Option<(Span, String)>,
) -> Diagnostic {
    let names = std::iter::once(first).chain(others.iter().copied());
    let names: Vec<&str> = names.map(|state| state.id.as_str()).collect();
    let message = format!("states {} can't be reached", quoted_list(&names));
    let label = match &into {
        Some(_) => "they lead to each other, and no other way here is ever taken",
        None => "they lead to each other, and nothing else leads here",
    };
    let mut found = unreached(first, message)
        .label(label)
        .help("lead to one of them from a state that can be reached, or remove them");
    for state in others.iter().take(4) {
        found = found.related(state.span, "nor here");
    }
    match into {
        Some((arrow, why)) => found.related(arrow, why),
        None => found,
    }
}

/// Reports a state that nothing leads to; `into` is a way to it that is never taken.
fn unreachable_state(state: &State, into: Option<(Span, String)>) -> Diagnostic {
    let found = unreached(state, format!("state `{}` can't be reached", state.id));
    match into {
        None => found
            .label("no transition leads here")
            .help("lead to it from a state that can be reached, or remove it"),
        Some((arrow, why)) => found
            .label("the only ways here are never taken")
            .related(arrow, why),
    }
}

fn unreached(state: &State, message: String) -> Diagnostic {
    Diagnostic::new(Code::UnreachableState, state.span, message).may_follow()
}

/// Adds the states that can be reached from there alone.
fn with_following(found: Diagnostic, following: &[&State]) -> Diagnostic {
    let names: Vec<&str> = following.iter().map(|state| state.id.as_str()).collect();
    match names.as_slice() {
        [] => found,
        [_] => found.note(format!("nor can {}, behind it", quoted_list(&names))),
        many => found.note(format!(
            "nor can the {} states behind it: {}",
            many.len(),
            quoted_list(&names)
        )),
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
