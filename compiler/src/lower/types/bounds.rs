//! Has assignments to integers checked where nothing else keeps them within their bounds.
//!
//! A field that is declared as an integer stays one, between the `minimum` and the `maximum` of its schema: an assignment
//! of anything else has no value, on every engine. So generated Rust can size it. What needs no check gets none.

use crate::ir::{
    ActionKind, Assign, BinaryOperator, Constant, Expression, ExpressionKind, Machine,
};
use crate::pass::shape::{Layout, Range, Shape};

/// Puts checks around what is assigned.
pub(super) fn settle(machine: &mut Machine) {
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
            .map(|assign| bounded(machine, &layout, assign));
        let assigns = assigns.collect();
        machine.actions.at_mut(action).kind = ActionKind::Assign(assigns);
    }
}

fn bounded(machine: &Machine, layout: &Layout, assign: &Assign) -> Assign {
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
        assign.value = checked(assign.value, BinaryOperator::AtLeast, least);
    }
    if found.is_none_or(|found| found.most > most) {
        assign.value = checked(assign.value, BinaryOperator::AtMost, most);
    }
    assign
}

fn checked(value: Expression, operator: BinaryOperator, bound: i128) -> Expression {
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
