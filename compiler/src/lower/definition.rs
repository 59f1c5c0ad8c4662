//! A definition's states and transitions, brought into the draft.
//!
//! Alone, a definition owns the topology: [`build`]. Beside a diagram, the diagram does: see [`super::overlay`], which
//! shares what is said here of a state's details and of a branch's guards and actions.

use super::draft::{Draft, DraftInitial, DraftTransition, DraftTrigger, ROOT, StateIndex};
use super::spec::Context;
use super::{guard, report, wording};
use crate::arena::Handle;
use crate::front::definition::ast::{Branch, BranchKind, Definition, Kind, Named, Outcome, State};
use crate::front::definition::report::missing_key;
use crate::ir::{Action, EventKind, Verdict};
use crate::source::Spanned;

/// The engine's event that a face sends in place of a name that the machine doesn't have.
pub(super) const UNKNOWN_EVENT: &str = "error.unknown_event";

/// Notes how the definition spells events, before anything names one.
pub(super) fn note_spellings(definition: &Definition, draft: &mut Draft) {
    let mut note = |name: &str| {
        draft
            .spellings
            .entry(super::words::word_key(name))
            .or_insert_with(|| name.to_owned());
    };
    definition
        .events
        .iter()
        .for_each(|event| note(&event.name.value));
    definition.on.iter().for_each(|on| note(&on.name.value));
    // A definition is at most as deep as its reader allows, so the walk may recurse.
    fn walk(states: &[Named<State>], note: &mut impl FnMut(&str)) {
        for state in states {
            state.value.on.iter().for_each(|on| note(&on.name.value));
            walk(&state.value.states, note);
        }
    }
    walk(&definition.states, &mut note);
}

/// Adds a definition that stands alone.
pub(super) fn build(definition: &Definition, draft: &mut Draft, context: &mut Context<'_>) {
    declare_states(&definition.states, ROOT, draft, context);
    if let Some(initial) = &definition.initial {
        add_initial(ROOT, initial, draft, context);
    }
    add_on(&definition.on, ROOT, draft, context);
    for state in &definition.states {
        build_state(state, draft, context);
    }
}

fn declare_states(
    states: &[Named<State>],
    parent: StateIndex,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for state in states {
        let name = &state.name;
        if let Some(earlier) = draft.state(&name.value) {
            let first = draft.get(earlier).span;
            context.diags.push(report::duplicate_state::duplicate_state(
                &name.value,
                name.span,
                first,
            ));
            continue;
        }
        let index = draft.intern_state(&name.value, name.span, parent);
        draft.get_mut(index).has_body = !state.value.states.is_empty();
        declare_states(&state.value.states, index, draft, context);
    }
}

fn build_state(named: &Named<State>, draft: &mut Draft, context: &mut Context<'_>) {
    // The second state of an id has been reported; what it says belongs to no state.
    let own = draft
        .state(&named.name.value)
        .filter(|&index| draft.get(index).span == named.name.span);
    let Some(index) = own else { return };
    let state = &named.value;
    add_details(index, named, draft, context);
    let begins_at_double = |initial: &Spanned<String>| {
        state.states.iter().any(|child| {
            child.name.value == initial.value
                && draft
                    .state(&initial.value)
                    .is_some_and(|known| draft.get(known).parent != index)
        })
    };
    if let Some(initial) = state
        .initial
        .as_ref()
        .filter(|initial| !begins_at_double(initial))
    {
        add_initial(index, initial, draft, context);
    }
    add_on(&state.on, index, draft, context);
    add_branches(
        &state.always,
        index,
        &DraftTrigger::Eventless,
        draft,
        context,
    );
    add_branches(
        &state.on_done,
        index,
        &DraftTrigger::Completion,
        draft,
        context,
    );
    for delay in &state.after {
        context
            .diags
            .push(report::unsupported_construct::unsupported_construct(
                delay.name.span,
                "delays (`after`)",
            ));
        add_branches(
            &delay.value,
            index,
            &DraftTrigger::Events(Vec::new()),
            draft,
            context,
        );
    }
    for child in &state.states {
        build_state(child, draft, context);
    }
}

pub(super) fn add_initial(
    scope: StateIndex,
    initial: &Spanned<String>,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    if let Some(target) = find_state(initial, draft, context) {
        if target == scope || !draft.is_within(target, scope) {
            context.diags.push(report::unknown_state::outside_scope(
                initial,
                &draft.get(scope).id,
                draft.get(target).span,
            ));
            return;
        }
        draft.get_mut(scope).initials.push(DraftInitial {
            span: initial.span,
            targets: vec![target],
            actions: Vec::new(),
            inferred: false,
        });
    }
}

fn add_on(
    on: &[Named<Vec<Branch>>],
    source: StateIndex,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for named in on {
        let event = wording::event(&named.name.value, named.name.span, draft, context.diags);
        add_branches(
            &named.value,
            source,
            &DraftTrigger::Events(vec![event]),
            draft,
            context,
        );
    }
}

