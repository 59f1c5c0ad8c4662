//! Events, and what descriptors match.
//!
//! In SCXML `door` matches `door`, `door.open` and whatever else begins with `door.`. Which names there are is known
//! before the machine runs: those that the document writes anywhere, and the engine's own. So each transition gets the
//! whole list. Source: SCXML 3.12.1, *Event Descriptors*.

use std::collections::{BTreeMap, BTreeSet};

use super::{Lowering, plain};
use crate::arena::{Arena, Handle};
use crate::front::scxml::ast::{self, Content, ContentKind, Kind, visit_content};
use crate::front::scxml::messages;
use crate::ir::{Ambiguity, Event, EventKind, State, StateKind, Transition};
use crate::source::{Span, Spanned};

/// The event that is raised if an assignment has no value.
pub(super) const FAULT: &str = "error.execution";

/// The event that a front end sends for a name that the machine doesn't have.
const UNKNOWN: &str = "error.unknown_event";

/// Begins the names of the events of completion.
const DONE: &str = "done.state.";

/// The descriptors of a document, and what of it may fail.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The descriptors that match what begins with them, too.
    open: BTreeSet<String>,
    /// The descriptors that match their own name alone.
    exact: BTreeSet<String>,
    assigns: bool,
    /// True if a `<send>` fails, which raises an error with its id.
    pub(super) fails_to_send: bool,
}

impl Known {
    /// Returns true if a transition waits for it.
    pub(super) fn is_awaited(&self, event: &str) -> bool {
        let ends = event.match_indices('.').map(|(end, _)| end);
        let mut beginnings = ends.chain([event.len()]).filter_map(|end| event.get(..end));
        self.awaits_all()
            || self.exact.contains(event)
            || beginnings.any(|beginning| self.open.contains(beginning))
    }

    /// Returns true if a transition waits for every event.
    fn awaits_all(&self) -> bool {
        self.open.contains("*") || self.exact.contains("*")
    }
}

/// Strips the `.*` that changes nothing from a descriptor.
fn descriptor(word: &Spanned<String>) -> String {
    let text = plain(word);
    let plain = text.strip_suffix(".*").unwrap_or(&text);
    plain.trim_end_matches('.').to_owned()
}

/// Returns the events that a descriptor matches, by name.
fn matched<'e, E>(
    descriptor: &str,
    exact: bool,
    events: &'e BTreeMap<String, E>,
) -> impl Iterator<Item = &'e E> {
    let is_all = descriptor == "*";
    let all = is_all.then(|| events.values());
    let same = events.get(descriptor).filter(|_| !is_all);
    // `/` follows `.`: between them are the names that begin with the descriptor and a dot.
    let inside = format!("{descriptor}.")..format!("{descriptor}/");
    let inside = (!exact && !is_all).then(|| events.range(inside));
    let inside = inside.into_iter().flatten().map(|(_, event)| event);
    all.into_iter().flatten().chain(same).chain(inside)
}

impl Lowering<'_, '_> {
    /// Makes an event of every name that the document writes, in the order of the text.
    ///
    /// The engine's events that something waits for follow them.
    pub(super) fn find_events(&mut self) {
        for node in self.nodes.clone() {
            let state = node.state;
            if let Some(initial) = &state.initial {
                self.mention(&initial.content);
            }
            state
                .entry
                .iter()
                .chain(&state.exit)
                .for_each(|block| self.mention(block));
            for transition in &state.transitions {
                for word in transition.events.iter().flatten() {
                    let name = descriptor(word);
                    if name != "*" && !name.is_empty() {
                        self.mention_event(&name, word.span);
                    }
                    match transition.exact {
                        true => self.known.exact.insert(name),
                        false => self.known.open.insert(name),
                    };
                }
                self.mention(&transition.content);
            }
        }
        for index in 0..self.nodes.len() {
            let state = Handle::at(index);
            let name = format!("{DONE}{}", self.id_of(state));
            if self.can_be_done(state) && self.known.is_awaited(&name) {
                self.add_event(&name, self.place_of(state));
            }
        }
        let span = self.document.span;
        for declared in &self.document.events {
            let event = self.event(&declared.name);
            if declared.delayed {
                self.events.at_mut(event).kind = EventKind::Delayed;
            }
        }
        for (_, event) in &self.document.timers {
            self.event(event);
        }
        for label in &self.document.labels {
            self.event(&label.name);
        }
        let fails = self.known.assigns || !self.data.failures.is_empty();
        if fails && !self.document.native {
            self.add_event(FAULT, span);
        }
        if self.known.awaits_all() {
            self.add_event(UNKNOWN, span);
        }
    }

    /// Returns true if a state may be done: a final state is its child, or it is parallel.
    fn can_be_done(&self, state: Handle<State>) -> bool {
        let Some(node) = self.node(state).filter(|node| node.parent.is_some()) else {
            return false;
        };
        let mut inside = node.state.children.iter();
        match self.kind(state) {
            StateKind::Compound => inside.any(|child| child.kind == Kind::Final),
            StateKind::Parallel => true,
            _ => false,
        }
    }

