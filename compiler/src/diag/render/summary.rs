//! Counts of findings, and the line that shows them.

use std::collections::BTreeSet;

use statemark_text::list::join;

use super::ink::{Ink, Style};
use crate::diag::{Applicability, Diagnostic, Severity};

/// Counts of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Summary {
    /// Findings that are errors.
    pub errors: usize,
    /// Findings that are warnings.
    pub warnings: usize,
    /// Findings that are infos.
    pub infos: usize,
    /// Findings that are hints.
    pub hints: usize,
    /// Files with a finding.
    pub files: usize,
    /// Findings with a fix that can be applied.
    pub fixable: usize,
}

impl Summary {
    /// Returns the counts of findings of other files together with these.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            errors: self.errors + other.errors,
            warnings: self.warnings + other.warnings,
            infos: self.infos + other.infos,
            hints: self.hints + other.hints,
            files: self.files + other.files,
            fixable: self.fixable + other.fixable,
        }
    }

    /// Returns the number of findings.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.errors + self.warnings + self.infos + self.hints
    }

    /// Counts findings.
    #[must_use]
    pub fn new(diagnostics: &[Diagnostic]) -> Self {
        let count = |severity| {
            diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.severity == severity)
                .count()
        };
        let files: BTreeSet<_> = diagnostics
            .iter()
            .map(|diagnostic| diagnostic.primary.span.file)
            .collect();
        Self {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            infos: count(Severity::Info),
            hints: count(Severity::Hint),
            files: files.len(),
            fixable: diagnostics.iter().filter(|found| is_fixable(found)).count(),
        }
    }
}

fn is_fixable(diagnostic: &Diagnostic) -> bool {
    diagnostic
        .fixes
        .iter()
        .any(|fix| fix.applicability != Applicability::DisplayOnly)
}

/// Renders the summary: `found 3 errors and 1 warning in 2 files; 2 come with a fix`.
///
/// It is empty if there are no findings.
#[must_use]
pub fn footer(diagnostics: &[Diagnostic], style: &Style) -> String {
    summary_line(&Summary::new(diagnostics), style)
}

/// Renders counts of findings, as [`footer`] does.
#[must_use]
pub fn summary_line(summary: &Summary, style: &Style) -> String {
    let kinds = [
        (Severity::Error, summary.errors, "error"),
        (Severity::Warning, summary.warnings, "warning"),
        (Severity::Info, summary.infos, "fact"),
        (Severity::Hint, summary.hints, "hint"),
    ];
    let parts: Vec<String> = kinds
        .iter()
        .filter(|(_, count, _)| *count > 0)
        .map(|&(severity, count, word)| {
            style.paint(Ink::Severity(severity), &count_of(count, word))
        })
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    let fixes = match (summary.fixable, summary.total()) {
        (0, _) => String::new(),
        (1, 1) => "; it comes with a fix".to_owned(),
        (1, _) => "; 1 comes with a fix".to_owned(),
        (count, _) => format!("; {count} come with a fix"),
    };
    let files = count_of(summary.files, "file");
    format!("found {} in {files}{fixes}\n", join(&parts, "and"))
}

/// Formats a count: `1 file`, `2 files`.
fn count_of(count: usize, word: &str) -> String {
    if count == 1 {
        format!("1 {word}")
    } else {
        format!("{count} {word}s")
    }
}
