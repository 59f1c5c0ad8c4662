//! Notes of states, on one line or several, and floating notes.

use std::ops::Range;

use super::{LineEntry, Parsed, Parser, Shape, syntax_error};
use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::ast::{Note, StatementKind};
use crate::front::mermaid::lex::{Kind, Token};
use crate::front::mermaid::lines::Lines;
use crate::front::mermaid::messages::{self, quote};
use crate::source::{Span, Spanned};

impl Parser<'_> {
    /// Parses `note (left of|right of) ID NOTE_TEXT | note NOTE_TEXT AS ID`.
    pub(super) fn note(&mut self, first: Token) -> Parsed {
        self.bump();
        let side = self.peek();
        match side.kind {
            Kind::LeftOf | Kind::RightOf => self.note_of_state(first, side),
            Kind::NoteTitle => self.floating_note(first, side),
            _ => {
                let keyword = self.trimmed_span(first.start..first.end);
                let line = self.line_range(first.start);
                let after = self.slice(first.end.min(line.end)..line.end).trim();
                let named = !self.same_line(first.start, first.end)
                    || after.is_empty()
                    || after.starts_with("-->")
                    || after.starts_with(':');
                let end = self.previous.filter(|previous| {
                    self.same_line(previous.start, first.start)
                        && previous.shape == Shape::Mention
                        && self
                            .slice(previous.start..previous.end)
                            .eq_ignore_ascii_case("end")
                });
                let diagnostic = if let Some(end) = end {
                    self.stray_end(end.start..first.start + "note".len())
                } else if after.starts_with('"') {
                    syntax_error::bad_floating_note(self.trimmed_span(line))
                } else if named {
                    syntax_error::keyword_as_name(keyword, "note")
                } else {
                    let word = after.split_whitespace().next().unwrap_or("").to_owned();
                    let at = self.span(first.end..first.end + word.len());
                    syntax_error::note_side(at, &word)
                };
                Err(Self::broken_line(first.start, diagnostic))
            }
        }
    }

    /// Describes an `end note` without an open note, and removes the state `end` from the tree.
    fn stray_end(&mut self, range: Range<usize>) -> Diagnostic {
        let span = self.span(range.clone());
        self.forget_mention(&range);
        syntax_error::stray_end_note(span, Lines::new(self.prepared).remove(span))
    }

    fn note_of_state(&mut self, first: Token, side: Token) -> Parsed {
        self.bump();
        let id = self.peek();
        let line = self.trimmed_span(first.start..self.line_range(first.start).end);
        if id.kind != Kind::Id {
            let diagnostic = syntax_error::note_without_state(line);
            return Err(Self::broken_line(first.start, diagnostic));
        }
        self.bump();
        let text = self.peek();
        let state_range = self.trim(id.start..id.end);
        if !matches!(text.kind, Kind::NoteLine | Kind::NoteBlock) {
            let diagnostic = if self.slice(id.end..id.end + 1) == "-" {
                self.dash_in_name(state_range.start)
            } else {
                syntax_error::note_without_text(line)
            };
            return Err(Self::broken_line(first.start, diagnostic));
        }
        self.bump();
        let state = self.name(id.start..id.end);
        let value = if text.kind == Kind::NoteLine {
            self.note_line(text)
        } else {
            if self.slice(text.start..text.start + 1) == "-" {
                let end = self.slice(text.start..self.line_range(text.start).end);
                let word = end.split_whitespace().next().unwrap_or("").len();
                let whole = self.span(state_range.start..text.start + word);
                self.report(dash_in_note_name(whole, &state.value));
            }
            self.note_block(first, text)
        };
        self.push_note(
            first,
            text.end,
            state,
            Some(side.kind == Kind::LeftOf),
            value,
        );
        Ok(())
    }

    /// Reads a text after a colon.
    ///
    /// Mermaid drops its first two characters, whatever they are.
    fn note_line(&mut self, token: Token) -> Spanned<String> {
        let text = self.slice(token.start..token.end);
        let colon = token.start + text.find(':').unwrap_or(0);
        let value = self.spanned(colon + 1..token.end);
        let lost_letter = colon == token.start
            && !text
                .get(1..)
                .unwrap_or("")
                .starts_with(crate::front::mermaid::lex::rule::is_space);
        let before = self.slice(token.start..colon).encode_utf16().count();
        let glued = value.span.start == self.span(colon..colon + 1).end;
        if lost_letter || before > 1 {
            let blanks = self.span(token.start..colon + 1);
            self.report(cut_note_line(blanks, value.span, lost_letter, glued));
        }
        self.check_cut(token.end);
        value
    }

    /// Reads a text up to `end note`.
    ///
    /// A note that begins inside it shows that the `end note` belongs to that one.
    fn note_block(&mut self, first: Token, token: Token) -> Spanned<String> {
        let end = token.end - "end note".len();
        let value = self.spanned(token.start..end);
        let inner = self.slice(token.start..end);
        let begins = |line: &str| {
            let line = line.trim_start().to_ascii_lowercase();
            line.starts_with("note left of ") || line.starts_with("note right of ")
        };
        if inner.lines().skip(1).any(begins) {
            let keyword = self.trimmed_span(first.start..first.end);
            self.report(messages::note_swallows_note(keyword, value.span));
        }
        value
    }

    fn floating_note(&mut self, first: Token, text: Token) -> Parsed {
        self.bump();
        let alias = self.peek();
        let line = self.trimmed_span(first.start..self.line_range(first.start).end);
        let value = self.spanned(text.start..text.end);
        if alias.kind == Kind::As {
            self.bump();
            let id = self.peek();
            if id.kind == Kind::Id {
                self.bump();
                let state = self.spanned(id.start..id.end);
                let whole = self.trimmed_span(first.start..id.end);
                self.report(floating_note(whole));
                self.push_note(first, id.end, state, None, value);
                return Ok(());
            }
        }
        let diagnostic = syntax_error::bad_floating_note(line);
        Err(Self::broken_line(first.start, diagnostic))
    }

    fn push_note(
        &mut self,
        first: Token,
        end: usize,
        state: Spanned<String>,
        left: Option<bool>,
        text: Spanned<String>,
    ) {
        self.is_ordered |= left.is_some();
        let note = Note { state, left, text };
        self.push(first.start..end, StatementKind::Note(note));
        self.remember(Shape::Note, LineEntry::Other, first.start..end);
    }
}

/// Creates an `SM120` diagnostic (`cut-note`).
fn cut_note(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::CutNote, span, message)
}

/// Reports `note right of a:text` and `note right of a  : text`.
fn cut_note_line(colon: Span, text: Span, lost_letter: bool, glued: bool) -> Diagnostic {
    let mended = if glued { " : " } else { " :" };
    let message = if lost_letter {
        "Mermaid drops the first letter of this note"
    } else {
        "Mermaid shows the colon of this note"
    };
    cut_note(colon, message)
        .related(text, "this note")
        .note("Mermaid cuts off two characters after the name, whatever they are")
        .safe_fix("write ` : `", colon, mended)
}

/// Reports `note right of my-state` on several lines.
fn dash_in_note_name(name: Span, read: &str) -> Diagnostic {
    cut_note(name, format!("this note is next to `{}`", quote(read)))
        .label("a dash ends the name, and the text begins there")
        .help("a state's name can't hold a dash: write `_`")
}

/// Reports `note "text" as name`, which Mermaid doesn't draw.
fn floating_note(note: Span) -> Diagnostic {
    cut_note(note, "Mermaid doesn't show this note")
        .note("it reads a note that is next to no state, and ignores it")
        .help("put it next to a state: `note right of name : text`")
}
