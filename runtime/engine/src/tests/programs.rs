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

/// Leaves one value more on the stack, whatever is in it.
fn expression(entropy: &mut Entropy<'_>, sections: &mut Sections, depth: usize) {
    let choice = if depth == 0 { 0 } else { entropy.below(16) };
    match choice {
        0..=6 => {
            let leaf = leaf(entropy, sections);
            sections.code.push(leaf);
        }
        7 => {
            expression(entropy, sections, depth - 1);
            sections.code.push(Instruction::Not);
        }
        8..=10 => {
            expression(entropy, sections, depth - 1);
            let at = sections.code.len();
            sections.code.push(Instruction::Not);
            expression(entropy, sections, depth - 1);
            let skip = u16::try_from(sections.code.len() - at - 1).unwrap();
            sections.code[at] = if choice == 10 {
                Instruction::SkipIfTrue(skip)
            } else {
                Instruction::SkipIfFalse(skip)
            };
        }
        11 => {
            expression(entropy, sections, depth - 1);
            let operator = UnaryOperator::ALL[entropy.below(UnaryOperator::ALL.len())];
            sections.code.push(Instruction::Unary(operator));
        }
        12 => {
            expression(entropy, sections, depth - 1);
            let count = entropy.below(4);
            let range = constants(entropy, sections, count);
            sections.code.push(Instruction::Among(range));
        }
        _ => {
            expression(entropy, sections, depth - 1);
            expression(entropy, sections, depth - 1);
            let operator = BinaryOperator::ALL[entropy.below(BinaryOperator::ALL.len())];
            sections.code.push(Instruction::Binary(operator));
        }
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
