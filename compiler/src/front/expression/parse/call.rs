//! Calls, methods, and the list after `in`.

use std::ops::Range;

use super::Parser;
use crate::front::expression::ast::{BinaryOperator, Expression, Kind, UnaryOperator};
use crate::front::expression::lex;
use crate::front::expression::literal;
use crate::front::expression::messages;
use crate::source::Spanned;

impl Parser<'_> {
    /// Parses `name(…)`. The next token is the name, and the parenthesis follows it.
    pub(super) fn call(&mut self, name: &str, range: Range<usize>) -> Expression {
        if !messages::FUNCTIONS.contains(&name) {
            let whole = range.start..self.end_of_call();
            let is_empty = self.is_sign(self.at + 2, ")");
            let finding = messages::function(self.written, range, whole, name, is_empty);
            return self.broken(finding);
        }
        let opening = self.range_after_next();
        self.at += 2;
        let kind = match name {
            "has" => self.path().map(Kind::Has),
            "in_state" => self.state().map(Kind::InState),
            _ if self.next_is(")") => None,
            _ => self
                .argument()
                .map(|inner| Kind::Unary(UnaryOperator::Size, Box::new(inner))),
        };
        match kind {
            Some(kind) => {
                self.end_arguments(name, opening);
                let span = self.written.span(range.start..self.end_of_last());
                Expression { span, kind }
            }
            None => self.wrong_argument(name),
        }
    }

    /// Parses `value.name(…)`, or a name after a value that has no fields. The next token is the dot.
    pub(super) fn method(&mut self, value: Expression, start: usize) -> Expression {
        let dot = self.here();
        self.at += 1;
        let Some(token) = self
            .peek()
            .filter(|token| token.kind == lex::Kind::Name)
            .cloned()
        else {
            let finding = messages::expected_name(self.written, dot);
            return self.broken(finding);
        };
        if !self.is_sign(self.at + 1, "(") {
            self.at += 1;
            let finding = messages::field_of_value(self.written, token.range);
            self.problems.push(finding);
            return value;
        }
        let name = self.word(&token).to_owned();
        let operator = match name.as_str() {
            "size" => None,
            "startsWith" => Some(BinaryOperator::StartsWith),
            "endsWith" => Some(BinaryOperator::EndsWith),
            "contains" => Some(BinaryOperator::Contains),
            _ => {
                let finding = messages::method(self.written, token.range, &name);
                return self.broken(finding);
            }
        };
        let opening = self.range_after_next();
        self.at += 2;
        self.count();
        let is_empty = self.next_is(")");
        let kind = match operator {
            None if is_empty => Kind::Unary(UnaryOperator::Size, Box::new(value)),
            Some(operator) if !is_empty => match self.argument() {
                Some(argument) => Kind::Binary(operator, Box::new([value, argument])),
                None => return value,
            },
            _ => return self.wrong_argument(&name),
        };
        self.end_arguments(&name, opening);
        let span = self.written.span(start..self.end_of_last());
        Expression { span, kind }
    }

    /// Parses `value in [1, 2]`. The next token is the bracket.
    pub(super) fn among(&mut self, value: Expression, start: usize) -> Expression {
        let opening = self.here();
        self.at += 1;
        let mut items = Vec::new();
        while !self.next_is("]") && self.peek().is_some() {
            let first = self.here().start;
            let item = self.unary();
            let ends = self.next_is("]") || self.next_is(",") || self.peek().is_none();
            match item.kind {
                Kind::Literal(literal) if ends => items.push(Spanned::new(literal, item.span)),
                _ => {
                    self.leave_item();
                    let range = first..self.end_of_last();
                    let finding = messages::list_item(self.written, range);
                    self.problems.push(finding);
                }
            }
            if !self.take(",") {
                break;
            }
        }
        self.close("]", opening);
        let span = self.written.span(start..self.end_of_last());
        let kind = Kind::Among(Box::new(value), items);
        Expression { span, kind }
    }

    /// Parses the only argument of a call; `None` if it is nested too deep, which is reported.
    fn argument(&mut self) -> Option<Expression> {
        if !self.enter() {
            return None;
        }
        let argument = self.binary(0);
        self.leave();
        Some(argument)
    }

    /// Parses the quoted name of a state.
    fn state(&mut self) -> Option<Spanned<String>> {
        let token = self.peek()?.clone();
        let is_plain = token.kind == lex::Kind::Text && !self.word(&token).starts_with(['b', 'B']);
        let name = literal::text(self.word(&token)).ok().filter(|_| is_plain)?;
        self.at += 1;
        Some(Spanned::new(name, self.written.span(token.range)))
    }

    /// Takes the parenthesis after the only argument.
    fn end_arguments(&mut self, name: &str, opening: Range<usize>) {
        if self.next_is(")") || self.peek().is_none() {
            self.close(")", opening);
        } else if !self.problems.has_errors() {
            self.wrong_argument(name);
        } else {
            self.recover();
            self.take(")");
        }
    }

    fn wrong_argument(&mut self, name: &str) -> Expression {
        let finding = messages::wrong_argument(self.written, self.here(), name);
        let placeholder = self.broken(finding);
        self.take(")");
        placeholder
    }

    /// Returns the bytes of the token after the next one.
    fn range_after_next(&self) -> Range<usize> {
        let token = self.tokens.get(self.at + 1);
        token.map_or_else(|| self.here(), |token| token.range.clone())
    }

    /// Leaves out tokens up to the end of an item of a list.
    fn leave_item(&mut self) {
        let mut open = 0_usize;
        while let Some(token) = self.peek() {
            match token.kind {
                lex::Kind::Sign("(" | "[") => open += 1,
                lex::Kind::Sign("]" | ",") if open == 0 => return,
                lex::Kind::Sign(")" | "]") => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Returns the end of the call that the next two tokens begin.
    fn end_of_call(&self) -> usize {
        let mut open = 0_usize;
        for token in self.tokens.iter().skip(self.at + 1) {
            match token.kind {
                lex::Kind::Sign("(") => open += 1,
                lex::Kind::Sign(")") if open <= 1 => return token.range.end,
                lex::Kind::Sign(")") => open -= 1,
                _ => {}
            }
        }
        self.written.text().trim_end().len()
    }
}
