//! The rules of Mermaid's modes.

use nom::Parser;
use nom::bytes::complete::tag;

use super::{Kind, Lexer, Mode, Token, rule};

/// Between statements, outside of braces: Mermaid's mode INITIAL.
impl Lexer<'_> {
    /// One rule of INITIAL. Rules are looked up by their first byte; within a byte they keep Mermaid's order.
    pub(super) fn root(&mut self) -> Option<Token> {
        let input = self.rest();
        let Some(&first) = input.as_bytes().first() else {
            return self.take(Kind::End, "");
        };
        if let Some(token) = self.before_direction(input, first) {
            return Some(token);
        }
        // Rules 5 to 8: the line, its comments included, is a direction wherever it holds one.
        if let Some((direction, _, end)) = {
            let at = self.at;
            self.line().direction(at)
        } {
            let behind = self.text.get(end..).unwrap_or("");
            let (rest, _) = rule::line_rest(behind).unwrap_or(("", behind));
            return self.take(Kind::Direction(direction), rest);
        }
        // Rules 9 to 12. A run of blanks that begins with another one swallows line ends.
        if let Ok((rest, _)) = rule::newlines(input) {
            return self.take(Kind::NewLine, rest);
        }
        if let Ok((rest, _)) = rule::space1(input) {
            return self.skip(rest);
        }
        if let Ok((rest, _)) = rule::comment(input) {
            return self.skip(rest);
        }
        if first.is_ascii_alphabetic() {
            let before = self.at;
            let token = self.keyword(input, first);
            // Some keywords make no token and only move on.
            if token.is_some() || self.at != before {
                return token;
            }
        }
        self.sign(input, first)
    }

    /// Rules 1 to 4, which come before everything.
    fn before_direction(&mut self, input: &str, first: u8) -> Option<Token> {
        let (kind, found) = match first {
            b'c' | b'C' => (Kind::Click, rule::bounded("click")(input)),
            b'h' | b'H' => (Kind::Href, rule::bounded("href")(input)),
            b'"' => (Kind::Text, rule::quoted(input)),
            b'd' | b'D' => (Kind::Default, rule::bounded("default")(input)),
            _ => return None,
        };
        let (rest, _) = found.ok()?;
        self.take(kind, rest)
    }

    /// Rules 13 to 20 and 22 to 24.
    fn keyword(&mut self, input: &str, first: u8) -> Option<Token> {
        match first.to_ascii_lowercase() {
            b'a' => self.accessibility(input),
            b'c' => self.class_keyword(input),
            b'n' => self.note_keyword(input),
            b's' => {
                if let Ok((rest, _)) = rule::spaced("scale")(input) {
                    self.open(Kind::Scale, rest, Mode::Scale)
                } else if let Some(token) = self.style_keyword(input) {
                    Some(token)
                } else if let Ok((rest, _)) = rule::spaced("state")(input) {
                    self.state_keyword(rest);
                    None
                } else if let Ok((rest, _)) = rule::spaced("stateDiagram")(input) {
                    self.take(Kind::Header, rest)
                } else {
                    let (rest, _) = rule::spaced("stateDiagram-v2")(input).ok()?;
                    self.take(Kind::Header, rest)
                }
            }
            b'h' => {
                let (rest, _) = rule::bounded("hide empty description")(input).ok()?;
                self.take(Kind::HideEmpty, rest)
            }
            _ => None,
        }
    }

    /// Rules 14 to 16.
    fn accessibility(&mut self, input: &str) -> Option<Token> {
        if let Ok((rest, _)) = rule::marked("accTitle", ':')(input) {
            self.open(Kind::AccTitle, rest, Mode::AccValue)
        } else if let Ok((rest, _)) = rule::marked("accDescr", ':')(input) {
            self.open(Kind::AccDescription, rest, Mode::AccValue)
        } else if let Ok((rest, _)) = rule::marked("accDescr", '{')(input) {
            // No token of its own in Mermaid's grammar: the block's text stands for all of it.
            self.state_at = Some(self.at);
            self.modes.push(Mode::AccBlock);
            self.at = self.text.len() - rest.len();
            self.acc_block()
        } else {
            None
        }
    }

    /// Rules 21 and 25 to 31.
    fn sign(&mut self, input: &str, first: u8) -> Option<Token> {
        if first == b'{' {
            return self.open_brace(Kind::Open, input.get(1..).unwrap_or(""));
        }
        self.name_or_sign(input).unwrap_or_else(|| self.unknown())
    }

    /// The rules for names, labels and arrows, which both modes between statements have in this order. The inner `None`
    /// is a match that makes no token.
    pub(super) fn name_or_sign(&mut self, input: &str) -> Option<Option<Token>> {
        if let Some(rest) = input.strip_prefix("[*]") {
            return Some(self.take(Kind::Star, rest));
        }
        if let Ok((rest, matched)) = rule::id(input) {
            return Some(self.id(Kind::Id, matched, rest));
        }
        if let Ok((rest, _)) = rule::description(input) {
            return Some(self.take(Kind::Description, rest));
        }
        let sign = |text: &'static str| tag::<_, _, ()>(text).parse(input);
        if let Ok((rest, _)) = sign("-->") {
            return Some(self.take(Kind::Arrow, rest));
        }
        // INITIAL has no rule for `--`.
        if self.depth > 0
            && let Ok((rest, _)) = sign("--")
        {
            return Some(self.take(Kind::Divider, rest));
        }
        let (rest, _) = sign(":::").ok()?;
        Some(self.take(Kind::ClassMark, rest))
    }
}

