//! What schemas and initial values say of fields.
//!
//! Of JSON Schema this reads what says of a value what it is. A schema that says it in another way (`anyOf`, `$ref`), or
//! that lets other fields pass because its author says so, promises nothing.

use serde_json::{Map, Number, Value};
use statemark_runtime::Merge;

use super::{Member, Range, Shape};
use crate::ir::Machine;

/// The fields at the top: of the schema, of the initial context, and, where there is no schema, of the events' data, which
/// is merged into the context; then those that are read or written and not declared.
pub(super) fn members(
    machine: &Machine,
    declared: Option<&Map<String, Value>>,
    initial: Option<&Map<String, Value>>,
    merge: &Merge,
) -> Vec<Member> {
    let mut members = Vec::new();
    let schema = machine.context_schema.as_ref();
    for (name, schema_of) in declared.into_iter().flatten() {
        let value = initial.and_then(|initial| initial.get(name));
        let shape = of_schema(schema_of);
        members.push(Member {
            name: name.clone(),
            shape: match value {
                Some(value) => admit(shape, value),
                None => shape,
            },
            optional: value.is_none() && !schema.is_some_and(|it| requires(it, name)),
            docs: words(schema_of),
        });
    }
    for (name, value) in initial.into_iter().flatten() {
        if members.iter().all(|member| member.name != *name) {
            members.push(Member {
                name: name.clone(),
                shape: of_value(value),
                optional: false,
                docs: None,
            });
        }
    }
    if *merge == Merge::All {
        for (_, event) in machine.events.iter() {
            let data = event.data.as_ref().and_then(|data| data.get("properties"));
            for (name, schema) in data.and_then(Value::as_object).into_iter().flatten() {
                add_merged(&mut members, name, schema);
            }
        }
    }
    for (_, field) in machine.fields.iter() {
        let name = field.path.split('.').next().unwrap_or_default();
        if name != "event" && members.iter().all(|member| member.name != name) {
            members.push(Member {
                name: name.to_owned(),
                shape: Shape::Free,
                optional: true,
                docs: None,
            });
        }
    }
    members
}

fn add_merged(members: &mut Vec<Member>, name: &str, schema: &Value) {
    let shape = of_schema(schema);
    match members.iter_mut().find(|member| member.name == name) {
        Some(member) => {
            let own = std::mem::replace(&mut member.shape, Shape::Null);
            member.shape = own.join(shape);
        }
        None => members.push(Member {
            name: name.to_owned(),
            shape,
            optional: true,
            docs: words(schema),
        }),
    }
}

fn words(schema: &Value) -> Option<String> {
    let said = ["description", "title"];
    let said = said.into_iter().find_map(|key| schema.get(key)?.as_str());
    said.map(str::to_owned)
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|it| it.as_str() == Some(name)))
}

/// What the values of a schema are.
pub(crate) fn of_schema(schema: &Value) -> Shape {
    if ["allOf", "anyOf", "oneOf", "not", "$ref"]
        .iter()
        .any(|key| schema.get(key).is_some())
    {
        return Shape::Free;
    }
    let listed = schema.get("enum").and_then(Value::as_array);
    let constant = schema.get("const").map(std::slice::from_ref);
    if let Some(values) = listed.map(Vec::as_slice).or(constant) {
        let shapes = values.iter().map(exactly);
        return shapes.reduce(union).unwrap_or(Shape::Free);
    }
    let named = |name: &Value| of_kind(name.as_str().unwrap_or_default(), schema);
    let shape = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().map(named).reduce(Shape::join),
        Some(name) => Some(named(name)),
        None if schema.get("properties").is_some() => Some(of_kind("object", schema)),
        None => None,
    };
    let shape = shape.unwrap_or(Shape::Free);
    match schema.get("nullable") {
        Some(Value::Bool(true)) => shape.nullable(),
        _ => shape,
    }
}

fn of_kind(name: &str, schema: &Value) -> Shape {
    match name {
        "boolean" => Shape::Bool,
        "integer" => Shape::int(bounds(schema)),
        "number" => Shape::Number,
        "string" => Shape::Text,
        "null" => Shape::Null,
        "array" => {
            let items = schema.get("items").map_or(Shape::Free, of_schema);
            Shape::List(Box::new(items))
        }
        "object" => object(schema),
        _ => Shape::Free,
    }
}

fn object(schema: &Value) -> Shape {
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties");
    let is_open = others.is_some_and(|others| *others != Value::Bool(false))
        || schema.get("patternProperties").is_some();
    match properties {
        Some(properties) if !is_open && !properties.is_empty() => {
            let members = properties.iter().map(|(name, inner)| Member {
                name: name.clone(),
                shape: of_schema(inner),
                optional: !requires(schema, name),
                docs: words(inner),
            });
            Shape::Struct(members.collect())
        }
        _ => Shape::Free,
    }
}

