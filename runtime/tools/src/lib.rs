//! The tools by which agents drive runs, and the one way in which a tool is called.
//!
//! They tell an agent which events are enabled, and hold it to the tools that its state grants. Runs are durable and are
//! addressed by their ids: nothing here is remembered between two calls.
//!
//! ```text
//! Dispatcher ─→ arguments ─→ policy ─→ tool ─→ Runs ─→ Store
//!     └─ envelope: {ok, data} or {ok, error} ←┘
//! ```
//!
//! What to rely on:
//!
//! - A tool is a function of its [`Ctx`] and of typed arguments; nothing in `tools/` knows a protocol or the dispatcher.
//! - Authority comes from the caller, is checked on every call, and never from knowing an id.
//! - Every failure is an answer with a code, a reason and, where there is one, the call that mends it.
//!
//! Deliberately not here: protocols and connections, which are `statemark-server`'s; other systems' tools, which
//! `statemark-profiles` maps onto these; tools of other servers, which `statemark-upstream` brings; compiling. Whoever makes a [`Dispatcher`] hands it a [`Catalog`].

mod address;
pub mod arguments;
mod caller;
mod catalog;
mod ctx;
mod dispatch;
mod docs;
pub mod envelope;
mod executor;
pub mod lookup;
mod machine;
mod options;
mod problem;
pub mod project;
mod registry;
mod remedy;
pub mod requests;
mod schema;
mod services;
mod tool;
mod tools;
mod waiting;

pub use address::{Address, Part};
pub use caller::{Caller, Credential, OfAttempt};
pub use catalog::{
    Allow, Catalog, Created, NewSpec, Project, Simulated, Simulation, Spec, definition_text,
};
pub use ctx::{Ctx, target};
pub use dispatch::{
    Admission, Dispatcher, NativeCall, NativeOutcome, NativeUse, Refusal, Reply, SessionPolicy,
    Turn, Waiting,
};
pub use docs::{Docs, Found, Hit, Page};
pub use executor::{Executor, Stop, Work, Worked, Working};
pub use options::{Effort, Options, Set};
pub use problem::{Fix, Outcome, Problem};
pub use registry::StartError;
pub use schema::Field;
pub use tool::{Annotations, Method, ProfileTool, Route, Run, Shape, Tool, UpstreamTool};
pub use tools::{create_spec, own_tools};
pub use waiting::Signal;

pub(crate) use tool::ToolCall;
