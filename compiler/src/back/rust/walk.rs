//! The second strategy: const rows that the runtime walks.
//!
//! It is for machines with parallel states, history, timers, assignments or conditional actions, and for large ones.
//!
//! The algorithm is [`statemark_runtime::generated::Rows`], which is the table engine's, so that both do the same whatever
//! is active. Here is the struct `Machine` around it.

mod placed;
mod rows;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use self::rows::{context_types, nothing_sent};
use super::actions;
use super::facts::Facts;
use super::machine::{self, queue_value, restore_docs};
use super::tokens::doc;
use super::types::{host, state};

/// Returns where a machine keeps what is active: the field, its type, and its value as a configuration.
fn state_field(facts: &Facts<'_>) -> [TokenStream; 3] {
    if let Some(places) = &facts.places {
        let [kind, _] = placed::types(places);
        return [
            quote!(position),
            kind,
            quote!(self.position.configuration(&ROWS, &PLACES)),
        ];
    }
    [
        quote!(configuration),
        quote!(runtime::Configuration),
        quote!(self.configuration),
    ]
}

/// Writes the rows, the callbacks and the machine.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let rows = rows::write(facts);
    let timers = host::write_timers(facts);
    let guarding = facts.has_guards.then(|| rows::guarding(facts));
    let content = rows::write_acts(facts);
    let machine = write_machine(facts);
    let active = facts.has_regions.then(|| state::write_configuration(facts));
    let undo = actions::undo(facts);
    let places = facts.places.as_ref().map(placed::rows);
    let names = machine::state_names(facts);
    quote!(#timers #active #machine #rows #names #places #guarding #content #undo)
}

