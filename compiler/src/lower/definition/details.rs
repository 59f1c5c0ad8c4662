//! Details of states besides their transitions, and of branches besides their targets.
//!
//! They mean the same with and without a diagram.

use serde_json::Value;

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic};
use crate::front::definition::ast::{Branch, BranchKind, Initial, Kind, Named, Outcome, State};
use crate::front::definition::messages::leaves_source;
use crate::ir::{self, Action, EventKind, Verdict};
use crate::lower::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateHandle};
use crate::lower::guard;
use crate::lower::messages::{
    composite_called_final, initial_outside_scope, type_differs_from_drawn,
};
use crate::lower::spec::Context;
use crate::lower::target::{Found, find_state, find_states};
use crate::source::{Span, Spanned};

/// The engine's event that a front end sends in place of a name that the machine doesn't have.
const UNKNOWN_EVENT: &str = "error.unknown_event";

/// Adds everything that a definition says of a state besides its transitions.
pub(super) fn add_details(
    index: StateHandle,
    named: &Named<State>,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let state = &named.value;
    let entry = intern_actions(&state.entry, draft);
    let exit = intern_actions(&state.exit, draft);
    let drafted = draft.get_mut(index);
    add_actions(&mut drafted.ir.entry, entry);
    add_actions(&mut drafted.ir.exit, exit);
    drafted.deep |= state.deep;
    if let Some(title) = &state.title {
        drafted.ir.title = Some(title.clone());
    }
    drafted.ir.description.clone_from(&state.description);
    drafted.ir.instructions.clone_from(&state.instructions);
    drafted.ir.meta.extend(state.meta.clone());
    if state
        .outcome
        .as_ref()
        .is_some_and(|outcome| outcome.value == Outcome::Failure)
    {
        drafted.ir.verdict = Verdict::Failure;
    }
    if let Some(invocation) = &state.invoke {
        set_invocation(
            index,
            &invocation.workflow,
            invocation.input.as_ref(),
            draft,
        );
    }
    if let Some(target) = &state.safe_next
        && let Some(found) = find_state(target, index, draft, context)
    {
        let event = draft.intern_engine_event(UNKNOWN_EVENT, EventKind::Unknown, target.span);
        let trigger = DraftTrigger::Events(vec![event]);
        let transition = DraftTransition::implied(target.span, index, found, trigger);
        draft.transitions.push(transition);
    }
}

/// Adds actions after those of the diagram; a definition that repeats the whole list adds nothing.
pub(super) fn add_actions(drawn: &mut Vec<Handle<Action>>, declared: Vec<Handle<Action>>) {
    if *drawn != declared {
        drawn.extend(declared);
    }
}

/// Returns the actions of some names.
pub(super) fn intern_actions(names: &[Spanned<String>], draft: &mut Draft) -> Vec<Handle<Action>> {
    names
        .iter()
        .map(|name| draft.intern_action(&name.value, name.span))
        .collect()
}

/// Adds everything that a branch says besides its target. `inside`: the target was written as a child.
pub(super) fn add_to_transition(
    transition: &mut DraftTransition,
    branch: &Branch,
    inside: bool,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    if let Some(guard) = guard::branch_guard(&branch.guards, draft, context) {
        transition.ir.guard = Some(guard);
    }
    add_actions(
        &mut transition.ir.actions,
        intern_actions(&branch.actions, draft),
    );
    if let Some(description) = &branch.description {
        transition.ir.description = Some(description.value.clone());
    }
    transition.ir.meta.extend(branch.meta.clone());
    set_internal(transition, branch, inside, draft, context);
}

