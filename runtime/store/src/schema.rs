//! JSON Schema: what data has to be like, and what is wrong with some.
//!
//! Nothing is fetched, and patterns are matched in linear time: schemas come from agents, too.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// Most findings that are told. Why: an author mends the first and sends it again.
const MAX_FINDINGS: usize = 5;

/// Most characters of a finding. Unit: characters. Why: a finding quotes the data, which may be large.
const MAX_CHARACTERS: usize = 200;

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
        return Ok(());
    }
    let more = errors.count();
    let mut text = findings.join("; ");
    if more > 0 {
        text += &format!("; and {more} more");
    }
    Err(text)
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

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
