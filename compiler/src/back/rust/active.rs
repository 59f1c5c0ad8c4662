//! The type `Configuration`: what may be active together, so that what may not can't be written.
//!
//! A state with one active child is an enum of its children, a parallel one a struct of its regions. A leaf is a variant
//! without more; a region that is a leaf is always active with its parent and says nothing.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::docs;
use super::facts::Facts;
use super::state::number;
use crate::arena::Handle;
use crate::ir::{State, StateKind};
use crate::pass::names::snake;

/// `Configuration`, and the module `active` with the types of what is inside it.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let root = facts.machine.root();
    let name = format_ident!("Configuration");
    let outermost = write_type(
        facts,
        root,
        &name,
        &quote!(active::),
        "What is active in the machine.",
    );
    let inner = facts.supers.iter().map(|&state| {
        let name = facts.variant(state);
        let id = &facts.machine.states.at(state).id;
        let said = format!("What is active in `{id}`.");
        write_type(facts, state, &name, &TokenStream::new(), &said)
    });
    let inner = (!facts.is_flat()).then(|| {
        quote! {
            /// What may be active inside of each superstate.
            pub mod active {
                use super::State;

                #(#inner)*
            }
        }
    });
    quote!(#outermost #inner)
}

/// The children that can be active.
fn children(facts: &Facts<'_>, state: Handle<State>) -> Vec<Handle<State>> {
    let children = facts.machine.states.at(state).children.iter().copied();
    children
        .filter(|&child| !facts.machine.states.at(child).kind.is_history())
        .collect()
}

fn has_type(facts: &Facts<'_>, state: Handle<State>) -> bool {
    facts.machine.states.at(state).kind.has_children()
}

fn write_type(
    facts: &Facts<'_>,
    state: Handle<State>,
    name: &Ident,
    path: &TokenStream,
    said: &str,
) -> TokenStream {
    let docs = docs::doc(said);
    let (body, read, visit) = if facts.machine.states.at(state).kind == StateKind::Parallel {
        parallel(facts, state, path)
    } else {
        compound(facts, state, path)
    };
    let item = if facts.machine.states.at(state).kind == StateKind::Parallel {
        quote!(pub struct #name { #body })
    } else {
        quote!(pub enum #name { #body })
    };
    quote! {
        #docs
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #item

        impl #name {
            /// Calls back for each leaf, in the order of the spec.
            pub fn visit(self, each: &mut dyn FnMut(State)) {
                #visit
            }

            pub(super) fn read(is_active: &dyn Fn(u16) -> bool) -> Self {
                #read
            }
        }
    }
}

/// An enum of children: its variants, how it is read, how it is visited.
fn compound(
    facts: &Facts<'_>,
    state: Handle<State>,
    path: &TokenStream,
) -> (TokenStream, TokenStream, TokenStream) {
    let children = children(facts, state);
    let mut variants = TokenStream::new();
    let mut visits = TokenStream::new();
    let mut read = TokenStream::new();
    for (at, &child) in children.iter().enumerate() {
        let name = facts.variant(child);
        let docs = docs::doc(&format!("`{}`", facts.machine.states.at(child).id));
        let typed = has_type(facts, child);
        let inside = typed.then(|| quote!((#path #name)));
        variants.extend(quote!(#docs #name #inside,));
        visits.extend(if typed {
            quote!(Self::#name(inside) => inside.visit(each),)
        } else {
            quote!(Self::#name => each(State::#name),)
        });
        let value = if typed {
            quote!(Self::#name(#path #name::read(is_active)))
        } else {
            quote!(Self::#name)
        };
        let id = number(child.index());
        // One of them is active where the state is, so the last needs no question.
        read.extend(if children.len() == 1 {
            quote!(let _ = is_active; #value)
        } else if at + 1 == children.len() {
            quote!({ #value })
        } else {
            quote!(if is_active(#id) { #value } else)
        });
    }
    (variants, read, quote!(match self { #visits }))
}

/// A struct of regions.
fn parallel(
    facts: &Facts<'_>,
    state: Handle<State>,
    path: &TokenStream,
) -> (TokenStream, TokenStream, TokenStream) {
    let mut taken = BTreeSet::new();
    let mut fields = TokenStream::new();
    let mut values = TokenStream::new();
    let mut visits = quote!(let _ = &each;);
    for child in children(facts, state) {
        let name = facts.variant(child);
        if !has_type(facts, child) {
            visits.extend(quote!(each(State::#name);));
            continue;
        }
        let (mut field, _) = snake(&name.to_string());
        if !taken.insert(field.clone()) {
            field = format!("{field}_{}", child.index());
        }
        let field = Ident::new(&field, Span::call_site());
        let docs = docs::doc(&format!(
            "What is active in the region `{}`.",
            facts.machine.states.at(child).id
        ));
        fields.extend(quote!(#docs pub #field: #path #name,));
        values.extend(quote!(#field: #path #name::read(is_active),));
        visits.extend(quote!(self.#field.visit(each);));
    }
    let read = quote! {
        let _ = &is_active;
        Self { #values }
    };
    (fields, read, visits)
}
