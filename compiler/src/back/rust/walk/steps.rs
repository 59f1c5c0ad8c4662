//! What moves the machine: `new`, `send`, `elapse`, and what takes back a step that failed.

use proc_macro2::TokenStream;
use quote::quote;

use super::held;
use super::nothing_sent;
use crate::back::rust::context;
use crate::back::rust::docs;
use crate::back::rust::facts::Facts;

/// `new`, `send`, `elapse` and what is behind them.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
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
    let sends = if facts.is_plain {
        docs::doc("Sends an event: the machine reacts and comes to rest.")
    } else {
        docs::doc(
            "Sends an event: the machine reacts and comes to rest. Each region may take a transition.",
        )
    };
    let queue = facts.has_raised.then(|| quote!(queue,));
    let queue_passed = facts.has_raised.then(|| quote!(queue: &mut *queue,));
    let queue_clear = facts.has_raised.then(|| quote!(queue.clear();));
    let start = start(facts, begin.as_ref(), back.as_ref());
    let send_with = context::payload::send(facts);
    quote! {
        #start

        #sends
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
            let Self { configuration, #queue #fields host } = self;
            #begin
            let mut acts = Acts { host: &mut *host, #passed #queue_passed };
            let outcome = ROWS.send(configuration, event, &mut acts, observer);
            #queue_clear
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
    let starts = Starts::new(facts);
    let (errors, result) = (starts.docs, starts.result);
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
    let queue = facts.has_raised.then(|| quote!(queue,));
    let queue_passed = facts.has_raised.then(|| quote!(queue: &mut queue,));
    let queue_new = facts
        .has_raised
        .then(|| quote!(let mut queue = runtime::generated::Queue::new();));
    let queue_clear = facts.has_raised.then(|| quote!(queue.clear();));
    let machine = quote!(Self { configuration, #queue #kept host });
    let (configuration, machine) = if starts.can_fail {
        (quote!(let configuration = outcome?;), quote!(Ok(#machine)))
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
        #begin
        let mut acts = Acts { host: &mut host, #passed #queue_passed };
        let outcome = ROWS.start(&mut acts, observer);
        #rollback
        #configuration
        #queue_clear
        #clear
        #machine
    };
    let initial = if facts.is_plain {
        "state"
    } else {
        "configuration"
    };
    let [begun, given] = ["", " with that context"].map(|with| {
        docs::doc(&format!(
            "A machine in its initial {initial}{with}, its entry actions carried out."
        ))
    });
    if fields.is_none() {
        return quote! {
            #begun
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

        #given
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

/// How the constructors end.
struct Starts {
    can_fail: bool,
    /// What their docs end with.
    docs: TokenStream,
    result: TokenStream,
}

impl Starts {
    fn new(facts: &Facts<'_>) -> Self {
        let can_fail = !(facts.is_plain && facts.starts_at_rest);
        if !can_fail {
            return Self {
                can_fail,
                docs: quote!(#[must_use]),
                result: quote!(Self),
            };
        }
        let failure = if facts.is_plain {
            "The machine doesn't come to rest within the limit of microsteps."
        } else {
            "The machine doesn't come to rest within the limit of microsteps, or an assignment has no value."
        };
        let failure = docs::doc(failure);
        Self {
            can_fail,
            docs: quote! {
                ///
                /// # Errors
                ///
                #failure
            },
            result: quote!(Result<Self, runtime::StepError>),
        }
    }
}
