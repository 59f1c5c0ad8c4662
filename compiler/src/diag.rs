//! Diagnostics for the author of a spec.
//!
//! One [`Diagnostic`] feeds every front end. Stages never stop at the first one: they push it onto [`Diags`] and continue
//! with their best guess. [`codes`] is the only list of codes; each code is named in the one file that reports it, and has
//! a page (`pages/SM….md`) and a corpus folder.

pub mod apply;
pub mod codes;
pub mod render;
mod select;

use std::collections::BTreeSet;

pub(crate) use codes::InDrawings;
pub use codes::{Code, Severity};
pub(crate) use select::Allowance;
pub use select::Selector;
use statemark_text::list::join;
pub(crate) use statemark_text::suggest::distance;
pub use statemark_text::suggest::nearest;

use crate::source::Span;

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of finding.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// The defect: lowercase, no full stop, the author's words in backticks.
    pub message: String,
    /// The span in question.
    pub primary: Label,
    /// Other relevant spans, in reading order.
    pub related: Vec<Label>,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// Ways to fix it by hand.
    pub help: Vec<String>,
    /// Edits that fix it.
    pub fixes: Vec<Fix>,
    /// True if an earlier mistake would explain it, and would be reported in its place.
    pub(crate) may_follow: bool,
    /// True if it matters only where something runs, although others of its code matter in drawings, too.
    pub(crate) of_machine: bool,
    /// The text that was misread with the mistake, where that is more than the primary span.
    pub(crate) misread: Option<Span>,
    /// The ids of states that lack what the misread text was meant to say of them.
    pub(crate) doubted: Vec<String>,
}

/// A span and its part in the finding; the text may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// Its part in the finding.
    pub message: String,
}

/// A change of the text that fixes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The change in the imperative: ``write `[retries < 3]` ``.
    pub title: String,
    /// The degree of trust in it.
    pub applicability: Applicability,
    /// The edits, ascending and disjoint.
    pub edits: Vec<Edit>,
}

/// A replacement of a span by a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced span; empty for an insertion.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// The degree of trust in a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// Is only shown: it has gaps that a person must fill.
    DisplayOnly,
    /// May change what the machine accepts.
    Unsafe,
    /// Leaves what the machine accepts as it is.
    Safe,
}

