//! `a`, `a : text`, `a --> b : label`.

use std::ops::Range;

use super::stray::What;
use super::{Parsed, Parser, Previous, Shape};
use crate::front::mermaid::ast::{Endpoint, EndpointKind, StatementKind, Transition};
use crate::front::mermaid::lex::{Kind, Token};
use crate::front::mermaid::report;

impl Parser<'_> {
    /// `idStmt | idStmt DESCR | idStmt '-->' idStmt [DESCR]`.
    pub(super) fn endpoint_statement(&mut self, first: Token) -> Parsed {
        let source = self.endpoint()?;
        let next = self.peek();
        match next.kind {
            Kind::Description => {
                self.bump();
                let text = self.label(next);
                self.check_keyword(first.start..next.end, &source);
                self.push(
                    first.start,
                    next.end,
                    StatementKind::Description {
                        state: source,
                        text,
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
            let finding = report::syntax_error::arrow::no_target(arrow_span);
            return Err(Self::broken_before(target_token.start, finding));
        }
        let mut end = target_end;
        let mut label = None;
        if next.kind == Kind::Description {
            self.bump();
            end = next.end;
            label = Some(self.label(next));
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
                let finding = report::stray_words::quoted_name(name.span, &name.value);
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
                let finding = report::syntax_error::class::no_name(at);
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
            && let Some(keyword) = report::stray_words::root_keyword(id)
        {
            let line = self.trimmed_span(range);
            self.report(report::stray_words::description_of_keyword(line, keyword));
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
            self.report(report::semicolon_in_label::in_name(mark, id));
        }
    }
}
