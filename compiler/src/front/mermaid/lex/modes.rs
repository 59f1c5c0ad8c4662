//! The rules of the lexer's modes.

use nom::Parser;
use nom::bytes::complete::tag;

use super::{Kind, Lexer, Mode, Token, rule};

/// Mermaid's mode INITIAL: between statements, outside braces.
impl Lexer<'_> {
    /// Applies a rule of INITIAL.
    ///
    /// Rules are looked up by their first byte; for one byte they keep Mermaid's order.
    pub(super) fn root(&mut self) -> Option<Token> {
        let input = self.rest();
        let Some(&first) = input.as_bytes().first() else {
            return self.take(Kind::End, "");
        };
        if let Some(token) = self.before_direction(input, first) {
            return Some(token);
        }
        // Rule 9. A line end is on no line, so rules 5 to 8 don't match it.
        if first == b'\n'
            && let Ok((rest, _)) = rule::newlines(input)
        {
            return self.take(Kind::NewLine, rest);
        }
        // Rules 5 to 8: a line that holds a direction is one as a whole, with its comments.
        if let Some((direction, _, end)) = {
            let at = self.at;
            self.line().direction(at)
        } {
            let after = self.text.get(end..).unwrap_or("");
            let (rest, _) = rule::line_rest(after).unwrap_or(("", after));
            return self.take(Kind::Direction(direction), rest);
        }
        // Rules 10 to 12. A run of blanks that begins with another one swallows line ends.
        if let Some(rest) = rule::unread(input, first) {
            return self.skip(rest);
        }
        if first.is_ascii_alphabetic() {
            let before = self.at;
            let token = self.keyword(input, first);
            // Some keywords make no token and only move the position.
            if token.is_some() || self.at != before {
                return token;
            }
        }
        self.sign(input, first)
    }

    /// Applies rules 1 to 4, which come before everything.
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

    /// Applies rules 13 to 20 and 22 to 24.
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

    /// Applies rules 14 to 16.
    fn accessibility(&mut self, input: &str) -> Option<Token> {
        if let Ok((rest, _)) = rule::marked("accTitle", ':')(input) {
            self.open(Kind::AccTitle, rest, Mode::AccValue)
        } else if let Ok((rest, _)) = rule::marked("accDescr", ':')(input) {
            self.open(Kind::AccDescription, rest, Mode::AccValue)
        } else if let Ok((rest, _)) = rule::marked("accDescr", '{')(input) {
            // In Mermaid's grammar the opening is no token of its own: the block's text stands for all of it.
            self.state_at = Some(self.at);
            self.modes.push(Mode::AccBlock);
            self.at = self.text.len() - rest.len();
            self.acc_block()
        } else {
            None
        }
    }

    /// Applies rules 21 and 25 to 31.
    fn sign(&mut self, input: &str, first: u8) -> Option<Token> {
        if first == b'{' {
            return self.open_brace(Kind::Open, input.get(1..).unwrap_or(""));
        }
        self.name_or_sign(input).unwrap_or_else(|| self.unknown())
    }

    /// Applies the rules for names, labels and arrows, which both modes between statements share.
    ///
    /// The inner `None` is a match that makes no token.
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

/// Mermaid's mode struct: between statements, inside braces.
///
/// Line ends have no meaning here, and links, quotes, accessibility texts and the header aren't keywords.
impl Lexer<'_> {
    /// Applies a rule of struct.
    pub(super) fn composite(&mut self) -> Option<Token> {
        let input = self.rest();
        let Some(&first) = input.as_bytes().first() else {
            return self.take(Kind::End, "");
        };
        if let Some(rest) = rule::unread(input, first) {
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
        if matches!(first, b's' | b'S')
            && let Ok((rest, _)) = rule::spaced("state")(input)
        {
            self.state_keyword(rest);
            return None;
        }
        // The direction comes after `state` here, and before it at the root.
        let at = self.at;
        if let Some((direction, _, end)) = self.line().direction(at) {
            let after = self.text.get(end..).unwrap_or("");
            let (rest, _) = rule::line_rest(after).unwrap_or(("", after));
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

/// Mermaid's modes STATE, STATE_STRING and STATE_ID: after `state`.
impl Lexer<'_> {
    /// Skips `state\s+`, which makes no token; the blanks can end the line.
    pub(super) fn state_keyword(&mut self, rest: &str) {
        self.state_at = Some(self.at);
        self.modes.push(Mode::State);
        self.skip(rest);
    }

    /// Applies a rule of STATE.
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

    /// Matches `\w+\s+\w+.*?\{` with blanks on one line: see [`Lexer::runs_into_brace`].
    fn several_words<'t>(&mut self, input: &'t str) -> Option<&'t str> {
        let (rest, _) = rule::word1(input).ok()?;
        let (rest, _) = rule::blank1(rest).ok()?;
        let (rest, _) = rule::word1(rest).ok()?;
        let at = self.text.len() - rest.len();
        // The blanks can hold one of the line ends that only JavaScript knows.
        if !self.line_of(at).has_brace(at) {
            return None;
        }
        let (_, rest) = rest.split_once('{')?;
        Some(rest)
    }

    /// Applies a rule of STATE_STRING; a title can span lines.
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

    /// Applies STATE_ID: everything up to the line's end or a brace, even nothing.
    pub(super) fn state_id(&mut self) -> Option<Token> {
        let input = self.rest();
        let end = input.find(['\n', '{']).unwrap_or(input.len());
        let (matched, rest) = input.split_at_checked(end).unwrap_or((input, ""));
        // An id that begins with `%%` is skipped, and the rule is tried again on what follows.
        if !matched.starts_with("%%") {
            self.modes.pop();
        }
        self.id(Kind::Id, matched, rest)
    }
}

