//! Schemas of tools, as small as they can be: every byte of them is in every client's context.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Derives the schema of a tool's arguments.
pub(crate) fn input<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    slim(&mut value);
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Creates the schema of an answer whose `data` has these fields: names with JSON types, empty for any.
pub(crate) fn output(fields: &[(&str, &str)]) -> Map<String, Value> {
    let fields = fields.iter().map(|(name, kind)| {
        let schema = match *kind {
            "" => json!({}),
            kind => json!({"type": kind}),
        };
        ((*name).to_owned(), schema)
    });
    let fields: Map<String, Value> = fields.collect();
    let schema = json!({
        "type": "object",
        "oneOf": [
            {
                "properties": {
                    "ok": {"const": true},
                    "data": {"type": "object", "properties": fields},
                },
                "required": ["ok", "data"],
            },
            {
                "properties": {
                    "ok": {"const": false},
                    "error": {"type": "object", "required": ["code", "message"]},
                },
                "required": ["ok", "error"],
            },
        ],
    });
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Removes what no client needs: titles, formats of integers, defaults of null.
fn slim(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // `properties` holds names, one of which may be `title`.
            let properties = map.remove("properties");
            map.remove("title");
            map.remove("format");
            if map.get("default") == Some(&Value::Null) {
                map.remove("default");
            }
            if let Some(Value::Array(kinds)) = map.get("type")
                && let [kind, Value::String(null)] = kinds.as_slice()
                && null == "null"
            {
                let kind = kind.clone();
                map.insert("type".to_owned(), kind);
            }
            map.values_mut().for_each(slim);
            if let Some(Value::Object(mut properties)) = properties {
                properties.values_mut().for_each(slim);
                map.insert("properties".to_owned(), Value::Object(properties));
            }
        }
        Value::Array(all) => all.iter_mut().for_each(slim),
        _ => {}
    }
}
