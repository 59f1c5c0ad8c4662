//! Bounds of integers, bounded_value where an assignment could leave them.
//!
//! A field declared as an integer stays one, between `minimum` and `maximum` of its schema: an assignment of anything else
//! has no value, on every engine. So generated Rust can size the field. An assignment that can't leave the bounds gets no
//! check.

use crate::ir::{
    ActionKind, Assign, BinaryOperator, Constant, Expression, ExpressionKind, Machine,
};
use crate::pass::shape::{Layout, Range, Shape};

/// Wraps assigned values in the checks that they need.
pub(super) fn check_bounds(machine: &mut Machine) {
    let Some(layout) = Layout::declared(machine) else {
        return;
    };
    let actions: Vec<_> = machine.actions.handles().collect();
    for action in actions {
        let ActionKind::Assign(assigns) = &machine.actions.at(action).kind else {
            continue;
        };
        let assigns = assigns
            .iter()
            .map(|assign| bounded_assignment(machine, &layout, assign));
        let assigns = assigns.collect();
        machine.actions.at_mut(action).kind = ActionKind::Assign(assigns);
    }
}

fn bounded_assignment(machine: &Machine, layout: &Layout, assign: &Assign) -> Assign {
    let field = layout.shape(&machine.fields.at(assign.field).path);
    let value = layout.value(machine, &assign.value);
    let (field, found) = match (field, value) {
        (Shape::Int(field), Shape::Int(value)) => (field, Some(value)),
        (Shape::Int(field), _) => (field, None),
        (Shape::Nullable(inner), Shape::Int(value)) => match *inner {
            Shape::Int(field) => (field, Some(value)),
            _ => return assign.clone(),
        },
        _ => return assign.clone(),
    };
    let Range { least, most } = field;
    let mut assign = assign.clone();
    if found.is_none_or(|found| found.least < least) {
        assign.value = bounded_value(assign.value, BinaryOperator::AtLeast, least);
    }
    if found.is_none_or(|found| found.most > most) {
        assign.value = bounded_value(assign.value, BinaryOperator::AtMost, most);
    }
    assign
}

fn bounded_value(value: Expression, operator: BinaryOperator, bound: i128) -> Expression {
    let span = value.span;
    let bound = Expression {
        span,
        kind: ExpressionKind::Constant(Constant::Int(bound)),
    };
    Expression {
        span,
        kind: ExpressionKind::Binary(operator, Box::new([value, bound])),
    }
}
