//! The one expression language: guards, conditions and assigned values, whichever front end read them.
//!
//! A guard is an expression whose value is `true`. A definition's comparison `{field, op, value}` is a part like any
//! other. It keeps a kind of its own, [`ExpressionKind::Compare`], because it never fails and tells `1` from `1.0`, which
//! the operators of expressions don't.

use std::hash::{Hash, Hasher};
use std::mem;

use super::{Field, HostGuard, State};
use crate::arena::Handle;
use crate::source::Span;

pub use statemark_runtime::{BinaryOperator, Operator, UnaryOperator};

/// An expression over fields, with the span of each of its parts.
///
/// Equality ignores spans.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The span.
    pub span: Span,
    /// The operator and operands.
    pub kind: ExpressionKind,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Hash for Expression {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.kind.hash(hasher);
    }
}

/// The operator and operands of an expression.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum ExpressionKind {
    /// A literal.
    Constant(Constant),
    /// A field's value.
    Field(Handle<Field>),
    /// `has(a.b)`.
    Has(Handle<Field>),
    /// `in_state("a")`.
    InState(Handle<State>),
    /// The host answers.
    Ask(Handle<HostGuard>),
    /// A definition's comparison of a field with constants: true or false, whatever the field holds.
    Compare {
        /// The field.
        field: Handle<Field>,
        /// The comparison.
        operator: Operator,
        /// The operands: one constant, any number for `in`, none for `exists` and `not_exists`.
        constants: Vec<Constant>,
    },
    /// `!a`.
    Not(Box<Expression>),
    /// `a && b && …`: at least two; [`Expression::all`] joins any number.
    And(Vec<Expression>),
    /// `a || b || …`: at least two; [`Expression::any`] joins any number.
    Or(Vec<Expression>),
    /// `-a`, `size(a)`.
    Unary(UnaryOperator, Box<Expression>),
    /// `a < b`, `a + b`, `a.startsWith(b)` and so on.
    Binary(BinaryOperator, Box<[Expression; 2]>),
    /// `a in [1, 2]`.
    Among(Box<Expression>, Vec<Constant>),
}

/// A constant in an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// JSON's `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// From `i64::MIN` to `u64::MAX`.
    Int(i128),
    /// Finite.
    Float(f64),
    /// A string.
    Text(String),
}

impl Hash for Constant {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        mem::discriminant(self).hash(hasher);
        match self {
            Self::Null => {}
            Self::Bool(value) => value.hash(hasher),
            Self::Int(value) => value.hash(hasher),
            // Both zeros are equal, and only they have different bits; no constant is NaN.
            Self::Float(value) => (value + 0.0).to_bits().hash(hasher),
            Self::Text(value) => value.hash(hasher),
        }
    }
}

impl Expression {
    /// Returns the expression that holds if all parts do.
    ///
    /// It is `true` if there are none, and the only part if there is one.
    #[must_use]
    pub fn all(parts: Vec<Self>, span: Span) -> Self {
        Self::joined(parts, span, true)
    }

    /// Returns the expression that holds if a part does.
    ///
    /// It is `false` if there are none, and the only part if there is one.
    #[must_use]
    pub fn any(parts: Vec<Self>, span: Span) -> Self {
        Self::joined(parts, span, false)
    }

    /// Joins parts; those of a part that is joined alike become parts of the whole, which means the same.
    fn joined(parts: Vec<Self>, span: Span, all: bool) -> Self {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part.kind {
                ExpressionKind::And(inner) if all => flat.extend(inner),
                ExpressionKind::Or(inner) if !all => flat.extend(inner),
                _ => flat.push(part),
            }
        }
        let mut parts = flat;
        let kind = match parts.len() {
            0 => ExpressionKind::Constant(Constant::Bool(all)),
            1 => return parts.remove(0),
            _ if all => ExpressionKind::And(parts),
            _ => ExpressionKind::Or(parts),
        };
        Self { span, kind }
    }

    /// Returns the negation of the expression.
    #[must_use]
    pub fn negated(self, span: Span) -> Self {
        let kind = ExpressionKind::Not(Box::new(self));
        Self { span, kind }
    }

    /// Returns the operands that are expressions, in the order of the text.
    #[must_use]
    pub fn parts(&self) -> &[Self] {
        match &self.kind {
            ExpressionKind::Not(inner)
            | ExpressionKind::Unary(_, inner)
            | ExpressionKind::Among(inner, _) => std::slice::from_ref(inner),
            ExpressionKind::And(parts) | ExpressionKind::Or(parts) => parts,
            ExpressionKind::Binary(_, operands) => operands.as_slice(),
            ExpressionKind::Constant(_)
            | ExpressionKind::Field(_)
            | ExpressionKind::Has(_)
            | ExpressionKind::InState(_)
            | ExpressionKind::Compare { .. }
            | ExpressionKind::Ask(_) => &[],
        }
    }

    /// Calls `visit` with the expression and all expressions in it, the outer ones first.
    pub fn visit<'e>(&'e self, visit: &mut impl FnMut(&'e Self)) {
        visit(self);
        for part in self.parts() {
            part.visit(visit);
        }
    }

    /// Returns the field that the expression itself reads or asks for, whatever its parts do.
    #[must_use]
    pub fn field(&self) -> Option<Handle<Field>> {
        match self.kind {
            ExpressionKind::Field(field)
            | ExpressionKind::Has(field)
            | ExpressionKind::Compare { field, .. } => Some(field),
            _ => None,
        }
    }
}
