//! Declarations of events, guards and actions, once the draft knows which of them are used.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, quoted_list};
use crate::front::definition::ast::{ActionDeclaration, Definition, Guard, Named, State};
use crate::ir::{Action, ActionKind, Event};
use crate::lower::draft::{Draft, DraftTrigger, StateHandle};
use crate::lower::event::intern_named_event;
use crate::lower::expression;
use crate::lower::messages::{idle_requirement, state_for_event, unhandled_event, unknown_event};
use crate::lower::spec::Context;
use crate::pass::components::components;
use crate::source::Spanned;

/// Adds the declarations of a definition, and reports those that nothing uses.
pub(in crate::lower) fn add_declarations<'c>(
    definition: &'c Definition,
    draft: &mut Draft,
    context: &mut Context<'c>,
) {
    // A raised event has no actions of its own, so the draft has all used actions but those that compensate others.
    let used = definition.actions.iter();
    let used = used.filter(|it| draft.has_action(&it.name.value));
    let compensating: BTreeSet<&str> = used.filter_map(compensating_action).collect();
    for action in &definition.actions {
        let name = &action.name;
        if !draft.has_action(&name.value) {
            if compensating.contains(name.value.as_str()) {
                continue;
            }
            context.diags.push(unused_declaration("action", name));
            continue;
        }
        declare_action(action, draft, context);
    }
    // After the actions, whose expressions may use guards.
    for guard in unused_guards(definition, context) {
        context.diags.push(unused_declaration("guard", &guard.name));
    }
    // After the actions, which may raise events that nothing else names.
    for event in &definition.events {
        let Some(handle) = draft.event(&event.name.value) else {
            context.diags.push(unused_declaration("event", &event.name));
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

/// Returns the action that takes an action back: its `compensate`.
fn compensating_action(action: &Named<ActionDeclaration>) -> Option<&str> {
    match &action.value {
        ActionDeclaration::Raise(_) => None,
        ActionDeclaration::Assign { meta, .. } | ActionDeclaration::Host { meta, .. } => {
            meta.get("compensate")?.as_str()
        }
    }
}

fn declare_action<'c>(
    action: &'c Named<ActionDeclaration>,
    draft: &mut Draft,
    context: &mut Context<'c>,
) {
    let name = &action.name;
    let handle = draft.intern_action(&name.value, name.span);
    draft.actions.at_mut(handle).span = name.span;
    match &action.value {
        ActionDeclaration::Raise(event) => {
            let raised = intern_named_event(&event.value, event.span, draft, context.diags);
            draft.actions.at_mut(handle).kind = ActionKind::Raise(raised);
        }
        ActionDeclaration::Assign { fields, meta } => {
            let assigns = expression::assignments(fields, draft, context);
            let action = draft.actions.at_mut(handle);
            action.kind = ActionKind::Assign(assigns);
            action.meta.clone_from(meta);
        }
        ActionDeclaration::Host { meta, .. } => {
            draft.actions.at_mut(handle).meta.clone_from(meta);
        }
    }
}

/// Lets actions of the host fail: those that say so, and if `all` can, those that don't say otherwise.
pub(in crate::lower) fn let_actions_fail(
    definition: Option<&Definition>,
    all: bool,
    draft: &mut Draft,
) {
    let all = definition
        .and_then(|definition| definition.actions_fail)
        .unwrap_or(all);
    let declared = definition.map_or(&[][..], |definition| &definition.actions);
    let declared = declared.iter().filter_map(|action| {
        let ActionDeclaration::Host { fails, .. } = action.value else {
            return None;
        };
        Some((draft.action(&action.name.value)?, fails?))
    });
    let declared: BTreeMap<Handle<Action>, bool> = declared.collect();
    for handle in draft.actions.handles() {
        let action = draft.actions.at_mut(handle);
        if action.kind == ActionKind::Host && declared.get(&handle).copied().unwrap_or(all) {
            action.kind = ActionKind::Fallible;
        }
    }
}

/// Adds the events that states name without being triggered by them, once every event is known.
pub(in crate::lower) fn add_event_references(
    definition: &Definition,
    draft: &mut Draft,
    context: &mut Context<'_>,
) {
    let mut handled = BTreeSet::new();
    for transition in &draft.transitions {
        if let DraftTrigger::Events(events) = &transition.trigger {
            handled.extend(events.iter().map(|&event| (transition.ir.source, event)));
        }
    }
    add_references(&definition.states, &handled, draft, context);
}

fn add_references(
    states: &[Named<State>],
    handled: &BTreeSet<(StateHandle, Handle<Event>)>,
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
                .flat_map(|event| with_meanings(event, draft))
                .collect();
            draft.get_mut(index).ir.while_waiting = waiting;
            if let Some(event) = &named.value.on_max_iterations {
                let found = match draft.event(&event.value) {
                    None if draft.state(&event.value).is_some() => {
                        let leading = leading_events(index, &event.value, draft);
                        context.diags.push(state_as_event(event, &leading));
                        None
                    }
                    _ => find_event(event, draft, context),
                };
                draft.get_mut(index).ir.on_max_iterations = found;
                let is_handled = found.is_none_or(|found| {
                    let mut ancestry = draft.ancestry(index);
                    ancestry.any(|state| handled.contains(&(state, found)))
                });
                if !is_handled {
                    let diagnostic = unhandled_event(event, &named.name.value, named.name.span);
                    context.diags.push(diagnostic);
                }
            }
            let mut required = Vec::new();
            for event in &named.value.requires {
                let Some(found) = find_event(event, draft, context) else {
                    continue;
                };
                let meanings = with_meanings(found, draft);
                let is_handled = handled.iter().any(|&(source, event)| {
                    meanings.contains(&event)
                        && (draft.is_within(index, source) || draft.is_within(source, index))
                });
                if !is_handled {
                    let diagnostic = idle_requirement(event, &named.name.value, named.name.span);
                    context.diags.push(diagnostic);
                }
                required.push((event.value.as_str(), meanings));
            }
            name_required_events(&required, index, draft);
        }
        add_references(&named.value.states, handled, draft, context);
    }
}

