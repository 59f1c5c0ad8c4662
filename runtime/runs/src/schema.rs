//! JSON Schema: what data has to be like, and what is wrong with some.
//!
//! Nothing is fetched, and patterns are matched in linear time: schemas come from agents, too.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// Most findings that are told. Why: an author mends the first and sends it again.
const MAX_FINDINGS: usize = 5;

/// Most characters of a finding. Unit: characters. Why: a finding quotes the data, which may be large.
const MAX_CHARACTERS: usize = 200;

/// The least number beyond all integers.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

/// The schema, if it is one.
fn compile(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options();
    let options = options.with_pattern_options(PatternOptions::regex());
    options
        .build(schema)
        .map_err(|error| shortened(&error.to_string()))
}

/// Whether it is a schema at all.
///
/// # Errors
///
/// Why it isn't.
pub(crate) fn is_schema(schema: &Value) -> Result<(), String> {
    compile(schema).map(|_| ())
}

/// Whether a value is as a schema says.
///
/// # Errors
///
/// What is wrong, each finding with its path in the value.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let schema_given = schema;
    let schema = compile(schema).map_err(|error| format!("its schema is broken: {error}"))?;
    let mut errors = schema.iter_errors(value);
    let mut findings: Vec<String> = Vec::new();
    for error in errors.by_ref().take(MAX_FINDINGS) {
        let path = error.instance_path().to_string();
        let at = if path.is_empty() {
            String::new()
        } else {
            format!("at `{path}`: ")
        };
        findings.push(shortened(&format!("{at}{error}")));
    }
    if findings.is_empty() {
        return inexact(value, schema_given, "").map_or(Ok(()), Err);
    }
    let more = errors.count();
    let mut text = findings.join("; ");
    if more > 0 {
        text += &format!("; and {more} more");
    }
    Err(text)
}

/// The first integer that was too large to be one, and was read as a float that is near it.
fn inexact(value: &Value, schema: &Value, path: &str) -> Option<String> {
    let under = |(key, value): (&str, &Value), schema: Option<&Value>| {
        inexact(value, schema?, &format!("{path}/{key}"))
    };
    match value {
        Value::Number(number) if number.is_f64() => {
            let word = schema.get("type")?;
            let words = word
                .as_array()
                .map_or(std::slice::from_ref(word), Vec::as_slice);
            let has = |word: &str| words.iter().any(|it| it == word);
            let is_beyond = number.as_f64().is_some_and(|it| it.abs() >= BEYOND);
            (is_beyond && has("integer") && !has("number")).then(|| {
                format!("at `{path}`: {number} is beyond the integers, which have 64 bits")
            })
        }
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let schema = schema.get("properties").and_then(|all| all.get(name));
            under((name, value), schema)
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, value)| under((&index.to_string(), value), schema.get("items"))),
        _ => None,
    }
}

/// Calls a function with each error of a value.
///
/// # Errors
///
/// The schema is broken: why.
pub(crate) fn each_error(
    schema: &Value,
    value: &Value,
    call: &mut dyn FnMut(ValidationError<'_>),
) -> Result<(), String> {
    compile(schema)?.iter_errors(value).for_each(call);
    Ok(())
}

pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
