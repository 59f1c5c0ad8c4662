//! Programs of expressions, in preorder, as tables have them.

use statemark_runtime as runtime;
use statemark_runtime::{FieldId, GuardId, Instruction, StateId};

use super::{Writer, append, short};
use crate::ir::{Constant, Expression, ExpressionKind};

impl Writer {
    /// Appends the program of an expression: an instruction, then its operands.
    pub(super) fn expression(&mut self, expression: &Expression) {
        let start = self.sections.code.len();
        let instruction = match &expression.kind {
            ExpressionKind::Constant(constant) => {
                Instruction::Push(self.constants(std::slice::from_ref(constant)))
            }
            ExpressionKind::Field(field) => Instruction::Load(FieldId::new(short(field.index()))),
            ExpressionKind::Has(field) => Instruction::Has(FieldId::new(short(field.index()))),
            ExpressionKind::InState(state) => {
                Instruction::InState(StateId::new(short(state.index())))
            }
            ExpressionKind::Ask(host) => Instruction::Ask(GuardId::new(short(host.index()))),
            ExpressionKind::Compare {
                field,
                operator,
                constants,
            } => {
                let field = FieldId::new(short(field.index()));
                Instruction::Compare(field, *operator, self.constants(constants))
            }
            ExpressionKind::Not(_) => Instruction::Not,
            // How long their operands are is written when they are.
            ExpressionKind::And(_) => Instruction::All(0),
            ExpressionKind::Or(_) => Instruction::Any(0),
            ExpressionKind::Unary(operator, _) => Instruction::Unary(*operator),
            ExpressionKind::Binary(operator, _) => Instruction::Binary(*operator),
            ExpressionKind::Among(_, constants) => Instruction::Among(self.constants(constants)),
        };
        self.sections.code.push(instruction);
        for part in expression.parts() {
            self.expression(part);
        }
        let rest = short(self.sections.code.len() - start - 1);
        if let Some(Instruction::All(length) | Instruction::Any(length)) =
            self.sections.code.get_mut(start)
        {
            *length = rest;
        }
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
    use crate::ir::BinaryOperator;
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
            assert_eq!(code.len(), size.length);
            assert_eq!(1 + 4 * levels, size.depth);
        }
    }
}
