//! The corpus of diagnostics: `corpus/SM304-unreachable-state/case.md` with its full rendering in `case.txt`, and, where
//! something in it can be fixed, with what `lint --fix --unsafe-fixes` makes of it in `case.fixed`.

use std::path::Path;

use statemark_compiler::diag::{Applicability, Code, Diagnostic, Fix, Severity, render};
use statemark_compiler::{Compiled, fix_text};
use statemark_harness::{Case, Suite, files, relative, root};
use statemark_tests::specs::{assert_spans, compile_text, options};

/// The extensions of specs.
const SPECS: &[&str] = &["md", "json", "jsonc", "mmd", "scxml"];

/// Least number of files in the corpus. Why: a corpus that isn't found has none.
const FILES: usize = 70;

pub(crate) fn add(suite: &mut Suite) {
    let corpus = root().join("tests/corpus");
    suite.goldens("corpus", &corpus, (SPECS, "txt"), render);
    suite.files("fixes", &corpus, SPECS, check_fixes);
    suite.goldens("fixed", &corpus, (SPECS, "fixed"), render_fixed);
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

/// Returns a text in which what can't be read is written out, as [`unescape`] reads it.
fn escape(text: &str) -> String {
    text.replace('\u{feff}', "\\u{feff}")
        .replace('\u{200b}', "\\u{200b}")
        .replace("\r\n", "\\r\n")
}

/// Returns what is left of a case after all its fixes: the codes that were fixed and those that are left, then the text.
///
/// It is empty if the case has none.
fn render_fixed(case: &Case) -> Result<String, String> {
    let (name, text) = (relative(&case.path), unescape(&case.text));
    let options = options();
    let done = fix_text(&name, &text, &options, Applicability::Unsafe, |_| true);
    if !done.refused.is_empty() {
        return Err(format!("fixes were taken back: {:?}", done.refused));
    }
    let again = fix_text(&name, done.text(), &options, Applicability::Unsafe, |_| {
        true
    });
    if again.text() != done.text() {
        return Err("fixing it twice changes more".to_owned());
    }
    if done.fixed.is_empty() {
        return Ok(String::new());
    }
    let list = |codes: &mut dyn Iterator<Item = Code>| {
        codes.map(Code::id).collect::<Vec<&str>>().join(" ")
    };
    let fixed = list(&mut done.fixed.iter().copied());
    let left = list(&mut done.compiled.diagnostics.iter().map(|found| found.code));
    let left = if left.is_empty() { "nothing" } else { &left };
    Ok(format!(
        "fixed: {fixed}\nleft: {left}\n\n{}",
        escape(done.text())
    ))
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
    let compiles = before.machines.len() == before.found;
    let changed = statemark_compiler::changed_rows(before, &after);
    if compiles && fix.applicability == Applicability::Safe && !changed.is_empty() {
        return Err(format!(
            "`{}` changes a machine: {changed:#?}\n{fixed}",
            fix.title
        ));
    }
    Ok(())
}
