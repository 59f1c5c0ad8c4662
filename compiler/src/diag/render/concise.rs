//! Findings as one line each.

use super::ink::{Ink, Style};
use super::visible::visible;
use crate::diag::Diagnostic;
use crate::source::Sources;

/// Renders each finding as one line, `path:line:col: error[SM304] message`, with columns in characters.
#[must_use]
pub fn concise(diagnostics: &[Diagnostic], sources: &Sources, style: &Style) -> String {
    diagnostics
        .iter()
        .map(|diagnostic| {
            let word = format!("{}[{}]", diagnostic.severity.name(), diagnostic.code);
            format!(
                "{}: {} {}\n",
                location(diagnostic, sources),
                style.paint(Ink::Severity(diagnostic.severity), &word),
                visible(&diagnostic.message)
            )
        })
        .collect()
}

/// Returns the `path:line:col` of the primary span.
pub(super) fn location(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let span = diagnostic.primary.span;
    let file = sources.file(span.file);
    let at = file.position(span.start);
    format!("{}:{}:{}", visible(file.name()), at.line, at.column)
}