/// Between statements, inside of braces: Mermaid's mode struct.
impl Lexer<'_> {
    /// One rule of struct.
    pub(super) fn composite(&mut self) -> Option<Token> {
        let input = self.rest();
        let Some(&first) = input.as_bytes().first() else {
            return self.take(Kind::End, "");
        };
        if let Ok((rest, _)) = rule::space1(input) {
            return self.skip(rest);
        }
        if let Ok((rest, _)) = rule::comment(input) {
            return self.skip(rest);
        }
        let keyword = match first {
            b'c' | b'C' => self.class_keyword(input),
            b's' | b'S' => self.style_keyword(input),
            _ => None,
        };
        if keyword.is_some() {
            return keyword;
        }
        if let Ok((rest, _)) = rule::spaced("state")(input) {
            self.state_keyword(rest);
            return None;
        }
        // The direction comes behind `state` here, and before it at the root.
        let at = self.at;
        if let Some((direction, _, end)) = self.line().direction(at) {
            let behind = self.text.get(end..).unwrap_or("");
            let (rest, _) = rule::line_rest(behind).unwrap_or(("", behind));
            return self.take(Kind::Direction(direction), rest);
        }
        if let Some(rest) = input.strip_prefix('}') {
            self.depth = self.depth.saturating_sub(1);
            return self.take(Kind::Close, rest);
        }
        if matches!(first, b'n' | b'N')
            && let Some(token) = self.note_keyword(input)
        {
            return Some(token);
        }
        self.name_or_sign(input).unwrap_or_else(|| self.unknown())
    }
}

/// Behind `state`: Mermaid's modes STATE, STATE_STRING and STATE_ID.
impl Lexer<'_> {
    /// `state\s+` makes no token; the blanks may end the line.
    pub(super) fn state_keyword(&mut self, rest: &str) {
        self.state_at = Some(self.at);
        self.modes.push(Mode::State);
        self.skip(rest);
    }

    /// One rule of STATE.
    pub(super) fn state(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Ok((rest, _)) = rule::blank1(input) {
            return self.skip(rest);
        }
        if let Ok((rest, _)) = rule::comment(input) {
            return self.skip(rest);
        }
        let at = self.at;
        if let Some((kind, _, end)) = self.line().stereotype(at) {
            self.modes.pop();
            return self.take_until(Kind::Pseudo(kind), end);
        }
        if let Some(rest) = input.strip_prefix('"') {
            self.modes.push(Mode::StateTitle);
            let lead = self.state_at.unwrap_or(self.at);
            self.state_at = Some(lead);
            return self.skip(rest);
        }
        if let Ok((rest, _)) = rule::alias(input) {
            return self.open(Kind::As, rest, Mode::StateId);
        }
        if let Some(rest) = self.several_words(input) {
            return self.open_brace(Kind::SeveralWords, rest);
        }
        if let Ok((rest, _)) = rule::composite(input) {
            return self.take(Kind::Word, rest);
        }
        if let Some(rest) = input.strip_prefix('\n') {
            self.modes.pop();
            self.state_at = None;
            return self.skip(rest);
        }
        if let Some(rest) = input.strip_prefix('{') {
            return self.open_brace(Kind::Open, rest);
        }
        self.modes.pop();
        self.unknown()
    }

    /// `\w+\s+\w+.*?\{`, with blanks that stay on the line: see [`super::Lexer::runs_into_brace`].
    fn several_words<'t>(&mut self, input: &'t str) -> Option<&'t str> {
        let (rest, _) = rule::word1(input).ok()?;
        let (rest, _) = rule::blank1(rest).ok()?;
        let (rest, _) = rule::word1(rest).ok()?;
        let at = self.text.len() - rest.len();
        // The blanks may hold one of the line ends that only JavaScript knows.
        if !self.line_of(at).has_brace(at) {
            return None;
        }
        let (_, rest) = rest.split_once('{')?;
        Some(rest)
    }

    /// One rule of STATE_STRING; a title may span lines.
    pub(super) fn state_title(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Some(rest) = input.strip_prefix('"') {
            self.modes.pop();
            return self.skip(rest);
        }
        if input.is_empty() {
            return self.unknown();
        }
        let end = input.find('"').unwrap_or(input.len());
        self.take(Kind::Title, input.get(end..).unwrap_or(""))
    }

    /// STATE_ID: all up to the line's end or a brace, and be it nothing.
    pub(super) fn state_id(&mut self) -> Option<Token> {
        let input = self.rest();
        let end = input.find(['\n', '{']).unwrap_or(input.len());
        let (matched, rest) = input.split_at_checked(end).unwrap_or((input, ""));
        // An id that begins with `%%` is passed over, and the rule tried again on what follows.
        if !matched.starts_with("%%") {
            self.modes.pop();
        }
        self.id(Kind::Id, matched, rest)
    }
}

