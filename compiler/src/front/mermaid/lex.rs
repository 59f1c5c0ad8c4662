//! Mermaid's lexer for state diagrams.
//!
//! It has modes, and in each mode a list of rules of which the first that matches wins, not the longest. [`root`] and
//! [`composite`] are the modes between statements, outside of braces and inside; [`state`], [`note`] and [`drawing`] those
//! that a keyword opens. The rules are those of Mermaid 12.3, in its order; rule numbers in comments count within a mode.
//!
//! Two things differ. `state Foo` on one line and `state Bar {` on the next are two declarations (Mermaid takes them for
//! one name of two words since 11.16); and the lexer never fails: what no rule matches is a [`Kind::Unknown`] of one
//! character, after which the parser sets it to a new line with [`Lexer::resume`].

mod line;
mod modes;
pub(super) mod rule;

use line::Line;

use super::ast::{Direction, Stereotype};

/// What a token is. The names of the grammar's terminals stand behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `NL`.
    NewLine,
    /// The end of the text.
    End,
    /// `SD`.
    Header,
    /// `ID`.
    Id,
    /// `EDGE_STATE`: `[*]`.
    Star,
    /// `DESCR`: a colon and its text.
    Description,
    /// `-->`.
    Arrow,
    /// `CONCURRENT`: `--`.
    Divider,
    /// `STYLE_SEPARATOR`: `:::`.
    ClassMark,
    /// `COMPOSIT_STATE`: a word behind `state`.
    Word,
    /// Several words behind `state` and a `{`, which belongs to the token. Mermaid throws here.
    SeveralWords,
    /// `STATE_DESCR`: a title in quotes, without them.
    Title,
    /// `AS`.
    As,
    /// `FORK`, `JOIN`, `CHOICE`: all from behind `state` to the end of the mark.
    Pseudo(Stereotype),
    /// `STRUCT_START`.
    Open,
    /// `STRUCT_STOP`.
    Close,
    /// `direction`: the whole line.
    Direction(Direction),
    /// `note`.
    Note,
    /// `left_of`.
    LeftOf,
    /// `right_of`.
    RightOf,
    /// `NOTE_TEXT` behind a colon, which belongs to the token.
    NoteLine,
    /// `NOTE_TEXT` up to `end note`, which belongs to the token.
    NoteBlock,
    /// `NOTE_TEXT` in quotes, without them.
    NoteTitle,
    /// `acc_title`.
    AccTitle,
    /// `acc_descr`.
    AccDescription,
    /// `acc_title_value`, `acc_descr_value`.
    AccValue,
    /// `acc_descr_multiline_value`.
    AccBlock,
    /// `classDef`.
    ClassDef,
    /// `DEFAULT_CLASSDEF_ID`, which the grammar doesn't know.
    ClassDefDefault,
    /// `CLASSDEF_ID`.
    ClassDefName,
    /// `class`.
    Class,
    /// `CLASSENTITY_IDS`.
    ClassIds,
    /// `style`.
    Style,
    /// `STYLE_IDS`.
    StyleIds,
    /// `CLASSDEF_STYLEOPTS`, `STYLECLASS`, `STYLEDEF_STYLEOPTS`: the rest of the line.
    DrawingRest,
    /// `CLICK`.
    Click,
    /// `HREF`.
    Href,
    /// `STRING`, with its quotes.
    Text,
    /// `DEFAULT`.
    Default,
    /// `scale`.
    Scale,
    /// `WIDTH`.
    Width,
    /// `HIDE_EMPTY`.
    HideEmpty,
    /// One character that no rule of the mode matches.
    Unknown,
}

/// A piece of the text with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// Where it begins, a `state` in front of it included.
    pub(super) lead: usize,
    /// Where its own text begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

impl Token {
    /// Whether it is the first behind a `state`.
    pub(super) fn follows_state(self) -> bool {
        self.lead < self.start
    }
}

/// What a keyword opened. Between statements there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    State,
    StateTitle,
    StateId,
    Note,
    NoteId,
    NoteText,
    FloatingNote,
    FloatingNoteId,
    ClassDef,
    Class,
    Style,
    DrawingRest,
    Scale,
    AccValue,
    AccBlock,
}

/// The lexer and where it stands.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    modes: Vec<Mode>,
    /// How many braces are open.
    depth: usize,
    /// Where a `state` stands whose first token is still to come.
    state_at: Option<usize>,
    line: Line,
    end_note: modes::EndNote,
}

