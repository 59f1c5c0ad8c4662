//! A definition next to a diagram: the diagram owns the topology, the definition adds to it.
//!
//! Each state and each branch of the definition is looked up in the diagram; one that isn't drawn is an error that shows
//! both places.

use std::collections::{BTreeMap, BTreeSet};

use super::details::{
    self, add_details, add_initial, add_invocation, add_to_transition, check_drawn_kind,
};
use crate::arena::Handle;
use crate::front::definition::ast::{Branch, BranchKind, Definition, Initial, Kind, Named, State};
use crate::front::words::slug;
use crate::ir::Event;
use crate::lower::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateHandle};
use crate::lower::messages::{
    initial_differs_from_drawn, undrawn_fork, undrawn_state, undrawn_transition,
};
use crate::lower::spec::Context;
use crate::lower::target::{Found, find_states};
use crate::lower::transition::{delay_trigger, event_trigger};
use crate::lower::trigger;

/// Adds a definition to a draft that has the diagram already.
pub(in crate::lower) fn add_overlay(
    definition: &Definition,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let mut drawn = Drawn::default();
    for (index, transition) in draft.transitions.iter().enumerate() {
        drawn
            .by_source
            .entry(transition.ir.source)
            .or_default()
            .push(index);
    }
    if let Some(initial) = &definition.initial {
        overlay_initial(ROOT, initial, draft, context);
    }
    overlay_on(&definition.on, ROOT, &mut drawn, draft, context);
    overlay_states(&definition.states, &mut drawn, draft, context);
    drawn.rebuild_transitions(draft);
}

/// The drawn transitions, as indices into the draft's, and the changes to them.
#[derive(Default)]
struct Drawn {
    by_source: BTreeMap<StateHandle, Vec<usize>>,
    /// Transitions to a `[*]` that only mark their source as final.
    needless: BTreeSet<usize>,
    /// The parts of transitions with several events, split off because the definition adds to one event.
    ///
    /// Each comes after the transition that it was a part of.
    split_off: BTreeMap<usize, Vec<DraftTransition>>,
}

impl Drawn {
    fn transitions_from(&self, source: StateHandle) -> &[usize] {
        self.by_source.get(&source).map_or(&[], Vec::as_slice)
    }

    /// Drops the needless transitions, and inserts the parts that were split off.
    fn rebuild_transitions(mut self, draft: &mut Draft) {
        if self.needless.is_empty() && self.split_off.is_empty() {
            return;
        }
        let all = std::mem::take(&mut draft.transitions);
        for (index, transition) in all.into_iter().enumerate() {
            if !self.needless.contains(&index) {
                draft.transitions.push(transition);
            }
            let parts = self.split_off.remove(&index);
            draft.transitions.extend(parts.into_iter().flatten());
        }
    }
}

fn overlay_initial(
    scope: StateHandle,
    initial: &Initial,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let Some(Found { states, .. }) = find_states(&initial.targets, scope, draft, context) else {
        return;
    };
    let drawn = &draft.get(scope).initials;
    let Some(first) = drawn.first() else {
        add_initial(scope, initial, draft, context);
        return;
    };
    if drawn.iter().all(|drawn| drawn.targets != states) {
        let target = first.targets.first().copied().unwrap_or(scope);
        context.diags.push(initial_differs_from_drawn(
            initial.span,
            initial.targets.first().map_or("", |name| &name.value),
            Some(&draft.get(target).ir).filter(|drawn| !drawn.implied),
            first.span,
        ));
        return;
    }
    let actions = details::intern_actions(&initial.actions, draft);
    for drawn in &mut draft.get_mut(scope).initials {
        details::add_actions(&mut drawn.actions, actions.clone());
    }
}

fn overlay_states(
    states: &[Named<State>],
    drawn: &mut Drawn,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for named in states {
        let name = &named.name;
        let found = draft
            .state(&name.value)
            .filter(|&state| !draft.get(state).ir.implied);
        let Some(index) = found else {
            let diagram = context.header.unwrap_or(draft.get(ROOT).ir.span);
            let known = context
                .diags
                .comparable(draft.state_ids(), draft.states.len());
            let diagnostic = undrawn_state(name, diagram, known);
            context.diags.push(diagnostic);
            continue;
        };
        let state = &named.value;
        add_details(index, named, draft, context);
        check_drawn_kind(index, named, draft, context);
        mark_final(index, drawn, draft);
        if let Some(initial) = &state.initial {
            overlay_initial(index, initial, draft, context);
        }
        overlay_on(&state.on, index, drawn, draft, context);
        overlay_others(state, index, drawn, draft, context);
        overlay_states(&state.states, drawn, draft, context);
    }
}

