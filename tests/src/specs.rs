//! Specs that tests compile, and inputs that other people wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use statemark_compiler::diag::Diagnostic;
use statemark_compiler::source::Sources;
use statemark_compiler::valid::Valid;
use statemark_compiler::{Compiled, Options, Servers, compile};
use statemark_harness::files;

/// Compiles one text under a file name.
pub fn compile_text(name: &str, text: &str) -> (Sources, Compiled) {
    let mut sources = Sources::new();
    sources.add(name, text);
    let compiled = compile(&sources, &options());
    (sources, compiled)
}

/// Returns the options of the project that the cases suppose: it has pinned two tools of a server.
#[must_use]
pub fn options() -> Options {
    let tools = ["create_issue", "list_issues"].map(str::to_owned);
    let pinned = BTreeMap::from([("github".to_owned(), BTreeSet::from(tools))]);
    let servers = Servers {
        pinned: Some(pinned),
        ..Servers::default()
    };
    let mut options = Options::default();
    options.servers = Arc::new(servers);
    options
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

/// Compiles every spec in some folders of the project, and those of other people, and hands over each machine with its file.
pub fn each_machine(folders: &[&str], mut read: impl FnMut(&Path, &Valid)) {
    let root = statemark_harness::root();
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| files(&root.join(folder)))
        .collect();
    paths.extend(outside().iter().flat_map(|folder| files(folder)));
    for path in paths {
        let ending = path.extension().and_then(|ending| ending.to_str());
        if !matches!(ending, Some("md" | "mmd" | "json" | "scxml")) {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let (_, compiled) = compile_text(&path.display().to_string(), &text);
        for machine in &compiled.machines {
            read(&path, machine);
        }
    }
}
