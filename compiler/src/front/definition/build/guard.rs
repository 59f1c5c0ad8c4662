//! Guards: where they are declared and where they are used.

use jsonc_parser::ast::{Object, Value};
use statemark_runtime::Operator;

use super::{Build, Fields};
use crate::diag::{Code, Diagnostic};
use crate::front::definition::ast::{Guard, GuardUse};
use crate::front::definition::{json, messages};
use crate::source::{Span, Spanned};

/// The ways to write a guard as an object, by the keys that tell them apart.
const FORMS: [&[&str]; 5] = [
    &["field", "op", "value"],
    &["all"],
    &["any"],
    &["not"],
    &["type"],
];

impl Build<'_, '_> {
    /// Reads the guards of a transition: `guard`, then `guards`.
    pub(super) fn guard_uses(&mut self, fields: Fields<'_, '_>) -> Vec<Spanned<GuardUse>> {
        let mut uses: Vec<_> = fields
            .get("guard")
            .and_then(|value| self.guard_use(value))
            .into_iter()
            .collect();
        if let Some(Value::Array(list)) = fields.get("guards") {
            for value in &list.elements {
                uses.extend(self.guard_use(value));
            }
        }
        uses
    }

    fn guard_use(&mut self, value: &Value<'_>) -> Option<Spanned<GuardUse>> {
        let guard = self.guard(value)?;
        Some(guard.map(|guard| match guard {
            Guard::Text(text) if !is_expression(&text.value) => GuardUse::Name(text.value),
            other => GuardUse::Inline(other),
        }))
    }

    /// Reads a guard, which is a text or an object; `None` if a broken one was reported.
    pub(super) fn guard(&mut self, value: &Value<'_>) -> Option<Spanned<Guard>> {
        let span = self.span(value);
        let guard = match value {
            Value::StringLit(_) => Guard::Text(self.spanned(value)?),
            Value::Object(object) => self.guard_object(object)?,
            _ => return None,
        };
        Some(Spanned::new(guard, span))
    }

    fn guard_object(&mut self, object: &Object<'_>) -> Option<Guard> {
        let opening = self.place.bytes(object.range.start, object.range.start + 1);
        let form_of = |name: &str| FORMS.iter().find(|form| form.contains(&name)).copied();
        let first = object
            .properties
            .iter()
            .find_map(|property| form_of(property.name.as_str()).map(|form| (property, form)));
        let Some((first, form)) = first else {
            let needs = "`field` and `op`, or one of `all`, `any`, `not`";
            self.diags
                .push(messages::missing_key(opening, "a guard", needs));
            return None;
        };
        for other in &object.properties {
            let name = other.name.as_str();
            if form_of(name).is_some() && !form.contains(&name) {
                let at = self.place.range(&other.name);
                self.diags
                    .push(messages::ignored_key(at, name, first.name.as_str()));
            }
        }
        let several = |build: &mut Self, value: &Value<'_>| match value {
            Value::Array(list) => {
                let guards = list.elements.iter();
                guards.filter_map(|value| build.guard(value)).collect()
            }
            _ => Vec::new(),
        };
        match first.name.as_str() {
            "all" => Some(Guard::All(several(self, &first.value))),
            "any" => Some(Guard::Any(several(self, &first.value))),
            "not" => Some(Guard::Not(Box::new(self.guard(&first.value)?))),
            "type" => Some(Guard::Text(self.spanned(&first.value)?)),
            _ => self.comparison(object, opening),
        }
    }

    fn comparison(&mut self, object: &Object<'_>, opening: Span) -> Option<Guard> {
        for key in ["field", "op"] {
            if json::get(object, key).is_none() {
                let needs = format!("`{key}`");
                self.diags
                    .push(messages::missing_key(opening, "a guard", &needs));
            }
        }
        let text = |key| json::get(object, key).and_then(|value| self.spanned(value));
        let field = text("field")?;
        let written = text("op")?;
        // An unknown operator is a bad value, which was reported.
        let operator = Operator::from_name(&written.value)?;
        let value = json::get(object, "value");
        let values = match (operator.needs_presence(), value) {
            (true, Some(value)) => self.constants(operator, value),
            (true, None) => {
                let what = format!("a guard with `{}`", written.value);
                self.diags
                    .push(messages::missing_key(opening, &what, "`value`"));
                return None;
            }
            (false, _) => {
                let misplaced = object
                    .properties
                    .iter()
                    .find(|property| property.name.as_str() == "value");
                if let Some(property) = misplaced {
                    let at = self.place.range(&property.name);
                    self.diags
                        .push(messages::value_of_presence_test(at, &written.value));
                }
                Vec::new()
            }
        };
        Some(Guard::Compare {
            field,
            operator: written.map(|_| operator),
            values,
        })
    }

    /// Reads the constants of a comparison; one that doesn't fit the operator is reported.
    fn constants(
        &mut self,
        operator: Operator,
        value: &Value<'_>,
    ) -> Vec<Spanned<serde_json::Value>> {
        let is_list = matches!(value, Value::Array(_));
        let is_scalar = !is_list && !matches!(value, Value::Object(_));
        let (fits, wanted) = match operator {
            Operator::In => (is_list, "a list"),
            Operator::Contains => (matches!(value, Value::StringLit(_)), "a string"),
            Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte => {
                (matches!(value, Value::NumberLit(_)), "a number")
            }
            _ => (is_scalar, "a string, a number, `true`, `false` or `null`"),
        };
        if !fits {
            let numeric = match value {
                Value::StringLit(text) => {
                    json::number(&text.value).filter(|_| wanted == "a number")
                }
                _ => None,
            };
            self.diags.push(mistyped_guard(
                self.place.span_of(value),
                operator.name(),
                wanted,
                json::words(value),
                numeric.map(|number| number.to_string()),
            ));
        }
        let one = |value: &Value<'_>| Spanned::new(json::value(value), self.place.range(value));
        let Value::Array(list) = value else {
            return vec![one(value)];
        };
        let constants = list.elements.iter().map(one).collect();
        for element in &list.elements {
            if fits && matches!(element, Value::Array(_) | Value::Object(_)) {
                self.diags.push(mistyped_guard(
                    self.place.span_of(element),
                    "in",
                    "a list of strings, numbers, `true`, `false` or `null`",
                    json::words(element),
                    None,
                ));
            }
        }
        constants
    }
}

/// Returns true if a guard's text is an expression: it has a sign or a word that no name has.
fn is_expression(text: &str) -> bool {
    let signs = |sign: char| "<>=!&|()[]+*/%\"'".contains(sign);
    text.contains(signs) || text.split_whitespace().any(|word| word == "in")
}

/// Reports that `operator` wants another value.
///
/// `number` is the value as a number, if it is a text of one.
fn mistyped_guard(
    value: Span,
    operator: &str,
    wanted: &str,
    found: &str,
    number: Option<String>,
) -> Diagnostic {
    let message = format!("`{operator}` compares with {wanted}, found {found}");
    let diagnostic = Diagnostic::new(Code::MistypedGuard, value, message)
        .note("a comparison of different types is never true");
    match number {
        Some(number) => {
            let order = format!("write `{number}` without quotes");
            diagnostic
                .help(order.clone())
                .unsafe_fix(order, value, number)
        }
        None => diagnostic.help(operand_help(operator)),
    }
}

fn operand_help(operator: &str) -> &'static str {
    match operator {
        "in" => "write the values in a list: `[\"a\", \"b\"]`",
        "eq" | "neq" => "compare with one value; for several use `in`",
        _ => "change the value, or take another operator",
    }
}