/// Adds the branches under other keys than `on`.
fn overlay_others(
    state: &State,
    source: StateHandle,
    drawn: &mut Drawn,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let mut add = |branches: &[Branch], trigger: DraftTrigger, event: &str, draft: &mut Draft| {
        let key = Key {
            source,
            trigger,
            event,
        };
        overlay_branches(branches, &key, drawn, draft, context);
    };
    add(&state.always, DraftTrigger::Eventless, "", draft);
    add(&state.on_done, DraftTrigger::Missing, "", draft);
    if let Some(invocation) = &state.invoke {
        for (event, branches) in [
            ("done", &invocation.on_done),
            ("error", &invocation.on_error),
        ] {
            if !branches.is_empty() {
                let handle = draft.intern_event(event, invocation.workflow.span);
                add(branches, DraftTrigger::Events(vec![handle]), event, draft);
            }
        }
    }
    for delay in &state.after {
        let trigger = delay_trigger(source, &delay.name, draft, context.diags);
        if let Some(trigger) = trigger {
            let key = Key {
                source,
                trigger,
                event: &format!("after {}", delay.name.value),
            };
            overlay_branches(&delay.value, &key, drawn, draft, context);
        }
    }
}

/// Makes a state final that has the type `final` and only leads to `[*]`.
///
/// Without the type, the outcome belongs to the end that the state leads to.
fn mark_final(state: StateHandle, drawn: &mut Drawn, draft: &mut Draft) {
    let end_of = |transition: &DraftTransition| {
        transition
            .ir
            .target()
            .filter(|&target| draft.get(target).ir.implied)
    };
    let leading = drawn
        .transitions_from(state)
        .iter()
        .filter_map(|&index| draft.transitions.get(index));
    let ends: Vec<StateHandle> = leading.clone().filter_map(end_of).collect();
    if draft.get(state).kind != Some(Kind::Final) {
        let verdict = std::mem::take(&mut draft.get_mut(state).ir.verdict);
        for end in ends {
            draft.get_mut(end).ir.verdict = verdict;
        }
        return;
    }
    let only_ends = leading.clone().all(|transition| {
        end_of(transition).is_some()
            && transition.trigger == DraftTrigger::Missing
            && transition.label_guards.is_empty()
            && transition.ir.actions.is_empty()
    });
    if only_ends {
        drawn
            .needless
            .extend(drawn.by_source.remove(&state).into_iter().flatten());
        for end in ends {
            draft.get_mut(end).dropped = true;
        }
    }
}

fn overlay_on(
    on: &[Named<Vec<Branch>>],
    source: StateHandle,
    drawn: &mut Drawn,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for named in on {
        let key = Key {
            source,
            trigger: event_trigger(&named.name, draft, context.diags),
            event: &named.name.value,
        };
        overlay_branches(&named.value, &key, drawn, draft, context);
    }
}

/// The key above a list of branches.
struct Key<'k> {
    source: StateHandle,
    trigger: DraftTrigger,
    /// The event as written; empty for `always` and `on_done`.
    event: &'k str,
}

/// Finds each branch among the drawn transitions of its source, and adds to them.
fn overlay_branches(
    branches: &[Branch],
    key: &Key<'_>,
    drawn: &mut Drawn,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let mut matched: BTreeSet<usize> = BTreeSet::new();
    for branch in branches {
        let targets = match &branch.kind {
            BranchKind::Target(targets) => targets.as_slice(),
            BranchKind::Invoke { on_complete, .. } => std::slice::from_ref(on_complete),
            BranchKind::Fork(fork) => {
                let from = draft.get(key.source);
                let diagnostic = undrawn_fork(fork.span, &from.ir.id, from.ir.span);
                context.diags.push(diagnostic);
                continue;
            }
        };
        let Some(wanted) = find_states(targets, key.source, draft, context) else {
            continue;
        };
        let drawn_here = drawn.transitions_from(key.source).iter().copied();
        let found = drawn_here.filter(|index| {
            !matched.contains(index)
                && draft.transitions.get(*index).is_some_and(|transition| {
                    leads_to(transition, &wanted.states, branch, draft)
                        && has_trigger(transition, &key.trigger, draft)
                })
        });
        // What is said of an event alone, such as an approval, is said of each of its ways: one that lacked it would be a
        // way around. Guards and several branches tell the ways apart.
        let is_for_all =
            branches.len() == 1 && wanted.states.is_empty() && branch.guards.is_empty();
        let most = if is_for_all { usize::MAX } else { 1 };
        let found: Vec<usize> = found.take(most).collect();
        if found.is_empty() {
            let from = draft.get(key.source);
            let targets: Vec<&str> = targets.iter().map(|it| it.value.as_str()).collect();
            context.diags.push(undrawn_transition(
                &from.ir.id,
                key.event,
                (!targets.is_empty()).then(|| targets.join(", ")).as_deref(),
                branch.span,
                from.ir.span,
            ));
            continue;
        }
        for index in found {
            matched.insert(index);
            add_branch(index, branch, key, wanted.inside, drawn, draft, context);
        }
    }
}

