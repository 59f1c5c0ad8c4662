//! Tokens to the tree.
//!
//! Binary operators are read by climbing their precedence, which is CEL's. Where a value is missing or can't be read, the
//! finding is noted, the tokens up to the next `&&`, `||` or closing sign are left out, and reading continues after them:
//! each part of a condition gets its own finding.

mod call;
mod operand;

use std::ops::Range;

use super::ast::{BinaryOperator, Expression, Kind};
use super::lex::{self, Token, tokens};
use super::messages;
use super::written::Written;
use crate::diag::{Diagnostic, Diags, Edit, SMALLER_EXPRESSION, part_too_large};

/// Longest expression.
///
/// Unit: bytes. Why: nobody reads a longer one; a text of a megabyte is refused before it costs more than its length.
const MAX_TEXT: usize = 16 * 1024;

/// Deepest nesting of parentheses and calls.
///
/// Unit: levels. Why: the parser recurses, and nobody counts more.
const MAX_NESTING: usize = 64;

/// Highest tree. Unit: levels. Why: later stages recurse over it; a chain of `+` adds a level each.
const MAX_HEIGHT: usize = 128;

/// Most parts of an expression.
///
/// Unit: values and operators. Why: a guard program holds 4,096 instructions, and each part needs at most two.
const MAX_PARTS: usize = 2048;

/// The result of parsing a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The expression; `None` if anything of it couldn't be read.
    pub expression: Option<Expression>,
    /// The findings about it.
    pub problems: Diags,
    /// True if a limit is passed, so that the rest wasn't examined.
    pub(super) is_too_large: bool,
    /// The tokens, for those who ask what else the text may be.
    pub(super) tokens: Vec<Token>,
}

impl Parsed {
    /// Returns the findings about a text that should be a value.
    ///
    /// It may have been meant literally: `in progress`.
    #[must_use]
    pub fn into_value_problems(self, written: &Written) -> Diags {
        let is_word = |token: &Token| token.kind == lex::Kind::Name;
        let is_words = self.tokens.len() > 1 && self.tokens.iter().all(is_word);
        if !is_words {
            return self.problems;
        }
        let end = written.text().len();
        let insert = |at: usize| {
            written.exact_span(at..at).map(|span| Edit {
                span,
                text: "'".to_owned(),
            })
        };
        let edits = [insert(0), insert(end)].into_iter().collect::<Option<_>>();
        let mut problems = Diags::new();
        problems.push(messages::prose_as_value(written, edits.unwrap_or_default()));
        problems
    }
}

/// Reads a text that is an expression.
///
/// ```
/// use statemark_compiler::front::expression::{Written, ast::Kind, parse};
/// use statemark_compiler::source::{Sources, Span, Spanned};
///
/// let text = "retries < 3 && !paid";
/// let mut sources = Sources::new();
/// let file = sources.add("guard", text);
/// let span = Span { file, start: 0, end: 20 };
/// let parsed = parse(&Written::in_label(&Spanned::new(text.to_owned(), span), true));
/// let Some(Kind::And(parts)) = parsed.expression.map(|it| it.kind) else { panic!() };
/// assert_eq!(sources.text(parts[1].span), "!paid");
/// ```
#[must_use]
pub fn parse(written: &Written) -> Parsed {
    let mut problems = Diags::new();
    if written.text().len() > MAX_TEXT {
        problems.push(too_large(written, "bytes", MAX_TEXT));
        return Parsed {
            expression: None,
            problems,
            is_too_large: true,
            tokens: Vec::new(),
        };
    }
    let mut parser = Parser {
        written,
        tokens: tokens(written.text()),
        at: 0,
        nesting: 0,
        parts: 0,
        limit: None,
        problems,
    };
    let expression = parser.binary(0);
    if parser.at < parser.tokens.len() && !parser.problems.has_errors() {
        parser.unexpected_operator();
    }
    if !parser.problems.has_errors() && expression.height() > MAX_HEIGHT {
        parser.give_up("levels", MAX_HEIGHT);
    }
    let is_too_large = parser.limit.is_some();
    if let Some(limit) = parser.limit {
        parser.problems = Diags::new();
        parser.problems.push(limit);
    }
    let is_whole = !parser.problems.has_errors();
    Parsed {
        expression: is_whole.then_some(expression),
        problems: parser.problems,
        is_too_large,
        tokens: parser.tokens,
    }
}

