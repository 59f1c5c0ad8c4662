//! The initial context as a Rust expression.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use serde_json::{Map, Value};

use super::{Data, item};
use crate::ir::Machine;
use crate::pass::shape::{Member, Shape};

/// What the context begins with; `None` where a field that is always there has no initial value.
pub(super) fn initial(machine: &Machine, data: &Data) -> Option<TokenStream> {
    let none = Map::new();
    let values = machine.context.as_ref().and_then(Value::as_object);
    let fields = members(data, "", &data.layout.members, values.unwrap_or(&none))?;
    Some(quote!(Self { #fields }))
}

fn members(
    data: &Data,
    around: &str,
    members: &[Member],
    values: &Map<String, Value>,
) -> Option<TokenStream> {
    let mut fields = TokenStream::new();
    for member in members {
        let path = format!("{around}{}", member.name);
        let name = data.field(&path);
        let value = match values.get(&member.name) {
            Some(json) => {
                let value = value(data, &path, &member.shape, json)?;
                if member.optional {
                    quote!(Some(#value))
                } else {
                    value
                }
            }
            None if member.optional => quote!(None),
            None => return None,
        };
        fields.extend(quote!(#name: #value,));
    }
    Some(fields)
}

fn value(data: &Data, path: &str, shape: &Shape, json: &Value) -> Option<TokenStream> {
    Some(match (shape, json) {
        (Shape::Free | Shape::Null, json) => datum(json),
        (Shape::Nullable(_), Value::Null) => quote!(None),
        (Shape::Nullable(inner), json) => {
            let inner = value(data, path, inner, json)?;
            quote!(Some(#inner))
        }
        (Shape::Bool, Value::Bool(value)) => quote!(#value),
        (Shape::Int(_), Value::Number(number)) => integer(number.as_i128()?),
        (Shape::Float | Shape::Number, Value::Number(number)) => float(number.as_f64()?),
        (Shape::Text, Value::String(text)) => owned(text),
        (Shape::Enum(texts), Value::String(text)) => data.variant(path, texts, text)?,
        (Shape::List(_), Value::Array(items)) if items.is_empty() => {
            quote!(Vec::new())
        }
        (Shape::List(of), Value::Array(items)) => {
            let path = item(path);
            let items = items.iter().map(|json| value(data, &path, of, json));
            let items = items.collect::<Option<Vec<_>>>()?;
            quote!(Vec::from([#(#items),*]))
        }
        (Shape::Struct(inner), Value::Object(values)) => {
            let name = data.type_name(path);
            let fields = members(data, &format!("{path}."), inner, values)?;
            quote!(data::#name { #fields })
        }
        _ => return None,
    })
}

fn integer(value: i128) -> TokenStream {
    let minus = (value < 0).then(|| quote!(-));
    let value = Literal::u128_unsuffixed(value.unsigned_abs());
    quote!(#minus #value)
}

fn float(value: f64) -> TokenStream {
    let minus = value.is_sign_negative().then(|| quote!(-));
    let value = Literal::f64_unsuffixed(value.abs());
    quote!(#minus #value)
}

/// A value without a type.
fn datum(json: &Value) -> TokenStream {
    match json {
        Value::Null => quote!(runtime::Datum::Null),
        Value::Bool(value) => quote!(runtime::Datum::Bool(#value)),
        Value::Number(number) => match number.as_i128() {
            Some(value) => {
                let value = integer(value);
                quote!(runtime::Datum::Int(#value))
            }
            None => {
                let value = float(number.as_f64().unwrap_or_default());
                quote!(runtime::Datum::Float(#value))
            }
        },
        Value::String(text) => {
            let text = owned(text);
            quote!(runtime::Datum::Text(#text))
        }
        Value::Array(items) => {
            let items = items.iter().map(datum);
            quote!(runtime::Datum::List(Vec::from([#(#items),*])))
        }
        Value::Object(fields) if fields.is_empty() => {
            quote!(runtime::Datum::Object(Default::default()))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| {
                let value = datum(value);
                let key = owned(key);
                quote!((#key, #value))
            });
            quote!(runtime::Datum::Object([#(#fields),*].into_iter().collect()))
        }
    }
}

/// A text that is owned.
pub(super) fn owned(text: &str) -> TokenStream {
    if text.is_empty() {
        quote!(String::new())
    } else {
        quote!(String::from(#text))
    }
}
