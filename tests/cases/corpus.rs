//! The corpus of diagnostics: `corpus/SM304-unreachable-state/case.md` with its full rendering in `case.txt`.

use std::path::Path;

use statemark_compiler::Compiled;
use statemark_compiler::diag::{Code, Diagnostic, Fix, Severity, render};
use statemark_harness::{Case, Suite, files, relative, root};
use statemark_tests::specs::{assert_spans, compile_text};

/// The extensions of specs.
const SPECS: &[&str] = &["md", "json", "jsonc", "mmd", "scxml"];

/// Least number of files in the corpus. Why: a corpus that isn't found has none.
const FILES: usize = 70;

pub(crate) fn add(suite: &mut Suite) {
    let corpus = root().join("tests/corpus");
    suite.goldens("corpus", &corpus, (SPECS, "txt"), render);
    suite.files("fixes", &corpus, SPECS, check_fixes);
    suite.check("corpus::is_large", move || match files(&corpus).len() {
        FILES.. => Ok(()),
        few => Err(format!("the corpus shrank to {few} files")),
    });
}

/// Returns a case's text with `\u{…}` and `\r`, which are written out so that it can be read, as the characters.
fn unescape(text: &str) -> String {
    text.replace("\\u{feff}", "\u{feff}")
        .replace("\\u{200b}", "\u{200b}")
        .replace("\\r\n", "\r\n")
}

/// Returns the rendering of a case's diagnostics, one of which has to have the code that its folder names.
fn render(case: &Case) -> Result<String, String> {
    let (sources, compiled) = compile_text(&relative(&case.path), &unescape(&case.text));
    assert_spans(&sources, &compiled.diagnostics);
    let folder = case.path.parent().and_then(Path::file_name);
    let folder = folder.and_then(|name| name.to_str()).unwrap_or("");
    let code = folder.split('-').next().and_then(Code::from_words);
    let code = code.ok_or_else(|| format!("{folder} names no code"))?;
    let found = || {
        compiled
            .diagnostics
            .iter()
            .map(|diagnostic| diagnostic.code)
    };
    if !found().any(|found| found == code) {
        let found: Vec<&str> = found().map(|code| code.id()).collect();
        return Err(format!("no {} among {found:?}", code.id()));
    }
    let style = render::Style::default();
    Ok(render::full(&compiled.diagnostics, &sources, &style))
}

/// Checks that fixes keep their promise: with each of them the text still parses, and the finding is gone.
fn check_fixes(case: &Case) -> Result<(), String> {
    let text = unescape(&case.text);
    let name = relative(&case.path);
    let (_, before) = compile_text(&name, &text);
    for diagnostic in &before.diagnostics {
        for fix in &diagnostic.fixes {
            check_fix((&name, &text), &before, diagnostic, fix)?;
        }
    }
    Ok(())
}

fn check_fix(
    (name, text): (&str, &str),
    before: &Compiled,
    diagnostic: &Diagnostic,
    fix: &Fix,
) -> Result<(), String> {
    let mut fixed = text.to_owned();
    for edit in fix.edits.iter().rev() {
        fixed.replace_range(edit.span.range(), &edit.text);
    }
    let (_, after) = compile_text(name, &fixed);
    let is_same = |d: &&Diagnostic| d.code == diagnostic.code && d.message == diagnostic.message;
    let same = |compiled: &Compiled| compiled.diagnostics.iter().filter(is_same).count();
    if same(&after) >= same(before) {
        let message = &diagnostic.message;
        return Err(format!("`{}` doesn't mend `{message}`\n{fixed}", fix.title));
    }
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
    let errors = |compiled: &Compiled| compiled.diagnostics.iter().filter(is_error).count();
    if errors(&after) > errors(before) {
        return Err(format!("`{}` makes errors\n{fixed}", fix.title));
    }
    Ok(())
}
