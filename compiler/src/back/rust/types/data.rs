//! The structs and enums of data: what is inside a context, and inside the data of events.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::back::rust::layout::{Data, integer_type, item, limits};
use crate::back::rust::tokens::doc;
use crate::pass::shape::{Member, Range, Shape};

/// Writes the fields of a struct.
pub(in crate::back::rust) fn members(
    data: &Data,
    outer: &str,
    members: &[Member],
    inside: bool,
) -> TokenStream {
    let fields = members.iter().map(|member| {
        let path = format!("{outer}{}", member.name);
        let name = data.field(&path);
        let mut kind = data.rust(&path, &member.shape, inside);
        if member.optional {
            kind = quote!(Option<#kind>);
        }
        let docs = doc(&describe_field(member, &path));
        quote!(#docs pub #name: #kind,)
    });
    quote!(#(#fields)*)
}

/// Returns the docs of a field.
fn describe_field(member: &Member, path: &str) -> String {
    let mut text = match &member.docs {
        Some(docs) => docs.trim().to_owned(),
        None => format!("`{path}` in the spec."),
    };
    let none = match (member.optional, &member.shape) {
        (true, Shape::Nullable(_)) => "`None` if it is absent, `Some(None)` if it is `null`.",
        (true, _) => "`None` if it is absent.",
        (false, Shape::Nullable(_)) => "`None` if it is `null`.",
        _ => "",
    };
    if !none.is_empty() {
        text.push_str("\n\n");
        text.push_str(none);
    }
    if let Shape::Int(range) = &member.shape
        && limits(integer_type(*range)) != *range
        && *range != Range::COMPUTED
    {
        let Range { least, most } = range;
        text.push_str(&format!("\n\nFrom {least} to {most}."));
    }
    text
}

pub(in crate::back::rust) fn write_types(
    data: &Data,
    outer: &str,
    members: &[Member],
    types: &mut TokenStream,
) {
    for member in members {
        let path = format!("{outer}{}", member.name);
        write_type(data, &path, &member.shape, types);
    }
}

pub(in crate::back::rust) fn write_type(
    data: &Data,
    path: &str,
    shape: &Shape,
    types: &mut TokenStream,
) {
    match shape {
        Shape::Nullable(inner) => write_type(data, path, inner, types),
        Shape::List(items) => write_type(data, &item(path), items, types),
        Shape::Struct(inner) => {
            let name = data.type_name(path);
            let outer = format!("{path}.");
            let fields = members(data, &outer, inner, true);
            let docs = doc(&format!("`{}{path}` in the spec.", data.prefix));
            types.extend(quote! {
                #docs
                #[derive(Clone, Debug, PartialEq)]
                pub struct #name {
                    #fields
                }
            });
            types.extend(write_stored(data, &name, &outer, inner));
            write_types(data, &outer, inner, types);
        }
        Shape::Enum(texts) => types.extend(write_enum(data, path, texts)),
        _ => {}
    }
}

/// Writes how a struct is saved and loaded, field by field.
pub(in crate::back::rust) fn write_stored(
    data: &Data,
    name: &Ident,
    outer: &str,
    members: &[Member],
) -> TokenStream {
    let mut saved = Vec::new();
    let mut loaded = TokenStream::new();
    for member in members {
        let key = &member.name;
        let field = data.field(&format!("{outer}{key}"));
        if member.optional {
            saved.push(quote!((#key, self.#field.as_ref().map(runtime::generated::Stored::store))));
            loaded.extend(
                quote!(#field: fields.take_if_there(#key, runtime::generated::Stored::load)?,),
            );
        } else {
            saved.push(quote!((#key, Some(runtime::generated::Stored::store(&self.#field)))));
            loaded.extend(quote!(#field: fields.take(#key, runtime::generated::Stored::load)?,));
        }
    }
    quote! {
        impl runtime::generated::Stored for #name {
            fn store(&self) -> runtime::Datum {
                runtime::generated::object([#(#saved),*])
            }

            fn load(datum: runtime::Datum) -> Result<Self, runtime::FieldError> {
                let mut fields = runtime::generated::Fields::new(datum)?;
                let loaded = Self { #loaded };
                fields.finish()?;
                Ok(loaded)
            }
        }
    }
}

fn write_enum(data: &Data, path: &str, texts: &[String]) -> TokenStream {
    let name = data.type_name(path);
    let variants = data.variants.get(path).map_or(&[][..], Vec::as_slice);
    let text_docs = texts.iter().map(|text| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        doc(&format!("`{}`", text.replace('`', "'")))
    });
    let prefix = &data.prefix;
    let docs = doc(&format!("A value of `{prefix}{path}` in the spec."));
    quote! {
        #docs
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum #name {
            #(#text_docs #variants,)*
        }

        impl #name {
            /// Every value, in the order of the spec.
            pub const ALL: &'static [Self] = &[#(Self::#variants),*];

            /// Returns its text in the spec.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    #(Self::#variants => #texts,)*
                }
            }

            /// Finds the variant with that text.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|one| one.name() == name).copied()
            }
        }

        impl ::core::fmt::Display for #name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name())
            }
        }

        impl runtime::generated::Stored for #name {
            fn store(&self) -> runtime::Datum {
                runtime::generated::store_plain(self)
            }

            fn load(datum: runtime::Datum) -> Result<Self, runtime::FieldError> {
                runtime::generated::load_plain(&datum)
            }
        }

        impl runtime::generated::Plain for #name {
            fn value(&self) -> runtime::Value<'_> {
                runtime::Value::Text(self.name())
            }

            fn from_value(value: runtime::Value<'_>) -> Result<Self, runtime::Fault> {
                match value {
                    runtime::Value::Text(text) => {
                        Self::from_name(text).ok_or(runtime::Fault::WrongKind)
                    }
                    runtime::Value::Absent => Err(runtime::Fault::Absent),
                    _ => Err(runtime::Fault::WrongKind),
                }
            }
        }
    }
}
