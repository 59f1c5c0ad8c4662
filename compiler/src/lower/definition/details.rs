//! What a definition says of a state beside its transitions, and of a branch beside its target, alone or with a diagram.

use serde_json::Value;

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic};
use crate::front::definition::ast::{Branch, Kind, Named, Outcome, State};
use crate::front::definition::messages::leaves_source;
use crate::ir::{Action, EventKind, Verdict};
use crate::lower::draft::{Draft, DraftTransition, DraftTrigger, ROOT, StateIndex};
use crate::lower::guard;
use crate::lower::messages::{composite_called_final, type_differs_from_drawn};
use crate::lower::spec::Context;
use crate::lower::target::find_one;
use crate::source::{Span, Spanned};

/// The engine's event that a face sends in place of a name that the machine doesn't have.
const UNKNOWN_EVENT: &str = "error.unknown_event";

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
    let draft_state = draft.get_mut(index);
    add_actions(&mut draft_state.entry, entry);
    add_actions(&mut draft_state.exit, exit);
    draft_state.deep |= state.deep;
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
    if let Some(invocation) = &state.invoke {
        invoke(
            index,
            &invocation.workflow,
            invocation.input.as_ref(),
            draft,
        );
    }
    if let Some(target) = &state.safe_next
        && let Some(found) = find_one(target, index, draft, context)
    {
        let event = draft.intern_engine_event(UNKNOWN_EVENT, EventKind::Unknown, target.span);
        let mut transition = DraftTransition::new(target.span, index, Some(found));
        transition.trigger = DraftTrigger::Events(vec![event]);
        transition.implied = true;
        draft.transitions.push(transition);
    }
}

/// Adds actions behind those that the diagram has; a definition that says the same list again adds nothing.
pub(super) fn add_actions(drawn: &mut Vec<Handle<Action>>, declared: Vec<Handle<Action>>) {
    if *drawn != declared {
        drawn.extend(declared);
    }
}

pub(super) fn actions(names: &[Spanned<String>], draft: &mut Draft) -> Vec<Handle<Action>> {
    names
        .iter()
        .map(|name| draft.intern_action(&name.value, name.span))
        .collect()
}

/// What a branch says beside its target. `inside`: whether the target was written as a child of the source.
pub(super) fn add_to_transition(
    transition: &mut DraftTransition,
    branch: &Branch,
    inside: bool,
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
    settle_internal(transition, branch, inside, draft, context);
}

/// Whether a transition with targets leaves its source.
fn settle_internal(
    transition: &mut DraftTransition,
    branch: &Branch,
    inside: bool,
    draft: &Draft,
    context: &mut Context<'_>,
) {
    if transition.targets.is_empty() {
        return;
    }
    let said = branch.internal.as_ref();
    if !said.map_or(inside, |said| said.value) {
        return;
    }
    let source = transition.source;
    if transition.targets == [source] && !draft.get(source).has_body {
        // Without a state inside there is nothing to enter again.
        transition.targets.clear();
        transition.internal = true;
        return;
    }
    let is_inside = |&target: &StateIndex| target != source && draft.is_within(target, source);
    if transition.targets.iter().all(is_inside) {
        transition.internal = true;
    } else if let Some(said) = said {
        let id = &draft.get(source).id;
        context.diags.push(leaves_source(said.span, id));
    }
}

/// The type of a state of a definition alone, unless the rest of the state contradicts it, which is told.
pub(super) fn kind_alone(
    named: &Named<State>,
    parent: StateIndex,
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
            if let Some((key, span)) = of_active_states(state) {
                let diagnostic = active_history(id, key, span);
                context.diags.push(diagnostic);
            }
            return Some(Kind::History);
        }
        _ => return Some(said.value),
    };
    context.diags.push(contradiction);
    None
}

/// The type of a state beside a diagram, which must be what is drawn; what differs is told.
pub(super) fn kind_drawn(
    index: StateIndex,
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
                let diagnostic = composite_called_final(id, said.span, drawn.span);
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
        let diagnostic = type_differs_from_drawn(id, word(said.value), said.span, drawn.span);
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

/// The first thing that only a state which can be active has.
fn of_active_states(state: &State) -> Option<(&'static str, Span)> {
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

/// Notes that a state waits for another workflow.
pub(super) fn invoke(
    state: StateIndex,
    workflow: &Spanned<String>,
    input: Option<&Value>,
    draft: &mut Draft,
) {
    let meta = &mut draft.get_mut(state).meta;
    meta.insert("invoke".to_owned(), workflow.value.clone().into());
    if let Some(input) = input {
        meta.insert("input".to_owned(), input.clone());
    }
}

pub(super) fn leaf_with_states(id: &str, kind: &str, at: Span, child: Span) -> Diagnostic {
    let message = format!("`{id}` can't be {kind}: it has states inside");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("contradicts its `states`")
        .related(child, format!("stands inside `{id}`"))
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
    let message = format!("history `{id}` is never active, so that it can't have `{key}`");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("a history only leads back")
        .help(format!(
            "drop `{key}`, or move it into a state that is active"
        ))
}

pub(super) fn history_of_the_machine(id: &str, at: Span) -> Diagnostic {
    let message = format!("history `{id}` stands in the machine itself, which is never left");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("would never remember anything")
        .help("put it into the `states` of the state whose last child it shall remember")
}
