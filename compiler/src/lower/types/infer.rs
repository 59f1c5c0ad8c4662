//! Types of undeclared fields, inferred from their use.
//!
//! `x < 3` makes `x` a number, `!x` makes it a truth value. Uses that disagree infer nothing.

use std::collections::BTreeSet;

use super::kind::{is_number, of_constant, plain};
use crate::arena::Handle;
use crate::ir::{
    ActionKind, BinaryOperator, Expression, ExpressionKind, Field, Machine, Operator, Type,
    UnaryOperator,
};
use crate::lower::draft::Comparison;
use crate::lower::fields::join;

/// Most rounds over all expressions. Unit: rounds. Why: `a == b`, `b == c` take one each.
const MAX_ROUNDS: usize = 4;

/// Gives undeclared fields the types that their uses imply.
pub(super) fn infer(machine: &mut Machine, declared: &[bool], comparisons: &[Comparison]) {
    if declared.iter().all(|declared| *declared) {
        return;
    }
    for _ in 0..MAX_ROUNDS {
        let mut uses = Uses {
            machine,
            found: vec![None; declared.len()],
        };
        uses.gather(comparisons);
        let found = uses.found;
        let mut changed = false;
        for (index, kind) in found.into_iter().enumerate() {
            let field = Handle::at(index);
            let is_open = declared.get(index) == Some(&false);
            let kind = kind.filter(|kind| is_open && machine.fields.at(field).kind != *kind);
            if let Some(kind) = kind {
                machine.fields.at_mut(field).kind = kind;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

struct Uses<'m> {
    machine: &'m Machine,
    /// The type of each field, so far; [`Type::Unknown`] where uses disagree.
    found: Vec<Option<Type>>,
}

impl Uses<'_> {
    fn gather(&mut self, comparisons: &[Comparison]) {
        for (_, transition) in self.machine.transitions.iter() {
            if let Some(guard) = &transition.guard {
                self.expression(&guard.value, &Type::Bool);
            }
        }
        for (_, action) in self.machine.actions.iter() {
            match &action.kind {
                ActionKind::Assign(assigns) => {
                    for assign in assigns {
                        let found = self.kind(&assign.value);
                        self.note(assign.field, found);
                        let wanted = self.machine.fields.at(assign.field).kind.clone();
                        self.expression(&assign.value, &wanted);
                    }
                }
                ActionKind::If { guard, .. } => self.expression(guard, &Type::Bool),
                _ => {}
            }
        }
        for comparison in comparisons {
            let constants = comparison.constants.iter();
            let kinds = constants.map(|constant| loose(&of_constant(&constant.value)));
            let kind = match comparison.operator {
                Operator::Contains => Type::Text,
                Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte => Type::Number,
                _ => kinds.reduce(join).unwrap_or_default(),
            };
            self.note(comparison.field, kind);
        }
    }

    fn note(&mut self, field: Handle<Field>, kind: Type) {
        if *plain(&kind) == Type::Unknown {
            return;
        }
        if let Some(slot) = self.found.get_mut(field.index()) {
            *slot = Some(match slot.take() {
                None => kind,
                // Once uses disagree, no further one decides.
                Some(Type::Unknown) => Type::Unknown,
                Some(known) => narrow(known, kind),
            });
        }
    }

    /// Notes what an expression implies that is expected to be of a type.
    fn expression(&mut self, expression: &Expression, wanted: &Type) {
        match &expression.kind {
            ExpressionKind::Field(field) => self.note(*field, wanted.clone()),
            ExpressionKind::Not(inner) => self.expression(inner, &Type::Bool),
            ExpressionKind::And(parts) | ExpressionKind::Or(parts) => {
                for part in parts {
                    self.expression(part, &Type::Bool);
                }
            }
            ExpressionKind::Unary(UnaryOperator::Negate, inner) => {
                self.expression(inner, &Type::Number);
            }
            ExpressionKind::Unary(_, inner) => self.expression(inner, &Type::Unknown),
            ExpressionKind::Binary(operator, operands) => {
                let [left, right] = operands.as_ref();
                let (one, two) = (self.kind(left), self.kind(right));
                let (for_left, for_right) = operand_types(*operator, &one, &two, wanted);
                self.expression(left, &for_left);
                self.expression(right, &for_right);
            }
            ExpressionKind::Among(inner, constants) => {
                let kinds = constants
                    .iter()
                    .map(|constant| loose(&of_constant(constant)));
                let kind = kinds.reduce(join).unwrap_or_default();
                self.expression(inner, &kind);
            }
            ExpressionKind::Constant(_)
            | ExpressionKind::Has(_)
            | ExpressionKind::InState(_)
            | ExpressionKind::Compare { .. }
            | ExpressionKind::Ask(_) => {}
        }
    }

    /// Returns the type of an expression, as far as it is known so far.
    fn kind(&self, expression: &Expression) -> Type {
        use BinaryOperator as Op;
        match &expression.kind {
            ExpressionKind::Constant(constant) => of_constant(constant),
            ExpressionKind::Field(field) => self.machine.fields.at(*field).kind.clone(),
            ExpressionKind::Unary(UnaryOperator::Size, _) => Type::Int,
            ExpressionKind::Unary(_, inner) => self.kind(inner),
            ExpressionKind::Binary(
                Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder,
                operands,
            ) => {
                let [left, right] = operands.as_ref();
                match (self.kind(left), self.kind(right)) {
                    (Type::Unknown | Type::Number, known) | (known, _) => known,
                }
            }
            _ => Type::Bool,
        }
    }
}

/// Returns the types that an operator expects, given those of its operands and of the result.
fn operand_types(operator: BinaryOperator, one: &Type, two: &Type, wanted: &Type) -> (Type, Type) {
    use BinaryOperator as Op;
    match operator {
        Op::StartsWith | Op::EndsWith | Op::Contains => (Type::Text, Type::Text),
        Op::Remainder => (Type::Int, Type::Int),
        Op::Add | Op::Subtract | Op::Multiply | Op::Divide => {
            let is_open = *one == Type::Unknown && *two == Type::Unknown;
            if !is_open {
                return (two.clone(), one.clone());
            }
            let computed = match (operator, wanted) {
                (_, wanted) if is_number(wanted) => wanted.clone(),
                (Op::Add, Type::Text) => Type::Text,
                (Op::Add, _) => Type::Unknown,
                _ => Type::Number,
            };
            (computed.clone(), computed)
        }
        Op::In => match two {
            Type::List(items) => (loose(items), Type::Unknown),
            _ => (Type::Unknown, Type::Unknown),
        },
        _ => (loose(two), loose(one)),
    }
}

/// Returns the type that compares with a value: any number with a number.
fn loose(kind: &Type) -> Type {
    match plain(kind) {
        kind if is_number(kind) => Type::Number,
        kind => kind.clone(),
    }
}

/// Returns the type that two uses agree on: an integer and a number on an integer.
fn narrow(one: Type, two: Type) -> Type {
    match (one, two) {
        (Type::Number, exact) | (exact, Type::Number) if is_number(&exact) => exact,
        (one, two) if one == two => one,
        _ => Type::Unknown,
    }
}

/// The fields that expressions read.
#[derive(Default)]
pub(super) struct Reads {
    pub(super) fields: BTreeSet<Handle<Field>>,
}

impl Reads {
    pub(super) fn expression(&mut self, expression: &Expression) {
        expression.visit(&mut |part| {
            if let ExpressionKind::Field(field) = part.kind {
                self.fields.insert(field);
            }
        });
    }
}
