//! Types: which of them fit together, and their names in messages.

use crate::ir::{Constant, Type};

/// Returns a type without its `null`.
pub(super) fn plain(kind: &Type) -> &Type {
    match kind {
        Type::Nullable(inner) => inner,
        kind => kind,
    }
}

pub(super) fn is_number(kind: &Type) -> bool {
    matches!(kind, Type::Int | Type::Float | Type::Number)
}

/// Returns whether a value of the first type may be one of the second.
pub(super) fn may_be(found: &Type, wanted: &Type) -> bool {
    match (plain(found), plain(wanted)) {
        (Type::Unknown, _) | (_, Type::Unknown) => true,
        (Type::Number, wanted) => is_number(wanted),
        (found, Type::Number) => is_number(found),
        (Type::List(found), Type::List(wanted)) => may_be(found, wanted),
        (found, wanted) => found == wanted,
    }
}

/// Returns whether values of two types may be equal. Everything may be compared with `null`.
pub(super) fn comparable(one: &Type, two: &Type) -> bool {
    let is_null = |kind: &Type| matches!(kind, Type::Nullable(inner) if **inner == Type::Unknown);
    let (plain_one, plain_two) = (plain(one), plain(two));
    is_null(one)
        || is_null(two)
        || may_be(one, two)
        || (is_number(plain_one) && is_number(plain_two))
}

/// Returns whether a field of one type may be assigned a value of another.
pub(in crate::lower) fn assignable(field: &Type, value: &Type) -> bool {
    match (field, value) {
        (Type::Unknown, _) | (_, Type::Unknown) => true,
        (Type::Nullable(_), Type::Nullable(inner)) if **inner == Type::Unknown => true,
        // Only `null` itself is refused: a nullable value may as well not be null.
        (_, Type::Nullable(inner)) if **inner == Type::Unknown => false,
        (field, value) => may_be(value, field),
    }
}

pub(super) fn of_constant(constant: &Constant) -> Type {
    match constant {
        Constant::Null => Type::Nullable(Box::default()),
        Constant::Bool(_) => Type::Bool,
        Constant::Int(_) => Type::Int,
        Constant::Float(_) => Type::Float,
        Constant::Text(_) => Type::Text,
    }
}

/// Returns a type in words.
pub(in crate::lower) fn words(kind: &Type) -> String {
    let word = match kind {
        Type::Unknown => "a value",
        Type::Bool => "a truth value",
        Type::Int => "an integer",
        Type::Float => "a float",
        Type::Number => "a number",
        Type::Text => "a string",
        Type::List(items) => match plain(items) {
            Type::Bool => "a list of truth values",
            Type::Int => "a list of integers",
            Type::Float => "a list of floats",
            Type::Number => "a list of numbers",
            Type::Text => "a list of strings",
            _ => "a list",
        },
        Type::Object => "an object",
        Type::Nullable(inner) if **inner == Type::Unknown => "`null`",
        Type::Nullable(inner) => return format!("{} or `null`", words(inner)),
    };
    word.to_owned()
}
