//! A document with its script.

use std::fs;
use std::path::Path;

use super::play::Script;
use super::script::read;
use statemark_harness::files;

/// The folder of the W3C's tests.
pub(super) const W3C: &str = "w3c-ecma";

/// One test.
pub(super) struct Case {
    /// Its path below the folder, without endings: `history/history0`, `w3c-ecma/test144`.
    pub(super) name: String,
    /// The document.
    pub(super) text: String,
    /// What must happen.
    pub(super) script: Script,
}

/// Every document that has a script beside it. Others are parts of those.
pub(super) fn cases(folder: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for path in files(folder) {
        if path.extension().is_none_or(|ending| ending != "scxml") {
            continue;
        }
        let Ok(script) = fs::read_to_string(path.with_extension("json")) else {
            continue;
        };
        let script: serde_json::Value = serde_json::from_str(&script).expect("a script");
        let shown = path.strip_prefix(folder).expect("a path inside").display();
        let shown = shown.to_string().replace('\\', "/");
        let name = shown.trim_end_matches(".scxml").trim_end_matches(".txml");
        cases.push(Case {
            name: name.to_owned(),
            text: fs::read_to_string(&path).expect("a document"),
            script: read(&script),
        });
    }
    assert!(cases.len() > 300, "only {} tests are there", cases.len());
    cases
}
