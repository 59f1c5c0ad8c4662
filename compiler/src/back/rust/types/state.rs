//! The enums `State` and `Super`, and the type `Configuration`.
//!
//! A configuration says what may be active together, so that what may not can't be written: a state with one active child
//! is an enum of its children, a parallel one a struct of its regions. A leaf is a variant without more; a region that is
//! a leaf is always active with its parent and says nothing.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::arena::Handle;
use crate::back::rust::docs;
use crate::back::rust::facts::Facts;
use crate::back::rust::tokens::{Numbering, doc, number, otherwise};
use crate::ir::{State, StateKind, Verdict};
use crate::pass::names::snake;

/// Writes `State`.
pub(in crate::back::rust) fn write(
    facts: &Facts<'_>,
    initial: Option<Handle<State>>,
) -> TokenStream {
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

/// Writes `Super`, if there are compound states.
pub(in crate::back::rust) fn write_supers(facts: &Facts<'_>) -> Option<TokenStream> {
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

            /// Returns true if the state of that id is this one or is inside it.
            const fn holds(self, id: u16) -> bool {
                let end = match self {
                    #(#ends)*
                };
                self as u16 <= id && id < end
            }

            /// Returns true if this is `outer` or is inside it, at any depth.
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

/// Writes `name`, `from_name`, `id` and `from_id`.
fn lookups(facts: &Facts<'_>, states: &[Handle<State>], what: &str) -> TokenStream {
    let id_of = |&state: &Handle<State>| facts.machine.states.at(state).id.as_str();
    let ids: Vec<_> = states.iter().map(id_of).collect();
    let variants: Vec<_> = states.iter().map(|&state| facts.variant(state)).collect();
    let numbers: Vec<_> = states.iter().map(|&state| number(state.index())).collect();
    let docs_name = doc("Returns its id in the spec.");
    let docs_from = doc(&format!("Finds the {what} of that id in the spec."));
    let docs_id = doc("Returns its id in the machine's table.");
    let docs_number = doc(&format!(
        "Finds the {what} of that id in the machine's table."
    ));
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

/// Writes a pattern that matches the leaves for which `holds`; `None` if there is none.
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
        /// Returns true if it is final: it ends its parent, or the machine.
        #[must_use]
        pub const fn is_final(self) -> bool {
            #test
        }
    }
}

fn is_end(facts: &Facts<'_>) -> TokenStream {
    let test = one_of(facts, |leaf| facts.is_end(leaf));
    quote! {
        /// Returns true if it ends the machine.
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
        /// Returns the verdict of a final state.
        #[must_use]
        pub const fn verdict(self) -> Option<runtime::Verdict> {
            #body
        }
    }
}

fn events(facts: &Facts<'_>) -> TokenStream {
    let kind = facts.event_name();
    let body = if facts.is_large {
        large_events()
    } else {
        let lists = facts.leaves.iter().map(|&leaf| {
            let (name, events) = (facts.variant(leaf), facts.events_of(leaf));
            let events = events.into_iter().map(|event| facts.event(event));
            quote!(Self::#name => &[#(#kind::#events),*],)
        });
        quote! { match self { #(#lists)* } }
    };
    quote! {
        /// Returns the events that can be taken in this state. Guards aren't asked.
        #[must_use]
        pub const fn events(self) -> &'static [#kind] {
            #body
        }
    }
}

/// Writes the whole step of a machine that has only states and events.
fn on(facts: &Facts<'_>) -> Option<TokenStream> {
    if !facts.is_pure() {
        return None;
    }
    let (event, body) = if facts.is_large {
        (quote!(event), large_on())
    } else {
        let mut arms = Vec::new();
        let kind = facts.event_name();
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
                arms.push(quote! { (Self::#from, #kind::#event) => Self::#to, });
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
    let kind = facts.event_name();
    Some(quote! {
        /// Returns the state after an event, or `None` if the event isn't taken in this state.
        #[must_use]
        pub const fn on(self, #event: #kind) -> Option<Self> {
            #body
        }
    })
}

/// Writes `parent` and `is_in`, if there are superstates.
fn inside(facts: &Facts<'_>) -> Option<TokenStream> {
    if facts.is_flat() {
        return None;
    }
    let parent = parent(facts, &facts.leaves, &quote!(Super));
    Some(quote! {
        #parent

        /// Returns true if it is inside `outer`, at any depth.
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
        /// Returns the innermost superstate around it.
        #[must_use]
        pub const fn parent(self) -> Option<#outers> {
            #body
        }
    }
}

/// Writes the body of `State::on` of a large machine.
fn large_on() -> TokenStream {
    quote! {
        if self.is_end() {
            return None;
        }
        let mut rows = ROWS.triggers_of(self as u16);
        let mut root = ROWS.triggers_of(0);
        loop {
            while let [(wanted, transition), rest @ ..] = rows {
                if *wanted == event as u16 {
                    // INVARIANT: the rows name transitions and targets that are there. The machine is flat, so that the
                    // states are in order after the root.
                    let (.., first, end) = ROWS.transitions[*transition as usize];
                    if first == end {
                        return Some(self);
                    }
                    return Some(Self::ALL[ROWS.targets[first as usize].index() - 1]);
                }
                rows = rest;
            }
            if root.is_empty() {
                return None;
            }
            rows = root;
            root = &[];
        }
    }
}

/// Writes the body of `State::events` of a large machine.
fn large_events() -> TokenStream {
    quote! {
        // INVARIANT: every number of a state has its range.
        let (first, count) = EVENT_RANGES[self as usize];
        EVENTS.split_at(first as usize).1.split_at(count as usize).0
    }
}

/// Writes `NAMES` and `EVENTS`, by the index of the state.
pub(in crate::back::rust) fn write_lookups(facts: &Facts<'_>) -> TokenStream {
    let names = facts
        .machine
        .states
        .iter()
        .map(|(_, state)| state.id.as_str());
    let mut events = Vec::new();
    let mut ranges = Vec::new();
    for (handle, state) in facts.machine.states.iter() {
        let first = number(events.len());
        let list = if state.kind.is_leaf() {
            facts.events_of(handle)
        } else {
            Vec::new()
        };
        let count = number(list.len());
        ranges.push(quote!((#first, #count)));
        events.extend(list.into_iter().map(|event| facts.event(event)));
    }
    let kind = facts.event_name();
    quote! {
        static NAMES: &[&str] = &[#(#names),*];
        static EVENTS: &[#kind] = &[#(#kind::#events),*];
        static EVENT_RANGES: &[(u32, u16)] = &[#(#ranges),*];
    }
}

/// Writes `Configuration`, and the module `active` with the types inside of it.
pub(in crate::back::rust) fn write_configuration(facts: &Facts<'_>) -> TokenStream {
    let root = facts.machine.root();
    let name = format_ident!("Configuration");
    let outermost = write_active(
        facts,
        root,
        &name,
        &quote!(active::),
        "The active states of the machine.",
    );
    let inner = facts.supers.iter().map(|&state| {
        let name = facts.variant(state);
        let id = &facts.machine.states.at(state).id;
        let said = format!("The active states inside of `{id}`.");
        write_active(facts, state, &name, &TokenStream::new(), &said)
    });
    let inner = (!facts.is_flat()).then(|| {
        quote! {
            /// The states that may be active inside of each superstate.
            pub mod active {
                use super::State;

                #(#inner)*
            }
        }
    });
    quote!(#outermost #inner)
}

/// Returns the children that can be active.
fn children(facts: &Facts<'_>, state: Handle<State>) -> Vec<Handle<State>> {
    let children = facts.machine.states.at(state).children.iter().copied();
    children
        .filter(|&child| !facts.machine.states.at(child).kind.is_history())
        .collect()
}

fn has_type(facts: &Facts<'_>, state: Handle<State>) -> bool {
    facts.machine.states.at(state).kind.has_children()
}

fn write_active(
    facts: &Facts<'_>,
    state: Handle<State>,
    name: &Ident,
    path: &TokenStream,
    said: &str,
) -> TokenStream {
    let docs = doc(said);
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
            /// Calls `each` for every active leaf, in the order of the spec.
            pub fn visit(self, each: &mut dyn FnMut(State)) {
                #visit
            }

            pub(super) fn read(is_active: &dyn Fn(u16) -> bool) -> Self {
                #read
            }
        }
    }
}

/// Writes an enum of children: its variants, how it is read, how it is visited.
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
        let docs = doc(&format!("`{}`", facts.machine.states.at(child).id));
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

/// Writes a struct of regions.
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
        let docs = doc(&format!(
            "The active states of the region `{}`.",
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
