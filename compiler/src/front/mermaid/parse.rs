//! Mermaid's grammar for state diagrams, with recovery.
//!
//! Statements need no separator: `A --> B C --> D` is two transitions. A statement that can't be parsed is one
//! diagnostic, after which parsing continues on the next line; its good parts stay in the tree. Braces are kept on a
//! stack of [`Frame`]s, not by recursion, so the depth of a text can't exhaust the program's stack.
//!
//! This file has the parser's state, braces, recovery and spans. The statements are in the submodules, and `unexpected`
//! describes tokens that can't begin one.

mod declaration;
mod drawing;
mod header;
mod naming;
mod note;
mod stray_words;
mod syntax_error;
mod transition;
mod unexpected;

pub(super) use header::other_diagram;
use naming::Quoted;

use std::cell::Cell;
use std::ops::Range;

use super::ast::{Body, Declaration, Diagram, DrawnAs, Statement, StatementKind};
use super::bare_declarations::Bare;
use super::invisible;
use super::lex::rule::is_space;
use super::lex::{Kind, Lexer, Token};
use super::lines::Lines;
use super::messages::quote;
use super::preprocess::{self, Prepared};
use crate::diag::{Code, Diagnostic, Diags};
use crate::source::{Span, Spanned};

/// Deepest nesting of composites.
/// Unit: braces. Why: later stages walk a tree by recursion, and no diagram that a person can read has more than a few.
pub(super) const MAX_DEPTH: usize = 64;

/// Parses a prepared diagram.
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
    super::composite_texts::check(&diagram, diags);
    let lines = Lines::new(prepared);
    super::reserved_names::check(&diagram, diags);
    stray_words::check_stars(&diagram, diags);
    // A statement that can't be parsed can hold a mention or a brace, without which the rest looks wrong.
    if !diags.has_errors() {
        super::inside_itself::check(&diagram, lines, diags);
        if is_ordered {
            super::mentions::check(&diagram, lines, diags);
        }
    }
    diagram
}

/// A statement that can't be parsed, and the point at which parsing continues.
struct Bad {
    diagnostic: Box<Diagnostic>,
    resume: Resume,
}

/// The point at which parsing continues.
#[derive(Clone, Copy)]
enum Resume {
    /// At the next token.
    Here,
    /// On the line after that of an offset.
    NextLine(usize),
    /// At an offset, between statements.
    At(usize),
}

type Parsed<T = ()> = Result<T, Bad>;

/// The last statement, as far as messages about the next token need it.
#[derive(Clone, Copy)]
struct Previous {
    shape: Shape,
    /// The start of its first token.
    start: usize,
    /// The start of the id at its end, for a mention and a transition without a label.
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

/// The statements of one line.
#[derive(Debug, Default)]
struct Strays {
    line: usize,
    entries: Vec<(LineEntry, Range<usize>)>,
    /// The line that has its report already.
    silent: Option<usize>,
}

/// The kind of a statement on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LineEntry {
    /// A state and nothing else.
    Mention,
    /// A transition, with the range of its target.
    Transition(Range<usize>),
    /// A state and a text.
    Description,
    /// `--`.
    Divider,
    /// Anything else.
    Other,
}

/// The statements between two braces, during parsing.
struct Frame {
    /// The owner of the braces; `None` at the root, and for braces that belong to nothing.
    opened: Option<Opened>,
    statements: Vec<Statement>,
    /// The index of the frame that gets the statements.
    ///
    /// It is this frame, or one below it for braces that belong to nothing.
    home: usize,
}

/// A composite whose `}` isn't read yet.
struct Opened {
    start: usize,
    brace: usize,
    id: Spanned<String>,
    title: Option<Spanned<String>>,
    drawn: DrawnAs,
}

