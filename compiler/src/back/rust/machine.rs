//! Parts of the struct `Machine` that both strategies write alike.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::facts::Facts;
use super::tokens::doc;
use super::types::context::has_initial;
use super::types::effect;

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

/// Writes the list of what the host has done in a step, and the effects that are due.
///
/// The parts are the fields, their first values, and how a step begins the list.
pub(super) fn done_list(facts: &Facts<'_>) -> [Option<TokenStream>; 3] {
    let done = [
        quote!(done: runtime::generated::Done<Action>,),
        quote!(done: runtime::generated::Done::new(),),
        quote!(self.done.clear();),
    ];
    let effects = [
        quote!(effects: runtime::Outbox<Due>,),
        quote!(effects: runtime::Outbox::new(),),
        quote!(),
    ];
    let mut effects = effects
        .map(|part| facts.has_effects().then_some(part))
        .into_iter();
    done.map(|part| {
        let (done, effect) = (facts.fails.then_some(part), effects.next().flatten());
        (done.is_some() || effect.is_some()).then(|| quote!(#done #effect))
    })
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
    let effects = effect::methods(facts);
    quote! {
        #context

        #effects

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

/// Writes the names of all states, by id, for a machine that is saved as a configuration.
pub(super) fn state_names(facts: &Facts<'_>) -> TokenStream {
    let names = facts
        .machine
        .states
        .iter()
        .map(|(_, state)| state.id.as_str());
    quote! {
        /// The names of the states, by id.
        static STATE_NAMES: &[&str] = &[#(#names),*];
    }
}

/// Writes `save`, `load` and `migrate`.
///
/// `located` adds what is active to `saved`; `found` finds it there, as what `value` makes a machine of.
pub(super) fn saving(
    facts: &Facts<'_>,
    located: &TokenStream,
    found: &TokenStream,
    value: &TokenStream,
) -> TokenStream {
    let has_timers = !facts.machine.timers.is_empty();
    let parameter = has_timers.then(|| quote!(, timers: &runtime::Timers));
    let timed = has_timers.then(|| {
        quote! {
            let timers = timers.iter();
            saved.timers = timers
                .filter_map(|(timer, due)| Some((Timer::from_id(timer)?.name().into(), due)))
                .collect();
        }
    });
    let timers = has_timers.then(|| {
        quote! {
            /// Returns the timers of a saved machine, for its host.
            fn load_timers(saved: &runtime::Saved) -> Result<runtime::Timers, runtime::LoadError> {
                let mut timers = runtime::Timers::new();
                for (name, due) in &saved.timers {
                    let timer = Timer::ALL.iter().find(|timer| timer.name() == name);
                    let timer = timer.ok_or_else(|| runtime::LoadError::NoTimer { name: name.clone() })?;
                    timers.schedule(timer.id(), *due);
                }
                timers.begin();
                Ok(timers)
            }
        }
    });
    // A host that gets the timers as it is made can't be made without them.
    let host_made = if has_timers {
        quote!(let host = host(Self::load_timers(saved)?);)
    } else {
        quote! {
            if let Some((name, _)) = saved.timers.first() {
                return Err(runtime::LoadError::NoTimer { name: name.clone() });
            }
        }
    };
    let data = facts.data.is_some();
    let context = data
        .then(|| quote!(saved.context = Some(runtime::generated::Stored::store(&self.context));));
    let effects_saved = facts.has_effects().then(|| {
        let context = if data {
            quote!(runtime::generated::Stored::store(&due.context))
        } else {
            quote!(runtime::Datum::Null)
        };
        quote! {
            let due = self.effects.due().iter().map(|due| runtime::SavedEffect {
                key: due.key,
                effect: due.effect.name().into(),
                context: #context,
            });
            saved.effects = due.collect();
            saved.next_key = self.effects.next_key();
        }
    });
    let value = if facts.has_effects() {
        let context = data
            .then(|| quote!(context: runtime::generated::Stored::load(saved.context.clone())?,));
        quote! {
            let loaded: Result<Self, runtime::LoadError> = { #value };
            let mut loaded = loaded?;
            let due = saved.effects.iter().map(|saved| -> Result<Due, runtime::LoadError> {
                let effect = Effect::from_name(&saved.effect);
                let effect = effect.ok_or_else(|| runtime::LoadError::NoEffect {
                    name: saved.effect.clone(),
                    key: saved.key,
                })?;
                Ok(Due { key: saved.key, effect, #context })
            });
            let due = due.collect::<Result<_, _>>()?;
            loaded.effects = runtime::Outbox::restored(due, saved.next_key);
            Ok(loaded)
        }
    } else {
        quote! {
            if let Some(effect) = saved.effects.first() {
                return Err(runtime::LoadError::NoEffect {
                    name: effect.effect.clone(),
                    key: effect.key,
                });
            }
            #value
        }
    };
    let loaded = data.then(|| {
        quote! {
            let context = saved.context.clone().ok_or(runtime::LoadError::NoContext)?;
            let context: Context = runtime::generated::Stored::load(context)?;
        }
    });
    let begun = (data && has_initial(facts)).then(|| {
        quote! {
            // A field that the older machine didn't have begins as in a new one.
            saved.complete(runtime::generated::Stored::store(&Context::initial()));
        }
    });
    let kept = if has_timers {
        " with the timers of its host"
    } else {
        ""
    };
    let host = if has_timers {
        quote!(host: impl FnOnce(runtime::Timers) -> H)
    } else {
        quote!(host: H)
    };
    let host_docs = has_timers.then(|| {
        quote! {
            ///
            /// `host` makes the host, which keeps the timers that were saved.
        }
    });
    let saves = doc(&format!(
        "Saves the machine{kept}, by the names of the spec: as bytes by [`runtime::Saved::to_bytes`], or by `serde`."
    ));
    quote! {
        #saves
        #[must_use]
        pub fn save(&self #parameter) -> runtime::Saved {
            let mut saved = runtime::Saved { behavior: BEHAVIOR, ..runtime::Saved::default() };
            #located
            #context
            #timed
            #effects_saved
            saved
        }

        /// Loads a machine that was saved.
        ///
        /// Carries out nothing: entry actions ran before the machine was saved.
        #host_docs
        ///
        /// # Errors
        ///
        /// It was saved by a machine that behaves otherwise, or something of it doesn't fit.
        pub fn load(#host, saved: &runtime::Saved) -> Result<Self, runtime::LoadError> {
            if saved.behavior != BEHAVIOR {
                return Err(runtime::LoadError::OtherBehavior);
            }
            Self::of_saved(host, saved)
        }

        /// Loads a machine that any version of the spec has saved; `map` maps the names of another one.
        ///
        /// What this version has saved is loaded as it is. Carries out nothing: a timer that a state has got since isn't
        /// scheduled, unless `map` adds it.
        #host_docs
        ///
        /// # Errors
        ///
        /// A state, timer, effect or field has no place here, or a field is missing; each is named.
        pub fn migrate(
            #host,
            mut saved: runtime::Saved,
            map: impl FnOnce(&mut runtime::Saved),
        ) -> Result<Self, runtime::LoadError> {
            if saved.behavior != BEHAVIOR {
                map(&mut saved);
                #begun
            }
            Self::of_saved(host, &saved)
        }

        fn of_saved(#host, saved: &runtime::Saved) -> Result<Self, runtime::LoadError> {
            #found
            #loaded
            #host_made
            #value
        }

        #timers
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
    // What a failed step has pushed is forgotten, wherever it has failed.
    let (body, taking) = if facts.has_effects() {
        let kind = facts.event_name();
        let taking = quote! {
            #inline
            fn take_event<O: runtime::Observer>(
                &mut self,
                #event: #kind,
                #observer: &mut O,
            ) -> Result<runtime::Outcome, #error> {
                #body
            }
        };
        let body = quote! {
            self.effects.begin();
            let outcome = self.take_event(event, observer);
            if outcome.is_err() {
                self.effects.rollback();
            }
            outcome
        };
        (body, Some(taking))
    } else {
        (body.clone(), None)
    };
    let [named_event, named_observer] = [format_ident!("event"), format_ident!("observer")];
    let (event, observer) = if taking.is_some() {
        (&named_event, &named_observer)
    } else {
        (event, observer)
    };
    if !facts.has_required_data() {
        return quote! {
            #taking

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
        #taking

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
