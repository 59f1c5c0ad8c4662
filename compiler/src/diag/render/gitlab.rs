//! Findings as GitLab's code quality reports.
//!
//! Source: GitLab's documentation, *Code Quality*, "Code quality report format".

use serde::Serialize;

use super::json::pretty;
use super::root::Root;
use crate::diag::{Diagnostic, Severity};
use crate::source::Sources;

#[derive(Serialize)]
struct Violation<'d> {
    description: String,
    check_name: &'d str,
    fingerprint: String,
    severity: &'d str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    positions: Positions,
}

#[derive(Serialize)]
struct Positions {
    begin: Place,
    end: Place,
}

#[derive(Serialize)]
struct Place {
    line: u32,
    column: u32,
}

/// Renders an element of the report's list.
pub(super) fn element(
    diagnostic: &Diagnostic,
    sources: &Sources,
    root: &Root,
    fingerprint: String,
) -> String {
    let span = diagnostic.primary.span;
    let file = sources.file(span.file);
    let place = |byte| {
        let at = file.position(byte);
        Place {
            line: at.line,
            column: at.column,
        }
    };
    let violation = Violation {
        description: format!("{}: {}", diagnostic.code, diagnostic.message),
        check_name: diagnostic.code.name(),
        fingerprint,
        severity: match diagnostic.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Info => "minor",
            Severity::Hint => "info",
        },
        location: Location {
            path: root.relative(file.name()),
            positions: Positions {
                begin: place(span.start),
                end: place(span.end),
            },
        },
    };
    pretty(&violation, 1)
}
