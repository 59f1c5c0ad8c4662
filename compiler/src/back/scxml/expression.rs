//! Expressions as text, with no more parentheses than they need.

use super::Writer;
use crate::ir::{BinaryOperator, Constant, Expression, ExpressionKind, UnaryOperator};

/// The tightness of operators, in the order of the grammar (`front/expression.rs`).
const OR: u8 = 1;
const AND: u8 = 2;
const RELATION: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const UNARY: u8 = 6;
const MEMBER: u8 = 7;

impl Writer<'_> {
    /// Writes an expression, as a condition or a value.
    pub(super) fn expression(&self, expression: &Expression) -> String {
        self.expression_in(expression, 0)
    }

    fn expression_in(&self, expression: &Expression, outer: u8) -> String {
        match &expression.kind {
            ExpressionKind::Constant(value) => {
                let text = constant(value);
                // A sign in front of a number binds less than what calls it.
                if text.starts_with('-') {
                    within(text, UNARY, outer)
                } else {
                    text
                }
            }
            ExpressionKind::Field(field) => self.machine.fields.at(*field).path.clone(),
            ExpressionKind::Has(field) => format!("has({})", self.machine.fields.at(*field).path),
            ExpressionKind::InState(state) => {
                format!("In({})", quoted(self.states.get(state.index())))
            }
            ExpressionKind::Ask(host) => self.declared.name_of_host(*host).to_owned(),
            ExpressionKind::Compare { .. } => {
                self.declared.compared(expression).unwrap_or("").to_owned()
            }
            ExpressionKind::Not(inner) => within(
                format!("!{}", self.expression_in(inner, UNARY)),
                UNARY,
                outer,
            ),
            ExpressionKind::And(parts) => joined(parts, AND, outer, |part, level| {
                self.expression_in(part, level)
            }),
            ExpressionKind::Or(parts) => joined(parts, OR, outer, |part, level| {
                self.expression_in(part, level)
            }),
            ExpressionKind::Unary(UnaryOperator::Negate, inner) => {
                // `-` in front of a number would be the number's sign.
                let inner = match &inner.kind {
                    ExpressionKind::Constant(_) => format!("({})", self.expression_in(inner, 0)),
                    _ => self.expression_in(inner, MEMBER),
                };
                within(format!("-{inner}"), UNARY, outer)
            }
            ExpressionKind::Unary(call, inner) => {
                format!("{}({})", call.name(), self.expression_in(inner, 0))
            }
            ExpressionKind::Binary(operator, operands) => {
                let [left, right] = operands.as_ref();
                self.binary(*operator, left, right, outer)
            }
            ExpressionKind::Among(inner, constants) => {
                let list: Vec<String> = constants.iter().map(constant).collect();
                let text = format!(
                    "{} in [{}]",
                    self.expression_in(inner, RELATION + 1),
                    list.join(", ")
                );
                within(text, RELATION, outer)
            }
        }
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        outer: u8,
    ) -> String {
        let (sign, level) = match operator {
            BinaryOperator::Equal => ("==", RELATION),
            BinaryOperator::NotEqual => ("!=", RELATION),
            BinaryOperator::Less => ("<", RELATION),
            BinaryOperator::LessEqual => ("<=", RELATION),
            BinaryOperator::Greater => (">", RELATION),
            BinaryOperator::GreaterEqual => (">=", RELATION),
            BinaryOperator::In => ("in", RELATION),
            BinaryOperator::Add => ("+", SUM),
            BinaryOperator::Subtract => ("-", SUM),
            BinaryOperator::Multiply => ("*", PRODUCT),
            BinaryOperator::Divide => ("/", PRODUCT),
            BinaryOperator::Remainder => ("%", PRODUCT),
            // SCXML has no schema that would say why.
            BinaryOperator::AtLeast | BinaryOperator::AtMost => {
                return self.expression_in(left, outer);
            }
            method => {
                let object = self.expression_in(left, MEMBER);
                return format!(
                    "{object}.{}({})",
                    method.name(),
                    self.expression_in(right, 0)
                );
            }
        };
        // Relations don't chain; sums and products lean to the left.
        let least = if level == RELATION { level + 1 } else { level };
        let left = self.expression_in(left, least);
        let right = self.expression_in(right, level + 1);
        within(format!("{left} {sign} {right}"), level, outer)
    }
}

/// Puts a text in parentheses if the enclosing operator binds more tightly.
fn within(text: String, level: u8, outer: u8) -> String {
    if level < outer {
        format!("({text})")
    } else {
        text
    }
}

/// Joins parts by `&&` or `||`.
///
/// A list of the same sign inside needs no parentheses: both are evaluated from left to right, and a reader makes one
/// list of them.
fn joined(
    parts: &[Expression],
    level: u8,
    outer: u8,
    write: impl Fn(&Expression, u8) -> String,
) -> String {
    let sign = if level == AND { " && " } else { " || " };
    let parts: Vec<String> = parts.iter().map(|part| write(part, level)).collect();
    within(parts.join(sign), level, outer)
}

fn constant(constant: &Constant) -> String {
    match constant {
        Constant::Null => "null".to_owned(),
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) if i64::try_from(*value).is_ok() => value.to_string(),
        Constant::Int(value) => format!("{value}u"),
        Constant::Float(value) => format!("{value:?}"),
        Constant::Text(text) => quoted(text),
    }
}

/// Puts a text in single quotes, so that it can be in an attribute as it is.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        match letter {
            '\\' => quoted.push_str("\\\\"),
            '\'' => quoted.push_str("\\'"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}
