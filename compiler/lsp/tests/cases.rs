//! The server over the real protocol, in this process.
//!
//! A case is a document and questions about it: `servers::door`. [`session`] has their language. What holds for every
//! document is a test of its own: `server::…`.

#![cfg(test)]
#![expect(
    clippy::string_slice,
    reason = "an editor's positions are counted by the protocol's own definition, and a wrong one shall fail"
)]

#[path = "editor/client.rs"]
mod client;
#[path = "editor/hostile.rs"]
mod hostile;
#[path = "editor/protocol.rs"]
mod protocol;
#[path = "editor/session.rs"]
mod session;
#[path = "editor/symbols.rs"]
mod symbols;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use statemark_harness::Suite;

/// Returns the root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut suite = Suite::new();
    suite.documents("lsp", &folder, |case| session::play(&case.text));
    for (name, check) in protocol::CHECKS
        .iter()
        .chain(symbols::CHECKS)
        .chain(hostile::CHECKS)
    {
        suite.check(&format!("lsp::{name}"), || {
            check();
            Ok(())
        });
    }
    suite.run()
}
