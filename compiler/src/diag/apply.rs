//! Fixes, applied to a text.
//!
//! [`apply_fixes`] is one pass: the fixes of a text that don't get into each other's way. A front end compiles the new text
//! and makes the next pass, until nothing is left to apply.
//!
//! Deliberately not here: reading, compiling and writing; and whether a fix did what it promised, which only another
//! compilation shows.

use std::collections::BTreeMap;

use super::{Applicability, Code, Diagnostic, Edit, Fix};
use crate::source::FileId;

/// A text after one pass of fixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The new text.
    pub text: String,
    /// The codes of the findings whose fixes were applied, in the order of the findings.
    pub codes: Vec<Code>,
}

/// Applies the fixes of findings to the text of a file.
///
/// A finding gives at most one: the first of those that are trusted most, if they are trusted at least as much as `least`.
/// A fix that touches one of an earlier finding waits for the next pass, and so does one that edits other files.
/// `wants` chooses among findings. Returns none if nothing was applied.
#[must_use]
pub fn apply_fixes(
    file: FileId,
    text: &str,
    diagnostics: &[Diagnostic],
    least: Applicability,
    wants: impl Fn(&Diagnostic) -> bool,
) -> Option<Fixed> {
    let mut taken: BTreeMap<(u32, u32), &Edit> = BTreeMap::new();
    let mut codes = Vec::new();
    for diagnostic in diagnostics.iter().filter(|found| wants(found)) {
        let Some(fix) = best_fix(diagnostic, least) else {
            continue;
        };
        let is_free = |edit: &Edit| {
            let before = taken.range(..=(edit.span.end, u32::MAX)).rev();
            // They are disjoint, so that only the nearest ones can touch it.
            edit.span.file == file
                && text.get(edit.span.range()).is_some()
                && !before.take(3).any(|(_, other)| touches(edit, other))
        };
        if fix.edits.is_empty() || !fix.edits.iter().all(is_free) {
            continue;
        }
        let edits = fix.edits.iter();
        taken.extend(edits.map(|edit| ((edit.span.start, edit.span.end), edit)));
        codes.push(diagnostic.code);
    }
    let new = write_edits(text, taken.values().copied());
    (new != text).then_some(Fixed { text: new, codes })
}

/// Returns the fix of a finding that is trusted most, and at least as much as `least`.
#[must_use]
pub fn best_fix(diagnostic: &Diagnostic, least: Applicability) -> Option<&Fix> {
    let trusted = diagnostic.fixes.iter().rev();
    let trusted = trusted.filter(|fix| fix.applicability >= least.max(Applicability::Unsafe));
    trusted.max_by_key(|fix| fix.applicability)
}

/// Reports whether two edits overlap, or whether their order would matter.
fn touches(one: &Edit, other: &Edit) -> bool {
    let (one, other) = (one.span, other.span);
    if one.start == one.end || other.start == other.end {
        one.start <= other.end && other.start <= one.end
    } else {
        one.start < other.end && other.start < one.end
    }
}

/// Returns a text with edits, which are ascending and disjoint.
pub(crate) fn write_edits<'e>(text: &str, edits: impl Iterator<Item = &'e Edit>) -> String {
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        let span = edit.span.range();
        new.push_str(text.get(at..span.start.max(at)).unwrap_or_default());
        new.push_str(&edit.text);
        at = span.end.max(at);
    }
    new.push_str(text.get(at..).unwrap_or_default());
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Sources, Span};

    const TEXT: &str = "one two three";

    /// A fix: the trust in it, and its edits, each with where it starts and ends.
    type Given<'e> = (Applicability, &'e [(u32, u32, &'e str)]);

    /// Applies the fixes of findings, each given by its edits, to [`TEXT`].
    fn apply(fixes: &[Given<'_>], least: Applicability) -> String {
        let mut sources = Sources::new();
        let file = sources.add("a.md", TEXT);
        let span = |start, end| Span { file, start, end };
        let findings: Vec<Diagnostic> = fixes
            .iter()
            .map(|(applicability, edits)| {
                let edits = edits.iter().map(|(start, end, text)| Edit {
                    span: span(*start, *end),
                    text: (*text).to_owned(),
                });
                let found = Diagnostic::new(Code::SyntaxError, span(0, 0), "m");
                found.fix_all(*applicability, "f", edits.collect())
            })
            .collect();
        let fixed = apply_fixes(file, TEXT, &findings, least, |_| true);
        fixed.map_or_else(|| "nothing".to_owned(), |fixed| fixed.text)
    }

    #[test]
    fn fixes_that_dont_touch_are_applied_together() {
        use Applicability::{DisplayOnly, Safe, Unsafe};
        let cases: [(&[Given<'_>], _, _); 9] = [
            (
                &[(Safe, &[(0, 3, "1")]), (Safe, &[(4, 7, "2")])],
                Safe,
                "1 2 three",
            ),
            // The later place first.
            (
                &[(Safe, &[(4, 7, "2")]), (Safe, &[(0, 3, "1")])],
                Safe,
                "1 2 three",
            ),
            // What overlaps waits, all of it.
            (
                &[(Safe, &[(0, 5, "1")]), (Safe, &[(4, 7, "2"), (8, 13, "3")])],
                Safe,
                "1wo three",
            ),
            // Neighbors are no conflict; an insertion between them would be.
            (
                &[(Safe, &[(0, 3, "1")]), (Safe, &[(3, 7, "2")])],
                Safe,
                "12 three",
            ),
            (
                &[(Safe, &[(0, 3, "1")]), (Safe, &[(3, 3, "x")])],
                Safe,
                "1 two three",
            ),
            (
                &[(Safe, &[(3, 3, "x")]), (Safe, &[(3, 3, "x")])],
                Safe,
                "onex two three",
            ),
            // Trust.
            (
                &[(Unsafe, &[(0, 3, "1")]), (Safe, &[(4, 7, "2")])],
                Safe,
                "one 2 three",
            ),
            (
                &[(Unsafe, &[(0, 3, "1")]), (DisplayOnly, &[(4, 7, "2")])],
                DisplayOnly,
                "1 two three",
            ),
            // Past the end.
            (&[(Safe, &[(12, 20, "1")])], Safe, "nothing"),
        ];
        for (fixes, least, expected) in cases {
            assert_eq!(apply(fixes, least), expected, "{fixes:?}");
        }
    }

    #[test]
    fn of_several_fixes_the_first_of_the_most_trusted_counts() {
        let mut sources = Sources::new();
        let file = sources.add("a.md", TEXT);
        let span = Span {
            file,
            start: 0,
            end: 3,
        };
        let found = Diagnostic::new(Code::SyntaxError, span, "m")
            .unsafe_fix("a", span, "a")
            .safe_fix("b", span, "b")
            .safe_fix("c", span, "c");
        let title = |least| best_fix(&found, least).map(|fix| fix.title.as_str());
        assert_eq!(title(Applicability::Unsafe), Some("b"));
        assert_eq!(title(Applicability::Safe), Some("b"));
    }
}
