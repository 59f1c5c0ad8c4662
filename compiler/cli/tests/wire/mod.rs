//! The wire: what programs send, and what they get, by MCP, by the HTTP API and by the command line's `--json`.
//!
//! A file in `wire/` holds files (`## file NAME`) and calls in fences `wire`. Names, codes, shapes, and all values are
//! compared, as clients rely on them; only the wording is masked: see [`mask`]. `UPDATE=1` rewrites the answers. A diff
//! here breaks somebody's program.
//!
//! ```text
//! > get_run {"run_id": "r"}          calls a tool by MCP; the arguments may span lines, and may be left out
//! > rpc prompts/list {}              sends any request of the protocol
//! > tools                          lists the names of the tools that are offered
//! > GET /api/runs?limit=1            sends a request to the HTTP API
//! > POST /api/runs {"workflow": "w"}
//! > statemark runs --json            runs a command; the exit code comes first
//! > serve --toolsets time            from here on, servers have these arguments, after variables (`NAME=value`)
//! > as person ann                    from here on, callers have this role and name; `as agent bo run r` is bound to a run
//! > after 10s                        lets time pass; likewise 5m and 2h
//! > write {"docs/a.md": "text"}      writes files
//! > rewind_run {"confirm_token": "$confirm_token"}    inserts that field of the answer before
//! ```

mod mask;
mod session;

use std::path::Path;

use statemark_harness::{Suite, files, script};

use crate::shell::Scratch;
use session::Session;

/// Least number of cases. Why: each is a promise.
const CASES: usize = 30;

pub(crate) fn add(suite: &mut Suite, folder: &Path) {
    let mut documents = files(folder);
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    let count = documents.len();
    suite.check("wire::is_large", move || match count {
        CASES.. => Ok(()),
        few => Err(format!("the corpus shrank to {few} files")),
    });
    suite.documents("wire", folder, |case| play(case.name(), &case.text));
}

/// Returns the document with the answers of the built program.
fn play(name: &str, document: &str) -> String {
    let scratch = Scratch::new(&format!("wire-{name}"));
    for (file, text) in files_of(document) {
        scratch.write(file, text);
    }
    let mut session = Session::new(&scratch);
    script::play(document, ("~~~~wire", "~~~~"), |call| session.call(call))
}

/// Returns the names and texts of the files in a document.
fn files_of(document: &str) -> Vec<(&str, &str)> {
    let parts = document.split("\n## file ").skip(1);
    parts
        .map(|part| {
            let (name, rest) = part.split_once('\n').unwrap();
            let (_, text) = rest.split_once("~~~~text\n").unwrap();
            (name, text.split("~~~~\n").next().unwrap())
        })
        .collect()
}
