//! Fields of the data: which a spec declares, and their types.
//!
//! The context's schema declares them, else the initial context, else the data of events, which is merged into the context.
//! A field that none of them mentions is [`Known::Open`]: its uses may imply a type.
//!
//! Of JSON Schema this reads `type`, `enum`, `const`, `nullable`, `properties`, `required` and `items`. Nothing is known of
//! a value that a schema describes in another way (`anyOf`, `$ref`).

use serde_json::Value;

use crate::front::definition::ast::Definition;
use crate::ir::Type;
use crate::pass::merge::Choice;

/// Most names for suggestions. Unit: fields. Why: a misspelled name is compared with each.
const MAX_NAMES: usize = 1000;

/// The declarations of a machine's data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields<'c> {
    definition: Option<&'c Definition>,
    schema: Option<&'c Value>,
    /// True if every field that an event's schema lists becomes part of the context.
    merges_all: bool,
}

/// The knowledge of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// A declared field.
    Declared {
        /// Its type.
        kind: Type,
        /// True if it is there from the start and always.
        present: bool,
    },
    /// A field that may exist.
    Open,
    /// A field that doesn't exist.
    Missing,
}

impl<'c> Fields<'c> {
    pub(super) fn new(definition: Option<&'c Definition>) -> Self {
        let meta = |key| definition.and_then(|definition| definition.meta.get(key));
        Self {
            definition,
            schema: meta("context_schema"),
            merges_all: meta("context_schema").is_none()
                && definition
                    .is_some_and(|definition| Choice::from_meta(&definition.meta) != Choice::None),
        }
    }

    /// Returns what is known of a field of the context.
    pub(super) fn context_field(&self, path: &str) -> Known {
        let declared = self
            .schema
            .map_or(Known::Open, |schema| schema_field(schema, path));
        let context = self.context();
        let shown = context.map_or(Known::Open, |context| value_field(context, path));
        let is_declared = self.schema.is_some() || context.is_some();
        match (declared, shown) {
            (
                Known::Declared { kind, present },
                Known::Declared {
                    kind: shown,
                    present: is_initial,
                },
            ) => Known::Declared {
                kind: if kind == Type::Unknown { shown } else { kind },
                present: present || is_initial,
            },
            (Known::Declared { kind, present }, _) => Known::Declared { kind, present },
            (_, Known::Declared { kind, present }) => Known::Declared { kind, present },
            _ if self.merges_all && self.event_field(path).is_some() => {
                let kind = self.event_field(path).unwrap_or_default();
                Known::Declared {
                    kind,
                    present: false,
                }
            }
            (Known::Open, _) if self.schema.is_some() => Known::Open,
            (_, Known::Open) if context.is_some() => Known::Open,
            _ if is_declared => Known::Missing,
            _ => Known::Open,
        }
    }

    /// Returns the type of a field of the data of all events, if any event declares it.
    fn event_field(&self, path: &str) -> Option<Type> {
        let declared = self.definition?.events.iter();
        let kinds = declared.filter_map(|event| {
            let data = event.value.data.as_ref()?;
            match schema_field(&data.value, path) {
                Known::Declared { kind, .. } => Some(kind),
                _ => None,
            }
        });
        kinds.reduce(join)
    }

    /// Returns the initial context.
    pub(super) fn context(&self) -> Option<&'c Value> {
        let context = self.definition?.context.as_ref()?;
        Some(&context.value)
    }

    /// Returns the schema of the context.
    pub(super) fn schema(&self) -> Option<&'c Value> {
        self.schema
    }

    /// Returns the definition.
    pub(super) fn definition(&self) -> Option<&'c Definition> {
        self.definition
    }

    /// Reports whether a field at the top of the context begins with `null`.
    ///
    /// Nothing takes such a field away again. One further inside is gone once an event brings another object.
    pub(super) fn begins_as_null(&self, path: &str) -> bool {
        let context = self.definition.and_then(|it| it.context.as_ref());
        let found = context.and_then(|context| context.value.get(path));
        found.is_some_and(Value::is_null)
    }

    /// Returns the declared fields, for suggestions.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        if let Some(context) = self.context() {
            add_names("", context, &mut names);
        }
        if let Some(schema) = self.schema {
            add_properties("", schema, &mut names);
        }
        let events = self
            .definition
            .map_or(&[][..], |definition| &definition.events);
        if self.merges_all {
            for data in events.iter().filter_map(|event| event.value.data.as_ref()) {
                add_properties("", &data.value, &mut names);
            }
        }
        names
    }
}

fn add_names(prefix: &str, value: &Value, names: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        if names.len() >= MAX_NAMES || prefix.len() > MAX_NAMES {
            return;
        }
        names.push(format!("{prefix}{name}"));
        add_names(&format!("{prefix}{name}."), value, names);
    }
}