struct Parser<'a> {
    prepared: &'a Prepared,
    text: &'a str,
    lexer: Lexer<'a>,
    peeked: Option<Token>,
    /// The end of the last consumed token.
    used: usize,
    frames: Vec<Frame>,
    previous: Option<Previous>,
    /// The last name or label that ends in `}`, which was probably meant to close a composite.
    glued_brace: Option<Range<usize>>,
    too_deep: bool,
    line_starts: Vec<usize>,
    /// The line of the last query.
    last_line: Cell<usize>,
    strays: Strays,
    quoted: Quoted<'a>,
    bare: Vec<Bare>,
    /// Set if there is a note or a pseudo-state, for which the order of mentions matters.
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
            quoted: Quoted::default(),
            bare: Vec::new(),
            is_ordered: false,
            diags,
        }
    }

    /// Parses `(statement | NL)*`, up to the end of the text.
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
            Kind::Word => self.state_words(token),
            Kind::SeveralWords => {
                self.several_words(token);
                Ok(())
            }
            Kind::Title => self.titled_state(token),
            Kind::Pseudo(kind) => self.pseudo_state(token, kind),
            Kind::Close => {
                self.close(token);
                Ok(())
            }
            Kind::Divider if self.dashed_comment(token) => Ok(()),
            Kind::Divider => {
                self.bump();
                self.push(token.start..token.end, StatementKind::Divider);
                self.remember(Shape::Other, LineEntry::Divider, token.start..token.end);
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

    fn push(&mut self, range: Range<usize>, kind: StatementKind) {
        let span = self.trimmed_span(range);
        let home = self.frames.last().map_or(0, |frame| frame.home);
        if let Some(frame) = self.frames.get_mut(home) {
            frame.statements.push(Statement { span, kind });
        }
    }

    /// Remembers the last statement.
    fn remember(&mut self, shape: Shape, what: LineEntry, range: Range<usize>) {
        self.previous = Some(Previous {
            shape,
            start: range.start,
            name: range.start,
            end: range.end,
        });
        self.add_to_line(what, range);
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

/// Braces.
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

    /// Opens a composite that Mermaid draws otherwise.
    pub(super) fn open_drawn_as(
        &mut self,
        start: usize,
        brace: usize,
        id: Spanned<String>,
        title: Option<Spanned<String>>,
        drawn: DrawnAs,
    ) {
        self.report_strays();
        if self.frames.len() > MAX_DEPTH {
            if !self.too_deep {
                self.too_deep = true;
                let span = self.span(brace..brace + 1);
                self.report(syntax_error::nested_too_deep(span, MAX_DEPTH));
            }
            let declared = Declaration {
                id,
                title,
                stereotype: None,
                body: None,
                drawn,
            };
            self.push(start..brace, StatementKind::Declaration(declared));
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

    /// Opens braces that belong to nothing; their statements go to the enclosing body.
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
        self.report_strays();
        if self.frames.len() > 1
            && let Some(Frame {
                opened: Some(opened),
                statements,
                ..
            }) = self.frames.pop()
        {
            self.push_composite(opened, statements, token.end);
        }
        self.remember(Shape::Other, LineEntry::Other, token.start..token.end);
    }

    fn push_composite(&mut self, opened: Opened, statements: Vec<Statement>, end: usize) {
        let declaration = Declaration {
            id: opened.id,
            title: opened.title,
            stereotype: None,
            body: Some(Body { statements }),
            drawn: opened.drawn,
        };
        self.push(opened.start..end, StatementKind::Declaration(declaration));
    }

    /// Closes all open braces, and reports each.
    pub(super) fn finish(mut self) -> (Vec<Statement>, Vec<Bare>) {
        self.report_strays();
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
                self.report(unclosed_composite(brace, &id, glued));
                self.push_composite(opened, statements, end);
            }
        }
        let root = self.frames.pop().map(|frame| frame.statements);
        (root.unwrap_or_default(), self.bare)
    }
}

/// Recovery after a statement that can't be read.
impl Parser<'_> {
    /// Gives up a statement at a token.
    ///
    /// Line ends, braces and tokens on a later line are left for the next statement.
    pub(super) fn broken_at(&self, token: Token, diagnostic: Diagnostic) -> Bad {
        let stays = matches!(token.kind, Kind::NewLine | Kind::End | Kind::Close)
            || (self.used > 0 && self.line_of(token.lead) > self.line_of(self.used - 1));
        let resume = if stays {
            Resume::Here
        } else {
            Resume::NextLine(token.lead)
        };
        Bad {
            diagnostic: Box::new(diagnostic),
            resume,
        }
    }

    /// Gives up a statement from an offset to the end of the line.
    pub(super) fn broken_line(at: usize, diagnostic: Diagnostic) -> Bad {
        Bad {
            diagnostic: Box::new(diagnostic),
            resume: Resume::NextLine(at),
        }
    }

    /// Gives up a statement, and parses again from an offset.
    pub(super) fn broken_before(at: usize, diagnostic: Diagnostic) -> Bad {
        Bad {
            diagnostic: Box::new(diagnostic),
            resume: Resume::At(at),
        }
    }

    pub(super) fn recover(&mut self, bad: Bad) {
        let line = self.line_of(match bad.resume {
            Resume::Here => self.used.saturating_sub(1),
            Resume::NextLine(at) | Resume::At(at) => at,
        });
        let place = bad.diagnostic.primary.span;
        let misreading = match self.is_silent(line) {
            true => self.diags.take_misreading(place),
            false => None,
        };
        self.silence(line);
        self.report(match misreading {
            Some(cause) => syntax_error::caused_by(cause),
            None => *bad.diagnostic,
        });
        match bad.resume {
            Resume::Here => {}
            Resume::NextLine(at) => self.skip_line(at),
            Resume::At(at) => self.restart(at),
        }
        self.previous = None;
    }

    /// Continues at an offset, between statements, inside the current braces.
    pub(super) fn restart(&mut self, at: usize) {
        self.peeked = None;
        self.used = at;
        self.lexer.resume(at, self.frames.len() - 1);
    }

    /// Skips the rest of a line, up to a `}` that closes an open brace.
    ///
    /// A `{` that the line leaves open is kept, so that its `}` doesn't close something else.
    fn skip_line(&mut self, at: usize) {
        let end = self.line_range(at).end;
        let line = self.slice(at..end);
        let mut stop = end;
        let mut opened = 0_usize;
        let mut before = ' ';
        for (offset, c) in line.char_indices() {
            match c {
                ':' => break,
                '{' => opened += 1,
                '}' if opened > 0 => opened -= 1,
                '}' if self.frames.len() > 1 && is_space(before) => {
                    stop = at + offset;
                    break;
                }
                _ => {}
            }
            before = c;
        }
        for _ in 0..opened {
            self.open_nothing();
        }
        self.restart(stop);
    }
}

