//! The first strategy: a machine in one state at a time, whose steps are written out.

mod dispatch;

use proc_macro2::TokenStream;
use quote::quote;

use super::actions;
use super::expr::Guards;
use super::facts::Facts;
use super::machine::{self, queue_value, restore_docs};
use super::tokens::otherwise;
use crate::arena::Handle;
use crate::ir::State;

/// Writes `Machine`.
pub(super) fn write(facts: &Facts<'_>, initial: Handle<State>) -> TokenStream {
    let guards = Guards::new(facts);
    let bound = facts.has_host.then(|| quote!(: Host));
    let default = (!facts.has_host).then(|| quote!(= ()));
    let queue = facts.has_raised.then(|| {
        let trigger = facts.trigger_type();
        quote! { queue: runtime::generated::Queue<#trigger>, }
    });
    let start = start(facts, initial);
    let send = dispatch::write(facts, &guards);
    let can = can(facts, &guards);
    let filter = facts
        .has_guards
        .then(|| quote!(.filter(|&event| self.can(event))));
    let guards = guards.write(facts);
    let is_in = (!facts.is_flat()).then(|| {
        quote! {
            /// Returns true if the machine is in a state inside `outer`.
            #[must_use]
            pub const fn is_in(&self, outer: Super) -> bool {
                self.state.is_in(outer)
            }
        }
    });
    let restored = restored(facts);
    let saving = machine::saving(
        facts,
        &quote!(saved.states.push(self.state.name().into());),
        &quote!(let state = runtime::generated::load_state(saved, State::from_name)?;),
        &quote!(Ok(#restored)),
    );
    let context = machine::context_parameter(facts);
    let accessors = machine::accessors(facts);
    let kept = restore_docs(facts);
    let send_with = machine::send_with(facts);
    let undo = actions::undo(facts);
    let [done, ..] = machine::done_list(facts);
    let fail = machine::fail(facts);
    let received = received(facts);
    let kind = facts.event_name();
    let needs = if facts.has_host {
        " The machine in one of its states, with its host."
    } else {
        " The machine in one of its states, with a host of any type, which it doesn't use."
    };
    quote! {
        #[doc = #needs]
        #[derive(Clone, Debug)]
        pub struct Machine<H #default> {
            state: State,
            #queue
            #context
            #received
            #done
            host: H,
        }

        impl<H #bound> Machine<H> {
            #start
            #send
            #send_with
            #can

            /// Returns the events that the machine would take now, in the order of the spec.
            pub fn events(&self) -> impl Iterator<Item = #kind> + '_ {
                self.state.events().iter().copied()#filter
            }

            #guards
            #fail
        }

        impl<H> Machine<H> {
            /// Returns the active state.
            #[must_use]
            pub const fn state(&self) -> State {
                self.state
            }

            #is_in

            /// Returns true if the machine has ended. It then refuses every event.
            #[must_use]
            pub const fn is_ended(&self) -> bool {
                self.state.is_end()
            }

            #accessors

            /// Returns a snapshot of the machine, to be stored.
            #[must_use]
            pub const fn snapshot(&self) -> Snapshot {
                Snapshot { behavior: BEHAVIOR, state: self.state.id() }
            }

            #kept
            ///
            /// # Errors
            ///
            /// The snapshot is of a machine that behaves otherwise.
            pub fn restore(host: H, #context snapshot: Snapshot) -> Result<Self, RestoreError> {
                let state = State::from_id(snapshot.checked(&BEHAVIOR)?);
                let state = state.ok_or_else(|| RestoreError::no_state(snapshot.state))?;
                Ok(#restored)
            }

            #saving
        }

        #undo
    }
}

/// Writes the fields that an event with data needs: the data, and the context's values before it.
fn received(facts: &Facts<'_>) -> TokenStream {
    let undo = facts.undoes().then(|| quote!(undo: Vec<Old>,));
    let sent = facts.receives().then(|| quote!(sent: Option<EventData>,));
    quote!(#undo #sent)
}

fn restored(facts: &Facts<'_>) -> TokenStream {
    let queue = queue_value(facts);
    let context = context_value(facts);
    let [_, done, _] = machine::done_list(facts);
    quote!(Self { state, #queue #context #done host })
}

fn context_value(facts: &Facts<'_>) -> Option<TokenStream> {
    let undo = facts.undoes().then(|| quote!(undo: Vec::new(),));
    let sent = facts.receives().then(|| quote!(sent: None,));
    facts.data.is_some().then(|| quote!(context, #undo #sent))
}

/// Writes the constructors.
///
/// They can fail only if the machine runs on after it has entered its initial state.
fn start(facts: &Facts<'_>, initial: Handle<State>) -> TokenStream {
    let queue = queue_value(facts);
    let initial = facts.variant(initial);
    let enter = dispatch::enter_all(facts, &facts.start());
    let context = context_value(facts);
    let [_, done, _] = machine::done_list(facts);
    let error = machine::error_type(facts);
    let fails = facts.start_fails();
    let value = quote!(Self { state: State::#initial, #queue #context #done host });
    let begun = if facts.starts_silent() {
        quote! { #enter let mut machine = #value; }
    } else if fails {
        quote! { let mut machine = #value; machine.start(observer)?; }
    } else {
        quote! { let mut machine = #value; machine.start(observer); }
    };
    let (result, errors, body) = if !facts.starts_at_rest {
        let failure = machine::errors_docs(
            facts,
            "The machine doesn't come to rest within the limit of microsteps",
            "",
        );
        let errors = quote! {
            ///
            /// # Errors
            ///
            #failure
        };
        let come_to_rest = quote! {
            let _ = machine.come_to_rest(State::#initial, runtime::generated::Steps::new(), observer)?;
            Ok(machine)
        };
        (
            quote!(Result<Self, #error>),
            Some(errors),
            quote!(#begun #come_to_rest),
        )
    } else if fails {
        let errors = quote! {
            ///
            /// # Errors
            ///
            /// An action fails.
        };
        (
            quote!(Result<Self, #error>),
            Some(errors),
            quote!(#begun Ok(machine)),
        )
    } else if facts.starts_silent() {
        (quote!(Self), None, quote!(#enter #value))
    } else {
        (quote!(Self), None, quote!(#begun machine))
    };
    let (started, end) = if fails {
        (Some(quote!(-> Result<(), #error>)), Some(quote!(Ok(()))))
    } else {
        (None, None)
    };
    let start = (!facts.starts_silent()).then(|| {
        quote! {
            /// Enters the initial state.
            fn start<O: runtime::Observer>(&mut self, observer: &mut O) #started {
                #enter
                #end
            }
        }
    });
    let must_use = (facts.starts_at_rest && !fails).then(|| quote!(#[must_use]));
    let docs = quote!(#errors #must_use);
    let constructors = machine::constructors(facts, &docs, &result, &body);
    quote! {
        #constructors
        #start
    }
}

/// Writes `can`.
fn can(facts: &Facts<'_>, guards: &Guards<'_>) -> TokenStream {
    let kind = facts.event_name();
    let docs = quote! {
        /// Returns true if the machine would take the event now. Asks guards and changes nothing.
        #[must_use]
    };
    if !facts.has_guards {
        return quote! {
            #docs
            pub fn can(&self, event: #kind) -> bool {
                self.state.events().contains(&event)
            }
        };
    }
    let states = facts.arms().filter_map(|(leaf, list)| {
        let name = facts.variant(leaf);
        let mut arms = Vec::new();
        let mut always = Vec::new();
        for event in facts.events_of(leaf) {
            let variant = facts.event(event);
            let mut questions = Vec::new();
            let mut open = false;
            for &(_, transition) in list.iter().filter(|(trigger, _)| *trigger == Some(event)) {
                match guards.ask(facts, transition, &quote!(&mut ())) {
                    Some(question) => questions.push(question),
                    None => open = true,
                }
            }
            if open {
                always.push(variant);
            } else {
                let questions = questions.iter().map(|q| {
                    if questions.len() > 1 {
                        quote!((#q))
                    } else {
                        q.clone()
                    }
                });
                arms.push(quote! { #kind::#variant => #(#questions)||*, });
            }
        }
        let asks = arms.len();
        if asks == 0 && !always.is_empty() {
            return Some(quote! { State::#name => matches!(event, #(#kind::#always)|*), });
        }
        if !always.is_empty() {
            arms.push(quote! { #(#kind::#always)|* => true, });
        }
        let events = facts.events_of(leaf);
        let rest = facts.events.iter().filter(|event| !events.contains(event));
        let rest = rest.map(|&event| facts.event(event));
        let other = otherwise(rest, &kind, &quote!(false));
        (asks > 0).then(|| quote! { State::#name => match event { #(#arms)* #other }, })
    });
    let states: Vec<_> = states.collect();
    let dull = facts
        .leaves
        .iter()
        .filter(|&&leaf| facts.events_of(leaf).is_empty());
    let dull = dull.map(|&leaf| facts.variant(leaf));
    let other = otherwise(dull, &quote!(State), &quote!(false));
    let event = if states.is_empty() {
        quote!(_event)
    } else {
        quote!(event)
    };
    let body = if states.is_empty() {
        quote!(false)
    } else {
        quote!(match self.state { #(#states)* #other })
    };
    quote! {
        #docs
        pub fn can(&self, #event: #kind) -> bool {
            #body
        }
    }
}
