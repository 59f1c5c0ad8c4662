//! Diagnostics: what the compiler says to the author of a spec.
//!
//! One [`Diagnostic`] feeds every face. Stages never stop at the first one: they push it onto [`Diags`] and go on with
//! their best guess. [`codes`] is the only list of codes; each code has one file that makes its message, one page
//! (`pages/SM….md`), and one corpus folder.

pub mod codes;
pub mod render;

use std::collections::BTreeSet;

pub use codes::{Code, Severity};
pub(crate) use statemark_text::suggest::distance;
pub use statemark_text::suggest::nearest;

use crate::source::Span;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of finding it is.
    pub code: Code,
    /// How grave it is.
    pub severity: Severity,
    /// What is wrong: lowercase, no full stop, the author's words in backticks.
    pub message: String,
    /// The place that it is about.
    pub primary: Label,
    /// Other places that matter, in the order of reading.
    pub related: Vec<Label>,
    /// Facts behind it.
    pub notes: Vec<String>,
    /// How to mend it.
    pub help: Vec<String>,
    /// Edits that mend it.
    pub fixes: Vec<Fix>,
}

/// A place with what it has to do with the finding; the text may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What it has to do with the finding.
    pub message: String,
}

/// A change of the text that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the change does, as an order: ``write `[retries < 3]` ``.
    pub title: String,
    /// Whether it may be done without asking.
    pub applicability: Applicability,
    /// The edits, ascending and apart.
    pub edits: Vec<Edit>,
}

/// Replaces a place by a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// What stands there then.
    pub text: String,
}

/// How far a fix can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// Only to be shown: it has gaps that a person must fill.
    DisplayOnly,
    /// May change what the machine accepts.
    Unsafe,
    /// Leaves what the machine accepts as it is.
    Safe,
}

impl Diagnostic {
    /// A finding of a code at a place, with the severity that the code has by default.
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
        }
    }

    /// Says what the primary place has to do with it.
    #[must_use]
    pub fn label(mut self, message: impl Into<String>) -> Self {
        self.primary.message = message.into();
        self
    }

    /// Adds another place.
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

    /// Adds a way to mend it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
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
        self.fix_all(
            applicability,
            title,
            vec![Edit {
                span,
                text: text.into(),
            }],
        )
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
#[derive(Clone, Debug, Default)]
pub struct Diags {
    list: Vec<Diagnostic>,
}

impl Diags {
    /// No finding.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds all of another list.
    pub fn append(&mut self, mut other: Self) {
        self.list.append(&mut other.list);
    }

    /// Whether a warning or an error is about a place that holds this one, so that a consequence needn't be told.
    #[must_use]
    pub fn covers(&self, span: Span) -> bool {
        self.list
            .iter()
            .any(|told| told.severity >= Severity::Warning && told.primary.span.contains(span))
    }

    /// Whether an error is among them.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.list
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The findings in reading order: by file, place, code. The same finding at the same place stands once.
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

/// Names for a message: `` `a` ``, `` `a` and `b` ``, `` `a`, `b` and 3 more ``.
pub(crate) fn quoted_list(names: &[&str]) -> String {
    /// Most names that one message spells out; more would hide what it says.
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
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Reports that a machine exceeds a limit of tables; `what` says which: `more than 4,096 events`.
pub(crate) fn machine_too_large(what: &str, span: Span) -> Diagnostic {
    let message = format!("this machine has {what}");
    Diagnostic::new(Code::MachineTooLarge, span, message)
        .label("too large for a table")
        .help("split it into machines that start each other")
}
