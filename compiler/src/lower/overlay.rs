//! A definition beside a diagram: the diagram owns the topology, the definition adds to it.
//!
//! Each state and each branch of the definition is looked up in what the diagram drew; one that isn't there is an error
//! that shows both places.

use std::collections::BTreeSet;

use super::definition::{add_details, add_initial, add_to_transition, find_state};
use super::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateIndex};
use super::spec::Context;
use super::words::slug;
use super::{report, trigger, wording};
use crate::arena::Handle;
use crate::front::definition::ast::{Branch, BranchKind, Definition, Kind, Named, State};
use crate::ir::{Event, Verdict};
use crate::source::Spanned;

/// Adds a definition to a diagram that was walked already.
pub(super) fn overlay(definition: &Definition, draft: &mut Draft, context: &mut Context<'_>) {
    if let Some(initial) = &definition.initial {
        overlay_initial(ROOT, initial, draft, context);
    }
    overlay_on(&definition.on, ROOT, draft, context);
    overlay_states(&definition.states, draft, context);
}

fn overlay_initial(
    scope: StateIndex,
    initial: &Spanned<String>,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let Some(target) = find_state(initial, draft, context) else {
        return;
    };
    if draft.get(scope).initials.is_empty() {
        add_initial(scope, initial, draft, context);
        return;
    }
    let drawn = draft
        .get(scope)
        .initials
        .iter()
        .find(|drawn| drawn.target != target);
    if let Some(drawn) =
        drawn.filter(|_| draft.get(scope).initials.iter().all(|i| i.target != target))
    {
        let name = &draft.get(drawn.target).id;
        context.diags.push(report::only_in_definition::initial(
            initial, name, drawn.span,
        ));
    }
}

fn overlay_states(states: &[Named<State>], draft: &mut Draft, context: &mut Context<'_>) {
    for named in states {
        let name = &named.name;
        let found = draft
            .state(&name.value)
            .filter(|&state| !draft.get(state).implied);
        let Some(index) = found else {
            let diagram = draft.get(ROOT).span;
            let known: Vec<&str> = draft.state_ids().collect();
            context
                .diags
                .push(report::only_in_definition::state(name, diagram, &known));
            continue;
        };
        let state = &named.value;
        let drawn_ends = drawn_ends(index, draft);
        add_details(index, named, draft, context);
        settle_final(index, &drawn_ends, draft);
        if let Some(initial) = &state.initial {
            overlay_initial(index, initial, draft, context);
        }
        overlay_on(&state.on, index, draft, context);
        overlay_branches(
            &state.always,
            index,
            &DraftTrigger::Eventless,
            "",
            draft,
            context,
        );
        overlay_branches(
            &state.on_done,
            index,
            &DraftTrigger::Missing,
            "",
            draft,
            context,
        );
        for delay in &state.after {
            let what = "delays (`after`)";
            context
                .diags
                .push(report::unsupported_construct::unsupported_construct(
                    delay.name.span,
                    what,
                ));
        }
        overlay_states(&state.states, draft, context);
    }
}

/// The transitions of a state that lead to a `[*]`, by index.
fn drawn_ends(state: StateIndex, draft: &Draft) -> Vec<usize> {
    let leads_out = |transition: &DraftTransition| {
        transition.source == state
            && transition
                .target
                .is_some_and(|target| draft.get(target).implied)
    };
    let indexes = draft.transitions.iter().enumerate();
    indexes
        .filter(|(_, transition)| leads_out(transition))
        .map(|(index, _)| index)
        .collect()
}

/// `completed --> [*]` beside `"type": "final"` says one thing twice: the state itself is the end then. Without the type,
/// the outcome stands on the end that the state leads to.
fn settle_final(state: StateIndex, ends: &[usize], draft: &mut Draft) {
    let verdict = draft.get(state).verdict;
    if draft.get(state).kind == Some(Kind::Final) {
        let only_ends = draft
            .transitions
            .iter()
            .enumerate()
            .all(|(index, transition)| {
                transition.source != state
                    || (ends.contains(&index)
                        && transition.trigger == DraftTrigger::Missing
                        && transition.guard.is_none()
                        && transition.actions.is_empty())
            });
        if only_ends {
            let targets: Vec<StateIndex> = ends
                .iter()
                .filter_map(|&index| draft.transitions.get(index).and_then(|t| t.target))
                .collect();
            draft
                .transitions
                .retain(|transition| transition.source != state);
            for target in targets {
                draft.get_mut(target).dropped = true;
            }
        }
        return;
    }
    for &index in ends {
        if let Some(target) = draft
            .transitions
            .get(index)
            .and_then(|transition| transition.target)
        {
            draft.get_mut(target).verdict = verdict;
        }
    }
    draft.get_mut(state).verdict = Verdict::Success;
}

fn overlay_on(
    on: &[Named<Vec<Branch>>],
    source: StateIndex,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for named in on {
        let event = wording::event(&named.name.value, named.name.span, draft, context.diags);
        let trigger = DraftTrigger::Events(vec![event]);
        overlay_branches(
            &named.value,
            source,
            &trigger,
            &named.name.value,
            draft,
            context,
        );
    }
}

/// Finds each branch among the drawn transitions of the state, and adds what it says.
fn overlay_branches(
    branches: &[Branch],
    source: StateIndex,
    trigger: &DraftTrigger,
    event: &str,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for branch in branches {
        let target = match &branch.kind {
            BranchKind::Target(target) => target.as_ref(),
            BranchKind::Invoke { workflow, .. } => Some(workflow),
            BranchKind::Fork { .. } => None,
        };
        let is_target = matches!(branch.kind, BranchKind::Target(_));
        let wanted = match target.filter(|_| is_target) {
            None => None,
            Some(name) => {
                let Some(found) = find_state(name, draft, context) else {
                    continue;
                };
                Some(found)
            }
        };
        let matches = |index: usize, transition: &DraftTransition| {
            is_target
                && !taken.contains(&index)
                && transition.source == source
                && wanted.is_none_or(|wanted| transition.target == Some(wanted))
                && answers(transition, trigger, draft)
        };
        let found = draft
            .transitions
            .iter()
            .enumerate()
            .position(|(index, t)| matches(index, t));
        let Some(index) = found else {
            let from = draft.get(source);
            context.diags.push(report::only_in_definition::transition(
                &from.id,
                event,
                target.map(|target| target.value.as_str()),
                branch.span,
                from.span,
            ));
            continue;
        };
        taken.insert(index);
        let Some(slot) = draft.transitions.get_mut(index) else {
            continue;
        };
        let placeholder = DraftTransition::new(branch.span, source, None);
        let mut transition = std::mem::replace(slot, placeholder);
        add_to_transition(&mut transition, branch, draft, context);
        if let Some(slot) = draft.transitions.get_mut(index) {
            *slot = transition;
        }
    }
}

/// Whether a drawn transition is triggered by what a branch stands under.
fn answers(transition: &DraftTransition, trigger: &DraftTrigger, draft: &Draft) -> bool {
    let wanted: &[Handle<Event>] = match trigger {
        DraftTrigger::Events(events) => events,
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
        DraftTrigger::Missing => transition.target.is_some_and(|target| {
            let implied = trigger::implied_event(draft, transition.source, target);
            draft.event(&implied) == Some(*first)
        }),
        DraftTrigger::Eventless | DraftTrigger::Completion => false,
    }
}
