//! The data model: what the machine begins with, and what conditions call.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Writer;
use crate::arena::Handle;
use crate::front::scxml::escaped;
use crate::ir::{
    ActionKind, Constant, EventKind, Expression, ExpressionKind, Field, HostGuard, Machine,
    Operator,
};

/// The guards that a document declares.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// The id of each guard of the host's in conditions, by index.
    hosts: BTreeMap<usize, String>,
    /// The id of each comparison in conditions: of its field, its operator and its constants.
    compared: Vec<(Expression, String)>,
    /// The names of the data.
    roots: BTreeSet<String>,
    taken: BTreeSet<String>,
}

impl Declared {
    /// Collects all that a machine's conditions and values need.
    pub(super) fn new(machine: &Machine, uses: &[usize]) -> Self {
        let mut declared = Self::default();
        if let Some(Value::Object(context)) = &machine.context {
            declared.roots.extend(context.keys().cloned());
        }
        for (_, field) in machine.fields.iter() {
            let root = field.path.split('.').next().unwrap_or("");
            declared.taken.insert(root.to_owned());
        }
        declared.taken.extend(declared.roots.iter().cloned());
        for (_, transition) in machine.transitions.iter() {
            if let Some(guard) = &transition.guard {
                declared.expression(machine, &guard.value);
            }
        }
        for (handle, action) in machine.actions.iter() {
            if uses.get(handle.index()).is_none_or(|&uses| uses == 0) {
                continue;
            }
            match &action.kind {
                ActionKind::If { guard, .. } => declared.expression(machine, guard),
                ActionKind::Assign(list) => {
                    for assign in list {
                        declared.field(machine, assign.field);
                        declared.expression(machine, &assign.value);
                    }
                }
                _ => {}
            }
        }
        declared.name_guards(machine);
        declared
    }

    fn expression(&mut self, machine: &Machine, expression: &Expression) {
        expression.visit(&mut |part| match &part.kind {
            ExpressionKind::Field(field) | ExpressionKind::Has(field) => {
                self.field(machine, *field);
            }
            ExpressionKind::Ask(host) => self.host(*host),
            ExpressionKind::Compare { .. }
                if self.compared.iter().all(|(known, _)| known != part) =>
            {
                self.compared.push((part.clone(), String::new()));
            }
            _ => {}
        });
    }

    fn field(&mut self, machine: &Machine, field: Handle<Field>) {
        let path = &machine.fields.at(field).path;
        let root = path.split('.').next().unwrap_or("");
        if root != "event" {
            self.roots.insert(root.to_owned());
        }
    }

    fn host(&mut self, host: Handle<HostGuard>) {
        self.hosts.entry(host.index()).or_default();
    }

    /// Gives each guard its id: in an order that a reader can't change, which meets them in another.
    fn name_guards(&mut self, machine: &Machine) {
        let hosts: Vec<usize> = self.hosts.keys().copied().collect();
        for host in hosts {
            let id = self.free(&machine.guards.at(Handle::at(host)).name);
            self.hosts.insert(host, id);
        }
        let mut compared = std::mem::take(&mut self.compared);
        compared.sort_by_cached_key(|(guard, _)| match &guard.kind {
            ExpressionKind::Compare {
                field,
                operator,
                constants,
            } => (
                machine.fields.at(*field).path.clone(),
                operator.name(),
                format!("{constants:?}"),
            ),
            _ => <(String, &str, String)>::default(),
        });
        for (guard, id) in &mut compared {
            if let ExpressionKind::Compare { field, .. } = &guard.kind {
                *id = self.free(&format!("when_{}", machine.fields.at(*field).path));
            }
        }
        self.compared = compared;
    }

    /// Returns a name that conditions can hold, and that nothing else has.
    fn free(&mut self, name: &str) -> String {
        let mut id: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let is_word = ["true", "false", "null", "in", "has", "size", "event"];
        let starts_well = id.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts_well || is_word.contains(&id.as_str()) {
            id.insert(0, '_');
        }
        let mut free = id.clone();
        let mut count = 1_usize;
        while !self.taken.insert(free.clone()) {
            count += 1;
            free = format!("{id}_{count}");
        }
        free
    }

    /// Returns the id in conditions of a guard of the host's.
    pub(super) fn name_of_host(&self, host: Handle<HostGuard>) -> &str {
        self.hosts.get(&host.index()).map_or("", String::as_str)
    }