/// What is known of the next `end note`, so that a text with many notes and no end is searched once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EndNote {
    /// Where the search began.
    from: usize,
    /// What it found; `None` before the first search.
    found: Option<Found>,
}

#[derive(Clone, Copy, Debug)]
enum Found {
    /// Nothing up to the end of the text.
    Nothing,
    /// The last line end in front of it, and where it ends.
    At { newline: usize, end: usize },
}

/// Behind `note`: Mermaid's modes NOTE, NOTE_ID, NOTE_TEXT, FLOATING_NOTE and FLOATING_NOTE_ID.
impl Lexer<'_> {
    /// `note\s+`.
    pub(super) fn note_keyword(&mut self, input: &str) -> Option<Token> {
        let (rest, _) = rule::spaced("note")(input).ok()?;
        self.open(Kind::Note, rest, Mode::Note)
    }

    /// One rule of NOTE.
    pub(super) fn note(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Ok((rest, _)) = rule::bounded("left of")(input) {
            self.turn(Kind::LeftOf, rest, Mode::NoteId)
        } else if let Ok((rest, _)) = rule::bounded("right of")(input) {
            self.turn(Kind::RightOf, rest, Mode::NoteId)
        } else if let Some(rest) = input.strip_prefix('"') {
            self.modes.pop();
            self.modes.push(Mode::FloatingNote);
            self.skip(rest)
        } else {
            self.unknown()
        }
    }

    /// NOTE_ID: one name, which a dash ends.
    pub(super) fn note_id(&mut self) -> Option<Token> {
        match rule::note_id(self.rest()) {
            Ok((rest, matched)) => {
                if !matched.starts_with("%%") {
                    self.modes.pop();
                    self.modes.push(Mode::NoteText);
                }
                self.id(Kind::Id, matched, rest)
            }
            Err(_) => self.unknown(),
        }
    }

    /// NOTE_TEXT: behind a colon, else up to `end note` at the start of a line.
    pub(super) fn note_text(&mut self) -> Option<Token> {
        if let Ok((rest, _)) = rule::note_line(self.rest()) {
            return self.close(Kind::NoteLine, rest);
        }
        match self.end_note() {
            Some(end) => {
                self.modes.pop();
                self.take_until(Kind::NoteBlock, end)
            }
            None => self.unknown(),
        }
    }

    /// One rule of FLOATING_NOTE. `as` is tried before the text, so a text that begins with it is none.
    pub(super) fn floating_note(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Ok((rest, _)) = rule::note_alias(input) {
            return self.turn(Kind::As, rest, Mode::FloatingNoteId);
        }
        if let Some(rest) = input.strip_prefix('"') {
            return self.skip(rest);
        }
        if input.is_empty() {
            return self.unknown();
        }
        let end = input.find('"').unwrap_or(input.len());
        self.take(Kind::NoteTitle, input.get(end..).unwrap_or(""))
    }

    /// FLOATING_NOTE_ID: the rest of the line.
    pub(super) fn floating_note_id(&mut self) -> Option<Token> {
        let input = self.rest();
        let (rest, matched) = rule::line_rest(input).unwrap_or(("", input));
        if !matched.starts_with("%%") {
            self.modes.pop();
        }
        self.id(Kind::Id, matched, rest)
    }

    /// Where the first `\n\s*end note\b` from here on ends.
    fn end_note(&mut self) -> Option<usize> {
        let known = self.end_note;
        match known.found {
            Some(Found::Nothing) if known.from <= self.at => return None,
            Some(Found::At { newline, end }) if known.from <= self.at && self.at <= newline => {
                return Some(end);
            }
            _ => {}
        }
        let found = search_end_note(self.text, self.at);
        self.end_note = EndNote {
            from: self.at,
            found: Some(found),
        };
        match found {
            Found::At { end, .. } => Some(end),
            Found::Nothing => None,
        }
    }
}