    fn mention(&mut self, list: &[Content]) {
        visit_content(list, &mut |content| match content {
            ContentKind::Raise(event) | ContentKind::Send { event, .. } => {
                self.mention_event(&plain(event), event.span);
            }
            ContentKind::Assign(_) => self.known.assigns = true,
            ContentKind::Failure => {
                self.known.assigns = true;
                self.known.fails_to_send = true;
            }
            _ => {}
        });
    }

    /// Mentions an event that the document names.
    ///
    /// A part of the engine's names (`done`, `done.state`) is no event by itself; a completion that never comes is
    /// reported with the transition that waits for it.
    fn mention_event(&mut self, name: &str, span: Span) {
        let is_engines = name == "done.state" || name.starts_with(DONE);
        let completed = name.strip_prefix(DONE).and_then(|id| self.by_id.get(id));
        if !is_engines || completed.is_some() {
            self.add_event(name, span);
        }
    }

    fn add_event(&mut self, name: &str, span: Span) -> Handle<Event> {
        if let Some(&event) = self.event_ids.get(name) {
            return event;
        }
        let completed = name.strip_prefix(DONE).and_then(|id| self.by_id.get(id));
        let kind = match (name, completed) {
            (FAULT, _) => EventKind::Fault,
            (UNKNOWN, _) => EventKind::Unknown,
            // Also of one that is never done: the checks say so.
            (_, Some(&state)) => EventKind::Completion(state),
            _ => EventKind::Named,
        };
        let event = self.events.append(Event {
            id: name.to_owned(),
            span,
            kind,
            title: None,
            description: None,
            data: None,
        });
        self.event_ids.insert(name.to_owned(), event);
        event
    }

    /// Returns the event of a name that was mentioned, and makes one of the engine's that nothing raises.
    pub(super) fn event(&mut self, name: &Spanned<String>) -> Handle<Event> {
        self.add_event(&plain(name), name.span)
    }

    /// Returns the labels that lead to several places, and reports those that don't.
    pub(super) fn ambiguities(
        &mut self,
        states: &Arena<State>,
        transitions: &Arena<Transition>,
    ) -> Vec<Ambiguity> {
        let mut found = Vec::new();
        for label in &self.document.labels {
            let source = self.by_id.get(&plain(&label.state)).copied();
            let event = self.event_ids.get(&plain(&label.name)).copied();
            let events = label.events.iter();
            let mut events: Vec<Handle<Event>> = events
                .filter_map(|event| self.event_ids.get(&plain(event)).copied())
                .collect();
            events.sort_unstable();
            events.dedup();
            let is_sendable = |&event: &Handle<Event>| self.events.at(event).kind.is_sendable();
            let takes = |event: Handle<Event>| {
                let range = source.map_or(0..0, |state| states.at(state).transitions.clone());
                let mut own = range.map(|index| transitions.at(Handle::at(index)));
                own.any(|transition| transition.triggers.contains(&event))
            };
            let is_split = events.len() > 1
                && events.len() == label.events.len()
                && events
                    .iter()
                    .all(|event| is_sendable(event) && takes(*event))
                && event.is_some_and(|label| is_sendable(&label) && !takes(label));
            match source.zip(event).filter(|_| is_split) {
                Some((source, label)) => found.push(Ambiguity {
                    source,
                    label,
                    events,
                }),
                None => self.diags.push(messages::no_ambiguity(label)),
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|it| (it.source, it.label));
        found
    }

    /// Returns the event `done.state.<id>` of a state, if something waits for it.
    pub(super) fn done_event(&self, id: &str, kind: StateKind) -> Option<Handle<Event>> {
        if !kind.has_children() {
            return None;
        }
        let event = *self.event_ids.get(&format!("{DONE}{id}"))?;
        matches!(self.events.at(event).kind, EventKind::Completion(_)).then_some(event)
    }

    /// Returns the events that trigger a transition, each once, in the order of the machine's events.
    pub(super) fn triggers(&mut self, transition: &ast::Transition) -> Vec<Handle<Event>> {
        let mut found = Vec::new();
        let is_full = self.triggers.is_exceeded();
        for word in transition.events.iter().flatten().filter(|_| !is_full) {
            let name = descriptor(word);
            let before = found.len();
            found.extend(matched(&name, transition.exact, &self.event_ids).copied());
            if found.len() == before && !name.is_empty() {
                self.diags.push(messages::never_done(word));
            }
        }
        found.sort_unstable();
        found.dedup();
        self.triggers
            .add(&mut found, self.document.span, self.diags);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Known, matched};

    #[test]
    fn a_descriptor_matches_whole_words_in_front() {
        for (descriptor, exact, event, expected) in [
            ("door", false, "door", true),
            ("door", false, "door.open", true),
            ("door", false, "door.open.wide", true),
            ("door", false, "doors", false),
            ("door", false, "door-open", false),
            ("door.open", false, "door", false),
            ("*", false, "door", true),
            ("*", true, "door.open", true),
            ("door", true, "door.open", false),
            ("door", true, "door", true),
        ] {
            let events = BTreeMap::from([(event.to_owned(), ())]);
            let count = matched(descriptor, exact, &events).count();
            assert_eq!(count, usize::from(expected), "{descriptor} {event}");
            let mut known = Known::default();
            let list = if exact {
                &mut known.exact
            } else {
                &mut known.open
            };
            list.insert(descriptor.to_owned());
            assert_eq!(known.is_awaited(event), expected, "{descriptor} {event}");
        }
    }
}
