//! Specs that tests compile, and inputs that other people wrote.

use std::path::PathBuf;

use statemark_compiler::diag::Diagnostic;
use statemark_compiler::source::Sources;
use statemark_compiler::{Compiled, Options, compile};

/// Compiles one text under a file name.
pub fn compile_text(name: &str, text: &str) -> (Sources, Compiled) {
    let mut sources = Sources::new();
    sources.add(name, text);
    let compiled = compile(&sources, &Options::default());
    (sources, compiled)
}

/// Asserts that every span of a diagnostic lies inside its file, on character boundaries.
pub fn assert_spans(sources: &Sources, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.related);
        let edits = diagnostic.fixes.iter().flat_map(|fix| &fix.edits);
        let spans = labels
            .map(|label| label.span)
            .chain(edits.map(|edit| edit.span));
        for span in spans {
            let text = sources.file(span.file).text();
            assert!(
                text.get(span.range()).is_some(),
                "{diagnostic:?} points outside: {span:?}"
            );
        }
    }
}

/// Returns the folder of inputs that other people wrote, if it is here.
pub fn outside() -> Option<PathBuf> {
    let folder = statemark_harness::root().parent()?.join("shared/corpus");
    folder.is_dir().then_some(folder)
}
