//! Braces: what is open, and what it belongs to.

use super::stray::What;
use super::{Bare, MAX_DEPTH, Parser, Shape};
use crate::front::mermaid::ast::{Body, Declaration, DrawnAs, Statement, StatementKind};
use crate::front::mermaid::lex::Token;
use crate::front::mermaid::report;
use crate::source::Spanned;

/// What stands between two braces while it is read.
pub(super) struct Frame {
    /// What the braces belong to; `None` at the root, and for braces that belong to nothing.
    pub(super) opened: Option<Opened>,
    pub(super) statements: Vec<Statement>,
    /// The frame that takes the statements: itself, or one below it for braces that belong to nothing.
    pub(super) home: usize,
}

/// A composite whose `}` is still to come.
pub(super) struct Opened {
    start: usize,
    brace: usize,
    id: Spanned<String>,
    title: Option<Spanned<String>>,
    drawn: DrawnAs,
}

impl Parser<'_> {
    pub(super) fn open(
        &mut self,
        start: usize,
        brace: usize,
        id: Spanned<String>,
        title: Option<Spanned<String>>,
    ) {
        self.open_drawn_as(start, brace, id, title, DrawnAs::Written);
    }

    /// Opens a composite of which Mermaid makes something else.
    pub(super) fn open_drawn_as(
        &mut self,
        start: usize,
        brace: usize,
        id: Spanned<String>,
        title: Option<Spanned<String>>,
        drawn: DrawnAs,
    ) {
        self.strays_end();
        if self.frames.len() > MAX_DEPTH {
            if !self.too_deep {
                self.too_deep = true;
                let span = self.span(brace..brace + 1);
                self.report(report::syntax_error::too_deep(span, MAX_DEPTH));
            }
            let declared = Declaration {
                id,
                title,
                stereotype: None,
                body: None,
                drawn,
            };
            self.push(start, brace, StatementKind::Declaration(declared));
            self.open_nothing();
        } else {
            self.frames.push(Frame {
                opened: Some(Opened {
                    start,
                    brace,
                    id,
                    title,
                    drawn,
                }),
                statements: Vec::new(),
                home: self.frames.len(),
            });
        }
        self.previous = None;
    }

    /// Braces that belong to nothing: their statements go where they stand.
    pub(super) fn open_nothing(&mut self) {
        let home = self.frames.last().map_or(0, |frame| frame.home);
        self.frames.push(Frame {
            opened: None,
            statements: Vec::new(),
            home,
        });
    }

    pub(super) fn close(&mut self, token: Token) {
        self.bump();
        self.strays_end();
        if self.frames.len() > 1
            && let Some(Frame {
                opened: Some(opened),
                statements,
                ..
            }) = self.frames.pop()
        {
            self.push_composite(opened, statements, token.end);
        }
        self.settle(Shape::Other, What::Other, token.start..token.end);
    }

    fn push_composite(&mut self, opened: Opened, statements: Vec<Statement>, end: usize) {
        let declaration = Declaration {
            id: opened.id,
            title: opened.title,
            stereotype: None,
            body: Some(Body { statements }),
            drawn: opened.drawn,
        };
        self.push(opened.start, end, StatementKind::Declaration(declaration));
    }

    /// Closes what is open, with a report for each.
    pub(super) fn finish(mut self) -> (Vec<Statement>, Vec<Bare>) {
        self.strays_end();
        let end = self.text.len();
        while self.frames.len() > 1 {
            let Some(Frame {
                opened, statements, ..
            }) = self.frames.pop()
            else {
                break;
            };
            if let Some(opened) = opened {
                let brace = self.span(opened.brace..opened.brace + 1);
                let glued = self.glued_brace.take().map(|range| {
                    let text = self.raw(range.clone());
                    (self.span(range), text)
                });
                let id = opened.id.value.clone();
                self.report(report::unclosed_composite::open(brace, &id, glued));
                self.push_composite(opened, statements, end);
            }
        }
        let root = self.frames.pop().map(|frame| frame.statements);
        (root.unwrap_or_default(), self.bare)
    }
}
