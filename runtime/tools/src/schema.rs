//! Schemas of tools, as small as they can be: every byte of them is in every client's context.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Derives the schema of a tool's arguments.
pub(crate) fn input<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    slim(&mut value);
    match value {
        Value::Object(mut map) => {
            // Docs of a request are for readers of the code; the tool's description is for models.
            map.remove("description");
            map
        }
        _ => Map::new(),
    }
}

/// A field of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its JSON type, or types; none for any.
    pub kind: Option<Value>,
    /// Its meaning, if that is said.
    pub description: Option<String>,
}

impl Field {
    /// Parses a field from its name and its JSON type, such as `seq: integer`.
    pub(crate) fn parse(text: &str) -> Self {
        let (name, kind) = text.split_once(": ").unzip();
        Self {
            name: name.unwrap_or(text).to_owned(),
            kind: kind.map(Value::from),
            description: None,
        }
    }
}

/// Derives the fields of an answer from its type.
pub(crate) fn fields<T: JsonSchema>() -> Vec<Field> {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let fields = properties.into_iter().flatten().map(|(name, schema)| {
        let kind = schema.get("type").cloned();
        let description = schema.get("description").and_then(Value::as_str);
        Field {
            name: name.clone(),
            // A field that isn't required is left out rather than null.
            kind: match is_required(name) {
                true => kind,
                false => kind.map(|kind| without_null(&kind)),
            },
            description: description.map(str::to_owned),
        }
    });
    fields.collect()
}

/// Returns a type, or several, without that of null.
pub(crate) fn without_null(kind: &Value) -> Value {
    let Value::Array(kinds) = kind else {
        return kind.clone();
    };
    let mut kinds: Vec<&Value> = kinds.iter().filter(|kind| *kind != "null").collect();
    match kinds.pop() {
        Some(only) if kinds.is_empty() => only.clone(),
        _ => kind.clone(),
    }
}

/// Creates the schema of an answer from the fields of its `data`: clients get their types alone.
pub(crate) fn output(fields: &[Field]) -> Map<String, Value> {
    let fields = fields.iter().map(|field| {
        let schema = match &field.kind {
            None => json!({}),
            Some(kind) => json!({"type": kind}),
        };
        (field.name.clone(), schema)
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
            if let Some(kind) = map.get_mut("type") {
                *kind = without_null(kind);
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
