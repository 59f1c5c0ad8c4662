//! The syntax tree of a state diagram.
//!
//! Every statement that Mermaid accepts is here, in source order, with the spans of its parts. Nothing is resolved.
//! Statements without a meaning for a machine (notes, styles, links) are kept: back ends draw them, editors fold them.
//! Texts are raw: consumers decode entities and escapes with [`super::entity`].

use crate::front::label::ast::{Description, Label};
use crate::source::{Span, Spanned};

/// A state diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// The whole excerpt.
    pub span: Span,
    /// The header (`stateDiagram-v2`).
    pub header: Option<Span>,
    /// The `title` of the diagram's own front matter.
    pub title: Option<Spanned<String>>,
    /// The statements.
    pub body: Body,
}

/// The statements between two braces, or those of the whole diagram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The statements in source order.
    pub statements: Vec<Statement>,
}

impl Body {
    /// Visits the statements, each before those between its own braces.
    ///
    /// Bodies are at most [`super::parse::MAX_DEPTH`] deep.
    pub(crate) fn visit<'d>(&'d self, visit: &mut impl FnMut(&'d Statement)) {
        for statement in &self.statements {
            visit(statement);
            if let StatementKind::Declaration(declaration) = &statement.kind
                && let Some(inner) = &declaration.body
            {
                inner.visit(visit);
            }
        }
    }
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// From the first to the last byte, a body included.
    pub span: Span,
    /// The kind of statement, with its parts.
    pub kind: StatementKind,
}

/// The kind of a statement, with its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// `a`, alone.
    Mention(Endpoint),
    /// `a : text`.
    Description {
        /// The described state.
        state: Endpoint,
        /// The text after the colon.
        description: Description,
    },
    /// `a --> b : label`.
    Transition(Transition),
    /// `state …` in all its forms.
    Declaration(Declaration),
    /// `--`.
    Divider,
    /// A note.
    Note(Note),
    /// `direction LR`.
    Direction(Spanned<Direction>),
    /// A line that only draws: `classDef`, `class`, `style`, `click`, `scale`, `hide empty description`.
    Drawing(Drawing),
    /// `accTitle: text` or `accDescr: text` or `accDescr { text }`.
    Accessibility {
        /// Selects the title; otherwise it is the description.
        title: bool,
        /// The text.
        text: Spanned<String>,
    },
}

/// One end of a transition, or a mentioned state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The state or `[*]`.
    pub target: EndpointKind,
    /// The span of the name, without its class.
    pub span: Span,
    /// The class after `:::`.
    pub class: Option<Spanned<String>>,
}

impl Endpoint {
    /// Returns the id of the state; `[*]` has none.
    pub(crate) fn id(&self) -> Option<&str> {
        match &self.target {
            EndpointKind::Id(id) => Some(id),
            EndpointKind::Star => None,
        }
    }
}

/// The target of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointKind {
    /// `[*]`.
    Star,
    /// A state's id.
    Id(String),
}

/// `source --> target : label`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The source.
    pub source: Endpoint,
    /// The target.
    pub target: Endpoint,
    /// The arrow itself.
    pub arrow: Span,
    /// The label after the colon; its text can be empty.
    pub label: Option<Label>,
}

/// `state …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The id.
    pub id: Spanned<String>,
    /// The title: of `state "title" as id`, or of `state id : title`.
    pub title: Option<Spanned<String>>,
    /// `<<fork>>`, `<<join>>` or `<<choice>>`.
    pub stereotype: Option<Spanned<Stereotype>>,
    /// The statements between its braces; `None` where it has none.
    pub body: Option<Body>,
    /// The declaration as Mermaid draws it.
    pub drawn: DrawnAs,
}

/// A declaration as Mermaid draws it.
///
/// A machine is built of what is declared, whatever Mermaid draws.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DrawnAs {
    /// As written.
    #[default]
    Written,
    /// Nothing: `state x` and `state x : Title`.
    Nothing,
    /// A composite of another name and without its title: `state x : Title {`.
    Named(String),
    /// A composite whose title, as given here, has blanks around it.
    Padded(String),
    /// A state with an empty line under its title: `state "title" as x:::class`.
    TwoLines,
}

/// The kind of a pseudo-state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stereotype {
    /// `<<fork>>` or `[[fork]]`.
    Fork,
    /// `<<join>>` or `[[join]]`.
    Join,
    /// `<<choice>>` or `[[choice]]`.
    Choice,
}

impl Stereotype {
    /// Returns the keyword.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Join => "join",
            Self::Choice => "choice",
        }
    }
}

/// A note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The state that the note belongs to; for a floating note, its own id.
    pub state: Spanned<String>,
    /// The side of the state: `Some(true)` is left, `Some(false)` is right, `None` is floating.
    pub left: Option<bool>,
    /// The text.
    pub text: Spanned<String>,
}

/// The direction in which a diagram is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Top to bottom.
    TopBottom,
    /// Bottom to top.
    BottomTop,
    /// Left to right.
    LeftRight,
    /// Right to left.
    RightLeft,
}

/// A line that only draws, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// The first keyword in its canonical spelling.
    ///
    /// One of `classDef`, `class`, `style`, `click`, `scale`, `hide`; or `state`, where no name follows and nothing is
    /// drawn.
    pub keyword: &'static str,
    /// The object of the statement: a class, states, a width.
    pub subject: Option<Spanned<String>>,
    /// The rest of it.
    pub rest: Option<Spanned<String>>,
}
