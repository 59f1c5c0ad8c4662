//! Checks of values against the lists in a schema: `enum`, `const`.
//!
//! For a field into which an event's data is merged, the values of that data count, too. Where the values that may reach a
//! field aren't all listed, nothing is reported. Only texts, truth values and integers are compared; `null` may always be
//! asked for.

use serde_json::Value;

use super::check::Check;
use super::kind::{comparable, of_constant};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{
    Assign, BinaryOperator, Constant, Expression, ExpressionKind, Field, Machine, Operator,
};
use crate::lower::draft::Comparison;
use crate::pass::merge;
use crate::source::Span;

impl Check<'_> {
    /// Checks two compared values: a field and a constant, or a constant and the items of a field.
    pub(super) fn compared_values(&mut self, operator: BinaryOperator, operands: [&Expression; 2]) {
        use BinaryOperator as Op;
        let [left, right] = operands;
        match (&left.kind, operator, &right.kind) {
            (
                ExpressionKind::Field(field),
                Op::Equal | Op::NotEqual,
                ExpressionKind::Constant(constant),
            ) => self.constant(*field, false, constant, right.span),
            (
                ExpressionKind::Constant(constant),
                Op::Equal | Op::NotEqual,
                ExpressionKind::Field(field),
            ) => self.constant(*field, false, constant, left.span),
            (ExpressionKind::Constant(constant), Op::In, ExpressionKind::Field(field)) => {
                self.constant(*field, true, constant, left.span);
            }
            _ => {}
        }
    }

    /// Checks a value in the list after `in`.
    pub(super) fn list_item(&mut self, value: &Expression, constant: &Constant, list: Span) {
        if let ExpressionKind::Field(field) = value.kind {
            self.constant(field, false, constant, list);
        }
    }

    /// Checks the constants of a comparison `{field, op, value}`.
    pub(super) fn comparison_values(&mut self, comparison: &Comparison) {
        if !matches!(
            comparison.operator,
            Operator::Eq | Operator::Neq | Operator::In
        ) {
            return;
        }
        let kind = &self.machine.fields.at(comparison.field).kind;
        for constant in &comparison.constants {
            // Constants of another type are reported as such.
            if comparable(kind, &of_constant(&constant.value)) {
                self.constant(comparison.field, false, &constant.value, constant.span);
            }
        }
    }

    /// Checks a constant that an action assigns.
    pub(super) fn assigned_value(&mut self, assign: &Assign) {
        let ExpressionKind::Constant(constant) = &assign.value.kind else {
            return;
        };
        let field = self.machine.fields.at(assign.field);
        let values = schema(self.machine)
            .and_then(|schema| property(schema, &field.path))
            .and_then(listed_values);
        if let Some((value, values)) =
            values.and_then(|values| foreign_value_and_list(constant, &values))
        {
            let span = assign.value.span;
            let place = self.quoted_span(&value, span);
            let similar = similar_value(&value, &values, &mut self.diags);
            let diagnostic = foreign_assignment(&field.path, &value, &values, similar, span, place);
            self.report(diagnostic);
        }
    }

    fn constant(&mut self, field: Handle<Field>, of_items: bool, constant: &Constant, span: Span) {
        let path = &self.machine.fields.at(field).path;
        let Some((value, values)) = self
            .field_values(path, of_items)
            .and_then(|values| foreign_value_and_list(constant, &values))
        else {
            return;
        };
        let place = self.quoted_span(&value, span);
        let similar = similar_value(&value, &values, &mut self.diags);
        let diagnostic = foreign_comparison(path, of_items, &value, &values, similar, span, place);
        self.report(diagnostic);
    }

    /// Returns all values that the field, or an item of it, may have.
    fn field_values(&self, path: &str, of_items: bool) -> Option<Vec<Value>> {
        let read = |schema| {
            let found = property(schema, path.strip_prefix("event.").unwrap_or(path))?;
            listed_values(if of_items { found.get("items")? } else { found })
        };
        if path.starts_with("event.") {
            let all = self.machine.events.iter();
            let data = all.filter(|(handle, event)| match &self.events {
                Some(events) => events.contains(handle),
                None => event.data.is_some(),
            });
            let values: Option<Vec<_>> = data
                .map(|(_, event)| event.data.as_ref().and_then(read))
                .collect();
            return values
                .map(|values| values.concat())
                .filter(|all| !all.is_empty());
        }
        let mut values = schema(self.machine).and_then(read)?;
        let outer = merge::top(path);
        for (handle, event) in self.machine.events.iter() {
            if let Some(data) = &event.data
                && property(data, outer).is_some()
                && self.merges().includes(handle, outer)
            {
                values.extend(read(data)?);
            }
        }
        Some(values)
    }

    /// Returns the span of a text between its quotes, if the source has it once.
    fn quoted_span(&self, text: &str, whole: Span) -> Option<Span> {
        let source = self.sources.text(whole);
        let is_quote = |c: char| matches!(c, '"' | '\'' | '\\');
        let mut found = source.match_indices(text).filter(|(at, _)| {
            let before = source
                .get(..*at)
                .and_then(|before| before.chars().next_back());
            let after = source
                .get(at + text.len()..)
                .and_then(|after| after.chars().next());
            before.is_some_and(is_quote) && after.is_some_and(is_quote)
        });
        let (at, _) = found.next()?;
        if found.next().is_some() || text.is_empty() {
            return None;
        }
        let start = whole.start.checked_add(u32::try_from(at).ok()?)?;
        let end = start.checked_add(u32::try_from(text.len()).ok()?)?;
        Some(Span {
            start,
            end,
            ..whole
        })
    }
}

