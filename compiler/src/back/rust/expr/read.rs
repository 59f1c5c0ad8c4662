//! Reads of what a machine has at hand: fields of the context and of event data, the host's answers.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::arena::Handle;
use crate::back::rust::facts::Facts;
use crate::back::rust::layout::{Data, is_of_event};
use crate::back::rust::tokens::{mentions, number};
use crate::ir::{Constant, Field, HostGuard};
use crate::pass::shape::{Member, Shape, inside};

/// Asks the host a question.
pub(in crate::back::rust) fn ask_host(facts: &Facts<'_>, guard: Handle<HostGuard>) -> TokenStream {
    let name = Ident::new(facts.names.guard(guard), Span::call_site());
    let context = context_argument(facts);
    quote!(self.host.#name(#context))
}

/// Refers to the context, if there is one, where expressions and actions are written.
pub(in crate::back::rust) fn context_argument(facts: &Facts<'_>) -> Option<TokenStream> {
    facts.data.as_ref()?;
    Some(if facts.walked {
        quote!(self.context)
    } else {
        quote!(&self.context)
    })
}

/// Refers to the data of the event, where expressions are written.
fn sent_data(facts: &Facts<'_>) -> TokenStream {
    if facts.walked {
        quote!(self.sent)
    } else {
        quote!(&self.sent)
    }
}

/// Reads a field as a `Value`, absent where it is absent.
pub(in crate::back::rust) fn value(facts: &Facts<'_>, field: Handle<Field>) -> TokenStream {
    let path = &facts.machine.fields.at(field).path;
    if is_of_event(path) {
        return received(facts, field, path);
    }
    match &facts.data {
        Some(data) => {
            let keys: Vec<&str> = path.split('.').collect();
            let context = Place {
                code: quote!(self.context),
                is_reference: false,
            };
            read_member(data, "", &data.layout.members, &context, &keys)
        }
        None => quote!(self.host.field(#path)),
    }
}

/// Reads a field of the event's data: from the struct that came with it, or from the host.
fn received(facts: &Facts<'_>, field: Handle<Field>, path: &str) -> TokenStream {
    let otherwise = if facts.is_open(field) {
        quote!(self.host.field(#path))
    } else {
        quote!(runtime::Value::Absent)
    };
    let keys: Vec<&str> = inside(path).unwrap_or_default().split('.').collect();
    let having = facts.payloads().iter();
    let having = having.filter(|payload| payload.has(keys.first().copied()));
    let arms: Vec<_> = having
        .map(|payload| {
            let data = &payload.data;
            let place = Place {
                code: quote!(data),
                is_reference: false,
            };
            let code = read_member(data, "", &data.layout.members, &place, &keys);
            let bound = if mentions(&code, "data") {
                quote!(data)
            } else {
                quote!(_)
            };
            let event = facts.event(payload.event);
            quote!(Some(EventData::#event(#bound)) => #code,)
        })
        .collect();
    if arms.is_empty() {
        return otherwise;
    }
    let sent = sent_data(facts);
    quote! {
        match #sent {
            #(#arms)*
            _ => #otherwise,
        }
    }
}

/// Reads a field as an operand, and notes that it is absent.
pub(in crate::back::rust) fn load(facts: &Facts<'_>, field: Handle<Field>) -> TokenStream {
    let value = value(facts, field);
    let path = &facts.machine.fields.at(field).path;
    if !is_of_event(path)
        && facts
            .data
            .as_ref()
            .is_some_and(|data| data.layout.is_present(path))
    {
        return value;
    }
    let id = number(field.index());
    quote!(runtime::generated::load(#value, #id, observer))
}

/// Tests that a field is there, as a `bool`.
pub(in crate::back::rust) fn has(facts: &Facts<'_>, field: Handle<Field>) -> TokenStream {
    let path = &facts.machine.fields.at(field).path;
    if let Some(data) = facts.data.as_ref().filter(|_| !is_of_event(path)) {
        if data.layout.is_present(path) {
            return quote!(true);
        }
        if let [member] = data.layout.find(path).0.as_slice()
            && member.name == *path
        {
            let name = data.field(path);
            return quote!(self.context.#name.is_some());
        }
    }
    let value = value(facts, field);
    quote!(!matches!(#value, runtime::Value::Absent))
}

/// Returns the code and the shape of a field that is always there.
pub(in crate::back::rust) fn field_place<'f>(
    facts: &'f Facts<'_>,
    field: Handle<Field>,
) -> Option<(TokenStream, &'f Shape)> {
    let path = &facts.machine.fields.at(field).path;
    let data = facts.data.as_ref().filter(|_| !is_of_event(path))?;
    if !data.layout.is_present(path) {
        return None;
    }
    let member = data.layout.find(path).0.last().copied()?;
    Some((context_place(data, path), &member.shape))
}

/// Returns the code of a field that is reached through objects that are always there.
pub(in crate::back::rust) fn context_place(data: &Data, path: &str) -> TokenStream {
    let ends = path
        .match_indices('.')
        .map(|(at, _)| at)
        .chain([path.len()]);
    let names = ends.map(|end| data.field(path.get(..end).unwrap_or(path)));
    quote!(self.context #(.#names)*)
}

/// Refers to a list that is always there.
pub(in crate::back::rust) fn list(facts: &Facts<'_>, field: Handle<Field>) -> Option<TokenStream> {
    let (place, shape) = field_place(facts, field)?;
    matches!(shape, Shape::List(_)).then(|| quote!(&#place))
}

/// Returns the variant that a text is in the enum that a field holds.
pub(in crate::back::rust) fn variant(
    facts: &Facts<'_>,
    field: Handle<Field>,
    constant: &Constant,
) -> Option<TokenStream> {
    let data = facts.data.as_ref()?;
    let path = &facts.machine.fields.at(field).path;
    let (_, Shape::Enum(texts)) = field_place(facts, field)? else {
        return None;
    };
    match constant {
        Constant::Text(text) => data.variant(path, texts, text),
        _ => None,
    }
}

/// Code that names a value, and whether it names a reference to it.
struct Place {
    code: TokenStream,
    is_reference: bool,
}

impl Place {
    fn reference(&self) -> TokenStream {
        let code = &self.code;
        if self.is_reference {
            quote!(#code)
        } else {
            quote!(&#code)
        }
    }
}

fn read_member(
    data: &Data,
    outer_path: &str,
    members: &[Member],
    place: &Place,
    keys: &[&str],
) -> TokenStream {
    let absent = quote!(runtime::Value::Absent);
    let Some((key, rest)) = keys.split_first() else {
        return absent;
    };
    let Some(member) = members.iter().find(|member| member.name == *key) else {
        return absent;
    };
    let path = format!("{outer_path}{key}");
    let (outer, name) = (&place.code, data.field(&path));
    let field = Place {
        code: quote!(#outer.#name),
        is_reference: false,
    };
    if !member.optional {
        return read_shape(data, &path, &member.shape, &field, rest);
    }
    let inner = read_shape(data, &path, &member.shape, &bound(), rest);
    matched(&field, &inner, &absent)
}

/// Returns the binding inside of a `Some`.
fn bound() -> Place {
    Place {
        code: quote!(inner),
        is_reference: true,
    }
}

fn matched(place: &Place, inner: &TokenStream, none: &TokenStream) -> TokenStream {
    let place = place.reference();
    let some = if inner.to_string().contains("inner") {
        quote!(Some(inner))
    } else {
        quote!(Some(_))
    };
    quote! {
        match #place {
            #some => #inner,
            None => #none,
        }
    }
}

fn read_shape(data: &Data, path: &str, shape: &Shape, place: &Place, rest: &[&str]) -> TokenStream {
    let reference = place.reference();
    match shape {
        Shape::Free | Shape::Null if !rest.is_empty() => {
            quote!(runtime::generated::at(#reference, &[#(#rest),*]))
        }
        Shape::Struct(members) if !rest.is_empty() => {
            read_member(data, &format!("{path}."), members, place, rest)
        }
        Shape::Nullable(inner) if !inner.is_plain() || !rest.is_empty() => {
            let none = if rest.is_empty() {
                quote!(runtime::Value::Null)
            } else {
                quote!(runtime::Value::Absent)
            };
            let inner = read_shape(data, path, inner, &bound(), rest);
            matched(place, &inner, &none)
        }
        _ if !rest.is_empty() => quote!(runtime::Value::Absent),
        // It is there; who asks for more of it has asked for its items.
        Shape::List(_) | Shape::Struct(_) => quote!(runtime::Value::Opaque),
        _ => quote!(runtime::generated::Plain::value(#reference)),
    }
}
