//! `job.*` and `*` in a definition: the events of the machine that begin so, once all of them are known.
//!
//! The engine's own events (`done.state.…`, `after.…`, `error.…`) are none of them. An event that an earlier transition of
//! the same state takes without a guard is left out: it would never get there.

use std::collections::BTreeSet;

use super::draft::{Draft, DraftTrigger};
use super::messages::pattern_without_events;
use super::spec::Context;
use super::words::word_key;
use crate::arena::Handle;
use crate::front::definition::ast::Definition;
use crate::ir::{Event, EventKind};

/// Whether the name of an event stands for several.
pub(super) fn is_pattern(name: &str) -> bool {
    name == "*" || name.ends_with(".*")
}

/// Whether an event is one of those that a pattern stands for.
pub(super) fn matches(pattern: &str, event: &str) -> bool {
    let Some(prefix) = pattern.strip_suffix('*') else {
        return false;
    };
    let words = word_key(event);
    match prefix.strip_suffix('.') {
        None => true,
        Some(prefix) => words
            .strip_prefix(&word_key(prefix))
            .is_some_and(|rest| rest.len() > 1 && rest.starts_with('.')),
    }
}

/// Makes the events that a definition declares and that only patterns name.
pub(super) fn note_declared(definition: &Definition, draft: &mut Draft) {
    let patterns: Vec<String> = patterns(draft).collect();
    for event in &definition.events {
        let name = &event.name.value;
        if patterns.iter().any(|pattern| matches(pattern, name)) {
            draft.intern_event(name, event.name.span);
        }
    }
}

fn patterns(draft: &Draft) -> impl Iterator<Item = String> + '_ {
    let triggers = draft.transitions.iter().map(|it| &it.trigger);
    triggers.filter_map(|trigger| match trigger {
        DraftTrigger::Pattern(pattern) => Some(pattern.value.clone()),
        _ => None,
    })
}

/// Gives every transition with a pattern its events.
pub(super) fn settle(draft: &mut Draft, context: &mut Context<'_>) {
    let named = draft.events.iter();
    let named: Vec<(Handle<Event>, String)> = named
        .filter(|(_, event)| event.kind == EventKind::Named)
        .map(|(handle, event)| (handle, event.id.clone()))
        .collect();
    let mut taken: BTreeSet<(usize, Handle<Event>)> = BTreeSet::new();
    for index in 0..draft.transitions.len() {
        let Some(transition) = draft.transitions.get_mut(index) else {
            continue;
        };
        let source = transition.source;
        if let DraftTrigger::Pattern(pattern) = &transition.trigger {
            let own = named.iter().filter(|(_, id)| matches(&pattern.value, id));
            let events: Vec<Handle<Event>> = own
                .map(|&(event, _)| event)
                .filter(|&event| !taken.contains(&(source, event)))
                .collect();
            if events.is_empty() && !context.broken {
                let known = named.iter().map(|(_, id)| id.as_str());
                let diagnostic = pattern_without_events(pattern, known);
                context.diags.push(diagnostic);
            }
            transition.trigger = DraftTrigger::Events(events);
        }
        if let (DraftTrigger::Events(events), None) = (&transition.trigger, &transition.guard) {
            taken.extend(events.iter().map(|&event| (source, event)));
        }
    }
    // One that is left with no event would be taken at once.
    draft
        .transitions
        .retain(|it| !matches!(&it.trigger, DraftTrigger::Events(events) if events.is_empty()));
}
