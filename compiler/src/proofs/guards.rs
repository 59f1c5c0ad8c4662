//! Pairs of guards: which exclude each other and which cover every case, as far as their form shows it.

use crate::arena::Handle;
use crate::ir::{
    BinaryOperator, Constant, Expression, ExpressionKind, Field, Machine, Operator, Type,
};

/// Most transitions on one event that are compared with each other.
///
/// Unit: transitions. Why: the work grows with the square.
pub(super) const MOST_COMPARED: usize = 64;

/// Reports whether two guards never hold together.
///
/// They don't if one negates the other, or if both require incompatible values of one field.
pub(super) fn excludes(one: &Expression, two: &Expression) -> bool {
    if parts_exclude(one, two) {
        return true;
    }
    let (ones, twos) = (parts(one), parts(two));
    if ones.len() + twos.len() > MOST_COMPARED {
        return false;
    }
    let mut ones = ones.iter();
    ones.any(|one| twos.iter().any(|two| parts_exclude(one, two)))
}

/// Returns the parts of a guard that must all hold.
fn parts(guard: &Expression) -> Vec<&Expression> {
    match &guard.kind {
        ExpressionKind::And(parts) => parts.iter().collect(),
        _ => vec![guard],
    }
}

fn parts_exclude(one: &Expression, two: &Expression) -> bool {
    if negates(one, two) || negates(two, one) {
        return true;
    }
    match (comparison(one), comparison(two)) {
        (Some(one), Some(two)) => one.excludes(&two),
        _ => false,
    }
}

/// Reports whether one of two guards always holds.
///
/// One does if they negate each other and neither is ever undecided.
pub(super) fn covers(machine: &Machine, one: &Expression, two: &Expression) -> bool {
    if negates(one, two) || negates(two, one) {
        // A guard that reads an absent field is undecided, and so is its negation.
        return asks_only_host(one) && asks_only_host(two);
    }
    match (comparison(one), comparison(two)) {
        (Some(one), Some(two)) if one.is_comparable_to(&two) && one.constant == two.constant => {
            let field = machine.fields.at(one.field);
            let is_number = matches!(field.kind, Type::Int | Type::Float | Type::Number);
            let is_equality = matches!(one.relation, Relation::Equal | Relation::NotEqual);
            let numeric = matches!(one.constant, Constant::Int(_) | Constant::Float(_));
            one.relation.negation() == two.relation
                && field.present
                && (is_equality || (is_number && numeric))
        }
        _ => false,
    }
}

fn negates(one: &Expression, two: &Expression) -> bool {
    matches!(&one.kind, ExpressionKind::Not(inner) if **inner == *two)
}

/// Reports whether a guard asks nothing but the host, which always answers.
fn asks_only_host(guard: &Expression) -> bool {
    match &guard.kind {
        ExpressionKind::Ask(_) => true,
        ExpressionKind::Not(inner) => asks_only_host(inner),
        _ => false,
    }
}

/// A comparison `field < constant`.
struct Comparison<'g> {
    field: Handle<Field>,
    /// True if it is written as an expression.
    ///
    /// To an expression, `3` and `3.0` are equal; to a definition's comparison they needn't be.
    is_expression: bool,
    relation: Relation,
    constant: &'g Constant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    fn negation(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }
}

impl Comparison<'_> {
    /// Reports whether two read one field by one notion of equality.
    fn is_comparable_to(&self, other: &Self) -> bool {
        self.field == other.field && self.is_expression == other.is_expression
    }

    /// Reports whether no value satisfies both.
    fn excludes(&self, other: &Self) -> bool {
        if !self.is_comparable_to(other) {
            return false;
        }
        if self.constant == other.constant {
            let strict = [self.relation, other.relation];
            return self.relation.negation() == other.relation
                || strict == [Relation::Less, Relation::Greater]
                || strict == [Relation::Greater, Relation::Less];
        }
        let both_equal = self.relation == Relation::Equal && other.relation == Relation::Equal;
        both_equal && are_distinct(self.constant, other.constant)
    }
}

/// Reports whether two constants are certainly different values.
///
/// Numbers of different kinds may be equal.
fn are_distinct(one: &Constant, two: &Constant) -> bool {
    let is_number = |it: &Constant| matches!(it, Constant::Int(_) | Constant::Float(_));
    one != two
        && (!is_number(one)
            || !is_number(two)
            || matches!((one, two), (Constant::Int(_), Constant::Int(_))))
}

/// Returns the comparison that a guard consists of.
fn comparison(guard: &Expression) -> Option<Comparison<'_>> {
    let (field, is_expression, relation, constant) = match &guard.kind {
        ExpressionKind::Compare {
            field,
            operator,
            constants,
        } => {
            let [constant] = constants.as_slice() else {
                return None;
            };
            let relation = match operator {
                Operator::Eq => Relation::Equal,
                Operator::Neq => Relation::NotEqual,
                Operator::Lt => Relation::Less,
                Operator::Lte => Relation::LessOrEqual,
                Operator::Gt => Relation::Greater,
                Operator::Gte => Relation::GreaterOrEqual,
                _ => return None,
            };
            (*field, false, relation, constant)
        }
        ExpressionKind::Binary(operator, operands) => {
            let [left, right] = &**operands;
            let (ExpressionKind::Field(field), ExpressionKind::Constant(constant)) =
                (&left.kind, &right.kind)
            else {
                return None;
            };
            let relation = match operator {
                BinaryOperator::Equal => Relation::Equal,
                BinaryOperator::NotEqual => Relation::NotEqual,
                BinaryOperator::Less => Relation::Less,
                BinaryOperator::LessEqual => Relation::LessOrEqual,
                BinaryOperator::Greater => Relation::Greater,
                BinaryOperator::GreaterEqual => Relation::GreaterOrEqual,
                _ => return None,
            };
            (*field, true, relation, constant)
        }
        _ => return None,
    };
    Some(Comparison {
        field,
        is_expression,
        relation,
        constant,
    })
}

#[cfg(test)]
mod tests;
