//! Cases of the command line, each a test of its own name: `commands::runs`, `wire::tools-gate`, `skills::runs::build`.
//!
//! A case of `commands` is a Markdown document in `cases/`: files, then commands with their input and output. All of it
//! is compared as one text; `UPDATE=1` rewrites it. To add a case, write the files and the headings of the commands.
//!
//! `````text
//! ## file a.md
//!
//! ~~~~text
//! …
//! ~~~~
//!
//! ## `statemark lint a.md`
//!
//! ~~~~stdin
//! …
//! ~~~~
//! `````
//!
//! What stands in a block `typed` instead of `stdin` is typed at a terminal.
//!
//! A command may begin with variables (`NO_COLOR=1 statemark …`); `AS=ann` gives it the token of a person `ann`, and
//! `AS=saved` the one that `token create --save` has kept. `cat FILE` and `ls FOLDER` show what was written,
//! and `git …` works where the command does.

#![cfg(test)]

#[expect(dead_code, reason = "the tests in `cli.rs` use the rest")]
#[path = "served/client.rs"]
mod client;
mod document;
#[expect(dead_code, reason = "the tests in `cli.rs` use the rest")]
#[path = "served/raw.rs"]
mod raw;
mod session;
mod shell;
mod skills;
mod systems;
#[cfg(target_os = "linux")]
mod upstream;
mod wire;

use std::path::Path;
use std::process::ExitCode;

use document::Document;
use shell::{Scratch, perform};
use statemark_harness::{Case, Suite};

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(code) = upstream::unruly::play() {
        return code;
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut suite = Suite::new();
    suite.documents("commands", &tests.join("cases"), play);
    wire::add(&mut suite, &tests.join("wire"));
    systems::add(&mut suite, &tests.join("systems"));
    skills::add(&mut suite, &tests.join("skills"));
    #[cfg(target_os = "linux")]
    upstream::add(&mut suite);
    suite.run()
}

/// Returns the document with the output of today.
fn play(case: &Case) -> String {
    let document = Document::parse(&case.text);
    let scratch = Scratch::new(case.name());
    for (name, text) in &document.files {
        scratch.write(name, text);
    }
    document.text(|run| perform(run, &scratch.path))
}
