//! A definition beside a diagram: the diagram owns the topology, the definition adds to it.
//!
//! Each state and each branch of the definition is looked up in what the diagram drew; one that isn't there is an error
//! that shows both places.

use std::collections::{BTreeMap, BTreeSet};

use super::definition::{add_details, add_initial, add_to_transition, find_state};
use super::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateIndex};
use super::spec::Context;
use super::words::slug;
use super::{report, trigger, wording};
use crate::arena::Handle;
use crate::front::definition::ast::{Branch, BranchKind, Definition, Kind, Named, State};
use crate::ir::Event;
use crate::source::{Span, Spanned};

/// Adds a definition to a diagram that was walked already.
pub(super) fn overlay(definition: &Definition, draft: &mut Draft, context: &mut Context<'_>) {
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
        .find(|drawn| drawn.targets != [target]);
    if let Some(drawn) = drawn.filter(|_| {
        draft
            .get(scope)
            .initials
            .iter()
            .all(|i| i.targets != [target])
    }) {
        let first = drawn.targets.first().copied().unwrap_or(scope);
        let name = &draft.get(first).id;
        context.diags.push(report::only_in_definition::initial(
            initial, name, drawn.span,
        ));
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
            let diagnostic = report::only_in_definition::state(name, diagram, known);
            context.diags.push(diagnostic);
            continue;
        };
        let state = &named.value;
        add_details(index, named, draft, context);
        if let Some(kind) = &state.kind
            && kind.value == Kind::Final
            && draft.get(index).has_body
        {
            let at = draft.get(index).span;
            let diagnostic = report::only_in_definition::end(&name.value, kind.span, at);
            context.diags.push(diagnostic);
        } else {
            settle_final(index, drawn, draft);
        }
        if let Some(initial) = &state.initial {
            overlay_initial(index, initial, draft, context);
        }
        overlay_on(&state.on, index, drawn, draft, context);
        for (branches, trigger) in [
            (&state.always, DraftTrigger::Eventless),
            (&state.on_done, DraftTrigger::Missing),
        ] {
            let under = Under {
                source: index,
                trigger,
                event: "",
            };
            overlay_branches(branches, &under, drawn, draft, context);
        }
        for delay in &state.after {
            unsupported(delay.name.span, "delays (`after`)", context);
        }
        overlay_states(&state.states, drawn, draft, context);
    }
}

fn unsupported(span: Span, what: &str, context: &mut Context<'_>) {
    let diagnostic = report::unsupported_construct::unsupported_construct(span, what);
    context.diags.push(diagnostic);
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
            && transition.guard_words.is_none()
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
        let event = wording::event(&named.name.value, named.name.span, draft, context.diags);
        let under = Under {
            source,
            trigger: DraftTrigger::Events(vec![event]),
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
        let target = match &branch.kind {
            BranchKind::Target(target) => target.as_ref(),
            BranchKind::Invoke { .. } => {
                let what = "invoked workflows (`invoke`) beside a diagram";
                unsupported(branch.span, what, context);
                continue;
            }
            BranchKind::Fork { span, .. } => {
                unsupported(*span, "forks (`fork`)", context);
                continue;
            }
        };
        let wanted = match target {
            None => None,
            Some(name) => {
                let Some(found) = find_state(name, draft, context) else {
                    continue;
                };
                Some(found)
            }
        };
        let found = drawn.of(under.source).iter().copied().find(|index| {
            !taken.contains(index)
                && draft.transitions.get(*index).is_some_and(|transition| {
                    wanted.is_none_or(|wanted| transition.targets.contains(&wanted))
                        && answers(transition, &under.trigger, draft)
                })
        });
        let Some(index) = found else {
            let from = draft.get(under.source);
            context.diags.push(report::only_in_definition::transition(
                &from.id,
                under.event,
                target.map(|target| target.value.as_str()),
                branch.span,
                from.span,
            ));
            continue;
        };
        taken.insert(index);
        add_branch(index, branch, &under.trigger, drawn, draft, context);
    }
}

/// Adds what a branch says to a drawn transition; of one with several events, to the part that has this event.
fn add_branch(
    index: usize,
    branch: &Branch,
    trigger: &DraftTrigger,
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
        || !branch.meta.is_empty();
    if let (DraftTrigger::Events(events), DraftTrigger::Events(own)) = (&mut slot.trigger, trigger)
        && events.len() > own.len()
        && says_more
    {
        events.retain(|event| !own.contains(event));
        let mut part = slot.clone();
        part.trigger = trigger.clone();
        add_to_transition(&mut part, branch, draft, context);
        drawn.split_off.entry(index).or_default().push(part);
        return;
    }
    let placeholder = DraftTransition::new(branch.span, slot.source, None);
    let mut transition = std::mem::replace(slot, placeholder);
    add_to_transition(&mut transition, branch, draft, context);
    if let Some(slot) = draft.transitions.get_mut(index) {
        *slot = transition;
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
        DraftTrigger::Missing => transition.target().is_some_and(|target| {
            if trigger::completes(draft, transition.source) {
                return false;
            }
            let implied = trigger::implied_event(draft, transition.source, target);
            draft.event(&implied) == Some(*first)
        }),
        DraftTrigger::Eventless | DraftTrigger::Completion => false,
    }
}
