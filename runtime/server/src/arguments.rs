//! Arguments of tools, checked by us: a wrong one names its path and what was expected.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::problem::Problem;

/// Most bytes of one call's arguments. Why: an artifact has 16 MiB at most, and JSON escapes make it longer.
const MOST: usize = 32 << 20;

/// Reads the arguments of a tool. Names may be written in camelCase.
pub(crate) fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Problem> {
    let mut own = Map::new();
    for (name, value) in arguments {
        let snake = snake(&name);
        if own.contains_key(&snake) {
            return Err(bad(&snake, "is given twice, in two spellings"));
        }
        own.insert(snake, value);
    }
    typed(own)
}

fn typed<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Problem> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        bad(&path, &error.into_inner().to_string())
    })
}

/// The names of the arguments that a schema has.
pub(crate) fn names(schema: &Map<String, Value>) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map_or_else(Vec::new, |it| it.keys().cloned().collect())
}

/// Reads the arguments of a tool whose names are another system's. They may be written in either case.
pub(crate) fn read_as<T: DeserializeOwned>(
    names: &[String],
    arguments: Map<String, Value>,
) -> Result<T, Problem> {
    let mut own = Map::new();
    for (given, value) in arguments {
        let known = names.iter().find(|name| snake(name) == snake(&given));
        let name = known.cloned().unwrap_or(given);
        if own.contains_key(&name) {
            return Err(bad(&name, "is given twice, in two spellings"));
        }
        own.insert(name, value);
    }
    typed(own)
}

/// What serde says, in the words of JSON.
fn bad(path: &str, what: &str) -> Problem {
    let mut what = what.to_owned();
    for (rust, json) in [
        ("expected u64", "expected a whole number from 0 on"),
        ("expected u32", "expected a whole number from 0 on"),
        ("expected a map", "expected an object"),
        ("expected a sequence", "expected a list"),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: object"),
        ("unknown variant", "unknown word"),
        ("unknown field", "unknown argument"),
        ("missing field", "missing argument"),
    ] {
        what = what.replace(rust, json);
    }
    Problem::argument(path, what)
}

/// `expectedSeq` as `expected_seq`; what is written so already stays.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Whether arguments are as small as every tool's are.
pub(crate) fn check_size(size: usize) -> Result<(), Problem> {
    if size <= MOST {
        return Ok(());
    }
    let message = format!("the arguments have {size} bytes; most are {MOST}");
    Err(Problem::new("too_large", message))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        run_id: Option<String>,
        #[serde(default)]
        data: Map<String, Value>,
    }

    fn given(value: &Value) -> Result<Wanted, String> {
        let Value::Object(map) = value.clone() else {
            return Err("no object".to_owned());
        };
        read(map).map_err(|problem| problem.message)
    }

    #[test]
    fn both_spellings_are_read_and_what_is_wrong_is_named() {
        let told = given(&json!({"runId": "r", "data": {"camelCase": 1}})).unwrap();
        assert_eq!(told.run_id.as_deref(), Some("r"));
        assert!(told.data.contains_key("camelCase"));
        for (arguments, message) in [
            (
                json!({"runId": "r", "run_id": "r"}),
                "`run_id`: is given twice, in two spellings",
            ),
            (
                json!({"run_id": 7}),
                "`run_id`: invalid type: integer `7`, expected a string",
            ),
            (
                json!({"rum_id": "r"}),
                "`rum_id`: unknown argument `rum_id`, expected `run_id` or `data`",
            ),
        ] {
            assert_eq!(given(&arguments), Err(message.to_owned()));
        }
    }
}