impl<'t> Lexer<'t> {
    /// A lexer at the start of a text.
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            modes: Vec::new(),
            depth: 0,
            state_at: None,
            line: Line::read(text, 0),
            end_note: modes::EndNote::default(),
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Token {
        loop {
            let found = match self.modes.last() {
                None if self.depth == 0 => self.root(),
                None => self.composite(),
                Some(Mode::State) => self.state(),
                Some(Mode::StateTitle) => self.state_title(),
                Some(Mode::StateId) => self.state_id(),
                Some(Mode::Note) => self.note(),
                Some(Mode::NoteId) => self.note_id(),
                Some(Mode::NoteText) => self.note_text(),
                Some(Mode::FloatingNote) => self.floating_note(),
                Some(Mode::FloatingNoteId) => self.floating_note_id(),
                Some(Mode::ClassDef) => self.class_def(),
                Some(Mode::Class) => self.class(),
                Some(Mode::Style) => self.style(),
                Some(Mode::DrawingRest) => self.drawing_rest(),
                Some(Mode::Scale) => self.scale(),
                Some(Mode::AccValue) => self.acc_value(),
                Some(Mode::AccBlock) => self.acc_block(),
            };
            if let Some(token) = found {
                return token;
            }
        }
    }

    /// Goes on between statements at an offset, with that many braces open.
    pub(super) fn resume(&mut self, at: usize, depth: usize) {
        self.at = at;
        self.depth = depth;
        self.modes.clear();
        self.state_at = None;
    }

    /// Whether Mermaid would refuse what follows a word of `state` that ends at the offset: it takes that word, the next
    /// one on a later line, and a `{` behind it for a single name.
    pub(super) fn runs_into_brace(&self, end: usize) -> bool {
        let rest = self.text.get(end..).unwrap_or("");
        let Ok((rest, blanks)) = rule::space1(rest) else {
            return false;
        };
        let Ok((rest, _)) = rule::word1(rest) else {
            return false;
        };
        let line = rest.split(rule::is_line_end).next().unwrap_or("");
        blanks.contains('\n') && line.contains('{')
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The facts of the line at which the lexer stands.
    fn line(&mut self) -> &Line {
        self.line_of(self.at)
    }

    /// The facts of the line that holds an offset.
    fn line_of(&mut self, at: usize) -> &Line {
        if !self.line.holds(at) {
            self.line = Line::read(self.text, at);
        }
        &self.line
    }

    /// Passes over what a rule matched.
    fn skip(&mut self, rest: &str) -> Option<Token> {
        self.at = self.text.len() - rest.len();
        None
    }

    /// Makes a token of all up to the rest that a rule left.
    fn take(&mut self, kind: Kind, rest: &str) -> Option<Token> {
        self.take_until(kind, self.text.len() - rest.len())
    }

    fn take_until(&mut self, kind: Kind, end: usize) -> Option<Token> {
        let start = self.at;
        self.at = end;
        Some(Token {
            kind,
            lead: self.state_at.take().unwrap_or(start),
            start,
            end,
        })
    }

    /// Makes a token and opens a mode for what follows it.
    fn open(&mut self, kind: Kind, rest: &str, mode: Mode) -> Option<Token> {
        self.modes.push(mode);
        self.take(kind, rest)
    }

    /// Makes a token and closes the mode that read it.
    fn close(&mut self, kind: Kind, rest: &str) -> Option<Token> {
        self.modes.pop();
        self.take(kind, rest)
    }

    /// Makes a token and replaces the mode that read it.
    fn turn(&mut self, kind: Kind, rest: &str, mode: Mode) -> Option<Token> {
        self.modes.pop();
        self.open(kind, rest, mode)
    }

    /// `{`: a new depth, in which no mode is left open.
    fn open_brace(&mut self, kind: Kind, rest: &str) -> Option<Token> {
        self.modes.clear();
        self.depth += 1;
        self.take(kind, rest)
    }

    /// What is left where no rule matches: the end, or one character.
    fn unknown(&mut self) -> Option<Token> {
        let mut rest = self.rest().chars();
        match rest.next() {
            Some(_) => self.take(Kind::Unknown, rest.as_str()),
            None => self.take(Kind::End, ""),
        }
    }

    /// Makes an id of a match, cut in front of `%%` as Mermaid does since 11.15; one that begins with `%%` is nothing.
    fn id(&mut self, kind: Kind, matched: &str, rest: &str) -> Option<Token> {
        // Looking for one byte is quicker, and nearly every id is without.
        let cut = matched.find('%').and_then(|_| matched.find("%%"));
        match cut {
            None => self.take(kind, rest),
            Some(0) => self.skip(rest),
            Some(cut) => self.take_until(kind, self.at + cut),
        }
    }
}

/// Where the direction in a text that was taken for one begins and ends.
pub(super) fn direction(text: &str) -> Option<(usize, usize)> {
    let (_, start, end) = Line::read(text, 0).direction(0)?;
    Some((start, end))
}
