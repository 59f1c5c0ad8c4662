//! SM708: instructions in two places.

use crate::diag::{Code, Diagnostic};
use crate::source::{Span, Spanned};

/// A state has instructions in prose and, before, elsewhere.
pub(in crate::lower) fn two_instructions(state: &Spanned<String>, earlier: Span) -> Diagnostic {
    let message = format!("`{}` has instructions in two places", state.value);
    Diagnostic::new(Code::TwoInstructions, state.span, message)
        .label("these are used")
        .related(earlier, "these are lost")
        .help("keep one of them; prose below a heading is easier to read and to change")
}
