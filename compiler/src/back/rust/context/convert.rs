//! A typed value as one of a type that holds more: what an event brings, where the context keeps it.
//!
//! INVARIANT: the shape that is converted to was made by [`Shape`]'s `absorb`, so that there is a conversion that can't
//! fail; where the shapes have nothing in common, it is a `Datum`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::payload::is_copy;
use super::{Data, integer, item};
use crate::pass::shape::{Member, Shape};

/// A shape with the names that it has in Rust.
#[derive(Clone, Copy)]
pub(super) struct Typed<'d> {
    pub(super) data: &'d Data,
    pub(super) path: &'d str,
    pub(super) shape: &'d Shape,
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

/// An owned value of the second type from the place, or the reference, of one of the first.
pub(super) fn convert(
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
            let name = format_ident!("{}", integer(*range));
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

/// A field of a struct.
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

/// A value as one without a type.
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

/// What is done with each `item`, as a function.
fn mapped(body: &TokenStream) -> TokenStream {
    let is = |other: TokenStream| {
        // What stands between tokens depends on where they are printed.
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
