//! A second version of the machine, with its states as types.
//!
//! An event that isn't taken in a state doesn't compile.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::docs;
use super::facts::{Entry, Facts};
use super::tokens::doc;
use crate::arena::Handle;
use crate::ir::{Action, ActionKind, Event, State, Transition};
use crate::pass::names::snake;

/// Methods that every machine has, so that no event may be called so.
const TAKEN: &[&str] = &["new", "host", "host_mut", "into_host"];

/// Returns why the states of a machine can't be types.
pub(super) fn obstacle(facts: &Facts<'_>) -> Option<String> {
    let machine = facts.machine;
    if facts.data.is_some() {
        return Some("it has a context".to_owned());
    }
    if !facts.is_plain {
        let parallel = machine.states.iter().find(|(_, s)| s.kind.is_history());
        return Some(match (parallel, machine.timers.iter().next()) {
            (Some((_, state)), _) => format!("`{}` is a history", state.id),
            (None, Some((_, timer))) => format!("timer `{}` belongs to the host", timer.name),
            (None, None) => {
                "an action does one thing or another, or states are parallel".to_owned()
            }
        });
    }
    if let Some(&outer) = facts.supers.first() {
        return Some(format!(
            "state `{}` has states inside",
            machine.states.at(outer).id
        ));
    }
    if let Some((_, t)) = machine.transitions.iter().find(|(_, t)| t.guard.is_some()) {
        let id = &machine.states.at(t.source).id;
        return Some(format!("a guard decides where `{id}` leads"));
    }
    if let Some((_, t)) = machine
        .transitions
        .iter()
        .find(|(_, t)| t.triggers.is_empty())
    {
        return Some(format!(
            "state `{}` is left without an event",
            machine.states.at(t.source).id
        ));
    }
    if let Some((_, action)) = machine
        .actions
        .iter()
        .find(|(_, a)| a.kind.raised().is_some())
    {
        return Some(format!("action `{}` raises an event", action.name));
    }
    let mut actions = machine.actions.iter();
    if let Some((_, action)) = actions.find(|(_, it)| it.kind == ActionKind::Fallible) {
        return Some(format!("action `{}` can fail", action.name));
    }
    if let Some((_, action)) = facts.effects().next() {
        return Some(format!(
            "`{}` is an effect, which stays until it is settled",
            action.name
        ));
    }
    facts.is_large.then(|| "it has too many states".to_owned())
}

/// Writes the module `typestate`, if it is asked for and possible.
pub(super) fn write(facts: &Facts<'_>) -> Option<TokenStream> {
    if !facts.options.typestate || obstacle(facts).is_some() {
        return None;
    }
    let initial = facts.variant(facts.initial()?);
    let generics = Generics::new(facts);
    let Generics {
        host,
        state,
        machine,
        bound,
    } = &generics;
    let markers = facts.leaves.iter().map(|&leaf| {
        let (docs, name) = (docs::state(facts, leaf), facts.variant(leaf));
        quote! {
            #docs
            #[derive(Clone, Copy, Debug, Default)]
            pub struct #name;
        }
    });
    let start = facts.start();
    let start_calls = start
        .iter()
        .map(|&entry| calls(facts, facts.entry_actions(entry)));
    let start_calls: TokenStream = start_calls.collect();
    let value = quote!(Self {
        host,
        state: ::core::marker::PhantomData
    });
    let begin = if start_calls.is_empty() {
        value
    } else {
        quote! { let mut machine = #value; #start_calls machine }
    };
    let methods = facts
        .leaves
        .iter()
        .map(|&leaf| methods(facts, leaf, &generics));
    let title = doc(&format!(
        "The machine `{}` in the state `{state}`.",
        facts.machine.id.value
    ));
    Some(quote! {
        /// The machine with its states as types: an event that isn't taken in a state is no method there.
        pub mod typestate {
            #(#markers)*

            #title
            #[derive(Clone, Debug)]
            #[must_use]
            pub struct #machine<#state, #host = ()> {
                host: #host,
                state: ::core::marker::PhantomData<#state>,
            }

            impl<#state, #host> #machine<#state, #host> {
                /// Returns the host.
                pub const fn host(&self) -> &#host {
                    &self.host
                }

                /// Returns the host, to change it.
                pub const fn host_mut(&mut self) -> &mut #host {
                    &mut self.host
                }

                /// Returns the host.
                pub fn into_host(self) -> #host {
                    self.host
                }
            }

            impl<#host #bound> #machine<#initial, #host> {
                /// Creates a machine in its initial state and carries out its entry actions.
                pub fn new(host: #host) -> Self {
                    #begin
                }
            }

            #(#methods)*
        }
    })
}

