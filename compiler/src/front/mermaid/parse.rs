//! Mermaid's grammar for state diagrams, with recovery.
//!
//! Statements need no separator: `A --> B C --> D` is two transitions. A statement that can't be read is one diagnostic,
//! after which reading goes on behind the line; what could be read of it stays in the tree. Braces are kept on a stack of
//! [`Frame`]s, not by recursion, so the depth of a text can't exhaust the program's.
//!
//! Each `parse/….rs` has the statements of one kind; `parse/unexpected.rs` finds words for what can't begin a statement.

mod declaration;
mod drawing;
mod endpoint;
mod note;
mod recover;
mod stray;
mod unexpected;

use std::ops::Range;

use super::ast::{Body, Declaration, Diagram, Direction, Statement, StatementKind};
use super::lex::{Kind, Lexer, Token};
use super::preprocess::{self, Prepared};
use super::report;
use crate::diag::{Diagnostic, Diags};
use crate::source::{Span, Spanned};
use stray::{Strays, What};

/// Deepest nesting of composites that is kept. Unit: braces. Why: later stages walk a tree by recursion, and no diagram
/// that a person can read has more than a handful.
pub(super) const MAX_DEPTH: usize = 64;

/// Reads a prepared diagram.
pub(super) fn parse(prepared: &Prepared, diags: &mut Diags) -> Diagram {
    let mut parser = Parser::new(prepared, diags);
    let header = parser.header();
    parser.document();
    let (statements, bare) = parser.finish();
    let diagram = Diagram {
        span: prepared.excerpt.full_span(),
        header,
        title: None,
        body: Body { statements },
    };
    super::bare_declarations::check(&diagram, &bare, diags);
    super::composite_descriptions::check(&diagram, diags);
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

/// What stands between two braces while it is read.
struct Frame {
    /// What the braces belong to; `None` at the root, and for braces that belong to nothing.
    opened: Option<Opened>,
    statements: Vec<Statement>,
    /// The frame that takes the statements: itself, or one below it for braces that belong to nothing.
    home: usize,
}

/// A composite whose `}` is still to come.
struct Opened {
    start: usize,
    brace: usize,
    id: Spanned<String>,
    title: Option<Spanned<String>>,
}

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
    strays: Strays,
    bare: Vec<Bare>,
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
            strays: Strays::default(),
            bare: Vec::new(),
            diags,
        }
    }

    /// `NL* SD`, and a report where there is none.
    fn header(&mut self) -> Option<Span> {
        while self.peek().kind == Kind::NewLine {
            self.bump();
        }
        let token = self.peek();
        let detected = preprocess::is_detected(self.text);
        if token.kind == Kind::Header {
            self.bump();
            let span = self.trimmed_span(token.start..token.end);
            if !detected {
                let written = self.raw(token.start..token.end);
                self.report(report::missing_header::not_detected(span, written.trim()));
            }
            return Some(span);
        }
        let line = self.line_range(token.lead);
        let written = self.raw(line.clone());
        let first = written.split_whitespace().next().unwrap_or("");
        let span = self.trimmed_span(line.clone());
        if let Kind::Direction(direction) = token.kind
            && detected
        {
            self.direction(token, direction, false);
            self.report(report::missing_header::swallowed(span));
            return Some(span);
        }
        let other = report::missing_header::other_diagram(first);
        let near = detected || first.to_ascii_lowercase().starts_with("statediagram");
        let end = (line.start + written.find(first).unwrap_or(0) + first.len()).min(line.end);
        let word = self.trimmed_span(line.start..end);
        self.report(match other {
            _ if first.is_empty() => report::missing_header::nothing(span),
            _ if near => report::missing_header::misspelt(word, first),
            Some(kind) => report::missing_header::another(word, kind),
            None => report::missing_header::none(span.before()),
        });
        if near || other.is_some() {
            self.restart(line.end);
        }
        None
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

    /// A line that is a direction, whatever else its author wrote on it; `check` says whether to speak of that.
    fn direction(&mut self, token: Token, direction: Direction, check: bool) {
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

    fn open(
        &mut self,
        start: usize,
        brace: usize,
        id: Spanned<String>,
        title: Option<Spanned<String>>,
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
                }),
                statements: Vec::new(),
                home: self.frames.len(),
            });
        }
        self.previous = None;
    }

    /// Braces that belong to nothing: their statements go where they stand.
    fn open_nothing(&mut self) {
        let home = self.frames.last().map_or(0, |frame| frame.home);
        self.frames.push(Frame {
            opened: None,
            statements: Vec::new(),
            home,
        });
    }

    fn close(&mut self, token: Token) {
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
        };
        self.push(opened.start, end, StatementKind::Declaration(declaration));
    }

    /// Closes what is open, with a report for each.
    fn finish(mut self) -> (Vec<Statement>, Vec<Bare>) {
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

    fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or("")
    }

    /// The text as its author wrote it: without the stand-ins of entities.
    fn raw(&self, range: Range<usize>) -> String {
        let text = self.prepared.excerpt.text();
        let end = range.end.min(text.len());
        let raw = text.get(range.start.min(end)..end).unwrap_or("");
        if raw.contains('\r') {
            raw.replace('\r', "\n")
        } else {
            raw.to_owned()
        }
    }

    fn span(&self, range: Range<usize>) -> Span {
        let most = self.prepared.excerpt.text().len();
        let end = range.end.min(most);
        self.prepared.excerpt.span(range.start.min(end)..end)
    }

    fn trim(&self, range: Range<usize>) -> Range<usize> {
        let text = self.slice(range.clone());
        let kept = text.trim_start_matches(super::lex::rule::is_space);
        let start = range.end - kept.len();
        let kept = kept.trim_end_matches(super::lex::rule::is_space);
        if text.is_empty() {
            range
        } else {
            start..start + kept.len()
        }
    }

    fn trimmed_span(&self, range: Range<usize>) -> Span {
        self.span(self.trim(range))
    }

    /// A text without the blanks around it, with its place.
    fn spanned(&self, range: Range<usize>) -> Spanned<String> {
        let range = self.trim(range);
        Spanned::new(self.raw(range.clone()), self.span(range))
    }

    /// A state's id with its place, and a report where it holds what can't be seen.
    fn name(&mut self, range: Range<usize>) -> Spanned<String> {
        let name = self.spanned(range);
        if !name.value.is_ascii()
            && let Some(visible) = super::invisible::strip(&name.value)
        {
            let finding = report::invisible_character::in_name(name.span, &name.value, &visible);
            self.report(finding);
        }
        name
    }

    /// The line that holds an offset, from 0.
    fn line_of(&self, at: usize) -> usize {
        self.line_starts
            .partition_point(|&start| start <= at)
            .saturating_sub(1)
    }

    /// The line that holds an offset, without its end.
    fn line_range(&self, at: usize) -> Range<usize> {
        let line = self.line_of(at);
        let start = self.line_starts.get(line).copied().unwrap_or(0);
        let end = self
            .line_starts
            .get(line + 1)
            .map_or(self.text.len(), |next| next - 1);
        start..end.max(start)
    }

    fn same_line(&self, a: usize, b: usize) -> bool {
        self.line_of(a) == self.line_of(b)
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
    let line = super::lex::direction(text);
    line.unwrap_or((0, text.len()))
}
