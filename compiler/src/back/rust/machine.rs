//! Parts of the struct `Machine` that both strategies write alike.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::facts::Facts;
use super::tokens::doc;
use super::types::context::has_initial;

/// Returns the type of the errors of steps.
pub(super) fn error_type(facts: &Facts<'_>) -> TokenStream {
    if facts.fails {
        quote!(StepFailure<H::Error>)
    } else if facts.can_lack_value() {
        quote!(StepError)
    } else {
        quote!(runtime::StepError)
    }
}

/// Returns an error of the machine's own as that type.
pub(super) fn own_error(facts: &Facts<'_>, error: &TokenStream) -> TokenStream {
    if facts.fails {
        quote!(runtime::StepFailure::Machine(#error))
    } else {
        error.clone()
    }
}

/// Writes the list of what the host has done in a step.
///
/// The parts are the field, its first value, and how a step begins it.
pub(super) fn done_list(facts: &Facts<'_>) -> [Option<TokenStream>; 3] {
    [
        quote!(done: runtime::generated::Done<Action>,),
        quote!(done: runtime::generated::Done::new(),),
        quote!(self.done.clear();),
    ]
    .map(|part| facts.fails.then_some(part))
}

/// Writes the function by which a step that is written out fails.
pub(super) fn fail(facts: &Facts<'_>) -> Option<TokenStream> {
    facts.fails.then(|| {
        quote! {
            /// Returns the error of a step in which that action failed.
            #[cold]
            fn fail(&mut self, action: Action, cause: H::Error) -> StepFailure<H::Error> {
                runtime::StepFailure::Action(self.done.fail(action, cause))
            }
        }
    })
}

/// Writes a line of docs for the errors of steps; `reasons` are the machine's own, separated by commas.
pub(super) fn errors_docs(facts: &Facts<'_>, reasons: &str, end: &str) -> TokenStream {
    let fails = if facts.fails {
        ", or an action fails"
    } else {
        ""
    };
    doc(&format!("{reasons}{fails}.{end}"))
}

/// Writes the parameter of functions that begin with a given context.
pub(super) fn context_parameter(facts: &Facts<'_>) -> Option<TokenStream> {
    facts.data.is_some().then(|| quote!(context: Context,))
}

/// Writes the methods that give access to the context, if there is one, and to the host.
pub(super) fn accessors(facts: &Facts<'_>) -> TokenStream {
    let context = facts.data.is_some().then(|| {
        quote! {
            /// Returns the context.
            #[must_use]
            pub const fn context(&self) -> &Context {
                &self.context
            }

            /// Returns the context, to change it between two steps.
            #[must_use]
            pub const fn context_mut(&mut self) -> &mut Context {
                &mut self.context
            }

            /// Returns the host and the context.
            #[must_use]
            pub fn into_parts(self) -> (H, Context) {
                (self.host, self.context)
            }
        }
    });
    quote! {
        #context

        /// Returns the host.
        #[must_use]
        pub const fn host(&self) -> &H {
            &self.host
        }

        /// Returns the host, to change it.
        #[must_use]
        pub const fn host_mut(&mut self) -> &mut H {
            &mut self.host
        }

        /// Returns the host.
        #[must_use]
        pub fn into_host(self) -> H {
            self.host
        }
    }
}

/// Writes `new`, and `with_context` where there is one, each with a variant that takes an observer.
///
/// `docs` ends the docs of each, `result` is what they return, and `body` creates the machine of `host` and `context`.
pub(super) fn constructors(
    facts: &Facts<'_>,
    docs: &TokenStream,
    result: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let initial = if facts.is_plain {
        "state"
    } else {
        "configuration"
    };
    let [created, created_with] = ["", " with that context"].map(|with| {
        doc(&format!(
            "Creates a machine in its initial {initial}{with}, and carries out its entry actions."
        ))
    });
    let host = if facts.walked {
        quote!(mut host: H)
    } else {
        quote!(host: H)
    };
    if facts.data.is_none() {
        return quote! {
            #created
            #docs
            pub fn new(host: H) -> #result {
                Self::new_observed(host, &mut ())
            }

            /// Like [`Machine::new`], with an observer.
            #docs
            pub fn new_observed<O: runtime::Observer>(#host, observer: &mut O) -> #result {
                #body
            }
        };
    }
    let initial = has_initial(facts).then(|| {
        quote! {
            /// Creates a machine in its initial state with its initial context, and carries out its entry actions.
            #docs
            pub fn new(host: H) -> #result {
                Self::with_context(host, Context::initial())
            }

            /// Like [`Machine::new`], with an observer.
            #docs
            pub fn new_observed<O: runtime::Observer>(host: H, observer: &mut O) -> #result {
                Self::with_context_observed(host, Context::initial(), observer)
            }
        }
    });
    quote! {
        #initial

        #created_with
        #docs
        pub fn with_context(host: H, context: Context) -> #result {
            Self::with_context_observed(host, context, &mut ())
        }

        /// Like [`Machine::with_context`], with an observer.
        #docs
        pub fn with_context_observed<O: runtime::Observer>(
            #host,
            context: Context,
            observer: &mut O,
        ) -> #result {
            #body
        }
    }
}

