//! Texts of all formats: compile, and take what comes out through every back end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use statemark_compiler::{Options, back, compile, source::Sources};

/// The format goes by the first byte.
const NAMES: [&str; 4] = ["spec.md", "spec.mmd", "spec.workflow.json", "spec.jsonc"];

fuzz_target!(|input: &[u8]| {
    let Some((&first, rest)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let mut sources = Sources::new();
    sources.add(NAMES[usize::from(first) % NAMES.len()], text);
    let compiled = compile(&sources, &Options::default());
    for diagnostic in &compiled.diagnostics {
        let related = diagnostic.related.iter().map(|label| label.span);
        for span in std::iter::once(diagnostic.primary.span).chain(related) {
            assert!(sources.file(span.file).text().get(span.range()).is_some(), "{diagnostic:?}");
        }
    }
    for machine in &compiled.machines {
        let bytes = back::table::write(machine);
        let sections = statemark_runtime::decode(&bytes).expect("a table that we wrote");
        statemark_runtime::verify(sections).expect("a machine that we checked");
        let _ = back::mermaid::write(machine);
        let _ = back::svg::write(machine, &back::svg::Options::default());
        assert_eq!(back::svg::overlaps(machine), Vec::<String>::new());
        let _ = back::rust::write_file(machine, &back::rust::Options::default());
    }
});
