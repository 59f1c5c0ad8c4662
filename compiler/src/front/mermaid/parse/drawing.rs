//! Lines that only draw (directions, styles, links), and texts for screen readers.

use std::ops::Range;

use super::{LineEntry, Parsed, Parser, Shape, stray_words, syntax_error};
use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::ast::{Direction, Drawing, StatementKind};
use crate::front::mermaid::lex::{self, Kind, Token};
use crate::front::mermaid::messages::{self, quote};
use crate::source::{Span, Spanned};

impl Parser<'_> {
    /// Parses `classDef NAME STYLES`, `class IDS NAME`, `style IDS STYLES`.
    pub(super) fn styles(&mut self, first: Token) -> Parsed {
        self.bump();
        let keyword = match first.kind {
            Kind::ClassDef => "classDef",
            Kind::Class => "class",
            _ => "style",
        };
        let subject = self.peek();
        let wanted = match first.kind {
            Kind::ClassDef => Kind::ClassDefName,
            Kind::Class => Kind::ClassIds,
            _ => Kind::StyleIds,
        };
        if subject.kind != wanted {
            let diagnostic = self.bad_style(first, keyword, subject);
            return Err(Self::broken_line(first.start, diagnostic));
        }
        self.bump();
        let rest = self.peek();
        self.bump();
        let end = self.used;
        let name = self.spanned(subject.start..subject.end);
        let text = self.spanned(rest.start..rest.end);
        let keyword_span = self.trimmed_span(first.start..first.end);
        let line = self.line_of(first.start);
        let last = self.trim(rest.start..rest.end);
        if !last.is_empty() && self.line_of(last.start) != line {
            let taken = self.raw(last.clone());
            let span = self.span(last.clone());
            self.report(messages::swallows_line(keyword_span, keyword, span, &taken));
        } else if first.kind == Kind::Class && rest.start == last.start && !last.is_empty() {
            let whole = self.span(subject.start..last.end);
            self.report(stray_words::class_name(whole, &name.value, &text.value));
        }
        self.drawing_until(first, end, keyword, Some(name), Some(text));
        Ok(())
    }

    /// Describes a style whose subject can't be parsed.
    fn bad_style(&self, first: Token, keyword: &'static str, subject: Token) -> Diagnostic {
        let line = self.line_range(first.start);
        let rest = self.trim(first.end.min(line.end)..line.end);
        let text = self.raw(rest.clone());
        let word = text.split_whitespace().next().unwrap_or("");
        let span = self.trimmed_span(first.start..first.end);
        if !self.same_line(first.start, first.end) || text.is_empty() {
            return syntax_error::keyword_as_name(span, keyword);
        }
        if text.starts_with("-->") || text.starts_with(':') {
            return syntax_error::keyword_as_name(span, keyword);
        }
        let at = self.span(rest.start..rest.start + word.len());
        if subject.kind == Kind::ClassDefDefault {
            return syntax_error::default_class(at);
        }
        syntax_error::style_subject(at, keyword, word)
    }

    /// Parses `CLICK idStmt STRING STRING NL | CLICK idStmt HREF STRING NL`.
    pub(super) fn click(&mut self, first: Token) -> Parsed {
        self.bump();
        let name = self.peek();
        let keyword = self.span(first.start..first.end);
        // Blanks after `click` swallow the line end, so the state can be on the next line.
        let is_split = !self.same_line(first.start, name.lead);
        if !matches!(name.kind, Kind::Id | Kind::Star) {
            let diagnostic = syntax_error::keyword_as_name(keyword, "click");
            return Err(self.broken_at(name, diagnostic));
        }
        let state = self.endpoint()?;
        let mut rest = self.peek();
        let start = rest.start;
        let line = self.trimmed_span(first.start..self.line_range(first.start).end);
        for wanted in [[Kind::Text, Kind::Href], [Kind::Text, Kind::Text]] {
            if !wanted.contains(&rest.kind) && is_split {
                let diagnostic = syntax_error::keyword_as_name(keyword, "click");
                return Err(Self::broken_before(name.start, diagnostic));
            }
            if !wanted.contains(&rest.kind) {
                let diagnostic = syntax_error::incomplete_link(line);
                return Err(self.broken_at(rest, diagnostic));
            }
            self.bump();
            rest = self.peek();
        }
        let end = self.used;
        // At the root Mermaid's lexer makes a line end of the end of the text.
        let ends = rest.kind == Kind::NewLine || (rest.kind == Kind::End && self.frames.len() == 1);
        if !ends {
            let text = self.slice(start..end);
            let href = text
                .get(..4)
                .is_some_and(|word| word.eq_ignore_ascii_case("href"));
            let diagnostic = if self.same_line(end, rest.lead) && rest.kind != Kind::End {
                syntax_error::overlong_link(line, href)
            } else {
                let blanks = self.span(end..self.line_range(end).end);
                syntax_error::blanks_after_link(blanks)
            };
            return Err(self.broken_at(rest, diagnostic));
        }
        let subject = Spanned::new(self.raw(name.start..name.end), state.span);
        let text = self.spanned(start..end);
        self.drawing_until(first, end, "click", Some(subject), Some(text));
        Ok(())
    }

    /// Parses `scale WIDTH`, and `width` after it.
    pub(super) fn scale(&mut self, first: Token) -> Parsed {
        self.bump();
        let width = self.peek();
        let keyword = self.trimmed_span(first.start..first.end);
        if width.kind != Kind::Width {
            let text = self.slice(first.end..self.line_range(first.end).end);
            let diagnostic = if text.starts_with(|c: char| c.is_ascii_digit()) {
                syntax_error::bad_scale(keyword)
            } else {
                syntax_error::keyword_as_name(keyword, "scale")
            };
            return Err(Self::broken_line(first.start, diagnostic));
        }
        self.bump();
        let value = self.spanned(width.start..width.end);
        // The next token skips `width`, or is in its place.
        let next = self.peek();
        let after = self.slice(width.end..next.start.max(width.end));
        if !after.trim_start().to_ascii_lowercase().starts_with("width") {
            let diagnostic = syntax_error::bad_scale(self.span(first.start..width.end));
            return Err(Self::broken_line(width.end - 1, diagnostic));
        }
        self.drawing_until(first, width.end, "scale", Some(value), None);
        Ok(())
    }

    /// Parses `accTitle: text`, `accDescr: text`, `accDescr { text }`.
    pub(super) fn accessibility(&mut self, first: Token) -> Parsed {
        self.bump();
        let title = first.kind == Kind::AccTitle;
        let mut value = first;
        if first.kind != Kind::AccBlock {
            value = self.peek();
            self.bump();
        }
        let text = self.spanned(value.start..value.end);
        let name = if title { "accTitle" } else { "accDescr" };
        let keyword = self.span(first.lead..first.lead + name.len());
        let taken = self.trim(value.start..value.end);
        if first.kind == Kind::AccBlock {
            if value.end >= self.text.len() {
                self.report(messages::unclosed_description(keyword, text.span));
            }
        } else if !taken.is_empty() && !self.same_line(first.lead, taken.start) {
            self.report(messages::swallows_line(
                keyword,
                name,
                text.span,
                &text.value,
            ));
        }
        let end = if first.kind == Kind::AccBlock {
            (value.end + 1).min(self.text.len())
        } else {
            value.end
        };
        self.push(
            first.lead..end,
            StatementKind::Accessibility { title, text },
        );
        self.remember(Shape::Other, LineEntry::Other, first.lead..end);
        Ok(())
    }

    /// Adds a line that only draws and ends with its keyword.
    pub(super) fn drawing(
        &mut self,
        first: Token,
        keyword: &'static str,
        subject: Option<Spanned<String>>,
        rest: Option<Spanned<String>>,
    ) {
        self.drawing_until(first, first.end, keyword, subject, rest);
    }

    fn drawing_until(
        &mut self,
        first: Token,
        end: usize,
        keyword: &'static str,
        subject: Option<Spanned<String>>,
        rest: Option<Spanned<String>>,
    ) {
        let drawing = Drawing {
            keyword,
            subject,
            rest: rest.filter(|text| !text.value.is_empty()),
        };
        self.push(first.start..end, StatementKind::Drawing(drawing));
        self.remember(Shape::Other, LineEntry::Other, first.start..end);
    }
}

