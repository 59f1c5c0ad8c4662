//! What a definition says of events, guards and actions as such, once the draft knows which of them are used.

use super::draft::{Draft, DraftState, DraftTrigger, StateIndex};
use super::spec::Context;
use super::{report, wording};
use crate::arena::Handle;
use crate::front::definition::ast::{ActionDeclaration, Definition, Named, State};
use crate::ir::{Action, Event};
use crate::source::Spanned;

/// What the definition says of events, guards and actions as such.
pub(super) fn add_declarations(
    definition: &Definition,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for guard in definition
        .guards
        .iter()
        .filter(|guard| !context.used.contains(&guard.name.value))
    {
        context
            .diags
            .push(report::unused_declaration::unused_declaration(
                "guard",
                &guard.name,
            ));
    }
    for action in &definition.actions {
        let name = &action.name;
        if draft
            .states
            .iter()
            .all(|state| !uses(state, draft, &name.value))
            && !draft
                .transitions
                .iter()
                .any(|t| names(&t.actions, draft, &name.value))
        {
            context
                .diags
                .push(report::unused_declaration::unused_declaration(
                    "action", name,
                ));
            continue;
        }
        declare_action(action, draft, context);
    }
    // Behind the actions, which may raise events that nothing else names.
    for event in &definition.events {
        let Some(handle) = draft.event(&event.name.value) else {
            context
                .diags
                .push(report::unused_declaration::unused_declaration(
                    "event",
                    &event.name,
                ));
            continue;
        };
        let known = &mut draft.events.at_mut(handle);
        if let Some(title) = &event.value.title {
            known.title = Some(title.value.clone());
        }
        known.description = event
            .value
            .description
            .as_ref()
            .map(|text| text.value.clone());
        known.data = event.value.data.as_ref().map(|data| data.value.clone());
    }
}

fn names(list: &[Handle<Action>], draft: &Draft, name: &str) -> bool {
    list.iter()
        .any(|&action| draft.actions.at(action).name == name)
}

fn uses(state: &DraftState, draft: &Draft, name: &str) -> bool {
    names(&state.entry, draft, name)
        || names(&state.exit, draft, name)
        || state
            .initials
            .iter()
            .any(|initial| names(&initial.actions, draft, name))
}

fn declare_action(action: &Named<ActionDeclaration>, draft: &mut Draft, context: &mut Context<'_>) {
    let name = &action.name;
    let handle = draft.intern_action(&name.value, name.span);
    draft.actions.at_mut(handle).span = name.span;
    match &action.value {
        ActionDeclaration::Raise(event) => {
            let raised = wording::event(&event.value, event.span, draft, context.diags);
            draft.actions.at_mut(handle).raises = Some(raised);
        }
        ActionDeclaration::Host(meta) => {
            if meta.contains_key("assign") {
                context
                    .diags
                    .push(report::host_expression::action(&name.value, name.span));
            }
            draft.actions.at_mut(handle).meta.clone_from(meta);
        }
    }
}

/// The events that a state names without being triggered by them; they are looked up when every event is known.
pub(super) fn add_event_references(
    states: &[Named<State>],
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    for named in states {
        if let Some(index) = draft.state(&named.name.value) {
            let waiting: Vec<Handle<Event>> = named
                .value
                .while_waiting
                .iter()
                .filter_map(|event| find_event(event, draft, context))
                .collect();
            draft.get_mut(index).while_waiting = waiting;
            if let Some(event) = &named.value.on_max_iterations {
                let found = find_event(event, draft, context);
                draft.get_mut(index).on_max_iterations = found;
                let handled = found.is_none_or(|found| is_handled(index, found, draft));
                if !handled {
                    let diagnostic =
                        report::unknown_event::unhandled(event, &named.name.value, named.name.span);
                    context.diags.push(diagnostic);
                }
            }
        }
        add_event_references(&named.value.states, draft, context);
    }
}

fn is_handled(state: StateIndex, event: Handle<Event>, draft: &Draft) -> bool {
    draft.transitions.iter().any(|transition| {
        draft.is_within(state, transition.source)
            && matches!(&transition.trigger, DraftTrigger::Events(events) if events.contains(&event))
    })
}

fn find_event(
    name: &Spanned<String>,
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<Handle<Event>> {
    let found = draft.event(&name.value);
    if found.is_none() {
        let known = draft.events.iter().map(|(_, event)| event.id.as_str());
        context
            .diags
            .push(report::unknown_event::unknown_event(name, known));
    }
    found
}
