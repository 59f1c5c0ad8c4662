//! States, transitions and their labels: `a`, `a : text`, `a --> b : label`.

use std::ops::Range;

use super::{LineEntry, Parsed, Parser, Previous, Shape, stray_words, syntax_error};
use crate::diag::{Applicability, Code, Diagnostic, Edit};
use crate::front::label::{parse, parse_description};
use crate::front::mermaid::ast::{Endpoint, EndpointKind, StatementKind, Transition};
use crate::front::mermaid::lex::rule::is_space;
use crate::front::mermaid::lex::{Kind, Token};
use crate::front::mermaid::lines::Lines;
use crate::front::mermaid::messages::quote;
use crate::source::{Span, Spanned};

impl Parser<'_> {
    /// Parses `idStmt | idStmt DESCR | idStmt '-->' idStmt [DESCR]`.
    pub(super) fn endpoint_statement(&mut self, first: Token) -> Parsed {
        let source = self.endpoint()?;
        let next = self.peek();
        match next.kind {
            Kind::Description => {
                self.bump();
                let text = self.text_after_colon(next);
                let is_verbatim = self.is_verbatim(&text);
                self.check_keyword(first.start..next.end, &source);
                self.push(
                    first.start..next.end,
                    StatementKind::Description {
                        state: source,
                        description: parse_description(text, is_verbatim),
                    },
                );
                self.remember(
                    Shape::Labelled,
                    LineEntry::Description,
                    first.start..next.end,
                );
                Ok(())
            }
            Kind::Arrow => {
                self.bump();
                self.transition(first, source, next)
            }
            _ => {
                let end = self.used;
                self.check_semicolon(first.start..end, &source);
                self.push(first.start..end, StatementKind::Mention(source));
                self.remember(Shape::Mention, LineEntry::Mention, first.start..end);
                Ok(())
            }
        }
    }

    fn transition(&mut self, first: Token, source: Endpoint, arrow: Token) -> Parsed {
        let arrow_span = self.span(arrow.start..arrow.end);
        let target_token = self.peek();
        if !matches!(target_token.kind, Kind::Id | Kind::Star) {
            let diagnostic = self.missing_target(first, arrow, target_token);
            return Err(self.broken_at(target_token, diagnostic));
        }
        let target = self.endpoint()?;
        let target_end = self.used;
        let next = self.peek();
        let at_line_end = !self.same_line(arrow.start, target_token.start);
        if next.kind == Kind::Arrow && at_line_end && self.same_line(target_end, next.start) {
            // Mermaid ignored the line end between arrow and target: the target is the next line's source.
            let diagnostic = syntax_error::arrow_without_target(arrow_span);
            return Err(Self::broken_before(target_token.start, diagnostic));
        }
        let mut end = target_end;
        let mut label = None;
        if next.kind == Kind::Description {
            self.bump();
            end = next.end;
            let text = self.text_after_colon(next);
            let is_verbatim = self.is_verbatim(&text);
            label = Some(parse(text, is_verbatim));
        }
        self.check_semicolon(target_token.start..target_end, &target);
        let shape = if label.is_some() {
            Shape::Labelled
        } else {
            Shape::Transition
        };
        self.push(
            first.start..end,
            StatementKind::Transition(Transition {
                source,
                target,
                arrow: arrow_span,
                label,
            }),
        );
        self.add_to_line(
            LineEntry::Transition(target_token.start..target_end),
            first.start..end,
        );
        self.previous = Some(Previous {
            shape,
            start: first.start,
            name: target_token.start,
            end,
        });
        Ok(())
    }

    /// Parses `(ID | '[*]') [':::' ID]`.
    pub(super) fn endpoint(&mut self) -> Parsed<Endpoint> {
        let token = self.bump();
        let span = self.span(token.start..token.end);
        let target = if token.kind == Kind::Star {
            EndpointKind::Star
        } else {
            let name = self.name(token.start..token.end);
            if name.value.len() > 1 && name.value.starts_with('"') && name.value.ends_with('"') {
                self.report(stray_words::quoted_name(name.span, &name.value));
            }
            if name.value.ends_with('}') {
                self.glued_brace = Some(token.start..token.end);
            }
            EndpointKind::Id(name.value)
        };
        let mut class = None;
        let mark = self.peek();
        if mark.kind == Kind::ClassMark {
            self.bump();
            let name = self.peek();
            if name.kind != Kind::Id {
                let at = self.span(mark.start..mark.end);
                let diagnostic = syntax_error::class_without_name(at);
                return Err(self.broken_at(name, diagnostic));
            }
            self.bump();
            class = Some(self.spanned(name.start..name.end));
        }
        Ok(Endpoint {
            target,
            span,
            class,
        })
    }

    /// Reports `accTitle: text` between braces, which is a state and its text.
    fn check_keyword(&mut self, range: Range<usize>, state: &Endpoint) {
        if self.frames.len() > 1
            && let EndpointKind::Id(id) = &state.target
            && let Some(keyword) = stray_words::root_keyword(id)
        {
            let line = self.trimmed_span(range);
            self.report(stray_words::description_of_keyword(line, keyword));
        }
    }

    /// Reports `A --> B;`, where the `;` is part of the name.
    fn check_semicolon(&mut self, range: Range<usize>, endpoint: &Endpoint) {
        if let EndpointKind::Id(id) = &endpoint.target
            && let Some(name) = id.strip_suffix(';')
            && endpoint.class.is_none()
            && !name.contains(['#', '&'])
            && !name.is_empty()
            && !self.is_silent(self.line_of(range.start))
        {
            let mark = self.span(range.end - 1..range.end);
            self.report(semicolon_in_name(mark, self.span(range), id));
        }
    }
}

