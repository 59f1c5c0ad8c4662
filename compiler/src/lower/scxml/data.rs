//! The data of a document: its initial values, and the guards that it declares.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::expression::{NAME, not_a_literal};
use super::literal::literal;
use super::native::is_no_expression;
use super::{Lowering, plain};
use crate::arena::Handle;
use crate::excerpt::Excerpt;
use crate::front::scxml::ast::{ContentKind, GuardKind, Operator, visit_content};
use crate::front::scxml::messages;
use crate::ir::{Constant, ExpressionKind, Field, HostGuard, Type};
use crate::source::{Span, Spanned};

/// The declarations of a document.
#[derive(Debug, Default)]
pub(super) struct Data {
    /// The ids of its data.
    pub(super) ids: BTreeSet<String>,
    /// Their initial values.
    values: Map<String, Value>,
    /// The places of initial values that can't be read as any.
    pub(super) failures: Vec<Span>,
    /// The first names of the places that something assigns to.
    assigned: BTreeSet<String>,
    /// The ids of guards in conditions.
    pub(super) guards: BTreeMap<String, ExpressionKind>,
    fields: BTreeMap<String, Handle<Field>>,
}

impl Data {
    /// Returns the initial data, if there is any.
    pub(super) fn context(&self) -> Option<Value> {
        (!self.values.is_empty()).then(|| Value::Object(self.values.clone()))
    }
}

impl Lowering<'_, '_> {
    /// Reads every `<data>` and `<statemark:guard>`.
    pub(super) fn read_data(&mut self) {
        for node in self.nodes.clone() {
            for data in &node.state.data {
                let id = plain(&data.id);
                if let Some(text) = &data.value {
                    self.read_value(&id, text);
                }
                self.data.ids.insert(id);
            }
            for block in node.state.blocks() {
                visit_content(block, &mut |content| {
                    if let ContentKind::Assign(all) = content {
                        let names = all.iter().map(|assign| first_name(&assign.location));
                        self.data.assigned.extend(names);
                    }
                });
            }
        }
        for node in self.nodes.clone() {
            for guard in &node.state.guards {
                let made = match &guard.kind {
                    GuardKind::Host(name) => {
                        ExpressionKind::Ask(self.host_guard(name.as_ref(), &guard.id))
                    }
                    GuardKind::Claim { name, words } => {
                        let claim = self.host_guard(name.as_ref(), &guard.id);
                        let claimed = self.guards.at_mut(claim);
                        claimed.is_claim = true;
                        claimed.text.clone_from(&words.value);
                        ExpressionKind::Ask(claim)
                    }
                    GuardKind::Compare {
                        field,
                        operator,
                        constants,
                    } => ExpressionKind::Compare {
                        field: self.field(&plain(field), field.span),
                        operator: *operator,
                        constants: constants
                            .as_ref()
                            .map_or_else(Vec::new, |text| self.constants(text, *operator)),
                    },
                };
                self.data.guards.insert(plain(&guard.id), made);
            }
        }
    }

    /// Reads the initial value of a datum.
    ///
    /// One that can't be read is none, and fails when the machine starts.
    fn read_value(&mut self, id: &str, text: &Excerpt) {
        let place = crate::front::scxml::place_of(text);
        let name = self.document.name.as_ref();
        let name = name.filter(|_| text.text().trim() == NAME);
        if let Some(name) = name {
            let value = Value::String(name.value.clone());
            self.data.values.insert(id.to_owned(), value);
            return;
        }
        match literal(text.text().trim()) {
            Some(Some(value)) => {
                self.data.values.insert(id.to_owned(), value);
            }
            Some(None) => {}
            None if !self.document.native && is_no_expression(text.text()) => {
                self.diags.push(messages::no_initial_value(place));
                self.data.failures.push(place);
            }
            None => self.diags.push(not_a_literal(place)),
        }
    }

    fn host_guard(
        &mut self,
        name: Option<&Spanned<String>>,
        id: &Spanned<String>,
    ) -> Handle<HostGuard> {
        let name = name.unwrap_or(id);
        let known = self
            .guards
            .iter()
            .find(|(_, guard)| guard.name == plain(name));
        if let Some((guard, _)) = known {
            return guard;
        }
        self.guards.append(HostGuard {
            name: plain(name),
            text: name.value.clone(),
            span: id.span,
            is_claim: false,
        })
    }

    /// Reads a JSON list of constants. Only a list that is searched may be empty.
    fn constants(&mut self, text: &Excerpt, operator: Operator) -> Vec<Constant> {
        let values = match literal(text.text().trim()) {
            Some(Some(Value::Array(values))) => values,
            Some(Some(value)) => vec![value],
            _ => Vec::new(),
        };
        let constants: Option<Vec<Constant>> = values.iter().map(constant).collect();
        constants
            .filter(|list| !list.is_empty() || operator == Operator::In)
            .unwrap_or_else(|| {
                let place = crate::front::scxml::place_of(text);
                self.diags.push(not_a_literal(place));
                Vec::new()
            })
    }

    /// Returns the field of a dotted path.
    pub(super) fn field(&mut self, path: &str, span: Span) -> Handle<Field> {
        if let Some(&field) = self.data.fields.get(path) {
            return field;
        }
        let mut names = path.split('.');
        let first = names.next().unwrap_or("");
        let start = self.data.values.get(first);
        let value = names.fold(start, |value, name| value?.get(name));
        let is_fixed = !self.data.assigned.contains(first);
        let kind = value.filter(|_| is_fixed).map_or(Type::Unknown, type_of);
        // Nothing takes a value away; a place that is assigned to whole may lose its parts.
        let present = value.is_some() && (is_fixed || path == first);
        let field = self.fields.append(Field {
            path: path.to_owned(),
            span,
            kind,
            present,
        });
        self.data.fields.insert(path.to_owned(), field);
        field
    }
}

/// Returns the first name of a dotted path.
fn first_name(path: &Spanned<String>) -> String {
    let path = plain(path);
    path.split('.').next().unwrap_or("").to_owned()
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Bool(_) => Type::Bool,
        Value::Number(number) if number.is_f64() => Type::Float,
        Value::Number(_) => Type::Int,
        Value::String(_) => Type::Text,
        Value::Object(_) => Type::Object,
        Value::Null | Value::Array(_) => Type::Unknown,
    }
}

/// Converts a value that may be compared with.
pub(super) fn constant(value: &Value) -> Option<Constant> {
    match value {
        Value::Null => Some(Constant::Null),
        Value::Bool(value) => Some(Constant::Bool(*value)),
        Value::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
            .map(Constant::Int)
            .or_else(|| number.as_f64().map(Constant::Float)),
        Value::String(text) => Some(Constant::Text(text.clone())),
        Value::Array(_) | Value::Object(_) => None,
    }
}
