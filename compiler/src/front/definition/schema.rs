//! JSON Schemas in a definition: of artifacts, of events' data and of the context.
//!
//! Held against what the keywords of JSON Schema want (drafts 4 to 2020-12, as far as they agree), so that a schema that no
//! document can be checked against is found here, at its place, and not by the run that needs it. What isn't a keyword is
//! nobody's business.

use jsonc_parser::ast::{Object, Value};

use super::json::{self, Place};
use super::shape::quoted;
use crate::diag::{Code, Diagnostic, Diags, nearest};
use crate::source::Span;

/// The types that JSON has.
const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "null",
];

/// The value that a keyword wants.
#[derive(Clone, Copy)]
enum Keyword {
    Schema,
    /// A schema, or in older drafts something else.
    SchemaOr(fn(&Value<'_>) -> bool),
    Schemas,
    SchemasByName,
    Types,
    Names,
    List,
    Count,
    Number,
    NumberOrFlag,
    Text,
    Flag,
}

const KEYWORDS: [(&str, Keyword); 48] = [
    ("$schema", Keyword::Text),
    ("$id", Keyword::Text),
    ("$ref", Keyword::Text),
    ("$comment", Keyword::Text),
    ("title", Keyword::Text),
    ("description", Keyword::Text),
    ("type", Keyword::Types),
    ("enum", Keyword::List),
    ("format", Keyword::Text),
    ("pattern", Keyword::Text),
    ("minLength", Keyword::Count),
    ("maxLength", Keyword::Count),
    ("minItems", Keyword::Count),
    ("maxItems", Keyword::Count),
    ("minContains", Keyword::Count),
    ("maxContains", Keyword::Count),
    ("minProperties", Keyword::Count),
    ("maxProperties", Keyword::Count),
    ("minimum", Keyword::Number),
    ("maximum", Keyword::Number),
    ("multipleOf", Keyword::Number),
    ("exclusiveMinimum", Keyword::NumberOrFlag),
    ("exclusiveMaximum", Keyword::NumberOrFlag),
    ("uniqueItems", Keyword::Flag),
    ("deprecated", Keyword::Flag),
    ("readOnly", Keyword::Flag),
    ("writeOnly", Keyword::Flag),
    ("required", Keyword::Names),
    ("properties", Keyword::SchemasByName),
    ("patternProperties", Keyword::SchemasByName),
    ("dependentSchemas", Keyword::SchemasByName),
    ("$defs", Keyword::SchemasByName),
    ("definitions", Keyword::SchemasByName),
    ("items", Keyword::SchemaOr(is_list)),
    ("prefixItems", Keyword::Schemas),
    ("allOf", Keyword::Schemas),
    ("anyOf", Keyword::Schemas),
    ("oneOf", Keyword::Schemas),
    ("additionalItems", Keyword::Schema),
    ("additionalProperties", Keyword::Schema),
    ("unevaluatedItems", Keyword::Schema),
    ("unevaluatedProperties", Keyword::Schema),
    ("propertyNames", Keyword::Schema),
    ("contains", Keyword::Schema),
    ("not", Keyword::Schema),
    ("if", Keyword::Schema),
    ("then", Keyword::Schema),
    ("else", Keyword::Schema),
];

const fn is_list(value: &Value<'_>) -> bool {
    matches!(value, Value::Array(_))
}

/// Checks the schemas of a machine.
pub(super) fn check(place: Place<'_>, machine: &Object<'_>, diags: &mut Diags) {
    let mut check = Check { place, diags };
    if let Some(schema) = json::get(machine, "context_schema") {
        check.under("context_schema", schema);
    }
    for event in values(json::get(machine, "events")) {
        check.at(event, "data");
    }
    for artifact in values(json::get(machine, "artifacts")) {
        check.at(artifact, "schema");
        check.at(artifact, "front_matter");
        if let Value::Object(artifact) = artifact
            && let Some(Value::Array(sections)) = json::get(artifact, "sections")
        {
            for section in &sections.elements {
                check.at(section, "schema");
            }
        }
    }
}

/// Returns the values of an object.
fn values<'o, 't>(object: Option<&'o Value<'t>>) -> impl Iterator<Item = &'o Value<'t>> {
    let properties = match object {
        Some(Value::Object(object)) => object.properties.as_slice(),
        _ => &[],
    };
    properties.iter().map(|property| &property.value)
}

struct Check<'p, 'd> {
    place: Place<'p>,
    diags: &'d mut Diags,
}

impl Check<'_, '_> {
    /// Checks the schema that an object has under a key.
    fn at(&mut self, object: &Value<'_>, key: &str) {
        if let Value::Object(object) = object
            && let Some(schema) = json::get(object, key)
        {
            self.under(key, schema);
        }
    }

    /// Checks a schema under a key. Recursion is bounded by the text's nesting, which was limited.
    fn under(&mut self, key: &str, schema: &Value<'_>) {
        match schema {
            Value::BooleanLit(_) => {}
            Value::Object(object) => {
                for property in &object.properties {
                    let name = property.name.as_str();
                    let known = KEYWORDS.iter().find(|(keyword, _)| *keyword == name);
                    if let Some((_, keyword)) = known {
                        self.keyword(name, *keyword, &property.value);
                    }
                }
            }
            other => self.wrong(key, "a schema: an object, `true` or `false`", other),
        }
    }

    fn keyword(&mut self, name: &str, keyword: Keyword, value: &Value<'_>) {
        match (keyword, value) {
            (Keyword::SchemaOr(other), Value::Array(list)) if other(value) => {
                for element in &list.elements {
                    self.under(name, element);
                }
            }
            (Keyword::Schema | Keyword::SchemaOr(_), schema) => self.under(name, schema),
            (Keyword::Schemas, Value::Array(list)) if !list.elements.is_empty() => {
                for element in &list.elements {
                    self.under(name, element);
                }
            }
            (Keyword::Schemas, _) => self.wrong(name, "a list of schemas with at least one", value),
            (Keyword::SchemasByName, Value::Object(object)) => {
                for property in &object.properties {
                    self.under(property.name.as_str(), &property.value);
                }
            }
            (Keyword::SchemasByName, _) => self.wrong(name, "an object of schemas by name", value),
            (Keyword::Types, _) => self.types(value),
            (Keyword::Names, Value::Array(list)) => {
                for element in &list.elements {
                    if !matches!(element, Value::StringLit(_)) {
                        self.wrong(name, "a list of names", element);
                    }
                }
            }
            (Keyword::Names, _) => self.wrong(name, "a list of names", value),
            (Keyword::List, Value::Array(_))
            | (Keyword::Number | Keyword::NumberOrFlag, Value::NumberLit(_))
            | (Keyword::NumberOrFlag | Keyword::Flag, Value::BooleanLit(_))
            | (Keyword::Text, Value::StringLit(_)) => {}
            (Keyword::Count, Value::NumberLit(number))
                if json::number(number.value).is_none_or(|number| {
                    number.is_u64()
                        || number
                            .as_f64()
                            .is_some_and(|it| it >= 0.0 && it.fract() == 0.0)
                }) => {}
            (Keyword::List, _) => self.wrong(name, "a list of values", value),
            (Keyword::Number | Keyword::NumberOrFlag, _) => self.wrong(name, "a number", value),
            (Keyword::Count, _) => self.wrong(name, "a whole number from 0 on", value),
            (Keyword::Flag, _) => self.wrong(name, "`true` or `false`", value),
            (Keyword::Text, _) => self.wrong(name, "a string", value),
        }
    }

    /// Checks `type`, which has one type or several.
    fn types(&mut self, value: &Value<'_>) {
        match value {
            Value::StringLit(text) if TYPES.contains(&text.value.as_ref()) => {}
            Value::StringLit(text) => {
                let at = self.place.span_of(value);
                self.diags.push(unknown_type(at, &text.value, &TYPES));
            }
            Value::Array(list) if !list.elements.is_empty() => {
                for element in &list.elements {
                    match element {
                        Value::StringLit(_) => self.types(element),
                        other => self.wrong("type", "a type, or a list of types", other),
                    }
                }
            }
            other => self.wrong("type", "a type, or a list of types", other),
        }
    }

    fn wrong(&mut self, keyword: &str, wants: &str, value: &Value<'_>) {
        let at = self.place.span_of(value);
        let found = match value {
            Value::NumberLit(number) => format!("`{}`", number.value),
            Value::Array(list) if list.elements.is_empty() => "an empty one".to_owned(),
            other => json::words(other).to_owned(),
        };
        self.diags.push(invalid_schema(at, keyword, wants, &found));
    }
}

/// Reports that a schema's `keyword` has something else than it wants.
fn invalid_schema(at: Span, keyword: &str, wants: &str, found: &str) -> Diagnostic {
    let message = format!("in a JSON Schema `{keyword}` is {wants}, not {found}");
    Diagnostic::new(Code::InvalidSchema, at, message)
        .note("nothing can be checked against a schema that isn't one")
        .help(format!("write {wants}"))
}

/// Reports a `type` that JSON doesn't have.
fn unknown_type(at: Span, text: &str, types: &[&str]) -> Diagnostic {
    let message = format!("JSON has no type `{text}`");
    let found = Diagnostic::new(Code::InvalidSchema, at, message)
        .note(format!("a schema's `type` may be {}", quoted(types)));
    match nearest(text, types.iter().copied()) {
        Some(meant) => found.help(format!("did you mean `{meant}`?")),
        None => found.help("write one of those"),
    }
}
