//! Validation by JSON Schema.
//!
//! Nothing is fetched, patterns are matched in linear time, and what a validation costs is counted first (`budget.rs`),
//! because schemas come from agents, too.

mod budget;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};
use statemark_text::shorten::shorten;

/// Most findings in an error. Why: an author mends the first and sends it again.
const MAX_FINDINGS: usize = 5;

/// Longest finding. Unit: characters. Why: a finding quotes the data, which may be large.
const MAX_CHARACTERS: usize = 200;

/// The least number above all integers.
const INTEGER_LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// A compiled schema.
#[derive(Debug)]
struct Compiled {
    validator: Validator,
    size: budget::Size,
}

/// Compiles a schema.
fn compile(schema: &Value) -> Result<Compiled, String> {
    let size = budget::measure(schema)?;
    let options = jsonschema::options();
    let mut options = options.with_pattern_options(PatternOptions::regex());
    if is_of_any_draft(schema) {
        options = options.with_draft(Draft::Draft7);
    }
    let validator = options.build(schema);
    let validator = validator.map_err(|error| shorten_finding(&error.to_string()))?;
    Ok(Compiled { validator, size })
}

/// Reports whether a schema means the same, or is broken, in both draft 7 and draft 2020-12.
///
/// Why: each schema is checked against the schema of its draft. That of draft 7 is one document, that of 2020-12 is eight
/// which refer to one another, and to compile those takes longer than all else that a command does.
fn is_of_any_draft(schema: &Value) -> bool {
    let Some(keywords) = schema.as_object() else {
        return schema.is_boolean();
    };
    keywords
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "type" | "enum" | "const" | "required" | "minimum" | "maximum" | "exclusiveMinimum"
            | "exclusiveMaximum" | "multipleOf" | "minLength" | "maxLength" | "minItems"
            | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" | "title"
            | "description" | "default" => true,
            "items" | "additionalProperties" | "not" => is_of_any_draft(value),
            "properties" => value
                .as_object()
                .is_some_and(|all| all.values().all(is_of_any_draft)),
            "allOf" | "anyOf" | "oneOf" => value
                .as_array()
                .is_some_and(|all| all.iter().all(is_of_any_draft)),
            _ => false,
        })
}

/// Checks that a value is a schema.
///
/// # Errors
///
/// The schema's defect.
pub(crate) fn check_schema(schema: &Value) -> Result<(), String> {
    compile(schema).map(|_| ())
}

/// Validates a value.
///
/// # Errors
///
/// The findings, each with its path in the value.
pub(crate) fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    validate_by(&compile(schema).map_err(broken)?, schema, value)
}

/// Compiled schemas, so that each is compiled once.
#[derive(Debug, Default)]
pub(crate) struct Schemas(Mutex<HashMap<Value, Arc<Compiled>>>);

/// Most schemas that are kept.
///
/// Why: more than a workflow has, even with parts for the fields that its events give.
const MAX_SCHEMAS: usize = 256;

impl Schemas {
    /// Validates a value.
    ///
    /// # Errors
    ///
    /// The findings, each with its path in the value.
    pub(crate) fn validate(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let compiled = self.compiled(schema).map_err(broken)?;
        validate_by(&compiled, schema, value)
    }

    /// Returns a compiled schema. One that is broken isn't kept.
    fn compiled(&self, schema: &Value) -> Result<Arc<Compiled>, String> {
        if let Some(found) = self.lock().get(schema) {
            return Ok(Arc::clone(found));
        }
        let compiled = Arc::new(compile(schema)?);
        let mut all = self.lock();
        if all.len() >= MAX_SCHEMAS {
            all.clear();
        }
        all.insert(schema.clone(), Arc::clone(&compiled));
        Ok(compiled)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Value, Arc<Compiled>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn broken(error: impl std::fmt::Display) -> String {
    format!("its schema is broken: {error}")
}

fn validate_by(compiled: &Compiled, schema: &Value, value: &Value) -> Result<(), String> {
    budget::check(compiled.size, schema, value)?;
    let mut errors = compiled.validator.iter_errors(value);
    let mut findings: Vec<String> = Vec::new();
    for error in errors.by_ref().take(MAX_FINDINGS) {
        let path = error.instance_path().to_string();
        let at = if path.is_empty() {
            String::new()
        } else {
            format!("at `{path}`: ")
        };
        findings.push(shorten_finding(&format!("{at}{error}")));
    }
    if findings.is_empty() {
        return find_inexact(value, schema, "").map_or(Ok(()), Err);
    }
    let more = errors.count();
    let mut text = findings.join("; ");
    if more > 0 {
        text += &format!("; and {more} more");
    }
    Err(text)
}

/// Keys of a schema that say something of each field by itself, or nothing of what a value may be.
///
/// The first two need the fields that they name alone.
const FIELDWISE: [&str; 12] = [
    "properties",
    "required",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "type",
    "$defs",
    "definitions",
    "$schema",
    "title",
    "description",
    "default",
];

/// Returns the part of an object's schema that is about some fields, if it is about each by itself.
///
/// Fields that are as the part says add no defect to an object.
pub(crate) fn part_for(schema: &Value, fields: &Map<String, Value>) -> Option<Value> {
    let whole = schema.as_object()?;
    if !whole.keys().all(|key| FIELDWISE.contains(&key.as_str())) {
        return None;
    }
    let parts = whole.iter().filter(|(key, _)| *key != "required");
    let parts = parts.map(|(key, part)| {
        let part = match part.as_object() {
            Some(all) if key == "properties" => {
                let named = fields.keys().filter_map(|it| all.get_key_value(it));
                Value::Object(named.map(|(name, it)| (name.clone(), it.clone())).collect())
            }
            _ => part.clone(),
        };
        (key.clone(), part)
    });
    Some(Value::Object(parts.collect()))
}

/// Finds the first integer that was too large to be exact, and was read as a float.
fn find_inexact(value: &Value, schema: &Value, path: &str) -> Option<String> {
    let find_in = |(key, value): (&str, &Value), schema: Option<&Value>| {
        find_inexact(value, schema?, &format!("{path}/{key}"))
    };
    match value {
        Value::Number(number) if number.is_f64() => {
            let word = schema.get("type")?;
            let words = word
                .as_array()
                .map_or(std::slice::from_ref(word), Vec::as_slice);
            let has = |word: &str| words.iter().any(|it| it == word);
            let is_too_large = number.as_f64().is_some_and(|it| it.abs() >= INTEGER_LIMIT);
            (is_too_large && has("integer") && !has("number")).then(|| {
                format!("at `{path}`: {number} is beyond the integers, which have 64 bits")
            })
        }
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let schema = schema.get("properties").and_then(|all| all.get(name));
            find_in((name, value), schema)
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, value)| find_in((&index.to_string(), value), schema.get("items"))),
        _ => None,
    }
}