fn add_branches(
    branches: &[Branch],
    source: StateIndex,
    trigger: &DraftTrigger,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for branch in branches {
        let mut transition = DraftTransition::new(branch.span, source, None);
        transition.trigger = trigger.clone();
        let target = match &branch.kind {
            // Without a diagram that draws where it leads, a branch leads somewhere or does something.
            BranchKind::Target(None) if branch.actions.is_empty() => {
                let needs = "`target` or `actions`";
                let diagnostic = missing_key(branch.span, "a transition", needs);
                context.diags.push(diagnostic);
                continue;
            }
            BranchKind::Target(None) => {
                transition.internal = true;
                None
            }
            BranchKind::Target(Some(target)) => {
                let Some(found) = find_state(target, draft, context) else {
                    continue;
                };
                Some(found)
            }
            BranchKind::Invoke { .. } => Some(add_invocation(branch, source, draft, context)),
            BranchKind::Fork { span, states } => {
                context
                    .diags
                    .push(report::unsupported_construct::unsupported_construct(
                        *span,
                        "forks (`fork`)",
                    ));
                for state in states {
                    find_state(state, draft, context);
                }
                continue;
            }
        };
        transition.targets.extend(target);
        add_to_transition(&mut transition, branch, draft, context);
        draft.transitions.push(transition);
    }
}

/// What a branch says beside its target.
pub(super) fn add_to_transition(
    transition: &mut DraftTransition,
    branch: &Branch,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    if let Some(guard) = guard::of_branch(&branch.guards, draft, context) {
        transition.guard = Some(guard);
    }
    add_actions(&mut transition.actions, actions(&branch.actions, draft));
    if let Some(description) = &branch.description {
        transition.description = Some(description.value.clone());
    }
    transition.meta.extend(branch.meta.clone());
}

/// A state that waits for another workflow: entered by the branch, left on `done` and `error`.
fn add_invocation(
    branch: &Branch,
    source: StateIndex,
    draft: &mut Draft,
    context: &mut Context<'_>,
) -> StateIndex {
    let parent = if source == ROOT {
        ROOT
    } else {
        draft.get(source).parent
    };
    let id = format!("{}_invoke", draft.get(source).id);
    let waiting = draft.implied_state(&id, branch.span, parent, source);
    let BranchKind::Invoke {
        workflow,
        input,
        on_complete,
        on_fail,
    } = &branch.kind
    else {
        return waiting;
    };
    let meta = &mut draft.get_mut(waiting).meta;
    meta.insert("invoke".to_owned(), workflow.value.clone().into());
    if let Some(input) = input {
        meta.insert("input".to_owned(), input.clone());
    }
    for (event, target) in [("done", Some(on_complete)), ("error", on_fail.as_ref())] {
        let Some(target) = target else { continue };
        if let Some(found) = find_state(target, draft, context) {
            let event = draft.intern_event(event, target.span);
            let mut transition = DraftTransition::new(target.span, waiting, Some(found));
            transition.trigger = DraftTrigger::Events(vec![event]);
            transition.implied = true;
            draft.transitions.push(transition);
        }
    }
    waiting
}

/// The state that a definition names, or a finding.
pub(super) fn find_state(
    name: &Spanned<String>,
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<StateIndex> {
    let found = draft
        .state(&name.value)
        .filter(|&state| !draft.get(state).implied);
    if found.is_none() {
        let known = context.comparable(draft.state_ids(), draft.states.len());
        let diagnostic = report::unknown_state::unknown_state(name, known);
        context.diags.push(diagnostic);
    }
    found
}

/// What both kinds of definition say of a state beside its transitions.
pub(super) fn add_details(
    index: StateIndex,
    named: &Named<State>,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let state = &named.value;
    let entry = actions(&state.entry, draft);
    let exit = actions(&state.exit, draft);
    if let Some(kind) = &state.kind {
        match kind.value {
            Kind::Parallel => {
                let what = "parallel states (`\"type\": \"parallel\"`)";
                context
                    .diags
                    .push(report::unsupported_construct::unsupported_construct(
                        kind.span, what,
                    ));
            }
            Kind::History => {
                let what = "history states (`\"type\": \"history\"`)";
                context
                    .diags
                    .push(report::unsupported_construct::unsupported_construct(
                        kind.span, what,
                    ));
            }
            Kind::Atomic | Kind::Compound | Kind::Final => {}
        }
    }
    let draft_state = draft.get_mut(index);
    add_actions(&mut draft_state.entry, entry);
    add_actions(&mut draft_state.exit, exit);
    draft_state.kind = state
        .kind
        .as_ref()
        .map(|kind| kind.value)
        .or(draft_state.kind);
    if let Some(title) = &state.title {
        draft_state.titles = vec![title.clone()];
    }
    draft_state.description.clone_from(&state.description);
    draft_state.instructions.clone_from(&state.instructions);
    draft_state.meta.extend(state.meta.clone());
    if state
        .outcome
        .as_ref()
        .is_some_and(|outcome| outcome.value == Outcome::Failure)
    {
        draft_state.verdict = Verdict::Failure;
    }
    if let Some(target) = &state.safe_next
        && let Some(found) = find_state(target, draft, context)
    {
        let event = draft.intern_engine_event(UNKNOWN_EVENT, EventKind::Unknown, target.span);
        let mut transition = DraftTransition::new(target.span, index, Some(found));
        transition.trigger = DraftTrigger::Events(vec![event]);
        transition.implied = true;
        draft.transitions.push(transition);
    }
}

/// Adds actions behind those that the diagram has; a definition that says the same list again adds nothing.
fn add_actions(drawn: &mut Vec<Handle<Action>>, declared: Vec<Handle<Action>>) {
    if *drawn != declared {
        drawn.extend(declared);
    }
}

fn actions(names: &[Spanned<String>], draft: &mut Draft) -> Vec<Handle<Action>> {
    names
        .iter()
        .map(|name| draft.intern_action(&name.value, name.span))
        .collect()
}
