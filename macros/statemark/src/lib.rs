//! State machines that are written in Markdown, compiled into Rust types.
//!
//! The spec is a document that people read; [`machine!`] makes a module of it, in which a state, an event and an action
//! that doesn't exist doesn't compile.
//!
//! ````
//! statemark::machine!(r"
//! ### STATE-MACHINE: turnstile
//!
//! ```mermaid
//! stateDiagram-v2
//!     [*] --> locked
//!     locked --> unlocked : coin
//!     unlocked --> locked : push
//!     locked --> [*] : close
//! ```
//! ");
//!
//! use turnstile::{Event, Machine, State};
//!
//! let mut gate = Machine::new(());
//! assert_eq!(gate.send(Event::Coin), Ok(statemark::Outcome::Taken));
//! assert_eq!(gate.state(), State::Unlocked);
//! assert!(!gate.can(Event::Close));
//!
//! // Without actions and guards the whole machine is a constant function.
//! const NEXT: Option<State> = State::Locked.on(Event::Push);
//! assert_eq!(NEXT, None);
//! ````
//!
//! # In the module
//!
//! | name | is |
//! |---|---|
//! | `State` | the states that the machine can be in; `Super` those around them |
//! | `Event` | the events that can be sent; `EventName` the same without data, if any of them carries some |
//! | `Host` | a trait with a method for each action and each guard, if there are any |
//! | `Context` | the data, if the spec declares any: a field for each of its fields; module `data` has the types inside |
//! | `EventData` | any event with its data, if an event's schema says which fields that has: a struct for each, such as `PaidData` |
//! | `Machine` | a state and its host: `new`, `send`, `can`, `events`, `snapshot`, `restore`; `save`, `load`, `migrate` |
//! | `Action`, `StepError`, `StepFailure` | the actions by name, and the errors of steps that name them: where an assignment may have no value, where the host's actions can fail |
//! | `Timer` | the timers that the host keeps, if there are delays; `Machine::elapse` says that one is over |
//! | `Effect`, `Due`, `EffectHost`, `AsyncHost` | the effects that the spec declares, what is due of them, and those who carry them out |
//! | `typestate` | with the option of that name: the states as types |
//!
//! # Data
//!
//! A spec declares its data by the initial `context`, by a `context_schema`, or by both. The machine owns it then:
//! `Machine::new` begins with the initial context, `with_context` with another, `context` reads it, and every method of
//! `Host` gets it. Guards and assignments are checked against it when the spec is compiled.
//!
//! ````
//! statemark::machine!(r#"
//! ### STATE-MACHINE: tank
//!
//! ```mermaid
//! stateDiagram-v2
//!     [*] --> open
//!     open --> open : fill [level < 100] / rise()
//!     open --> [*] : close
//! ```
//!
//! ```json definition
//! {
//!   "context": { "level": 90 },
//!   "context_schema": { "properties": { "level": { "type": "integer", "minimum": 0, "maximum": 100 } } },
//!   "actions": { "rise": { "assign": { "level": "level + 7" } } }
//! }
//! ```
//! "#);
//!
//! use tank::{Action, Context, Event, Machine, StepError};
//!
//! let mut tank = Machine::new(())?;
//! assert_eq!(tank.send(Event::Fill), Ok(statemark::Outcome::Taken));
//! assert_eq!(tank.context(), &Context { level: 97 });
//! // 104 isn't within the bounds: the step fails, and the context is as it was.
//! assert_eq!(tank.send(Event::Fill), Err(StepError::NoValue(Action::Rise)));
//! assert_eq!(tank.context().level, 97_u8);
//! # Ok::<(), StepError>(())
//! ````
//!
//! | the schema says | the field is |
//! |---|---|
//! | `integer`, with or without `minimum` and `maximum` | `u8` … `u64`, `i8` … `i64` |
//! | `boolean`, `string` | `bool`, `String` |
//! | `number` | `f64`, unless an expression asks whether it is an integer |
//! | `enum` of texts | an enum of `data`, unless other texts are assigned |
//! | `array`, `object` with `properties` | `Vec`, a struct of `data` |
//! | a type or `null`; not `required` and without an initial value | an `Option` |
//! | anything else, and what gets values of which nothing is known | [`runtime::Datum`] |
//!
//! Where the spec declares the data of an event, too, the event has a struct of such fields. If the schema requires any of
//! them, the event carries it and isn't made without; `Machine::send_with` sends any such struct. What its schema lists and the context declares is merged there before guards are asked, unless the spec says `"merge": "none"`,
//! and is taken back if nothing takes the event or the step fails. Guards and assignments read all of it as `event.x`.
//!
//! ````
//! statemark::machine!(r#"
//! ### STATE-MACHINE: order
//!
//! ```mermaid
//! stateDiagram-v2
//!     [*] --> open
//!     open --> paid : pay [cents >= 250 && event.currency == "EUR"]
//!     paid --> [*] : send
//! ```
//!
//! ```json definition
//! {
//!   "context": { "cents": 0 },
//!   "context_schema": { "properties": { "cents": { "type": "integer", "minimum": 0 } } },
//!   "events": {
//!     "pay": {
//!       "data": {
//!         "properties": { "cents": { "type": "integer", "minimum": 0 }, "currency": { "enum": ["EUR", "USD"] } },
//!         "required": ["cents", "currency"]
//!       }
//!     }
//!   }
//! }
//! ```
//! "#);
//!
//! use order::data::PayCurrency;
//! use order::{Event, Machine, PayData, State};
//! use statemark::Outcome;
//!
//! let mut order = Machine::new(());
//! let data = PayData { cents: 250, currency: PayCurrency::Usd };
//! assert_eq!(order.send(Event::Pay(data.clone())), Ok(Outcome::Ignored));
//! assert_eq!(order.context().cents, 0);
//! let data = PayData { currency: PayCurrency::Eur, ..data };
//! assert_eq!(order.send_with(data), Ok(Outcome::Taken));
//! assert_eq!((order.state(), order.context().cents), (State::Paid, 250));
//! ````
//!
//! An event whose schema requires nothing may be sent without data, so that its fields are absent. A field of the context holds whatever may be
//! merged into it: it is larger than its own schema says where an event's schema allows more.
//!
//! The data of an event without a schema is the host's: it answers for `event.x` by `Host::field`, and merges what belongs
//! into `Machine::context_mut` before it sends the event. Where a spec declares no context at all, `Host::field` and
//! `Host::assign` are asked for every field by its name, since nothing says what it holds.
//!
//! # Actions that fail
//!
//! An action with `"fails": true` returns a `Result`. Where it fails, so does the step: configuration, histories, data,
//! timers and raised events are as they were. What the host has done in the step stays done, so the error lists it.
//! `"actions_fail": true` in the definition, or `machine!("order.md", actions_fail)`, says it of all actions that don't say
//! `"fails": false`.
//!
//! ````
//! statemark::machine!(r#"
//! ### STATE-MACHINE: order
//!
//! ```mermaid
//! stateDiagram-v2
//!     [*] --> cart
//!     cart --> paid : pay / reserve(), charge()
//!     paid --> [*] : send
//! ```
//!
//! ```json definition
//! { "actions": { "charge": { "fails": true } } }
//! ```
//! "#);
//!
//! use order::{Action, Event, Machine, State, StepFailure};
//!
//! struct Shop;
//!
//! impl order::Host for Shop {
//!     type Error = &'static str;
//!
//!     fn reserve(&mut self) {}
//!
//!     fn charge(&mut self) -> Result<(), Self::Error> {
//!         Err("no money")
//!     }
//! }
//!
//! let mut order = Machine::new(Shop);
//! let Err(StepFailure::Action(failure)) = order.send(Event::Pay) else { panic!() };
//! assert_eq!((failure.action, failure.cause), (Action::Charge, "no money"));
//! assert_eq!(failure.done, [Action::Reserve]);
//! assert_eq!(order.state(), State::Cart);
//! ````
//!
//! # Effects
//!
//! An action with `"effect"` isn't the host's in the step: it is due once the step has been decided, with a key that no
//! other has and the context as it was at the action. `Machine::due` lists what is due, `Machine::hand_over` gives it to an
//! `EffectHost`, and `Machine::hand_over_async` to an `AsyncHost`, which it awaits on whatever executor runs it. It stays due
//! until it was carried out (`Machine::settled`), also in a machine that is saved in between: whoever carries it out can
//! tell by the key that it comes again. An effect that the step needs (`"fails": true`) is an action as any other.
//!
//! ````
//! statemark::machine!(r#"
//! ### STATE-MACHINE: order
//!
//! ```mermaid
//! stateDiagram-v2
//!     [*] --> cart
//!     cart --> paid : pay / charge()
//!     paid --> [*] : send
//! ```
//!
//! ```json definition
//! { "actions": { "charge": { "effect": "Charges the card." } } }
//! ```
//! "#);
//!
//! use order::{Due, EffectHost, Event, Machine};
//! use statemark::runtime::Saved;
//!
//! struct Bank;
//!
//! impl EffectHost for Bank {
//!     type Error = &'static str;
//!
//!     fn charge(&mut self, due: &Due) -> Result<(), Self::Error> {
//!         if due.key == 0 { Ok(()) } else { Err("charged before") }
//!     }
//! }
//!
//! let mut order = Machine::new(());
//! assert!(order.send(Event::Pay).is_ok());
//! // Here the program may end: what is due is saved with the machine.
//! let bytes = order.save().to_bytes().unwrap();
//! let saved = Saved::from_bytes(&bytes).unwrap();
//! let mut order = Machine::load((), &saved).unwrap();
//! assert_eq!(order.due().len(), 1);
//! assert_eq!(order.hand_over(&mut Bank), Ok(()));
//! assert!(order.due().is_empty());
//! ````
//!
//! # Machines that are saved
//!
//! `Machine::save` keeps all that a machine is by the names of its spec: states, histories, context, the timers of its host,
//! and the effects that are due. [`Saved`] is bytes (`to_bytes`, `from_bytes`), or what `serde` makes of it; with the feature
//! `serde` a `Context` is data of `serde`, too. `Machine::load` takes what the same behavior has saved, whatever its texts say
//! by now; `Machine::migrate` takes what another version has saved, once a function has mapped its names, and names the
//! state, timer, effect or field that has no place. Fields that have come begin as in a new machine.
//!
//! # Findings
//!
//! An error in the spec is an error of the build, and the only one: what uses the machine is judged again once there is
//! one. A warning reaches you as the use of something deprecated, whose note it is, because stable Rust has no other way;
//! `deny_warnings` makes errors of them, and the lint `deprecated` is what else rules them.
//!
//! # Beside the module
//!
//! | name | is |
//! |---|---|
//! | [`Outcome`], [`StepError`] | what became of an event |
//! | [`StepFailure`], [`ActionError`] | the same where actions can fail |
//! | [`Observer`], [`Recorder`], [`Record`] | what a step did, for who wants to know |
//! | [`Saved`], [`LoadError`] | a machine that is saved by names, and why it can't be loaded |
//! | [`Value`] | what a host answers when a guard reads a field |
//! | [`runtime`] | the rest: tables, and the engine that runs them |
//!
//! Deliberately not here: anything but names of the two crates that do the work.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub use statemark_macros::machine;
pub use statemark_runtime as runtime;
pub use statemark_runtime::generated::{RestoreError, Snapshot};
pub use statemark_runtime::{
    ActionError, LoadError, Observer, Outcome, Record, Recorder, Saved, StepError, StepFailure,
    Value,
};
