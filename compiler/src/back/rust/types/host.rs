//! The trait `Host`, and the enum `Timer`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::arena::Handle;
use crate::back::rust::facts::Facts;
use crate::back::rust::layout::is_of_event;
use crate::back::rust::module_name;
use crate::back::rust::tokens::{doc, number, own_doc};
use crate::ir::{Action, ActionKind, State};

/// Writes `Host`, if the machine needs one, and what its methods name.
pub(in crate::back::rust) fn write(facts: &Facts<'_>) -> Option<TokenStream> {
    let actions = facts.has_actions().then(|| write_actions(facts));
    let host = write_trait(facts, Bodies::OfHost);
    (actions.is_some() || host.is_some()).then(|| quote!(#actions #host))
}

/// The origin of the bodies of a host's methods.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::back::rust) enum Bodies {
    /// The host: what it forgets is an error.
    OfHost,
    /// The trait, whose spec has errors: until they are mended, nobody knows which methods there are.
    OfTrait,
}

/// Writes the trait alone.
pub(in crate::back::rust) fn write_trait(facts: &Facts<'_>, bodies: Bodies) -> Option<TokenStream> {
    if !facts.has_host {
        return None;
    }
    let required = match bodies {
        Bodies::OfHost => quote!(;),
        Bodies::OfTrait => quote!({ ::core::unimplemented!() }),
    };
    let machine = facts.machine;
    let context = facts.data.is_some().then(|| quote!(, context: &Context));
    let guards = machine.guards.iter().map(|(handle, guard)| {
        let name = Ident::new(facts.names.guard(handle), Span::call_site());
        let docs = doc(&guard_docs(&guard.name, &guard.text));
        quote! {
            #docs
            fn #name(&self #context) -> bool #required
        }
    });
    let error = facts.fails.then(|| {
        quote! {
            /// The reason why an action could not be carried out.
            type Error;
        }
    });
    let actions = facts.host_actions().map(|(handle, action)| {
        let name = Ident::new(facts.names.action(handle), Span::call_site());
        let docs = doc(&action_docs(facts, handle, action));
        let (errors, result) = if action.kind == ActionKind::Fallible {
            let errors = quote! {
                ///
                /// # Errors
                ///
                /// It could not be carried out. The step then fails.
            };
            (Some(errors), Some(quote!(-> Result<(), Self::Error>)))
        } else {
            (None, None)
        };
        quote! {
            #docs
            #errors
            fn #name(&mut self #context) #result #required
        }
    });
    let field = facts.has_fields.then(|| {
        let paths: Vec<_> = machine
            .fields
            .iter()
            .filter(|(handle, field)| {
                facts.data.is_none() || (is_of_event(&field.path) && facts.is_open(*handle))
            })
            .map(|(_, field)| format!("`{}`", field.path))
            .collect();
        let owner = if !facts.payloads().is_empty() {
            "of the data of the current event, if that has no struct of its own"
        } else if facts.data.is_some() {
            "of the data of the current event"
        } else {
            "of the data that guards read, which the spec doesn't declare"
        };
        let docs = doc(&format!(
            "Returns the value of a field {owner}: {}.",
            paths.join(", ")
        ));
        quote! {
            #docs
            fn field(&self, path: &str) -> runtime::Value<'_> #required
        }
    });
    let timers = (!machine.timers.is_empty()).then(|| {
        quote! {
            /// Starts a timer: call [`Machine::elapse`] after `delay` milliseconds, unless it is cancelled.
            ///
            /// `statemark_runtime::Timers` is a queue for that.
            fn schedule(&mut self, timer: Timer, delay: u64) #required

            /// Cancels the timer, however often it was started.
            fn cancel(&mut self, timer: Timer) #required
        }
    });
    let assign = (facts.assigns && facts.data.is_none()).then(|| {
        quote! {
            /// Assigns a field of the data.
            fn assign(&mut self, path: &str, value: runtime::Value<'_>) #required
        }
    });
    let what = if facts.data.is_some() {
        "timers"
    } else {
        "timers and data"
    };
    let begins = doc(&format!(
        "Begins a macrostep: its changes of {what} belong together."
    ));
    let failed = doc(&format!(
        "Takes back a macrostep that failed: {what} are to be as they were when it began."
    ));
    let changes = facts.host_undoes().then(|| {
        // A host that forgot them would lose what a failed step has cancelled, without a word.
        let body = if facts.fails {
            required.clone()
        } else {
            quote!({})
        };
        quote! {
            #begins
            fn begin(&mut self) #body

            #failed
            fn rollback(&mut self) #body
        }
    });
    let block = implementation(facts);
    let example = own_doc(&format!("```ignore\n{block}\n```"));
    let message = format!(
        "`{{Self}}` is no host of the machine `{}`",
        machine.id.value
    );
    // It is a format.
    let escaped = block.replace('{', "{{").replace('}', "}}");
    let note = format!("a host is written like this:\n{escaped}");
    Some(quote! {
        /// The host of the machine: answers guards and carries out actions.
        ///
        /// A guard has no effects; it may be asked any number of times.
        ///
        #example
        #[diagnostic::on_unimplemented(message = #message, note = #note)]
        pub trait Host {
            #error
            #(#guards)*
            #(#actions)*
            #timers
            #assign
            #changes
            #field
        }
    })
}

/// Returns an implementation of `Host` to begin with: every method that has no default.
fn implementation(facts: &Facts<'_>) -> String {
    let module = module_name(facts.machine, facts.options);
    let context = if facts.data.is_some() {
        format!(", context: &{module}::Context")
    } else {
        String::new()
    };
    let mut methods = Vec::new();
    for (handle, _) in facts.machine.guards.iter() {
        let name = facts.names.guard(handle);
        methods.push(format!("fn {name}(&self{context}) -> bool {{ todo!() }}"));
    }
    for (handle, action) in facts.host_actions() {
        let name = facts.names.action(handle);
        let result = if action.kind == ActionKind::Fallible {
            " -> Result<(), Self::Error>"
        } else {
            ""
        };
        methods.push(format!(
            "fn {name}(&mut self{context}){result} {{ todo!() }}"
        ));
    }
    if !facts.machine.timers.is_empty() {
        methods.push(format!(
            "fn schedule(&mut self, timer: {module}::Timer, delay: u64) {{ todo!() }}"
        ));
        methods.push(format!(
            "fn cancel(&mut self, timer: {module}::Timer) {{ todo!() }}"
        ));
    }
    let runtime = facts.options.runtime.trim_start_matches("::");
    if facts.assigns && facts.data.is_none() {
        methods.push(format!(
            "fn assign(&mut self, path: &str, value: {runtime}::Value<'_>) {{ todo!() }}"
        ));
    }
    if facts.fails && facts.host_undoes() {
        methods.push("fn begin(&mut self) { todo!() }".to_owned());
        methods.push("fn rollback(&mut self) { todo!() }".to_owned());
    }
    if facts.has_fields {
        methods.push(format!(
            "fn field(&self, path: &str) -> {runtime}::Value<'_> {{ todo!() }}"
        ));
    }
    let error = facts.fails.then_some("    type Error = String;\n\n");
    let methods: Vec<_> = methods.iter().map(|line| format!("    {line}\n")).collect();
    format!(
        "impl {module}::Host for MyHost {{\n{}{}}}",
        error.unwrap_or_default(),
        methods.concat()
    )
}

/// Writes `Action`, and the errors of steps that name actions.
fn write_actions(facts: &Facts<'_>) -> TokenStream {
    let names: Vec<_> = facts
        .named_actions()
        .map(|(handle, _)| facts.action(handle))
        .collect();
    let actions = || facts.named_actions().map(|(_, action)| action);
    let texts: Vec<_> = actions().map(|action| action.name.as_str()).collect();
    let ids = facts.named_actions();
    let ids: Vec<_> = ids.map(|(handle, _)| number(handle.index())).collect();
    let (last, others) = names
        .split_last()
        .map_or((None, &[][..]), |(last, others)| (Some(last), others));
    let of_id = quote! {
        match id.raw() {
            #(#ids => Self::#others,)*
            _ => Self::#last,
        }
    };
    let errors = if facts.fails {
        quote! {
            /// A step that was not taken, for the machine's own reason or because an action failed.
            pub type StepFailure<E> = runtime::StepFailure<Action, E>;
        }
    } else {
        quote! {
            /// A step that was not taken. The machine is as it was before.
            pub type StepError = runtime::StepError<Action>;
        }
    };
    let docs = actions().map(|action| doc(&format!("The action `{}`.", action.name)));
    quote! {
        /// An action, as errors of steps name it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action {
            #(#docs #names,)*
        }

        impl Action {
            /// Every action, in the order of the spec.
            pub const ALL: &'static [Self] = &[#(Self::#names),*];

            /// Returns its name in the spec.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    #(Self::#names => #texts,)*
                }
            }

            /// Returns its id in the machine's table.
            #[must_use]
            pub const fn id(self) -> runtime::ActionId {
                runtime::ActionId::new(match self {
                    #(Self::#names => #ids,)*
                })
            }

            /// Returns the action of that id, which is one of these.
            const fn of_id(id: runtime::ActionId) -> Self {
                #of_id
            }
        }

        impl runtime::generated::HasId for Action {
            fn action_id(self) -> runtime::ActionId {
                self.id()
            }
        }

        impl ::core::fmt::Display for Action {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name())
            }
        }

        #errors
    }
}

