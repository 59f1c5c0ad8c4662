//! Fixes, applied to a spec until nothing is left to apply.
//!
//! [`fix_text`] compiles, applies the fixes that don't touch each other, and compiles again. A fix that doesn't keep its
//! promise is taken back and named, so that no spec is worse afterwards: one that compiled still does, every machine is still
//! found, and where only safe fixes are applied, each machine does what it did.

use std::collections::BTreeSet;

use crate::diag::apply::{apply_fixes, best_fix};
use crate::diag::{Applicability, Code, Diagnostic, Severity};
use crate::meaning::changed_rows;
use crate::pipeline::{Compiled, Options, compile};
use crate::source::Sources;

/// Most passes over a text.
///
/// Unit: compilations. Why: a fix may uncover another finding, but no text that a person wrote has a chain of so many.
const MAX_PASSES: usize = 100;

/// A spec after its fixes.
#[derive(Clone, Debug)]
pub struct FixedText {
    /// The text, the only one.
    pub sources: Sources,
    /// The compiled text, with the findings that are left.
    pub compiled: Compiled,
    /// The codes of the findings that were fixed, in the order of fixing.
    pub fixed: Vec<Code>,
    /// The codes of the findings whose fixes were taken back: they would have broken the spec.
    pub refused: Vec<Code>,
}

impl FixedText {
    /// Compiles a text, without a fix so far.
    fn new(name: &str, text: &str, options: &Options) -> Self {
        let mut sources = Sources::new();
        sources.add(name, text);
        Self {
            compiled: compile(&sources, options),
            sources,
            fixed: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.sources
            .iter()
            .next()
            .map_or("", |(_, file)| file.text())
    }

    fn has_errors(&self) -> bool {
        let mut findings = self.compiled.diagnostics.iter();
        findings.any(|found| found.severity == Severity::Error)
    }

    /// Returns the next text by the fixes of some findings, compiled, with the codes of these findings.
    fn apply(
        &self,
        findings: &[Diagnostic],
        options: &Options,
        least: Applicability,
        wants: impl Fn(&Diagnostic) -> bool,
    ) -> Option<Self> {
        let (id, file) = self.sources.iter().next()?;
        let fixed = apply_fixes(id, file.text(), findings, least, wants)?;
        let mut next = Self::new(file.name(), &fixed.text, options);
        next.fixed = fixed.codes;
        Some(next)
    }

    /// Reports whether a text that follows this one keeps what its fixes promise.
    fn is_kept_by(&self, next: &Self, least: Applicability) -> bool {
        if next.compiled.found < self.compiled.found {
            return false;
        }
        // What has errors is no machine yet.
        if self.has_errors() {
            return true;
        }
        let promises_meaning = least == Applicability::Safe;
        !next.has_errors()
            && (!promises_meaning || changed_rows(&self.compiled, &next.compiled).is_empty())
    }
}

/// Applies every fix of a text that is trusted at least as much as `least`, pass by pass.
///
/// `wants` chooses among the findings.
///
/// ```
/// use statemark_compiler::diag::Applicability;
/// use statemark_compiler::{Options, fix_text};
///
/// let text = "stateDiagram-v2\n[*] -> open\nopen --> [*] : close\n";
/// let fixed = fix_text("door.mmd", text, &Options::default(), Applicability::Safe, |_| true);
/// assert_eq!(fixed.text(), "stateDiagram-v2\n[*] --> open\nopen --> [*] : close\n");
/// assert_eq!(fixed.fixed.len(), 1);
/// ```
#[must_use]
pub fn fix_text(
    name: &str,
    text: &str,
    options: &Options,
    least: Applicability,
    wants: impl Fn(&Diagnostic) -> bool,
) -> FixedText {
    let mut now = FixedText::new(name, text, options);
    let mut seen: BTreeSet<String> = BTreeSet::new();
    seen.insert(text.to_owned());
    // Two findings with the same words have the same fix.
    let mut refused: BTreeSet<(Code, String)> = BTreeSet::new();
    for _ in 0..MAX_PASSES {
        let is_wanted = |found: &Diagnostic| {
            wants(found) && !refused.contains(&(found.code, found.message.clone()))
        };
        let findings = &now.compiled.diagnostics;
        let Some(next) = now.apply(findings, options, least, is_wanted) else {
            break;
        };
        let is_new = !seen.contains(next.text());
        if is_new && now.is_kept_by(&next, least) {
            seen.insert(next.text().to_owned());
            now = continued(now, next);
            continue;
        }
        // Fixes that are right alone may be wrong together, so the first of them is tried alone.
        let mut candidates = findings.iter();
        let Some(first) = candidates.find(|it| is_wanted(it) && best_fix(it, least).is_some())
        else {
            break;
        };
        let key = (first.code, first.message.clone());
        let alone = now.apply(std::slice::from_ref(first), options, least, |_| true);
        match alone.filter(|next| !seen.contains(next.text()) && now.is_kept_by(next, least)) {
            Some(next) => {
                seen.insert(next.text().to_owned());
                now = continued(now, next);
            }
            None => {
                now.refused.push(key.0);
                refused.insert(key);
            }
        }
    }
    now
}

/// Returns the next text with what was done before it.
fn continued(before: FixedText, next: FixedText) -> FixedText {
    let mut fixed = before.fixed;
    fixed.extend(next.fixed);
    FixedText {
        fixed,
        refused: before.refused,
        ..next
    }
}
