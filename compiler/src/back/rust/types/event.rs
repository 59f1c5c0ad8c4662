//! The enum `Event`, and `Trigger`, which adds the events that the machine sends itself.
//!
//! Where an event's schema requires anything, `Event` carries that data, and `EventName` is the event without it.

use proc_macro2::TokenStream;
use quote::quote;

use crate::back::rust::docs;
use crate::back::rust::facts::Facts;
use crate::back::rust::tokens::{Numbering, doc};

/// Writes `Event`, and `Trigger` where the machine has events of its own.
pub(in crate::back::rust) fn write(facts: &Facts<'_>) -> TokenStream {
    let mut numbering = Numbering::default();
    let variants = facts.events.iter().map(|&event| {
        let (docs, name) = (docs::event(facts, event), facts.event(event));
        let id = numbering.discriminant(event.index());
        quote! { #docs #name #id, }
    });
    let names: Vec<_> = facts
        .events
        .iter()
        .map(|&event| facts.event(event))
        .collect();
    let ids: Vec<_> = facts
        .events
        .iter()
        .map(|&e| facts.machine.events.at(e).id.as_str())
        .collect();
    let representation = (!names.is_empty()).then(|| quote!(#[repr(u16)]));
    let name = quote!(match self { #(Self::#names => #ids,)* });
    let id = if names.is_empty() {
        quote!(match self {})
    } else {
        quote!(runtime::EventId::new(self as u16))
    };
    let trigger = trigger(facts);
    let kind = facts.event_name();
    let (said, carrying) = if facts.has_required_data() {
        (
            doc("The name of an event that can be sent to the machine."),
            Some(carrying(facts)),
        )
    } else {
        (doc("An event that can be sent to the machine."), None)
    };
    quote! {
        #carrying

        #said
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #representation
        pub enum #kind {
            #(#variants)*
        }

        impl #kind {
            /// Every event, in the order of the spec.
            pub const ALL: &'static [Self] = &[#(Self::#names),*];

            /// Returns its id in the spec.
            #[must_use]
            pub const fn name(self) -> &'static str {
                #name
            }

            /// Finds the event of that name.
            ///
            /// Any spelling with the same words will do: `plan_ready`, `planReady`, `PLAN-READY`.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                let exact = Self::ALL.iter().find(|event| event.name() == name);
                let same = || Self::ALL.iter().find(|event| runtime::generated::same_words(event.name(), name));
                exact.or_else(same).copied()
            }

            /// Returns its id in the machine's table.
            #[must_use]
            pub const fn id(self) -> runtime::EventId {
                #id
            }
        }

        impl ::core::fmt::Display for #kind {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name())
            }
        }

        #trigger
    }
}

/// Writes `Event` for a machine with events that can't be sent without their data.
fn carrying(facts: &Facts<'_>) -> TokenStream {
    let mut variants = TokenStream::new();
    let mut names = TokenStream::new();
    let mut bare = Vec::new();
    for &event in &facts.events {
        let (docs, name) = (docs::event(facts, event), facts.event(event));
        if let Some(payload) = facts.required(event) {
            let data = &payload.name;
            variants.extend(quote!(#docs #name(#data),));
            names.extend(quote!(Self::#name(_) => EventName::#name,));
        } else {
            variants.extend(quote!(#docs #name,));
            bare.push(name);
        }
    }
    quote! {
        /// An event that can be sent to the machine. What its schema requires comes with it.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Event {
            #variants
        }

        impl Event {
            /// Returns its name.
            #[must_use]
            pub const fn name(&self) -> EventName {
                match self {
                    #names
                    #(Self::#bare => EventName::#bare,)*
                }
            }
        }

        impl From<&Event> for EventName {
            fn from(event: &Event) -> Self {
                event.name()
            }
        }

        impl ::core::fmt::Display for Event {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name().name())
            }
        }
    }
}

fn trigger(facts: &Facts<'_>) -> Option<TokenStream> {
    if !facts.has_engine_events() || facts.walked {
        return None;
    }
    let variants = facts
        .machine
        .events
        .handles()
        .map(|event| facts.event(event));
    let kind = facts.event_name();
    let named = facts.events.iter().map(|&event| {
        let name = facts.event(event);
        quote! { Self::#name => Trigger::#name, }
    });
    Some(quote! {
        /// A trigger of transitions: an event, or one that the machine sends itself.
        #[derive(Clone, Copy, Debug)]
        #[repr(u16)]
        enum Trigger {
            #(#variants),*
        }

        impl Trigger {
            /// Returns its id in the machine's table.
            const fn id(self) -> runtime::EventId {
                runtime::EventId::new(self as u16)
            }
        }

        impl #kind {
            const fn trigger(self) -> Trigger {
                match self {
                    #(#named)*
                }
            }
        }
    })
}