impl Parser<'_> {
    /// Reads the text after a colon.
    ///
    /// Reports a `;` that cuts it, and text that doesn't belong to a label.
    pub(super) fn text_after_colon(&mut self, token: Token) -> Spanned<String> {
        let text = self.spanned(token.start + 1..token.end);
        if text.value.ends_with('}') {
            self.glued_brace = Some(self.trim(token.start + 1..token.end));
        }
        self.check_cut(token.end);
        self.check_swallowed(token, &text);
        text
    }

    /// Reports a `;` after a text, where Mermaid ends the text and makes states of the rest.
    pub(super) fn check_cut(&mut self, end: usize) {
        let line = self.line_of(end);
        if !self.slice(end..end + 1).starts_with(';') || self.is_silent(line) {
            return;
        }
        let rest = self.trim(end..self.line_range(end).end);
        let lost = self.raw(rest.start + 1..rest.end);
        let marks = self.slice(rest.clone()).match_indices(';');
        let marks = marks.map(|(at, _)| self.span(rest.start + at..rest.start + at + 1));
        let marks = marks.collect();
        let mark = self.span(end..end + 1);
        self.report(cut_label(mark, self.span(rest), marks, lost.trim()));
        self.silence(line);
    }

    /// Reports a comment or an arrow in a text.
    fn check_swallowed(&mut self, token: Token, label: &Spanned<String>) {
        let text = self.slice(token.start..token.end);
        if !text.contains(['%', '#', '>']) {
            return;
        }
        if let Some((at, sign)) = find_comment(text) {
            let start = token.start + at;
            let edits = self.move_comment(token, start, sign);
            let said = self.raw(start..token.end);
            self.report(swallowed_comment(label.span, &said, edits));
        } else if text.contains(" --> ") {
            self.report(swallowed_arrow(label.span));
        }
    }

    /// Moves the comment at an offset above its line.
    fn move_comment(&self, token: Token, start: usize, sign: &str) -> Option<Vec<Edit>> {
        let line = self.trim(self.line_range(token.start));
        let said = self.raw(start + sign.len()..token.end);
        let above = Lines::new(self.prepared)
            .insert_above(self.span(line.clone()), &format!("%% {}", said.trim()))?;
        let kept = self.slice(token.start..start).trim_end_matches(is_space);
        // If only a colon would stay, it is removed as well.
        let before = self.slice(line.start..token.start);
        let from = match kept {
            ":" => line.start + before.trim_end_matches(is_space).len(),
            _ => token.start + kept.len(),
        };
        let end = self.trim(start..token.end).end;
        let removal = Edit {
            span: self.span(from..end),
            text: String::new(),
        };
        Some(vec![above, removal])
    }
}

