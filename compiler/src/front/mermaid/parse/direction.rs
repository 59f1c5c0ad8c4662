//! `direction LR`, and what it swallows.

use std::ops::Range;

use super::stray::What;
use super::{Parser, Shape};
use crate::front::mermaid::ast::{Direction, StatementKind};
use crate::front::mermaid::lex::Token;
use crate::front::mermaid::{lex, report};
use crate::source::{Span, Spanned};

impl Parser<'_> {
    /// A line that is a direction, whatever else its author wrote on it; `check` says whether to speak of that.
    pub(super) fn direction(&mut self, token: Token, direction: Direction, check: bool) {
        self.bump();
        let whole = self.trim(token.start..token.end);
        let text = self.slice(whole.clone());
        let plain = plain_direction(text);
        let (word, letters) = last_direction(text);
        let at = whole.start + word..whole.start + letters;
        let span = self.span(at.clone());
        if check && !plain {
            let gap = self.direction_gap(at.clone());
            let behind = text.get(letters..).unwrap_or("").trim();
            let all = self.span(whole.clone());
            let said = self.raw(at);
            self.report(report::swallowed_by_direction::line(
                all,
                span,
                &said,
                word == 0 && !behind.is_empty(),
                gap,
            ));
        }
        let value = Spanned::new(direction, span);
        self.push(whole.start, whole.end, StatementKind::Direction(value));
        self.settle(Shape::Other, What::Other, whole);
    }

    /// The blanks between `direction` and its letters.
    fn direction_gap(&self, range: Range<usize>) -> Span {
        let start = range.start + "direction".len();
        let end = range.end.saturating_sub(2).max(start);
        self.span(start..end)
    }
}

/// Whether a direction's line holds nothing else but a comment.
fn plain_direction(text: &str) -> bool {
    let (word, letters) = last_direction(text);
    let behind = text.get(letters..).unwrap_or("").trim();
    word == 0 && (behind.is_empty() || behind.starts_with('#') || behind.starts_with("%%"))
}

/// Where the `direction` that a line was taken for begins, and where its letters end.
fn last_direction(text: &str) -> (usize, usize) {
    let line = lex::direction(text);
    line.unwrap_or((0, text.len()))
}
