//! Remedies that are events: what an event needs, and which event leads where another is taken.

use std::collections::BTreeSet;

use serde_json::Value;
use statemark_runtime::{StateId, Table};

use super::{Legal, Legality};
use crate::guard::{Fact, Unmet};
use crate::remedy::Remedy;

impl Legality<'_> {
    /// Returns the remedy that sends an event, with the fields that it needs.
    pub(crate) fn sending(&self, event: &str) -> Remedy {
        Remedy::Send {
            event: event.to_owned(),
            fields: self.required_fields(event),
            claims: Vec::new(),
        }
    }

    /// Returns the remedy that sends an enabled event.
    pub(crate) fn any_event(&self) -> Option<Remedy> {
        let event = self.enabled_events().into_iter().next()?;
        Some(self.sending(&event))
    }

    /// Returns the remedy that sends another enabled event.
    pub(crate) fn event_other_than(&self, event: &str) -> Option<Remedy> {
        let mut enabled = self.enabled_events().into_iter();
        let other = enabled.find(|it| it != event)?;
        Some(self.sending(&other))
    }

    /// Returns the remedy of a false guard.
    ///
    /// It is other data, or the event that leads nearer to the state that the guard asks for.
    pub(crate) fn toward_guard(&self, event: &str, unmet: &[Unmet]) -> Option<Remedy> {
        let by_data = |unmet: &Unmet| {
            unmet
                .facts
                .iter()
                .any(|it| self.sendable(event, &it.field).is_some())
        };
        if unmet.iter().all(by_data) {
            let mut fields = self.required_fields(event);
            let facts = unmet.iter().flat_map(|it| &it.facts);
            self.add_fields(event, &mut fields, facts);
            let event = event.to_owned();
            let claims = Vec::new();
            return Some(Remedy::Send {
                event,
                fields,
                claims,
            });
        }
        let [only] = unmet else {
            return None;
        };
        let table = self.run.workflow.table();
        let states = only
            .states
            .iter()
            .filter_map(|name| table.state_named(name));
        let states: Vec<StateId> = states.collect();
        let enabled = self.transitions().ok()?.into_iter().filter(|it| it.enabled);
        let paths = enabled.filter_map(|legal| Some((distance(table, &legal, &states)?, legal)));
        let (_, nearest) = paths.min_by_key(|(steps, _)| *steps)?;
        Some(self.sending(&nearest.event))
    }

    /// Returns the fields that an event can bring to any use.
    ///
    /// They are those that its guards read or that it needs, and those of the context that its data are merged into.
    #[must_use]
    pub fn data_fields(&self, event: &str) -> Vec<String> {
        let mut fields = self.fields_of(event);
        let context = self.run.state.context.iter().map(|(field, _)| field);
        for field in context.filter_map(|field| self.sendable(event, field)) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// Returns the fields that an event needs, or that guards of it read and the event can bring.
    pub(crate) fn fields_of(&self, event: &str) -> Vec<String> {
        let mut fields = self.required_fields(event);
        let transitions = self.transitions_of(Some(event), None).unwrap_or_default();
        let facts = transitions.iter().flat_map(|it| &it.facts);
        self.add_fields(event, &mut fields, facts);
        fields
    }

    fn add_fields<'f>(
        &self,
        event: &str,
        fields: &mut Vec<String>,
        facts: impl Iterator<Item = &'f Fact>,
    ) {
        for field in facts.filter_map(|fact| self.sendable(event, &fact.field)) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
    }

    /// Returns the name under which an event can bring a field.
    ///
    /// `event.x` is a field of its own data; another is one of the context, which its data may be merged into.
    pub(crate) fn sendable(&self, event: &str, field: &str) -> Option<String> {
        if let Some(own) = field.strip_prefix("event.") {
            return Some(own.to_owned());
        }
        let top = field.split('.').next().unwrap_or(field);
        let table = self.run.workflow.table();
        let is_merged = table.merges(table.event_named(event), top);
        is_merged.then(|| field.to_owned())
    }

    /// Returns the fields without which an event is refused.
    pub(crate) fn required_fields(&self, event: &str) -> Vec<String> {
        let id = self.run.workflow.table().event_named(event);
        let schema = id.and_then(|id| self.run.workflow.event_meta(id).get("data"));
        let names = schema.and_then(|it| it.get("required")?.as_array());
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }
}

/// Returns the states that take an event.
pub(crate) fn takers(table: &Table, event: &str) -> Vec<StateId> {
    let Some(event) = table.event_named(event) else {
        return Vec::new();
    };
    let triggered = table
        .transitions()
        .filter(|(transition, _)| table.triggers(*transition).contains(&event));
    let mut takers: Vec<StateId> = triggered.map(|(_, row)| row.source).collect();
    // Transitions are sorted by source.
    takers.dedup();
    takers
}

/// Returns the least number of transitions after this one until one of the states is active.
///
/// Guards aren't asked, and whatever a state may contain counts as entered with it: so this says which event leads nearer,
/// not that the rest of the path is open.
pub(crate) fn distance(table: &Table, legal: &Legal, states: &[StateId]) -> Option<usize> {
    let mut reached: BTreeSet<StateId> = BTreeSet::new();
    for target in legal.to.iter().filter_map(|name| table.state_named(name)) {
        reach(table, target, &mut reached);
    }
    for steps in 0.. {
        if states.iter().any(|state| reached.contains(state)) {
            return Some(steps);
        }
        let before = reached.len();
        let open = table
            .transitions()
            .filter(|(_, row)| reached.contains(&row.source));
        let targets: Vec<StateId> = open
            .flat_map(|(transition, _)| table.targets(transition))
            .copied()
            .collect();
        for target in targets {
            reach(table, target, &mut reached);
        }
        if reached.len() == before {
            return None;
        }
    }
    None
}

/// Adds a state with its ancestors and descendants.
fn reach(table: &Table, state: StateId, reached: &mut BTreeSet<StateId>) {
    let is_history = table.state(state).is_some_and(|row| row.kind.is_history());
    let state = match table.parent(state) {
        Some(parent) if is_history => parent,
        _ => state,
    };
    let all = table.states().map(|(id, _)| id);
    reached.extend(all.filter(|id| *id == state || table.is_descendant(*id, state)));
    reached.extend(table.chain(state));
}
