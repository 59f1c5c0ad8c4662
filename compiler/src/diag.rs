//! Diagnostics for the author of a spec.
//!
//! One [`Diagnostic`] feeds every front end. Stages never stop at the first one: they push it onto [`Diags`] and continue
//! with their best guess. [`codes`] is the only list of codes; each code is named in the one file that reports it, and has
//! a page (`pages/SM….md`) and a corpus folder.

pub mod apply;
pub mod codes;
mod findings;
pub mod render;
mod select;

pub(crate) use codes::InDrawings;
pub use codes::{Code, Severity};
pub use findings::Diags;
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
