//! Bridges between `serde_json` and the runtime's own data.
//!
//! The compiler and its users have `serde_json`; the runtime has JSON of its own ([`Datum::from_json`]) and no dependency.
//! Conversions here take no detour through text.

use serde_json::{Map, Number, Value};
use statemark_runtime::Datum;

/// Converts a value from `serde_json`.
///
/// Returns `None` for a number that a [`Datum`] can't hold exactly, which `serde_json` has only with its feature
/// `arbitrary_precision`.
///
/// ```
/// use serde_json::json;
/// use statemark_compiler::datum;
///
/// let order = json!({"total": 12, "paid": [true, null, 0.5]});
/// let datum = datum::from_json(&order).unwrap();
/// assert_eq!(datum.to_string(), order.to_string().replace(' ', ""));
/// assert_eq!(datum::to_json(&datum), order);
/// ```
#[must_use]
pub fn from_json(value: &Value) -> Option<Datum> {
    Some(match value {
        Value::Null => Datum::Null,
        Value::Bool(bool) => Datum::Bool(*bool),
        Value::Number(number) => number_from_json(number)?,
        Value::String(text) => Datum::Text(text.clone()),
        Value::Array(items) => Datum::List(items.iter().map(from_json).collect::<Option<_>>()?),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(key, field)| Some((key.clone(), from_json(field)?)));
            Datum::Object(fields.collect::<Option<_>>()?)
        }
    })
}

/// Converts a value to `serde_json`.
///
/// A number that JSON doesn't have becomes `null`, as `serde_json` writes it.
#[must_use]
pub fn to_json(datum: &Datum) -> Value {
    match datum {
        Datum::Null => Value::Null,
        Datum::Bool(bool) => Value::Bool(*bool),
        Datum::Int(int) => Number::from_i128(*int).map_or(Value::Null, Value::Number),
        Datum::Float(float) => Number::from_f64(*float).map_or(Value::Null, Value::Number),
        Datum::Text(text) => Value::String(text.clone()),
        Datum::List(items) => Value::Array(items.iter().map(to_json).collect()),
        Datum::Object(fields) => {
            let fields = fields.iter();
            let fields: Map<_, _> = fields
                .map(|(key, field)| (key.clone(), to_json(field)))
                .collect();
            Value::Object(fields)
        }
    }
}

fn number_from_json(number: &Number) -> Option<Datum> {
    let int = number.as_i128();
    int.map(Datum::Int)
        .or_else(|| number.as_f64().map(Datum::Float))
}