/// The bounds that a schema gives an integer; where it gives none, what can be computed.
fn bounds(schema: &Value) -> Range {
    let bound = |key| schema.get(key).and_then(Value::as_number);
    let whole = |number: &Number, up: bool| {
        let int = number.as_i128();
        int.or_else(|| {
            let float = number.as_f64()?;
            let float = if up { float.ceil() } else { float.floor() };
            format!("{float:.0}").parse().ok()
        })
    };
    let after = |number: &Number| Some(whole(number, false)? + 1);
    let before = |number: &Number| Some(whole(number, true)? - 1);
    let least = [
        bound("minimum").and_then(|it| whole(it, true)),
        bound("exclusiveMinimum").and_then(after),
    ];
    let most = [
        bound("maximum").and_then(|it| whole(it, false)),
        bound("exclusiveMaximum").and_then(before),
    ];
    let (smallest, largest) = (i128::from(i64::MIN), i128::from(u64::MAX));
    let least = least.into_iter().flatten().max().unwrap_or(smallest);
    let most = most
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(Range::COMPUTED.most);
    let (least, most) = (least.max(smallest), most.min(largest));
    // Bounds that no integer meets say nothing that could be kept to.
    if least > most {
        return Range::COMPUTED;
    }
    Range { least, most }
}

/// What an initial value shows that is no more than a beginning: `0` will be another integer.
pub(super) fn of_value(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Free,
        Value::String(_) => Shape::Text,
        Value::Number(number) if number.is_i64() => Shape::Int(Range::COMPUTED),
        Value::Number(number) if number.is_u64() => Shape::Int(Range {
            least: 0,
            most: i128::from(u64::MAX),
        }),
        Value::Array(items) => {
            let items = items.iter().map(of_value).reduce(Shape::join);
            Shape::List(Box::new(items.unwrap_or(Shape::Free)))
        }
        Value::Object(fields) if fields.is_empty() => Shape::Free,
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Member {
                name: name.clone(),
                shape: of_value(value),
                optional: false,
                docs: None,
            });
            Shape::Struct(fields.collect())
        }
        value => exactly(value),
    }
}

/// What holds the value and as little else as can be said.
fn exactly(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Null,
        Value::Bool(_) => Shape::Bool,
        Value::Number(number) => match number.as_i128() {
            Some(value) => Shape::Int(Range {
                least: value,
                most: value,
            }),
            None => Shape::Float,
        },
        Value::String(text) => Shape::Enum(vec![text.clone()]),
        Value::Array(_) | Value::Object(_) => Shape::Free,
    }
}

/// What holds the values of two shapes, of which each is listed.
fn union(one: Shape, two: Shape) -> Shape {
    match (one, two) {
        (Shape::Enum(mut one), Shape::Enum(two)) => {
            for text in two {
                if !one.contains(&text) {
                    one.push(text);
                }
            }
            Shape::Enum(one)
        }
        (Shape::Nullable(one), Shape::Enum(two)) => union(*one, Shape::Enum(two)).nullable(),
        (one, two) => one.join(two),
    }
}

/// The shape, widened to what the field begins with.
fn admit(shape: Shape, value: &Value) -> Shape {
    match (shape, value) {
        (Shape::Number, Value::Number(number)) if is_exact(number) => Shape::Number,
        (Shape::Nullable(inner), Value::Null) => Shape::Nullable(inner),
        (Shape::Nullable(inner), value) => admit(*inner, value).nullable(),
        (Shape::List(inner), Value::Array(items)) => {
            Shape::List(Box::new(items.iter().fold(*inner, admit)))
        }
        (Shape::Struct(members), Value::Object(fields)) => {
            let is_known = |name: &String| members.iter().any(|member| member.name == *name);
            if !fields.keys().all(is_known) {
                return Shape::Free;
            }
            let members = members
                .into_iter()
                .map(|member| match fields.get(&member.name) {
                    Some(value) => Member {
                        shape: admit(member.shape, value),
                        ..member
                    },
                    None => Member {
                        optional: true,
                        ..member
                    },
                });
            Shape::Struct(members.collect())
        }
        (shape, Value::Array(_) | Value::Object(_)) if shape != Shape::Free => Shape::Free,
        (shape, value) => match (shape, exactly(value)) {
            (Shape::Int(range), Shape::Int(_)) => {
                let value = value.as_number().and_then(Number::as_i128).unwrap_or(0);
                Shape::int(range.with(Range {
                    least: value,
                    most: value,
                }))
            }
            (shape, exact) => shape.join(exact),
        },
    }
}

/// Whether a float is the same number.
fn is_exact(number: &Number) -> bool {
    /// Up to here every integer is a float.
    const MOST: i128 = 1 << 53;
    number.as_i128().is_none_or(|int| int.abs() <= MOST)
}