/// Slices of the text and their spans.
impl<'a> Parser<'a> {
    pub(super) fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or("")
    }

    /// Returns the text as Mermaid reads it, but with the entities as written.
    ///
    /// This is nearly always the text as its author wrote it.
    pub(super) fn raw(&self, range: Range<usize>) -> String {
        let text = self.prepared.excerpt.text();
        let end = range.end.min(text.len());
        let range = range.start.min(end)..end;
        let original = text.get(range.clone()).unwrap_or("");
        let read = self.slice(range);
        if read == original {
            return read.to_owned();
        }
        preprocess::show_entities(read, original)
    }

    pub(super) fn span(&self, range: Range<usize>) -> Span {
        let most = self.prepared.excerpt.text().len();
        let end = range.end.min(most);
        self.prepared.excerpt.span(range.start.min(end)..end)
    }

    pub(super) fn trim(&self, range: Range<usize>) -> Range<usize> {
        let text = self.slice(range.clone());
        let kept = text.trim_start_matches(is_space);
        let start = range.end - kept.len();
        let kept = kept.trim_end_matches(is_space);
        if text.is_empty() {
            range
        } else {
            start..start + kept.len()
        }
    }

    pub(super) fn trimmed_span(&self, range: Range<usize>) -> Span {
        self.span(self.trim(range))
    }

    /// Returns a trimmed text with its span.
    pub(super) fn spanned(&self, range: Range<usize>) -> Spanned<String> {
        let range = self.trim(range);
        Spanned::new(self.raw(range.clone()), self.span(range))
    }

    /// Returns whether the file has a text byte for byte.
    pub(super) fn is_verbatim(&self, text: &Spanned<String>) -> bool {
        let excerpt = &self.prepared.excerpt;
        let length = text.value.len();
        let written = excerpt
            .offset_of(text.span.start)
            .and_then(|start| excerpt.text().get(start..start + length));
        text.span.range().len() == length && written == Some(text.value.as_str())
    }

    /// Returns a state id with its span, and reports hidden characters.
    pub(super) fn name(&mut self, range: Range<usize>) -> Spanned<String> {
        let name = self.spanned(range);
        if !name.value.is_ascii()
            && let Some(diagnostic) = invisible::check(name.span, &name.value)
        {
            self.report(diagnostic);
        }
        name
    }

    /// Returns the line of an offset, from 0.
    pub(super) fn line_of(&self, at: usize) -> usize {
        // Nearly every query is about the line of the last one, or the next.
        let last = self.last_line.get();
        for line in [last, last + 1] {
            let start = self.line_starts.get(line).copied();
            let next = self.line_starts.get(line + 1).copied();
            if start.is_some_and(|start| start <= at) && next.is_none_or(|next| at < next) {
                self.last_line.set(line);
                return line;
            }
        }
        let after = self.line_starts.partition_point(|&start| start <= at);
        let line = after.saturating_sub(1);
        self.last_line.set(line);
        line
    }

    /// Returns the range of the line at an offset, without its end.
    pub(super) fn line_range(&self, at: usize) -> Range<usize> {
        let line = self.line_of(at);
        let start = self.line_starts.get(line).copied().unwrap_or(0);
        let end = self
            .line_starts
            .get(line + 1)
            .map_or(self.text.len(), |next| next - 1);
        start..end.max(start)
    }

    pub(super) fn same_line(&self, a: usize, b: usize) -> bool {
        self.line_of(a) == self.line_of(b)
    }
}

/// Reports a composite that is open at the end of the diagram.
///
/// A `}` at the end of an earlier name or label is pointed at.
fn unclosed_composite(brace: Span, id: &str, glued: Option<(Span, String)>) -> Diagnostic {
    let id = quote(id);
    let message = format!("the body of `{id}` isn't closed");
    let diagnostic =
        Diagnostic::new(Code::UnclosedComposite, brace, message).label("this `{` has no `}`");
    match glued {
        Some((span, text)) => diagnostic
            .related(
                span,
                format!("in `{}` the `}}` belongs to the text", quote(&text)),
            )
            .help("put the `}` on a line of its own"),
        None => diagnostic.help("put a `}` on a line of its own after the body"),
    }
}
