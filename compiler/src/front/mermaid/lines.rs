//! Edits that move whole lines of a diagram.
//!
//! A line is written with what its container has before each line: a quote's `>`, the indent of a list. Where the lines
//! of the file have something else before them there is no edit, and the diagnostic has only a help text.

use super::lex::rule::is_space;
use super::preprocess::Prepared;
use crate::diag::Edit;
use crate::source::Span;

/// The lines of a diagram.
#[derive(Clone, Copy)]
pub(super) struct Lines<'p> {
    prepared: &'p Prepared,
}

impl<'p> Lines<'p> {
    /// Creates a view of a diagram's lines.
    pub(super) fn new(prepared: &'p Prepared) -> Self {
        Self { prepared }
    }

    /// Returns the text of a span, if it is one piece of the diagram.
    pub(super) fn source_text(self, span: Span) -> Option<&'p str> {
        let excerpt = &self.prepared.excerpt;
        let start = excerpt.offset_of(span.start)?;
        let end = excerpt.offset_of(span.end.checked_sub(1)?)? + 1;
        excerpt.text().get(start..end)
    }

    /// Inserts a line above the line on which a statement begins.
    pub(super) fn insert_above(self, statement: Span, text: &str) -> Option<Edit> {
        let indent = self.indent(statement)?;
        Some(Edit {
            span: statement.before(),
            text: format!("{text}{}{indent}", self.prepared.line_end),
        })
    }

    /// Inserts a line below the line on which a statement ends, with the statement's indent.
    pub(super) fn insert_below(self, statement: Span, text: &str) -> Option<Edit> {
        let indent = self.indent(statement)?;
        let end = self
            .prepared
            .excerpt
            .offset_of(statement.end.checked_sub(1)?)?
            + 1;
        let line_end = self.line_end(end);
        // Blanks stay: a label that ends in a colon needs them.
        let place = self.prepared.excerpt.span(end - 1..line_end).after();
        self.is_blank(end, line_end).then(|| Edit {
            span: place,
            text: format!("{}{indent}{text}", self.prepared.line_end),
        })
    }

    /// Removes the lines of a statement, if nothing else is on them.
    ///
    /// What the container has before the first of them is left for the line that follows.
    pub(super) fn remove(self, statement: Span) -> Option<Edit> {
        let excerpt = &self.prepared.excerpt;
        let start = excerpt.offset_of(statement.start)?;
        let end = excerpt.offset_of(statement.end.checked_sub(1)?)? + 1;
        let (line_start, line_end) = (self.line_start(start), self.line_end(end));
        self.indent(statement)?;
        if !self.is_blank(end, line_end) || line_end >= excerpt.text().len() {
            return None;
        }
        let next = line_end + 1;
        let removed = match next < excerpt.text().len() {
            true => excerpt
                .span(line_start..next)
                .to(excerpt.span(next..next + 1).before()),
            false if excerpt.prefix().is_empty() => excerpt.span(line_start..next),
            false => return None,
        };
        Some(Edit {
            span: removed,
            text: String::new(),
        })
    }

    /// Returns what the file has before a statement that begins its line.
    fn indent(self, statement: Span) -> Option<String> {
        let excerpt = &self.prepared.excerpt;
        let start = excerpt.offset_of(statement.start)?;
        let line_start = self.line_start(start);
        let indent = excerpt.text().get(line_start..start)?;
        let is_blank = indent.chars().all(|c| c == ' ' || c == '\t');
        let is_first = excerpt.is_plain_line(line_start) && is_blank;
        is_first.then(|| format!("{}{indent}", excerpt.prefix()))
    }

    fn line_start(self, at: usize) -> usize {
        let before = self.prepared.excerpt.text().get(..at).unwrap_or("");
        before.rfind('\n').map_or(0, |newline| newline + 1)
    }

    fn line_end(self, at: usize) -> usize {
        let text = self.prepared.excerpt.text();
        let after = text.get(at..).unwrap_or("");
        at + after.find('\n').unwrap_or(after.len())
    }

    fn is_blank(self, from: usize, to: usize) -> bool {
        let text = self.prepared.excerpt.text().get(from..to);
        text.is_some_and(|text| text.chars().all(is_space))
    }
}
