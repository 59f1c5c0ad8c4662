//! A definition beside a diagram: the diagram owns the topology, the definition adds to it.
//!
//! Each state and each branch of the definition is looked up in what the diagram drew; one that isn't there is an error
//! that shows both places.

use std::collections::{BTreeMap, BTreeSet};

use super::details::{self, add_details, add_to_transition, kind_drawn};
use super::{add_initial, invocation};
use crate::arena::Handle;
use crate::front::definition::ast::{Branch, BranchKind, Definition, Initial, Kind, Named, State};
use crate::front::words::slug;
use crate::ir::Event;
use crate::lower::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateIndex};
use crate::lower::messages::{
    initial_differs_from_drawn, undrawn_fork, undrawn_state, undrawn_transition,
};
use crate::lower::spec::Context;
use crate::lower::target::{Found, find};
use crate::lower::transition::{delay_trigger, event_trigger};
use crate::lower::trigger;

/// Adds a definition to a diagram that was walked already.
pub(in crate::lower) fn overlay(
    definition: &Definition,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let mut drawn = Drawn::default();
    for (index, transition) in draft.transitions.iter().enumerate() {
        drawn
            .by_source
            .entry(transition.source)
            .or_default()
            .push(index);
    }
    if let Some(initial) = &definition.initial {
        overlay_initial(ROOT, initial, draft, context);
    }
    overlay_on(&definition.on, ROOT, &mut drawn, draft, context);
    overlay_states(&definition.states, &mut drawn, draft, context);
    drawn.settle(draft);
}

/// What the diagram drew, by index into the draft's transitions, and what becomes of it.
#[derive(Default)]
struct Drawn {
    by_source: BTreeMap<StateIndex, Vec<usize>>,
    /// Ways to a `[*]` that only say that their source is final.
    needless: BTreeSet<usize>,
    /// Parts of transitions of several events, of which the definition says something of one: each stands behind the
    /// transition that it comes from.
    split_off: BTreeMap<usize, Vec<DraftTransition>>,
}

impl Drawn {
    fn of(&self, source: StateIndex) -> &[usize] {
        self.by_source.get(&source).map_or(&[], Vec::as_slice)
    }

    /// Drops what is needless, and puts in what was split off.
    fn settle(mut self, draft: &mut Draft) {
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
    scope: StateIndex,
    initial: &Initial,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let Some(Found { states, .. }) = find(&initial.targets, scope, draft, context) else {
        return;
    };
    let drawn = &draft.get(scope).initials;
    let Some(first) = drawn.first() else {
        add_initial(scope, initial, draft, context);
        return;
    };
    if drawn.iter().all(|drawn| drawn.targets != states) {
        let target = first.targets.first().copied().unwrap_or(scope);
        let diagnostic = initial_differs_from_drawn(
            initial.span,
            initial.targets.first().map_or("", |name| &name.value),
            &draft.get(target).id,
            first.span,
        );
        context.diags.push(diagnostic);
        return;
    }
    let actions = details::actions(&initial.actions, draft);
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
            .filter(|&state| !draft.get(state).implied);
        let Some(index) = found else {
            let diagram = draft.get(ROOT).span;
            let known = context.comparable(draft.state_ids(), draft.states.len());
            let diagnostic = undrawn_state(name, diagram, known);
            context.diags.push(diagnostic);
            continue;
        };
        let state = &named.value;
        add_details(index, named, draft, context);
        kind_drawn(index, named, draft, context);
        settle_final(index, drawn, draft);
        if let Some(initial) = &state.initial {
            overlay_initial(index, initial, draft, context);
        }
        overlay_on(&state.on, index, drawn, draft, context);
        overlay_others(state, index, drawn, draft, context);
        overlay_states(&state.states, drawn, draft, context);
    }
}

/// What stands under the other keys than `on`.
fn overlay_others(
    state: &State,
    source: StateIndex,
    drawn: &mut Drawn,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let mut add = |branches: &[Branch], trigger: DraftTrigger, event: &str, draft: &mut Draft| {
        let under = Under {
            source,
            trigger,
            event,
        };
        overlay_branches(branches, &under, drawn, draft, context);
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
            let under = Under {
                source,
                trigger,
                event: &format!("after {}", delay.name.value),
            };
            overlay_branches(&delay.value, &under, drawn, draft, context);
        }
    }
}

