//! The timers of the machine.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::arena::Handle;
use crate::back::rust::docs;
use crate::back::rust::facts::Facts;
use crate::back::rust::state::number;
use crate::ir::Timer;
use crate::pass::names::upper_camel;

/// The identifier of a timer's variant.
pub(in crate::back::rust) fn timer(facts: &Facts<'_>, timer: Handle<Timer>) -> Ident {
    let mut taken = BTreeSet::new();
    let mut found = String::new();
    for (handle, row) in facts.machine.timers.iter() {
        let (wanted, _) = upper_camel(&row.name);
        let mut name = wanted.clone();
        let mut count = 1;
        while !taken.insert(name.clone()) {
            count += 1;
            name = format!("{wanted}{count}");
        }
        if handle == timer {
            found = name;
            break;
        }
    }
    Ident::new(&found, Span::call_site())
}

/// `Timer`, if there are timers.
pub(super) fn write(facts: &Facts<'_>) -> Option<TokenStream> {
    let machine = facts.machine;
    if machine.timers.is_empty() {
        return None;
    }
    let names: Vec<_> = machine
        .timers
        .handles()
        .map(|it| timer(facts, it))
        .collect();
    let texts: Vec<_> = machine
        .timers
        .iter()
        .map(|(_, it)| it.name.as_str())
        .collect();
    let events = machine
        .timers
        .iter()
        .map(|(_, it)| number(it.event.index()));
    let docs = machine.timers.iter().map(|(_, it)| match it.of {
        Some(state) => docs::doc(&format!(
            "Runs while the machine is in `{}`.",
            machine.states.at(state).id
        )),
        None => docs::doc(&format!("The timer `{}`.", it.name)),
    });
    Some(quote! {
        /// What the host's clock tells the machine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Timer {
            #(#docs #names,)*
        }

        impl Timer {
            /// Every timer.
            pub const ALL: &'static [Self] = &[#(Self::#names),*];

            /// Its name in the spec.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    #(Self::#names => #texts,)*
                }
            }

            /// Its number in the table of the same machine.
            #[must_use]
            pub const fn id(self) -> runtime::TimerId {
                runtime::TimerId::new(self as u16)
            }

            /// The timer of that number.
            #[must_use]
            pub fn from_id(id: runtime::TimerId) -> Option<Self> {
                Self::ALL.get(id.index()).copied()
            }

            /// The number of its event in the table of the same machine.
            #[must_use]
            pub const fn event(self) -> runtime::EventId {
                runtime::EventId::new(match self {
                    #(Self::#names => #events,)*
                })
            }
        }
    })
}
