//! Values: literals, fields, parentheses, and the signs in front of them.

use std::ops::Range;

use super::{MAX_NESTING, Parser};
use crate::diag::Diagnostic;
use crate::front::expression::ast::{Expression, Kind, Literal, UnaryOperator};
use crate::front::expression::lex;
use crate::front::expression::literal;
use crate::front::expression::messages;
use crate::source::Spanned;

/// Words that CEL keeps for itself: no field of that name can be read.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

impl Parser<'_> {
    /// Parses a value with the signs before it.
    pub(super) fn unary(&mut self) -> Expression {
        let mut signs: Vec<(&'static str, Range<usize>)> = Vec::new();
        while let Some((sign, range)) = self.prefix() {
            if signs.last().is_some_and(|(before, _)| *before != sign) {
                let finding = messages::mixed_signs(self.written, range.clone());
                self.problems.push(finding);
            }
            signs.push((sign, range));
            if signs.len() > MAX_NESTING {
                self.give_up("levels", MAX_NESTING);
                break;
            }
        }
        // `-9223372036854775808` is a number; without its sign it would be past the range.
        let is_number = self
            .peek()
            .is_some_and(|token| token.kind == lex::Kind::Number);
        let negative = is_number && signs.last().is_some_and(|(sign, _)| *sign == "-");
        let minus = if negative { signs.pop() } else { None };
        let mut inner = self.member(minus.as_ref().map(|(_, range)| range));
        let end = self.end_of_last();
        while let Some((sign, range)) = signs.pop() {
            self.count();
            let span = self.written.span(range.start..end);
            let kind = match sign {
                "!" => Kind::Not(Box::new(inner)),
                _ => Kind::Unary(UnaryOperator::Negate, Box::new(inner)),
            };
            inner = Expression { span, kind };
        }
        inner
    }

    /// Takes `!`, `-`, or the word `not` in front of a value.
    fn prefix(&mut self) -> Option<(&'static str, Range<usize>)> {
        let token = self.peek()?;
        let range = token.range.clone();
        let sign = match token.kind {
            lex::Kind::Sign("!") => "!",
            lex::Kind::Sign("-") => "-",
            lex::Kind::Name if self.word(token).eq_ignore_ascii_case("not") => {
                let follows = self.tokens.get(self.at + 1)?;
                let is_value = match follows.kind {
                    lex::Kind::Name => !["in", "and", "or"].contains(&self.word(follows)),
                    lex::Kind::Sign("(" | "!") => true,
                    _ => false,
                };
                if !is_value {
                    return None;
                }
                let finding = messages::misspelled(self.written, range.clone(), "!");
                self.problems.push(finding);
                "!"
            }
            _ => return None,
        };
        self.at += 1;
        Some((sign, range))
    }

    /// Parses a value and the methods after it. `minus` is the sign that belongs to the number.
    fn member(&mut self, minus: Option<&Range<usize>>) -> Expression {
        let start = minus.map_or_else(|| self.here().start, |minus| minus.start);
        let mut value = self.primary(minus.is_some(), start);
        while self.next_is(".") {
            value = self.method(value, start);
        }
        value
    }

    fn primary(&mut self, negative: bool, start: usize) -> Expression {
        self.count();
        let Some(token) = self.peek().cloned() else {
            let finding = messages::expected_value(self.written, self.here());
            return self.broken(finding);
        };
        let range = token.range.clone();
        let word = self.word(&token).to_owned();
        let kind = match token.kind {
            lex::Kind::Number => self.number(&word, negative, start..range.end),
            lex::Kind::Text => self.text(&word, &range),
            lex::Kind::CurlyText => {
                self.at += 1;
                let finding = messages::curly_quotes(self.written, range.clone());
                self.problems.push(finding);
                Kind::Literal(Literal::Null)
            }
            lex::Kind::Name => return self.name_or_call(&word, range),
            lex::Kind::Sign("(") => return self.parenthesis(range),
            other => {
                let finding = match other {
                    lex::Kind::Unclosed => messages::unclosed_string(self.written, range),
                    lex::Kind::Sign("[") => messages::list(self.written, range),
                    lex::Kind::Sign("{") => messages::object(self.written, range),
                    _ => messages::expected_value(self.written, range),
                };
                return self.broken(finding);
            }
        };
        let span = self.written.span(start..range.end);
        Expression { span, kind }
    }

    fn number(&mut self, word: &str, negative: bool, range: Range<usize>) -> Kind {
        self.at += 1;
        let literal = literal::number(word, negative).unwrap_or_else(|| {
            let fits = literal::fits_unsigned(word, negative);
            let finding = messages::out_of_range(self.written, range, fits);
            self.problems.push(finding);
            Literal::Null
        });
        Kind::Literal(literal)
    }

    fn text(&mut self, word: &str, range: &Range<usize>) -> Kind {
        self.at += 1;
        if word.starts_with(['b', 'B']) {
            let finding = messages::bytes(self.written, range.clone());
            self.problems.push(finding);
            return Kind::Literal(Literal::Null);
        }
        let literal = literal::text(word).map_or_else(
            |escape| {
                let place = range.start + escape.start..range.start + escape.end;
                let finding = messages::no_such_escape(self.written, place);
                self.problems.push(finding);
                Literal::Null
            },
            Literal::Text,
        );
        Kind::Literal(literal)
    }

    fn parenthesis(&mut self, opening: Range<usize>) -> Expression {
        self.at += 1;
        if !self.enter() {
            return self.placeholder(opening);
        }
        let inner = self.binary(0);
        self.leave();
        self.close(")", opening);
        inner
    }

    /// Parses a field, a word of the language, or a call.
    fn name_or_call(&mut self, word: &str, range: Range<usize>) -> Expression {
        if self.is_sign(self.at + 1, "(") {
            return self.call(word, range);
        }
        let literal = match word {
            "true" => Some(Literal::Bool(true)),
            "false" => Some(Literal::Bool(false)),
            "null" => Some(Literal::Null),
            _ => None,
        };
        if let Some(literal) = literal {
            self.at += 1;
            let span = self.written.span(range);
            let kind = Kind::Literal(literal);
            return Expression { span, kind };
        }
        if word == "in" {
            let finding = messages::expected_value(self.written, range);
            return self.broken(finding);
        }
        match self.path() {
            Some(path) => Expression {
                span: path.span,
                kind: Kind::Name(path.value),
            },
            None => self.placeholder(range),
        }
    }

    /// Parses a dotted path, up to a name that is called.
    pub(super) fn path(&mut self) -> Option<Spanned<String>> {
        let first = self
            .peek()
            .filter(|token| token.kind == lex::Kind::Name)
            .cloned()?;
        let mut path = self.word(&first).to_owned();
        if RESERVED.contains(&path.as_str()) {
            let finding = messages::reserved_word(self.written, first.range.clone());
            self.problems.push(finding);
        }
        self.at += 1;
        while self.next_is(".") && !self.is_sign(self.at + 2, "(") {
            let next = self.tokens.get(self.at + 1);
            let Some(next) = next.filter(|token| token.kind == lex::Kind::Name) else {
                break;
            };
            path.push('.');
            path.push_str(self.word(next));
            self.at += 2;
        }
        let span = self.written.span(first.range.start..self.end_of_last());
        Some(Spanned::new(path, span))
    }

    /// Notes what is wrong, and continues after it.
    pub(super) fn broken(&mut self, finding: Diagnostic) -> Expression {
        self.problems.push(finding);
        let here = self.here();
        self.recover();
        self.placeholder(here)
    }

    /// Returns a substitute for a value that couldn't be read; a finding says why.
    pub(super) fn placeholder(&self, range: Range<usize>) -> Expression {
        let span = self.written.span(range);
        let kind = Kind::Literal(Literal::Null);
        Expression { span, kind }
    }
}
