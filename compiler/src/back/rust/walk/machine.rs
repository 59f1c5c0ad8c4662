//! The machine around the rows: where it is, what it would take, how it is kept.

use proc_macro2::TokenStream;
use quote::quote;

use super::content;
use super::held;
use super::nothing_sent;
use super::steps;
use crate::back::rust::context;
use crate::back::rust::facts::Facts;
use crate::back::rust::machine::{kept, queue_value};

/// `Machine`.
pub(super) fn write(facts: &Facts<'_>) -> TokenStream {
    let bound = facts.has_host.then(|| quote!(: Host));
    let default = (!facts.has_host).then(|| quote!(= ()));
    let needs = if facts.has_host {
        " The machine with the host that it works for."
    } else {
        " The machine with whatever goes with it; it asks nothing of it."
    };
    let steps = steps::write(facts);
    let can = can(facts);
    let places = places(facts);
    let fields = held(facts).map(|(context, undo)| {
        let undo = undo.map(|undo| quote!(undo: #undo,));
        quote!(context: #context, #undo)
    });
    let sent = facts.receives().then(|| quote!(sent: Option<EventData>,));
    let queue = facts
        .has_raised
        .then(|| quote!(queue: runtime::generated::Queue<runtime::EventId>,));
    let accessors = context::accessors(facts);
    let snapshot = snapshot(facts);
    let events = if facts.is_plain {
        quote!(self.state().events())
    } else {
        quote!(Event::ALL)
    };
    quote! {
        #[doc = #needs]
        #[derive(Clone, Debug)]
        pub struct Machine<H #default> {
            configuration: runtime::Configuration,
            #queue
            #fields
            #sent
            host: H,
        }

        impl<H #bound> Machine<H> {
            #steps
            #can

            /// The events that the machine would take now, in the order of the spec.
            pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
                #events.iter().copied().filter(|&event| self.can(event))
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

            #snapshot
        }
    }
}

/// `snapshot` and `restore`.
fn snapshot(facts: &Facts<'_>) -> TokenStream {
    let parameter = context::parameter(facts);
    let queue = queue_value(facts);
    let nothing = nothing_sent(facts);
    let values = held(facts).map(|(_, undo)| {
        let undo = undo.map(|_| quote!(undo: Vec::new(),));
        quote!(context, #undo #nothing)
    });
    let value = quote! {
        Ok(Self { configuration, #queue #values host })
    };
    let kept = kept(facts);
    let errors = quote! {
        ///
        /// # Errors
        ///
        /// The snapshot is of another machine, or of another version of this one.
    };
    if facts.is_plain {
        return quote! {
            /// Where the machine is, to be kept elsewhere.
            #[must_use]
            pub fn snapshot(&self) -> Snapshot {
                Snapshot { table: TABLE, state: self.state().id() }
            }

            #kept
            #errors
            pub fn restore(host: H, #parameter snapshot: Snapshot) -> Result<Self, RestoreError> {
                let state = State::from_id(snapshot.checked(&TABLE)?);
                let state = state.ok_or_else(|| RestoreError::no_state(snapshot.state))?;
                let configuration = ROWS.at(state.id());
                #value
            }
        };
    }
    quote! {
        /// Where the machine is, and what its histories have recorded, to be kept elsewhere.
        #[must_use]
        pub fn snapshot(&self) -> Snapshot {
            Snapshot::new(TABLE, &self.configuration)
        }

        #kept
        #errors
        pub fn restore(host: H, #parameter snapshot: &Snapshot) -> Result<Self, RestoreError> {
            let configuration = ROWS.restore(&TABLE, snapshot)?;
            #value
        }
    }
}

/// `can`.
fn can(facts: &Facts<'_>) -> TokenStream {
    let holds = if facts.has_guards {
        let guards = content::answering(facts);
        quote!(|transition| {
            #guards.holds(transition, &mut ())
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
    let states = (!facts.is_plain).then(|| {
        quote! {
            /// The states that the machine is in, one for each region, in the order of the spec.
            pub fn states(&self) -> impl Iterator<Item = State> + '_ {
                self.configuration.leaves().filter_map(State::from_id)
            }
        }
    });
    let state = (!facts.has_regions).then(|| {
        quote! {
            /// The state that the machine is in.
            #[must_use]
            pub fn state(&self) -> State {
                // INVARIANT: a configuration has a leaf, and each has its variant.
                let mut states = self.configuration.leaves().filter_map(State::from_id);
                states.next().unwrap_or(State::INITIAL)
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
    let is_at = (!facts.is_plain).then(|| {
        quote! {
            /// Whether the machine is in that state.
            #[must_use]
            pub fn is_at(&self, state: State) -> bool {
                ROWS.is_active(&self.configuration, state.id())
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
