//! A server of tools: MCP over standard input and output and over HTTP, and an HTTP API.
//!
//! No connection owns a run, so that a server can be killed and started again at any moment.
//!
//! ```text
//! mcp/  stdio, streamable HTTP ─┐
//! http/ API                    ─┴→ hub ─→ Dispatcher (statemark-tools)
//! ```
//!
//! What to rely on: tools know neither the protocol nor a connection; all that a caller gets comes from the dispatcher, or
//! belongs to a tool that the dispatcher would let the caller use.
//!
//! Lines for a log are events of `tracing`: what a caller or an operator has to know, never what runs are about. Whoever
//! starts a server subscribes to them, and says where they go.
//!
//! Deliberately not here: tools and policy. The program that starts a server hands it a
//! [`Dispatcher`](statemark_tools::Dispatcher).

mod call;
mod complete;
mod health;
mod http;
mod hub;
mod limits;
mod mcp;
mod metrics;
mod notifications;
mod prompt;
mod request_id;
mod resource;
mod states;
mod threads;

pub use http::{HttpOptions, Serving, serve_handler, serve_http};
pub use mcp::{Server, serve_stdio};
pub use threads::runtime;
