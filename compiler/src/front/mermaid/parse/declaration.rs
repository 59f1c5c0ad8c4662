//! `state …` in all its forms.
//!
//! Mermaid makes nothing of `state x` without braces, and names a composite by the last word before its `{`. Here
//! `state x` declares `x`, and `state x : Title` gives it that title. Everything else is as in Mermaid, with a warning.

use std::ops::Range;

use super::{Bare, LineEntry, Parsed, Parser, Shape, stray_words, syntax_error};
use crate::front::label::parse_description;
use crate::front::mermaid::ast::{
    Declaration, Drawing, DrawnAs, Endpoint, EndpointKind, StatementKind, Stereotype,
};
use crate::front::mermaid::lex::{Kind, Token};
use crate::front::mermaid::messages;
use crate::source::Spanned;

impl Parser<'_> {
    /// Parses `COMPOSIT_STATE+`, with or without a body.
    pub(super) fn state_words(&mut self, first: Token) -> Parsed {
        let mut last = self.bump();
        let mut word_before = None;
        loop {
            let next = self.peek();
            if next.kind != Kind::Word || next.follows_state() {
                break;
            }
            word_before = Some(last);
            last = self.bump();
        }
        let next = self.peek();
        let all = first.start..last.end;
        match next.kind {
            Kind::Open => {
                self.bump();
                self.composite_words(first, word_before.map(|word| word.end), last, next);
                Ok(())
            }
            Kind::SeveralWords if !next.follows_state() => {
                self.bump();
                self.words_with_brace(first, next);
                Ok(())
            }
            Kind::As if !next.follows_state() => {
                let title = self.raw(all.clone());
                let line = self.line_range(next.end);
                let id = self.raw(next.end..line.end);
                let diagnostic = syntax_error::unquoted_title(
                    self.span(all),
                    &title,
                    id.trim().trim_end_matches('{').trim(),
                );
                Err(Self::broken_line(last.end, diagnostic))
            }
            _ => {
                self.bare_words(first, last);
                Ok(())
            }
        }
    }

    /// Opens `state a : The title {`; Mermaid refuses two words before a brace.
    fn words_with_brace(&mut self, first: Token, last: Token) {
        let words = self.trim(first.start..last.end - 1);
        let written = self.raw(words.clone());
        let span = self.span(words.clone());
        self.silence(self.line_of(first.start));
        let colon = self.slice(words.clone()).find(':').filter(|&at| at > 0);
        let (id, title) = match colon {
            Some(colon) => {
                let id = self.name(words.start..words.start + colon);
                let title = self.spanned(words.start + colon + 1..words.end);
                self.report(syntax_error::title_after_composite(
                    span,
                    &id.value,
                    &title.value,
                ));
                (id, Some(title))
            }
            None => {
                self.report(syntax_error::name_of_several_words(span, &written));
                (Spanned::new(messages::slug(&written), span), None)
            }
        };
        self.open(first.lead, last.end - 1, id, title);
    }

    /// Opens a composite after one or several words, of which Mermaid takes the last.
    fn composite_words(&mut self, first: Token, before: Option<usize>, last: Token, brace: Token) {
        let all = first.start..last.end;
        let text = self.slice(all.clone());
        let colon = text.find(':').filter(|_| before.is_some());
        if let Some(colon) = colon.filter(|_| !text.contains(":::")) {
            let id = first.start..first.start + colon;
            if !self.slice(id.clone()).trim().is_empty() {
                let title = self.spanned(first.start + colon + 1..last.end);
                let id = self.name(id);
                let drawn = self.raw(last.start..last.end);
                let edit = self.span(first.lead..last.end);
                self.report(stray_words::composite_title(
                    edit,
                    &id,
                    &title.value,
                    &drawn,
                ));
                let drawn = DrawnAs::Named(drawn);
                self.open_drawn_as(first.lead, brace.start, id, Some(title), drawn);
                return;
            }
        }
        if let Some(end) = before {
            let lost = self.span(first.start..end);
            let words = self.raw(first.start..end);
            let id = self.raw(last.start..last.end);
            self.report(stray_words::words_before_composite(lost, &words, &id));
        }
        let id = self.name(last.start..last.end);
        if id.value.contains(":::") {
            self.report(stray_words::composite_class(id.span, &id.value));
        } else {
            self.check_usable(&id);
        }
        self.open(first.lead, brace.start, id, None);
    }

    /// Declares `state x` and `state x : Title`.
    fn bare_words(&mut self, first: Token, last: Token) {
        let all = first.start..last.end;
        let text = self.slice(all.clone());
        let range = first.lead..last.end;
        self.report_strays();
        let colon = text.find(':');
        let id_end = first.start + colon.unwrap_or(text.len());
        let word_end = first.end.min(id_end);
        let head = self.slice(first.start..word_end);
        if head.is_empty() || head.starts_with("--") || !head.contains(is_name_character) {
            let span = self.span(range.clone());
            let words = self.raw(all);
            self.report(stray_words::nameless_state(span, &words));
            self.push_nothing(range);
            return;
        }
        self.remember(Shape::Declaration, LineEntry::Other, range.clone());
        let extra = self.trim(word_end..id_end);
        if !extra.is_empty() {
            let id = self.raw(first.start..word_end);
            let words = self.raw(extra.clone());
            self.report(stray_words::words_after_name(
                self.span(extra.clone()),
                self.span(range.clone()),
                &id,
                &words,
            ));
        }
        let id = self.name(first.start..word_end);
        self.check_usable(&id);
        let is_class = text.contains(":::");
        let title = colon
            .filter(|_| !is_class)
            .map(|colon| self.spanned(first.start + colon + 1..last.end))
            .filter(|title| !title.value.is_empty());
        self.bare.push(Bare {
            id: id.value.clone(),
            span: self.span(range.clone()),
            keyword: self.span(first.lead..first.start),
            titled: title.is_some(),
            followed: !extra.is_empty(),
            refused: self.lexer.runs_into_brace(last.end),
        });
        self.declare(range, id, title, None, DrawnAs::Nothing);
    }

    fn declare(
        &mut self,
        range: Range<usize>,
        id: Spanned<String>,
        title: Option<Spanned<String>>,
        stereotype: Option<Spanned<Stereotype>>,
        drawn: DrawnAs,
    ) {
        let declaration = Declaration {
            id,
            title,
            stereotype,
            body: None,
            drawn,
        };
        self.push(range, StatementKind::Declaration(declaration));
    }

    /// Opens `state Two words {`, an error in Mermaid, under a name of both words.
    pub(super) fn several_words(&mut self, token: Token) {
        self.bump();
        let words = self.trim(token.start..token.end - 1);
        let written = self.raw(words.clone());
        let span = self.span(words.clone());
        let diagnostic = match written.split_once(" as ") {
            Some((title, id)) => syntax_error::unquoted_title(span, title.trim(), id.trim()),
            None => syntax_error::name_of_several_words(span, &written),
        };
        self.silence(self.line_of(token.start));
        self.report(diagnostic);
        let id = match written.split_once(" as ") {
            Some((_, id)) => id.trim().to_owned(),
            None => messages::slug(&written),
        };
        self.open(token.lead, token.end - 1, Spanned::new(id, span), None);
    }

    /// Parses `state "title" as id`, with or without a body.
    pub(super) fn titled_state(&mut self, token: Token) -> Parsed {
        self.bump();
        let title = self.spanned(token.start..token.end);
        let quoted = self.span(token.lead..(token.end + 1).min(self.text.len()));
        let alias = self.peek();
        if alias.kind != Kind::As {
            let closed = self.slice(token.end..token.end + 1) == "\"";
            if !closed {
                let first_line = self.line_range(token.lead).end;
                let span = self.trimmed_span(token.lead..first_line);
                let diagnostic = syntax_error::unclosed_title(span);
                return Err(Self::broken_line(token.lead, diagnostic));
            }
            let braced = alias.kind == Kind::Open;
            let diagnostic = syntax_error::title_without_id(quoted, &title.value, braced);
            if alias.kind == Kind::As || self.same_line(token.end, alias.lead) {
                return Err(Self::broken_line(token.end, diagnostic));
            }
            return Err(self.broken_at(alias, diagnostic));
        }
        self.bump();
        let id_token = self.peek();
        if id_token.kind != Kind::Id {
            let diagnostic =
                syntax_error::title_without_id(quoted, &title.value, id_token.kind == Kind::Open);
            return Err(self.broken_at(id_token, diagnostic));
        }
        self.bump();
        let id_range = self.trim(id_token.start..id_token.end);
        if !self.same_line(alias.start, id_range.start) && !id_range.is_empty() {
            let line = self.span(id_range.clone());
            let taken = self.raw(id_range.clone());
            let keyword = self.span(alias.start..alias.start + 2);
            self.report(messages::swallows_line(keyword, "as", line, &taken));
        }
        let brace = self.peek();
        let braced = brace.kind == Kind::Open;
        if id_range.is_empty() || (!braced && self.slice(id_range.clone()).starts_with(':')) {
            self.nameless(token.lead..id_token.end, title, brace);
            return Ok(());
        }
        if braced {
            self.bump();
            let id = self.titled_name(id_range);
            let padded = self.raw(token.start..token.end);
            let drawn = if padded == title.value {
                DrawnAs::Written
            } else {
                DrawnAs::Padded(padded)
            };
            self.open_drawn_as(token.lead, brace.start, id, Some(title), drawn);
        } else {
            self.titled_alone(token, title, id_range);
        }
        Ok(())
    }

    /// Parses `state "title" as` without a name.
    ///
    /// Mermaid doesn't draw it, and draws the statements between its braces in no composite.
    fn nameless(&mut self, range: Range<usize>, title: Spanned<String>, brace: Token) {
        let written = self.trimmed_span(range.clone());
        let braced = brace.kind == Kind::Open;
        let diagnostic = stray_words::title_without_name(written, &title.value, braced);
        if braced {
            self.bump();
            self.silence(self.line_of(range.start));
            self.report(diagnostic);
            let id = Spanned::new(messages::slug(&title.value), title.span);
            let drawn = DrawnAs::Named(String::new());
            self.open_drawn_as(range.start, brace.start, id, Some(title), drawn);
        } else {
            self.report_strays();
            self.report(diagnostic);
            self.push_nothing(range);
        }
    }

    /// Adds a statement after `state` that declares nothing.
    fn push_nothing(&mut self, range: Range<usize>) {
        let words = Drawing {
            keyword: "state",
            subject: None,
            rest: None,
        };
        self.push(range.clone(), StatementKind::Drawing(words));
        self.remember(Shape::Declaration, LineEntry::Other, range);
    }

    /// Declares a titled state without a body.
    ///
    /// After `as`, a colon ends the id and begins a second line of the title.
    fn titled_alone(&mut self, token: Token, title: Spanned<String>, range: Range<usize>) {
        let whole = token.lead..range.end;
        let text = self.slice(range.clone());
        let colon = text.find(':').map(|at| range.start + at);
        let id = self.titled_name(range.start..colon.unwrap_or(range.end));
        let second = colon.map(|colon| {
            let length = self.slice(colon + 1..range.end).find(':');
            let end = length.map_or(range.end, |length| colon + 1 + length);
            self.spanned(colon + 1..end)
        });
        let state_span = id.span;
        let state = id.value.clone();
        self.report_strays();
        let drawn = match &second {
            Some(text) if text.value.is_empty() => DrawnAs::TwoLines,
            _ => DrawnAs::Written,
        };
        self.declare(whole.clone(), id, Some(title), None, drawn);
        if let Some(text) = second.filter(|text| !text.value.is_empty()) {
            let state = Endpoint {
                target: EndpointKind::Id(state),
                span: state_span,
                class: None,
            };
            let is_verbatim = self.is_verbatim(&text);
            self.push(
                range.clone(),
                StatementKind::Description {
                    state,
                    description: parse_description(text, is_verbatim),
                },
            );
        }
        self.remember(Shape::Declaration, LineEntry::Other, whole);
    }

    fn titled_name(&mut self, range: Range<usize>) -> Spanned<String> {
        let id = self.name(range);
        if id.value.contains(char::is_whitespace) {
            self.report(stray_words::name_with_blanks(id.span, &id.value));
        } else {
            self.check_usable(&id);
        }
        id
    }

    /// Reports a name after `state` that transitions can't use.
    fn check_usable(&mut self, id: &Spanned<String>) {
        if id.value.contains(['-', ':']) {
            self.report(stray_words::unusable_name(id.span, &id.value));
        }
    }

    /// Parses `state x <<choice>>`; everything before the mark is the name.
    pub(super) fn pseudo_state(&mut self, token: Token, kind: Stereotype) -> Parsed {
        self.bump();
        let text = self.slice(token.start..token.end);
        let length = text.rfind(['<', '[']).map_or(0, |at| at - 1);
        let mark = token.start + length..token.end;
        let name = self.trim(token.start..mark.start);
        let mark_span = self.span(mark.clone());
        let written = self.raw(mark);
        let whole = token.lead..token.end;
        if name.is_empty() {
            self.report_strays();
            self.report(stray_words::mark_without_name(mark_span, &written));
            self.push_nothing(whole);
            return Ok(());
        }
        let id = self.name(name);
        if id.value.contains(char::is_whitespace) || id.value.contains([':', '"']) {
            let edit = self.span(token.start..token.end);
            self.report(stray_words::pseudo_name(edit, &id, &written));
        }
        self.report_strays();
        self.is_ordered = true;
        let mark = Some(Spanned::new(kind, mark_span));
        self.declare(whole.clone(), id, None, mark, DrawnAs::Written);
        self.remember(Shape::Declaration, LineEntry::Other, whole);
        Ok(())
    }
}

/// Returns whether a character makes a word a name rather than a sign.
fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && !c.is_whitespace()) || matches!(c, '_' | '[')
}
