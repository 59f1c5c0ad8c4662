//! The data of events, as Rust: a struct for each event whose schema says which fields there are, and `EventData`, which is
//! any of them.
//!
//! A type that the context has for a field of the same name and shape is used again. What is merged into the context is
//! written by `convert`, because its fields may have to hold more than the event's do.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::convert::{Typed, convert};
use super::{Data, free, members, write_type};
use crate::arena::Handle;
use crate::back::rust::docs;
use crate::back::rust::facts::Facts;
use crate::ir::{Event, Machine};
use crate::pass::names::Names;
use crate::pass::shape::{Layout, Member, Shape, inside};

/// The data of one event, with the names that it has in Rust.
pub(in crate::back::rust) struct Payload {
    pub(in crate::back::rust) event: Handle<Event>,
    /// The struct.
    name: Ident,
    pub(super) data: Data,
    /// The fields whose types are the context's.
    shared: BTreeSet<String>,
}

/// Names the data of all events. `types` are the names that types have already.
pub(super) fn payloads(
    machine: &Machine,
    names: &Names,
    context: &Data,
    types: &mut BTreeSet<String>,
) -> Vec<Payload> {
    let mut structs = BTreeSet::from(["EventData".to_owned()]);
    let payloads = context.layout.payloads.iter().map(|payload| {
        let members = &payload.layout.members;
        let event = &machine.events.at(payload.event).id;
        let variant = names.event(payload.event);
        let mut data = Data::empty(format!("{event}."), Layout::with(members.clone()));
        let mut shared = BTreeSet::new();
        let mut taken = BTreeSet::new();
        for member in members {
            data.name_field(&member.name, &member.name, &mut taken);
            let own = context.layout.members.iter();
            let own = own.filter(|own| own.name == member.name && own.shape == member.shape);
            if own.count() > 0 {
                data.share(context, &member.name);
                shared.insert(member.name.clone());
            } else {
                data.name_shape(&member.name, &member.shape, types);
            }
        }
        Payload {
            event: payload.event,
            // `Self_` is what `self` becomes; with more behind it, it needs no `_`.
            name: free(
                format!("{}Data", variant.trim_end_matches('_')),
                &mut structs,
            ),
            data,
            shared,
        }
    });
    payloads.collect()
}

/// The types inside of the structs.
pub(super) fn write_types(data: &Data, types: &mut TokenStream) {
    for payload in &data.payloads {
        let own = payload.data.layout.members.iter();
        for member in own.filter(|member| !payload.shared.contains(&member.name)) {
            write_type(&payload.data, &member.name, &member.shape, types);
        }
    }
}

/// The structs, and `EventData`.
pub(super) fn write(facts: &Facts<'_>) -> Option<TokenStream> {
    let payloads = facts.payloads();
    if payloads.is_empty() {
        return None;
    }
    let structs = payloads.iter().map(|payload| {
        let (name, data) = (&payload.name, &payload.data);
        let id = &facts.machine.events.at(payload.event).id;
        let docs = docs::doc(&format!("What comes with the event `{id}`."));
        let fields = members(data, "", &data.layout.members, false);
        let event = facts.event(payload.event);
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
        }
    });
    let variants = payloads.iter().map(|payload| {
        let (event, name) = (facts.event(payload.event), &payload.name);
        let id = &facts.machine.events.at(payload.event).id;
        let docs = docs::doc(&format!("`{id}`"));
        quote!(#docs #event(#name),)
    });
    let events = payloads.iter().map(|payload| facts.event(payload.event));
    let merge = merge(facts);
    Some(quote! {
        /// An event with its data, for [`Machine::send_with`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum EventData {
            #(#variants)*
        }

        impl EventData {
            /// The event.
            #[must_use]
            pub const fn event(&self) -> Event {
                match self {
                    #(Self::#events(_) => Event::#events,)*
                }
            }

            #merge
        }

        #(#structs)*
    })
}

/// The fields of an event's data that the context has, too, each with its place there.
fn merged<'f>(
    facts: &'f Facts<'_>,
    payload: &'f Payload,
) -> impl Iterator<Item = (&'f Member, usize, &'f Member)> {
    let context = facts.data.as_ref().map(|data| &data.layout);
    let fields = payload.data.layout.members.iter();
    fields.filter_map(move |field| {
        let context = context.filter(|context| context.merge.includes(&field.name))?;
        let mut own = context.members.iter().enumerate();
        let (at, own) = own.find(|(_, own)| own.name == field.name)?;
        Some((field, at, own))
    })
}