fn guard_docs(name: &str, text: &str) -> String {
    if name == text {
        format!("Returns true if the guard `{name}` holds now.")
    } else {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("Returns true if this guard holds now: {text}")
    }
}

/// Describes an action as the spec does, and when it runs.
pub(super) fn action_docs(facts: &Facts<'_>, handle: Handle<Action>, action: &Action) -> String {
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
                format!("at the start of {}", id(state))
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

/// Writes `Timer`, if there are timers.
pub(in crate::back::rust) fn write_timers(facts: &Facts<'_>) -> Option<TokenStream> {
    let machine = facts.machine;
    if machine.timers.is_empty() {
        return None;
    }
    let names: Vec<_> = machine.timers.handles().map(|it| facts.timer(it)).collect();
    let texts: Vec<_> = machine
        .timers
        .iter()
        .map(|(_, it)| it.name.as_str())
        .collect();
    let events = machine
        .timers
        .iter()
        .map(|(_, it)| number(it.event.index()));
    let docs = machine.timers.iter().map(|(_, it)| match it.of {
        Some(state) => doc(&format!(
            "Runs while the machine is in `{}`.",
            machine.states.at(state).id
        )),
        None => doc(&format!("The timer `{}`.", it.name)),
    });
    Some(quote! {
        /// A timer that the machine starts and the host's clock ends.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Timer {
            #(#docs #names,)*
        }

        impl Timer {
            /// Every timer.
            pub const ALL: &'static [Self] = &[#(Self::#names),*];

            /// Returns its name in the spec.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    #(Self::#names => #texts,)*
                }
            }

            /// Returns its id in the machine's table.
            #[must_use]
            pub const fn id(self) -> runtime::TimerId {
                runtime::TimerId::new(self as u16)
            }

            /// Finds the timer of that id.
            #[must_use]
            pub fn from_id(id: runtime::TimerId) -> Option<Self> {
                Self::ALL.get(id.index()).copied()
            }

            /// Returns the id of its event in the machine's table.
            #[must_use]
            pub const fn event(self) -> runtime::EventId {
                runtime::EventId::new(match self {
                    #(Self::#names => #events,)*
                })
            }
        }
    })
}
