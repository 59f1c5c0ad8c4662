//! What the walk asks and has done: guards, actions, completion.

use std::collections::BTreeMap;

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::held;
use crate::arena::Handle;
use crate::back::rust::expression::asks_for_states;
use crate::back::rust::facts::{Entry, Facts};
use crate::back::rust::guard::{self, Guards};
use crate::back::rust::state::number;
use crate::back::rust::step;
use crate::ir::Action;

/// `Acts`: what the walk asks and has done.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let machine = facts.machine;
    let bound = facts.has_host.then(|| quote!(: Host));
    let list = |index: usize, actions: &[Handle<Action>]| {
        let calls = step::calls(facts, actions);
        (!actions.is_empty()).then(|| (index, quote!({ #calls })))
    };
    let states = || machine.states.iter().map(|(h, state)| (h.index(), state));
    let exits = hook("exit", "StateId", states().map(|(at, s)| list(at, &s.exit)));
    let entries = hook(
        "enter",
        "StateId",
        states().map(|(at, s)| list(at, &s.entry)),
    );
    let begins = machine.states.handles();
    let begins = begins.map(|h| list(h.index(), facts.entry_actions(Entry::Initial(h))));
    let begins = hook("begin", "StateId", begins);
    let acts = machine.transitions.iter();
    let acts = acts.map(|(h, t)| list(h.index(), &t.actions));
    let acts = hook("act", "TransitionId", acts);
    let done = states().filter_map(|(at, state)| {
        let raise = step::raise(facts, state.done?);
        Some((at, quote!({ #raise })))
    });
    let done = matched(&grouped(done));
    let states = asks_for_states(machine).then(|| quote!(configuration,));
    let context = facts
        .data
        .is_some()
        .then(|| quote!(context: &*self.context,));
    let fields = held(facts).map(|(context, undo)| {
        let undo = undo.map(|undo| quote!(undo: &'h mut #undo,));
        quote!(context: &'h mut #context, #undo)
    });
    let sent = facts.receives().then(|| quote!(sent: self.sent,));
    let sent_field = facts
        .receives()
        .then(|| quote!(sent: Option<&'h EventData>,));
    let holds = if facts.has_guards {
        quote! {
            let _ = configuration;
            Guarding { host: &*self.host, #context #sent #states }.holds(transition, observer)
        }
    } else {
        quote! {
            let _ = (transition, configuration, observer);
            true
        }
    };
    let (queue, next, fault) = if facts.has_raised {
        (
            quote!(queue: &'h mut runtime::generated::Queue<runtime::EventId>,),
            quote!(self.queue.pop()),
            quote!(self.queue.fault()),
        )
    } else {
        (quote!(), quote!(None), quote!(None))
    };
    quote! {
        /// Answers guards and carries out actions.
        struct Acts<'h, H> {
            host: &'h mut H,
            #fields
            #sent_field
            #queue
        }

        impl<H #bound> runtime::generated::Content for Acts<'_, H> {
            fn holds<O: runtime::Observer>(
                &mut self,
                transition: runtime::TransitionId,
                configuration: &runtime::Configuration,
                observer: &mut O,
            ) -> bool {
                #holds
            }

            #exits
            #acts
            #entries
            #begins

            fn done<O: runtime::Observer>(&mut self, of: runtime::StateId, observer: &mut O) {
                let _ = &observer;
                #done
            }

            fn next(&mut self) -> Option<runtime::EventId> {
                #next
            }

            fn fault(&self) -> Option<runtime::StepError> {
                #fault
            }
        }
    }
}

/// What the walk asks.
pub(super) fn guarding(facts: &Facts<'_>) -> TokenStream {
    let guards = Guards::new(facts);
    let functions = guards.write(facts);
    let arms = facts
        .machine
        .transitions
        .handles()
        .filter_map(|transition| {
            let guard = guards.ask(facts, transition, &quote!(observer))?;
            Some((transition.index(), quote!(#guard,)))
        });
    let arms = grouped(arms);
    let state =
        asks_for_states(facts.machine).then(|| quote!(configuration: &'h runtime::Configuration,));
    let configuration = guard::configuration(facts);
    let context = facts.data.is_some().then(|| quote!(context: &'h Context,));
    let sent = facts
        .receives()
        .then(|| quote!(sent: Option<&'h EventData>,));
    let bound = facts.has_host.then(|| quote!(: Host));
    quote! {
        /// Answers guards.
        struct Guarding<'h, H> {
            host: &'h H,
            #context
            #sent
            #state
        }

        impl<H #bound> Guarding<'_, H> {
            #functions

            fn holds<O: runtime::Observer>(
                &self,
                transition: runtime::TransitionId,
                observer: &mut O,
            ) -> bool {
                let _ = &observer;
                #configuration
                match transition.raw() {
                    #(#arms)*
                    _ => true,
                }
            }
        }
    }
}

/// What answers the guards of `self`.
pub(super) fn answering(facts: &Facts<'_>) -> TokenStream {
    let state = asks_for_states(facts.machine).then(|| quote!(configuration: &self.configuration,));
    let context = facts
        .data
        .is_some()
        .then(|| quote!(context: &self.context,));
    let sent = facts.receives().then(|| quote!(sent: None,));
    quote!(Guarding { host: &self.host, #context #sent #state })
}

/// One callback.
fn hook(
    name: &str,
    id: &str,
    arms: impl Iterator<Item = Option<(usize, TokenStream)>>,
) -> TokenStream {
    let body = matched(&grouped(arms.flatten()));
    let (name, id) = (format_ident!("{name}"), format_ident!("{id}"));
    quote! {
        fn #name<O: runtime::Observer>(
            &mut self,
            of: runtime::#id,
            configuration: &runtime::Configuration,
            observer: &mut O,
        ) -> Result<(), runtime::StepError> {
            let _ = (configuration, &observer);
            #body
            Ok(())
        }
    }
}

fn matched(arms: &[TokenStream]) -> TokenStream {
    if arms.is_empty() {
        quote!(let _ = of;)
    } else {
        quote! { match of.raw() { #(#arms)* _ => {} } }
    }
}

/// Arms of a `match` over numbers; numbers for which the same is done share one.
fn grouped(bodies: impl Iterator<Item = (usize, TokenStream)>) -> Vec<TokenStream> {
    let mut groups: Vec<(TokenStream, Vec<Literal>)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (index, body) in bodies {
        let at = *known.entry(body.to_string()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, numbers)) => numbers.push(number(index)),
            None => groups.push((body, vec![number(index)])),
        }
    }
    groups
        .into_iter()
        .map(|(body, numbers)| quote!(#(#numbers)|* => #body))
        .collect()
}
