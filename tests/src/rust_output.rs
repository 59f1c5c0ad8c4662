//! Generated Rust, in full: `tests/rust/*.md` and the `*.rs` that each becomes.
//!
//! They are compiled, too, in `macros/statemark/tests/pass/goldens.rs`: not here, where a golden that doesn't compile would
//! stand in the way of its own mending. `UPDATE=1` rewrites them.

use std::path::{Path, PathBuf};

use statemark_compiler::{Options, back, compile, source::Sources};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rust")
}

/// The names of the files with that ending, without it, sorted.
fn names(ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries
        .filter_map(|name| Some(name.to_str()?.strip_suffix(ending)?.to_owned()))
        .collect();
    names.sort();
    names
}

#[test]
fn generated_files_are_as_expected() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for name in names(".md") {
        let written = generate(&name);
        let golden = folder().join(format!("{name}.rs"));
        if update {
            std::fs::write(&golden, &written).unwrap();
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != written {
            wrong.push(name);
        }
    }
    assert_eq!(
        wrong, [""; 0],
        "these changed; UPDATE=1 rewrites them, and the diff says how"
    );
}

#[test]
fn every_golden_has_a_spec_and_is_compiled() {
    assert_eq!(names(".rs"), names(".md"));
    let case = folder().join("../../macros/statemark/tests/pass/goldens.rs");
    let case = std::fs::read_to_string(case).unwrap();
    for name in names(".rs") {
        assert!(
            case.contains(&format!("/{name}.rs")),
            "{name} isn't among the goldens compiled"
        );
    }
}

/// The file that a spec becomes; a spec that says `typestate` in its text is written with types, too.
fn generate(name: &str) -> String {
    let text = std::fs::read_to_string(folder().join(format!("{name}.md"))).unwrap();
    let mut options = back::rust::Options::default();
    options.typestate = text.contains("typestate");
    options.source = Some(format!("{name}.md"));
    let mut sources = Sources::new();
    sources.add(format!("{name}.md"), text);
    let compiled = compile(&sources, &Options::default());
    assert_eq!(
        compiled.machines.len(),
        compiled.found,
        "{name}: {:?}",
        compiled.diagnostics
    );
    compiled
        .machines
        .iter()
        .map(|valid| back::rust::write_file(valid, &options))
        .collect()
}
