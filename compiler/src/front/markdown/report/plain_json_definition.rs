//! SM110: a plain `json` fence that looks like a definition.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// The fence at `opening` isn't marked as a definition; the word at `language` is what stands behind its marker.
pub(crate) fn plain_json_definition(opening: Span, language: Span) -> Diagnostic {
    Diagnostic::new(
        Code::PlainJsonDefinition,
        opening,
        "this looks like a definition, but a plain `json` fence is an example and isn't read",
    )
    .help("write `definition` behind the language if it belongs to the machine")
    .fix(
        Applicability::Unsafe,
        "mark it as the definition",
        language.after(),
        " definition",
    )
}
