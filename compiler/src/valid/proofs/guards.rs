//! What two guards say together, as far as their form shows it.

use statemark_runtime::Operator;

use crate::arena::Handle;
use crate::ir::{
    BinaryOperator, Constant, Expression, ExpressionKind, Field, Guard, Machine, Type,
};

/// Most transitions on one event that are compared with each other. Unit: transitions. Why: the work grows with the
/// square.
pub(super) const MOST_COMPARED: usize = 64;

/// Whether two guards never hold together: one is the other's negation, or they ask one field for what excludes each
/// other.
pub(super) fn opposite(one: &Guard, two: &Guard) -> bool {
    if exclude(one, two) {
        return true;
    }
    let (ones, twos) = (parts(one), parts(two));
    if ones.len() + twos.len() > MOST_COMPARED {
        return false;
    }
    let mut ones = ones.iter();
    ones.any(|one| twos.iter().any(|two| exclude(one, two)))
}

/// What must hold for a guard, part by part.
fn parts(guard: &Guard) -> Vec<&Guard> {
    match guard {
        Guard::All(parts) => parts.iter().collect(),
        other => vec![other],
    }
}

fn exclude(one: &Guard, two: &Guard) -> bool {
    if negates(one, two) || negates(two, one) {
        return true;
    }
    match (comparison(one), comparison(two)) {
        (Some(one), Some(two)) => one.excludes(&two),
        _ => false,
    }
}

/// Whether one of two guards always holds: one is the other's negation, and both can be decided.
pub(super) fn cover(machine: &Machine, one: &Guard, two: &Guard) -> bool {
    if negates(one, two) || negates(two, one) {
        // What reads a field that is absent is undecided, and so is its negation.
        return is_asked_alone(one) && is_asked_alone(two);
    }
    match (comparison(one), comparison(two)) {
        (Some(one), Some(two)) if one.is_like(&two) && one.constant == two.constant => {
            let field = machine.fields.at(one.field);
            let is_number = matches!(field.kind, Type::Int | Type::Float | Type::Number);
            let is_equality = matches!(one.relation, Relation::Equal | Relation::NotEqual);
            let numeric = matches!(one.constant, Constant::Int(_) | Constant::Float(_));
            one.relation.contrary() == two.relation
                && field.present
                && (is_equality || (is_number && numeric))
        }
        _ => false,
    }
}

fn negates(one: &Guard, two: &Guard) -> bool {
    match (one, two) {
        (Guard::Not(inner), _) => **inner == *two,
        (Guard::Expression(one), Guard::Expression(two)) => {
            matches!(&one.kind, ExpressionKind::Not(inner) if **inner == *two)
        }
        _ => false,
    }
}

/// Whether only the host is asked, who always answers.
fn is_asked_alone(guard: &Guard) -> bool {
    match guard {
        Guard::Ask(_) => true,
        Guard::Not(inner) => is_asked_alone(inner),
        Guard::Expression(expression) => is_answered(expression),
        _ => false,
    }
}

fn is_answered(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Ask(_) => true,
        ExpressionKind::Not(inner) => is_answered(inner),
        _ => false,
    }
}

/// `field < constant`.
struct Comparison<'g> {
    field: Handle<Field>,
    /// Whether it is an expression. To one, 3 and 3.0 are the same; to a comparison of a definition they needn't be.
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
    fn contrary(self) -> Self {
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
    /// Whether two ask the same field in the same way.
    fn is_like(&self, other: &Self) -> bool {
        self.field == other.field && self.is_expression == other.is_expression
    }

    /// Whether no value does both.
    fn excludes(&self, other: &Self) -> bool {
        if !self.is_like(other) {
            return false;
        }
        if self.constant == other.constant {
            let strict = [self.relation, other.relation];
            return self.relation.contrary() == other.relation
                || strict == [Relation::Less, Relation::Greater]
                || strict == [Relation::Greater, Relation::Less];
        }
        let both_equal = self.relation == Relation::Equal && other.relation == Relation::Equal;
        both_equal && are_distinct(self.constant, other.constant)
    }
}

/// Whether two constants are surely two values: numbers of different kinds may be one.
fn are_distinct(one: &Constant, two: &Constant) -> bool {
    let is_number = |it: &Constant| matches!(it, Constant::Int(_) | Constant::Float(_));
    one != two
        && (!is_number(one)
            || !is_number(two)
            || matches!((one, two), (Constant::Int(_), Constant::Int(_))))
}

fn comparison(guard: &Guard) -> Option<Comparison<'_>> {
    match guard {
        Guard::Compare {
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
            Some(Comparison {
                field: *field,
                is_expression: false,
                relation,
                constant,
            })
        }
        Guard::Expression(expression) => compared(expression),
        _ => None,
    }
}

fn compared(expression: &Expression) -> Option<Comparison<'_>> {
    let ExpressionKind::Binary(operator, operands) = &expression.kind else {
        return None;
    };
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
    Some(Comparison {
        field: *field,
        is_expression: true,
        relation,
        constant,
    })
}

#[cfg(test)]
mod tests;
