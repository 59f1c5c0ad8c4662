//! A server put into a configuration in JSON, with everything else in it left as it is, comments included.

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Value, json};

use super::entry::taken;

/// The text with the server under a key; nothing if it has the same already.
pub(super) fn add(
    old: &str,
    key: &str,
    name: &str,
    value: &Value,
) -> Result<Option<String>, String> {
    let parsed = parse_to_ast(old, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| format!("isn't JSON: {error}"))?;
    let Some(Node::Object(root)) = parsed.value else {
        return Err("has no object in it".to_owned());
    };
    let Some(servers) = root.properties.iter().find(|it| it.name.as_str() == key) else {
        let text = format!("{}: {}", json!(key), indented(&json!({name: value}), 1));
        return Ok(put(old, &root, &text, 1));
    };
    let Node::Object(servers) = &servers.value else {
        return Err(format!("has a `{key}` that is no object"));
    };
    if let Some(found) = servers
        .properties
        .iter()
        .find(|it| it.name.as_str() == name)
    {
        let range = found.value.range();
        let found = old.get(range.start..range.end).unwrap_or_default();
        let is_same = serde_json::from_str::<Value>(found).is_ok_and(|found| found == *value);
        return if is_same { Ok(None) } else { Err(taken(name)) };
    }
    let text = format!("{}: {}", json!(name), indented(value, 2));
    Ok(put(old, servers, &text, 2))
}

/// The text with a property before all others of an object.
fn put(old: &str, object: &Object<'_>, property: &str, depth: usize) -> Option<String> {
    let begin = object.range.start.saturating_add(1);
    let (before, behind) = (old.get(..begin)?, old.get(begin..)?);
    let indent = "  ".repeat(depth);
    let end = if object.properties.is_empty() {
        format!("\n{}", "  ".repeat(depth.saturating_sub(1)))
    } else {
        ",".to_owned()
    };
    let behind = if object.properties.is_empty() {
        behind.trim_start()
    } else {
        behind
    };
    Some(format!("{before}\n{indent}{property}{end}{behind}"))
}

fn indented(value: &Value, depth: usize) -> String {
    let indent = format!("\n{}", "  ".repeat(depth));
    format!("{value:#}").replace('\n', &indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(old: &str) -> Result<Option<String>, String> {
        add(old, "servers", "own", &json!({"command": "c"}))
    }

    #[test]
    fn what_is_there_stays_as_it_is() {
        for (old, new) in [
            (
                "{}",
                "{\n  \"servers\": {\n    \"own\": {\n      \"command\": \"c\"\n    }\n  }\n}",
            ),
            (
                "{\n  // Mine.\n  \"a\": 1\n}\n",
                "{\n  \"servers\": {\n    \"own\": {\n      \"command\": \"c\"\n    }\n  },\n  // Mine.\n  \"a\": 1\n}\n",
            ),
            (
                "{\"servers\": {\"other\": {}}, \"z\": 0}",
                "{\"servers\": {\n    \"own\": {\n      \"command\": \"c\"\n    },\"other\": {}}, \"z\": 0}",
            ),
            (
                "{\n  \"servers\": {}\n}\n",
                "{\n  \"servers\": {\n    \"own\": {\n      \"command\": \"c\"\n    }\n  }\n}\n",
            ),
        ] {
            assert_eq!(added(old).unwrap().unwrap(), new);
            assert_eq!(added(new).unwrap(), None);
        }
        for old in [
            "[",
            "[]",
            "{\"servers\": 1}",
            "{\"servers\": {\"own\": {}}}",
        ] {
            assert!(added(old).is_err(), "{old}");
        }
    }
}