/// The last search for an `end note`.
///
/// It keeps a text with many notes and no end from being searched for each of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EndNote {
    /// The start of the search.
    from: usize,
    /// The result; `None` before the first search.
    found: Option<Found>,
}

#[derive(Clone, Copy, Debug)]
enum Found {
    /// No match up to the end of the text.
    Nothing,
    /// The last line end before the match, and the end of the match.
    At { newline: usize, end: usize },
}

/// Mermaid's modes NOTE, NOTE_ID, NOTE_TEXT, FLOATING_NOTE and FLOATING_NOTE_ID: after `note`.
impl Lexer<'_> {
    /// Matches `note\s+`.
    pub(super) fn note_keyword(&mut self, input: &str) -> Option<Token> {
        let (rest, _) = rule::spaced("note")(input).ok()?;
        self.open(Kind::Note, rest, Mode::Note)
    }

    /// Applies a rule of NOTE.
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

    /// Applies NOTE_ID: one name, which a dash ends.
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

    /// Applies NOTE_TEXT: after a colon, otherwise up to `end note` at the start of a line.
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

    /// Applies a rule of FLOATING_NOTE.
    ///
    /// `as` is tried before the text, so no text can begin with it.
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

    /// Applies FLOATING_NOTE_ID: the rest of the line.
    pub(super) fn floating_note_id(&mut self) -> Option<Token> {
        let input = self.rest();
        let (rest, matched) = rule::line_rest(input).unwrap_or(("", input));
        if !matched.starts_with("%%") {
            self.modes.pop();
        }
        self.id(Kind::Id, matched, rest)
    }

    /// Returns the end of the next `\n\s*end note\b`.
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
    while let Some((_, after)) = rest.split_once('\n') {
        let (line, blanks) = rule::space0(after).unwrap_or((after, ""));
        if let Ok((left, _)) = rule::bounded("end note")(line) {
            let blank_start = text.len() - after.len();
            return Found::At {
                newline: blank_start + blanks.rfind('\n').map_or(0, |at| at + 1) - 1,
                end: text.len() - left.len(),
            };
        }
        rest = line;
    }
    Found::Nothing
}

/// Mermaid's modes of keywords that only draw.
///
/// CLASSDEF, CLASS, STYLE, SCALE, and those of `accTitle` and `accDescr`.
impl Lexer<'_> {
    /// Matches `classDef\s+`, then `class\s+`.
    pub(super) fn class_keyword(&mut self, input: &str) -> Option<Token> {
        if let Ok((rest, _)) = rule::spaced("classDef")(input) {
            return self.open(Kind::ClassDef, rest, Mode::ClassDef);
        }
        let (rest, _) = rule::spaced("class")(input).ok()?;
        self.open(Kind::Class, rest, Mode::Class)
    }

    /// Matches `style\s+`.
    pub(super) fn style_keyword(&mut self, input: &str) -> Option<Token> {
        let (rest, _) = rule::spaced("style")(input).ok()?;
        self.open(Kind::Style, rest, Mode::Style)
    }

    /// Applies CLASSDEF: `DEFAULT\s+`, which the grammar has no use for, or a name.
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

    /// Applies CLASS: the states.
    pub(super) fn class(&mut self) -> Option<Token> {
        match rule::class_ids(self.rest()) {
            Ok((rest, _)) => self.turn(Kind::ClassIds, rest, Mode::DrawingRest),
            Err(_) => self.unknown(),
        }
    }

    /// Applies STYLE: the states.
    pub(super) fn style(&mut self) -> Option<Token> {
        match rule::style_ids(self.rest()) {
            Ok((rest, _)) => self.turn(Kind::StyleIds, rest, Mode::DrawingRest),
            Err(_) => self.unknown(),
        }
    }

    /// Applies CLASSDEFID, CLASS_STYLE and STYLEDEF_STYLES: the rest of the line, even nothing.
    pub(super) fn drawing_rest(&mut self) -> Option<Token> {
        let input = self.rest();
        let (rest, _) = rule::line_rest(input).unwrap_or(("", input));
        self.close(Kind::DrawingRest, rest)
    }

    /// Applies SCALE: a number, and `width` after it, which ends the mode without a token.
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

    /// Reads the text after `accTitle:` or `accDescr:`.
    pub(super) fn acc_value(&mut self) -> Option<Token> {
        let input = self.rest();
        let (rest, _) = rule::line_rest(input).unwrap_or(("", input));
        self.close(Kind::AccValue, rest)
    }

    /// Reads the text between the braces of `accDescr`; an empty block makes no token.
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
