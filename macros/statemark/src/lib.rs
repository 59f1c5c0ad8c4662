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
//! | `Event` | the events that can be sent |
//! | `Host` | a trait with a method for each action and each guard, if there are any |
//! | `Machine` | a state and its host: `new`, `send`, `can`, `events`, `snapshot`, `restore` |
//! | `typestate` | with the option of that name: the states as types |
//!
//! # Beside the module
//!
//! | name | is |
//! |---|---|
//! | [`Outcome`], [`StepError`] | what became of an event |
//! | [`Observer`], [`Recorder`], [`Record`] | what a step did, for who wants to know |
//! | [`Value`] | what a host answers when a guard reads a field |
//! | [`runtime`] | the rest: tables, and the engine that runs them |
//!
//! Deliberately not here: anything but names of the two crates that do the work.

pub use statemark_macros::machine;
pub use statemark_runtime as runtime;
pub use statemark_runtime::generated::{RestoreError, Snapshot};
pub use statemark_runtime::{Observer, Outcome, Record, Recorder, StepError, Value};
