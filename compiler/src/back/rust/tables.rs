//! The step of a large machine: const tables, and what the walk over them calls.
//!
//! A thousand arms of a `match` cost the user's compiler minutes of its life; a thousand rows cost nothing.
//! [`statemark_runtime::generated::Plan`] walks the rows, and calls back only for states and transitions that do
//! something.

use std::collections::BTreeMap;

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::event::trigger_type;
use super::expression::asks_for_states;
use super::facts::{Entry, Facts};
use super::guard::{self, Guards};
use super::state::number;
use super::step;
use crate::arena::Handle;
use crate::ir::{Action, StateKind};

/// The tables, the callbacks and the step.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let plan = plan(facts);
    let names = names(facts);
    let guarding = facts.has_guards.then(|| guarding(facts));
    let acts = acts(facts);
    let take = take(facts);
    quote!(#plan #names #guarding #acts #take)
}

/// The body of `State::on`.
pub(super) fn on() -> TokenStream {
    quote! {
        if self.is_end() {
            return None;
        }
        let mut rows = PLAN.rows_of(self as u16);
        let mut root = PLAN.rows_of(0);
        loop {
            while let [(wanted, transition), rest @ ..] = rows {
                if *wanted == event as u16 {
                    let target = PLAN.transitions.at(*transition as usize).1;
                    let same = target == runtime::generated::NONE;
                    // INVARIANT: the machine is flat, so that the states stand in order behind the root.
                    return Some(if same { self } else { Self::ALL[target as usize - 1] });
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

/// The body of `State::events`.
pub(super) fn events() -> TokenStream {
    quote! {
        // INVARIANT: every number of a state has its range.
        let (first, count) = EVENT_RANGES[self as usize];
        EVENTS.split_at(first as usize).1.split_at(count as usize).0
    }
}

/// `PLAN`: where each state stands and what it reacts to, where each transition leads.
fn plan(facts: &Facts<'_>) -> TokenStream {
    let machine = facts.machine;
    let none = usize::from(u16::MAX);
    let mut rows = Vec::new();
    let mut states = Vec::new();
    for (handle, state) in machine.states.iter() {
        let parent = number(state.parent.map_or(none, Handle::index));
        let initial = state
            .initial
            .as_ref()
            .filter(|_| state.kind == StateKind::Compound);
        let initial = number(initial.map_or(none, |initial| {
            initial.targets.first().map_or(0, |target| target.index())
        }));
        let first = number(rows.len());
        states.push(quote!((#parent, #initial, #first)));
        for (transition, row) in machine.transitions_of(handle) {
            let eventless = row.triggers.is_empty().then_some(none);
            let triggers = eventless
                .into_iter()
                .chain(row.triggers.iter().map(|e| e.index()));
            let transition = number(transition.index());
            rows.extend(
                triggers
                    .map(number)
                    .map(|event| quote!((#event, #transition))),
            );
        }
    }
    let transitions = machine.transitions.iter().map(|(handle, transition)| {
        let (domain, target) = match transition.target() {
            Some(target) => (facts.domain(handle).index(), target.index()),
            None => (none, none),
        };
        let (domain, target) = (number(domain), number(target));
        quote!((#domain, #target))
    });
    quote! {
        /// The machine as rows.
        static PLAN: runtime::generated::Plan = runtime::generated::Plan {
            states: &[#(#states),*],
            rows: &[#(#rows),*],
            transitions: &[#(#transitions),*],
        };
    }
}

/// `NAMES` and `EVENTS`, by the number of the state.
fn names(facts: &Facts<'_>) -> TokenStream {
    let names = facts
        .machine
        .states
        .iter()
        .map(|(_, state)| state.id.as_str());
    let mut events = Vec::new();
    let mut ranges = Vec::new();
    for (handle, state) in facts.machine.states.iter() {
        let first = number(events.len());
        let leaf = state.kind != StateKind::Compound;
        let list = if leaf {
            facts.events_of(handle)
        } else {
            Vec::new()
        };
        let count = number(list.len());
        ranges.push(quote!((#first, #count)));
        events.extend(list.into_iter().map(|event| facts.event(event)));
    }
    quote! {
        static NAMES: &[&str] = &[#(#names),*];
        static EVENTS: &[Event] = &[#(Event::#events),*];
        static EVENT_RANGES: &[(u32, u16)] = &[#(#ranges),*];
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
    let state = asks_for_states(facts.machine).then(|| {
        if facts.walked {
            quote!(configuration: &'h runtime::Configuration,)
        } else {
            quote!(state: State,)
        }
    });
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
        }

        impl<H #bound> runtime::generated::Ask for Guarding<'_, H> {
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
    let state = asks_for_states(facts.machine).then(|| {
        if facts.walked {
            quote!(configuration: &self.configuration,)
        } else {
            quote!(state: self.state,)
        }
    });
    let context = facts
        .data
        .is_some()
        .then(|| quote!(context: &self.context,));
    let sent = facts.receives().then(|| quote!(sent: None,));
    quote!(Guarding { host: &self.host, #context #sent #state })
}

/// Whether anything happens beside the change of state.
fn has_acts(facts: &Facts<'_>) -> bool {
    facts.has_raised || !facts.machine.actions.is_empty()
}

/// What the walk has done.
fn acts(facts: &Facts<'_>) -> Option<TokenStream> {
    if !has_acts(facts) {
        return None;
    }
    let machine = facts.machine;
    let trigger = trigger_type(facts);
    let bound = facts.has_host.then(|| quote!(: Host));
    let queue = facts.has_raised.then(|| {
        quote! { queue: &'h mut runtime::generated::Queue<#trigger>, }
    });
    let list = |index: usize, actions: &[Handle<Action>], more: Option<TokenStream>| {
        let calls = step::calls(facts, actions);
        let silent = actions.is_empty() && more.is_none();
        (!silent).then(|| (index, quote!({ #calls #more })))
    };
    let exits = machine
        .states
        .iter()
        .map(|(h, state)| list(h.index(), &state.exit, None));
    let exits = hook("exit", "StateId", exits);
    let entries = machine
        .states
        .iter()
        .map(|(h, state)| list(h.index(), &state.entry, step::done(facts, h)));
    let entries = hook("enter", "StateId", entries);
    let begins = machine
        .states
        .handles()
        .map(|h| list(h.index(), facts.entry_actions(Entry::Initial(h)), None));
    let begins = hook("begin", "StateId", begins);
    let acts = machine
        .transitions
        .iter()
        .map(|(h, t)| list(h.index(), &t.actions, None));
    let acts = hook("act", "TransitionId", acts);
    Some(quote! {
        /// Carries out actions.
        struct Acts<'h, H> {
            host: &'h mut H,
            #queue
        }

        impl<H #bound> runtime::generated::Act for Acts<'_, H> {
            #exits
            #entries
            #begins
            #acts
        }
    })
}

/// One callback; none where nothing is to be done.
fn hook(
    name: &str,
    id: &str,
    arms: impl Iterator<Item = Option<(usize, TokenStream)>>,
) -> Option<TokenStream> {
    let arms = grouped(arms.flatten());
    let (name, id) = (quote::format_ident!("{name}"), quote::format_ident!("{id}"));
    (!arms.is_empty()).then(|| {
        quote! {
            fn #name<O: runtime::Observer>(&mut self, of: runtime::#id, observer: &mut O) {
                match of.raw() {
                    #(#arms)*
                    _ => {}
                }
            }
        }
    })
}

/// Arms of a `match` over numbers; numbers for which the same is done share one.
pub(super) fn grouped(bodies: impl Iterator<Item = (usize, TokenStream)>) -> Vec<TokenStream> {
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

/// `take`, `eventless` and the walk behind them.
fn take(facts: &Facts<'_>) -> TokenStream {
    let trigger = trigger_type(facts);
    let bound = facts.has_host.then(|| quote!(: Host));
    let (steps, pass, spend) = if facts.runs_on() {
        (
            Some(quote!(steps: &mut runtime::generated::Steps,)),
            Some(quote!(steps,)),
            quote! {
                if steps.begin(transition.raw(), observer) {
                    return true;
                }
            },
        )
    } else {
        (
            None,
            None,
            quote!(observer.microstep(); observer.transition(transition);),
        )
    };
    let eventless = facts.has_eventless.then(|| {
        quote! {
            /// Takes the first eventless transition that is enabled, if any.
            fn eventless<O: runtime::Observer>(&mut self, #steps observer: &mut O) -> bool {
                self.walk(runtime::generated::NONE, #pass observer)
            }
        }
    });
    let ask = if facts.has_guards {
        let guarding = answering(facts);
        quote!(&#guarding)
    } else {
        quote!(&())
    };
    let queue = facts.has_raised.then(|| quote!(queue: &mut self.queue,));
    let acts = if has_acts(facts) {
        quote!(&mut Acts { host: &mut self.host, #queue })
    } else {
        quote!(&mut ())
    };
    quote! {
        impl<H #bound> Machine<H> {
            /// Takes the first transition that the event enables, if any.
            fn take<O: runtime::Observer>(
                &mut self,
                event: #trigger,
                #steps
                observer: &mut O,
            ) -> bool {
                self.walk(event.id().raw(), #pass observer)
            }

            #eventless

            fn walk<O: runtime::Observer>(
                &mut self,
                event: u16,
                #steps
                observer: &mut O,
            ) -> bool {
                let leaf = self.state.id();
                let Some(transition) = PLAN.select(leaf, event, #ask, observer) else {
                    return false;
                };
                #spend
                let leaf = PLAN.take(leaf, transition, #acts, observer);
                if let Some(state) = State::from_id(leaf) {
                    self.state = state;
                }
                true
            }
        }
    }
}
