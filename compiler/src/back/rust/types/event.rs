//! The enum `Event`, and `Trigger`, which adds the events that the machine sends itself.

use proc_macro2::TokenStream;
use quote::quote;

use crate::back::rust::docs;
use crate::back::rust::facts::Facts;
use crate::back::rust::tokens::Numbering;

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
    quote! {
        /// An event that can be sent to the machine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #representation
        pub enum Event {
            #(#variants)*
        }

        impl Event {
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

        impl ::core::fmt::Display for Event {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name())
            }
        }

        #trigger
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

        impl Event {
            const fn trigger(self) -> Trigger {
                match self {
                    #(#named)*
                }
            }
        }
    })
}
