//! Findings as one JSON object, for programs.
//!
//! ```json
//! {
//!   "version": 1,
//!   "diagnostics": [
//!     {
//!       "code": "SM201",
//!       "name": "unknown-state",
//!       "severity": "error",
//!       "message": "state `implementng` doesn't exist",
//!       "path": "SKILL.md",
//!       "range": {
//!         "start": { "line": 14, "column": 27, "utf16_column": 26, "byte": 310 },
//!         "end": { "line": 14, "column": 38, "utf16_column": 37, "byte": 321 }
//!       },
//!       "label": "",
//!       "related": [{ "path": "SKILL.md", "range": {}, "label": "declared here" }],
//!       "notes": [],
//!       "help": ["did you mean `implementing`?"],
//!       "fixes": [
//!         {
//!           "title": "write `implementing`",
//!           "applicability": "safe",
//!           "edits": [{ "path": "SKILL.md", "range": {}, "text": "implementing" }]
//!         }
//!       ]
//!     }
//!   ],
//!   "summary": { "errors": 1, "warnings": 0, "infos": 0, "hints": 0, "files": 1, "fixable": 1 }
//! }
//! ```
//!
//! - `severity` is `error`, `warning`, `info` or `hint`; `applicability` is `safe`, `unsafe` or `display-only`.
//! - `line` and `column` count from 1, columns in characters; `utf16_column` counts UTF-16 units from 0, as the Language
//!   Server Protocol does; `byte` is the offset in the file from 0. A byte order mark has bytes but no column.
//! - A range ends before its `end`. Ranges that say `{}` above have the same shape as the first.
//! - Every key is always present. `version` is incremented if one changes its meaning or is removed, not for new keys.

use serde::Serialize;

use super::Style;
use super::report::{ReportFormat, report};
use super::summary::Summary;
use crate::diag::{Applicability, Diagnostic};
use crate::source::{Sources, Span};

/// Renders findings as one indented JSON object, as the module describes it, with a line end.
#[must_use]
pub fn json(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    report(ReportFormat::Json, diagnostics, sources, &Style::default())
}

/// The text before the findings.
pub(super) const BEGIN: &str = "{\n  \"version\": 1,\n  \"diagnostics\": [";

/// Renders an element of the list of findings.
pub(super) fn element(diagnostic: &Diagnostic, sources: &Sources) -> String {
    pretty(&finding(diagnostic, sources), 2)
}

/// Renders a finding on a line of its own.
pub(super) fn line(diagnostic: &Diagnostic, sources: &Sources) -> String {
    // INVARIANT: a finding has no map with keys that aren't strings, so serializing it can't fail.
    let mut text = serde_json::to_string(&finding(diagnostic, sources)).unwrap_or_default();
    text.push('\n');
    text
}

/// Returns what stands after the findings.
pub(super) fn end(is_empty: bool, summary: &Summary) -> String {
    let close = if is_empty { "]" } else { "\n  ]" };
    let summary = pretty(summary, 1);
    format!("{close},\n  \"summary\": {}\n}}\n", summary.trim_start())
}

/// Renders a value as indented JSON that stands `depth` levels deep.
pub(super) fn pretty(value: &impl Serialize, depth: usize) -> String {
    // INVARIANT: no value of a report has a map with keys that aren't strings, so serializing it can't fail.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let indent = "  ".repeat(depth);
    // Line ends in strings are escaped, so that each line is one of the layout.
    let lines: Vec<String> = text.lines().map(|line| format!("{indent}{line}")).collect();
    lines.join("\n")
}

#[derive(Serialize)]
struct Finding<'d> {
    code: &'d str,
    name: &'d str,
    severity: &'d str,
    message: &'d str,
    path: &'d str,
    range: Range,
    label: &'d str,
    related: Vec<Related<'d>>,
    notes: &'d [String],
    help: &'d [String],
    fixes: Vec<Fix<'d>>,
}

#[derive(Serialize)]
struct Related<'d> {
    path: &'d str,
    range: Range,
    label: &'d str,
}

#[derive(Serialize)]
struct Fix<'d> {
    title: &'d str,
    applicability: &'d str,
    edits: Vec<Edit<'d>>,
}

#[derive(Serialize)]
struct Edit<'d> {
    path: &'d str,
    range: Range,
    text: &'d str,
}

#[derive(Serialize)]
struct Range {
    start: Place,
    end: Place,
}

#[derive(Serialize)]
struct Place {
    line: u32,
    column: u32,
    utf16_column: u32,
    byte: u32,
}

fn finding<'d>(diagnostic: &'d Diagnostic, sources: &'d Sources) -> Finding<'d> {
    let path = |span: Span| sources.file(span.file).name();
    Finding {
        code: diagnostic.code.id(),
        name: diagnostic.code.name(),
        severity: diagnostic.severity.name(),
        message: &diagnostic.message,
        path: path(diagnostic.primary.span),
        range: range(diagnostic.primary.span, sources),
        label: &diagnostic.primary.message,
        related: diagnostic
            .related
            .iter()
            .map(|label| Related {
                path: path(label.span),
                range: range(label.span, sources),
                label: &label.message,
            })
            .collect(),
        notes: &diagnostic.notes,
        help: &diagnostic.help,
        fixes: diagnostic
            .fixes
            .iter()
            .map(|fix| Fix {
                title: &fix.title,
                applicability: applicability(fix.applicability),
                edits: fix
                    .edits
                    .iter()
                    .map(|edit| Edit {
                        path: path(edit.span),
                        range: range(edit.span, sources),
                        text: &edit.text,
                    })
                    .collect(),
            })
            .collect(),
    }
}

fn range(span: Span, sources: &Sources) -> Range {
    let file = sources.file(span.file);
    let place = |byte| {
        let at = file.position(byte);
        Place {
            line: at.line,
            column: at.column,
            utf16_column: at.utf16_column,
            byte,
        }
    };
    Range {
        start: place(span.start),
        end: place(span.end),
    }
}

const fn applicability(applicability: Applicability) -> &'static str {
    match applicability {
        Applicability::Safe => "safe",
        Applicability::Unsafe => "unsafe",
        Applicability::DisplayOnly => "display-only",
    }
}
