//! Programs of expressions for the runtime's stack machine.

use statemark_runtime as runtime;
use statemark_runtime::{BinaryOperator, FieldId, GuardId, Instruction, StateId};

use super::{Writer, append, short};
use crate::ir::{Constant, Expression, ExpressionKind};

impl Writer {
    /// Appends the program of an expression, which leaves its value on the stack.
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
            ExpressionKind::Compare {
                field,
                operator,
                constants,
            } => {
                let range = self.constants(constants);
                let field = FieldId::new(short(field.index()));
                self.push(Instruction::Compare(field, *operator, range));
            }
            ExpressionKind::Not(inner) => {
                self.expression(inner);
                self.push(Instruction::Not);
            }
            ExpressionKind::And(parts) => self.chain(parts, true),
            ExpressionKind::Or(parts) => self.chain(parts, false),
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

    /// Appends the conjunction (`all`) or disjunction of parts.
    ///
    /// After each part but the last, it skips to the end once the answer is known. The last value is converted to `true` or
    /// `false` if it may be anything else.
    fn chain(&mut self, parts: &[Expression], all: bool) {
        let Some((last, others)) = parts.split_last() else {
            let range = self.constants(&[Constant::Bool(all)]);
            self.push(Instruction::Push(range));
            return;
        };
        let mut skips = Vec::new();
        for other in others {
            self.expression(other);
            skips.push(self.sections.code.len());
            self.push(Instruction::SkipIfTrue(0));
        }
        self.expression(last);
        if !self.leaves_boolean() {
            self.push(Instruction::Not);
            self.push(Instruction::Not);
        }
        let end = self.sections.code.len();
        for index in skips {
            let distance = short(end - index - 1);
            if let Some(slot) = self.sections.code.get_mut(index) {
                *slot = if all {
                    Instruction::SkipIfFalse(distance)
                } else {
                    Instruction::SkipIfTrue(distance)
                };
            }
        }
    }

    /// Reports whether the last instruction always leaves `true` or `false`.
    fn leaves_boolean(&self) -> bool {
        match self.sections.code.last() {
            Some(Instruction::Push(range)) => {
                let constant = self.sections.constants.get(range.start as usize);
                matches!(constant, Some(runtime::Constant::Bool(_)))
            }
            Some(Instruction::Binary(operator)) => !operator.is_arithmetic(),
            Some(Instruction::Load(_) | Instruction::Unary(_)) => false,
            _ => true,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Handle;
    use crate::pass::program::expression_size;
    use crate::source::{Sources, Span};

    /// Returns `((f || f && f) == (f + f)) in […]`, nested in itself on alternating sides.
    fn nested(levels: usize, span: Span) -> Expression {
        let part = |kind| Expression { span, kind };
        let field = || part(ExpressionKind::Field(Handle::at(0)));
        let mut all = field();
        for level in 0..levels {
            let both = part(ExpressionKind::And(vec![field(), all.clone()]));
            let any = part(ExpressionKind::Or(vec![field(), both]));
            let sum = ExpressionKind::Binary(BinaryOperator::Add, Box::new([field(), field()]));
            let operands = if level % 2 == 0 {
                [part(sum), any]
            } else {
                [any, part(sum)]
            };
            let equal = ExpressionKind::Binary(BinaryOperator::Equal, Box::new(operands));
            all = part(ExpressionKind::Among(
                Box::new(part(equal)),
                vec![Constant::Null],
            ));
        }
        all
    }

    #[test]
    fn sizes_are_known_before_programs_are_written() {
        let mut sources = Sources::new();
        let file = sources.add("a.mmd", "a");
        for levels in 0..8 {
            let expression = nested(
                levels,
                Span {
                    file,
                    start: 0,
                    end: 1,
                },
            );
            let mut writer = Writer::default();
            writer.expression(&expression);
            let (size, code) = (expression_size(&expression), writer.sections.code);
            let mut depth = 0_usize;
            let mut deepest = 0;
            for instruction in &code {
                match instruction {
                    Instruction::Load(_) => depth += 1,
                    Instruction::Binary(_)
                    | Instruction::SkipIfFalse(_)
                    | Instruction::SkipIfTrue(_) => depth -= 1,
                    _ => {}
                }
                deepest = deepest.max(depth);
            }
            assert_eq!(depth, 1);
            assert_eq!(deepest, size.depth);
            assert!(code.len() <= size.length, "{} {size:?}", code.len());
        }
    }
}
