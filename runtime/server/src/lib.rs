//! An MCP server over compiled workflows.
//!
//! It tells an agent which events are enabled, and holds it to the tools that its state grants. Runs are durable and are
//! addressed by their ids: no connection owns one, so that a server can be killed and started again at any moment.
//!
//! ```text
//! mcp/  stdio, streamable HTTP ─┐
//! http/ API                    ─┴→ dispatch ─→ arguments ─→ policy ─→ tool ─→ Runs ─→ Store
//!                                     └─ envelope: {ok, data} or {ok, error} ←┘
//! ```
//!
//! What to rely on:
//!
//! - A tool is a function of its [`Ctx`] and of typed arguments; nothing in `tools/` knows the protocol or the dispatcher.
//! - Authority comes from the caller, is checked on every call, and never from knowing an id.
//! - Every failure is an answer with a code, a reason and, where there is one, the call that mends it.
//!
//! Deliberately not here: compiling. The program that starts a server hands it a [`Catalog`].

mod arguments;
mod caller;
mod catalog;
mod complete;
mod ctx;
mod dispatch;
mod docs;
mod envelope;
mod http;
mod lookup;
mod mcp;
mod metrics;
mod notifications;
mod options;
mod problem;
mod profiles;
mod project;
mod prompt;
mod registry;
mod remedy;
mod requests;
mod resource;
mod schema;
mod services;
mod tool;
mod tools;

pub use caller::Caller;
pub use catalog::{Catalog, Created, NewSpec, Project, Simulated, Simulation, Spec};
pub use ctx::Ctx;
pub use dispatch::Dispatcher;
pub use docs::{Docs, Found, Hit, Page};
pub use http::{HttpOptions, Keys, Serving, serve_handler, serve_http};
pub use mcp::{Server, serve_stdio};
pub use options::{Asks, Options, Set};
pub use problem::{Fix, Outcome, Problem};
pub use registry::StartError;
pub use schema::Field;
pub use services::Services;
pub use tool::{Annotations, Method, Route, Shape, Tool};
