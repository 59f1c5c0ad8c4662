//! Labels and descriptions as written.

use std::ops::Range;

use crate::front::expression::GuardText;
use crate::source::{Span, Spanned, narrow};

/// The label of a transition.
///
/// Two are equal if their texts are: the rest follows from the text.
#[derive(Clone, Debug)]
pub struct Label {
    /// The whole text, trimmed; it may be empty.
    pub text: Spanned<String>,
    /// The reading that needs no declaration.
    pub(super) parts: Box<Parts>,
    /// The reading in which the items after ` / ` are actions, if that takes a declaration.
    pub(super) parts_if_declared: Option<Box<Parts>>,
}

impl Label {
    /// Returns the parts of the label. `declares` returns true if an action of that name is declared.
    pub fn parts(&self, declares: impl Fn(&str) -> bool) -> &Parts {
        let is_action = |action: &Action| action.is_call || declares(&action.name.value);
        match &self.parts_if_declared {
            Some(parts) if parts.actions.iter().all(is_action) => parts,
            _ => &self.parts,
        }
    }

    /// Returns the span of some bytes of the text; the whole span if the text isn't verbatim in its file.
    #[must_use]
    pub fn span(&self, range: Range<usize>) -> Span {
        span_of(&self.text, range)
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Label {}

/// The parts of a label in one of its readings.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The event, delay or text that triggers the transition.
    pub trigger: Option<Trigger>,
    /// The text between its brackets.
    pub guard: Option<Guard>,
    /// The actions after ` / `.
    pub actions: Vec<Action>,
    /// The texts that were hardly meant as text.
    pub flaws: Vec<Flaw>,
}

impl Parts {
    /// Returns whether some part may be lost in the name of the event.
    #[must_use]
    pub fn loses_part(&self) -> bool {
        let is_loss = |flaw: &Flaw| !matches!(flaw, Flaw::EmptyGuard(_));
        self.flaws.iter().any(is_loss)
    }
}

/// The trigger of a transition, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// One or several identifiers.
    Events(Vec<Spanned<String>>),
    /// An identifier or prose, followed by a parenthesis: `created (success)`, `enter(height)`.
    Commented {
        /// The text before the parenthesis, trimmed.
        name: Spanned<String>,
        /// The text with the parenthesis.
        whole: Spanned<String>,
        /// The parenthesis.
        comment: Span,
    },
    /// `after 30s`.
    Delay {
        /// The duration.
        duration: Spanned<String>,
        /// The whole trigger.
        span: Span,
    },
    /// A comparison without brackets: `players < 4`.
    Condition(Spanned<String>),
    /// Anything else.
    Prose(Spanned<String>),
}

/// The content of a label's brackets.
#[derive(Clone, Debug)]
pub enum Guard {
    /// `[else]`.
    Else,
    /// A name, an expression, or words for people.
    Text(GuardText),
}

impl Guard {
    /// Returns the text between the brackets.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Else => "else",
            Self::Text(guard) => &guard.text.value,
        }
    }
}

/// An item after ` / `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its name, without `()`.
    pub name: Spanned<String>,
    /// True for `name()`. Any other item is an action only if the definition declares it.
    pub is_call: bool,
}

/// A text in a label that was hardly meant as text. Ranges are bytes of the label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Brackets with nothing between them.
    EmptyGuard(Range<usize>),
    /// A bracket that would open a guard and is never closed.
    UnclosedGuard(Range<usize>),
    /// A bracket that closes nothing.
    StrayBracket(Range<usize>),
    /// Brackets after a blank that aren't at the end: `a [b] c`.
    MisplacedGuard {
        /// The brackets.
        bracket: Range<usize>,
        /// The whole trigger.
        trigger: Range<usize>,
    },
    /// A guard after the actions: `step / count() [small]`.
    LateGuard {
        /// The slash.
        slash: Range<usize>,
        /// The brackets.
        bracket: Range<usize>,
    },
    /// Calls after ` / ` that aren't a list: everything after the slash.
    UnlistedActions(Range<usize>),
    /// A call at the end that nothing divides from the event: `submit ship()`.
    LostCall(Range<usize>),
    /// A ` / ` that separates no actions.
    Slash(Range<usize>),
}

/// The text of `state : text`.
///
/// Two are equal if their texts are: the rest follows from the text.
#[derive(Clone, Debug)]
pub struct Description {
    /// The whole text, trimmed; it may be empty.
    pub text: Spanned<String>,
    /// The text, parsed.
    pub kind: DescriptionKind,
}

impl PartialEq for Description {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Description {}

/// A description, parsed.
#[derive(Clone, Debug)]
pub enum DescriptionKind {
    /// `entry / x` or `exit / x`.
    Actions {
        /// True if they run on entry, false if on exit.
        entry: bool,
        /// The items of the list.
        items: Vec<Item>,
    },
    /// `entry x()` or `exit x()`.
    MissingSlash {
        /// `entry` or `exit`.
        keyword: &'static str,
        /// The position of the missing slash.
        slash: Span,
    },
    /// An internal transition if it has actions, else a title.
    Label(Label),
}

/// An item of the list after `entry /` or `exit /`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An action. A name in prose has become an identifier.
    Action(Spanned<String>),
    /// A text with a sign of the grammar in it: two lists in one line, a forgotten comma, a guard.
    Unnamed(Spanned<String>),
}

/// Returns the span of some bytes of a text; of the whole text if it isn't verbatim in its file.
pub(super) fn span_of(text: &Spanned<String>, range: Range<usize>) -> Span {
    let whole = text.span;
    if whole.range().len() != text.value.len() {
        return whole;
    }
    Span {
        start: whole.start + narrow(range.start),
        end: whole.start + narrow(range.end),
        ..whole
    }
}