/// Finds the comment in a label that begins with its colon: its offset and its sign.
fn find_comment(text: &str) -> Option<(usize, &'static str)> {
    let follows_blank = |at: usize| {
        let before = text.get(..at).unwrap_or("");
        before == ":" || before.ends_with(is_space)
    };
    let percent = text.find("%%").filter(|&at| follows_blank(at));
    let hash = text.match_indices('#').map(|(at, _)| at).find(|&at| {
        let after = text.get(at + 1..).unwrap_or("");
        follows_blank(at) && after.starts_with(is_space)
    });
    match (percent, hash) {
        (Some(percent), Some(hash)) if hash < percent => Some((hash, "#")),
        (Some(percent), _) => Some((percent, "%%")),
        (None, hash) => hash.map(|hash| (hash, "#")),
    }
}

/// Reports a text that a `;` cuts; the rest becomes states.
///
/// `marks` are the first `;` and those in the rest.
fn cut_label(mark: Span, rest: Span, marks: Vec<Span>, lost: &str) -> Diagnostic {
    let message = "the text ends at this `;`, and the `;` is read as a state";
    let diagnostic = Diagnostic::new(Code::SemicolonInLabel, mark, message).misreads(rest);
    if lost.is_empty() {
        return diagnostic.unsafe_fix("remove the `;`", mark, "");
    }
    let title = match marks.len() {
        1 => format!("write `#59;` before `{}`", quote(lost)),
        _ => "write `#59;` for each `;`".to_owned(),
    };
    let marks = marks.into_iter();
    let edits = marks.map(|span| Edit {
        span,
        text: "#59;".to_owned(),
    });
    diagnostic
        .related(rest, "each word here is read as a state")
        .fix_all(Applicability::Unsafe, title, edits.collect())
}

/// Reports a name that ends in `;`.
///
/// What it says of that state, it doesn't say of the one that is meant.
fn semicolon_in_name(mark: Span, whole: Span, name: &str) -> Diagnostic {
    let message = format!("the `;` is part of the name `{}`", quote(name));
    Diagnostic::new(Code::SemicolonInLabel, mark, message)
        .misreads(whole)
        .doubts([name, name.trim_end_matches(';')])
        .note("a statement ends with its line, and needs no `;`")
        .unsafe_fix("remove the `;`", mark, "")
}

/// Creates an `SM123` diagnostic (`swallowed-by-label`).
fn swallowed_by_label(text: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::SwallowedByLabel, text, message)
        .label("Mermaid shows all of this")
        .note("after a colon, a text continues to the end of its line")
}

/// Reports `a --> b : label %% comment`; `edits` put the comment on a line of its own.
fn swallowed_comment(text: Span, comment: &str, edits: Option<Vec<Edit>>) -> Diagnostic {
    let message = format!(
        "`{}` is no comment here, but part of a text",
        quote(comment)
    );
    let diagnostic = swallowed_by_label(text, message);
    let title = "put the comment on a line of its own";
    diagnostic.fix_or_help(Applicability::Unsafe, title, edits)
}

/// Reports `a --> b : label c --> d`.
fn swallowed_arrow(text: Span) -> Diagnostic {
    swallowed_by_label(text, "this `-->` is no transition, but part of a text")
        .help("put a second transition on a line of its own")
}
