//! The parts of a Markdown document that describe machines.

use crate::diag::Diags;
use crate::excerpt::Excerpt;
use crate::source::{Span, Spanned};

/// A document, as far as it speaks of machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// `name` of the front matter.
    pub name: Option<Spanned<String>>,
    /// `description` of the front matter.
    pub description: Option<Spanned<String>>,
    /// The `## STATE-MACHINE` sections, in the order of the text.
    pub sections: Vec<Section>,
}

/// One `## STATE-MACHINE` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading's line.
    pub heading: Span,
    /// The name after `STATE-MACHINE:`.
    pub name: Option<Spanned<String>>,
    /// The text inside the diagram's fence.
    pub diagram: Option<Excerpt>,
    /// The text inside the definition's fence.
    pub definition: Option<DefinitionBlock>,
    /// The instructions of states, in the order of the text.
    pub instructions: Vec<Instructions>,
    /// The headings of level 3 to 6 that start no instructions, in the order of the text.
    pub headings: Vec<Heading>,
    /// The findings about its fences.
    pub diags: Diags,
    /// The opening line of the first fence that may have been meant as the diagram and isn't read as one.
    ///
    /// It is a `mermaid` fence with another kind of diagram.
    pub other_fence: Option<Span>,
}

/// A heading inside a section that starts no instructions.
///
/// It has level 3 and isn't a code span, or it is deeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Its words without markup, trimmed.
    ///
    /// The span covers the text between the backticks of a heading that is one code span, else all of its text with the
    /// markup.
    pub text: Spanned<String>,
    /// The whole heading, `#` included.
    pub line: Span,
    /// 3 to 6.
    pub level: u8,
}

/// The definition's fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionBlock {
    /// The text inside it.
    pub text: Excerpt,
    /// True for `jsonc`, which allows comments and trailing commas.
    pub comments: bool,
}

/// The Markdown below a heading that is a state's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// The id, between its backticks.
    pub state: Spanned<String>,
    /// The Markdown as written, from the first to the last line that isn't blank.
    pub text: Spanned<String>,
}
