//! Sizes of the programs of expressions, before they are written.
//!
//! INVARIANT: counts what `back/table/program.rs` writes; a test there holds the two together.

use crate::ir::Expression;

/// The size of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Instructions.
    pub(crate) length: usize,
    /// Levels of expressions within each other.
    pub(crate) depth: usize,
}

/// Returns the size of an expression's program.
pub(crate) fn expression_size(expression: &Expression) -> Size {
    let parts = expression.parts().iter().map(expression_size);
    let whole = parts.fold(Size::default(), |all, part| Size {
        length: all.length + part.length,
        depth: all.depth.max(part.depth),
    });
    Size {
        length: whole.length + 1,
        depth: whole.depth + 1,
    }
}
