//! Mermaid's lexer for state diagrams.
//!
//! The lexer has modes. Each mode is a list of rules, of which the first match wins, not the longest. Between
//! statements there are two modes, outside and inside braces; keywords open the others. The rules are those of Mermaid
//! 12.3, in its order; rule numbers in comments count within a mode.
//!
//! Two things differ. `state Foo` on one line and `state Bar {` on the next are two declarations, while Mermaid takes
//! them for one name of two words since 11.16. And the lexer never fails: a character that no rule matches is a
//! [`Kind::Unknown`], after which the parser sets the lexer to a new line with [`Lexer::resume`].

mod line;
mod modes;
pub(super) mod rule;

use line::Line;

use super::ast::{Direction, Stereotype};

/// The kind of a token, documented with the grammar's name for the terminal.
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
    /// `COMPOSIT_STATE`: a word after `state`.
    Word,
    /// Several words after `state` and a `{`, which belongs to the token; Mermaid throws here.
    SeveralWords,
    /// `STATE_DESCR`: a title in quotes, without them.
    Title,
    /// `AS`.
    As,
    /// `FORK`, `JOIN`, `CHOICE`: everything from after `state` to the end of the mark.
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
    /// `NOTE_TEXT` after a colon, which belongs to the token.
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
    /// The rest of the line: `CLASSDEF_STYLEOPTS`, `STYLECLASS`, `STYLEDEF_STYLEOPTS`.
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

/// A token and its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// The kind of token.
    pub(super) kind: Kind,
    /// The start of the token, with a `state` before it included.
    pub(super) lead: usize,
    /// The start of the token's own text.
    pub(super) start: usize,
    /// The end of the token.
    pub(super) end: usize,
}

impl Token {
    /// Returns whether it is the first token after a `state`.
    pub(super) fn follows_state(self) -> bool {
        self.lead < self.start
    }
}

/// The mode that a keyword opened; between statements there is none.
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

/// The lexer and its position.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    modes: Vec<Mode>,
    /// The number of open braces.
    depth: usize,
    /// The offset of a `state` whose first token isn't read yet.
    state_at: Option<usize>,
    line: Line,
    end_note: modes::EndNote,
}

impl<'t> Lexer<'t> {
    /// Creates a lexer at the start of a text.
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            modes: Vec::new(),
            depth: 0,
            state_at: None,
            line: Line::scan(text, 0),
            end_note: modes::EndNote::default(),
        }
    }

    /// Returns the next token.
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

    /// Continues between statements at an offset, inside a number of braces.
    pub(super) fn resume(&mut self, at: usize, depth: usize) {
        self.at = at;
        self.depth = depth;
        self.modes.clear();
        self.state_at = None;
    }

    /// Returns whether Mermaid would refuse what follows a word after `state`.
    ///
    /// It takes the word that ends at the offset, a word on a later line, and a `{` after that for a single name.
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

    /// Returns the facts of the current line.
    fn line(&mut self) -> &Line {
        self.line_of(self.at)
    }

    /// Returns the facts of the line at an offset.
    fn line_of(&mut self, at: usize) -> &Line {
        if !self.line.holds(at) {
            self.line = Line::scan(self.text, at);
        }
        &self.line
    }

    /// Moves to the rest that a rule left.
    fn skip(&mut self, rest: &str) -> Option<Token> {
        self.at = self.text.len() - rest.len();
        None
    }

    /// Creates a token of everything up to the rest that a rule left.
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

    /// Creates a token and opens a mode for what follows.
    fn open(&mut self, kind: Kind, rest: &str, mode: Mode) -> Option<Token> {
        self.modes.push(mode);
        self.take(kind, rest)
    }

    /// Creates a token and closes the current mode.
    fn close(&mut self, kind: Kind, rest: &str) -> Option<Token> {
        self.modes.pop();
        self.take(kind, rest)
    }

    /// Creates a token and replaces the current mode.
    fn turn(&mut self, kind: Kind, rest: &str, mode: Mode) -> Option<Token> {
        self.modes.pop();
        self.open(kind, rest, mode)
    }

    /// Creates a token for a `{`, which closes all modes and opens a level.
    fn open_brace(&mut self, kind: Kind, rest: &str) -> Option<Token> {
        self.modes.clear();
        self.depth += 1;
        self.take(kind, rest)
    }

    /// Creates a token where no rule matches: the end, or one character.
    fn unknown(&mut self) -> Option<Token> {
        let mut rest = self.rest().chars();
        match rest.next() {
            Some(_) => self.take(Kind::Unknown, rest.as_str()),
            None => self.take(Kind::End, ""),
        }
    }

    /// Creates an id, cut at `%%` as in Mermaid since 11.15.
    ///
    /// An id that begins with `%%` is skipped.
    fn id(&mut self, kind: Kind, matched: &str, rest: &str) -> Option<Token> {
        // A search for one byte is faster, and nearly no id has it.
        let cut = matched.find('%').and_then(|_| matched.find("%%"));
        match cut {
            None => self.take(kind, rest),
            Some(0) => self.skip(rest),
            Some(cut) => self.take_until(kind, self.at + cut),
        }
    }
}

/// Returns the start and end of the direction in a line that was read as one.
pub(super) fn direction(text: &str) -> Option<(usize, usize)> {
    let (_, start, end) = Line::scan(text, 0).direction(0)?;
    Some((start, end))
}
