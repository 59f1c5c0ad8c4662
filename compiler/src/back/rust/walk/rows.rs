//! The const rows, and the callbacks of the walk over them: guards, actions, completion.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

use statemark_runtime as runtime;

use crate::arena::Handle;
use crate::back::rust::actions;
use crate::back::rust::expr::{self, Guards, asks_for_states};
use crate::back::rust::facts::{Entry, Facts};
use crate::back::rust::tokens::number;
use crate::ir::{Action, State};

/// Writes `ROWS`: the states, what they react to, and where transitions lead.
pub(in crate::back::rust) fn write(facts: &Facts<'_>) -> TokenStream {
    let machine = facts.machine;
    let none = usize::from(u16::MAX);
    let mut targets = Vec::new();
    let mut range = |list: &[Handle<State>]| {
        let first = number(targets.len());
        targets.extend(list.iter().map(|target| number(target.index())));
        let end = number(targets.len());
        quote!(#first, #end)
    };
    let mut triggers = Vec::new();
    let mut states = Vec::new();
    for (handle, state) in machine.states.iter() {
        let kind = Ident::new(&format!("{:?}", state.kind), Span::call_site());
        let parent = number(state.parent.map_or(none, Handle::index));
        let end = number(state.end);
        let initial = state.initial.as_ref();
        let initial = initial.map_or(&[][..], |initial| &initial.targets);
        let initial = range(initial);
        let first = number(triggers.len());
        for (transition, row) in machine.transitions_of(handle) {
            let eventless = row.triggers.is_empty().then_some(none);
            let events = row.triggers.iter().map(|event| event.index());
            let transition = number(transition.index());
            triggers.extend(eventless.into_iter().chain(events).map(|event| {
                let event = number(event);
                quote!((#event, #transition))
            }));
        }
        let last = number(triggers.len());
        states.push(quote! {
            (runtime::StateKind::#kind, #parent, #end, #initial, #first, #last)
        });
    }
    let mut transitions = Vec::new();
    for (handle, transition) in machine.transitions.iter() {
        let source = number(transition.source.index());
        let domain = if transition.targets.is_empty() {
            none
        } else {
            facts.domain(handle).index()
        };
        let (domain, targets) = (number(domain), range(&transition.targets));
        transitions.push(quote!((#source, #domain, #targets)));
    }
    let (has_regions, has_eventless) = (facts.has_regions, facts.has_eventless);
    let index = index(facts);
    quote! {
        /// The machine as rows.
        static ROWS: runtime::generated::Rows<#has_regions> = runtime::generated::Rows {
            states: &[#(#states),*],
            triggers: &[#(#triggers),*],
            transitions: &[#(#transitions),*],
            targets: &runtime::generated::states([#(#targets),*]),
            has_eventless: #has_eventless,
            index: #index,
        };
    }
}

/// Writes what steps with parallel states or history look up, as it is derived from the table.
fn index(facts: &Facts<'_>) -> TokenStream {
    let index = facts.table.as_ref().map(runtime::generated::index);
    let index = index.unwrap_or_default();
    let ends = index
        .reaction_ends
        .iter()
        .copied()
        .map(Literal::u32_unsuffixed);
    let set = |states: &[u64]| {
        let words = states.iter().copied().map(Literal::u64_unsuffixed);
        quote!(&[#(#words),*])
    };
    let reactions = index.reactions.iter().map(|&(word, states)| {
        let (word, states) = (number(word.into()), Literal::u64_unsuffixed(states));
        quote!((#word, #states))
    });
    let histories = index.histories.iter().map(|&(parent, history, is_deep)| {
        let (parent, history) = (number(parent.into()), number(history.into()));
        quote!((#parent, #history, #is_deep))
    });
    let [exit, entry, leaves] = [index.exit, index.entry, index.leaves].map(set);
    quote! {
        runtime::generated::RegionIndex {
            reaction_ends: &[#(#ends),*],
            reactions: &[#(#reactions),*],
            histories: &[#(#histories),*],
            exit: #exit,
            entry: #entry,
            leaves: #leaves,
        }
    }
}

/// Writes `Acts`, the callbacks of the walk.
pub(in crate::back::rust) fn write_acts(facts: &Facts<'_>) -> TokenStream {
    let machine = facts.machine;
    let bound = facts.has_host.then(|| quote!(: Host));
    let list = |index: usize, actions: &[Handle<Action>]| {
        let calls = actions::calls(facts, actions);
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
        let raise = actions::raise(facts, state.done?);
        Some((at, quote!({ #raise })))
    });
    let done = matched(&grouped(done));
    let states = asks_for_states(machine).then(|| quote!(configuration,));
    let context = facts
        .data
        .is_some()
        .then(|| quote!(context: &*self.context,));
    let fields = context_types(facts).map(|(context, undo)| {
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
    let kept_bound = facts.fails.then(|| quote!(: Host));
    let done_fields = facts.fails.then(|| {
        quote! {
            done: &'h mut runtime::generated::Done<Action>,
            failed: &'h mut Option<runtime::ActionError<Action, H::Error>>,
        }
    });
    let effects_field = facts
        .has_effects()
        .then(|| quote!(effects: &'h mut runtime::Outbox<Due>,));
    let fail = facts.fails.then(|| {
        quote! {
            impl<H: Host> Acts<'_, H> {
                /// Keeps the action that failed, and returns the error of its step.
                #[cold]
                fn fail(&mut self, action: Action, cause: H::Error) -> runtime::StepError {
                    *self.failed = Some(self.done.fail(action, cause));
                    runtime::StepError::ActionFailed(action.id())
                }
            }
        }
    });
    quote! {
        /// Answers guards and carries out actions.
        struct Acts<'h, H #kept_bound> {
            host: &'h mut H,
            #fields
            #sent_field
            #queue
            #done_fields
            #effects_field
        }

        #fail

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

/// Writes `Guarding`, which answers guards.
pub(in crate::back::rust) fn guarding(facts: &Facts<'_>) -> TokenStream {
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
    let configuration = expr::configuration(facts);
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

/// Writes the value that answers the guards of `self`.
pub(in crate::back::rust) fn answering(facts: &Facts<'_>) -> TokenStream {
    let state = asks_for_states(facts.machine).then(|| quote!(configuration,));
    let context = facts
        .data
        .is_some()
        .then(|| quote!(context: &self.context,));
    let sent = facts.receives().then(|| quote!(sent: None,));
    quote!(Guarding { host: &self.host, #context #sent #state })
}

/// Writes one callback.
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

/// Returns the types of the context, and of what takes back its changes.
pub(in crate::back::rust) fn context_types(
    facts: &Facts<'_>,
) -> Option<(TokenStream, Option<TokenStream>)> {
    facts.data.as_ref()?;
    let undo = facts.undoes();
    let undo = undo.then(|| quote!(Vec<Old>));
    Some((quote!(Context), undo))
}

/// Writes the event data of a machine that no event has been sent to.
pub(in crate::back::rust) fn nothing_sent(facts: &Facts<'_>) -> Option<TokenStream> {
    facts.receives().then(|| quote!(sent: None,))
}
