//! The machine with parallel states, history, timers or conditional actions: const rows, and what the runtime's algorithm
//! has done as it walks them.
//!
//! The algorithm is [`statemark_runtime::generated::Rows`], which is the table engine's, so that both do the same whatever
//! is active. Here are the faces around it.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::active;
use super::context;
use super::docs;
use super::expression::asks_for_states;
use super::facts::{Entry, Facts};
use super::machine::kept;
use super::state::number;
use super::step;
use super::tables;
use crate::arena::Handle;
use crate::ir::{Action, Timer};
use crate::pass::names::upper_camel;

/// The rows, the callbacks and the machine.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let rows = rows(facts);
    let timers = timers(facts);
    let guarding = facts.has_guards.then(|| tables::guarding(facts));
    let content = content(facts);
    let machine = machine(facts);
    let active = facts.has_regions.then(|| active::write(facts));
    let undo = context::assign::undo(facts);
    quote!(#timers #active #machine #rows #guarding #content #undo)
}

/// `ROWS`: the states, what they react to, and where transitions lead.
fn rows(facts: &Facts<'_>) -> TokenStream {
    let machine = facts.machine;
    let none = usize::from(u16::MAX);
    let targets = |targets: &[Handle<_>]| {
        let ids = targets.iter().map(|target| number(target.index()));
        quote!(&[#(runtime::StateId::new(#ids)),*])
    };
    let mut triggers = Vec::new();
    let mut states = Vec::new();
    for (handle, state) in machine.states.iter() {
        let kind = Ident::new(&format!("{:?}", state.kind), Span::call_site());
        let parent = number(state.parent.map_or(none, Handle::index));
        let end = number(state.end);
        let initial = state.initial.as_ref();
        let initial = initial.map_or(&[][..], |initial| &initial.targets);
        let initial = targets(initial);
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
    let transitions = machine.transitions.iter().map(|(handle, transition)| {
        let source = number(transition.source.index());
        let domain = if transition.targets.is_empty() {
            none
        } else {
            facts.domain(handle).index()
        };
        let (domain, targets) = (number(domain), targets(&transition.targets));
        quote!((#source, #domain, #targets))
    });
    let has_regions = facts.has_regions;
    quote! {
        /// The machine as rows.
        static ROWS: runtime::generated::Rows = runtime::generated::Rows {
            has_regions: #has_regions,
            states: &[#(#states),*],
            triggers: &[#(#triggers),*],
            transitions: &[#(#transitions),*],
        };
    }
}

/// The identifier of a timer's variant.
pub(super) fn timer(facts: &Facts<'_>, timer: Handle<Timer>) -> Ident {
    let mut taken = BTreeSet::new();
    let mut found = String::new();
    for (handle, row) in facts.machine.timers.iter() {
        let (wanted, _) = upper_camel(&row.name);
        let mut name = wanted.clone();
        let mut count = 1;
        while !taken.insert(name.clone()) {
            count += 1;
            name = format!("{wanted}{count}");
        }
        if handle == timer {
            found = name;
            break;
        }
    }
    Ident::new(&found, Span::call_site())
}

/// `Timer`, if there are timers.
fn timers(facts: &Facts<'_>) -> Option<TokenStream> {
    let machine = facts.machine;
    if machine.timers.is_empty() {
        return None;
    }
    let names: Vec<_> = machine
        .timers
        .handles()
        .map(|it| timer(facts, it))
        .collect();
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
        Some(state) => docs::doc(&format!(
            "Runs while the machine is in `{}`.",
            machine.states.at(state).id
        )),
        None => docs::doc(&format!("The timer `{}`.", it.name)),
    });
    Some(quote! {
        /// What the host's clock tells the machine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Timer {
            #(#docs #names,)*
        }

        impl Timer {
            /// Every timer.
            pub const ALL: &'static [Self] = &[#(Self::#names),*];

            /// Its name in the spec.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    #(Self::#names => #texts,)*
                }
            }

            /// Its number in the table of the same machine.
            #[must_use]
            pub const fn id(self) -> runtime::TimerId {
                runtime::TimerId::new(self as u16)
            }

            /// The timer of that number.
            #[must_use]
            pub fn from_id(id: runtime::TimerId) -> Option<Self> {
                Self::ALL.get(id.index()).copied()
            }

            /// The number of its event in the table of the same machine.
            #[must_use]
            pub const fn event(self) -> runtime::EventId {
                runtime::EventId::new(match self {
                    #(Self::#names => #events,)*
                })
            }
        }
    })
}

/// `Acts`: what the walk asks and has done.
fn content(facts: &Facts<'_>) -> TokenStream {
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
    let done = matched(&tables::grouped(done));
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
            let guards = Guarding { host: &*self.host, #context #sent #states };
            runtime::generated::Ask::holds(&guards, transition, observer)
        }
    } else {
        quote! {
            let _ = (transition, configuration, observer);
            true
        }
    };
    quote! {
        /// Answers guards and carries out actions.
        struct Acts<'h, H> {
            host: &'h mut H,
            #fields
            #sent_field
            queue: &'h mut runtime::generated::Queue<runtime::EventId>,
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
                self.queue.pop()
            }

            fn fault(&self) -> Option<runtime::StepError> {
                self.queue.fault()
            }
        }
    }
}