impl Diagnostic {
    /// Creates a finding with the code's default severity.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            primary: Label {
                span,
                message: String::new(),
            },
            related: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            fixes: Vec::new(),
            may_follow: false,
            of_machine: false,
            misread: None,
            doubted: Vec::new(),
        }
    }

    /// Sets another severity than the code's own.
    #[must_use]
    pub const fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Sets the text that was misread, about which nothing more is reported.
    #[must_use]
    pub(crate) const fn misreads(mut self, text: Span) -> Self {
        self.misread = Some(text);
        self
    }

    /// Marks states of which the misread text was meant to say more than is read.
    #[must_use]
    pub(crate) fn doubts<'i>(mut self, ids: impl IntoIterator<Item = &'i str>) -> Self {
        self.doubted.extend(ids.into_iter().map(str::to_owned));
        self
    }

    /// Returns the text about which nothing more is worth reporting.
    fn extent(&self) -> Span {
        self.misread.unwrap_or(self.primary.span)
    }

    /// Marks a finding that is left out where an earlier mistake explains it.
    #[must_use]
    pub(crate) const fn may_follow(mut self) -> Self {
        self.may_follow = true;
        self
    }

    /// Marks a finding that says nothing about a drawing.
    #[must_use]
    pub(crate) const fn of_machine(mut self, of_machine: bool) -> Self {
        self.of_machine = of_machine;
        self
    }

    /// Sets the label of the primary span.
    #[must_use]
    pub fn label(mut self, message: impl Into<String>) -> Self {
        self.primary.message = message.into();
        self
    }

    /// Adds another span.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a way to fix it by hand.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds the name that was meant, with an unsafe fix that writes it between `quote`.
    #[must_use]
    pub(crate) fn did_you_mean(self, name: &str, span: Span, quote: &str) -> Self {
        let title = format!("write `{name}`");
        let text = format!("{quote}{name}{quote}");
        let help = format!("did you mean `{name}`?");
        self.help(help).unsafe_fix(title, span, text)
    }

    /// Reports whether its misread text explains what seems wrong with a state.
    ///
    /// `span` is the state's first mention.
    fn is_cause(&self, id: &str, span: Span) -> bool {
        self.severity >= Severity::Warning
            && self.code.is_about_text()
            && (self.extent().contains(span) || self.doubted.iter().any(|it| it == id))
    }

    /// Adds a fix of one edit that leaves what the machine accepts as it is.
    #[must_use]
    pub fn safe_fix(self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix(Applicability::Safe, title, span, text)
    }

    /// Adds a fix of one edit that may change what the machine accepts.
    #[must_use]
    pub fn unsafe_fix(self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix(Applicability::Unsafe, title, span, text)
    }

    /// Adds a fix of one edit.
    #[must_use]
    pub fn fix(
        self,
        applicability: Applicability,
        title: impl Into<String>,
        span: Span,
        text: impl Into<String>,
    ) -> Self {
        let text = text.into();
        self.fix_all(applicability, title, vec![Edit { span, text }])
    }

    /// Adds a fix of several edits, or its title as help where there is none.
    #[must_use]
    pub(crate) fn fix_or_help(
        self,
        applicability: Applicability,
        title: &str,
        edits: Option<Vec<Edit>>,
    ) -> Self {
        match edits {
            Some(edits) => self.fix_all(applicability, title, edits),
            None => self.help(title),
        }
    }

    /// Adds a fix of several edits.
    #[must_use]
    pub fn fix_all(
        mut self,
        applicability: Applicability,
        title: impl Into<String>,
        edits: Vec<Edit>,
    ) -> Self {
        self.fixes.push(Fix {
            title: title.into(),
            applicability,
            edits,
        });
        self
    }
}

/// The findings of a compilation so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diags {
    list: Vec<Diagnostic>,
    /// The findings that won't be reported, so that what follows from them is.
    allowed: Vec<Allowance>,
    unwanted: BTreeSet<Code>,
}

impl Diags {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says which findings won't be reported, so that what follows from them is.
    pub(crate) fn allow(&mut self, allowed: Vec<Allowance>, unwanted: BTreeSet<Code>) {
        self.allowed = allowed;
        self.unwanted = unwanted;
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds all findings of another list.
    pub fn append(&mut self, mut other: Self) {
        self.list.append(&mut other.list);
    }

    /// Removes the findings in a span that follow from another mistake, and returns whether there were any.
    pub(crate) fn remove_followers(&mut self, span: Span) -> bool {
        let before = self.list.len();
        self.list
            .retain(|it| !(it.may_follow && span.contains(it.primary.span)));
        self.list.len() < before
    }

    /// Makes the findings about a span explain what is wrong with more of the text.
    pub(crate) fn widen(&mut self, primary: Span, misread: Span) {
        let mut list = self.list.iter_mut();
        let found = list.find(|it| it.primary.span == primary);
        found.into_iter().for_each(|it| it.misread = Some(misread));
    }

    /// Takes out the finding about a misread text that holds a place.
    pub(crate) fn take_misreading(&mut self, place: Span) -> Option<Diagnostic> {
        let holds = |it: &Diagnostic| it.misread.is_some_and(|text| text.contains(place));
        let at = self.list.iter().position(holds)?;
        Some(self.list.remove(at))
    }

    /// Removes a finding.
    pub(crate) fn remove(&mut self, finding: &Diagnostic) {
        self.list.retain(|it| it != finding);
    }

    /// Returns the findings, to add to them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Diagnostic> {
        self.list.iter_mut()
    }