/// Writes the first paragraph of the docs of `restore`.
pub(super) fn restore_docs(facts: &Facts<'_>) -> TokenStream {
    if facts.data.is_some() {
        quote! {
            /// Restores a machine from a snapshot, with the context that was stored with it.
            ///
            /// Carries out nothing: entry actions ran before the snapshot was taken.
        }
    } else {
        quote! {
            /// Restores a machine from a snapshot.
            ///
            /// Carries out nothing: entry actions ran before the snapshot was taken.
        }
    }
}

/// Writes the queue of a new machine.
pub(super) fn queue_value(facts: &Facts<'_>) -> Option<TokenStream> {
    facts
        .has_raised
        .then(|| quote!(queue: runtime::generated::Queue::new(),))
}

/// Writes `send_observed`, whose body takes an event by its name.
///
/// Where events carry data, that is merged first, and the body is a function of its own.
pub(super) fn send_observed(
    facts: &Facts<'_>,
    [event, observer]: &[Ident; 2],
    inline: Option<&TokenStream>,
    body: &TokenStream,
) -> TokenStream {
    let error = error_type(facts);
    let docs = quote! {
        /// Like [`Machine::send`], with an observer.
        ///
        /// # Errors
        ///
        /// See [`Machine::send`].
    };
    if !facts.has_required_data() {
        return quote! {
            #docs
            #inline
            pub fn send_observed<O: runtime::Observer>(
                &mut self,
                #event: Event,
                #observer: &mut O,
            ) -> Result<runtime::Outcome, #error> {
                #body
            }
        };
    }
    let arms = facts.events.iter().map(|&event| {
        let name = facts.event(event);
        if facts.required(event).is_some() {
            quote!(Event::#name(data) => self.send_with_observed(data, observer),)
        } else {
            quote!(Event::#name => self.react(EventName::#name, observer),)
        }
    });
    quote! {
        #docs
        #inline
        pub fn send_observed<O: runtime::Observer>(
            &mut self,
            event: Event,
            observer: &mut O,
        ) -> Result<runtime::Outcome, #error> {
            match event {
                #(#arms)*
            }
        }

        /// Reacts to an event whose data, if it has any, was merged.
        #inline
        fn react<O: runtime::Observer>(
            &mut self,
            #event: EventName,
            #observer: &mut O,
        ) -> Result<runtime::Outcome, #error> {
            #body
        }
    }
}

/// Writes `send_with` and `send_with_observed`, if any event has a struct.
pub(super) fn send_with(facts: &Facts<'_>) -> Option<TokenStream> {
    if facts.payloads().is_empty() {
        return None;
    }
    let merge = facts
        .merges()
        .then(|| quote!(data.merge(&mut self.context, &mut self.undo);));
    let (sent, forget) = if facts.receives() {
        (
            Some(quote!(self.sent = Some(data);)),
            Some(quote!(self.sent = None;)),
        )
    } else {
        (None, None)
    };
    // A walked machine takes back by itself what a step leaves.
    let back = (facts.merges() && !facts.walked).then(|| {
        quote! {
            if !matches!(outcome, Ok(runtime::Outcome::Taken | runtime::Outcome::Ended)) {
                take_back(&mut self.context, &mut self.undo);
            }
            self.undo.clear();
        }
    });
    let react = if facts.has_required_data() {
        quote!(react)
    } else {
        quote!(send_observed)
    };
    let step = if forget.is_some() || back.is_some() {
        quote! {
            let outcome = self.#react(event, observer);
            #forget
            #back
            outcome
        }
    } else {
        quote!(self.#react(event, observer))
    };
    let merging = if facts.merges() {
        "Fields that the context declares as well are merged into it before guards are asked, and taken back unless the event \
         is taken."
    } else {
        "None of the data becomes part of the context."
    };
    let merging = doc(merging);
    let error = error_type(facts);
    Some(quote! {
        /// Sends an event with its data: the machine reacts and comes to rest.
        ///
        #merging
        ///
        /// # Errors
        ///
        /// See [`Machine::send`].
        #[inline]
        pub fn send_with(
            &mut self,
            data: impl Into<EventData>,
        ) -> Result<runtime::Outcome, #error> {
            self.send_with_observed(data, &mut ())
        }

        /// Like [`Machine::send_with`], with an observer.
        ///
        /// # Errors
        ///
        /// See [`Machine::send`].
        pub fn send_with_observed<O: runtime::Observer>(
            &mut self,
            data: impl Into<EventData>,
            observer: &mut O,
        ) -> Result<runtime::Outcome, #error> {
            let data = data.into();
            let event = data.event();
            #merge
            #sent
            #step
        }
    })
}