    /// Returns the id in conditions of the comparison that `is` finds by field, operator and constants.
    pub(super) fn comparison(
        &self,
        is: impl Fn(Handle<Field>, Operator, &[Constant]) -> bool,
    ) -> Option<&str> {
        let mut all = self.compared.iter();
        let found = all.find(|(comparison, _)| match &comparison.kind {
            ExpressionKind::Compare {
                field,
                operator,
                constants,
            } => is(*field, *operator, constants),
            _ => false,
        });
        found.map(|(_, id)| id.as_str())
    }
}

impl Writer<'_> {
    /// Writes the part before the states: data, guards, and what nothing else names.
    pub(super) fn preamble(&mut self) {
        let declared = std::mem::take(&mut self.declared);
        if !(declared.roots.is_empty() && declared.hosts.is_empty() && declared.compared.is_empty())
        {
            self.line("<datamodel>");
            self.depth += 1;
            self.data(&declared);
            self.depth -= 1;
            self.line("</datamodel>");
        }
        self.declared = declared;
        let machine = self.machine;
        for (handle, timer) in machine.timers.iter() {
            if !self.scheduled.contains(&handle.index()) {
                self.mentioned.insert(timer.event.index());
                let id = escaped(self.timers.get(handle.index()));
                let event = escaped(self.events.get(timer.event.index()));
                self.line(&format!("<statemark:timer id=\"{id}\" event=\"{event}\"/>"));
            }
        }
        let mut events: Vec<String> = Vec::new();
        for (handle, event) in machine.events.iter() {
            let name = escaped(self.events.get(handle.index()));
            if event.kind == EventKind::Delayed {
                events.push(format!(
                    "<statemark:event name=\"{name}\" kind=\"delayed\"/>"
                ));
            } else if !self.mentioned.contains(&handle.index()) {
                events.push(format!("<statemark:event name=\"{name}\"/>"));
            }
        }
        // As the triggers of a transition, in an order that a reader can't change.
        events.sort_unstable();
        for line in events {
            self.line(&line);
        }
        for ambiguity in &machine.ambiguities {
            let name = escaped(self.events.get(ambiguity.label.index()));
            let state = escaped(self.states.get(ambiguity.source.index()));
            let events = ambiguity.events.iter();
            let mut events: Vec<String> = events
                .map(|event| escaped(self.events.get(event.index())))
                .collect();
            events.sort_unstable();
            let events = events.join(" ");
            self.line(&format!(
                "<statemark:label name=\"{name}\" state=\"{state}\" events=\"{events}\"/>"
            ));
        }
    }

    fn data(&mut self, declared: &Declared) {
        let machine = self.machine;
        let values = machine.context.as_ref().and_then(Value::as_object);
        for root in &declared.roots {
            let value = values.and_then(|values| values.get(root));
            let value = value.map_or_else(String::new, |value| {
                format!(" expr=\"{}\"", escaped(&value.to_string()))
            });
            self.line(&format!("<data id=\"{}\"{value}/>", escaped(root)));
        }
        for (index, id) in &declared.hosts {
            let guard = machine.guards.at(Handle::at(*index));
            let name = &guard.name;
            let named = if name == id {
                String::new()
            } else {
                format!(" name=\"{}\"", escaped(name))
            };
            let claim = match guard.is_claim {
                true => format!(" claim=\"{}\"", escaped(&guard.text)),
                false => String::new(),
            };
            self.line(&format!("<statemark:guard id=\"{id}\"{named}{claim}/>"));
        }
        for (guard, id) in &declared.compared {
            let ExpressionKind::Compare {
                field,
                operator,
                constants,
            } = &guard.kind
            else {
                continue;
            };
            let path = escaped(&machine.fields.at(*field).path);
            let list: Vec<Value> = constants.iter().map(json).collect();
            let value = if !operator.needs_presence() {
                String::new()
            } else {
                format!(" value=\"{}\"", escaped(&Value::from(list).to_string()))
            };
            let operator = operator.name();
            self.line(&format!(
                "<statemark:guard id=\"{id}\" field=\"{path}\" operator=\"{operator}\"{value}/>"
            ));
        }
    }
}

fn json(constant: &Constant) -> Value {
    match constant {
        Constant::Null => Value::Null,
        Constant::Bool(value) => (*value).into(),
        Constant::Int(value) => match i64::try_from(*value) {
            Ok(small) => small.into(),
            Err(_) => u64::try_from(*value).unwrap_or(u64::MAX).into(),
        },
        Constant::Float(value) => (*value).into(),
        Constant::Text(text) => text.as_str().into(),
    }
}
