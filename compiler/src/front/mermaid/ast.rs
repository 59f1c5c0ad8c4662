//! A state diagram as written.
//!
//! Every statement that Mermaid accepts is here, in the order of the text, with the places of its parts; nothing is
//! resolved. What has no meaning for a machine (notes, styles, links) is kept all the same: back ends draw it, editors
//! fold it. Texts are raw: entities and escapes are decoded by who reads them (see [`super::entity`]).

use crate::front::label::ast::{Description, Label};
use crate::source::{Span, Spanned};

/// A state diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// The whole excerpt that was parsed.
    pub span: Span,
    /// The header (`stateDiagram-v2`).
    pub header: Option<Span>,
    /// `title` of the diagram's own front matter.
    pub title: Option<Spanned<String>>,
    /// The statements.
    pub body: Body,
}

/// The statements between two braces, or of the whole diagram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// In the order of the text.
    pub statements: Vec<Statement>,
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// From its first to its last byte, a body included.
    pub span: Span,
    /// What it says.
    pub kind: StatementKind,
}

/// What a statement says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// `a`, alone.
    Mention(Endpoint),
    /// `a : text`.
    Description {
        /// The state described.
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
    /// A line that draws: `classDef`, `class`, `style`, `click`, `scale`, `hide empty description`.
    Drawing(Drawing),
    /// `accTitle: text` or `accDescr: text` or `accDescr { text }`.
    Accessibility {
        /// Whether it is the title; else the description.
        title: bool,
        /// The text.
        text: Spanned<String>,
    },
}

/// One end of a transition, or a state mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// What is named.
    pub target: EndpointKind,
    /// Where it is named, without its class.
    pub span: Span,
    /// The class behind `:::`.
    pub class: Option<Spanned<String>>,
}

/// What an endpoint names.
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
    /// Where it comes from.
    pub source: Endpoint,
    /// Where it leads.
    pub target: Endpoint,
    /// The arrow itself.
    pub arrow: Span,
    /// The label after the colon; its text may be empty.
    pub label: Option<Label>,
}

/// `state …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The id.
    pub id: Spanned<String>,
    /// The title: of `state "title" as id`, or of `state id : title`.
    pub title: Option<Spanned<String>>,
    /// `<<fork>>` and its kin.
    pub stereotype: Option<Spanned<Stereotype>>,
    /// The statements between its braces; `None` where it has none.
    pub body: Option<Body>,
    /// What Mermaid makes of it.
    pub drawn: DrawnAs,
}

/// A declaration as Mermaid draws it. A machine is built of what is declared, whatever Mermaid draws.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DrawnAs {
    /// What it says.
    #[default]
    Written,
    /// Nothing: `state x` and `state x : Title`.
    Nothing,
    /// A composite of another name and without its title: `state x : Title {`.
    Named(String),
    /// A composite whose title, as given here, has blanks around it.
    Padded(String),
    /// A state with an empty line below its title: `state "title" as x:::class`.
    TwoLines,
}

/// What a pseudo-state is.
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
    /// The word for it.
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
    /// The state it stands beside; of a floating note, its own id.
    pub state: Spanned<String>,
    /// Where it stands: `Some(true)` left of the state, `Some(false)` right of it, `None` floating.
    pub left: Option<bool>,
    /// The text.
    pub text: Spanned<String>,
}

/// Which way a diagram is drawn.
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

/// A line that only draws, kept as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// The keyword that it begins with, in its canonical spelling: `classDef`, `class`, `style`, `click`, `scale`, `hide`;
    /// or `state`, of which nothing is drawn where no name stands behind it.
    pub keyword: &'static str,
    /// What it names: a class, states, a width.
    pub subject: Option<Spanned<String>>,
    /// The rest of it.
    pub rest: Option<Spanned<String>>,
}
