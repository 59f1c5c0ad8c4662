//! The outline of a machine with errors: its names, of which nothing is known.
//!
//! It stands beside the error, so that rustc adds nothing to it about the code that uses the machine: every type is an
//! error of its own, about which rustc is silent, and the host may leave out any method that the spec asks for so far.
//!
//! Deliberately not here: proof. This is the only writer that takes a machine which the checks have refused, so it asks
//! only for what [`Facts::outline`] finds in any machine.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::facts::{Facts, Options};
use super::module_name;
use super::types::host;
use crate::ir::Machine;
use crate::pass::names;

/// The types of a module that have no parameters.
const TYPES: &[&str] = &[
    "Action",
    "Configuration",
    "Context",
    "Due",
    "Effect",
    "Event",
    "EventData",
    "EventName",
    "RestoreError",
    "Snapshot",
    "State",
    "Super",
    "Timer",
];

/// Writes a module for each machine of a spec with errors; `error` is the macro call that reports them.
///
/// A spec without any machine has the module that `options` names, if it does; otherwise there is only the error.
#[must_use]
pub fn write_outline(machines: &[&Machine], options: &Options, error: &TokenStream) -> TokenStream {
    let mut modules = Vec::new();
    let mut seen = BTreeSet::new();
    for machine in machines {
        let name = module_name(machine, options);
        if seen.insert(name.clone()) {
            modules.push((name, Some(*machine)));
        }
    }
    if let (true, Some(name)) = (modules.is_empty(), &options.module) {
        modules.push((names::snake(name).0, None));
    }
    let Some((first, _)) = modules.first() else {
        return error.clone();
    };
    let first = Ident::new(first, Span::call_site());
    let written = modules.iter().enumerate().map(|(at, (name, machine))| {
        let name = Ident::new(name, Span::call_site());
        // An array whose length is an error is no iterator, and nobody asks of what.
        let unknown = if at == 0 {
            quote!(<[T; #error] as ::core::iter::Iterator>::Item)
        } else {
            quote!(super::#first::Unknown<T>)
        };
        let body = write_body(*machine, options);
        quote! {
            /// The outline of a machine whose spec has errors.
            #[allow(clippy::allow_attributes, dead_code, unreachable_pub, reason = "the spec has errors")]
            pub mod #name {
                /// A type of which nothing is known until the spec has no errors.
                pub(super) type Unknown<T> = #unknown;

                #body
            }
        }
    });
    written.collect()
}

/// Writes what a module has besides the unknown type.
fn write_body(machine: Option<&Machine>, options: &Options) -> TokenStream {
    // A machine of which no state could be read has no actions, either.
    let machine = machine.filter(|machine| machine.states.len() > 1);
    let facts = machine.map(|machine| Facts::outline(machine, options));
    let mut types: BTreeSet<String> = TYPES.iter().map(|&name| name.to_owned()).collect();
    let mut inner = BTreeSet::new();
    if let Some(data) = facts.as_ref().and_then(|facts| facts.data.as_ref()) {
        inner.extend(data.types.values().map(ToString::to_string));
        for payload in &data.payloads {
            types.insert(payload.name.to_string());
            inner.extend(payload.data.types.values().map(ToString::to_string));
        }
    }
    let types = aliases(&types, &quote!(Unknown<()>));
    let inner = aliases(&inner, &quote!(super::Unknown<()>));
    let data = (!inner.is_empty()).then(|| {
        quote! {
            /// The types inside of the data.
            pub mod data { #inner }
        }
    });
    let host = facts
        .as_ref()
        .and_then(|facts| host::write_trait(facts, host::Bodies::OfTrait));
    let runtime: Option<TokenStream> = options.runtime.parse().ok();
    let runtime = host.is_some().then(|| {
        quote!(
            use #runtime as runtime;
        )
    });
    let typestate = facts
        .filter(|_| options.typestate)
        .map(|facts| write_typestate(&facts));
    quote! {
        #runtime
        #types

        /// An error, unknown until the spec has no errors.
        pub type StepFailure<E> = Unknown<E>;

        /// The machine, unknown until its spec has no errors.
        pub type Machine<H = ()> = Unknown<H>;

        #data
        #host
        #typestate
    }
}

fn write_typestate(facts: &Facts<'_>) -> TokenStream {
    let markers = facts.leaves.iter();
    let markers = markers.map(|&leaf| facts.variant(leaf).to_string());
    let markers = aliases(&markers.collect(), &quote!(super::Unknown<()>));
    let named = match &facts.options.module {
        Some(module) => names::upper_camel(module).0,
        None => facts.names.machine.clone(),
    };
    let machine = Ident::new(&named, Span::call_site());
    quote! {
        /// The machine with its states as types, unknown until its spec has no errors.
        pub mod typestate {
            #markers

            /// The machine in one of its states.
            pub type #machine<S, H = ()> = super::Unknown<(S, H)>;
        }
    }
}

fn aliases(names: &BTreeSet<String>, unknown: &TokenStream) -> TokenStream {
    let names = names.iter().map(|name| Ident::new(name, Span::call_site()));
    quote! {
        #(
            /// A type, unknown until the spec has no errors.
            pub type #names = #unknown;
        )*
    }
}
