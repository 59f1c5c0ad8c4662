//! The data of events as Rust: a struct for each event with declared data, and `EventData`.
//!
//! A type that the context has for a field of the same name and shape is used again. What is merged into the context is
//! converted, because its fields may have to hold more than the event's do.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::data::{members, write_type};
use crate::back::rust::actions::merged_variant;
use crate::back::rust::facts::Facts;
use crate::back::rust::layout::{Data, integer_type, is_copy, item};
use crate::back::rust::tokens::doc;
use crate::pass::shape::{Member, Shape};

/// Writes the types inside of the structs.
pub(in crate::back::rust) fn write_types(data: &Data, types: &mut TokenStream) {
    for payload in &data.payloads {
        let own = payload.data.layout.members.iter();
        for member in own.filter(|member| !payload.shared.contains(&member.name)) {
            write_type(&payload.data, &member.name, &member.shape, types);
        }
    }
}

/// Writes the structs, and `EventData`.
pub(in crate::back::rust) fn write(facts: &Facts<'_>) -> Option<TokenStream> {
    let payloads = facts.payloads();
    if payloads.is_empty() {
        return None;
    }
    let structs = payloads.iter().map(|payload| {
        let (name, data) = (&payload.name, &payload.data);
        let id = &facts.machine.events.at(payload.event).id;
        let docs = doc(&format!("The data of the event `{id}`."));
        let fields = members(data, "", &data.layout.members, false);
        let event = facts.event(payload.event);
        let carried = payload.is_required().then(|| {
            quote! {
                impl From<#name> for Event {
                    fn from(data: #name) -> Self {
                        Self::#event(data)
                    }
                }
            }
        });
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            pub struct #name {
                #fields
            }

            impl From<#name> for EventData {
                fn from(data: #name) -> Self {
                    Self::#event(data)
                }
            }

            #carried
        }
    });
    let variants = payloads.iter().map(|payload| {
        let (event, name) = (facts.event(payload.event), &payload.name);
        let id = &facts.machine.events.at(payload.event).id;
        let docs = doc(&format!("`{id}`"));
        quote!(#docs #event(#name),)
    });
    let events = payloads.iter().map(|payload| facts.event(payload.event));
    let kind = facts.event_name();
    let merge = merge(facts);
    Some(quote! {
        /// An event with its data, for [`Machine::send_with`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum EventData {
            #(#variants)*
        }

        impl EventData {
            /// Returns the event.
            #[must_use]
            pub const fn event(&self) -> #kind {
                match self {
                    #(Self::#events(_) => #kind::#events,)*
                }
            }

            #merge
        }

        #(#structs)*
    })
}

