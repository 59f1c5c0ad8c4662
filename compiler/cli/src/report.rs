//! What was found in one file, and in many.

mod file_too_large;
mod invalid_utf8;

use statemark_compiler::diag::{Diagnostic, Severity};
use statemark_compiler::source::{FileId, MAX_SOURCE_BYTES, Sources};
use statemark_compiler::valid::Valid;
use statemark_compiler::{Options, compile};

/// One file, compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    /// Its name, as shown.
    pub(crate) name: String,
    /// The file alone.
    pub(crate) sources: Sources,
    /// The machines without an error.
    pub(crate) machines: Vec<Valid>,
    /// How many machines were found, those with errors included.
    pub(crate) found: usize,
    /// Every finding, in reading order.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// Whether one of the findings is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Compiles what was read of a file; a file that was too large comes as its size.
pub(crate) fn check(name: &str, read: Result<Vec<u8>, u64>) -> Checked {
    let mut sources = Sources::new();
    let text = match read {
        Ok(bytes) => String::from_utf8(bytes),
        Err(size) => {
            let file = sources.add(name, "");
            let found = file_too_large::file_too_large(file, size, MAX_SOURCE_BYTES);
            return refused(name, sources, found);
        }
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => {
            let (text, place) = invalid_utf8::readable(error.as_bytes(), error.utf8_error());
            let file = sources.add(name, text);
            let found = invalid_utf8::invalid_utf8(file, place, error.as_bytes());
            return refused(name, sources, found);
        }
    };
    sources.add(name, text);
    let compiled = compile(&sources, &Options::default());
    Checked {
        name: name.to_owned(),
        sources,
        machines: compiled.machines,
        found: compiled.found,
        diagnostics: compiled.diagnostics,
    }
}

fn refused(name: &str, sources: Sources, found: Diagnostic) -> Checked {
    Checked {
        name: name.to_owned(),
        sources,
        diagnostics: vec![found],
        ..Checked::default()
    }
}

/// The findings of several files over one set of sources, as renderers want them.
pub(crate) fn merged(checked: &[Checked]) -> (Sources, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let mut diagnostics = Vec::new();
    for file in checked.iter().filter(|file| !file.diagnostics.is_empty()) {
        let texts = file.sources.iter();
        let ids: Vec<FileId> = texts
            .map(|(_, text)| sources.add(text.name(), text.text()))
            .collect();
        for diagnostic in &file.diagnostics {
            diagnostics.push(moved(diagnostic.clone(), &ids));
        }
    }
    (sources, diagnostics)
}

/// The finding with each of its places in the file that now has another id.
fn moved(mut diagnostic: Diagnostic, ids: &[FileId]) -> Diagnostic {
    let spans = std::iter::once(&mut diagnostic.primary.span)
        .chain(diagnostic.related.iter_mut().map(|label| &mut label.span))
        .chain(
            diagnostic
                .fixes
                .iter_mut()
                .flat_map(|fix| &mut fix.edits)
                .map(|edit| &mut edit.span),
        );
    for span in spans {
        if let Some(&id) = ids.get(span.file.index()) {
            span.file = id;
        }
    }
    diagnostic
}
