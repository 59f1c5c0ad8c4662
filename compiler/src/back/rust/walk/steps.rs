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
