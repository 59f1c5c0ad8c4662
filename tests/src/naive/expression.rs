//! Guards and expressions, walked as the trees that they are.

use std::cmp::Ordering;

use statemark_compiler::ir::{Constant, Expression, ExpressionKind, Operator};
use statemark_runtime::{FieldId, Observer as _};

use super::datum::{Datum, Fault, numbers};
use super::{Host, Interpreter};

impl<H: Host> Interpreter<'_, H> {
    /// SCXML's `conditionMatch`: whether a guard holds. One that has no value doesn't.
    pub(super) fn holds(&mut self, guard: &Expression) -> bool {
        self.evaluate(guard).is_ok_and(|value| value.is_true())
    }

    /// The value of an expression.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Result<Datum, Fault> {
        match &expression.kind {
            ExpressionKind::Constant(constant) => Ok(Datum::of(constant)),
            ExpressionKind::Field(field) => {
                let value = self.host.field(*field);
                if value == Datum::Absent {
                    self.recorder
                        .absent(FieldId::from_index(field.index()).unwrap());
                }
                Ok(value)
            }
            ExpressionKind::Has(field) => Ok(Datum::Bool(self.host.field(*field) != Datum::Absent)),
            ExpressionKind::InState(state) => Ok(Datum::Bool(self.configuration.contains(state))),
            ExpressionKind::Ask(guard) => Ok(Datum::Bool(self.host.guard(*guard))),
            ExpressionKind::Compare {
                field,
                operator,
                constants,
            } => {
                let value = self.host.field(*field);
                let about_presence = matches!(operator, Operator::Exists | Operator::NotExists);
                if value == Datum::Absent && !about_presence {
                    self.recorder
                        .absent(FieldId::from_index(field.index()).unwrap());
                }
                Ok(Datum::Bool(compares(&value, *operator, constants)))
            }
            ExpressionKind::Not(inner) => Ok(Datum::Bool(!self.evaluate(inner)?.is_true())),
            ExpressionKind::And(parts) => {
                for part in parts {
                    if !self.evaluate(part)?.is_true() {
                        return Ok(Datum::Bool(false));
                    }
                }
                Ok(Datum::Bool(true))
            }
            ExpressionKind::Or(parts) => {
                for part in parts {
                    if self.evaluate(part)?.is_true() {
                        return Ok(Datum::Bool(true));
                    }
                }
                Ok(Datum::Bool(false))
            }
            ExpressionKind::Unary(operator, inner) => self.evaluate(inner)?.unary(*operator),
            ExpressionKind::Binary(operator, operands) => {
                let left = self.evaluate(&operands[0])?;
                let right = self.evaluate(&operands[1])?;
                left.binary(*operator, &right)
            }
            ExpressionKind::Among(inner, constants) => {
                let value = self.evaluate(inner)?;
                let mut constants = constants.iter().map(Datum::of);
                Ok(Datum::Bool(
                    constants.any(|constant| value.equals(&constant)),
                ))
            }
        }
    }
}

/// Whether a field compares with constants, by the words of a definition: there, `1` and `1.0` differ.
fn compares(value: &Datum, operator: Operator, constants: &[Constant]) -> bool {
    let constants: Vec<Datum> = constants.iter().map(Datum::of).collect();
    let is_nothing = matches!(value, Datum::Absent | Datum::Null);
    match operator {
        Operator::Exists => return !is_nothing,
        Operator::NotExists => return is_nothing,
        _ if *value == Datum::Absent => return false,
        Operator::In => return constants.contains(value),
        _ => {}
    }
    let constant = &constants[0];
    let order = numbers(value, constant);
    match operator {
        Operator::Eq => value == constant,
        Operator::Neq => value != constant,
        Operator::Gt => order == Some(Ordering::Greater),
        Operator::Gte => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Operator::Lt => order == Some(Ordering::Less),
        Operator::Lte => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Operator::Contains => match (value, constant) {
            (Datum::Text(text), Datum::Text(part)) => text.contains(part.as_str()),
            _ => false,
        },
        other => panic!("an operator without a meaning here: {other:?}"),
    }
}
