//! Findings as one line each, below the name of their file.

use super::ink::{Ink, Style};
use super::visible::visible;
use crate::diag::Diagnostic;
use crate::source::Sources;

/// Renders the findings of a file: its name, a line for each with its place, and a blank line.
pub(super) fn file(
    name: &str,
    diagnostics: &[Diagnostic],
    sources: &Sources,
    style: Style,
) -> String {
    if diagnostics.is_empty() {
        return String::new();
    }
    let places: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| {
            let span = diagnostic.primary.span;
            let at = sources.file(span.file).position(span.start);
            format!("{}:{}", at.line, at.column)
        })
        .collect();
    let width = places.iter().map(String::len).max().unwrap_or_default();
    let lines = diagnostics.iter().zip(&places).map(|(diagnostic, place)| {
        let word = format!("{}[{}]", diagnostic.severity.name(), diagnostic.code);
        format!(
            "  {place:>width$}  {} {}\n",
            style.paint(Ink::Severity(diagnostic.severity), &word),
            visible(&diagnostic.message)
        )
    });
    let name = style.paint(Ink::Bold, &format!("{}:", visible(name)));
    format!("{name}\n{}\n", lines.collect::<String>())
}
