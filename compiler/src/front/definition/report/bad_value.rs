//! SM710: a value of the right type that can't be.

use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::front::definition::shape::quoted;
use crate::source::Span;

/// What people write for the operators of a guard.
const SIGNS: [(&str, &str); 10] = [
    ("==", "eq"),
    ("===", "eq"),
    ("=", "eq"),
    ("!=", "neq"),
    ("ne", "neq"),
    (">", "gt"),
    (">=", "gte"),
    ("ge", "gte"),
    ("<", "lt"),
    ("<=", "lte"),
];

/// The text under `key` is none of those that it may be.
pub(crate) fn not_a_choice(value: Span, key: &str, text: &str, choices: &[&str]) -> Diagnostic {
    let found = Diagnostic::new(Code::BadValue, value, format!("`{key}` can't be `{text}`"))
        .note(format!("it may be {}", quoted(choices)));
    let sign = SIGNS.iter().find(|(sign, _)| *sign == text).map(|it| it.1);
    let meant = sign
        .filter(|name| choices.contains(name))
        .or_else(|| nearest(text, choices.iter().copied()));
    match meant {
        Some(meant) => found.help(format!("did you mean `{meant}`?")).fix(
            Applicability::Unsafe,
            format!("write `\"{meant}\"`"),
            value,
            format!("\"{meant}\""),
        ),
        None => found.help("write one of those"),
    }
}

/// The number under `key` is negative, broken, or too small.
pub(crate) fn not_at_least(value: Span, key: &str, text: &str, least: u64) -> Diagnostic {
    Diagnostic::new(Code::BadValue, value, format!("`{key}` can't be `{text}`")).help(format!(
        "write a whole number of at least {least}, or drop the key for no limit"
    ))
}

/// The number has no value: it is too large, or no number that JSON has.
pub(crate) fn no_such_number(value: Span, text: &str) -> Diagnostic {
    let named = text.contains(['I', 'N']);
    let message = if named {
        format!("`{text}` is no number that a definition can hold")
    } else {
        format!("the number `{text}` is too large")
    };
    Diagnostic::new(Code::BadValue, value, message)
        .note(
            "whole numbers are kept exactly and have at most 64 bits; others are floats of 64 bits",
        )
        .help("write a number in that range, or a text")
}

/// A key that names something is empty.
pub(crate) fn empty_name(key: Span) -> Diagnostic {
    Diagnostic::new(Code::BadValue, key, "a name can't be empty")
        .help("give it a name of at least one letter")
}

/// A list of targets has none.
pub(crate) fn empty_targets(value: Span) -> Diagnostic {
    let message = "an empty list of targets leads nowhere";
    Diagnostic::new(Code::BadValue, value, message).help("name a state, or drop the key")
}

/// A list of branches has none.
pub(crate) fn empty_branches(value: Span) -> Diagnostic {
    Diagnostic::new(
        Code::BadValue,
        value,
        "an empty list of branches leads nowhere",
    )
    .help("name a target, or drop the event")
}

/// The command of a check names no program.
pub(crate) fn empty_command(value: Span) -> Diagnostic {
    Diagnostic::new(Code::BadValue, value, "this command names no program")
        .help("write the program and its arguments: `[\"cargo\", \"test\"]`")
}