    /// Reports whether a warning or an error is about a span that contains this one.
    ///
    /// If so, a consequence needn't be reported.
    #[must_use]
    pub fn covers(&self, span: Span) -> bool {
        let mut found = self.list.iter();
        found.any(|finding| {
            let is_about = finding.severity >= Severity::Warning && finding.extent().contains(span);
            is_about && self.is_reported(finding)
        })
    }

    /// Reports whether a finding will be seen.
    fn is_reported(&self, found: &Diagnostic) -> bool {
        let is_unwanted = found.severity < Severity::Error && self.unwanted.contains(&found.code);
        !is_unwanted && !self.allowed.iter().any(|it| it.allows(found))
    }

    /// Returns the index of the finding about a misread text that explains what seems wrong with a state.
    fn cause_of(&self, id: &str, span: Span) -> Option<usize> {
        let mut found = self.list.iter();
        found.position(|it| it.is_cause(id, span) && self.is_reported(it))
    }

    /// Reports whether something that was found explains what seems wrong with a state.
    ///
    /// `span` is the state's first mention.
    #[must_use]
    pub(crate) fn explains(&self, id: &str, span: Span) -> bool {
        self.covers(span) || self.is_misread(id, span)
    }

    /// Reports whether a state that is first named at a span was hardly meant as it is read.
    #[must_use]
    pub(crate) fn is_misread(&self, id: &str, span: Span) -> bool {
        self.cause_of(id, span).is_some()
    }

    /// Makes the misread text that explains a state an error, and returns whether there is one.
    ///
    /// That is for a consequence that is an error: no machine is made, and the cause has to say so.
    pub(crate) fn blame(&mut self, id: &str, span: Span) -> bool {
        let cause = self.cause_of(id, span);
        let cause = cause.and_then(|at| self.list.get_mut(at));
        let is_found = cause.is_some();
        cause
            .into_iter()
            .for_each(|it| it.severity = Severity::Error);
        is_found
    }

    /// Reports whether a misread text overlaps a span.
    #[must_use]
    pub(crate) fn misreads(&self, span: Span) -> bool {
        let mut texts = self.list.iter().filter_map(|it| it.misread);
        texts.any(|text| text.file == span.file && text.start < span.end && span.start < text.end)
    }

    /// Reports whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.list
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Returns the findings in reading order: by file, position and code, without duplicates.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by(|a, b| {
            let key = |d: &Diagnostic| (d.primary.span.file, d.primary.span.start, d.code);
            key(a).cmp(&key(b))
        });
        let mut seen = BTreeSet::new();
        self.list
            .retain(|d| seen.insert((d.primary.span, d.code, d.message.clone())));
        self.list
    }
}

/// Formats names for a message: `` `a` ``, `` `a` and `b` ``, `` `a`, `b` and 3 more ``.
pub(crate) fn quoted_list(names: &[&str]) -> String {
    /// Most names in one message; more would hide its point.
    const MOST: usize = 4;
    let shown = if names.len() > MOST {
        MOST - 1
    } else {
        names.len()
    };
    let mut parts: Vec<String> = names
        .iter()
        .take(shown)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > shown {
        parts.push(format!("{} more", names.len() - shown));
    }
    join(&parts, "and")
}

/// Reports that a machine exceeds a limit of tables; `what` says which: `more than 4,096 events`.
pub(crate) fn machine_too_large(what: &str, span: Span) -> Diagnostic {
    too_large(what, span).help("split it into machines that start each other")
}

/// Reports that a part of a machine exceeds a limit of tables; `help` says how to make it smaller.
pub(crate) fn part_too_large(what: &str, span: Span, help: &str) -> Diagnostic {
    too_large(what, span).help(help)
}

/// The help for an expression or guard that a table can't hold.
pub(crate) const SMALLER_EXPRESSION: &str =
    "keep a part of the answer in a field of the context, which an action assigns before";

fn too_large(what: &str, span: Span) -> Diagnostic {
    let message = format!("this machine has {what}");
    Diagnostic::new(Code::MachineTooLarge, span, message).label("too large for a table")
}
