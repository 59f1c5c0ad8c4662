//! Descriptions of tokens that can't begin a statement.

use std::ops::Range;

use super::{Parsed, Parser, Previous, Shape, syntax_error};
use crate::diag::Diagnostic;
use crate::front::mermaid::ast::{Endpoint, EndpointKind, StatementKind};
use crate::front::mermaid::lex::rule::{is_id, is_space};
use crate::front::mermaid::lex::{Kind, Token};
use crate::source::Span;

impl Parser<'_> {
    /// Reports a token that begins no statement, and consumes the rest of its line.
    pub(super) fn unexpected(&mut self, token: Token) -> Parsed {
        let previous = self
            .previous
            .filter(|previous| self.same_line(previous.end.saturating_sub(1), token.lead));
        let span = self.span(token.start..token.end);
        let text = self.slice(token.start..token.end);
        if text == "{" {
            return self.stray_brace(previous, token);
        }
        let diagnostic = match token.kind {
            Kind::Arrow => self.stray_arrow(previous, token),
            Kind::Description => self.stray_text(previous, token),
            Kind::ClassMark => match previous.map(|previous| previous.shape) {
                Some(Shape::Labelled) => syntax_error::double_colon(span),
                Some(_) => syntax_error::second_class(span),
                None => syntax_error::class_without_state(span),
            },
            Kind::Header => syntax_error::second_header(self.trimmed_span(token.start..token.end)),
            Kind::Text => self.quoted_name(token),
            Kind::Default | Kind::Href => syntax_error::keyword_as_name(span, text),
            Kind::As => syntax_error::as_without_title(self.span(token.lead..token.end)),
            _ if text == ":" => self.stray_colon(previous, token),
            _ if text == "-" => self.stray_dash(previous, token),
            _ => syntax_error::unexpected(span, &self.raw(token.start..token.end)),
        };
        Err(Self::broken_line(token.lead, diagnostic))
    }

    /// Describes an arrow without a target.
    pub(super) fn missing_target(
        &mut self,
        first: Token,
        arrow: Token,
        token: Token,
    ) -> Diagnostic {
        let arrow_span = self.span(arrow.start..arrow.end);
        let here = self.same_line(arrow.start, token.lead);
        if !here || matches!(token.kind, Kind::NewLine | Kind::End | Kind::Close) {
            return syntax_error::arrow_without_target(arrow_span);
        }
        let word = self.slice(token.lead..token.end);
        let word: String = word
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        let keyword = self.span(token.lead..token.lead + word.len());
        match token.kind {
            Kind::Description => syntax_error::label_without_target(arrow_span),
            Kind::Text | Kind::Title => self.quoted_name(token),
            Kind::Unknown if self.slice(token.start..token.end) == "-" => {
                self.dash_at(token, Some(first))
            }
            Kind::Click
            | Kind::Href
            | Kind::Default
            | Kind::Header
            | Kind::Note
            | Kind::Class
            | Kind::ClassDef
            | Kind::Style
            | Kind::Scale
            | Kind::HideEmpty
            | Kind::AccTitle
            | Kind::AccDescription
            | Kind::AccBlock => syntax_error::keyword_as_name(keyword, &word),
            _ if token.follows_state() => syntax_error::keyword_as_name(keyword, &word),
            _ => syntax_error::arrow_without_target(arrow_span),
        }
    }

    fn stray_arrow(&mut self, previous: Option<Previous>, token: Token) -> Diagnostic {
        let span = self.span(token.start..token.end);
        match previous {
            Some(previous) if previous.shape == Shape::Transition => {
                let name = self.raw(previous.name..previous.end);
                let insertion = self.insertion_of_line(token.start, previous.start);
                syntax_error::chained_arrow(span, &name, insertion)
            }
            _ => syntax_error::arrow_without_source(span),
        }
    }

    /// Returns the text that breaks a line before an offset, with the statement's indent.
    ///
    /// `None` where the file has more before each line than the diagram: an edit doesn't know a quote's `>`.
    pub(super) fn insertion_of_line(&self, at: usize, statement: usize) -> Option<(Span, String)> {
        let line = self.line_range(statement);
        let indent = self.slice(line.start..statement);
        let newline = line.end.min(self.prepared.excerpt.text().len());
        let excerpt = &self.prepared.excerpt;
        let is_plain = |start: usize| {
            let is_inside = start > 0 && start < excerpt.text().len();
            !is_inside || excerpt.is_plain_line(start)
        };
        let is_blank = indent.chars().all(|c| c == ' ' || c == '\t');
        let prefix = excerpt.prefix();
        let line_end = self.prepared.line_end;
        (is_plain(line.start) && is_plain(newline + 1) && is_blank)
            .then(|| (self.span(at..at), format!("{line_end}{prefix}{indent}")))
    }

    fn stray_text(&mut self, previous: Option<Previous>, token: Token) -> Diagnostic {
        let span = self.span(token.start..token.end);
        match previous.map(|previous| previous.shape) {
            Some(Shape::Labelled) => {
                syntax_error::double_colon(self.span(token.start..token.start + 2))
            }
            Some(Shape::Note) => {
                syntax_error::colon_in_note(self.span(token.start..token.start + 1))
            }
            Some(Shape::Declaration) => syntax_error::text_after_declaration(span),
            _ => syntax_error::text_without_state(span),
        }
    }

    fn stray_colon(&mut self, previous: Option<Previous>, token: Token) -> Diagnostic {
        let span = self.span(token.start..token.end);
        let rest = self.slice(token.end..self.line_range(token.end).end);
        match previous.map(|previous| previous.shape) {
            Some(Shape::Labelled) if rest.trim().is_empty() => syntax_error::trailing_colon(span),
            Some(Shape::Labelled) => syntax_error::double_colon(span),
            Some(Shape::Note) => syntax_error::colon_in_note(span),
            Some(_) if rest.trim().is_empty() => syntax_error::empty_text(span),
            Some(_) if rest.starts_with(';') => syntax_error::empty_text(span),
            _ => syntax_error::unexpected(span, ":"),
        }
    }

    fn stray_dash(&mut self, previous: Option<Previous>, token: Token) -> Diagnostic {
        let first = previous.map(|previous| Token {
            kind: Kind::Id,
            lead: previous.start,
            start: previous.start,
            end: previous.end,
        });
        self.dash_at(token, first)
    }

    /// Describes a `-` that no rule matches: a mistyped arrow, a divider at the root, or a dash in a name.
    fn dash_at(&mut self, token: Token, first: Option<Token>) -> Diagnostic {
        let line = self.line_range(token.start);
        let sign = |c: char| matches!(c, '-' | '–' | '—' | '>' | '=' | '.' | '|' | '<' | 'o' | 'x');
        let run = self.slice(token.start..line.end);
        let run: &str = run
            .find(|c| !sign(c))
            .map_or(run, |end| run.get(..end).unwrap_or(run));
        let run = run.trim_end_matches(['o', 'x', '|', '<']);
        let run_range = token.start..token.start + run.len();
        let before = self.slice(line.start..token.start);
        let after = self.slice(run_range.end..line.end);
        let glued = before.ends_with(is_id) && !before.ends_with('>');
        let lead = before.trim_end_matches(['<', '=', '~', '–', '—']).len();
        let whole = line.start + lead..run_range.end;
        if before.get(lead..).is_some_and(|lead| lead.contains('<')) {
            self.forget_mention(&whole);
            return self.leftward_arrow(whole);
        }
        let span = self.span(run_range.clone());
        if run == "-" && glued && after.starts_with(is_id) && !after.starts_with('>') {
            return self.dash_in_name(token.start);
        }
        if run.contains('>') {
            self.forget_mention(&whole);
            return syntax_error::misspelt_arrow(self.span(whole.clone()), &self.raw(whole));
        }
        let spread = after.trim_start();
        if (run == "-" || run == "--") && (spread.starts_with('>') || spread.starts_with("->")) {
            let gap = after.len() - spread.len();
            let tail = spread.find('>').unwrap_or(0) + 1;
            let whole = run_range.start..run_range.end + gap + tail;
            return syntax_error::misspelt_arrow(self.span(whole.clone()), &self.raw(whole));
        }
        if run.starts_with("--") && before.trim().is_empty() && after.trim().is_empty() {
            return syntax_error::misplaced_divider(span, self.frames.len() > 1);
        }
        let html = before.trim() == "<!" && run == "--";
        if (before.trim().is_empty() || html) && after.starts_with(is_space) {
            let start = line.start + before.len() - before.trim_start().len();
            let sign = start..run_range.end;
            self.forget_mention(&sign);
            return syntax_error::foreign_comment(self.span(sign.clone()), &self.raw(sign));
        }
        if first.is_some() && after.contains("->") {
            let text = after.split("--").next().unwrap_or("").trim().to_owned();
            return syntax_error::label_inside_arrow(span, &text);
        }
        if first.is_some() && !after.trim().is_empty() {
            return syntax_error::misspelt_arrow(span, &self.raw(run_range));
        }
        syntax_error::unexpected(span, &self.raw(run_range))
    }

    /// Removes the state for which the start of an arrow, or of something else, was taken.
    pub(super) fn forget_mention(&mut self, range: &Range<usize>) {
        let start = self.span(range.clone()).start;
        let home = self.frames.last().map_or(0, |frame| frame.home);
        if let Some(frame) = self.frames.get_mut(home) {
            let is_sign = frame.statements.last().is_some_and(|last| {
                matches!(last.kind, StatementKind::Mention(_)) && last.span.start == start
            });
            if is_sign {
                frame.statements.pop();
            }
        }
    }

    /// Describes an arrow that points left, or both ways.
    fn leftward_arrow(&self, arrow: Range<usize>) -> Diagnostic {
        let line = self.line_range(arrow.start);
        let span = self.span(arrow.clone());
        let written = self.raw(arrow.clone());
        if written.contains('>') {
            return syntax_error::two_way_arrow(span, &written);
        }
        let source = self.trim(line.start..arrow.start);
        let after = self.slice(arrow.end..line.end);
        let blanks = after.len() - after.trim_start().len();
        let name = after.trim_start();
        let length = name.find(|c| !is_id(c)).unwrap_or(name.len());
        let target = arrow.end + blanks..arrow.end + blanks + length;
        let rest = name.get(length..).unwrap_or_default().trim_start();
        let is_plain = self.slice(source.clone()).chars().all(is_id)
            && !source.is_empty()
            && !target.is_empty()
            && (rest.is_empty() || (rest.starts_with(':') && !rest.starts_with("::")));
        let turned = is_plain.then(|| {
            let text = format!(
                "{} --> {}",
                self.raw(target.clone()),
                self.raw(source.clone())
            );
            (self.span(source.start..target.end), text)
        });
        syntax_error::backward_arrow(span, turned)
    }

    /// Describes a dash inside a name.
    ///
    /// The tree keeps the whole name, so that later diagnostics speak of what was meant.
    pub(super) fn dash_in_name(&mut self, inside: usize) -> Diagnostic {
        let range = self.dashed_word(inside);
        let name = self.raw(range.clone());
        let span = self.span(range);
        let home = self.frames.last().map_or(0, |frame| frame.home);
        let last = self
            .frames
            .get_mut(home)
            .and_then(|frame| frame.statements.last_mut());
        let endpoint = last.and_then(|statement| match &mut statement.kind {
            StatementKind::Mention(endpoint) => Some(endpoint),
            StatementKind::Transition(transition) => Some(&mut transition.target),
            _ => None,
        });
        if let Some(Endpoint {
            target,
            span: place,
            ..
        }) = endpoint
            && place.start == span.start
        {
            *target = EndpointKind::Id(name.clone());
            *place = span;
        }
        syntax_error::dash_in_name(span, &name)
    }

    /// Returns the range of id characters and dashes around an offset, up to an arrow.
    fn dashed_word(&self, inside: usize) -> Range<usize> {
        let line = self.line_range(inside);
        let part = |c: char| is_id(c) || c == '-';
        let before = self.slice(line.start..inside);
        let start = inside - (before.len() - before.trim_end_matches(part).len());
        let after = self.slice(inside..line.end);
        let length = after.find(|c| !part(c)).unwrap_or(after.len());
        let word = after.get(..length).unwrap_or("");
        let length = word.find("-->").unwrap_or(length);
        start..inside + length
    }

    /// Reports `A {` without `state`, and opens the composite that was meant.
    fn stray_brace(&mut self, previous: Option<Previous>, token: Token) -> Parsed {
        let span = self.span(token.start..token.end);
        let rest = self.slice(token.end..self.line_range(token.end).end);
        let named = previous.filter(|previous| {
            matches!(previous.shape, Shape::Mention | Shape::Transition)
                && !self.slice(previous.name..previous.end).starts_with("[*]")
        });
        let Some(previous) = named.filter(|_| rest.trim().is_empty()) else {
            let diagnostic = syntax_error::misplaced_brace(span, previous.is_some());
            return Err(Self::broken_line(token.lead, diagnostic));
        };
        self.bump();
        self.silence(self.line_of(token.start));
        let id = self.spanned(previous.name..previous.end);
        let diagnostic =
            syntax_error::composite_without_state(span, &id, previous.shape == Shape::Mention);
        self.report(diagnostic);
        if previous.shape == Shape::Mention {
            let home = self.frames.last().map_or(0, |frame| frame.home);
            if let Some(frame) = self.frames.get_mut(home) {
                frame.statements.pop();
            }
        }
        self.open(previous.name, token.start, id, None);
        self.restart(token.end);
        Ok(())
    }
}