/// The types of the context, and of what is kept to take back what is assigned.
fn held(facts: &Facts<'_>) -> Option<(TokenStream, Option<TokenStream>)> {
    facts.data.as_ref()?;
    let undo = facts.undoes();
    let undo = undo.then(|| quote!(Vec<Old>));
    Some((quote!(Context), undo))
}

/// One callback.
fn hook(
    name: &str,
    id: &str,
    arms: impl Iterator<Item = Option<(usize, TokenStream)>>,
) -> TokenStream {
    let body = matched(&tables::grouped(arms.flatten()));
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

/// `Machine`.
fn machine(facts: &Facts<'_>) -> TokenStream {
    let bound = facts.has_host.then(|| quote!(: Host));
    let default = (!facts.has_host).then(|| quote!(= ()));
    let needs = if facts.has_host {
        " The machine with the host that it works for."
    } else {
        " The machine with whatever goes with it; it asks nothing of it."
    };
    let steps = steps(facts);
    let can = can(facts);
    let places = places(facts);
    let fields = held(facts).map(|(context, undo)| {
        let undo = undo.map(|undo| quote!(undo: #undo,));
        quote!(context: #context, #undo)
    });
    let sent = facts.receives().then(|| quote!(sent: Option<EventData>,));
    let nothing = nothing_sent(facts);
    let parameter = context::parameter(facts);
    let accessors = context::accessors(facts);
    let kept = kept(facts);
    let values = held(facts).map(|(_, undo)| {
        let undo = undo.map(|_| quote!(undo: Vec::new(),));
        quote!(context, #undo #nothing)
    });
    quote! {
        #[doc = #needs]
        #[derive(Clone, Debug)]
        pub struct Machine<H #default> {
            configuration: runtime::Configuration,
            queue: runtime::generated::Queue<runtime::EventId>,
            #fields
            #sent
            host: H,
        }

        impl<H #bound> Machine<H> {
            #steps
            #can

            /// The events that the machine would take now, in the order of the spec.
            pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
                Event::ALL.iter().copied().filter(|&event| self.can(event))
            }
        }

        impl<H> Machine<H> {
            #places

            /// Whether the machine is over. It refuses every event then.
            #[must_use]
            pub fn is_ended(&self) -> bool {
                ROWS.is_ended(&self.configuration)
            }

            #accessors

            /// The host.
            #[must_use]
            pub const fn host(&self) -> &H {
                &self.host
            }

            /// The host, to change.
            #[must_use]
            pub const fn host_mut(&mut self) -> &mut H {
                &mut self.host
            }

            /// Gives the host back.
            #[must_use]
            pub fn into_host(self) -> H {
                self.host
            }

            /// Where the machine is, and what its histories have recorded, to be kept elsewhere.
            #[must_use]
            pub fn snapshot(&self) -> Snapshot {
                Snapshot::of(TABLE, &self.configuration)
            }

            #kept
            ///
            /// # Errors
            ///
            /// The snapshot is of another machine, or of another version of this one.
            pub fn restore(host: H, #parameter snapshot: &Snapshot) -> Result<Self, RestoreError> {
                let configuration = ROWS.restore(&TABLE, snapshot)?;
                Ok(Self { configuration, queue: runtime::generated::Queue::new(), #values host })
            }
        }
    }
}

/// What a machine begins with that no event has been sent to.
fn nothing_sent(facts: &Facts<'_>) -> Option<TokenStream> {
    facts.receives().then(|| quote!(sent: None,))
}

/// `new`, `send`, `elapse` and what is behind them.
fn steps(facts: &Facts<'_>) -> TokenStream {
    let timers = !facts.machine.timers.is_empty();
    let begin = (timers || (facts.assigns && facts.data.is_none())).then(|| quote!(host.begin();));
    let undoes = facts.undoes();
    let back = begin.is_some().then(|| quote!(host.rollback();));
    let rollback = rollback(facts, back.as_ref());
    let clear = undoes.then(|| quote!(undo.clear();));
    let fields = held(facts).map(|(_, undo)| {
        let undo = undo.map(|_| quote!(undo,));
        let sent = facts.receives().then(|| quote!(sent,));
        quote!(context, #undo #sent)
    });
    let passed = held(facts).map(|(_, undo)| {
        let undo = undo.map(|_| quote!(undo: &mut *undo,));
        let sent = facts.receives().then(|| quote!(sent: sent.as_ref(),));
        quote!(context: &mut *context, #undo #sent)
    });
    let elapse = timers.then(|| {
        quote! {
            /// The time of a timer is over: the machine reacts and comes to rest.
            ///
            /// # Errors
            ///
            /// As for [`Machine::send`].
            pub fn elapse(&mut self, timer: Timer) -> Result<runtime::Outcome, runtime::StepError> {
                self.elapse_observed(timer, &mut ())
            }

            /// [`Machine::elapse`], watched.
            ///
            /// # Errors
            ///
            /// As for [`Machine::send`].
            pub fn elapse_observed<O: runtime::Observer>(
                &mut self,
                timer: Timer,
                observer: &mut O,
            ) -> Result<runtime::Outcome, runtime::StepError> {
                self.step(timer.event(), observer)
            }
        }
    });
    let failure = if facts.assigns {
        docs::doc(
            "The machine has ended, or doesn't come to rest, or an assignment has no value. It is then what it was before \
             the event.",
        )
    } else {
        docs::doc(
            "The machine has ended, or doesn't come to rest. It is then where it was before the event.",
        )
    };
    let start = start(facts, begin.as_ref(), back.as_ref());
    let send_with = context::payload::send(facts);
    quote! {
        #start

        /// Sends an event: the machine reacts and comes to rest. Each region may take a transition.
        ///
        /// # Errors
        ///
        #failure
        pub fn send(&mut self, event: Event) -> Result<runtime::Outcome, runtime::StepError> {
            self.send_observed(event, &mut ())
        }

        /// [`Machine::send`], watched.
        ///
        /// # Errors
        ///
        /// As for [`Machine::send`].
        pub fn send_observed<O: runtime::Observer>(
            &mut self,
            event: Event,
            observer: &mut O,
        ) -> Result<runtime::Outcome, runtime::StepError> {
            self.step(event.id(), observer)
        }

        #send_with

        #elapse

        fn step<O: runtime::Observer>(
            &mut self,
            event: runtime::EventId,
            observer: &mut O,
        ) -> Result<runtime::Outcome, runtime::StepError> {
            let Self { configuration, queue, #fields host } = self;
            #begin
            let mut acts = Acts { host: &mut *host, #passed queue: &mut *queue };
            let outcome = ROWS.send(configuration, event, &mut acts, observer);
            queue.clear();
            #rollback
            #clear
            outcome
        }
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

/// `new`, and `with_context` where there is one, each with a twin that is watched.
fn start(
    facts: &Facts<'_>,
    begin: Option<&TokenStream>,
    back: Option<&TokenStream>,
) -> TokenStream {
    let errors = quote! {
        ///
        /// # Errors
        ///
        /// The machine doesn't come to rest within the limit of microsteps, or an assignment has no value.
    };
    let fields = held(facts);
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
    let body = quote! {
        #own
        let mut queue = runtime::generated::Queue::new();
        #begin
        let mut acts = Acts { host: &mut host, #passed queue: &mut queue };
        let outcome = ROWS.start(&mut acts, observer);
        #rollback
        let configuration = outcome?;
        queue.clear();
        #clear
        Ok(Self { configuration, queue, #kept host })
    };
    let result = quote!(Result<Self, runtime::StepError>);
    if fields.is_none() {
        return quote! {
            /// A machine in its initial configuration, its entry actions carried out.
            #errors
            pub fn new(host: H) -> #result {
                Self::new_observed(host, &mut ())
            }

            /// [`Machine::new`], watched.
            #errors
            pub fn new_observed<O: runtime::Observer>(mut host: H, observer: &mut O) -> #result {
                #body
            }
        };
    }
    let initial = context::constructors(facts, &errors, &result);
    quote! {
        #initial

        /// A machine in its initial configuration with that context, its entry actions carried out.
        #errors
        pub fn with_context(host: H, context: Context) -> #result {
            Self::with_context_observed(host, context, &mut ())
        }

        /// [`Machine::with_context`], watched.
        #errors
        pub fn with_context_observed<O: runtime::Observer>(
            mut host: H,
            context: Context,
            observer: &mut O,
        ) -> #result {
            #body
        }
    }
}

/// `can`.
fn can(facts: &Facts<'_>) -> TokenStream {
    let holds = if facts.has_guards {
        let guards = tables::answering(facts);
        quote!(|transition| {
            let guards = #guards;
            runtime::generated::Ask::holds(&guards, transition, &mut ())
        })
    } else {
        quote!(|_| true)
    };
    quote! {
        /// Whether the event would be taken now. Guards are asked, nothing is done.
        #[must_use]
        pub fn can(&self, event: Event) -> bool {
            ROWS.can(&self.configuration, event.id(), #holds)
        }
    }
}

/// Where the machine is: `states`, or `state` where there is one at a time.
fn places(facts: &Facts<'_>) -> TokenStream {
    let is_in = (!facts.is_flat()).then(|| {
        quote! {
            /// Whether the machine is inside that superstate.
            #[must_use]
            pub fn is_in(&self, outer: Super) -> bool {
                ROWS.is_active(&self.configuration, outer.id())
            }
        }
    });
    let states = quote! {
        /// The states that the machine is in, one for each region, in the order of the spec.
        pub fn states(&self) -> impl Iterator<Item = State> + '_ {
            self.configuration.leaves().filter_map(State::from_id)
        }
    };
    let state = (!facts.has_regions).then(|| {
        quote! {
            /// The state that the machine is in.
            #[must_use]
            pub fn state(&self) -> State {
                // INVARIANT: a configuration has a leaf, and each has its variant.
                self.states().next().unwrap_or(State::INITIAL)
            }
        }
    });
    let configuration = facts.has_regions.then(|| {
        quote! {
            /// What is active, with a choice for each region.
            #[must_use]
            pub fn configuration(&self) -> Configuration {
                Configuration::read(&|id| {
                    ROWS.is_active(&self.configuration, runtime::StateId::new(id))
                })
            }
        }
    });
    quote! {
        #states
        #state
        #configuration

        /// Whether the machine is in that state.
        #[must_use]
        pub fn is_at(&self, state: State) -> bool {
            ROWS.is_active(&self.configuration, state.id())
        }

        #is_in
    }
}
