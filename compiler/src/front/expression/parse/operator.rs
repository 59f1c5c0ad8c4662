//! Operators between two values, and what people write in place of them.

use std::ops::Range;

use super::Parser;
use crate::front::expression::ast::BinaryOperator;
use crate::front::expression::lex::Kind;
use crate::front::expression::report::broken_expression;

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
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
    /// How tightly it binds: CEL's order.
    pub(super) fn level(self) -> u8 {
        use BinaryOperator as Op;
        match self {
            Self::Or => OR,
            Self::And => AND,
            Self::Binary(Op::Add | Op::Subtract) => SUM,
            Self::Binary(Op::Multiply | Op::Divide | Op::Remainder) => PRODUCT,
            Self::Binary(_) => RELATION,
        }
    }

    pub(super) fn is_relation(self) -> bool {
        self.level() == RELATION
    }
}

/// A sign or a word between two values: the operator, and how it is spelled right.
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
    /// Takes the next operator, if it binds at least that tightly; says so where it is spelled otherwise than in CEL.
    pub(super) fn operator(&mut self, least: u8) -> Option<(Operator, Range<usize>)> {
        let token = self.peek()?;
        let sign = match token.kind {
            Kind::Sign(sign) => sign,
            Kind::Name => self.word(token),
            _ => return None,
        };
        let (operator, right) = operator_of(sign)?;
        if operator.level() < least {
            return None;
        }
        let is_right = sign == right;
        let range = token.range.clone();
        if !is_right {
            let finding = broken_expression::misspelled(self.written, range.clone(), right);
            self.problems.push(finding);
        }
        self.at += 1;
        Some((operator, range))
    }
}