impl Parser<'_> {
    /// Parses a line that holds a direction, with everything else on it.
    ///
    /// `check` reports such other text.
    pub(super) fn direction(&mut self, token: Token, direction: Direction, check: bool) {
        self.bump();
        let whole = self.trim(token.start..token.end);
        let text = self.slice(whole.clone());
        let plain = plain_direction(text);
        let (word, letters) = last_direction(text);
        let at = whole.start + word..whole.start + letters;
        let span = self.span(at.clone());
        if check && !plain {
            let gap = self.direction_gap(at.clone());
            let after = text.get(letters..).unwrap_or("").trim();
            let all = self.span(whole.clone());
            let said = self.raw(at);
            self.report(swallowed_by_direction(
                all,
                span,
                &said,
                word == 0 && !after.is_empty(),
                gap,
            ));
        }
        let value = Spanned::new(direction, span);
        self.push(whole.clone(), StatementKind::Direction(value));
        self.remember(Shape::Other, LineEntry::Other, whole);
    }

    /// Returns the span of the blanks between `direction` and its letters.
    fn direction_gap(&self, range: Range<usize>) -> Span {
        let start = range.start + "direction".len();
        let end = range.end.saturating_sub(2).max(start);
        self.span(start..end)
    }
}

/// Returns whether a direction's line holds nothing else but a comment.
fn plain_direction(text: &str) -> bool {
    let (word, letters) = last_direction(text);
    let after = text.get(letters..).unwrap_or("").trim();
    word == 0 && (after.is_empty() || after.starts_with('#') || after.starts_with("%%"))
}

/// Returns the start of the `direction` of a line and the end of its letters.
fn last_direction(text: &str) -> (usize, usize) {
    let line = lex::direction(text);
    line.unwrap_or((0, text.len()))
}

/// Reports a line that holds more than a direction.
///
/// `gap` are the blanks between `direction` and its letters.
fn swallowed_by_direction(
    line: Span,
    direction: Span,
    said: &str,
    first: bool,
    gap: Span,
) -> Diagnostic {
    let said = quote(said);
    let message = format!("the whole line is read as `{said}`");
    let diagnostic = Diagnostic::new(Code::SwallowedByDirection, direction, message)
        .related(line, "nothing else on it counts");
    if first {
        return diagnostic.help("put what follows on a line of its own");
    }
    diagnostic.unsafe_fix(
        "write the blank as `#32;`, which Mermaid shows as one",
        gap,
        "#32;",
    )
}
