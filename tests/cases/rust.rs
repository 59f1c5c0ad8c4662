//! Generated Rust, in full: `tests/rust/*.md` and the `*.rs` that each becomes.
//!
//! They are compiled, too, in `macros/statemark/tests/pass/goldens.rs`: not here, where a golden that doesn't compile would
//! stand in the way of its own mending.

use std::fs;

use statemark_compiler::{Options, back, compile, source::Sources};
use statemark_harness::{Case, Suite, root};

pub(crate) fn add(suite: &mut Suite) {
    let folder = root().join("tests/rust");
    suite.goldens("rust", &folder, (&["md"], "rs"), generate);
    suite.files("rust::is_compiled", &folder, &["rs"], |golden| {
        let compiled = root().join("macros/statemark/tests/pass/goldens.rs");
        let compiled = fs::read_to_string(compiled).map_err(|error| error.to_string())?;
        match compiled.contains(&format!("/{}.rs", golden.name())) {
            true => Ok(()),
            false => Err("macros/statemark/tests/pass/goldens.rs doesn't compile it".to_owned()),
        }
    });
}

/// Returns the file that a spec becomes; a spec that says `typestate` in its text is written with types, too.
fn generate(case: &Case) -> Result<String, String> {
    let file = format!("{}.md", case.name());
    let mut options = back::rust::Options::default();
    options.typestate = case.text.contains("typestate");
    options.source = Some(file.clone());
    let mut sources = Sources::new();
    sources.add(file, case.text.as_str());
    let compiled = compile(&sources, &embedded());
    if compiled.machines.len() != compiled.found {
        return Err(format!("{:?}", compiled.diagnostics));
    }
    let machines = compiled.machines.iter();
    Ok(machines
        .map(|valid| back::rust::write_file(valid, &options))
        .collect())
}

/// Returns the options for machines of a program, whose host answers guards.
fn embedded() -> Options {
    let mut options = Options::default();
    options.for_rust = true;
    options
}
