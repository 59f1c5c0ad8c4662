//! SM513: values that don't fit together.

use crate::diag::{Code, Diagnostic};
use crate::ir::BinaryOperator;
use crate::source::Span;

/// A declared comparison where a value is asked for.
pub(in crate::lower) fn guard_as_value(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        span,
        "a guard with `field` and `op` can't be compared or computed with",
    )
    .label("only `!`, `&&` and `||` may stand around it")
    .help("declare the guard as an expression, such as `\"attempts < 3\"`")
}

/// A guard that is no truth value.
pub(in crate::lower) fn guard(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        span,
        format!("a guard is true or false, found {found}"),
    )
    .label(format!("is {found}"))
    .help("compare it with something: `attempts < 3`, `status == \"open\"`")
}

/// An operand of `!`, `&&`, `-`, `size` of the wrong type.
pub(in crate::lower) fn operand(span: Span, sign: &str, wanted: &str, found: &str) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        span,
        format!("`{sign}` takes {wanted}, found {found}"),
    )
    .label(format!("is {found}"))
}

/// Two operands that don't fit together, each with its place and its type in words.
pub(in crate::lower) fn operands(
    span: Span,
    operator: BinaryOperator,
    left: &(Span, String),
    right: &(Span, String),
) -> Diagnostic {
    use BinaryOperator as Op;
    let (sign, left_word, right_word) = (operator.name(), &left.1, &right.1);
    let message = match operator {
        Op::Equal | Op::NotEqual => format!("`{sign}` can't compare {left_word} with {right_word}"),
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
            format!("`{sign}` can't compare {left_word} with {right_word}")
        }
        Op::In => format!("`in` can't find {left_word} in {right_word}"),
        Op::StartsWith | Op::EndsWith | Op::Contains => {
            format!("`{sign}` takes two texts, found {left_word} and {right_word}")
        }
        _ => format!("`{sign}` can't be used on {left_word} and {right_word}"),
    };
    let diagnostic = Diagnostic::new(Code::MistypedExpression, span, message)
        .related(left.0, format!("is {left_word}"))
        .related(right.0, format!("is {right_word}"));
    let is_mixed = |one: &str, two: &str| one == "an integer" && two == "a float";
    let computes = matches!(
        operator,
        Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder
    );
    if computes && (is_mixed(left_word, right_word) || is_mixed(right_word, left_word)) {
        return diagnostic
            .note("numbers are never converted, so that integers stay exact")
            .help("write the integer with a fraction: `2.0`");
    }
    match operator {
        Op::Contains if left_word.starts_with("a list") => diagnostic.help("write `value in list`"),
        Op::In => diagnostic.help("`in` looks into a list, or for a key of an object"),
        Op::Add => diagnostic.note("`+` adds two numbers of one kind, or joins two texts"),
        Op::Equal | Op::NotEqual => diagnostic.note("values of different types are never equal"),
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
            diagnostic.note("two numbers have an order, and two texts")
        }
        _ => diagnostic,
    }
}

/// An item of a list that the value before `in` can't equal.
pub(in crate::lower) fn item(span: Span, value: Span, wanted: &str, found: &str) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        span,
        format!("{wanted} is never equal to {found} in the list"),
    )
    .related(value, format!("is {wanted}"))
    .help("leave it out, or write it as what it is compared with")
}

/// A comparison `{field, op, value}` with a value that the field never holds.
pub(in crate::lower) fn comparison(
    field: &str,
    holds: &str,
    operator: &str,
    found: &str,
    value: Span,
) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        value,
        format!("`{field}` holds {holds}, which `{operator}` can't compare with {found}"),
    )
    .label(format!("is {found}"))
    .note("a comparison of different types is never true")
    .help("change the value, or what the context or its schema says of the field")
}

/// `5u + x`.
pub(in crate::lower) fn unsigned(sign: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        span,
        format!("`{sign}` can't be used on an integer with a `u`"),
    )
    .label("can be compared, not computed with")
    .help("write it without the `u`")
}