/// Writes `merge`, if any event's data is merged.
fn merge(facts: &Facts<'_>) -> Option<TokenStream> {
    let data = facts.data.as_ref().filter(|_| facts.merges())?;
    let arms = facts.payloads().iter().map(|payload| {
        let writes: Vec<_> = facts
            .merged(payload)
            .map(|(field, at, own)| {
                let place = data.field(&own.name);
                let write = |code: &TokenStream, is_reference| {
                    let from = Typed {
                        data: &payload.data,
                        path: &field.name,
                        shape: &field.shape,
                    };
                    let to = Typed {
                        data,
                        path: &own.name,
                        shape: &own.shape,
                    };
                    let old = merged_variant(at);
                    let replaced = replaced(own.optional, from, to, code, is_reference, &place);
                    quote! {
                        let old = #replaced;
                        undo.push(Old::#old(old));
                    }
                };
                let name = payload.data.field(&field.name);
                if field.optional {
                    let write = write(&quote!(value), true);
                    quote!(if let Some(value) = &data.#name { #write })
                } else {
                    write(&quote!(data.#name), false)
                }
            })
            .collect();
        let event = facts.event(payload.event);
        if writes.is_empty() {
            quote!(Self::#event(_) => {})
        } else {
            quote!(Self::#event(data) => { #(#writes)* })
        }
    });
    Some(quote! {
        /// Merges the data into the context, and keeps the values that it replaces.
        fn merge(&self, context: &mut Context, undo: &mut Vec<Old>) {
            match self {
                #(#arms)*
            }
        }
    })
}

/// Puts a value into a field of the context, and gives what was there.
fn replaced(
    is_optional: bool,
    from: Typed<'_>,
    to: Typed<'_>,
    code: &TokenStream,
    is_reference: bool,
    place: &Ident,
) -> TokenStream {
    let is_null = matches!(from.shape, Shape::Nullable(_) | Shape::Null);
    match to.shape {
        Shape::Nullable(inner) if !is_optional && !is_null => {
            let to = Typed { shape: inner, ..to };
            let value = convert(from, to, code, is_reference);
            quote!(context.#place.replace(#value))
        }
        _ => {
            let value = convert(from, to, code, is_reference);
            if is_optional {
                quote!(context.#place.replace(#value))
            } else {
                quote!(::core::mem::replace(&mut context.#place, #value))
            }
        }
    }
}

/// A shape with the names that it has in Rust.
#[derive(Clone, Copy)]
pub(in crate::back::rust) struct Typed<'d> {
    pub(in crate::back::rust) data: &'d Data,
    pub(in crate::back::rust) path: &'d str,
    pub(in crate::back::rust) shape: &'d Shape,
}

impl<'d> Typed<'d> {
    fn with(self, path: &'d str, shape: &'d Shape) -> Self {
        Self {
            path,
            shape,
            ..self
        }
    }

    fn rust(self) -> String {
        let code = self.data.rust(self.path, self.shape, false);
        code.to_string().replace(' ', "")
    }
}

/// Converts the place, or the reference, of a value of the first type to an owned value of the second.
pub(in crate::back::rust) fn convert(
    from: Typed<'_>,
    to: Typed<'_>,
    code: &TokenStream,
    is_reference: bool,
) -> TokenStream {
    let value = if is_reference {
        quote!(*#code)
    } else {
        code.clone()
    };
    if from.rust() == to.rust() {
        return if is_copy(from.shape) {
            value
        } else {
            quote!(#code.clone())
        };
    }
    match (from.shape, to.shape) {
        (Shape::Null, Shape::Nullable(_)) => quote!(None),
        (Shape::Nullable(inner), Shape::Nullable(wider)) => {
            let (from, to) = (from.with(from.path, inner), to.with(to.path, wider));
            let map = mapped(&convert(from, to, &quote!(item), true));
            quote!(#code.as_ref().map(#map))
        }
        (_, Shape::Nullable(wider)) => {
            let value = convert(from, to.with(to.path, wider), code, is_reference);
            quote!(Some(#value))
        }
        (Shape::Int(_), Shape::Int(range)) => {
            let name = format_ident!("{}", integer_type(*range));
            quote!(#name::from(#value))
        }
        (Shape::Enum(_), Shape::Text) => quote!(String::from(#code.name())),
        (Shape::Enum(texts), Shape::Enum(wider)) => {
            let arms = texts.iter().filter_map(|text| {
                let narrow = from.data.variant(from.path, texts, text)?;
                let wide = to.data.variant(to.path, wider, text)?;
                Some(quote!(#narrow => #wide,))
            });
            quote!(match #value { #(#arms)* })
        }
        (Shape::List(inner), Shape::List(wider)) => {
            let (path, wider_path) = (item(from.path), item(to.path));
            let (from, to) = (from.with(&path, inner), to.with(&wider_path, wider));
            let map = mapped(&convert(from, to, &quote!(item), true));
            quote!(#code.iter().map(#map).collect())
        }
        (Shape::Struct(inner), Shape::Struct(wider)) => {
            let name = to.data.type_name(to.path);
            let fields = inner.iter().filter_map(|member| {
                let other = wider.iter().find(|other| other.name == member.name)?;
                Some(field(from, to, member, other, code))
            });
            quote!(data::#name { #(#fields)* })
        }
        _ => datum(from, code, is_reference),
    }
}

/// Converts a field of a struct.
fn field(
    from: Typed<'_>,
    to: Typed<'_>,
    member: &Member,
    wider: &Member,
    code: &TokenStream,
) -> TokenStream {
    let path = format!("{}.{}", from.path, member.name);
    let wider_path = format!("{}.{}", to.path, wider.name);
    let (name, wider_name) = (from.data.field(&path), to.data.field(&wider_path));
    let place = quote!(#code.#name);
    let (from, to) = (
        from.with(&path, &member.shape),
        to.with(&wider_path, &wider.shape),
    );
    let value = if member.optional && from.rust() == to.rust() {
        if is_copy(&member.shape) {
            place
        } else {
            quote!(#place.clone())
        }
    } else if member.optional {
        let map = mapped(&convert(from, to, &quote!(item), true));
        quote!(#place.as_ref().map(#map))
    } else {
        let value = convert(from, to, &place, false);
        if wider.optional {
            quote!(Some(#value))
        } else {
            value
        }
    };
    quote!(#wider_name: #value,)
}

/// Converts a value to one without a type.
fn datum(from: Typed<'_>, code: &TokenStream, is_reference: bool) -> TokenStream {
    match from.shape {
        Shape::Null | Shape::Free => quote!(#code.clone()),
        Shape::List(inner) => {
            let path = item(from.path);
            let map = mapped(&datum(from.with(&path, inner), &quote!(item), true));
            quote!(runtime::Datum::List(#code.iter().map(#map).collect()))
        }
        Shape::Struct(members) => {
            let fields = members.iter().map(|member| {
                let path = format!("{}.{}", from.path, member.name);
                let (key, name) = (&member.name, from.data.field(&path));
                let inner = from.with(&path, &member.shape);
                let place = quote!(#code.#name);
                let value = if member.optional {
                    let map = mapped(&datum(inner, &quote!(item), true));
                    quote!(#place.as_ref().map(#map))
                } else {
                    let value = datum(inner, &place, false);
                    quote!(Some(#value))
                };
                quote!((#key, #value))
            });
            quote!(runtime::generated::object([#(#fields),*]))
        }
        Shape::Nullable(inner) if !inner.is_plain() => {
            let map = mapped(&datum(from.with(from.path, inner), &quote!(item), true));
            quote!(#code.as_ref().map_or(runtime::Datum::Null, #map))
        }
        _ if is_reference => quote!(runtime::generated::datum(#code)),
        _ => quote!(runtime::generated::datum(&#code)),
    }
}

/// Writes what is done with each `item`, as a function.
fn mapped(body: &TokenStream) -> TokenStream {
    let is = |other: TokenStream| {
        // The space between tokens depends on where they are printed.
        let [one, two] = [body, &other].map(|code| code.to_string().replace(' ', ""));
        one == two
    };
    if is(quote!(runtime::generated::datum(item))) {
        quote!(runtime::generated::datum)
    } else if is(quote!(item.clone())) {
        quote!(Clone::clone)
    } else {
        quote!(|item| #body)
    }
}