/// `completed --> [*]` beside `"type": "final"` says one thing twice: the state itself is the end then. Without the type,
/// the outcome stands on the end that the state leads to.
fn settle_final(state: StateIndex, drawn: &mut Drawn, draft: &mut Draft) {
    let end_of = |transition: &DraftTransition| {
        transition
            .target()
            .filter(|&target| draft.get(target).implied)
    };
    let leading = drawn
        .of(state)
        .iter()
        .filter_map(|&index| draft.transitions.get(index));
    let ends: Vec<StateIndex> = leading.clone().filter_map(end_of).collect();
    if draft.get(state).kind != Some(Kind::Final) {
        let verdict = std::mem::take(&mut draft.get_mut(state).verdict);
        for end in ends {
            draft.get_mut(end).verdict = verdict;
        }
        return;
    }
    let only_ends = leading.clone().all(|transition| {
        end_of(transition).is_some()
            && transition.trigger == DraftTrigger::Missing
            && transition.label_guards.is_empty()
            && transition.actions.is_empty()
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
    source: StateIndex,
    drawn: &mut Drawn,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for named in on {
        let under = Under {
            source,
            trigger: event_trigger(&named.name, draft, context.diags),
            event: &named.name.value,
        };
        overlay_branches(&named.value, &under, drawn, draft, context);
    }
}

/// What a list of branches stands under.
struct Under<'u> {
    source: StateIndex,
    trigger: DraftTrigger,
    /// The event as written; empty for `always` and `on_done`.
    event: &'u str,
}

/// Finds each branch among the drawn transitions of the state, and adds what it says.
fn overlay_branches(
    branches: &[Branch],
    under: &Under<'_>,
    drawn: &mut Drawn,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for branch in branches {
        let targets = match &branch.kind {
            BranchKind::Target(targets) => targets.as_slice(),
            BranchKind::Invoke { on_complete, .. } => std::slice::from_ref(on_complete),
            BranchKind::Fork(fork) => {
                let from = draft.get(under.source);
                let diagnostic = undrawn_fork(fork.span, &from.id, from.span);
                context.diags.push(diagnostic);
                continue;
            }
        };
        let Some(wanted) = find(targets, under.source, draft, context) else {
            continue;
        };
        let found = drawn.of(under.source).iter().copied().find(|index| {
            !taken.contains(index)
                && draft.transitions.get(*index).is_some_and(|transition| {
                    leads_to(transition, &wanted.states, branch, draft)
                        && answers(transition, &under.trigger, draft)
                })
        });
        let Some(index) = found else {
            let from = draft.get(under.source);
            let targets: Vec<&str> = targets.iter().map(|it| it.value.as_str()).collect();
            context.diags.push(undrawn_transition(
                &from.id,
                under.event,
                (!targets.is_empty()).then(|| targets.join(", ")).as_deref(),
                branch.span,
                from.span,
            ));
            continue;
        };
        taken.insert(index);
        add_branch(index, branch, under, wanted.inside, drawn, draft, context);
    }
}

/// Adds what a branch says to a drawn transition; of one with several events, to the part that has this event.
fn add_branch(
    index: usize,
    branch: &Branch,
    under: &Under<'_>,
    inside: bool,
    drawn: &mut Drawn,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let Some(slot) = draft.transitions.get_mut(index) else {
        return;
    };
    let says_more = !branch.guards.is_empty()
        || !branch.actions.is_empty()
        || branch.description.is_some()
        || branch.internal.is_some()
        || !branch.meta.is_empty();
    let trigger = &under.trigger;
    if let (DraftTrigger::Events(events), DraftTrigger::Events(own)) = (&mut slot.trigger, trigger)
        && events.len() > own.len()
        && says_more
    {
        events.retain(|event| !own.contains(event));
        let mut part = slot.clone();
        part.trigger = trigger.clone();
        part_of_branch(&mut part, branch, inside, draft, context);
        drawn.split_off.entry(index).or_default().push(part);
        return;
    }
    let placeholder = DraftTransition::new(branch.span, slot.source, None);
    let mut transition = std::mem::replace(slot, placeholder);
    part_of_branch(&mut transition, branch, inside, draft, context);
    if let Some(slot) = draft.transitions.get_mut(index) {
        *slot = transition;
    }
}

/// What a branch says of a drawn transition, with the state that waits where it invokes a workflow on the way.
fn part_of_branch(
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
    match transition.target() {
        Some(drawn) if draft.state(&on_complete.value) != Some(drawn) => {
            details::invoke(drawn, workflow, input.as_ref(), draft);
        }
        _ => {
            let waiting = invocation(branch, transition.source, draft, context);
            transition.targets = vec![waiting];
        }
    }
}

/// Whether a drawn transition leads where a branch does. To `on_complete` of a workflow it may lead by way of a drawn
/// state that waits for it.
fn leads_to(
    transition: &DraftTransition,
    wanted: &[StateIndex],
    branch: &Branch,
    draft: &Draft,
) -> bool {
    if wanted.is_empty() || same_states(&transition.targets, wanted) {
        return true;
    }
    let (Some(waiting), BranchKind::Invoke { .. }) = (transition.target(), &branch.kind) else {
        return false;
    };
    let done = draft.event("done");
    draft.transitions.iter().any(|it| {
        it.source == waiting
            && same_states(&it.targets, wanted)
            && matches!(&it.trigger, DraftTrigger::Events(events) if events.iter().any(|&e| Some(e) == done))
    })
}

fn same_states(one: &[StateIndex], other: &[StateIndex]) -> bool {
    one.len() == other.len() && one.iter().all(|state| other.contains(state))
}

/// Whether a drawn transition is triggered by what a branch stands under.
fn answers(transition: &DraftTransition, trigger: &DraftTrigger, draft: &Draft) -> bool {
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
        DraftTrigger::Missing => transition.target().is_some_and(|target| {
            if trigger::completes(draft, transition.source) {
                return false;
            }
            let implied = trigger::implied_event(draft, transition.source, target);
            draft.event(&implied) == Some(*first)
        }),
        DraftTrigger::Toward(choice) => {
            let implied = trigger::implied_event(draft, transition.source, *choice);
            !trigger::completes(draft, transition.source) && draft.event(&implied) == Some(*first)
        }
        DraftTrigger::Eventless
        | DraftTrigger::Completion
        | DraftTrigger::Pattern(_)
        | DraftTrigger::Delayed(_) => false,
    }
}
