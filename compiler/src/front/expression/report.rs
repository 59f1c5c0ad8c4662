//! What the front end of expressions says: a file for each code.

pub(super) mod broken_expression;
pub(super) mod unsupported_expression;