fn too_large(written: &Written, unit: &str, most: usize) -> Diagnostic {
    let what = format!("an expression of more than {most} {unit}");
    part_too_large(&what, written.whole(), SMALLER_EXPRESSION)
}

struct Parser<'w> {
    written: &'w Written,
    tokens: Vec<Token>,
    /// The index of the next token.
    at: usize,
    /// The number of open parentheses and calls.
    nesting: usize,
    /// The number of values and operators so far.
    parts: usize,
    /// The limit that is passed, if one is; then nothing else is reported.
    limit: Option<Diagnostic>,
    problems: Diags,
}

impl Parser<'_> {
    /// Parses an expression whose operators bind at least that tightly.
    fn binary(&mut self, least: u8) -> Expression {
        let start = self.here().start;
        let mut left = self.unary();
        let mut relation: Option<(Range<usize>, Range<usize>)> = None;
        while let Some((operator, sign)) = self.operator(least) {
            self.count();
            if operator.is_relation() {
                if let Some((before, middle)) = relation.take() {
                    let finding =
                        messages::chained_comparison(self.written, &before, &middle, &sign);
                    self.problems.push(finding);
                }
                let middle_start = sign.end;
                if operator == Operator::Binary(BinaryOperator::In) && self.next_is("[") {
                    left = self.among(left, start);
                } else {
                    let right = self.binary(operator.level() + 1);
                    left = self.join(start, left, operator, right);
                }
                relation = Some((sign, middle_start..self.end_of_last()));
            } else {
                let right = self.binary(operator.level() + 1);
                left = self.join(start, left, operator, right);
                relation = None;
            }
        }
        left
    }

    /// Joins two operands; `a && b && c` is a list.
    fn join(
        &mut self,
        start: usize,
        left: Expression,
        operator: Operator,
        right: Expression,
    ) -> Expression {
        let span = self.written.span(start..self.end_of_last());
        let list = |left: Expression, right: Expression, and: bool| match (left.kind, and) {
            (Kind::And(mut parts), true) | (Kind::Or(mut parts), false) => {
                parts.push(right);
                parts
            }
            (kind, _) => {
                let left = Expression {
                    span: left.span,
                    kind,
                };
                vec![left, right]
            }
        };
        let kind = match operator {
            Operator::And => Kind::And(list(left, right, true)),
            Operator::Or => Kind::Or(list(left, right, false)),
            Operator::Binary(operator) => Kind::Binary(operator, Box::new([left, right])),
        };
        Expression { span, kind }
    }

    /// Counts a value or an operator; says so where there are too many, and leaves the rest out.
    fn count(&mut self) {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            self.give_up("parts", MAX_PARTS);
        }
    }

    /// Goes one level deeper; `false`, with a finding, where that is too deep.
    fn enter(&mut self) -> bool {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            self.give_up("levels", MAX_NESTING);
            return false;
        }
        true
    }

    fn leave(&mut self) {
        self.nesting -= 1;
    }

    fn give_up(&mut self, unit: &str, most: usize) {
        let finding = too_large(self.written, unit, most);
        self.limit.get_or_insert(finding);
        self.at = self.tokens.len();
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn word(&self, token: &Token) -> &str {
        self.written.text().get(token.range.clone()).unwrap_or("")
    }

    /// Returns true if the next token is that sign.
    fn next_is(&self, sign: &str) -> bool {
        self.is_sign(self.at, sign)
    }

    fn is_sign(&self, at: usize, sign: &str) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| matches!(token.kind, lex::Kind::Sign(it) if it == sign))
    }

    /// Takes the next token if it is that sign.
    fn take(&mut self, sign: &str) -> bool {
        let found = self.next_is(sign);
        self.at += usize::from(found);
        found
    }

    /// Returns the end of the token before the next one.
    fn end_of_last(&self) -> usize {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.map_or(0, |token| token.range.end)
    }

    /// Returns the bytes of the next token; an empty range after the last one.
    fn here(&self) -> Range<usize> {
        let end = self.written.text().trim_end().len();
        self.peek().map_or(end..end, |token| token.range.clone())
    }

    /// Takes a closing sign, or says that it is missing.
    fn close(&mut self, sign: &'static str, opening: Range<usize>) {
        if !self.take(sign) && !self.problems.has_errors() {
            let finding = messages::unclosed_bracket(self.written, opening, sign, self.here());
            self.problems.push(finding);
        }
    }

    /// Leaves out tokens up to the next `&&` or `||`, or to the sign that closes what is open.
    fn recover(&mut self) {
        let mut open = 0_usize;
        while let Some(token) = self.peek() {
            match token.kind {
                lex::Kind::Sign("(" | "[" | "{") => open += 1,
                lex::Kind::Sign(")" | "]" | "}") if open > 0 => open -= 1,
                lex::Kind::Sign(")" | "]" | "}" | "&&" | "||") if open == 0 => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Reports something in place of an operator or the end.
    fn unexpected_operator(&mut self) {
        let here = self.here();
        let Some(token) = self.peek().cloned() else {
            return;
        };
        let word = self.word(&token).to_owned();
        let finding = match token.kind {
            lex::Kind::Sign("?") => messages::conditional(self.written, here),
            lex::Kind::Sign("[") => messages::index(self.written, here),
            lex::Kind::Sign("{") => messages::object(self.written, here),
            lex::Kind::Sign("**") => messages::power(self.written, here),
            lex::Kind::Sign(")") => messages::nothing_to_close(self.written, here),
            lex::Kind::Name if word == "not" => messages::not_in(self.written, here),
            _ => messages::expected_operator(self.written, here),
        };
        self.problems.push(finding);
    }
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    And,
    Or,
    Binary(BinaryOperator),
}

/// `||` binds loosest.
const OR: u8 = 0;
const AND: u8 = 1;
const RELATION: u8 = 2;
const SUM: u8 = 3;
const PRODUCT: u8 = 4;

impl Operator {
    /// Returns the tightness of its binding, in CEL's order.
    fn level(self) -> u8 {
        use BinaryOperator as Op;
        match self {
            Self::Or => OR,
            Self::And => AND,
            Self::Binary(Op::Add | Op::Subtract) => SUM,
            Self::Binary(Op::Multiply | Op::Divide | Op::Remainder) => PRODUCT,
            Self::Binary(_) => RELATION,
        }
    }

    fn is_relation(self) -> bool {
        self.level() == RELATION
    }
}

/// Returns the operator of a sign or a word between two values, and its right spelling.
fn operator_of(sign: &str) -> Option<(Operator, &'static str)> {
    use BinaryOperator as Op;
    let binary = |operator: Op| (Operator::Binary(operator), operator.name());
    Some(match sign {
        "&&" | "&" => (Operator::And, "&&"),
        "||" | "|" => (Operator::Or, "||"),
        "==" | "===" | "=" => binary(Op::Equal),
        "!=" | "!==" | "<>" | "≠" => binary(Op::NotEqual),
        "<" => binary(Op::Less),
        "<=" | "=<" | "≤" => binary(Op::LessEqual),
        ">" => binary(Op::Greater),
        ">=" | "=>" | "≥" => binary(Op::GreaterEqual),
        "+" => binary(Op::Add),
        "-" => binary(Op::Subtract),
        "*" => binary(Op::Multiply),
        "/" => binary(Op::Divide),
        "%" => binary(Op::Remainder),
        "in" => binary(Op::In),
        _ if sign.eq_ignore_ascii_case("and") => (Operator::And, "&&"),
        _ if sign.eq_ignore_ascii_case("or") => (Operator::Or, "||"),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Takes the next operator, if it binds at least that tightly, and reports a spelling that isn't CEL's.
    fn operator(&mut self, least: u8) -> Option<(Operator, Range<usize>)> {
        let token = self.peek()?;
        let sign = match token.kind {
            lex::Kind::Sign(sign) => sign,
            lex::Kind::Name => self.word(token),
            _ => return None,
        };
        let (operator, right) = operator_of(sign)?;
        if operator.level() < least {
            return None;
        }
        let is_right = sign == right;
        let range = token.range.clone();
        if !is_right {
            let finding = messages::misspelled(self.written, range.clone(), right);
            self.problems.push(finding);
        }
        self.at += 1;
        Some((operator, range))
    }
}