/// The fields of the context that events' data is merged into, each with its place there.
pub(in crate::back::rust) fn targets<'f>(facts: &'f Facts<'_>) -> Vec<(usize, &'f Member)> {
    let all = facts.payloads().iter();
    let all = all.flat_map(|payload| merged(facts, payload));
    let mut targets: Vec<_> = all.map(|(_, at, own)| (at, own)).collect();
    targets.sort_by_key(|&(at, _)| at);
    targets.dedup_by_key(|&mut (at, _)| at);
    targets
}

/// The variant of `Old` for a field that is merged into.
pub(super) fn variant(at: usize) -> Ident {
    format_ident!("Merged{at}")
}

/// `merge`, if anything is.
fn merge(facts: &Facts<'_>) -> Option<TokenStream> {
    let data = facts.data.as_ref().filter(|_| facts.merges())?;
    let arms = facts.payloads().iter().map(|payload| {
        let writes: Vec<_> = merged(facts, payload)
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
                    let old = variant(at);
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
        /// Puts into the context what it declares, and keeps what was there.
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

/// `send_with` and its twin that is watched, if any event has a struct.
pub(in crate::back::rust) fn send(facts: &Facts<'_>) -> Option<TokenStream> {
    if facts.payloads().is_empty() {
        return None;
    }
    let merge = facts
        .merges()
        .then(|| quote!(data.merge(&mut self.context, &mut self.undo);));
    let (sent, forget) = if facts.receives() {
        (
            Some(quote!(self.sent = Some(data);)),
            Some(quote!(self.sent = None;)),
        )
    } else {
        (None, None)
    };
    // A walked machine takes back by itself what a step leaves.
    let back = (facts.merges() && !facts.walked).then(|| {
        quote! {
            if !matches!(outcome, Ok(runtime::Outcome::Taken | runtime::Outcome::Ended)) {
                take_back(&mut self.context, &mut self.undo);
            }
            self.undo.clear();
        }
    });
    let step = if forget.is_some() || back.is_some() {
        quote! {
            let outcome = self.send_observed(event, observer);
            #forget
            #back
            outcome
        }
    } else {
        quote!(self.send_observed(event, observer))
    };
    let merging = if facts.merges() {
        "What the context declares of the data is merged into it before guards are asked, and taken back unless the event is \
         taken."
    } else {
        "None of the data becomes part of the context."
    };
    let merging = docs::doc(merging);
    Some(quote! {
        /// Sends an event with its data: the machine reacts and comes to rest.
        ///
        #merging
        ///
        /// # Errors
        ///
        /// As for [`Machine::send`].
        #[inline]
        pub fn send_with(
            &mut self,
            data: impl Into<EventData>,
        ) -> Result<runtime::Outcome, runtime::StepError> {
            self.send_with_observed(data, &mut ())
        }

        /// [`Machine::send_with`], watched.
        ///
        /// # Errors
        ///
        /// As for [`Machine::send`].
        pub fn send_with_observed<O: runtime::Observer>(
            &mut self,
            data: impl Into<EventData>,
            observer: &mut O,
        ) -> Result<runtime::Outcome, runtime::StepError> {
            let data = data.into();
            let event = data.event();
            #merge
            #sent
            #step
        }
    })
}

/// Whether expressions read what came with an event whose data has a struct.
pub(in crate::back::rust) fn is_read(machine: &Machine, payloads: &[Payload]) -> bool {
    let mut fields = machine.fields.iter();
    fields.any(|(_, field)| {
        let name = inside(&field.path).and_then(|path| path.split('.').next());
        payloads.iter().any(|payload| payload.has(name))
    })
}

impl Payload {
    /// Whether it has a field of that name.
    pub(super) fn has(&self, name: Option<&str>) -> bool {
        let mut members = self.data.layout.members.iter();
        members.any(|member| Some(member.name.as_str()) == name)
    }
}

/// Whether values of that shape are copied.
pub(super) fn is_copy(shape: &Shape) -> bool {
    match shape {
        Shape::Bool | Shape::Int(_) | Shape::Float | Shape::Number | Shape::Enum(_) => true,
        Shape::Nullable(inner) => is_copy(inner),
        Shape::Text | Shape::List(_) | Shape::Struct(_) | Shape::Null | Shape::Free => false,
    }
}
