//! Findings as JUnit's XML: a suite for each file, a failed case for each finding.
//!
//! A file without findings is a case that passes, so that a service shows that it was checked. Facts and hints are no
//! failures: their cases pass, and say what was found as their output. Source: the schema of Jenkins' xUnit plugin.

use statemark_text::markup::push_escaped;

use super::prose::details;
use super::visible::{visible, visible_lines};
use crate::diag::{Diagnostic, Severity};
use crate::source::Sources;

/// The text before the suites.
pub(super) const BEGIN: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"statemark lint\">\n";

/// The text after the suites.
pub(super) const END: &str = "</testsuites>\n";

/// Renders the suite of a file.
pub(super) fn suite(name: &str, diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let failures = diagnostics.iter().filter(|found| is_failure(found)).count();
    let tests = diagnostics.len().max(1);
    let name = attribute(name);
    let mut text = format!(
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n"
    );
    if diagnostics.is_empty() {
        text += &format!("    <testcase name=\"no findings\" classname=\"{name}\"/>\n");
    }
    for diagnostic in diagnostics {
        text += &case(&name, diagnostic, sources);
    }
    text + "  </testsuite>\n"
}

fn is_failure(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity >= Severity::Warning
}

fn case(class: &str, diagnostic: &Diagnostic, sources: &Sources) -> String {
    let span = diagnostic.primary.span;
    let file = sources.file(span.file);
    let at = file.position(span.start);
    let code = diagnostic.code;
    let title = attribute(&format!("{code} {} {}:{}", code.name(), at.line, at.column));
    let place = format!("{}:{}:{}", file.name(), at.line, at.column);
    let body = element(&format!("{place}\n{}", details(diagnostic)));
    let outcome = match is_failure(diagnostic) {
        true => format!(
            "<failure type=\"{}\" message=\"{}\">{body}</failure>",
            diagnostic.severity.name(),
            attribute(&diagnostic.message)
        ),
        false => format!("<system-out>{body}</system-out>"),
    };
    format!(
        "    <testcase name=\"{title}\" classname=\"{class}\">\n      {outcome}\n    </testcase>\n"
    )
}

/// Escapes the value of an attribute, on one line.
fn attribute(text: &str) -> String {
    escape(&visible(text))
}

/// Escapes the text of an element. XML has no control characters, not even escaped.
fn element(text: &str) -> String {
    escape(&visible_lines(text))
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // XML 1.0, section 2.2: these are no characters of a document.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            character => push_escaped(&mut escaped, character),
        }
    }
    escaped
}
