//! How large the programs of guards and expressions are, before anybody writes them.
//!
//! INVARIANT: counts what `back/table/program.rs` writes; a test there holds the two together.

use crate::ir::{Expression, ExpressionKind, Guard};

/// What a program takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Instructions, at most: a chain of conditions may need two less.
    pub(crate) length: usize,
    /// Values on the stack, at most.
    pub(crate) depth: usize,
}

/// The program of a guard.
pub(crate) fn of_guard(guard: &Guard) -> Size {
    match guard {
        Guard::Ask(_) | Guard::Compare { .. } => LEAF,
        Guard::Not(inner) => then(of_guard(inner)),
        Guard::All(parts) | Guard::Any(parts) => chain(parts.iter().map(of_guard)),
        Guard::Expression(expression) => of_expression(expression),
    }
}

/// The program of an expression.
pub(crate) fn of_expression(expression: &Expression) -> Size {
    match &expression.kind {
        ExpressionKind::Constant(_)
        | ExpressionKind::Field(_)
        | ExpressionKind::Has(_)
        | ExpressionKind::InState(_)
        | ExpressionKind::Ask(_) => LEAF,
        ExpressionKind::Not(inner)
        | ExpressionKind::Unary(_, inner)
        | ExpressionKind::Among(inner, _) => then(of_expression(inner)),
        ExpressionKind::And(parts) | ExpressionKind::Or(parts) => {
            chain(parts.iter().map(of_expression))
        }
        ExpressionKind::Binary(_, operands) => {
            let [left, right] = operands.as_ref();
            let (left, right) = (of_expression(left), of_expression(right));
            Size {
                length: left.length + right.length + 1,
                depth: left.depth.max(right.depth + 1),
            }
        }
    }
}

const LEAF: Size = Size {
    length: 1,
    depth: 1,
};

fn then(inner: Size) -> Size {
    Size {
        length: inner.length + 1,
        ..inner
    }
}

/// One jump behind each part but the last, behind which the answer may be made a plain one.
fn chain(parts: impl Iterator<Item = Size>) -> Size {
    parts.fold(LEAF, |all, part| Size {
        length: all.length + part.length + 1,
        depth: all.depth.max(part.depth),
    })
}
