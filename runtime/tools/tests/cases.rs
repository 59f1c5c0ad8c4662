//! Transcripts of tools, each a test of its own name: `tools::gate`. [`transcripts`] has their language.

#![cfg(test)]

#[expect(dead_code, reason = "the tests in `tools/` use the rest")]
#[path = "tools/bench.rs"]
mod bench;
#[path = "tools/transcripts.rs"]
mod transcripts;

use std::path::Path;
use std::process::ExitCode;

use statemark_harness::Suite;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut suite = Suite::new();
    suite.documents("tools", &folder, |case| transcripts::play(&case.text));
    suite.run()
}
