//! Types of fields as schemas and initial values show them.
//!
//! This reads the part of JSON Schema that gives a value's type. A schema that gives it in another way (`anyOf`, `$ref`),
//! or that explicitly allows other fields, promises nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value};

use super::{Member, Range, Shape};
use crate::ir::Machine;
use crate::pass::merge::Merges;

/// Returns the fields at the top of the context.
///
/// They come from the schema, the initial context and, without a schema, what the events' schemas list for it; then come those
/// that are read or written without a declaration.
pub(super) fn members(
    machine: &Machine,
    declared: Option<&Map<String, Value>>,
    initial: Option<&Map<String, Value>>,
    merges: &Merges,
) -> Vec<Member> {
    let mut fields = Fields::default();
    let schema = machine.context_schema.as_ref();
    let required = schema.map(required_names).unwrap_or_default();
    for (name, declaration) in declared.into_iter().flatten() {
        let value = initial.and_then(|initial| initial.get(name));
        let shape = schema_shape(declaration);
        fields.push(Member {
            name: name.clone(),
            shape: match value {
                Some(value) => admit(shape, value),
                None => shape,
            },
            optional: value.is_none() && !required.contains(name.as_str()),
            docs: docs(declaration),
        });
    }
    for (name, value) in initial.into_iter().flatten() {
        if fields.get(name).is_none() {
            fields.push(Member {
                name: name.clone(),
                shape: initial_shape(value),
                optional: false,
                docs: None,
            });
        }
    }
    if schema.is_none() {
        for (handle, event) in machine.events.iter() {
            let data = event.data.as_ref().and_then(|data| data.get("properties"));
            for (name, schema) in data.and_then(Value::as_object).into_iter().flatten() {
                if merges.includes(handle, name) {
                    fields.merge(name, schema);
                }
            }
        }
    }
    for (_, field) in machine.fields.iter() {
        let name = field.path.split('.').next().unwrap_or_default();
        if name != "event" && fields.get(name).is_none() {
            fields.push(Member {
                name: name.to_owned(),
                shape: Shape::Free,
                optional: true,
                docs: None,
            });
        }
    }
    fields.members
}

/// The fields found so far, in order, and where each is among them.
#[derive(Default)]
struct Fields {
    members: Vec<Member>,
    positions: BTreeMap<String, usize>,
}

impl Fields {
    fn push(&mut self, member: Member) {
        let position = self.members.len();
        self.positions.insert(member.name.clone(), position);
        self.members.push(member);
    }

    fn get(&mut self, name: &str) -> Option<&mut Member> {
        let position = *self.positions.get(name)?;
        self.members.get_mut(position)
    }

    /// Adds a field of event data that is merged, or widens the field of that name to it.
    fn merge(&mut self, name: &str, schema: &Value) {
        let shape = schema_shape(schema);
        match self.get(name) {
            Some(member) => {
                let own = std::mem::replace(&mut member.shape, Shape::Null);
                member.shape = own.join(shape);
            }
            None => self.push(Member {
                name: name.to_owned(),
                shape,
                optional: true,
                docs: docs(schema),
            }),
        }
    }
}

fn docs(schema: &Value) -> Option<String> {
    let keys = ["description", "title"];
    let docs = keys.into_iter().find_map(|key| schema.get(key)?.as_str());
    docs.map(str::to_owned)
}

/// Returns the names that a schema requires.
fn required_names(schema: &Value) -> BTreeSet<&str> {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// Returns the type of a schema's values.
pub(crate) fn schema_shape(schema: &Value) -> Shape {
    if ["allOf", "anyOf", "oneOf", "not", "$ref"]
        .iter()
        .any(|key| schema.get(key).is_some())
    {
        return Shape::Free;
    }
    let listed = schema.get("enum").and_then(Value::as_array);
    let constant = schema.get("const").map(std::slice::from_ref);
    if let Some(values) = listed.map(Vec::as_slice).or(constant) {
        let shapes = values.iter().map(exact_shape);
        return shapes.reduce(union).unwrap_or(Shape::Free);
    }
    let named = |name: &Value| kind_shape(name.as_str().unwrap_or_default(), schema);
    let shape = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().map(named).reduce(Shape::join),
        Some(name) => Some(named(name)),
        None if schema.get("properties").is_some() => Some(kind_shape("object", schema)),
        None => None,
    };
    let shape = shape.unwrap_or(Shape::Free);
    match schema.get("nullable") {
        Some(Value::Bool(true)) => shape.nullable(),
        _ => shape,
    }
}

fn kind_shape(name: &str, schema: &Value) -> Shape {
    match name {
        "boolean" => Shape::Bool,
        "integer" => Shape::int(bounds(schema)),
        "number" => Shape::Number,
        "string" => Shape::Text,
        "null" => Shape::Null,
        "array" => {
            let items = schema.get("items").map_or(Shape::Free, schema_shape);
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
            let required = required_names(schema);
            let members = properties.iter().map(|(name, inner)| Member {
                name: name.clone(),
                shape: schema_shape(inner),
                optional: !required.contains(name.as_str()),
                docs: docs(inner),
            });
            Shape::Struct(members.collect())
        }
        _ => Shape::Free,
    }
}

/// Returns the bounds that a schema gives an integer; without any, those of arithmetic.
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
    // No integer is within such bounds, so they promise nothing.
    if least > most {
        return Range::COMPUTED;
    }
    Range { least, most }
}

/// Returns the type that an initial value suggests: `0` will become other integers.
pub(super) fn initial_shape(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Free,
        Value::String(_) => Shape::Text,
        Value::Number(number) if number.is_i64() => Shape::Int(Range::COMPUTED),
        Value::Number(number) if number.is_u64() => Shape::Int(Range {
            least: 0,
            most: i128::from(u64::MAX),
        }),
        Value::Array(items) => {
            let items = items.iter().map(initial_shape).reduce(Shape::join);
            Shape::List(Box::new(items.unwrap_or(Shape::Free)))
        }
        Value::Object(fields) if fields.is_empty() => Shape::Free,
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Member {
                name: name.clone(),
                shape: initial_shape(value),
                optional: false,
                docs: None,
            });
            Shape::Struct(fields.collect())
        }
        value => exact_shape(value),
    }
}

/// Returns the narrowest type that has a value.
fn exact_shape(value: &Value) -> Shape {
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

/// Returns the type of the values of two listed ones.
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

/// Widens a type so that it has the initial value of its field.
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
        (shape, value) => match (shape, exact_shape(value)) {
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

/// Reports whether a float can represent a number exactly.
fn is_exact(number: &Number) -> bool {
    /// The largest integer up to which every integer is a float.
    const MAX: i128 = 1 << 53;
    number.as_i128().is_none_or(|int| int.abs() <= MAX)
}