fn search_end_note(text: &str, from: usize) -> Found {
    let mut rest = text.get(from..).unwrap_or("");
    while let Some((_, behind)) = rest.split_once('\n') {
        let (line, blanks) = rule::space0(behind).unwrap_or((behind, ""));
        if let Ok((left, _)) = rule::bounded("end note")(line) {
            let blank_start = text.len() - behind.len();
            return Found::At {
                newline: blank_start + blanks.rfind('\n').map_or(0, |at| at + 1) - 1,
                end: text.len() - left.len(),
            };
        }
        rest = line;
    }
    Found::Nothing
}

/// Behind the keywords that only draw: Mermaid's modes CLASSDEF, CLASS, STYLE, SCALE, and those of `accTitle` and
impl Lexer<'_> {
    /// `classDef\s+`, then `class\s+`.
    pub(super) fn class_keyword(&mut self, input: &str) -> Option<Token> {
        if let Ok((rest, _)) = rule::spaced("classDef")(input) {
            return self.open(Kind::ClassDef, rest, Mode::ClassDef);
        }
        let (rest, _) = rule::spaced("class")(input).ok()?;
        self.open(Kind::Class, rest, Mode::Class)
    }

    /// `style\s+`.
    pub(super) fn style_keyword(&mut self, input: &str) -> Option<Token> {
        let (rest, _) = rule::spaced("style")(input).ok()?;
        self.open(Kind::Style, rest, Mode::Style)
    }

    /// CLASSDEF: `DEFAULT\s+`, which the grammar has no use for, or a name.
    pub(super) fn class_def(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Ok((rest, _)) = rule::spaced("default")(input) {
            return self.turn(Kind::ClassDefDefault, rest, Mode::DrawingRest);
        }
        match rule::class_name(input) {
            Ok((rest, _)) => self.turn(Kind::ClassDefName, rest, Mode::DrawingRest),
            Err(_) => self.unknown(),
        }
    }

    /// CLASS: the states.
    pub(super) fn class(&mut self) -> Option<Token> {
        match rule::class_ids(self.rest()) {
            Ok((rest, _)) => self.turn(Kind::ClassIds, rest, Mode::DrawingRest),
            Err(_) => self.unknown(),
        }
    }

    /// STYLE: the states.
    pub(super) fn style(&mut self) -> Option<Token> {
        match rule::style_ids(self.rest()) {
            Ok((rest, _)) => self.turn(Kind::StyleIds, rest, Mode::DrawingRest),
            Err(_) => self.unknown(),
        }
    }

    /// CLASSDEFID, CLASS_STYLE, STYLEDEF_STYLES: the rest of the line, and be it nothing.
    pub(super) fn drawing_rest(&mut self) -> Option<Token> {
        let input = self.rest();
        let (rest, _) = rule::line_rest(input).unwrap_or(("", input));
        self.close(Kind::DrawingRest, rest)
    }

    /// SCALE: a number, and `width` behind it, which ends it without a token.
    pub(super) fn scale(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Ok((rest, _)) = rule::digits(input) {
            return self.take(Kind::Width, rest);
        }
        let width = rule::space1(input).and_then(|(rest, _)| rule::bounded("width")(rest));
        match width {
            Ok((rest, _)) => {
                self.modes.pop();
                self.skip(rest)
            }
            Err(_) => self.unknown(),
        }
    }

    /// The text behind `accTitle:` or `accDescr:`.
    pub(super) fn acc_value(&mut self) -> Option<Token> {
        let input = self.rest();
        let (rest, _) = rule::line_rest(input).unwrap_or(("", input));
        self.close(Kind::AccValue, rest)
    }

    /// The text between the braces of `accDescr`. An empty block makes no token.
    pub(super) fn acc_block(&mut self) -> Option<Token> {
        let input = self.rest();
        if let Some(rest) = input.strip_prefix('}') {
            self.modes.pop();
            self.state_at = None;
            return self.skip(rest);
        }
        if input.is_empty() {
            self.state_at = None;
            return self.unknown();
        }
        let end = input.find('}').unwrap_or(input.len());
        self.take(Kind::AccBlock, input.get(end..).unwrap_or(""))
    }
}
