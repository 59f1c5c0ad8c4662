//! Fixes of texts of all formats: they end, keep the machines, and break nothing that compiled.
#![no_main]

use libfuzzer_sys::fuzz_target;
use statemark_compiler::diag::{Applicability, Severity};
use statemark_compiler::{Compiled, Options, compile, fix_text, source::Sources};

/// The format goes by the first byte.
const NAMES: [&str; 4] = ["spec.md", "spec.mmd", "spec.workflow.json", "spec.jsonc"];

fn has_errors(compiled: &Compiled) -> bool {
    compiled.diagnostics.iter().any(|found| found.severity == Severity::Error)
}

fuzz_target!(|input: &[u8]| {
    let Some((&first, rest)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let name = NAMES[usize::from(first) % NAMES.len()];
    let options = Options::default();
    let mut sources = Sources::new();
    sources.add(name, text);
    let before = compile(&sources, &options);
    for least in [Applicability::Safe, Applicability::Unsafe] {
        let done = fix_text(name, text, &options, least, |_| true);
        assert!(done.compiled.found >= before.found);
        assert!(has_errors(&before) || !has_errors(&done.compiled));
        if !has_errors(&before) {
            assert_eq!(fix_text(name, done.text(), &options, least, |_| true).text(), done.text());
        }
    }
});
