//! Arguments of tools. They are checked here: an invalid one names its path and what was expected.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use statemark_runs::json_size;

use crate::Problem;

/// Most bytes of a call's arguments. Why: an artifact has up to 16 MiB, and JSON escapes lengthen it.
const MAX_SIZE: usize = 32 << 20;

/// Renames arguments to the names of a schema, and drops optional ones that are null.
///
/// A caller may write names in camelCase and in snake_case. Policy reads normalized arguments, so that it sees what the tool
/// sees.
pub(crate) fn normalize(
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Problem> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut normal = Map::new();
    for (spelled, value) in arguments {
        let mut known = properties.into_iter().flat_map(Map::keys);
        let name = known.find(|name| to_snake_case(name) == to_snake_case(&spelled));
        let is_optional = name.is_some_and(|name| !is_required(name));
        let name = name.cloned().unwrap_or(spelled);
        if normal.contains_key(&name) {
            return Err(invalid(&name, "is given twice, in two spellings"));
        }
        if !(is_optional && value.is_null()) {
            normal.insert(name, value);
        }
    }
    Ok(normal)
}

/// Finds a normalized argument by its name in snake_case, however its schema spells it.
pub(crate) fn find<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let mut all = arguments.iter();
    all.find_map(|(key, value)| (to_snake_case(key) == name).then_some(value))
}

/// Finds a normalized argument to change it.
pub(crate) fn find_mut<'a>(
    arguments: &'a mut Map<String, Value>,
    name: &str,
) -> Option<&'a mut Value> {
    let mut all = arguments.iter_mut();
    all.find_map(|(key, value)| (to_snake_case(key) == name).then_some(value))
}

/// Parses the normalized arguments of a tool.
pub(crate) fn parse<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Problem> {
    parse_value(Value::Object(arguments))
}

/// Parses a value.
///
/// # Errors
///
/// It is none of the type: the problem says so in terms of JSON.
pub fn parse_value<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        invalid(&path, &error.into_inner().to_string())
    })
}

/// Rewords an error of serde in terms of JSON.
fn invalid(path: &str, what: &str) -> Problem {
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

/// Converts `expectedSeq` to `expected_seq`; a name in snake_case stays.
fn to_snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Checks the size of a call's arguments.
pub(crate) fn check_size(arguments: &Map<String, Value>) -> Result<(), Problem> {
    let size = json_size(arguments);
    if size <= MAX_SIZE {
        return Ok(());
    }
    let message = format!("the arguments have {size} bytes; at most {MAX_SIZE} are accepted");
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
        let map = normalize(schema.as_object().unwrap(), map);
        map.and_then(parse).map_err(|problem| problem.message)
    }

    #[test]
    fn both_spellings_are_accepted_and_errors_name_their_path() {
        let wanted = given(&json!({"runId": "r", "data": {"camelCase": 1}})).unwrap();
        assert_eq!(wanted.run_id.as_deref(), Some("r"));
        assert!(wanted.data.contains_key("camelCase"));
        let wanted = given(&json!({"RunId": "r", "data": null})).unwrap();
        assert_eq!(wanted.run_id.as_deref(), Some("r"));
        assert!(wanted.data.is_empty());
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
