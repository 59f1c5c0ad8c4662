//! States, transitions and their labels: `a`, `a : text`, `a --> b : label`.

use std::ops::Range;

use super::{Parsed, Parser, Previous, Shape, What, stray_words, syntax_error};
use crate::diag::{Applicability, Code, Diagnostic, Edit};
use crate::front::label::{parse, parse_description};
use crate::front::mermaid::ast::{Endpoint, EndpointKind, StatementKind, Transition};
use crate::front::mermaid::lex::rule::is_space;
use crate::front::mermaid::lex::{Kind, Token};
use crate::front::mermaid::lines::Lines;
use crate::front::mermaid::messages::quote;
use crate::source::{Span, Spanned};

impl Parser<'_> {
    /// `idStmt | idStmt DESCR | idStmt '-->' idStmt [DESCR]`.
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
                    first.start,
                    next.end,
                    StatementKind::Description {
                        state: source,
                        description: parse_description(text, is_verbatim),
                    },
                );
                self.settle(Shape::Labelled, What::Description, first.start..next.end);
                Ok(())
            }
            Kind::Arrow => {
                self.bump();
                self.transition(first, source, next)
            }
            _ => {
                let end = self.used;
                self.check_semicolon(first.start..end, &source);
                self.push(first.start, end, StatementKind::Mention(source));
                self.settle(Shape::Mention, What::Mention, first.start..end);
                Ok(())
            }
        }
    }

    fn transition(&mut self, first: Token, source: Endpoint, arrow: Token) -> Parsed {
        let arrow_span = self.span(arrow.start..arrow.end);
        let target_token = self.peek();
        if !matches!(target_token.kind, Kind::Id | Kind::Star) {
            let finding = self.missing_target(first, arrow, target_token);
            return Err(self.broken_at(target_token, finding));
        }
        let target = self.endpoint()?;
        let target_end = self.used;
        let next = self.peek();
        let at_line_end = !self.same_line(arrow.start, target_token.start);
        if next.kind == Kind::Arrow && at_line_end && self.same_line(target_end, next.start) {
            // The line end between arrow and target counted for nothing: the target is the next line's source.
            let finding = syntax_error::arrow_without_target(arrow_span);
            return Err(Self::broken_before(target_token.start, finding));
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
            first.start,
            end,
            StatementKind::Transition(Transition {
                source,
                target,
                arrow: arrow_span,
                label,
            }),
        );
        self.log(
            What::Transition(target_token.start..target_end),
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

    /// `(ID | '[*]') [':::' ID]`.
    pub(super) fn endpoint(&mut self) -> Parsed<Endpoint> {
        let token = self.bump();
        let span = self.span(token.start..token.end);
        let target = if token.kind == Kind::Star {
            EndpointKind::Star
        } else {
            let name = self.name(token.start..token.end);
            if name.value.len() > 1 && name.value.starts_with('"') && name.value.ends_with('"') {
                let finding = stray_words::quoted_name(name.span, &name.value);
                self.report(finding);
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
                let finding = syntax_error::class_without_name(at);
                return Err(self.broken_at(name, finding));
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

    /// `accTitle: text` between braces: a state and its text.
    fn check_keyword(&mut self, range: Range<usize>, state: &Endpoint) {
        if self.frames.len() > 1
            && let EndpointKind::Id(id) = &state.target
            && let Some(keyword) = stray_words::root_keyword(id)
        {
            let line = self.trimmed_span(range);
            self.report(stray_words::description_of_keyword(line, keyword));
        }
    }

    /// `A --> B;`: the `;` is part of the name.
    fn check_semicolon(&mut self, range: Range<usize>, endpoint: &Endpoint) {
        if let EndpointKind::Id(id) = &endpoint.target
            && let Some(name) = id.strip_suffix(';')
            && endpoint.class.is_none()
            && !name.contains(['#', '&'])
            && !name.is_empty()
        {
            let mark = self.span(range.end - 1..range.end);
            self.report(semicolon_in_name(mark, id));
        }
    }
}

impl Parser<'_> {
    /// The text behind a colon, and a report where a `;` cuts it or where it holds more than a label.
    pub(super) fn text_after_colon(&mut self, token: Token) -> Spanned<String> {
        let text = self.spanned(token.start + 1..token.end);
        if text.value.ends_with('}') {
            self.glued_brace = Some(self.trim(token.start + 1..token.end));
        }
        self.check_cut(token.end);
        self.check_swallowed(token, &text);
        text
    }

    /// A `;` behind a text: Mermaid ends the text there and makes states of the rest.
    pub(super) fn check_cut(&mut self, end: usize) {
        let line = self.line_of(end);
        if !self.slice(end..end + 1).starts_with(';') || self.is_silent(line) {
            return;
        }
        let rest = self.trim(end..self.line_range(end).end);
        let lost = self.raw(rest.start + 1..rest.end);
        let mark = self.span(end..end + 1);
        self.report(cut_label(mark, self.span(rest), lost.trim()));
        self.silence(line);
    }

    /// A comment or an arrow in a text.
    fn check_swallowed(&mut self, token: Token, label: &Spanned<String>) {
        let text = self.slice(token.start..token.end);
        if !text.contains(['%', '#', '>']) {
            return;
        }
        if let Some((at, sign)) = comment(text) {
            let start = token.start + at;
            let edits = self.comment_moved(token, start, sign);
            let said = self.raw(start..token.end);
            let finding = swallowed_comment(label.span, &said, edits);
            self.report(finding);
        } else if text.contains(" --> ") {
            self.report(swallowed_arrow(label.span));
        }
    }

    /// What puts the comment that begins at an offset above its line.
    fn comment_moved(&self, token: Token, start: usize, sign: &str) -> Option<Vec<Edit>> {
        let line = self.trim(self.line_range(token.start));
        let said = self.raw(start + sign.len()..token.end);
        let above = Lines::new(self.prepared)
            .above(self.span(line.clone()), &format!("%% {}", said.trim()))?;
        let kept = self.slice(token.start..start).trim_end_matches(is_space);
        // Of a colon with nothing else behind it, nothing is left.
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

/// Where the text of a label, with its colon, goes over to a comment, and the sign that begins it.
fn comment(text: &str) -> Option<(usize, &'static str)> {
    let behind_blank = |at: usize| {
        let before = text.get(..at).unwrap_or("");
        before == ":" || before.ends_with(is_space)
    };
    let percent = text.find("%%").filter(|&at| behind_blank(at));
    let hash = text.match_indices('#').map(|(at, _)| at).find(|&at| {
        let behind = text.get(at + 1..).unwrap_or("");
        behind_blank(at) && behind.starts_with(is_space)
    });
    match (percent, hash) {
        (Some(percent), Some(hash)) if hash < percent => Some((hash, "#")),
        (Some(percent), _) => Some((percent, "%%")),
        (None, hash) => hash.map(|hash| (hash, "#")),
    }
}

/// A text that a `;` cuts; what follows becomes states.
fn cut_label(mark: Span, rest: Span, lost: &str) -> Diagnostic {
    let finding = Diagnostic::new(
        Code::SemicolonInLabel,
        mark,
        "the text ends at this `;`, and the `;` is read as a state",
    );
    if lost.is_empty() {
        return finding.fix(Applicability::Unsafe, "remove the `;`", mark, "");
    }
    finding
        .related(rest, "each word here is read as a state")
        .fix(
            Applicability::Unsafe,
            format!("write `#59;` in front of `{}`", quote(lost)),
            mark,
            "#59;",
        )
}

/// A name that ends in `;`.
fn semicolon_in_name(mark: Span, name: &str) -> Diagnostic {
    let name = quote(name);
    Diagnostic::new(
        Code::SemicolonInLabel,
        mark,
        format!("the `;` is part of the name `{name}`"),
    )
    .note("a statement ends with its line, and needs no `;`")
    .fix(Applicability::Unsafe, "remove the `;`", mark, "")
}

/// Creates an `SM123` diagnostic (`swallowed-by-label`).
fn swallowed_by_label(text: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::SwallowedByLabel, text, message)
        .label("Mermaid shows all of this")
        .note("behind a colon, a text goes on to the end of its line")
}

/// `a --> b : label %% comment`. `edits` put the comment on a line of its own.
fn swallowed_comment(text: Span, comment: &str, edits: Option<Vec<Edit>>) -> Diagnostic {
    let finding = swallowed_by_label(
        text,
        format!(
            "`{}` is no comment here, but part of a text",
            quote(comment)
        ),
    );
    let title = "put the comment on a line of its own";
    match edits {
        Some(edits) => finding.fix_all(Applicability::Unsafe, title, edits),
        None => finding.help(title),
    }
}

/// `a --> b : label c --> d`.
fn swallowed_arrow(text: Span) -> Diagnostic {
    swallowed_by_label(text, "this `-->` is no transition, but part of a text")
        .help("put a second transition on a line of its own")
}