/// Makes a transition with targets internal if the branch asks for it.
fn set_internal(
    transition: &mut DraftTransition,
    branch: &Branch,
    inside: bool,
    draft: &Draft,
    context: &mut Context<'_>,
) {
    if transition.ir.targets.is_empty() {
        return;
    }
    let said = branch.internal.as_ref();
    if !said.map_or(inside, |said| said.value) {
        return;
    }
    let source = transition.ir.source;
    if transition.ir.targets == [source] && !draft.get(source).has_body {
        // There is no state inside to enter again.
        transition.ir.targets.clear();
        transition.ir.internal = true;
        return;
    }
    let is_inside = |&target: &StateHandle| target != source && draft.is_within(target, source);
    if transition.ir.targets.iter().all(is_inside) {
        transition.ir.internal = true;
    } else if let Some(said) = said {
        let id = &draft.get(source).ir.id;
        context.diags.push(leaves_source(said.span, id));
    }
}

/// Returns the type of a state without a diagram, unless the rest of the state contradicts it.
pub(super) fn alone_kind(
    named: &Named<State>,
    parent: StateHandle,
    context: &mut Context<'_>,
) -> Option<Kind> {
    let (id, state) = (&named.name.value, &named.value);
    let said = state.kind.as_ref()?;
    let contradiction = match (said.value, state.states.first()) {
        (Kind::Final | Kind::Atomic | Kind::History, Some(child)) => {
            leaf_with_states(id, word(said.value), said.span, child.name.span)
        }
        (Kind::Parallel | Kind::Compound, None) => {
            composite_without_states(id, word(said.value), said.span)
        }
        (Kind::History, None) if parent == ROOT => history_of_the_machine(id, said.span),
        (Kind::History, None) => {
            if let Some((key, span)) = key_of_active_states(state) {
                context.diags.push(active_history(id, key, span));
            }
            return Some(Kind::History);
        }
        _ => return Some(said.value),
    };
    context.diags.push(contradiction);
    None
}

/// Sets the type of a drawn state, or reports a type that differs from the drawing.
pub(super) fn check_drawn_kind(
    index: StateHandle,
    named: &Named<State>,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let Some(said) = &named.value.kind else {
        return;
    };
    let drawn = draft.get(index);
    let id = &named.name.value;
    let has_states = drawn.has_body;
    let agrees = match said.value {
        Kind::Final => {
            if has_states {
                let diagnostic = composite_called_final(id, said.span, drawn.ir.span);
                context.diags.push(diagnostic);
                return;
            }
            drawn.kind != Some(Kind::History)
        }
        Kind::Parallel | Kind::History => drawn.kind == Some(said.value),
        Kind::Compound => has_states && drawn.kind.is_none(),
        Kind::Atomic => !has_states && drawn.kind.is_none(),
    };
    if !agrees {
        let diagnostic = type_differs_from_drawn(id, word(said.value), said.span, drawn.ir.span);
        context.diags.push(diagnostic);
        return;
    }
    draft.get_mut(index).kind = Some(said.value);
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Atomic => "atomic",
        Kind::Compound => "compound",
        Kind::Parallel => "parallel",
        Kind::Final => "final",
        Kind::History => "a history",
    }
}

/// Returns the first key that only a state which can be active may have.
fn key_of_active_states(state: &State) -> Option<(&'static str, Span)> {
    let names = |key, names: &[Spanned<String>]| Some((key, names.first()?.span));
    let keys = |key, on: &[Named<Vec<Branch>>]| Some((key, on.first()?.name.span));
    let branches = |key, branches: &[Branch]| Some((key, branches.first()?.span));
    keys("on", &state.on)
        .or_else(|| keys("after", &state.after))
        .or_else(|| branches("always", &state.always))
        .or_else(|| branches("on_done", &state.on_done))
        .or_else(|| names("entry", &state.entry))
        .or_else(|| names("exit", &state.exit))
        .or_else(|| Some(("invoke", state.invoke.as_ref()?.workflow.span)))
}