/// Puts the names of events into a state's `requires`.
///
/// The text has their words there, or a label that leads to several places.
///
/// Hosts compare names of events: a requirement whose name no event has would demand nothing.
fn name_required_events(
    required: &[(&str, Vec<Handle<Event>>)],
    state: StateHandle,
    draft: &mut Draft,
) {
    let ids = |word: &str| -> Vec<String> {
        match required.iter().find(|(it, _)| *it == word) {
            Some((_, events)) => {
                let events = events.iter();
                events
                    .map(|&event| draft.events.at(event).id.clone())
                    .collect()
            }
            None => vec![word.to_owned()],
        }
    };
    let Some(Value::Object(lists)) = draft.get(state).ir.meta.get("requires") else {
        return;
    };
    let mut named = Map::new();
    for (word, list) in lists {
        for id in ids(word) {
            match (named.get_mut(&id), list) {
                (Some(Value::Array(before)), Value::Array(more)) => before.extend_from_slice(more),
                _ => {
                    named.insert(id, list.clone());
                }
            }
        }
    }
    let meta = &mut draft.get_mut(state).ir.meta;
    meta.insert("requires".to_owned(), Value::Object(named));
}

/// Returns an event, and the events that it means where it leads to several places.
fn with_meanings(event: Handle<Event>, draft: &Draft) -> Vec<Handle<Event>> {
    let mut all = vec![event];
    let ambiguities = draft.ambiguities.iter();
    for ambiguity in ambiguities.filter(|it| it.label == event) {
        for meaning in &ambiguity.events {
            if !all.contains(meaning) {
                all.push(*meaning);
            }
        }
    }
    all
}

