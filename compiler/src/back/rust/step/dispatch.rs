//! The step, written out: what each event does in each state.
//!
//! A machine whose steps are single transitions answers from the `match` itself. One that runs on (eventless
//! transitions, raised events) takes a transition in `take` or `eventless` and comes to rest in `come_to_rest`. Order and
//! observations are those of `statemark_runtime`'s `step.rs`, which are SCXML's.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::arena::Handle;
use crate::back::rust::actions::{calls, done};
use crate::back::rust::expr::Guards;
use crate::back::rust::facts::{Entry, Facts, Reaction, Route};
use crate::back::rust::machine::{done_list, error_type, errors_docs, own_error, send_observed};
use crate::back::rust::tokens::{number, otherwise};
use crate::ir::{Event, State, Transition};

/// Most places in which the body of one transition is written out; a body in more is a function.
///
/// Unit: leaves. Why: code grows with the number of transitions, not with that of pairs; a call costs some three
/// instructions.
const MAX_COPIES: usize = 3;

/// The form in which the arms of a `match` answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// The whole outcome: a step is one transition.
    Outcome,
    /// True or false: a transition was taken, or none.
    Taken,
}

/// Writes `send`, `send_observed` and the functions that they call.
pub(in crate::back::rust) fn write(facts: &Facts<'_>, guards: &Guards<'_>) -> TokenStream {
    let send = if facts.runs_on() {
        send_and_run_on(facts)
    } else {
        let step = dispatch(facts, guards, Answer::Outcome);
        let [_, _, clear] = done_list(facts);
        sender(facts, &quote! { #clear #step })
    };
    let take = facts.runs_on().then(|| take(facts, guards));
    let shared = shared(facts);
    let error = error_type(facts);
    let failure = errors_docs(
        facts,
        "The machine has ended, or doesn't come to rest",
        " It is then as it was before the event.",
    );
    quote! {
        /// Sends an event: the machine reacts and comes to rest.
        ///
        /// # Errors
        ///
        #failure
        #[inline]
        pub fn send(&mut self, event: Event) -> Result<runtime::Outcome, #error> {
            self.send_observed(event, &mut ())
        }

        #send
        #take
        #shared
    }
}

/// Returns the parameters of a step, with `_` before those that the machine doesn't use.
fn parameters(facts: &Facts<'_>) -> (Ident, Ident) {
    let reacts = facts
        .arms()
        .any(|(_, list)| list.iter().any(|(event, _)| event.is_some()));
    if reacts || facts.runs_on() {
        (format_ident!("event"), format_ident!("observer"))
    } else {
        (format_ident!("_event"), format_ident!("_observer"))
    }
}

fn sender(facts: &Facts<'_>, body: &TokenStream) -> TokenStream {
    let (event, observer) = parameters(facts);
    send_observed(facts, &[event, observer], Some(&quote!(#[inline])), body)
}

/// Writes a step that may take several transitions.
fn send_and_run_on(facts: &Facts<'_>) -> TokenStream {
    let over = own_error(facts, &quote!(runtime::StepError::Ended));
    let ended = facts.can_end().then(|| {
        quote! {
            if self.state.is_end() {
                return Err(#over);
            }
        }
    });
    let trigger = if facts.has_engine_events() {
        quote!(event.trigger())
    } else {
        quote!(event)
    };
    let unless_taken = unless(
        facts,
        &call_step(facts, &quote!(self.take(#trigger, &mut steps, observer))),
    );
    let [_, _, done] = done_list(facts);
    let rest = quote! {
        let before = self.state;
        #done
        let mut steps = runtime::generated::Steps::new();
        #unless_taken {
            return Ok(runtime::Outcome::Ignored);
        }
        self.come_to_rest(before, steps, observer)
    };
    let send = sender(facts, &quote!(#ended #rest));
    let come_to_rest = write_come_to_rest(facts);
    quote!(#send #come_to_rest)
}

/// Writes how a step is given up: what was raised is dropped, and the state is the one before.
fn give_up(facts: &Facts<'_>, error: &TokenStream) -> TokenStream {
    let clear = facts.has_raised.then(|| quote!(self.queue.clear();));
    quote! {
        #clear
        self.state = before;
        return Err(#error);
    }
}

/// Writes whether a call of `take` or `eventless` took a transition.
///
/// If an action fails in it, the step is given up.
fn call_step(facts: &Facts<'_>, call: &TokenStream) -> TokenStream {
    if !facts.fails {
        return call.clone();
    }
    let give_up = give_up(facts, &quote!(failure));
    quote! {
        match #call {
            Ok(taken) => taken,
            Err(failure) => { #give_up }
        }
    }
}

/// Writes the condition that nothing was taken.
fn unless(facts: &Facts<'_>, taken: &TokenStream) -> TokenStream {
    if facts.fails {
        quote!(let taken = #taken; if !taken)
    } else {
        quote!(if !#taken)
    }
}

/// Writes `come_to_rest`, which runs the machine on until nothing is left.
///
/// It takes eventless transitions, and where there are none, the raised events in order.
fn write_come_to_rest(facts: &Facts<'_>) -> TokenStream {
    let clear = facts.has_raised.then(|| quote!(self.queue.clear();));
    let ended = facts.can_end().then(|| {
        quote! {
            if self.state.is_end() {
                #clear
                return Ok(runtime::Outcome::Ended);
            }
        }
    });
    let give_up = give_up(facts, &own_error(facts, &quote!(fault)));
    let error = error_type(facts);
    let unless_eventless = unless(
        facts,
        &call_step(facts, &quote!(self.eventless(&mut steps, observer))),
    );
    let take = call_step(facts, &quote!(self.take(event, &mut steps, observer)));
    // Asked before the next selection, as the table engine does, so that both fail at the same event.
    let bounded = facts.has_raised.then(|| {
        quote! {
            if let Some(fault) = self.queue.fault() {
                #give_up
            }
        }
    });
    let next = match (facts.has_eventless, facts.has_raised) {
        (true, true) => quote! {
            #unless_eventless {
                let Some(event) = self.queue.pop() else {
                    return Ok(runtime::Outcome::Taken);
                };
                #take;
            }
        },
        (true, false) => quote! {
            #unless_eventless {
                return Ok(runtime::Outcome::Taken);
            }
        },
        _ => quote! {
            let Some(event) = self.queue.pop() else {
                return Ok(runtime::Outcome::Taken);
            };
            #take;
        },
    };
    quote! {
        /// Runs on until nothing is left to do. Past the limit of microsteps the state is `before` again.
        fn come_to_rest<O: runtime::Observer>(
            &mut self,
            before: State,
            mut steps: runtime::generated::Steps,
            observer: &mut O,
        ) -> Result<runtime::Outcome, #error> {
            loop {
                #ended
                #bounded
                #next
                if let Some(fault) = steps.fault() {
                    #give_up
                }
            }
        }
    }
}

/// Writes `take` and `eventless`.
fn take(facts: &Facts<'_>, guards: &Guards<'_>) -> TokenStream {
    let trigger = facts.trigger_type();
    let answer = taken_type(facts);
    let ignored = ignored(facts, Answer::Taken);
    let taken = dispatch(facts, guards, Answer::Taken);
    let reacts = facts
        .arms()
        .any(|(_, list)| list.iter().any(|(event, _)| event.is_some()));
    let names = |used: bool| {
        ["event", "steps", "observer"].map(|name| {
            let prefix = if used { "" } else { "_" };
            format_ident!("{prefix}{name}")
        })
    };
    let [event, steps, observer] = names(reacts);
    let eventless = facts.has_eventless.then(|| {
        let arms = facts.arms().filter_map(|(leaf, list)| {
            let list: Vec<_> = list
                .iter()
                .filter(|(e, _)| e.is_none())
                .map(|&(_, t)| t)
                .collect();
            let name = facts.variant(leaf);
            if let &[only] = list.as_slice()
                && let Some(guard) = guards.ask(facts, only, &quote!(observer))
            {
                let body = body(facts, leaf, only, Answer::Taken);
                return Some(quote! { State::#name if #guard => { #body } });
            }
            let body = contenders(facts, guards, leaf, &list, Answer::Taken);
            (!list.is_empty()).then(|| quote! { State::#name => { #body } })
        });
        let arms: Vec<_> = arms.collect();
        let rest = facts.arms().filter(|(_, list)| {
            let mut eventless = list.iter().filter(|(event, _)| event.is_none());
            match (eventless.next(), eventless.next()) {
                (None, _) => true,
                (Some((_, only)), None) => facts.machine.transitions.at(*only).guard.is_some(),
                _ => false,
            }
        });
        let rest = rest.map(|(leaf, _)| facts.variant(leaf));
        let other = otherwise(rest, &quote!(State), &ignored);
        let [_, steps, observer] = names(!arms.is_empty());
        quote! {
            /// Takes the first eventless transition that is enabled, if any.
            #[inline]
            fn eventless<O: runtime::Observer>(
                &mut self,
                #steps: &mut runtime::generated::Steps,
                #observer: &mut O,
            ) -> #answer {
                match self.state {
                    #(#arms)*
                    #other
                }
            }
        }
    });
    quote! {
        /// Takes the first transition that the event enables, if any.
        #[inline]
        fn take<O: runtime::Observer>(
            &mut self,
            #event: #trigger,
            #steps: &mut runtime::generated::Steps,
            #observer: &mut O,
        ) -> #answer {
            #taken
        }

        #eventless
    }
}

/// Writes the `match` over states and events.
fn dispatch(facts: &Facts<'_>, guards: &Guards<'_>, answer: Answer) -> TokenStream {
    let trigger = facts.trigger_type();
    let ignored = ignored(facts, answer);
    let over = own_error(facts, &quote!(runtime::StepError::Ended));
    let mut states = Vec::new();
    let (mut dull, mut ends) = (Vec::new(), Vec::new());
    for (leaf, list) in facts.arms() {
        let name = facts.variant(leaf);
        let mut arms = Vec::new();
        let reactions = reactions(list);
        let mut rest: Vec<_> = facts
            .triggers()
            .filter(|event| !reactions.contains(event))
            .map(|event| facts.event(event))
            .collect();
        for event in reactions {
            let contending: Vec<_> = list
                .iter()
                .filter(|(e, _)| *e == Some(event))
                .map(|&(_, t)| t)
                .collect();
            let variant = facts.event(event);
            if let &[only] = contending.as_slice()
                && let Some(guard) = guards.ask(facts, only, &quote!(observer))
            {
                let body = body(facts, leaf, only, answer);
                arms.push(quote! { #trigger::#variant if #guard => { #body } });
                rest.push(variant);
            } else {
                let body = contenders(facts, guards, leaf, &contending, answer);
                arms.push(quote! { #trigger::#variant => { #body } });
            }
        }
        let other = otherwise(rest, &trigger, &ignored);
        if facts.is_end(leaf) {
            ends.push(name);
        } else if arms.is_empty() {
            dull.push(name);
        } else {
            states.push(quote! { State::#name => match event { #(#arms)* #other }, });
        }
    }
    if answer == Answer::Taken {
        dull.append(&mut ends);
    }
    if states.is_empty() && ends.is_empty() {
        return ignored;
    }
    let dull = (!dull.is_empty()).then(|| quote!(#(State::#dull)|* => #ignored,));
    let ends = (!ends.is_empty()).then(|| quote!(#(State::#ends)|* => Err(#over),));
    quote! {
        match self.state {
            #(#states)*
            #dull
            #ends
        }
    }
}

/// Returns the events of a leaf, each once, in the order of selection.
fn reactions(list: &[Reaction]) -> Vec<Handle<Event>> {
    let mut events = Vec::new();
    for event in list.iter().filter_map(|(event, _)| *event) {
        if !events.contains(&event) {
            events.push(event);
        }
    }
    events
}

/// Returns the type of the answer of `take` and `eventless`.
fn taken_type(facts: &Facts<'_>) -> TokenStream {
    let error = error_type(facts);
    if facts.fails {
        quote!(Result<bool, #error>)
    } else {
        quote!(bool)
    }
}

fn taken_value(facts: &Facts<'_>, taken: bool) -> TokenStream {
    if facts.fails {
        quote!(Ok(#taken))
    } else {
        quote!(#taken)
    }
}

fn ignored(facts: &Facts<'_>, answer: Answer) -> TokenStream {
    match answer {
        Answer::Outcome => quote!(Ok(runtime::Outcome::Ignored)),
        Answer::Taken => taken_value(facts, false),
    }
}

/// Writes the transitions that contend for one event in one leaf.
///
/// The first whose guard holds is taken.
fn contenders(
    facts: &Facts<'_>,
    guards: &Guards<'_>,
    leaf: Handle<State>,
    list: &[Handle<Transition>],
    answer: Answer,
) -> TokenStream {
    let mut code = TokenStream::new();
    for &transition in list {
        let body = body(facts, leaf, transition, answer);
        match guards.ask(facts, transition, &quote!(observer)) {
            Some(guard) => code.extend(quote! { if #guard { #body } else }),
            None if code.is_empty() => return body,
            None => {
                code.extend(quote! { { #body } });
                return code;
            }
        }
    }
    let ignored = ignored(facts, answer);
    code.extend(quote! { { #ignored } });
    code
}

/// Writes the effect of a transition in a leaf, and the answer.
fn body(
    facts: &Facts<'_>,
    leaf: Handle<State>,
    transition: Handle<Transition>,
    answer: Answer,
) -> TokenStream {
    let source = facts.machine.transitions.at(transition).source;
    let route = facts.route(transition);
    let begin = begin(facts, transition);
    let inside: Vec<_> = if route.leaves_inside {
        facts
            .machine
            .ancestry(leaf)
            .take_while(|&state| state != source)
            .collect()
    } else {
        Vec::new()
    };
    let inside = inside.into_iter().map(|state| exit(facts, state));
    let rest = if is_shared(facts, transition) {
        let name = shared_name(transition);
        let failed = facts.fails.then(|| quote!(?));
        quote!(self.#name(observer)#failed;)
    } else {
        rest(facts, transition, &route)
    };
    let end = match answer {
        Answer::Taken => taken_value(facts, true),
        Answer::Outcome if route.leaf.is_some_and(|leaf| facts.is_end(leaf)) => {
            quote!(Ok(runtime::Outcome::Ended))
        }
        Answer::Outcome => quote!(Ok(runtime::Outcome::Taken)),
    };
    quote! { #begin #(#inside)* #rest #end }
}

/// Writes the start of a microstep; past the limit nothing of it happens.
fn begin(facts: &Facts<'_>, transition: Handle<Transition>) -> TokenStream {
    let id = number(transition.index());
    if facts.runs_on() {
        let taken = taken_value(facts, true);
        quote! {
            if steps.begin(#id, observer) {
                return #taken;
            }
        }
    } else {
        quote!(observer.microstep(); observer.transition(runtime::TransitionId::new(#id));)
    }
}

/// Writes the part of a transition that is alike in every leaf: exits, actions, entries.
fn rest(facts: &Facts<'_>, transition: Handle<Transition>, route: &Route) -> TokenStream {
    let exits = route.exits.iter().map(|&state| exit(facts, state));
    let actions = calls(facts, &facts.machine.transitions.at(transition).actions);
    let entries = enter_all(facts, &route.entries);
    let state = route.leaf.map(|leaf| {
        let name = facts.variant(leaf);
        quote!(self.state = State::#name;)
    });
    quote! { #(#exits)* #actions #entries #state }
}

/// Returns true if a transition's body is a function.
fn is_shared(facts: &Facts<'_>, transition: Handle<Transition>) -> bool {
    let &Transition {
        source,
        ref triggers,
        ref actions,
        ..
    } = facts.machine.transitions.at(transition);
    let end = facts.machine.states.at(source).end;
    let inside = |leaf: &&Handle<State>| (source.index()..end).contains(&leaf.index());
    let leaves = facts.leaves.iter().filter(inside).count();
    let route = facts.route(transition);
    let long = actions.len() + route.exits.len() + route.entries.len() > 1;
    leaves * triggers.len().max(1) > MAX_COPIES && long
}

fn shared_name(transition: Handle<Transition>) -> Ident {
    format_ident!("transition_{}", transition.index())
}

/// Writes the bodies that are functions.
fn shared(facts: &Facts<'_>) -> TokenStream {
    let mut functions = TokenStream::new();
    for transition in facts.machine.transitions.handles() {
        let used = facts
            .arms()
            .any(|(_, list)| list.iter().any(|&(_, t)| t == transition));
        if used && is_shared(facts, transition) {
            let name = shared_name(transition);
            let rest = rest(facts, transition, &facts.route(transition));
            let error = error_type(facts);
            let (result, end) = if facts.fails {
                (Some(quote!(-> Result<(), #error>)), Some(quote!(Ok(()))))
            } else {
                (None, None)
            };
            functions.extend(quote! {
                fn #name<O: runtime::Observer>(&mut self, observer: &mut O) #result {
                    #rest
                    #end
                }
            });
        }
    }
    functions
}

/// Leaves a state.
pub(in crate::back::rust) fn exit(facts: &Facts<'_>, state: Handle<State>) -> TokenStream {
    let actions = calls(facts, &facts.machine.states.at(state).exit);
    let id = state_id(facts, state);
    quote! {
        #actions
        observer.exited(#id);
    }
}

/// Enters states, outermost first.
pub(in crate::back::rust) fn enter_all(facts: &Facts<'_>, entries: &[Entry]) -> TokenStream {
    let entries = entries.iter().map(|&entry| enter(facts, entry));
    quote!(#(#entries)*)
}

fn enter(facts: &Facts<'_>, entry: Entry) -> TokenStream {
    let actions = calls(facts, facts.entry_actions(entry));
    let Entry::State(state) = entry else {
        return actions;
    };
    let id = state_id(facts, state);
    let done = done(facts, state);
    quote! {
        observer.entered(#id);
        #actions
        #done
    }
}

fn state_id(facts: &Facts<'_>, state: Handle<State>) -> TokenStream {
    let kind = if facts.supers.contains(&state) {
        quote!(Super)
    } else {
        quote!(State)
    };
    let name = facts.variant(state);
    quote!(#kind::#name.id())
}
