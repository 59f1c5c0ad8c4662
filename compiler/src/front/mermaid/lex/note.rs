//! Behind `note`: Mermaid's modes NOTE, NOTE_ID, NOTE_TEXT, FLOATING_NOTE and FLOATING_NOTE_ID.

use super::{Kind, Lexer, Mode, Token, rule};

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
