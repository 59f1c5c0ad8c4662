//! Contracts that definitions name with `like`: the compiler has their names, the store what they say, and nothing but this
//! holds the two together, since neither may use the other.

use std::collections::BTreeSet;

use statemark_compiler::diag::render::{Style, full};

use crate::specs::compile_text;

/// What the compiler finds in a definition of an artifact that is like that contract.
fn diagnostics(contract: &str) -> String {
    let text = format!(
        r#"{{
  "id": "paper",
  "initial": "writing",
  "artifacts": {{"text": {{"like": "{contract}"}}}},
  "states": {{
    "writing": {{"requires": ["text"], "on": {{"hand_in": "done"}}}},
    "done": {{"type": "final"}}
  }}
}}"#
    );
    let (sources, compiled) = compile_text("paper.workflow.json", &text);
    full(&compiled.diagnostics, &sources, &Style::default())
}

#[test]
fn the_compiler_names_the_contracts_that_the_store_has() {
    let has: BTreeSet<String> = statemark_runs::builtins().into_iter().collect();
    for name in &has {
        assert_eq!(diagnostics(name), "");
    }
    let told = diagnostics("ralph/song");
    let texts = told.split('"').filter(|it| it.starts_with("ralph/"));
    let named: BTreeSet<String> = texts
        .filter(|it| *it != "ralph/song")
        .map(str::to_owned)
        .collect();
    assert_eq!(named, has, "{told}");
}
