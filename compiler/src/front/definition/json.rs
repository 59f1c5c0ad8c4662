//! JSON values: their kinds in words, and as `serde_json` values for hosts.

use jsonc_parser::ast::{Object, Value};
use serde_json::Number;

/// The first value under that key.
pub(super) fn get<'o, 't>(object: &'o Object<'t>, key: &str) -> Option<&'o Value<'t>> {
    object
        .properties
        .iter()
        .find(|property| property.name.as_str() == key)
        .map(|property| &property.value)
}

/// What a value is, in words.
pub(super) fn words(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a text",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(it) if it.value => "`true`",
        Value::BooleanLit(_) => "`false`",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "`null`",
    }
}

/// A number as written: exact if it is whole and within 64 bits, else the nearest float. `None` for a whole number beyond,
/// for one past every float, and for what isn't a number (`NaN`).
pub(super) fn number(text: &str) -> Option<Number> {
    let plain = text.strip_prefix('+').unwrap_or(text);
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", plain),
    };
    if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        return if sign.is_empty() {
            u64::from_str_radix(hex, 16).ok().map(Number::from)
        } else {
            i64::from_str_radix(&format!("-{hex}"), 16)
                .ok()
                .map(Number::from)
        };
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match plain.parse::<i64>() {
            Ok(value) => Some(value.into()),
            Err(_) => plain.parse::<u64>().ok().map(Number::from),
        };
    }
    Number::from_f64(plain.parse::<f64>().ok()?)
}

/// The value for a host. A number that has no exact form is null; it was reported.
///
/// Recursion is bounded: the text was refused if it nests deeper than [`MAX_DEPTH`](super::text::MAX_DEPTH).
pub(super) fn value(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::StringLit(it) => it.value.as_ref().into(),
        Value::NumberLit(it) => number(it.value).map_or(serde_json::Value::Null, Into::into),
        Value::BooleanLit(it) => it.value.into(),
        Value::NullKeyword(_) => serde_json::Value::Null,
        Value::Array(it) => it.elements.iter().map(self::value).collect(),
        Value::Object(it) => {
            let mut map = serde_json::Map::new();
            for property in &it.properties {
                // Of two equal keys the first counts, as everywhere in this front end; the second was reported.
                if !map.contains_key(property.name.as_str()) {
                    map.insert(
                        property.name.as_str().to_owned(),
                        self::value(&property.value),
                    );
                }
            }
            map.into()
        }
    }
}
