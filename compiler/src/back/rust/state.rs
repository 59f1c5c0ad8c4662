//! The enums `State` and `Super`.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::docs;
use super::facts::Facts;
use crate::arena::Handle;
use crate::ir::{State, StateKind, Verdict};

/// A state's index as a literal.
pub(super) fn number(index: usize) -> Literal {
    Literal::usize_unsuffixed(index)
}

/// Gives variants their indexes. One that follows the last needs no number: each that is written is a constant of its own
/// to the compiler, and a thousand of them take it longer than all the rest.
#[derive(Default)]
pub(super) struct Numbering {
    next: usize,
}

impl Numbering {
    /// `= 5`, or nothing.
    pub(super) fn discriminant(&mut self, index: usize) -> Option<TokenStream> {
        let follows = index == self.next;
        self.next = index + 1;
        let index = number(index);
        (!follows).then(|| quote!(= #index))
    }
}

/// `State` with everything that can be asked of one.
pub(super) fn write(facts: &Facts<'_>, initial: Option<Handle<State>>) -> TokenStream {
    let mut numbering = Numbering::default();
    let variants = facts.leaves.iter().map(|&leaf| {
        let (docs, name) = (docs::state(facts, leaf), facts.variant(leaf));
        let id = numbering.discriminant(leaf.index());
        quote! { #docs #name #id, }
    });
    let names: Vec<_> = facts
        .leaves
        .iter()
        .map(|&leaf| facts.variant(leaf))
        .collect();
    let initial = initial.map(|initial| {
        let initial = facts.variant(initial);
        quote! {
            /// The state in which the machine begins.
            pub const INITIAL: Self = Self::#initial;
        }
    });
    let lookups = lookups(facts, &facts.leaves, "state");
    let (is_final, is_end, verdict) = (is_final(facts), is_end(facts), verdict(facts));
    let (events, on, inside) = (events(facts), on(facts), inside(facts));
    quote! {
        /// A state that the machine can be in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum State {
            #(#variants)*
        }

        impl State {
            /// Every state, in the order of the spec.
            pub const ALL: &'static [Self] = &[#(Self::#names),*];

            #initial

            #lookups
            #is_final
            #is_end
            #verdict
            #events
            #on
            #inside
        }

        impl ::core::fmt::Display for State {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name())
            }
        }
    }
}

/// `Super`, if there are compound states.
pub(super) fn write_supers(facts: &Facts<'_>) -> Option<TokenStream> {
    if facts.is_flat() {
        return None;
    }
    let mut numbering = Numbering::default();
    let variants = facts.supers.iter().map(|&state| {
        let (docs, name) = (docs::state(facts, state), facts.variant(state));
        let id = numbering.discriminant(state.index());
        quote! { #docs #name #id, }
    });
    let names: Vec<_> = facts
        .supers
        .iter()
        .map(|&state| facts.variant(state))
        .collect();
    let lookups = lookups(facts, &facts.supers, "superstate");
    let parent = parent(facts, &facts.supers, &quote!(Self));
    let ends = facts.supers.iter().map(|&state| {
        let (name, end) = (
            facts.variant(state),
            number(facts.machine.states.at(state).end),
        );
        quote! { Self::#name => #end, }
    });
    Some(quote! {
        /// A state with states inside.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Super {
            #(#variants)*
        }

        impl Super {
            /// Every superstate, in the order of the spec.
            pub const ALL: &'static [Self] = &[#(Self::#names),*];

            #lookups
            #parent

            /// Whether the state of that number is this one or lies inside.
            const fn holds(self, id: u16) -> bool {
                let end = match self {
                    #(#ends)*
                };
                self as u16 <= id && id < end
            }

            /// Whether this is `outer` or lies inside it.
            #[must_use]
            pub const fn is_in(self, outer: Self) -> bool {
                outer.holds(self as u16)
            }
        }

        impl ::core::fmt::Display for Super {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name())
            }
        }
    })
}

