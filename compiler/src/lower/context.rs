//! Checks of the initial context against its schema.
//!
//! The checked keywords are those that types are read from: `type`, `nullable`, `enum`, `const`, `required`, `properties`,
//! `items`, and `additionalProperties` where it is `false`. The host checks the others.

use serde_json::Value;

use super::fields::{Fields, Known, kind, kind_of};
use super::types::{assignable, words};
use crate::diag::{Code, Diagnostic, Diags};
use crate::front::definition::ast::Definition;
use crate::ir::Type;
use crate::source::{Span, Spanned};

/// Reports values of the initial context that the schema doesn't allow.
pub(super) fn check_context(fields: &Fields<'_>, diags: &mut Diags) {
    let (Some(schema), Some(definition)) = (fields.schema(), fields.definition()) else {
        return;
    };
    let Some(context) = &definition.context else {
        return;
    };
    let mut check = Check { definition, diags };
    check.value("", false, schema, &context.value, context.span);
}

/// Reports fields that an agent's input may set (`inputs`), and that the context doesn't have.
pub(super) fn check_inputs(fields: &Fields<'_>, diags: &mut Diags) {
    let inputs = fields.definition().map_or(&[][..], |it| &it.inputs);
    for input in inputs {
        if fields.context_field(&input.value) != Known::Missing {
            continue;
        }
        let names = fields.names();
        let names = names.iter().filter(|name| !name.contains('.'));
        let known = diags.nearest(&input.value, names.map(String::as_str));
        diags.push(unknown_input(input, known));
    }
}

fn unknown_input(input: &Spanned<String>, similar: Option<&str>) -> Diagnostic {
    let message = format!("the context has no field `{}`", input.value);
    let diagnostic = Diagnostic::new(Code::UnknownInput, input.span, message)
        .label("no agent's input can set it")
        .note(
            "`inputs` lists the fields of the context that an agent may set when it starts a run",
        );
    match similar {
        Some(similar) => diagnostic.did_you_mean(similar, input.span, "\""),
        None => {
            diagnostic.help("declare it under `context`, with its first value, or remove it here")
        }
    }
}

struct Check<'c> {
    definition: &'c Definition,
    diags: &'c mut Diags,
}

impl Check<'_> {
    /// Checks a value. The recursion is bounded: the front end limits the definition's nesting.
    fn value(&mut self, path: &str, is_item: bool, schema: &Value, value: &Value, outer: Span) {
        let places = &self.definition.context_places;
        let span = places.get(path).copied().unwrap_or(outer);
        let wanted = kind(schema);
        if !fits(&wanted, value) {
            let found = words(&kind_of(value));
            let diagnostic = context_of_another_type(path, is_item, &words(&wanted), &found, span);
            self.diags.push(diagnostic);
            return;
        }
        let values = schema.get("enum").and_then(Value::as_array);
        let constant = schema.get("const").map(std::slice::from_ref);
        if let Some(values) = values.map(Vec::as_slice).or(constant)
            && !values.contains(value)
        {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            self.diags.push(context_not_among(path, &values, span));
            return;
        }
        match value {
            Value::Object(object) => self.object(path, schema, object, span),
            Value::Array(items) => {
                if let Some(schema) = schema.get("items") {
                    for item in items {
                        self.value(path, true, schema, item, span);
                    }
                }
            }
            _ => {}
        }
    }

    fn object(
        &mut self,
        path: &str,
        schema: &Value,
        object: &serde_json::Map<String, Value>,
        span: Span,
    ) {
        let dotted = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            }
        };
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                let opening = Span {
                    end: span.start + 1,
                    ..span
                };
                self.diags
                    .push(context_without_required(&dotted(name), opening));
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, value) in object {
            let path = dotted(name);
            match properties.and_then(|properties| properties.get(name)) {
                Some(schema) => self.value(&path, false, schema, value, span),
                None if is_closed => {
                    let places = &self.definition.context_places;
                    let span = places.get(&path).copied().unwrap_or(span);
                    self.diags.push(context_undeclared(&path, span));
                }
                None => {}
            }
        }
    }
}

/// Returns whether a value is of a type. The items of a list are checked on their own.
fn fits(wanted: &Type, value: &Value) -> bool {
    match (wanted, value) {
        (Type::Nullable(_), Value::Null) => true,
        (Type::Nullable(inner), value) => **inner != Type::Unknown && fits(inner, value),
        (Type::List(_), Value::Array(_)) => true,
        (Type::Float, Value::Number(_)) => true,
        (wanted, value) => assignable(wanted, &kind_of(value)),
    }
}

fn context_mismatch(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::ContextMismatch, span, message)
        .note("the schema is `context_schema`; expressions are checked against it")
}

fn context_of_another_type(
    path: &str,
    is_item: bool,
    wanted: &str,
    found: &str,
    span: Span,
) -> Diagnostic {
    let subject = match (path, is_item) {
        ("", _) => "the context".to_owned(),
        (path, true) => format!("an item of `{path}`"),
        (path, false) => format!("`{path}`"),
    };
    let message = format!("{subject} begins as {found}, and its schema says {wanted}");
    let diagnostic = context_mismatch(span, message).label(format!("is {found}"));
    match (wanted, found) {
        ("an integer", "a float") => {
            diagnostic.help("write a whole number without a fraction: `3`, not `3.0`")
        }
        _ => diagnostic.help("change the value or the schema"),
    }
}

fn context_not_among(path: &str, values: &[String], span: Span) -> Diagnostic {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let allowed = crate::diag::quoted_list(&values);
    context_mismatch(span, format!("`{path}` begins as none of {allowed}"))
        .help("change the value or the schema")
}

fn context_without_required(path: &str, span: Span) -> Diagnostic {
    let message = format!("the context has no `{path}`, which its schema requires");
    context_mismatch(span, message).help(format!(
        "give `{path}` a first value, or leave it out of `required`"
    ))
}

fn context_undeclared(path: &str, span: Span) -> Diagnostic {
    let message = format!("`{path}` isn't among the properties of the schema");
    context_mismatch(span, message)
        .label("the schema allows no others")
        .help("declare it under `properties`, or remove it")
}
