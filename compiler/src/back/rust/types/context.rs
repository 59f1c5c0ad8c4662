//! The struct `Context` of a machine whose data is declared, and the initial context.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use serde_json::{Map, Value};

use super::data::{members, write_stored, write_types};
use super::payload;
use crate::back::rust::actions;
use crate::back::rust::facts::Facts;
use crate::back::rust::layout::{Data, item};
use crate::back::rust::tokens::{datum, float, integer, mentions, owned};
use crate::ir::Machine;
use crate::pass::shape::{Member, Shape};

/// Writes `Context`, and the module `data` with the types inside of it.
pub(in crate::back::rust) fn write(facts: &Facts<'_>) -> Option<TokenStream> {
    let data = facts.data.as_ref()?;
    let fields = members(data, "", &data.layout.members, false);
    let initial = initial_context(facts.machine, data).map(|initial| {
        quote! {
            impl Context {
                /// Creates the context that the machine begins with.
                #[must_use]
                pub fn initial() -> Self {
                    #initial
                }
            }

            impl Default for Context {
                fn default() -> Self {
                    Self::initial()
                }
            }
        }
    });
    let mut types = TokenStream::new();
    write_types(data, "", &data.layout.members, &mut types);
    payload::write_types(data, &mut types);
    let types = (!types.is_empty()).then(|| {
        let imports = imports(&types);
        let runtime = (mentions(&types, "runtime") || !imports.is_empty()).then(|| {
            quote!(
                use super::runtime;
            )
        });
        let docs = if data.payloads.is_empty() {
            quote!(
                /// The types inside of a [`Context`].
            )
        } else {
            quote!(
                /// The types inside of a [`Context`] and of the data of events.
            )
        };
        quote! {
            #docs
            pub mod data {
                #runtime
                #imports

                #types
            }
        }
    });
    let name = Ident::new("Context", Span::call_site());
    let stored = write_stored(data, &name, "", &data.layout.members);
    let context = quote! {
        /// The data of the machine. Assignments change it, and its owner may do so between two steps.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Context {
            #fields
        }

        #stored

        runtime::impl_serde!(Context);

        #initial
    };
    let undo = actions::undo(facts);
    let payloads = payload::write(facts);
    let imports = imports(&quote!(#context #payloads #undo));
    Some(quote!(#imports #context #payloads #types))
}

/// Writes the imports of types that allocate, which a crate without the standard library needs.
fn imports(code: &TokenStream) -> TokenStream {
    let used = ["String", "Vec"].map(|name| mentions(code, name));
    match used {
        [true, true] => quote!(
            use runtime::generated::{String, Vec};
        ),
        [true, false] => quote!(
            use runtime::generated::String;
        ),
        [false, true] => quote!(
            use runtime::generated::Vec;
        ),
        [false, false] => quote!(),
    }
}

/// Returns true if the machine can begin without being given a context.
///
/// Every field that is always there has an initial value then.
pub(in crate::back::rust) fn has_initial(facts: &Facts<'_>) -> bool {
    let data = facts.data.as_ref();
    data.is_none_or(|data| initial_context(facts.machine, data).is_some())
}

/// Writes the initial context; `None` if a field that is always there has no initial value.
pub(in crate::back::rust) fn initial_context(
    machine: &Machine,
    data: &Data,
) -> Option<TokenStream> {
    let none = Map::new();
    let values = machine.context.as_ref().and_then(Value::as_object);
    let fields = initial_fields(data, "", &data.layout.members, values.unwrap_or(&none))?;
    Some(quote!(Self { #fields }))
}

fn initial_fields(
    data: &Data,
    outer: &str,
    members: &[Member],
    values: &Map<String, Value>,
) -> Option<TokenStream> {
    let mut fields = TokenStream::new();
    for member in members {
        let path = format!("{outer}{}", member.name);
        let name = data.field(&path);
        let value = match values.get(&member.name) {
            Some(json) => {
                let value = initial_value(data, &path, &member.shape, json)?;
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

fn initial_value(data: &Data, path: &str, shape: &Shape, json: &Value) -> Option<TokenStream> {
    Some(match (shape, json) {
        (Shape::Free | Shape::Null, json) => datum(json),
        (Shape::Nullable(_), Value::Null) => quote!(None),
        (Shape::Nullable(inner), json) => {
            let inner = initial_value(data, path, inner, json)?;
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
            let items = items
                .iter()
                .map(|json| initial_value(data, &path, of, json));
            let items = items.collect::<Option<Vec<_>>>()?;
            quote!(Vec::from([#(#items),*]))
        }
        (Shape::Struct(inner), Value::Object(values)) => {
            let name = data.type_name(path);
            let fields = initial_fields(data, &format!("{path}."), inner, values)?;
            quote!(data::#name { #fields })
        }
        _ => return None,
    })
}
