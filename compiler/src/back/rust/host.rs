//! The trait `Host`: what the machine asks, and what it has done.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::context::read;
use super::docs;
use super::facts::Facts;
use crate::arena::Handle;
use crate::ir::{Action, ActionKind, State};

/// `Host`, if the machine needs one.
pub(super) fn write(facts: &Facts<'_>) -> Option<TokenStream> {
    if !facts.has_host {
        return None;
    }
    let machine = facts.machine;
    let context = facts.data.is_some().then(|| quote!(, context: &Context));
    let guards = machine.guards.iter().map(|(handle, guard)| {
        let name = Ident::new(facts.names.guard(handle), Span::call_site());
        let docs = docs::doc(&guard_docs(&guard.name, &guard.text));
        quote! {
            #docs
            fn #name(&self #context) -> bool;
        }
    });
    let actions = machine
        .actions
        .iter()
        .filter(|(_, action)| action.kind == ActionKind::Host)
        .map(|(handle, action)| {
            let name = Ident::new(facts.names.action(handle), Span::call_site());
            let docs = docs::doc(&action_docs(facts, handle, action));
            quote! {
                #docs
                fn #name(&mut self #context);
            }
        });
    let field = facts.has_fields.then(|| {
        let paths: Vec<_> = machine
            .fields
            .iter()
            .filter(|(handle, field)| {
                facts.data.is_none() || (read::is_of_event(&field.path) && facts.is_open(*handle))
            })
            .map(|(_, field)| format!("`{}`", field.path))
            .collect();
        let whose = if !facts.payloads().is_empty() {
            "of the data of the event that is being taken, where that has no struct of its own"
        } else if facts.data.is_some() {
            "of the data of the event that is being taken"
        } else {
            "of the data that guards read, of which nothing says what it holds"
        };
        let docs = docs::doc(&format!(
            "The value of a field {whose}: {}.",
            paths.join(", ")
        ));
        quote! {
            #docs
            fn field(&self, path: &str) -> runtime::Value<'_>;
        }
    });
    let timers = (!machine.timers.is_empty()).then(|| {
        quote! {
            /// Calls [`Machine::elapse`] with the timer after that many milliseconds, unless it is cancelled before.
            /// `statemark_runtime::Timers` is a queue for that.
            fn schedule(&mut self, timer: Timer, delay: u64);

            /// Forgets the timer, however often it waits.
            fn cancel(&mut self, timer: Timer);
        }
    });
    let assign = (facts.assigns && facts.data.is_none()).then(|| {
        quote! {
            /// Changes a field of the data.
            fn assign(&mut self, path: &str, value: runtime::Value<'_>);
        }
    });
    let what = if facts.data.is_some() {
        "timers"
    } else {
        "timers and data"
    };
    let begins = docs::doc(&format!(
        "A macrostep begins: what it does to {what} is one change."
    ));
    let failed = docs::doc(&format!(
        "The macrostep failed: {what} are to be as they were when it began."
    ));
    let changes = (timers.is_some() || assign.is_some()).then(|| {
        quote! {
            #begins
            fn begin(&mut self) {}

            #failed
            fn rollback(&mut self) {}
        }
    });
    Some(quote! {
        /// What surrounds the machine: it answers guards and carries out actions.
        ///
        /// A guard only answers; it is asked as often as it takes.
        pub trait Host {
            #(#guards)*
            #(#actions)*
            #timers
            #assign
            #changes
            #field
        }
    })
}

fn guard_docs(name: &str, text: &str) -> String {
    if name == text {
        format!("Whether the guard `{name}` holds now.")
    } else {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("Whether the guard holds now: {text}")
    }
}

/// What the spec says of an action, and when it runs.
fn action_docs(facts: &Facts<'_>, handle: Handle<Action>, action: &Action) -> String {
    let said = ["description", "effect"]
        .into_iter()
        .find_map(|key| action.meta.get(key)?.as_str());
    let mut docs = match said {
        Some(text) => text.trim().to_owned(),
        None => format!("Carries out the action `{}`.", action.name),
    };
    let mut moments = Vec::new();
    let id = |state: Handle<State>| format!("`{}`", facts.machine.states.at(state).id);
    for (state, row) in facts.machine.states.iter() {
        if row.entry.contains(&handle) {
            moments.push(format!("on entry into {}", id(state)));
        }
        if row.exit.contains(&handle) {
            moments.push(format!("on exit from {}", id(state)));
        }
        if row
            .initial
            .as_ref()
            .is_some_and(|initial| initial.actions.contains(&handle))
        {
            moments.push(if row.parent.is_some() {
                format!("where {} begins", id(state))
            } else {
                "at the start".to_owned()
            });
        }
    }
    for (_, transition) in facts.machine.transitions.iter() {
        if transition.actions.contains(&handle) {
            let targets: Vec<_> = transition
                .targets
                .iter()
                .map(|&target| id(target))
                .collect();
            let to = if targets.is_empty() {
                String::new()
            } else {
                format!(" to {}", targets.join(" and "))
            };
            moments.push(format!("from {}{to}", id(transition.source)));
        }
    }
    moments.dedup();
    if !moments.is_empty() && moments.len() <= 8 {
        docs.push_str("\n\nRuns ");
        docs.push_str(&moments.join(", "));
        docs.push('.');
    }
    docs
}