/// Names that no state has.
struct Generics {
    host: Ident,
    state: Ident,
    machine: Ident,
    bound: Option<TokenStream>,
}

impl Generics {
    fn new(facts: &Facts<'_>) -> Self {
        let is_state = |name: &str| {
            facts
                .leaves
                .iter()
                .any(|&leaf| facts.names.state(leaf) == name)
        };
        let free = |name: &str, more: &str| {
            let mut name = name.to_owned();
            while is_state(&name) {
                name.push_str(more);
            }
            Ident::new(&name, Span::call_site())
        };
        let named = match &facts.options.module {
            Some(module) => crate::pass::names::upper_camel(module).0,
            None => facts.names.machine.clone(),
        };
        Self {
            host: free("H", "_"),
            state: free("S", "_"),
            machine: free(&named, "Machine"),
            bound: facts.has_host.then(|| quote!(: super::Host)),
        }
    }
}

/// Writes the methods of one state: its events.
fn methods(facts: &Facts<'_>, leaf: Handle<State>, generics: &Generics) -> Option<TokenStream> {
    let Generics {
        host,
        machine,
        bound,
        ..
    } = generics;
    let list = facts.arms().find(|&(state, _)| state == leaf)?.1;
    let mut seen: Vec<Handle<Event>> = Vec::new();
    let mut names = Vec::new();
    let mut methods = Vec::new();
    for &(event, transition) in list {
        let Some(event) = event.filter(|event| !seen.contains(event)) else {
            continue;
        };
        seen.push(event);
        if !facts.machine.events.at(event).kind.is_sendable() {
            continue;
        }
        let mut name = snake(&facts.machine.events.at(event).id).0;
        while TAKEN.contains(&name.as_str()) || names.contains(&name) {
            name.push('_');
        }
        methods.push(method(facts, leaf, transition, &name, generics));
        names.push(name);
    }
    let from = facts.variant(leaf);
    (!methods.is_empty()).then(|| {
        quote! {
            impl<#host #bound> #machine<#from, #host> {
                #(#methods)*
            }
        }
    })
}

/// Writes one event in one state.
fn method(
    facts: &Facts<'_>,
    leaf: Handle<State>,
    transition: Handle<Transition>,
    name: &str,
    Generics { host, machine, .. }: &Generics,
) -> TokenStream {
    let route = facts.route(transition);
    let to = route.leaf.unwrap_or(leaf);
    let target = facts.variant(to);
    let mut code = TokenStream::new();
    if route.leaves_inside {
        code.extend(calls(facts, &facts.machine.states.at(leaf).exit));
    }
    code.extend(calls(
        facts,
        &facts.machine.transitions.at(transition).actions,
    ));
    let entries = route
        .entries
        .iter()
        .filter(|entry| matches!(entry, Entry::State(_)));
    code.extend(entries.map(|&entry| calls(facts, facts.entry_actions(entry))));
    let rebind = (!code.is_empty()).then(|| quote!(let mut machine = self;));
    let value = if rebind.is_some() {
        quote!(machine)
    } else {
        quote!(self)
    };
    let name = format_ident!("{name}");
    let (result, constructor) = if to == leaf {
        (quote!(Self), quote!(Self))
    } else {
        (quote!(#machine<#target, #host>), quote!(#machine))
    };
    let docs = doc(&format!(
        "Moves to the state `{}`.",
        facts.machine.states.at(to).id
    ));
    quote! {
        #docs
        pub fn #name(self) -> #result {
            #rebind
            #code
            #constructor { host: #value.host, state: ::core::marker::PhantomData }
        }
    }
}

/// Carries out actions; all are the host's.
fn calls(facts: &Facts<'_>, actions: &[Handle<Action>]) -> TokenStream {
    actions
        .iter()
        .map(|&action| {
            let name = Ident::new(facts.names.action(action), Span::call_site());
            quote!(machine.host.#name();)
        })
        .collect()
}
