//! Validation by JSON Schema.
//!
//! Nothing is fetched, and patterns are matched in linear time, because schemas come from agents, too.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};
use statemark_text::shorten::shorten;

/// Most findings in an error. Why: an author mends the first and sends it again.
const MAX_FINDINGS: usize = 5;

/// Longest finding. Unit: characters. Why: a finding quotes the data, which may be large.
const MAX_CHARACTERS: usize = 200;

/// The least number above all integers.
const INTEGER_LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// Compiles a schema.
fn compile(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options();
    let options = options.with_pattern_options(PatternOptions::regex());
    options
        .build(schema)
        .map_err(|error| shorten_finding(&error.to_string()))
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
    let validator = compile(schema).map_err(|error| format!("its schema is broken: {error}"))?;
    let mut errors = validator.iter_errors(value);
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
/// The schema's defect.
pub(crate) fn for_each_error(
    schema: &Value,
    value: &Value,
    call: &mut dyn FnMut(ValidationError<'_>),
) -> Result<(), String> {
    compile(schema)?.iter_errors(value).for_each(call);
    Ok(())
}

/// Shortens a finding, or data that one quotes.
pub(crate) fn shorten_finding(text: &str) -> String {
    shorten(text, MAX_CHARACTERS)
}
