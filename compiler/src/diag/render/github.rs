//! Findings as commands of GitHub's workflows, which annotate files.
//!
//! Source: GitHub's documentation, *Workflow commands for GitHub Actions*.

use super::prose::details;
use super::root::Root;
use super::visible::visible_lines;
use crate::diag::{Diagnostic, Severity};
use crate::source::Sources;

/// Renders `::error file=…,line=…::…`.
pub(super) fn command(diagnostic: &Diagnostic, sources: &Sources, root: &Root) -> String {
    let span = diagnostic.primary.span;
    let file = sources.file(span.file);
    let (start, end) = (file.position(span.start), file.position(span.end));
    let word = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "notice",
    };
    // An end in another line has no column.
    let end = match end.line {
        line if line == start.line => format!("{line},endColumn={}", end.column),
        line => line.to_string(),
    };
    format!(
        "::{word} file={},line={},col={},endLine={end},title={}::{}\n",
        property(&root.relative(file.name())),
        start.line,
        start.column,
        property(&format!("{} {}", diagnostic.code, diagnostic.code.name())),
        data(&details(diagnostic))
    )
}

/// Escapes the text of a command.
fn data(text: &str) -> String {
    let text = visible_lines(text).replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property, which commas and colons end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