/// Adds a branch to a drawn transition; to the part with its event, if the transition has several.
fn add_branch(
    index: usize,
    branch: &Branch,
    key: &Key<'_>,
    inside: bool,
    drawn: &mut Drawn,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let Some(slot) = draft.transitions.get_mut(index) else {
        return;
    };
    let adds_more = !branch.guards.is_empty()
        || !branch.actions.is_empty()
        || branch.description.is_some()
        || branch.internal.is_some()
        || !branch.meta.is_empty();
    let trigger = &key.trigger;
    if let (DraftTrigger::Events(events), DraftTrigger::Events(own)) = (&mut slot.trigger, trigger)
        && events.len() > own.len()
        && adds_more
    {
        events.retain(|event| !own.contains(event));
        let mut part = slot.clone();
        part.trigger = trigger.clone();
        merge_branch(&mut part, branch, inside, draft, context);
        drawn.split_off.entry(index).or_default().push(part);
        return;
    }
    let placeholder = DraftTransition::new(branch.span, slot.ir.source, None);
    let mut transition = std::mem::replace(slot, placeholder);
    merge_branch(&mut transition, branch, inside, draft, context);
    if let Some(slot) = draft.transitions.get_mut(index) {
        *slot = transition;
    }
}

/// Adds a branch to a drawn transition, with a state that waits if it invokes a workflow on its path.
fn merge_branch(
    transition: &mut DraftTransition,
    branch: &Branch,
    inside: bool,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    add_to_transition(transition, branch, inside, draft, context);
    let BranchKind::Invoke {
        workflow,
        input,
        on_complete,
        ..
    } = &branch.kind
    else {
        return;
    };
    match transition.ir.target() {
        Some(drawn) if draft.state(&on_complete.value) != Some(drawn) => {
            details::set_invocation(drawn, workflow, input.as_ref(), draft);
        }
        _ => {
            let waiting = add_invocation(branch, transition.ir.source, draft, context);
            transition.ir.targets = vec![waiting];
        }
    }
}

/// Returns whether a drawn transition has the targets of a branch.
///
/// It may lead to `on_complete` of a workflow through a drawn state that waits for it.
fn leads_to(
    transition: &DraftTransition,
    wanted: &[StateHandle],
    branch: &Branch,
    draft: &Draft,
) -> bool {
    if wanted.is_empty() || same_states(&transition.ir.targets, wanted) {
        return true;
    }
    let (Some(waiting), BranchKind::Invoke { .. }) = (transition.ir.target(), &branch.kind) else {
        return false;
    };
    let done = draft.event("done");
    draft.transitions.iter().any(|transition| {
        transition.ir.source == waiting
            && same_states(&transition.ir.targets, wanted)
            && matches!(&transition.trigger, DraftTrigger::Events(events) if events.iter().any(|&e| Some(e) == done))
    })
}

fn same_states(one: &[StateHandle], other: &[StateHandle]) -> bool {
    one.len() == other.len() && one.iter().all(|state| other.contains(state))
}

/// Returns whether a drawn transition has the trigger of a branch.
fn has_trigger(transition: &DraftTransition, trigger: &DraftTrigger, draft: &Draft) -> bool {
    let wanted: &[Handle<Event>] = match trigger {
        DraftTrigger::Events(events) => events,
        DraftTrigger::Pattern(pattern) => {
            let matches = |event: &Handle<Event>| {
                trigger::matches(&pattern.value, &draft.events.at(*event).id)
            };
            return matches!(&transition.trigger, DraftTrigger::Events(events) if events.iter().all(matches));
        }
        _ => return transition.trigger == *trigger,
    };
    let Some(first) = wanted.first() else {
        return false;
    };
    match &transition.trigger {
        DraftTrigger::Events(events) => events.contains(first),
        DraftTrigger::Commented { name, whole, .. } => {
            [&name.value, &whole.value].iter().any(|text| {
                draft.event(&slug(text)) == Some(*first) || draft.event(text) == Some(*first)
            })
        }
        DraftTrigger::Missing => transition.ir.target().is_some_and(|target| {
            if trigger::can_complete(draft, transition.ir.source) {
                return false;
            }
            let implied = trigger::implied_event(draft, transition.ir.source, target);
            draft.event(&implied) == Some(*first)
        }),
        DraftTrigger::Toward(choice) => {
            let implied = trigger::implied_event(draft, transition.ir.source, *choice);
            !trigger::can_complete(draft, transition.ir.source)
                && draft.event(&implied) == Some(*first)
        }
        DraftTrigger::Eventless
        | DraftTrigger::Completion
        | DraftTrigger::Pattern(_)
        | DraftTrigger::Delayed(_) => false,
    }
}
