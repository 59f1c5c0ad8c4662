//! The corpus of diagnostics: `corpus/SM304-unreachable-state/case.md` with its full rendering in `case.txt`.

use std::fs;
use std::path::Path;

use statemark_compiler::diag::{Code, Diagnostic, Severity, render};
use statemark_compiler::source::Sources;
use statemark_compiler::{Compiled, Options, compile};

use crate::golden::{compare, files, root, shown};

pub(crate) fn compile_text(name: &str, text: &str) -> (Sources, Compiled) {
    let mut sources = Sources::new();
    sources.add(name, text);
    let compiled = compile(&sources, &Options::default());
    (sources, compiled)
}

/// Every span of a diagnostic lies inside its file, on character boundaries.
pub(crate) fn assert_spans(sources: &Sources, diagnostics: &[Diagnostic]) {
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

/// A text as a case holds it: `\u{…}` and `\r` written out, so that a case can be read.
fn unescape(text: &str) -> String {
    text.replace("\\u{feff}", "\u{feff}")
        .replace("\\u{200b}", "\u{200b}")
        .replace("\\r\n", "\r\n")
}

fn check(path: &Path) -> Result<(), String> {
    let text = unescape(&fs::read_to_string(path).expect("a readable case"));
    let (sources, compiled) = compile_text(&shown(path), &text);
    assert_spans(&sources, &compiled.diagnostics);
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str())
        .unwrap_or("");
    let code = folder.split('-').next().and_then(Code::from_words);
    let code = code.ok_or_else(|| format!("{folder} names no code"))?;
    if !compiled
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.code == code)
    {
        let found: Vec<&str> = compiled.diagnostics.iter().map(|d| d.code.id()).collect();
        return Err(format!(
            "{}: no {} among {found:?}\n",
            shown(path),
            code.id()
        ));
    }
    let rendered = render::full(&compiled.diagnostics, &sources, &render::Style::default());
    compare(&path.with_extension("txt"), &rendered)
}

#[test]
fn every_case_is_told_as_expected() {
    let mut faults = String::new();
    let all = files(&root().join("tests/corpus"));
    for path in &all {
        let is_expected = path.extension().is_some_and(|ending| ending == "txt");
        if !is_expected {
            faults.extend(check(path).err());
        } else if !["md", "json", "jsonc", "mmd", "scxml"]
            .iter()
            .any(|ending| path.with_extension(ending).exists())
        {
            faults.push_str(&format!("{}: no case of that name\n", shown(path)));
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(
        all.len() >= 2 * 35,
        "the corpus shrank to {} files",
        all.len()
    );
}

/// Fixes keep their promise: after a safe or unsafe fix the text still parses and the finding is gone; doing all safe
/// fixes twice changes nothing more.
#[test]
fn fixes_mend_what_they_say() {
    let mut faults = String::new();
    let mut tried = 0;
    for path in files(&root().join("tests/corpus")) {
        if path.extension().is_some_and(|ending| ending == "txt") {
            continue;
        }
        let text = unescape(&fs::read_to_string(&path).expect("a readable case"));
        let name = shown(&path);
        let (_, before) = compile_text(&name, &text);
        for diagnostic in &before.diagnostics {
            for fix in &diagnostic.fixes {
                let mut fixed = text.clone();
                for edit in fix.edits.iter().rev() {
                    fixed.replace_range(edit.span.range(), &edit.text);
                }
                let (_, after) = compile_text(&name, &fixed);
                tried += 1;
                let same = |list: &[Diagnostic]| {
                    list.iter()
                        .filter(|d| d.code == diagnostic.code && d.message == diagnostic.message)
                        .count()
                };
                if same(&after.diagnostics) >= same(&before.diagnostics) {
                    faults.push_str(&format!(
                        "{name}: `{}` doesn't mend `{}`\n{fixed}\n",
                        fix.title, diagnostic.message
                    ));
                }
                let is_fault = |d: &&Diagnostic| d.severity == Severity::Error;
                let errors =
                    |compiled: &Compiled| compiled.diagnostics.iter().filter(is_fault).count();
                if errors(&after) > errors(&before) {
                    faults.push_str(&format!("{name}: `{}` makes errors\n{fixed}\n", fix.title));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(tried >= 10, "only {tried} fixes were tried");
}
