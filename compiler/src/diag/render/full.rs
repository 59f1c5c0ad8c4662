//! Findings with the lines that they are about.

use codespan_reporting::diagnostic as rendered;
use codespan_reporting::term::{self, Config};

use super::Style;
use super::concise::place;
use super::excerpt::{Excerpts, FIRST_LINES, LAST_LINES};
use super::fix;
use super::ink::{Canvas, Ink};
use super::visible::{visible, visible_lines};
use crate::diag::{Diagnostic, Severity};
use crate::source::Sources;

/// Renders findings for people: message, the lines concerned with their labels, notes, help, and each fix as the lines
/// that it changes. A blank line parts two findings.
///
/// A hint is shorter: its place, without the line, and its fixes without theirs.
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
            Severity::Hint => short_body(diagnostic, sources, *style),
            _ => body(diagnostic, sources, *style),
        });
    }
    text
}

/// `error[SM201]: state …`
fn header(diagnostic: &Diagnostic, style: Style) -> String {
    let word = format!("{}[{}]", diagnostic.severity.name(), diagnostic.code);
    let message = format!(": {}", visible(&diagnostic.message));
    format!(
        "{}{}\n",
        style.paint(Ink::Severity(diagnostic.severity), &word),
        style.paint(Ink::Bold, &message)
    )
}

/// The place, notes, help and the titles of the fixes.
fn short_body(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let corner = style.paint(Ink::Frame, "┌─");
    let bullet = style.paint(Ink::Frame, "=");
    let mut text = format!("  {corner} {}\n", place(diagnostic, sources));
    let related = diagnostic.related.iter().map(|label| {
        let file = sources.file(label.span.file);
        let at = file.position(label.span.start);
        let name = visible(file.name());
        let message = visible(&label.message);
        format!("{message}: {name}:{}:{}", at.line, at.column)
    });
    let fixes = diagnostic
        .fixes
        .iter()
        .map(|fix| format!("fix: {}", visible(&fix.title)));
    for note in related.chain(remarks(diagnostic)).chain(fixes) {
        for (index, line) in note.lines().enumerate() {
            let lead = if index == 0 { bullet.as_str() } else { " " };
            text.push_str(&format!("  {lead} {line}\n"));
        }
    }
    text
}

/// The lines concerned with their labels, then notes, help and fixes.
fn body(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let (excerpts, labels) = Excerpts::of(diagnostic, sources);
    let notes = remarks(diagnostic).chain(
        diagnostic
            .fixes
            .iter()
            .map(|fix| fix::lines(fix, diagnostic.primary.span.file, sources, style)),
    );
    let gravity = match diagnostic.severity {
        Severity::Error => rendered::Severity::Error,
        Severity::Warning => rendered::Severity::Warning,
        Severity::Info => rendered::Severity::Note,
        Severity::Hint => rendered::Severity::Help,
    };
    let shown = rendered::Diagnostic::new(gravity)
        .with_labels(labels)
        .with_notes_iter(notes);
    let config = Config {
        start_context_lines: FIRST_LINES,
        end_context_lines: LAST_LINES,
        ..Config::default()
    };
    let mut canvas = Canvas::new(style);
    if term::emit_to_write_style(&mut canvas, &config, &excerpts, &shown).is_err() {
        return short_body(diagnostic, sources, style);
    }
    let text = canvas.into_text();
    // The renderer's first line is its own header, which knows no hint; its last one is blank.
    let body = text.split_once('\n').map_or("", |(_, body)| body);
    let lines: Vec<&str> = body.lines().map(str::trim_end).collect();
    format!("{}\n", lines.join("\n").trim_end_matches('\n'))
}

/// The notes and the help, each with its word in front.
fn remarks(diagnostic: &Diagnostic) -> impl Iterator<Item = String> {
    let notes = diagnostic.notes.iter().map(|note| ("note", note));
    let help = diagnostic.help.iter().map(|help| ("help", help));
    notes
        .chain(help)
        .map(|(word, text)| format!("{word}: {}", visible_lines(text)))
}
