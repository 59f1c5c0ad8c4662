//! The README shows what really comes out.

use std::fs;

use statemark_harness::{files, is_update, root};
use statemark_runs::Right;

/// The texts inside the fences of a language.
fn fences<'t>(text: &'t str, opening: &str, closing: &str) -> Vec<&'t str> {
    let (opening, closing) = (format!("\n{opening}\n"), format!("\n{closing}"));
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, below)) = rest.split_once(&opening) {
        let (inside, behind) = below.split_once(&closing).expect("a closed fence");
        found.push(inside);
        rest = behind;
    }
    found
}

#[test]
fn its_diagnostics_and_proofs_are_real() {
    let readme = fs::read_to_string(root().join("README.md")).expect("a README");
    let mut goldens = files(&root().join("tests/corpus"));
    goldens.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    goldens.push(root().join("compiler/cli/tests/cases/proofs.md"));
    let goldens: Vec<String> = goldens
        .iter()
        .map(|path| fs::read_to_string(path).expect("a readable golden"))
        .collect();
    let mut shown = fences(&readme, "```text", "```");
    // Commands and what they say are run by the tests of the command line.
    shown.retain(|text| !text.starts_with("$ "));
    assert_eq!(shown.len(), 4);
    for diagnostic in shown {
        assert!(
            goldens.iter().any(|golden| golden.contains(diagnostic)),
            "nothing prints\n{diagnostic}"
        );
    }
}

#[test]
fn its_spec_is_the_example() {
    let readme = fs::read_to_string(root().join("README.md")).expect("a README");
    let example =
        fs::read_to_string(root().join("examples/turnstile/turnstile.md")).expect("an example");
    let shown = fences(&readme, "````markdown", "````");
    assert_eq!(
        shown.first().map(|text| text.trim_end()),
        Some(example.trim_end())
    );
}

#[test]
fn the_table_of_rights_is_that_of_the_code() {
    let path = root().join("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).expect("a map");
    let (head, rest) = text.split_once("<!-- rights -->\n").expect("its begin");
    let (table, tail) = rest.split_once("<!-- end of rights -->").expect("its end");
    if table != Right::table() && is_update() {
        let text = format!(
            "{head}<!-- rights -->\n{}<!-- end of rights -->{tail}",
            Right::table()
        );
        fs::write(&path, text).expect("a writable map");
    } else {
        assert_eq!(table, Right::table(), "UPDATE=1 rewrites it");
    }
}
