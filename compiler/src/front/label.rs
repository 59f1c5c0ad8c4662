//! Labels: what triggers a transition, what guards it, and what it does.
//!
//! ```text
//! label       = [ trigger ] [ "[" guard "]" ] [ " / " action { "," action } ]
//! trigger     = event { ("," | "|") event } | "after" duration | text
//! duration    = number ( "ms" | "s" | "m" | "h" | "d" )
//! description = ( "entry" | "exit" ) "/" action { "," action } | label | text
//! ```
//!
//! Diagrams were drawn for people first, so nothing here fails: what doesn't fit the grammar is text, and what looks like a
//! mistake is kept as a [`Flaw`](ast::Flaw). A `[` opens a guard only at the start or after a blank. ` / ` separates
//! actions only if each item after it is `name()` or an action that the definition declares, because `load timeout / error`
//! means *or*. The parser doesn't know the declarations: where they decide, a label has both readings, and
//! [`Label::parts`](ast::Label::parts) picks one.
//!
//! Deliberately not here: names. Which event a text stands for, and which guard, [`crate::lower`] knows.

pub mod ast;
mod duration;
mod messages;
mod parse;

pub(crate) use duration::{Misfit, milliseconds};
pub(crate) use messages::{
    actions_without_event, empty_guard, lost_part, missing_slash, report_brackets, unnamed_action,
};
pub use parse::{parse, parse_description};
