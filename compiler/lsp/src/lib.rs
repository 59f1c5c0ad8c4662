//! The language server of Statemark.
//!
//! [`serve`] speaks the Language Server Protocol over a [`Connection`]: it keeps the documents of an editor, and answers
//! from what the compiler says of them. [`stdio`] is the connection of a program that an editor starts. Where files are,
//! and which findings a project wants, the server asks its [`Project`].
//!
//! ```text
//! server ─→ findings, actions, symbols, hover, names, completion, decoration, drawing ─→ analysis ─→ document ─→ project
//! ```
//!
//! What to rely on:
//!
//! - A document is compiled as `lint` compiles it; there is no other parser, no other index of lines, and no other list of
//!   fixes. Outside the sections, diagrams and definitions of machines the server has nothing to say.
//! - Messages are handled one after the other, in their order. Findings are pushed once nothing else waits, and only to
//!   clients that don't ask for them.
//! - Whatever a document has in it, the server goes on; a request that can't be read is answered with the protocol's error.
//!
//! Deliberately not here: files, runs and configuration.

mod actions;
mod analysis;
mod completion;
mod decoration;
mod document;
mod drawing;
mod findings;
mod hover;
mod inbox;
mod names;
mod outlines;
mod project;
mod server;
mod symbols;
mod transport;

pub use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
pub use project::{FileRules, NoProject, Project, SpecFile, Stamp};
pub use server::{ServeError, serve};
pub use transport::{Transport, connect, stdio};