/// `name`, `from_name`, `id` and `from_id`.
fn lookups(facts: &Facts<'_>, states: &[Handle<State>], what: &str) -> TokenStream {
    let id_of = |&state: &Handle<State>| facts.machine.states.at(state).id.as_str();
    let ids: Vec<_> = states.iter().map(id_of).collect();
    let variants: Vec<_> = states.iter().map(|&state| facts.variant(state)).collect();
    let numbers: Vec<_> = states.iter().map(|&state| number(state.index())).collect();
    let docs_name = docs::doc("Its id in the spec.");
    let docs_from = docs::doc(&format!("The {what} of that id in the spec."));
    let docs_id = docs::doc("Its number in the table of the same machine.");
    let docs_number = docs::doc(&format!("The {what} of that number."));
    let large = facts.is_large;
    let (name, from_name, from_id) = if large {
        (
            quote! {
                // INVARIANT: every number of a state has its name.
                NAMES[self as usize]
            },
            quote! { Self::ALL.iter().copied().find(|state| state.name() == name) },
            if facts.is_flat() && facts.is_plain {
                // INVARIANT: without superstates and histories the states are in order after the root.
                quote! { Self::ALL.get(id.index().checked_sub(1)?).copied() }
            } else {
                quote! {
                    let at = Self::ALL.binary_search_by(|state| state.id().cmp(&id)).ok()?;
                    Self::ALL.get(at).copied()
                }
            },
        )
    } else {
        (
            quote! { match self { #(Self::#variants => #ids,)* } },
            quote! { match name { #(#ids => Some(Self::#variants),)* _ => None } },
            quote! { match id.raw() { #(#numbers => Some(Self::#variants),)* _ => None } },
        )
    };
    let constant = (!large).then(|| quote!(const));
    quote! {
        #docs_name
        #[must_use]
        pub const fn name(self) -> &'static str {
            #name
        }

        #docs_from
        #[must_use]
        pub fn from_name(name: &str) -> Option<Self> {
            #from_name
        }

        #docs_id
        #[must_use]
        pub const fn id(self) -> runtime::StateId {
            runtime::StateId::new(self as u16)
        }

        #docs_number
        #[must_use]
        pub #constant fn from_id(id: runtime::StateId) -> Option<Self> {
            #from_id
        }
    }
}

/// The arm for the variants that a `match` hasn't named: one is named, for several stands `_`.
pub(super) fn otherwise(
    rest: impl IntoIterator<Item = Ident>,
    of: &TokenStream,
    value: &TokenStream,
) -> Option<TokenStream> {
    let mut rest = rest.into_iter();
    let first = rest.next()?;
    Some(if rest.next().is_some() {
        quote!(_ => #value,)
    } else {
        quote!(#of::#first => #value,)
    })
}

/// A pattern that matches the leaves for which `holds`, as the right side of `matches!`; `None` if there is none.
fn pattern(facts: &Facts<'_>, holds: impl Fn(Handle<State>) -> bool) -> Option<TokenStream> {
    let names: Vec<_> = facts
        .leaves
        .iter()
        .filter(|&&leaf| holds(leaf))
        .map(|&leaf| facts.variant(leaf))
        .collect();
    (!names.is_empty()).then(|| quote!(#(Self::#names)|*))
}

fn one_of(facts: &Facts<'_>, holds: impl Fn(Handle<State>) -> bool) -> TokenStream {
    pattern(facts, holds).map_or_else(|| quote!(false), |pattern| quote!(matches!(self, #pattern)))
}

fn is_final(facts: &Facts<'_>) -> TokenStream {
    let test = one_of(facts, |leaf| {
        facts.machine.states.at(leaf).kind == StateKind::Final
    });
    quote! {
        /// Whether it is final: it ends the state around it, or the machine.
        #[must_use]
        pub const fn is_final(self) -> bool {
            #test
        }
    }
}

fn is_end(facts: &Facts<'_>) -> TokenStream {
    let test = one_of(facts, |leaf| facts.is_end(leaf));
    quote! {
        /// Whether the machine is over when it is here.
        #[must_use]
        pub const fn is_end(self) -> bool {
            #test
        }
    }
}

fn verdict(facts: &Facts<'_>) -> TokenStream {
    let is = |leaf: Handle<State>, verdict| {
        let state = &facts.machine.states.at(leaf);
        state.kind == StateKind::Final && state.verdict == verdict
    };
    let success = pattern(facts, |leaf| is(leaf, Verdict::Success))
        .map(|pattern| quote!(#pattern => Some(runtime::Verdict::Success),));
    let failure = pattern(facts, |leaf| is(leaf, Verdict::Failure))
        .map(|pattern| quote!(#pattern => Some(runtime::Verdict::Failure),));
    let others = facts
        .leaves
        .iter()
        .filter(|&&leaf| facts.machine.states.at(leaf).kind != StateKind::Final);
    let other = otherwise(
        others.map(|&leaf| facts.variant(leaf)),
        &quote!(Self),
        &quote!(None),
    );
    let body = if success.is_none() && failure.is_none() {
        quote!(None)
    } else {
        quote!(match self { #success #failure #other })
    };
    quote! {
        /// Of a final state: how it ends.
        #[must_use]
        pub const fn verdict(self) -> Option<runtime::Verdict> {
            #body
        }
    }
}

fn events(facts: &Facts<'_>) -> TokenStream {
    let body = if facts.is_large {
        super::lookup::events()
    } else {
        let lists = facts.leaves.iter().map(|&leaf| {
            let (name, events) = (facts.variant(leaf), facts.events_of(leaf));
            let events = events.into_iter().map(|event| facts.event(event));
            quote!(Self::#name => &[#(Event::#events),*],)
        });
        quote! { match self { #(#lists)* } }
    };
    quote! {
        /// The events that may be taken here. Guards aren't asked.
        #[must_use]
        pub const fn events(self) -> &'static [Event] {
            #body
        }
    }
}

/// The whole step, of a machine that is nothing but states and events.
fn on(facts: &Facts<'_>) -> Option<TokenStream> {
    if !facts.is_pure() {
        return None;
    }
    let (event, body) = if facts.is_large {
        (quote!(event), super::lookup::on())
    } else {
        let mut arms = Vec::new();
        for (leaf, list) in facts.arms() {
            let mut seen = Vec::new();
            let from = facts.variant(leaf);
            for &(event, transition) in list {
                let Some(event) = event.filter(|event| !seen.contains(event)) else {
                    continue;
                };
                seen.push(event);
                let to = facts.variant(facts.route(transition).leaf.unwrap_or(leaf));
                let event = facts.event(event);
                arms.push(quote! { (Self::#from, Event::#event) => Self::#to, });
            }
        }
        let parameter = if arms.is_empty() {
            quote!(_event)
        } else {
            quote!(event)
        };
        let total = facts
            .arms()
            .all(|(leaf, _)| facts.events_of(leaf).len() == facts.events.len());
        let body = if arms.is_empty() {
            quote!(None)
        } else {
            let other = (!total).then(|| quote!(_ => return None,));
            quote!(Some(match (self, event) { #(#arms)* #other }))
        };
        (parameter, body)
    };
    Some(quote! {
        /// The state after an event, or `None` if the event isn't taken here.
        #[must_use]
        pub const fn on(self, #event: Event) -> Option<Self> {
            #body
        }
    })
}

/// `parent` and `is_in`, if there are superstates.
fn inside(facts: &Facts<'_>) -> Option<TokenStream> {
    if facts.is_flat() {
        return None;
    }
    let parent = parent(facts, &facts.leaves, &quote!(Super));
    Some(quote! {
        #parent

        /// Whether it lies inside `outer`, at any depth.
        #[must_use]
        pub const fn is_in(self, outer: Super) -> bool {
            outer.holds(self as u16)
        }
    })
}

fn parent(facts: &Facts<'_>, states: &[Handle<State>], outers: &TokenStream) -> TokenStream {
    let mut inside: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for &state in states {
        let name = facts.variant(state);
        inside.entry(facts.parent(state)).or_default().push(name);
    }
    let outermost = inside.remove(&None).unwrap_or_default();
    let arms: Vec<_> = inside
        .into_iter()
        .filter_map(|(outer, inner)| Some((facts.variant(outer?), inner)))
        .map(|(outer, inner)| quote! { #(Self::#inner)|* => Some(#outers::#outer), })
        .collect();
    let body = if arms.is_empty() {
        quote!(match self { #(Self::#outermost)|* => None })
    } else {
        let other = otherwise(outermost, &quote!(Self), &quote!(None));
        quote!(match self { #(#arms)* #other })
    };
    quote! {
        /// The innermost superstate around it.
        #[must_use]
        pub const fn parent(self) -> Option<#outers> {
            #body
        }
    }
}
