//! The messages of this front end: one file a code, named as the code is.

pub(crate) mod always_fails;
pub(crate) mod bad_attribute;
pub(crate) mod foreign_expression;
pub(crate) mod idle_cancel;
pub(crate) mod illegal_targets;
pub(crate) mod misplaced_content;
pub(crate) mod missing_part;
mod unread_attribute;
mod unsupported_element;
mod xml_syntax;

pub(super) use unread_attribute::{computed, plain, unread_attribute};
pub(super) use unsupported_element::{element, unsupported_element};
pub(super) use xml_syntax::xml_syntax;

/// Choices for a message: `` `a`, `b` or `c` ``.
fn choices(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}