/// Adds the dotted names of a schema's properties.
pub(super) fn add_properties(prefix: &str, schema: &Value, names: &mut Vec<String>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if names.len() >= MAX_NAMES || prefix.len() > MAX_NAMES {
            return;
        }
        names.push(format!("{prefix}{name}"));
        add_properties(&format!("{prefix}{name}."), schema, names);
    }
}

/// Returns what a schema declares of a path.
pub(super) fn schema_field(schema: &Value, path: &str) -> Known {
    let mut schema = schema;
    let mut present = true;
    for name in path.split('.') {
        let properties = schema.get("properties").and_then(Value::as_object);
        let Some(found) = properties.and_then(|properties| properties.get(name)) else {
            let holds_none = properties.is_none()
                && !matches!(
                    kind(schema),
                    Type::Object | Type::Unknown | Type::Nullable(_)
                );
            let is_closed = holds_none || (properties.is_some() && !is_open(schema));
            return if is_closed {
                Known::Missing
            } else {
                Known::Open
            };
        };
        let required = schema.get("required").and_then(Value::as_array);
        present &=
            required.is_some_and(|required| required.iter().any(|it| it.as_str() == Some(name)));
        schema = found;
    }
    Known::Declared {
        kind: kind(schema),
        present,
    }
}

/// Returns whether a schema with properties allows others, or has keywords that aren't read here.
fn is_open(schema: &Value) -> bool {
    let others = schema.get("additionalProperties");
    others.is_some_and(|others| *others != Value::Bool(false))
        || ["patternProperties", "$ref", "allOf", "anyOf", "oneOf"]
            .iter()
            .any(|key| schema.get(key).is_some())
}

/// Returns the type of the values that a schema allows.
pub(super) fn kind(schema: &Value) -> Type {
    if let Some(constant) = schema.get("const") {
        return kind_of(constant);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(kind_of).reduce(join).unwrap_or_default();
    }
    let named = |name: &Value| match name.as_str() {
        Some("boolean") => Type::Bool,
        Some("integer") => Type::Int,
        Some("number") => Type::Number,
        Some("string") => Type::Text,
        Some("object") => Type::Object,
        Some("null") => Type::Nullable(Box::default()),
        Some("array") => Type::List(Box::new(schema.get("items").map(kind).unwrap_or_default())),
        _ => Type::Unknown,
    };
    let found = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().map(named).reduce(join).unwrap_or_default(),
        Some(name) => named(name),
        None if schema.get("properties").is_some() => Type::Object,
        None => Type::Unknown,
    };
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        return join(found, Type::Nullable(Box::default()));
    }
    found
}

/// Returns what an initial value shows of a path.
fn value_field(context: &Value, path: &str) -> Known {
    let mut value = context;
    for (depth, name) in path.split('.').enumerate() {
        let Some(object) = value.as_object() else {
            // If `plan` is null now, it may be an object later.
            return if value.is_null() {
                Known::Open
            } else {
                Known::Missing
            };
        };
        let Some(found) = object.get(name) else {
            let is_empty = object.is_empty() && depth > 0;
            return if is_empty {
                Known::Open
            } else {
                Known::Missing
            };
        };
        value = found;
    }
    Known::Declared {
        kind: kind_of(value),
        // An event's data replaces an object as a whole, and its fields may be gone.
        present: !path.contains('.'),
    }
}

/// Returns the type of a value.
pub(super) fn kind_of(value: &Value) -> Type {
    match value {
        Value::Null => Type::Nullable(Box::default()),
        Value::Bool(_) => Type::Bool,
        Value::Number(number) if number.is_f64() => Type::Float,
        Value::Number(_) => Type::Int,
        Value::String(_) => Type::Text,
        Value::Object(_) => Type::Object,
        Value::Array(items) => {
            let kinds = items.iter().map(kind_of);
            Type::List(Box::new(kinds.reduce(join).unwrap_or_default()))
        }
    }
}

/// Returns the type that holds values of two types.
pub(super) fn join(one: Type, two: Type) -> Type {
    match (one, two) {
        (one, two) if one == two => one,
        (Type::Nullable(one), Type::Nullable(two)) => {
            Type::Nullable(Box::new(join_inner(*one, *two)))
        }
        (Type::Nullable(one), two) | (two, Type::Nullable(one)) => {
            Type::Nullable(Box::new(join_inner(*one, two)))
        }
        (Type::Int | Type::Float | Type::Number, Type::Int | Type::Float | Type::Number) => {
            Type::Number
        }
        (Type::List(one), Type::List(two)) => Type::List(Box::new(join(*one, *two))),
        _ => Type::Unknown,
    }
}

/// Joins the types without `null`: `null` alone is [`Type::Unknown`], so that the other one counts.
fn join_inner(one: Type, two: Type) -> Type {
    match (one, two) {
        (Type::Unknown, known) | (known, Type::Unknown) => known,
        (one, two) => join(one, two),
    }
}
