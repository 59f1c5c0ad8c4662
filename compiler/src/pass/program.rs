//! Sizes of the programs of expressions, before they are written.
//!
//! INVARIANT: counts what `back/table/program.rs` writes; a test there holds the two together.

use crate::ir::{Expression, ExpressionKind};

/// The size of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Most instructions; a chain of conditions may need two fewer.
    pub(crate) length: usize,
    /// Most values on the stack.
    pub(crate) depth: usize,
}

/// Returns the size of an expression's program.
pub(crate) fn expression_size(expression: &Expression) -> Size {
    match &expression.kind {
        ExpressionKind::Constant(_)
        | ExpressionKind::Field(_)
        | ExpressionKind::Has(_)
        | ExpressionKind::InState(_)
        | ExpressionKind::Compare { .. }
        | ExpressionKind::Ask(_) => LEAF,
        ExpressionKind::Not(inner)
        | ExpressionKind::Unary(_, inner)
        | ExpressionKind::Among(inner, _) => then(expression_size(inner)),
        ExpressionKind::And(parts) | ExpressionKind::Or(parts) => {
            chain(parts.iter().map(expression_size))
        }
        ExpressionKind::Binary(_, operands) => {
            let [left, right] = operands.as_ref();
            let (left, right) = (expression_size(left), expression_size(right));
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

/// Adds one instruction.
fn then(inner: Size) -> Size {
    Size {
        length: inner.length + 1,
        ..inner
    }
}

/// Adds up a chain of conditions.
///
/// There is a jump after each part but the last, and perhaps a conversion of the result at the end.
fn chain(parts: impl Iterator<Item = Size>) -> Size {
    parts.fold(LEAF, |all, part| Size {
        length: all.length + part.length + 1,
        depth: all.depth.max(part.depth),
    })
}
