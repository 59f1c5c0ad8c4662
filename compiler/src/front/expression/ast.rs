//! An expression as written.
//!
//! Names aren't resolved: `ready` may be a field or a guard. Every part has its place in the file.

pub use statemark_runtime::{BinaryOperator, UnaryOperator};

use crate::source::{Span, Spanned};

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// Its span, without its own parentheses.
    pub span: Span,
    /// The kind of expression.
    pub kind: Kind,
}

/// A kind of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `3`, `"ok"`, `true`, `null`.
    Literal(Literal),
    /// `plan`, `order.total`, `event.x`: a dotted path.
    Name(String),
    /// `has(a.b)`.
    Has(Spanned<String>),
    /// `in_state("a")`.
    InState(Spanned<String>),
    /// `!a`.
    Not(Box<Expression>),
    /// `a && b && …`: at least two.
    And(Vec<Expression>),
    /// `a || b || …`: at least two.
    Or(Vec<Expression>),
    /// `-a`, `size(a)`.
    Unary(UnaryOperator, Box<Expression>),
    /// `a < b`, `a + b`, `a in b`, `a.startsWith(b)`.
    Binary(BinaryOperator, Box<[Expression; 2]>),
    /// `a in [1, 2]`.
    Among(Box<Expression>, Vec<Spanned<Literal>>),
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// `3`, `-3`, `0x1f`.
    Int(i64),
    /// `3u`: an integer that may be past `i64::MAX`. It can be compared, not computed with.
    Unsigned(u64),
    /// `1.5`, `1e3`.
    Float(f64),
    /// `"ok"`, `'ok'`, `r"\d"`.
    Text(String),
}

impl Expression {
    /// Returns the number of nested levels of operators.
    ///
    /// Recursion is bounded: a parser that gave it out counted its parts.
    #[must_use]
    pub fn height(&self) -> usize {
        let highest = |parts: &[Self]| parts.iter().map(Self::height).max().unwrap_or(0);
        1 + match &self.kind {
            Kind::Literal(_) | Kind::Name(_) | Kind::Has(_) | Kind::InState(_) => 0,
            Kind::Not(inner) | Kind::Unary(_, inner) | Kind::Among(inner, _) => inner.height(),
            Kind::And(parts) | Kind::Or(parts) => highest(parts),
            Kind::Binary(_, operands) => highest(operands.as_slice()),
        }
    }
}
