//! Expressions: what a guard asks and what an assignment computes, as a subset of CEL.
//!
//! [`parse`] reads a text that is an expression; [`read`] first decides whether a guard's text is one at all, since
//! guards are prose as often. Both take a [`Written`], which knows where each byte of the text is in its file, so that
//! every span and every fix points at what the author wrote, also inside a JSON string.
//!
//! ```text
//! or         = and { "||" and }
//! and        = relation { "&&" relation }
//! relation   = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum | "in" ( list | sum ) ]
//! sum        = product { ( "+" | "-" ) product }
//! product    = unary { ( "*" | "/" | "%" ) unary }
//! unary      = { "!" } member | { "-" } member
//! member     = primary { "." method "(" [ or ] ")" }
//! primary    = literal | field | "has" "(" field ")" | "size" "(" or ")" | "in_state" "(" text ")" | "(" or ")"
//! field      = name { "." name }
//! list       = "[" [ literal { "," literal } ] "]"
//! ```
//!
//! What parses is valid CEL and means the same there, with two words of our own: `in_state`, and `has` of a name without
//! a dot. What CEL has beyond it is an error that says what to write instead.
//!
//! # Expression or prose
//!
//! [`read`] decides in this order:
//!
//! 1. A text that parses is an expression, unless it says nothing that could be true: a number or a quoted text alone,
//!    arithmetic (`retry - failed`, `yes/no`) and `item in stock` are prose as long as they name no field that is known.
//! 2. A text that doesn't parse is a broken expression if it has a sign of the language (a comparison, `&&`, `!x`, `=`,
//!    a call, …), or joins names that are known with `and`, `or`, `not`.
//! 3. But it is prose where two words follow each other with no operator between them (`4 players left`), where a
//!    number has a unit (`20%`), where it ends with `!`, and where it has a character that no expression has
//!    (`user's`, `größe`).
//!
//! Deliberately not here: names and types. A lone name isn't given to [`read`] at all: whether it is a field or a guard
//! is [`lower`](crate::lower)'s question.

pub mod ast;
mod lex;
mod literal;
mod messages;
mod parse;
mod prose;
#[cfg(test)]
mod tests;
mod written;

pub use parse::{Parsed, parse};
pub use prose::{GuardText, Reading, mended, read};
pub use written::Written;