/// Writes `Machine`.
fn write_machine(facts: &Facts<'_>) -> TokenStream {
    let bound = facts.has_host.then(|| quote!(: Host));
    let default = (!facts.has_host).then(|| quote!(= ()));
    let needs = if facts.has_host {
        " The machine, with its host."
    } else {
        " The machine, with a host of any type, which it doesn't use."
    };
    let steps = write_steps(facts);
    let can = can(facts);
    let locations = locations(facts);
    let fields = context_types(facts).map(|(context, undo)| {
        let undo = undo.map(|undo| quote!(undo: #undo,));
        quote!(context: #context, #undo)
    });
    let sent = facts.receives().then(|| quote!(sent: Option<EventData>,));
    let queue = facts
        .has_raised
        .then(|| quote!(queue: runtime::generated::Queue<runtime::EventId>,));
    let [done, ..] = machine::done_list(facts);
    // Steps that are written out by place fail there, the others in `Acts`.
    let fail = facts.places.as_ref().and_then(|_| machine::fail(facts));
    let accessors = machine::accessors(facts);
    let snapshot = snapshot(facts);
    let [field, kind, _] = state_field(facts);
    let ended = if facts.places.is_some() {
        quote!(self.position.is_ended(&ROWS, &PLACES))
    } else {
        quote!(ROWS.is_ended(&self.configuration))
    };
    let kind_of_events = facts.event_name();
    let events = if facts.is_plain {
        quote!(self.state().events())
    } else {
        quote!(#kind_of_events::ALL)
    };
    quote! {
        #[doc = #needs]
        #[derive(Clone, Debug)]
        pub struct Machine<H #default> {
            #field: #kind,
            #queue
            #fields
            #sent
            #done
            host: H,
        }

        impl<H #bound> Machine<H> {
            #steps
            #fail
            #can

            /// Returns the events that the machine would take now, in the order of the spec.
            pub fn events(&self) -> impl Iterator<Item = #kind_of_events> + '_ {
                #events.iter().copied().filter(|&event| self.can(event))
            }
        }

        impl<H> Machine<H> {
            #locations

            /// Returns true if the machine has ended. It then refuses every event.
            #[must_use]
            pub fn is_ended(&self) -> bool {
                #ended
            }

            #accessors

            #snapshot
        }
    }
}

/// Writes `snapshot` and `restore`.
fn snapshot(facts: &Facts<'_>) -> TokenStream {
    let parameter = machine::context_parameter(facts);
    let queue = queue_value(facts);
    let nothing = nothing_sent(facts);
    let values = context_types(facts).map(|(_, undo)| {
        let undo = undo.map(|_| quote!(undo: Vec::new(),));
        quote!(context, #undo #nothing)
    });
    let [field, _, configuration] = state_field(facts);
    let position = find_position(facts);
    let [_, done, _] = machine::done_list(facts);
    let value = quote! {
        #position
        Ok(Self { #field, #queue #values #done host })
    };
    let saving = machine::saving(
        facts,
        &quote!(saved.add_configuration(&#configuration, STATE_NAMES);),
        &quote!(let configuration = ROWS.load(STATE_NAMES, saved)?;),
        &value,
    );
    let kept = restore_docs(facts);
    let errors = quote! {
        ///
        /// # Errors
        ///
        /// The snapshot is of a machine that behaves otherwise.
    };
    if facts.is_plain {
        return quote! {
            /// Returns a snapshot of the machine, to be stored.
            #[must_use]
            pub fn snapshot(&self) -> Snapshot {
                Snapshot { behavior: BEHAVIOR, state: self.state().id() }
            }

            #kept
            #errors
            pub fn restore(host: H, #parameter snapshot: Snapshot) -> Result<Self, RestoreError> {
                let state = State::from_id(snapshot.checked(&BEHAVIOR)?);
                let state = state.ok_or_else(|| RestoreError::no_state(snapshot.state))?;
                let configuration = ROWS.at(state.id());
                #value
            }

            #saving
        };
    }
    quote! {
        /// Returns a snapshot of the machine with what its histories have recorded, to be stored.
        #[must_use]
        pub fn snapshot(&self) -> Snapshot {
            Snapshot::new(BEHAVIOR, &#configuration)
        }

        #kept
        #errors
        pub fn restore(host: H, #parameter snapshot: &Snapshot) -> Result<Self, RestoreError> {
            let configuration = ROWS.restore(&BEHAVIOR, snapshot)?;
            #value
        }

        #saving
    }
}

/// Writes how a configuration becomes what the machine keeps.
fn find_position(facts: &Facts<'_>) -> Option<TokenStream> {
    facts
        .places
        .as_ref()
        .map(|_| quote!(let position = runtime::generated::Position::new(&PLACES, configuration);))
}

/// Writes `can`.
fn can(facts: &Facts<'_>) -> TokenStream {
    let holds = if facts.has_guards {
        let guards = rows::answering(facts);
        quote!(|transition| {
            #guards.holds(transition, &mut ())
        })
    } else {
        quote!(|_| true)
    };
    let [_, _, configuration] = state_field(facts);
    let walked = quote! {
        let configuration = &#configuration;
        ROWS.can(configuration, event.id(), #holds)
    };
    let places = facts.places.as_ref();
    let body = places.map(|places| placed::can(facts, places, &quote!({ #walked })));
    let body = body.unwrap_or(walked);
    let kind = facts.event_name();
    quote! {
        /// Returns true if the machine would take the event now. Asks guards and changes nothing.
        #[must_use]
        pub fn can(&self, event: #kind) -> bool {
            #body
        }
    }
}

/// Writes `states`, or `state` where one is active at a time, and other questions about what is active.
fn locations(facts: &Facts<'_>) -> TokenStream {
    let is_active = |state: &TokenStream| {
        if facts.places.is_some() {
            quote!(self.position.is_active(&ROWS, &PLACES, #state))
        } else {
            quote!(ROWS.is_active(&self.configuration, #state))
        }
    };
    let leaves = if facts.places.is_some() {
        quote!(self.position.leaves(&PLACES))
    } else {
        quote!(self.configuration.leaves())
    };
    let is_in = (!facts.is_flat()).then(|| {
        let is_active = is_active(&quote!(outer.id()));
        quote! {
            /// Returns true if the machine is in a state inside `outer`.
            #[must_use]
            pub fn is_in(&self, outer: Super) -> bool {
                #is_active
            }
        }
    });
    let states = (!facts.is_plain).then(|| {
        quote! {
            /// Returns the active states, one for each region, in the order of the spec.
            pub fn states(&self) -> impl Iterator<Item = State> + '_ {
                #leaves.filter_map(State::from_id)
            }
        }
    });
    let state = (!facts.has_regions).then(|| {
        quote! {
            /// Returns the active state.
            #[must_use]
            pub fn state(&self) -> State {
                // INVARIANT: a configuration has a leaf, and each has its variant.
                let mut states = self.configuration.leaves().filter_map(State::from_id);
                states.next().unwrap_or(State::INITIAL)
            }
        }
    });
    let configuration = facts.has_regions.then(|| {
        let is_active = is_active(&quote!(runtime::StateId::new(id)));
        quote! {
            /// Returns what is active, with a choice for each region.
            #[must_use]
            pub fn configuration(&self) -> Configuration {
                Configuration::read(&|id| #is_active)
            }
        }
    });
    let is_at = (!facts.is_plain).then(|| {
        let is_active = is_active(&quote!(state.id()));
        quote! {
            /// Returns true if that state is active.
            #[must_use]
            pub fn is_at(&self, state: State) -> bool {
                #is_active
            }
        }
    });
    quote! {
        #states
        #state
        #configuration
        #is_at
        #is_in
    }
}

/// Writes `new`, `send`, `elapse` and the functions that they call.
fn write_steps(facts: &Facts<'_>) -> TokenStream {
    let timers = !facts.machine.timers.is_empty();
    let begin = facts.host_undoes().then(|| quote!(host.begin();));
    let undoes = facts.undoes();
    let back = begin.is_some().then(|| quote!(host.rollback();));
    let rollback = rollback(facts, back.as_ref());
    let clear = undoes.then(|| quote!(undo.clear();));
    let fields = context_types(facts).map(|(_, undo)| {
        let undo = undo.map(|_| quote!(undo,));
        let sent = facts.receives().then(|| quote!(sent,));
        quote!(context, #undo #sent)
    });
    let passed = context_types(facts).map(|(_, undo)| {
        let undo = undo.map(|_| quote!(undo: &mut *undo,));
        let sent = facts.receives().then(|| quote!(sent: sent.as_ref(),));
        quote!(context: &mut *context, #undo #sent)
    });
    let error = machine::error_type(facts);
    let elapse = timers.then(|| {
        quote! {
            /// Reports that a timer has elapsed: the machine reacts and comes to rest.
            ///
            /// # Errors
            ///
            /// See [`Machine::send`].
            pub fn elapse(&mut self, timer: Timer) -> Result<runtime::Outcome, #error> {
                self.elapse_observed(timer, &mut ())
            }

            /// Like [`Machine::elapse`], with an observer.
            ///
            /// # Errors
            ///
            /// See [`Machine::send`].
            pub fn elapse_observed<O: runtime::Observer>(
                &mut self,
                timer: Timer,
                observer: &mut O,
            ) -> Result<runtime::Outcome, #error> {
                self.step(timer.event(), observer)
            }
        }
    });
    let reasons = if facts.assigns {
        "The machine has ended, or doesn't come to rest, or an assignment has no value"
    } else {
        "The machine has ended, or doesn't come to rest"
    };
    let end = " It is then as it was before the event.";
    let failure = machine::errors_docs(facts, reasons, end);
    let sends = if facts.is_plain {
        doc("Sends an event: the machine reacts and comes to rest.")
    } else {
        doc(
            "Sends an event: the machine reacts and comes to rest. Each region may take a transition.",
        )
    };
    let queue = facts.has_raised.then(|| quote!(queue,));
    let queue_passed = facts.has_raised.then(|| quote!(queue: &mut *queue,));
    let queue_clear = facts.has_raised.then(|| quote!(queue.clear();));
    let [_, _, clear_done] = machine::done_list(facts);
    let done = kept_names(facts);
    let done_passed = facts
        .fails
        .then(|| quote!(done: &mut *done, failed: &mut failed,));
    let effects_passed = facts.has_effects().then(|| quote!(effects: &mut *effects,));
    let effects_begin = facts.has_effects().then(|| quote!(effects.begin();));
    let effects_back = facts.has_effects().then(|| {
        quote! {
            if outcome.is_err() {
                effects.rollback();
            }
        }
    });
    let (failed, outcome) = (failed(facts), outcome(facts));
    let start = start(facts, begin.as_ref(), back.as_ref());
    let send_with = machine::send_with(facts);
    let step = match &facts.places {
        Some(places) => placed::step(facts, places),
        None => quote!(self.step(event.id(), observer)),
    };
    let inline = facts.places.as_ref().map(|_| quote!(#[inline]));
    let names = [format_ident!("event"), format_ident!("observer")];
    let send_observed = machine::send_observed(facts, &names, inline.as_ref(), &step);
    let [field, _, _] = state_field(facts);
    let (before, after) = if facts.places.is_some() {
        (
            quote! {
                let mut configuration = position.configuration(&ROWS, &PLACES);
                let configuration = &mut configuration;
            },
            quote!(*position = runtime::generated::Position::new(&PLACES, configuration.clone());),
        )
    } else {
        Default::default()
    };
    quote! {
        #start

        #sends
        ///
        /// # Errors
        ///
        #failure
        #inline
        pub fn send(&mut self, event: Event) -> Result<runtime::Outcome, #error> {
            self.send_observed(event, &mut ())
        }

        #send_observed

        #send_with

        #elapse

        fn step<O: runtime::Observer>(
            &mut self,
            event: runtime::EventId,
            observer: &mut O,
        ) -> Result<runtime::Outcome, #error> {
            #clear_done
            let Self { #field, #queue #fields #done host } = self;
            #before
            #begin
            #failed
            #effects_begin
            let mut acts = Acts { host: &mut *host, #passed #queue_passed #done_passed #effects_passed };
            let outcome = ROWS.send(configuration, event, &mut acts, observer);
            #effects_back
            #after
            #queue_clear
            #rollback
            #clear
            #outcome
        }
    }
}

/// Writes the names of what `done_list` declares.
fn kept_names(facts: &Facts<'_>) -> TokenStream {
    let done = facts.fails.then(|| quote!(done,));
    let effects = facts.has_effects().then(|| quote!(effects,));
    quote!(#done #effects)
}

/// Writes the variable that keeps the action that failed.
fn failed(facts: &Facts<'_>) -> Option<TokenStream> {
    facts.fails.then(|| quote!(let mut failed = None;))
}

/// Writes the result of a step, with the action that failed if one did.
fn outcome(facts: &Facts<'_>) -> TokenStream {
    if facts.fails {
        quote!(runtime::generated::explain(outcome, failed, Action::of_id))
    } else if facts.can_lack_value() {
        quote!(outcome.map_err(|error| error.map_action(Action::of_id)))
    } else {
        quote!(outcome)
    }
}

/// Takes back what a step has done that failed, and what was merged for an event that nothing took.
fn rollback(facts: &Facts<'_>, back: Option<&TokenStream>) -> Option<TokenStream> {
    let context_back = facts.undoes().then(|| quote!(take_back(context, undo);));
    if facts.merges() {
        let back = back.map(|back| quote!(if outcome.is_err() { #back }));
        return Some(quote! {
            #back
            if !matches!(outcome, Ok(runtime::Outcome::Taken | runtime::Outcome::Ended)) {
                #context_back
            }
        });
    }
    (back.is_some() || context_back.is_some()).then(|| {
        quote! {
            if outcome.is_err() {
                #back
                #context_back
            }
        }
    })
}

/// Writes `new`, and `with_context` where there is one, each with a variant that takes an observer.
fn start(
    facts: &Facts<'_>,
    begin: Option<&TokenStream>,
    back: Option<&TokenStream>,
) -> TokenStream {
    let starts = Starts::new(facts);
    let (errors, result) = (starts.docs, starts.result);
    let fields = context_types(facts);
    let undoes = fields.as_ref().is_some_and(|(_, undo)| undo.is_some());
    let nothing = nothing_sent(facts);
    let rollback = back.map(|back| quote!(if outcome.is_err() { #back }));
    let own = fields.as_ref().map(|_| {
        let undo = undoes.then(|| quote!(let mut undo = Vec::new();));
        quote!(let mut context = context; #undo)
    });
    let passed = fields.as_ref().map(|_| {
        let undo = undoes.then(|| quote!(undo: &mut undo,));
        quote!(context: &mut context, #undo #nothing)
    });
    let kept = fields.as_ref().map(|_| {
        let undo = undoes.then(|| quote!(undo,));
        quote!(context, #undo #nothing)
    });
    let clear = undoes.then(|| quote!(undo.clear();));
    let queue = facts.has_raised.then(|| quote!(queue,));
    let queue_passed = facts.has_raised.then(|| quote!(queue: &mut queue,));
    let queue_new = facts
        .has_raised
        .then(|| quote!(let mut queue = runtime::generated::Queue::new();));
    let queue_clear = facts.has_raised.then(|| quote!(queue.clear();));
    let [field, _, _] = state_field(facts);
    let position = find_position(facts);
    let done = kept_names(facts);
    let effects_new = facts
        .has_effects()
        .then(|| quote!(let mut effects = runtime::Outbox::new();));
    let effects_passed = facts.has_effects().then(|| quote!(effects: &mut effects,));
    let done_new = facts
        .fails
        .then(|| quote!(let mut done = runtime::generated::Done::new();));
    let done_passed = facts
        .fails
        .then(|| quote!(done: &mut done, failed: &mut failed,));
    let failed = failed(facts);
    let machine = quote!(Self { #field, #queue #kept #done host });
    let (configuration, machine) = if starts.can_fail {
        let outcome = outcome(facts);
        (quote!(let configuration = #outcome?;), quote!(Ok(#machine)))
    } else {
        let configuration = quote! {
            // INVARIANT: nothing that happens at the start can fail.
            let configuration = outcome.unwrap_or_else(|_| ROWS.at(State::INITIAL.id()));
        };
        (configuration, machine)
    };
    let body = quote! {
        #own
        #queue_new
        #done_new
        #begin
        #failed
        #effects_new
        let mut acts = Acts { host: &mut host, #passed #queue_passed #done_passed #effects_passed };
        let outcome = ROWS.start(&mut acts, observer);
        #rollback
        #configuration
        #position
        #queue_clear
        #clear
        #machine
    };
    machine::constructors(facts, &errors, &result, &body)
}

/// The ending of the constructors.
struct Starts {
    can_fail: bool,
    /// The end of their docs.
    docs: TokenStream,
    result: TokenStream,
}

impl Starts {
    fn new(facts: &Facts<'_>) -> Self {
        let can_fail = !(facts.is_plain && facts.starts_at_rest) || facts.start_fails();
        if !can_fail {
            return Self {
                can_fail,
                docs: quote!(#[must_use]),
                result: quote!(Self),
            };
        }
        let reasons = if facts.is_plain {
            "The machine doesn't come to rest within the limit of microsteps"
        } else {
            "The machine doesn't come to rest within the limit of microsteps, or an assignment has no value"
        };
        let failure = machine::errors_docs(facts, reasons, "");
        let error = machine::error_type(facts);
        Self {
            can_fail,
            docs: quote! {
                ///
                /// # Errors
                ///
                #failure
            },
            result: quote!(Result<Self, #error>),
        }
    }
}