/// Notes in the keys for hosts that a state waits for another workflow.
pub(super) fn set_invocation(
    state: StateHandle,
    workflow: &Spanned<String>,
    input: Option<&Value>,
    draft: &mut Draft,
) {
    let meta = &mut draft.get_mut(state).ir.meta;
    meta.insert("invoke".to_owned(), workflow.value.clone().into());
    if let Some(input) = input {
        meta.insert("input".to_owned(), input.clone());
    }
}

pub(super) fn leaf_with_states(id: &str, kind: &str, at: Span, child: Span) -> Diagnostic {
    let message = format!("`{id}` can't be {kind}: it has states inside");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("contradicts its `states`")
        .related(child, format!("is inside `{id}`"))
        .help(match kind {
            "final" => format!("drop the type, and end `{id}` with a final state inside it"),
            _ => "drop the type, or move the states out".to_owned(),
        })
}

pub(super) fn composite_without_states(id: &str, kind: &str, at: Span) -> Diagnostic {
    let (needs, help) = match kind {
        "parallel" => (
            "no region inside",
            "give it a `states` with one state for each region, or drop the type",
        ),
        _ => (
            "no states inside",
            "give it `states` and an `initial`, or drop the type",
        ),
    };
    let message = format!("`{id}` can't be {kind}: it has {needs}");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("contradicts the rest of the state")
        .help(help)
}

pub(super) fn parallel_with_initial(id: &str, at: Span, kind: Span) -> Diagnostic {
    let message = format!("parallel state `{id}` begins in all its regions, not at one of them");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("a parallel state has no `initial`")
        .related(kind, format!("`{id}` is parallel"))
        .help("drop `initial`, and say in each region where it begins")
}

pub(super) fn active_history(id: &str, key: &str, at: Span) -> Diagnostic {
    let message = format!("history `{id}` is never active, so it can't have `{key}`");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("a history only leads back")
        .help(format!(
            "drop `{key}`, or move it into a state that is active"
        ))
}

pub(super) fn history_of_the_machine(id: &str, at: Span) -> Diagnostic {
    let message = format!("history `{id}` is in the machine itself, which is never exited");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("would never remember anything")
        .help("put it into the `states` of the state whose last child it shall remember")
}

/// Adds the beginning of a scope, or the default of a history.
pub(super) fn add_initial(
    scope: StateHandle,
    initial: &Initial,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let is_history = draft.get(scope).kind == Some(Kind::History);
    let composite = match is_history {
        true => draft.parent(scope),
        false => scope,
    };
    let Some(Found { states, .. }) = find_states(&initial.targets, composite, draft, context)
    else {
        return;
    };
    for (&state, name) in states.iter().zip(&initial.targets) {
        if state == composite || state == scope || !draft.is_within(state, composite) {
            context.diags.push(initial_outside_scope(
                name,
                &draft.get(composite).ir.id,
                draft.get(state).ir.span,
            ));
            return;
        }
    }
    let actions = intern_actions(&initial.actions, draft);
    draft.get_mut(scope).initials.push(ir::Initial {
        span: initial.span,
        targets: states,
        actions,
        inferred: false,
    });
}

/// Makes a state that waits for another workflow: entered by the branch, left on `done` and `error`.
pub(super) fn add_invocation(
    branch: &Branch,
    source: StateHandle,
    draft: &mut Draft,
    context: &mut Context<'_>,
) -> StateHandle {
    let parent = if source == ROOT {
        ROOT
    } else {
        draft.parent(source)
    };
    let id = format!("{}_invoke", draft.get(source).ir.id);
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
    set_invocation(waiting, workflow, input.as_ref(), draft);
    for (event, target) in [("done", Some(on_complete)), ("error", on_fail.as_ref())] {
        let Some(target) = target else { continue };
        if let Some(found) = find_state(target, source, draft, context) {
            let event = draft.intern_event(event, target.span);
            let trigger = DraftTrigger::Events(vec![event]);
            let transition = DraftTransition::implied(target.span, waiting, found, trigger);
            draft.transitions.push(transition);
        }
    }
    waiting
}