fn find_event(
    name: &Spanned<String>,
    draft: &Draft,
    context: &mut Context<'_>,
) -> Option<Handle<Event>> {
    let found = draft.event(&name.value);
    if found.is_none() {
        let known = draft.events.iter().map(|(_, event)| event.id.as_str());
        let known = context.diags.comparable(known, draft.events.len());
        let diagnostic = unknown_event(name, known);
        context.diags.push(diagnostic);
    }
    found
}

/// Returns the events that lead from a state, or from one around it, to the state of an id.
fn leading_events(source: StateHandle, target: &str, draft: &Draft) -> Vec<String> {
    let target = draft.state(target);
    let mut names = Vec::new();
    for transition in &draft.transitions {
        let leads = target.is_some_and(|target| transition.ir.targets.contains(&target));
        if !leads || !draft.is_within(source, transition.ir.source) {
            continue;
        }
        if let DraftTrigger::Events(events) = &transition.trigger {
            names.extend(
                events
                    .iter()
                    .map(|&event| draft.events.at(event).id.clone()),
            );
        }
    }
    names
}

/// Most unused guards of which it is asked whether they name each other.
///
/// Unit: guards. Why: the work grows with the square of them; of more, all are reported.
const MOST_UNUSED: usize = 256;

/// Returns the guards that nothing uses, but for those that others of them name.
///
/// Guards that name each other are used by nothing, either.
fn unused_guards<'c>(definition: &'c Definition, context: &Context<'c>) -> Vec<&'c Named<Guard>> {
    let guards = definition.guards.iter();
    let unused: Vec<_> = guards
        .filter(|guard| !context.used.contains(&guard.name.value))
        .collect();
    if unused.len() > MOST_UNUSED {
        return unused;
    }
    let named_by = |guard: &Named<Guard>| {
        let others = unused.iter().enumerate();
        let named = others.filter(|(_, it)| names_guard(&guard.value, &it.name.value));
        named.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let next: Vec<Vec<usize>> = unused.iter().map(|guard| named_by(guard)).collect();
    let is_named = |group: &[usize]| {
        let others = (0..next.len()).filter(|at| !group.contains(at));
        let mut names = others.filter_map(|at| next.get(at)).flatten();
        names.any(|it| group.contains(it))
    };
    let mut roots: Vec<usize> = components(&next)
        .into_iter()
        .filter(|group| !is_named(group))
        .flatten()
        .collect();
    roots.sort_unstable();
    let roots = roots.into_iter();
    roots.filter_map(|at| unused.get(at).copied()).collect()
}

/// Reports whether a guard names another one.
///
/// Recursion is bounded by the text's nesting, which was limited.
fn names_guard(guard: &Guard, name: &str) -> bool {
    match guard {
        Guard::Compare { .. } => false,
        Guard::All(parts) | Guard::Any(parts) => {
            parts.iter().any(|part| names_guard(&part.value, name))
        }
        Guard::Not(part) => names_guard(&part.value, name),
        Guard::Text(text) => text
            .value
            .split(|sign: char| !sign.is_alphanumeric() && sign != '_')
            .any(|word| word == name),
    }
}

/// Reports a state where an event is expected. `leading`: the events that lead to it.
fn state_as_event(name: &Spanned<String>, leading: &[String]) -> Diagnostic {
    let state = &name.value;
    let message = format!("`{state}` is a state, and `on_max_iterations` names an event");
    let diagnostic = state_for_event(name.span, message);
    match leading {
        [] => diagnostic.help(format!(
            "add a transition to `{state}`, and name its event here"
        )),
        [only] => diagnostic.did_you_mean(only, name.span, "\""),
        events => {
            let events: Vec<&str> = events.iter().map(String::as_str).collect();
            diagnostic.help(format!(
                "name an event that leads there: {}",
                quoted_list(&events)
            ))
        }
    }
}

fn unused_declaration(what: &str, name: &Spanned<String>) -> Diagnostic {
    let message = format!("{what} `{}` is declared but never used", name.value);
    Diagnostic::new(Code::UnusedDeclaration, name.span, message)
        .label("nothing names it")
        .help("use it, or remove it; if you meant to use it, look for a misspelling there")
}
