//! Mermaid's grammar for state diagrams, with recovery.
//!
//! Statements need no separator: `A --> B C --> D` is two transitions. A statement that can't be read is one diagnostic,
//! after which reading goes on behind the line; what could be read of it stays in the tree. Braces are kept on a stack of
//! [`Frame`]s, not by recursion, so the depth of a text can't exhaust the program's.
//!
//! Each `parse/….rs` has the statements of one kind; `parse/unexpected.rs` finds words for what can't begin a statement.

mod declaration;
mod direction;
mod drawing;
mod endpoint;
mod frame;
mod header;
mod label;
mod note;
mod place;
mod recover;
mod stray;
mod unexpected;

use std::cell::Cell;
use std::ops::Range;

use super::ast::{Body, Diagram, Statement, StatementKind};
use super::lex::{Kind, Lexer, Token};
use super::lines::Lines;
use super::preprocess::Prepared;
use crate::diag::{Diagnostic, Diags};
use crate::source::Span;
use frame::Frame;
use stray::{Strays, What};

/// Deepest nesting of composites that is kept. Unit: braces. Why: later stages walk a tree by recursion, and no diagram
/// that a person can read has more than a handful.
pub(super) const MAX_DEPTH: usize = 64;

/// Reads a prepared diagram.
pub(super) fn parse(prepared: &Prepared, diags: &mut Diags) -> Diagram {
    let mut parser = Parser::new(prepared, diags);
    let header = parser.header();
    parser.document();
    let is_ordered = parser.is_ordered;
    let (statements, bare) = parser.finish();
    let diagram = Diagram {
        span: prepared.excerpt.full_span(),
        header,
        title: None,
        body: Body { statements },
    };
    super::bare_declarations::check(&diagram, &bare, diags);
    super::composite_descriptions::check(&diagram, diags);
    let lines = Lines::new(prepared);
    super::taken_names::check(&diagram, diags);
    super::half_stars::check(&diagram, diags);
    // What can't be read may hold a mention, or a brace, for want of which the rest looks wrong.
    if !diags.has_errors() {
        super::own_parents::check(&diagram, lines, diags);
        if is_ordered {
            super::mentions::check(&diagram, lines, diags);
        }
    }
    diagram
}

/// A declaration that Mermaid makes nothing of, for [`super::bare_declarations`].
#[derive(Debug)]
pub(super) struct Bare {
    /// The state.
    pub(super) id: String,
    /// The whole statement.
    pub(super) span: Span,
    /// `state` and the blanks behind it.
    pub(super) keyword: Span,
    /// Whether it has a title, which Mermaid drops.
    pub(super) titled: bool,
    /// Whether Mermaid refuses it for the `{` on the line that follows.
    pub(super) refused: bool,
}

/// A statement that can't be read: what to say, and where to go on.
struct Bad {
    diagnostic: Box<Diagnostic>,
    resume: Resume,
}

/// Where reading goes on.
#[derive(Clone, Copy)]
enum Resume {
    /// At the token that is next.
    Here,
    /// Behind the line that holds the offset.
    BehindLine(usize),
    /// Exactly at an offset, between statements.
    At(usize),
}

type Parsed<T = ()> = Result<T, Bad>;

/// What was read last, as far as messages about the next token need it.
#[derive(Clone, Copy)]
struct Previous {
    shape: Shape,
    /// Where its first token begins.
    start: usize,
    /// Where the id that it ends with begins, for a mention and a transition without a label.
    name: usize,
    end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Mention,
    Transition,
    Labelled,
    Note,
    Declaration,
    Other,
}

struct Parser<'a> {
    prepared: &'a Prepared,
    text: &'a str,
    lexer: Lexer<'a>,
    peeked: Option<Token>,
    /// Where the last token that was used up ends.
    used: usize,
    frames: Vec<Frame>,
    previous: Option<Previous>,
    /// The last name or label that ends in `}`, which was probably meant to close a composite.
    glued_brace: Option<Range<usize>>,
    too_deep: bool,
    line_starts: Vec<usize>,
    /// The line that was asked for last.
    last_line: Cell<usize>,
    strays: Strays,
    bare: Vec<Bare>,
    /// Whether there is a note or a pseudo-state, for which the order of mentions counts.
    is_ordered: bool,
    diags: &'a mut Diags,
}

impl<'a> Parser<'a> {
    fn new(prepared: &'a Prepared, diags: &'a mut Diags) -> Self {
        let text = prepared.text.as_str();
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            prepared,
            text,
            lexer: Lexer::new(text),
            peeked: None,
            used: 0,
            frames: vec![Frame {
                opened: None,
                statements: Vec::new(),
                home: 0,
            }],
            previous: None,
            glued_brace: None,
            too_deep: false,
            line_starts: std::iter::once(0).chain(starts).collect(),
            last_line: Cell::new(0),
            strays: Strays::default(),
            bare: Vec::new(),
            is_ordered: false,
            diags,
        }
    }

    /// `(statement | NL)*`, up to the end of the text.
    fn document(&mut self) {
        loop {
            let token = self.peek();
            let outcome = match token.kind {
                Kind::End => return,
                Kind::NewLine => {
                    self.bump();
                    Ok(())
                }
                _ => self.statement(token),
            };
            if let Err(bad) = outcome {
                self.recover(bad);
            }
        }
    }

    fn statement(&mut self, token: Token) -> Parsed {
        match token.kind {
            Kind::Id | Kind::Star => self.endpoint_statement(token),
            Kind::Word => self.words(token),
            Kind::SeveralWords => {
                self.several_words(token);
                Ok(())
            }
            Kind::Title => self.titled(token),
            Kind::Pseudo(kind) => self.pseudo(token, kind),
            Kind::Close => {
                self.close(token);
                Ok(())
            }
            Kind::Divider => {
                self.bump();
                self.push(token.start, token.end, StatementKind::Divider);
                self.settle(Shape::Other, What::Divider, token.start..token.end);
                Ok(())
            }
            Kind::Note => self.note(token),
            Kind::Direction(direction) => {
                self.direction(token, direction, true);
                Ok(())
            }
            Kind::AccTitle | Kind::AccDescription | Kind::AccBlock => self.accessibility(token),
            Kind::ClassDef | Kind::Class | Kind::Style => self.styles(token),
            Kind::Click => self.click(token),
            Kind::Scale => self.scale(token),
            Kind::HideEmpty => {
                self.bump();
                self.drawing(token, "hide", None, None);
                Ok(())
            }
            _ => self.unexpected(token),
        }
    }

    fn push(&mut self, start: usize, end: usize, kind: StatementKind) {
        let span = self.trimmed_span(start..end);
        let home = self.frames.last().map_or(0, |frame| frame.home);
        if let Some(frame) = self.frames.get_mut(home) {
            frame.statements.push(Statement { span, kind });
        }
    }

    /// Remembers what was read last.
    fn settle(&mut self, shape: Shape, what: What, range: Range<usize>) {
        self.previous = Some(Previous {
            shape,
            start: range.start,
            name: range.start,
            end: range.end,
        });
        self.log(what, range);
    }

    fn peek(&mut self) -> Token {
        if let Some(token) = self.peeked {
            return token;
        }
        let token = self.lexer.next();
        self.peeked = Some(token);
        token
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        self.peeked = None;
        self.used = token.end;
        token
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diags.push(diagnostic);
    }
}
