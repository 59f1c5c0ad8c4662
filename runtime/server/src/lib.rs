//! An MCP server over compiled workflows.
//!
//! It tells an agent what is legal next, and holds it to the tools that its state grants. Runs are durable and are addressed
//! by their ids: no connection owns one, so that a server can be killed and started again at any moment.
//!
//! ```text
//! rmcp (stdio, streamable HTTP) ─ mcp.rs ─→ Desk::call ─ arguments ─ policy ─ tool ─→ Runs ─→ Store
//!                                               └─ envelope: {ok, data} or {ok, error} ←┘
//! ```
//!
//! What to rely on:
//!
//! - A tool is a function of the desk, the caller and typed arguments; nothing in `tools/` knows the protocol.
//! - Authority comes from the caller, is checked on every call, and never from knowing an id.
//! - Every failure is an answer with a code, a reason and, where there is one, the call that mends it.
//!
//! Deliberately not here: compiling. Whoever starts a server hands it a [`Catalog`].

mod arguments;
mod bounds;
mod call;
mod caller;
mod catalog;
mod complete;
mod desk;
mod docs;
mod gate;
mod http;
mod mcp;
mod metrics;
mod news;
mod next;
mod offer;
mod pages;
mod problem;
mod profiles;
mod project;
mod prompt;
mod resource;
mod schema;
mod session;
mod tool;
mod tools;

pub use call::Call;
pub use caller::Caller;
pub use catalog::{Catalog, Created, NewSpec, Simulated, Simulation, Spec};
pub use desk::Desk;
pub use docs::{Docs, Found, Hit, Page};
pub use http::{HttpOptions, Keys, Serving, serve_handler, serve_http};
pub use mcp::{Server, serve_stdio};
pub use offer::{Asks, Options, StartError};
pub use problem::{Fix, Problem};
pub use project::Project;
pub use tool::{Data, Hints, Outcome, Set, Shape, Tool};
