//! Findings as Reviewdog's JSON.
//!
//! Columns count bytes of UTF-8 from 1. Source: reviewdog's `proto/rdf`, and the JSON schema that is made of it.

use serde::Serialize;

use super::json::pretty;
use super::prose::details;
use crate::diag::apply::best_fix;
use crate::diag::{Applicability, Diagnostic, Severity};
use crate::source::{Sources, Span};

#[derive(Serialize)]
struct Finding<'d> {
    message: String,
    location: Location<'d>,
    severity: &'d str,
    code: CodeName<'d>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion<'d>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Related<'d>>,
}

#[derive(Serialize)]
struct Location<'d> {
    path: &'d str,
    range: Range,
}

#[derive(Serialize)]
struct CodeName<'d> {
    value: &'d str,
}

#[derive(Serialize)]
struct Suggestion<'d> {
    range: Range,
    text: &'d str,
}

#[derive(Serialize)]
struct Related<'d> {
    message: &'d str,
    location: Location<'d>,
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
}

/// Returns what stands before the findings.
pub(super) fn begin() -> String {
    let url = env!("CARGO_PKG_REPOSITORY");
    format!(
        "{{\n  \"source\": {{\n    \"name\": \"statemark\",\n    \"url\": \"{url}\"\n  }},\n  \"diagnostics\": ["
    )
}

/// Renders an element of the list of findings.
pub(super) fn element(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let fix = best_fix(diagnostic, Applicability::Unsafe);
    // Several edits are several suggestions there, each of which may be taken alone.
    let edits = fix.map_or(&[][..], |fix| &fix.edits);
    let edits = if edits.len() == 1 { edits } else { &[] };
    let finding = Finding {
        message: details(diagnostic),
        location: location(diagnostic.primary.span, sources),
        severity: match diagnostic.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Info | Severity::Hint => "INFO",
        },
        code: CodeName {
            value: diagnostic.code.id(),
        },
        suggestions: edits
            .iter()
            .map(|edit| Suggestion {
                range: range(edit.span, sources),
                text: &edit.text,
            })
            .collect(),
        related_locations: diagnostic
            .related
            .iter()
            .map(|label| Related {
                message: &label.message,
                location: location(label.span, sources),
            })
            .collect(),
    };
    pretty(&finding, 2)
}

/// Returns what stands after the findings.
pub(super) fn end(is_empty: bool) -> String {
    let close = if is_empty { "]" } else { "\n  ]" };
    format!("{close}\n}}\n")
}

fn location(span: Span, sources: &Sources) -> Location<'_> {
    Location {
        path: sources.file(span.file).name(),
        range: range(span, sources),
    }
}

fn range(span: Span, sources: &Sources) -> Range {
    let file = sources.file(span.file);
    let place = |byte| {
        let at = file.position(byte);
        Place {
            line: at.line,
            column: at.byte_column + 1,
        }
    };
    Range {
        start: place(span.start),
        end: place(span.end),
    }
}
