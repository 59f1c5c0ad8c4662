//! Words that mean codes: `SM304`, `unreachable-state`, or `SM3` for all of a hundred.

use super::Diagnostic;
use super::codes::{Code, Severity};
use crate::source::Span;
use statemark_text::suggest::nearest;

/// Codes that somebody means by one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// One code.
    One(Code),
    /// Every code that begins so: `SM`, `SM3`, `SM30`.
    Group(String),
}

/// Findings that an author allows in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// The codes.
    pub(crate) selector: Selector,
    /// The place.
    pub(crate) scope: Span,
}

impl Allowance {
    /// Reports whether a finding is allowed. An error never is, because no machine is made of it.
    pub(crate) fn allows(&self, found: &Diagnostic) -> bool {
        let (at, scope) = (found.primary.span, self.scope);
        at.file == scope.file
            && (scope.start..=scope.end).contains(&at.start)
            && found.severity < Severity::Error
            && self.selector.matches(found.code)
    }
}

impl Selector {
    /// Reads a word. None if it means no code.
    ///
    /// ```
    /// use statemark_compiler::diag::{Code, Selector};
    ///
    /// let code = Code::from_words("SM305").unwrap();
    /// assert_eq!(Selector::parse("dead-end"), Some(Selector::One(code)));
    /// assert!(Selector::parse("SM3").is_some_and(|it| it.matches(code)));
    /// assert_eq!(Selector::parse("SM999"), None);
    /// ```
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        if let Some(code) = Code::from_words(word) {
            return Some(Self::One(code));
        }
        let word = word.trim().to_ascii_uppercase();
        let is_group = word.starts_with("SM") && word.len() < "SM304".len();
        let group = Self::Group(word);
        let is_known = Code::ALL.iter().any(|code| group.matches(*code));
        (is_group && is_known).then_some(group)
    }

    /// Reports whether a code is meant.
    #[must_use]
    pub fn matches(&self, code: Code) -> bool {
        match self {
            Self::One(one) => *one == code,
            Self::Group(start) => code.id().starts_with(start),
        }
    }

    /// Returns the word that was probably meant by one that means no code.
    #[must_use]
    pub fn suggest(word: &str) -> Option<&'static str> {
        let names = Code::ALL.iter().map(|code| code.name());
        let ids = Code::ALL.iter().map(|code| code.id());
        nearest(&word.to_ascii_lowercase(), names)
            .or_else(|| nearest(&word.to_ascii_uppercase(), ids))
    }
}
