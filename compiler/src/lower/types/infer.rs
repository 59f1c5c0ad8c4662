//! What the use of a field tells of it, where nothing is declared: `x < 3` makes a number of `x`, `!x` a truth value.
//!
//! Uses that disagree tell nothing.

use std::collections::BTreeSet;

use super::kind::{is_number, of_constant, plain};
use crate::arena::Handle;
use crate::ir::{
    ActionKind, BinaryOperator, Expression, ExpressionKind, Field, Guard, Machine, Operator, Type,
    UnaryOperator,
};
use crate::lower::draft::Comparison;
use crate::lower::fields::join;

/// Most rounds over all expressions. Unit: rounds. Why: `a == b`, `b == c` takes a round each; people don't chain more.
const MAX_ROUNDS: usize = 4;

/// Gives fields that aren't declared the types that their use tells.
pub(super) fn infer(machine: &mut Machine, declared: &[bool], comparisons: &[Comparison]) {
    if declared.iter().all(|declared| *declared) {
        return;
    }
    for _ in 0..MAX_ROUNDS {
        let mut uses = Uses {
            machine,
            told: vec![None; declared.len()],
        };
        uses.gather(comparisons);
        let told = uses.told;
        let mut changed = false;
        for (index, told) in told.into_iter().enumerate() {
            let field = Handle::at(index);
            let is_open = declared.get(index) == Some(&false);
            if let Some(told) =
                told.filter(|told| is_open && machine.fields.at(field).kind != *told)
            {
                machine.fields.at_mut(field).kind = told;
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
    /// What was told of each field; [`Type::Unknown`] where uses disagree.
    told: Vec<Option<Type>>,
}

impl Uses<'_> {
    fn gather(&mut self, comparisons: &[Comparison]) {
        for (_, transition) in self.machine.transitions.iter() {
            if let Some(guard) = &transition.guard {
                self.guard(&guard.value);
            }
        }
        for (_, action) in self.machine.actions.iter() {
            match &action.kind {
                ActionKind::Assign(assigns) => {
                    for assign in assigns {
                        let found = self.kind(&assign.value);
                        self.tell(assign.field, found);
                        let wanted = self.machine.fields.at(assign.field).kind.clone();
                        self.expression(&assign.value, &wanted);
                    }
                }
                ActionKind::If { guard, .. } => self.guard(guard),
                _ => {}
            }
        }
        for comparison in comparisons {
            let constants = comparison.constants.iter();
            let kinds = constants.map(|constant| loose(&of_constant(&constant.value)));
            let told = match comparison.operator {
                Operator::Contains => Type::Text,
                Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte => Type::Number,
                _ => kinds.reduce(join).unwrap_or_default(),
            };
            self.tell(comparison.field, told);
        }
    }

    fn tell(&mut self, field: Handle<Field>, kind: Type) {
        if *plain(&kind) == Type::Unknown {
            return;
        }
        if let Some(slot) = self.told.get_mut(field.index()) {
            *slot = Some(match slot.take() {
                None => kind,
                // Once uses disagree, no further one settles it.
                Some(Type::Unknown) => Type::Unknown,
                Some(told) => narrow(told, kind),
            });
        }
    }

    fn guard(&mut self, guard: &Guard) {
        match guard {
            Guard::Expression(expression) => self.expression(expression, &Type::Bool),
            Guard::All(parts) | Guard::Any(parts) => {
                parts.iter().for_each(|part| self.guard(part));
            }
            Guard::Not(inner) => self.guard(inner),
            Guard::Ask(_) | Guard::Compare { .. } => {}
        }
    }

    /// Notes what an expression tells that is wanted to be of a type.
    fn expression(&mut self, expression: &Expression, wanted: &Type) {
        match &expression.kind {
            ExpressionKind::Field(field) => self.tell(*field, wanted.clone()),
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
                let (for_left, for_right) = wants(*operator, &one, &two, wanted);
                self.expression(left, &for_left);
                self.expression(right, &for_right);
            }
            ExpressionKind::Among(inner, constants) => {
                let kinds = constants
                    .iter()
                    .map(|constant| loose(&of_constant(constant)));
                let told = kinds.reduce(join).unwrap_or_default();
                self.expression(inner, &told);
            }
            ExpressionKind::Constant(_)
            | ExpressionKind::Has(_)
            | ExpressionKind::InState(_)
            | ExpressionKind::Ask(_) => {}
        }
    }

    /// What an expression is, as far as it is known so far.
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

/// What an operator tells of its operands, given what they are and what is wanted of it.
fn wants(operator: BinaryOperator, one: &Type, two: &Type, wanted: &Type) -> (Type, Type) {
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

/// What compares with a value: with a number any number.
fn loose(kind: &Type) -> Type {
    match plain(kind) {
        kind if is_number(kind) => Type::Number,
        kind => kind.clone(),
    }
}

/// What holds where both are told: an integer is a number, and is told more exactly.
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
    pub(super) fn guard(&mut self, guard: &Guard) {
        match guard {
            Guard::Expression(expression) => self.expression(expression),
            Guard::All(parts) | Guard::Any(parts) => {
                parts.iter().for_each(|part| self.guard(part));
            }
            Guard::Not(inner) => self.guard(inner),
            Guard::Ask(_) | Guard::Compare { .. } => {}
        }
    }

    pub(super) fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Field(field) => {
                self.fields.insert(*field);
            }
            ExpressionKind::Not(inner)
            | ExpressionKind::Unary(_, inner)
            | ExpressionKind::Among(inner, _) => self.expression(inner),
            ExpressionKind::And(parts) | ExpressionKind::Or(parts) => {
                parts.iter().for_each(|part| self.expression(part));
            }
            ExpressionKind::Binary(_, operands) => {
                operands.iter().for_each(|part| self.expression(part));
            }
            ExpressionKind::Constant(_)
            | ExpressionKind::Has(_)
            | ExpressionKind::InState(_)
            | ExpressionKind::Ask(_) => {}
        }
    }
}
