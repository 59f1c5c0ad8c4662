//! Findings with the source lines in question.

use codespan_reporting::diagnostic as rendered;
use codespan_reporting::term::{self, Config};

use super::concise::location;
use super::excerpt::{Excerpts, FIRST_LINES, LAST_LINES};
use super::fix;
use super::ink::{Canvas, Ink, Style};
use super::visible::{visible, visible_lines};
use crate::diag::{Diagnostic, Severity};
use crate::source::Sources;

/// Renders findings for people.
///
/// Each has its message, the source lines with their labels, notes, help, and each fix as the lines that it changes. A
/// blank line separates two findings. A hint is shorter: only its source line, and the titles of its fixes.
///
/// ```text
/// error[SM201]: state `implementng` doesn't exist
///    ┌─ SKILL.md:14:18
///    │
/// 14 │     planning --> implementng : ready
///    │                  ^^^^^^^^^^^
///    │
///    = help: did you mean `implementing`?
///    = fix: write `implementing`
///      - planning --> implementng : ready
///      + planning --> implementing : ready
/// ```
#[must_use]
pub fn full(diagnostics: &[Diagnostic], sources: &Sources, style: &Style) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&header(diagnostic, *style));
        text.push_str(&match diagnostic.severity {
            Severity::Hint => hint_body(diagnostic, sources, *style),
            _ => body(diagnostic, sources, *style),
        });
    }
    text
}

/// Renders `error[SM201]: state …`.
fn header(diagnostic: &Diagnostic, style: Style) -> String {
    let word = format!("{}[{}]", diagnostic.severity.name(), diagnostic.code);
    let message = format!(": {}", visible(&diagnostic.message));
    format!(
        "{}{}\n",
        style.paint(Ink::Severity(diagnostic.severity), &word),
        style.paint(Ink::Bold, &message)
    )
}

/// Renders the source lines with their labels, then notes, help and fixes.
fn body(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let home = diagnostic.primary.span.file;
    let fixes = diagnostic.fixes.iter();
    let fixes = fixes.map(|fix| fix::lines(fix, home, sources, style));
    let lines = snippet(diagnostic, remarks(diagnostic).chain(fixes), sources, style);
    format!("{}\n", lines.join("\n"))
}

/// Renders like [`body`], without the lines that the fixes change and without the frame's blank lines.
fn hint_body(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let fixes = diagnostic.fixes.iter();
    let fixes = fixes.map(|fix| format!("fix: {}", visible(&fix.title)));
    let mut lines = snippet(diagnostic, remarks(diagnostic).chain(fixes), sources, style);
    let border = style.paint(Ink::Frame, "│");
    lines.retain(|line| line.trim_start() != border);
    format!("{}\n", lines.join("\n"))
}

/// Renders the source lines with their labels, and remarks below them.
fn snippet(
    diagnostic: &Diagnostic,
    remarks: impl Iterator<Item = String>,
    sources: &Sources,
    style: Style,
) -> Vec<String> {
    let (excerpts, labels) = Excerpts::new(diagnostic, sources);
    let severity = match diagnostic.severity {
        Severity::Error => rendered::Severity::Error,
        Severity::Warning => rendered::Severity::Warning,
        Severity::Info => rendered::Severity::Note,
        Severity::Hint => rendered::Severity::Help,
    };
    let finding = rendered::Diagnostic::new(severity)
        .with_labels(labels)
        .with_notes_iter(remarks);
    let config = Config {
        start_context_lines: FIRST_LINES,
        end_context_lines: LAST_LINES,
        ..Config::default()
    };
    let mut canvas = Canvas::new(style);
    // INVARIANT: the excerpts have every line of the labels, and writing to a canvas can't fail.
    if term::emit_to_write_style(&mut canvas, &config, &excerpts, &finding).is_err() {
        return vec![format!("  {}", location(diagnostic, sources))];
    }
    let text = canvas.into_text();
    // The renderer's first line is its own header, which has no hints; its last one is blank.
    let lines = text.lines().skip(1).map(|line| line.trim_end().to_owned());
    let mut lines: Vec<String> = lines.collect();
    while lines.pop_if(|line| line.is_empty()).is_some() {}
    lines
}

/// Returns the notes and the help, each after its word.
fn remarks(diagnostic: &Diagnostic) -> impl Iterator<Item = String> {
    let notes = diagnostic.notes.iter().map(|note| ("note", note));
    let help = diagnostic.help.iter().map(|help| ("help", help));
    notes
        .chain(help)
        .map(|(word, text)| format!("{word}: {}", visible_lines(text)))
}