/// Calls a function with each validation error of a value.
///
/// # Errors
///
/// The schema's defect, or that checking the value takes too much work.
pub(crate) fn for_each_error(
    schema: &Value,
    value: &Value,
    call: &mut dyn FnMut(ValidationError<'_>),
) -> Result<(), String> {
    let compiled = compile(schema)?;
    budget::check(compiled.size, schema, value)?;
    compiled.validator.iter_errors(value).for_each(call);
    Ok(())
}

/// Shortens a finding, or data that one quotes.
pub(crate) fn shorten_finding(text: &str) -> String {
    shorten(text, MAX_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_of_any_draft_finds_what_one_of_the_newest_does() {
        let schemas = [
            json!({"type": ["object", "integer", "array", "string"], "minimum": 2, "exclusiveMaximum": 5, "multipleOf": 2}),
            json!({"properties": {"a": {"enum": [1, "x"]}, "b": {"const": null}, "c": false}, "required": ["a"]}),
            json!({"items": {"type": "integer"}, "minItems": 1, "maxItems": 2, "uniqueItems": true, "title": "t"}),
            json!({"additionalProperties": {"not": {"type": "string"}}, "minProperties": 1, "maxProperties": 2}),
            json!({"anyOf": [{"minLength": 2}, true], "oneOf": [{"maxLength": 3}, {"type": "object"}], "allOf": [{}]}),
            json!({"type": 3}),
            json!({"type": "strng"}),
            json!({"required": "a"}),
            json!({"required": ["a", "a"]}),
            json!({"minimum": "2"}),
            json!({"maxLength": -1}),
            json!({"properties": {"a": {"uniqueItems": 1}}}),
            json!({"allOf": []}),
            json!({"multipleOf": 0, "enum": 1}),
        ];
        let values = [
            json!({}),
            json!({"a": 1, "b": null}),
            json!({"a": "y", "b": 1, "c": 2}),
            json!([1, 2.0, 2]),
            json!(["x"]),
            json!([]),
            json!("long enough"),
            json!("x"),
            json!(4),
            json!(7.5),
        ];
        for schema in &schemas {
            assert!(is_of_any_draft(schema), "{schema}");
            let newest = jsonschema::options().build(schema);
            let ours = compile(schema);
            match (newest, ours) {
                (Err(newest), Err(ours)) => assert_eq!(shorten_finding(&newest.to_string()), ours),
                (Ok(newest), Ok(ours)) => {
                    for value in &values {
                        let findings = |by: &Validator| -> Vec<String> {
                            let errors = by.iter_errors(value);
                            errors
                                .map(|it| format!("{} {it}", it.instance_path()))
                                .collect()
                        };
                        let ours = findings(&ours.validator);
                        assert_eq!(findings(&newest), ours, "{schema} {value}");
                    }
                }
                (newest, ours) => panic!("{schema}: {newest:?} {ours:?}"),
            }
        }
        for other in [
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            json!({"items": [{"type": "string"}]}),
            json!({"properties": {"a": {"format": "email"}}}),
            json!({"properties": {"a": {"$ref": "#/$defs/b"}}}),
            json!({"anyOf": [{"unevaluatedProperties": false}]}),
        ] {
            assert!(!is_of_any_draft(&other), "{other}");
        }
    }

    #[test]
    fn schemas_are_compiled_once_and_never_too_many_are_kept() {
        let schemas = Schemas::default();
        let schema = |most: usize| json!({"properties": {"n": {"maximum": most}}});
        let first = schemas.compiled(&schema(1)).unwrap();
        assert!(Arc::ptr_eq(&first, &schemas.compiled(&schema(1)).unwrap()));
        for most in 0..2 * MAX_SCHEMAS {
            let value = json!({"n": most});
            assert_eq!(schemas.validate(&schema(most), &value), Ok(()));
            let found = schemas.validate(&schema(most), &json!({"n": most + 1}));
            assert!(found.unwrap_err().contains("at `/n`"));
            assert!(schemas.lock().len() <= MAX_SCHEMAS);
        }
        let broken = schemas.validate(&json!({"type": 3}), &json!(1));
        assert!(broken.unwrap_err().starts_with("its schema is broken: "));
    }
}