fn schema(machine: &Machine) -> Option<&Value> {
    machine.meta.get("context_schema")
}

fn property<'s>(schema: &'s Value, path: &str) -> Option<&'s Value> {
    path.split('.')
        .try_fold(schema, |schema, name| schema.get("properties")?.get(name))
}

/// Returns the values that a schema lists.
fn listed_values(schema: &Value) -> Option<Vec<Value>> {
    if let Some(constant) = schema.get("const") {
        return Some(vec![constant.clone()]);
    }
    schema.get("enum")?.as_array().cloned()
}

/// Returns the constant and all values as texts, unless it is one of them.
fn foreign_value_and_list(constant: &Constant, values: &[Value]) -> Option<(String, Vec<String>)> {
    let is_same = |value: &Value| match (constant, value) {
        (Constant::Text(text), Value::String(value)) => text == value,
        (Constant::Bool(one), Value::Bool(two)) => one == two,
        (Constant::Int(int), Value::Number(number)) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => *int == i128::from(value),
            (None, Some(value)) => *int == i128::from(value),
            // A float may be an integer; only the engines know.
            (None, None) => true,
        },
        _ => false,
    };
    let text = match constant {
        Constant::Text(text) => text.clone(),
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::Null | Constant::Float(_) => return None,
    };
    if values.iter().any(is_same) {
        return None;
    }
    let plain = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    Some((text, values.iter().map(plain).collect()))
}

/// Most values that a message lists. Unit: values. Why: more than these are looked up in the schema.
const MOST_LISTED: usize = 8;

/// Shortest value that gets a suggestion. Unit: bytes. Why: any two shorter ones are similar.
const LEAST_SIMILAR: usize = 3;

/// Returns the value of a schema that another was meant to be.
fn similar_value<'v>(value: &str, values: &'v [String], diags: &mut Diags) -> Option<&'v str> {
    let values = values.iter().map(String::as_str);
    let similar = diags.nearest(value, values);
    similar.filter(|_| value.len() >= LEAST_SIMILAR)
}

/// Reports a value that the field, or an item of it, never has.
///
/// Texts are without quotes, other values as in JSON. `place` is the span of the value alone, between its quotes.
fn foreign_comparison(
    path: &str,
    of_items: bool,
    value: &str,
    values: &[String],
    similar: Option<&str>,
    span: Span,
    place: Option<Span>,
) -> Diagnostic {
    let verb = if of_items { "never holds" } else { "is never" };
    let message = format!("`{path}` {verb} `{value}`");
    foreign_value(message, values, similar, span, place)
}

fn foreign_assignment(
    path: &str,
    value: &str,
    values: &[String],
    similar: Option<&str>,
    span: Span,
    place: Option<Span>,
) -> Diagnostic {
    let message = format!("`{path}` may not become `{value}`");
    foreign_value(message, values, similar, span, place)
}

fn foreign_value(
    message: String,
    values: &[String],
    similar: Option<&str>,
    span: Span,
    place: Option<Span>,
) -> Diagnostic {
    let all: Vec<&str> = values.iter().map(String::as_str).collect();
    let diagnostic = Diagnostic::new(Code::ForeignValue, place.unwrap_or(span), message)
        .label("not among the values of its schema");
    let diagnostic = if all.len() <= MOST_LISTED {
        diagnostic.note(format!("the schema allows {}", quoted_list(&all)))
    } else {
        diagnostic.note(format!("the schema allows {} values", all.len()))
    };
    let Some(similar) = similar else {
        return diagnostic.help("write one of its values, or add this one to the schema");
    };
    let diagnostic = diagnostic.help(format!("did you mean `{similar}`?"));
    // What needs an escape would have to be written in another way here.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    match place.filter(|_| similar.chars().all(is_plain)) {
        Some(place) => diagnostic.unsafe_fix(format!("write `{similar}`"), place, similar),
        None => diagnostic,
    }
}
