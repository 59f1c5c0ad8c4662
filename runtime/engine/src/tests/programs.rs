//! Random programs, for the random machines. They are what expressions become, so that they pass every rule.

use super::super::rt::{
    BinaryOperator, Constant, FieldId, GuardId, Instruction, Operator, Sections, StateId, TextId,
    UnaryOperator,
};
use super::Entropy;
use std::ops::Range;

/// Appends the program of an expression and gives its range.
pub(crate) fn program(entropy: &mut Entropy<'_>, sections: &mut Sections) -> Range<u32> {
    let start = sections.code.len();
    expression(entropy, sections, 3);
    super::range(start, sections.code.len())
}

/// Appends an expression, whatever is in it.
fn expression(entropy: &mut Entropy<'_>, sections: &mut Sections, depth: usize) {
    let at = sections.code.len();
    let choice = if depth == 0 { 0 } else { entropy.below(16) };
    let (instruction, operands) = match choice {
        0..=6 => (leaf(entropy, sections), 0),
        7 => (Instruction::Not, 1),
        8..=9 => (Instruction::All(0), entropy.below(4)),
        10 => (Instruction::Any(0), entropy.below(4)),
        11 => {
            let operator = UnaryOperator::ALL[entropy.below(UnaryOperator::ALL.len())];
            (Instruction::Unary(operator), 1)
        }
        12 => {
            let count = entropy.below(4);
            (Instruction::Among(constants(entropy, sections, count)), 1)
        }
        _ => {
            let operator = BinaryOperator::ALL[entropy.below(BinaryOperator::ALL.len())];
            (Instruction::Binary(operator), 2)
        }
    };
    sections.code.push(instruction);
    for _ in 0..operands {
        expression(entropy, sections, depth - 1);
    }
    let behind = u16::try_from(sections.code.len() - at - 1).unwrap();
    if let Instruction::All(length) | Instruction::Any(length) = &mut sections.code[at] {
        *length = behind;
    }
}

fn leaf(entropy: &mut Entropy<'_>, sections: &mut Sections) -> Instruction {
    let field = FieldId::from_index(entropy.below(sections.fields.len())).unwrap();
    match entropy.below(8) {
        0 | 1 => Instruction::Ask(GuardId::from_index(entropy.below(2)).unwrap()),
        2 => Instruction::Load(field),
        3 => Instruction::Push(constants(entropy, sections, 1)),
        4 => Instruction::Has(field),
        5 => {
            let state = entropy.below(sections.states.len().max(1));
            Instruction::InState(StateId::from_index(state).unwrap())
        }
        _ => {
            let operator = Operator::ALL[entropy.below(10)];
            let count = match operator {
                Operator::Exists | Operator::NotExists => 0,
                Operator::In => entropy.below(4),
                _ => 1,
            };
            Instruction::Compare(field, operator, constants(entropy, sections, count))
        }
    }
}

fn constants(entropy: &mut Entropy<'_>, sections: &mut Sections, count: usize) -> Range<u32> {
    let start = sections.constants.len();
    for _ in 0..count {
        let small = i128::from(entropy.byte());
        sections.constants.push(match entropy.below(6) {
            0 => Constant::Null,
            1 => Constant::Bool(small % 2 == 0),
            2 => Constant::Int(small % 8),
            3 => Constant::Int(i128::from(i64::MIN) + small),
            4 => Constant::Float(f64::from(entropy.byte()) / 2.0),
            _ => Constant::Text(TextId::new(0)),
        });
    }
    super::range(start, sections.constants.len())
}
