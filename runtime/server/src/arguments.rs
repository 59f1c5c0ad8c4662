//! Arguments of tools, checked by us: a wrong one names its path and what was expected.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::problem::Problem;

/// Most bytes of one call's arguments. Why: an artifact has 16 MiB at most, and JSON escapes make it longer.
const MOST: usize = 32 << 20;

/// The arguments under the names that a schema has for them: they may be written in camelCase and in snake_case. An optional
/// one that is null isn't given. Whoever looks at arguments before they are read, such as the gate, sees what the tool sees.
pub(crate) fn normal(
    schema: &Map<String, Value>,
    given: Map<String, Value>,
) -> Result<Map<String, Value>, Problem> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut own = Map::new();
    for (spelled, value) in given {
        let mut known = properties.into_iter().flat_map(Map::keys);
        let name = known.find(|name| snake(name) == snake(&spelled));
        let is_optional = name.is_some_and(|name| !is_required(name));
        let name = name.cloned().unwrap_or(spelled);
        if own.contains_key(&name) {
            return Err(bad(&name, "is given twice, in two spellings"));
        }
        if !(is_optional && value.is_null()) {
            own.insert(name, value);
        }
    }
    Ok(own)
}

/// An argument by its name in snake_case, whatever its schema calls it; of arguments that have the names of a schema.
pub(crate) fn by_name<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let mut all = arguments.iter();
    all.find_map(|(it, value)| (snake(it) == name).then_some(value))
}

/// The same, to change it.
pub(crate) fn by_name_mut<'a>(
    arguments: &'a mut Map<String, Value>,
    name: &str,
) -> Option<&'a mut Value> {
    let mut all = arguments.iter_mut();
    all.find_map(|(it, value)| (snake(it) == name).then_some(value))
}

/// Reads the arguments of a tool, which have the names of its schema.
pub(crate) fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Problem> {
    typed(Value::Object(arguments))
}

/// Reads a value; what is wrong with it is said in the words of JSON.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        bad(&path, &error.into_inner().to_string())
    })
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
        #[serde(default)]
        n: u64,
    }

    fn given(value: &Value) -> Result<Wanted, String> {
        let Value::Object(map) = value.clone() else {
            return Err("no object".to_owned());
        };
        let schema = json!({"properties": {"run_id": {}, "data": {}, "n": {}}, "required": ["n"]});
        let map = normal(schema.as_object().unwrap(), map);
        map.and_then(read).map_err(|problem| problem.message)
    }

    #[test]
    fn both_spellings_are_read_and_what_is_wrong_is_named() {
        let told = given(&json!({"runId": "r", "data": {"camelCase": 1}})).unwrap();
        assert_eq!(told.run_id.as_deref(), Some("r"));
        assert!(told.data.contains_key("camelCase"));
        let told = given(&json!({"RunId": "r", "data": null})).unwrap();
        assert_eq!(told.run_id.as_deref(), Some("r"));
        assert!(told.data.is_empty());
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
                "`rum_id`: unknown argument `rum_id`, expected one of `run_id`, `data`, `n`",
            ),
            (
                json!({"n": null}),
                "`n`: invalid type: null, expected a whole number from 0 on",
            ),
        ] {
            assert_eq!(given(&arguments), Err(message.to_owned()));
        }
    }
}
