//! Guards and expressions become programs for the runtime's stack.

use statemark_runtime as runtime;
use statemark_runtime::{BinaryOperator, FieldId, GuardId, Instruction, StateId};

use super::{Writer, append, short};
use crate::ir::{Constant, Expression, ExpressionKind, Guard};

impl Writer {
    /// Appends the program of a guard. It leaves the guard's answer on the stack.
    pub(super) fn guard(&mut self, guard: &Guard) {
        match guard {
            Guard::Ask(host) => self.push(Instruction::Ask(GuardId::new(short(host.index())))),
            Guard::Compare {
                field,
                operator,
                constants,
            } => {
                let range = self.constants(constants);
                let field = FieldId::new(short(field.index()));
                self.push(Instruction::Compare(field, *operator, range));
            }
            Guard::Not(inner) => {
                self.guard(inner);
                self.push(Instruction::Not);
            }
            Guard::All(parts) => self.chain(parts, true, Self::guard),
            Guard::Any(parts) => self.chain(parts, false, Self::guard),
            Guard::Expression(expression) => self.expression(expression),
        }
    }

    /// Appends the program of an expression. It leaves its value on the stack.
    pub(super) fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Constant(constant) => {
                let range = self.constants(std::slice::from_ref(constant));
                self.push(Instruction::Push(range));
            }
            ExpressionKind::Field(field) => {
                self.push(Instruction::Load(FieldId::new(short(field.index()))));
            }
            ExpressionKind::Has(field) => {
                self.push(Instruction::Has(FieldId::new(short(field.index()))));
            }
            ExpressionKind::InState(state) => {
                self.push(Instruction::InState(StateId::new(short(state.index()))));
            }
            ExpressionKind::Ask(host) => {
                self.push(Instruction::Ask(GuardId::new(short(host.index()))));
            }
            ExpressionKind::Not(inner) => {
                self.expression(inner);
                self.push(Instruction::Not);
            }
            ExpressionKind::And(parts) => self.chain(parts, true, Self::expression),
            ExpressionKind::Or(parts) => self.chain(parts, false, Self::expression),
            ExpressionKind::Unary(operator, inner) => {
                self.expression(inner);
                self.push(Instruction::Unary(*operator));
            }
            ExpressionKind::Binary(operator, operands) => {
                let [left, right] = operands.as_ref();
                self.binary(*operator, left, right);
            }
            ExpressionKind::Among(inner, constants) => {
                self.expression(inner);
                let range = self.constants(constants);
                self.push(Instruction::Among(range));
            }
        }
    }

    fn binary(&mut self, operator: BinaryOperator, left: &Expression, right: &Expression) {
        self.expression(left);
        self.expression(right);
        self.push(Instruction::Binary(operator));
    }

    /// `all` or `any` of the parts: after each part but the last, skip to the end once the answer is known.
    fn chain<T>(&mut self, parts: &[T], all: bool, part: fn(&mut Self, &T)) {
        let Some((last, others)) = parts.split_last() else {
            let range = self.constants(&[Constant::Bool(all)]);
            self.push(Instruction::Push(range));
            return;
        };
        let mut skips = Vec::new();
        for other in others {
            part(self, other);
            skips.push(self.sections.code.len());
            self.push(Instruction::SkipIfTrue(0));
        }
        part(self, last);
        let end = self.sections.code.len();
        for at in skips {
            let distance = short(end - at - 1);
            if let Some(slot) = self.sections.code.get_mut(at) {
                *slot = if all {
                    Instruction::SkipIfFalse(distance)
                } else {
                    Instruction::SkipIfTrue(distance)
                };
            }
        }
    }

    fn push(&mut self, instruction: Instruction) {
        self.sections.code.push(instruction);
    }

    fn constants(&mut self, constants: &[Constant]) -> std::ops::Range<u32> {
        let rows: Vec<_> = constants
            .iter()
            .map(|constant| self.constant(constant))
            .collect();
        append(&mut self.sections.constants, rows)
    }

    fn constant(&mut self, constant: &Constant) -> runtime::Constant {
        match constant {
            Constant::Null => runtime::Constant::Null,
            Constant::Bool(value) => runtime::Constant::Bool(*value),
            Constant::Int(value) => runtime::Constant::Int(*value),
            Constant::Float(value) => runtime::Constant::Float(*value),
            Constant::Text(text) => runtime::Constant::Text(self.text(text)),
        }
    }
}
