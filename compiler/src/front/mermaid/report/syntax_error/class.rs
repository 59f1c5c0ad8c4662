//! Classes and styles.

use super::error;
use crate::diag::Diagnostic;
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// `a:::` and nothing behind it.
pub(in crate::front::mermaid) fn no_name(mark: Span) -> Diagnostic {
    error(mark, "expected a class's name behind `:::`")
}

/// `:::c` behind nothing.
pub(in crate::front::mermaid) fn no_state(mark: Span) -> Diagnostic {
    error(mark, "expected a state's name in front of `:::`")
}

/// `a:::b:::c`.
pub(in crate::front::mermaid) fn two_classes(mark: Span) -> Diagnostic {
    error(mark, "`:::` can't stand here")
        .help("a state's mention takes one class; give it another with a `class` line")
}

/// `classDef default …`.
pub(in crate::front::mermaid) fn default_class(word: Span) -> Diagnostic {
    error(word, "a state diagram has no class `default`")
        .help("define a class of another name and give it to the states that shall have it")
        .note("Mermaid's documentation shows `classDef default` for flowcharts; in state diagrams it is refused")
}

/// `classDef my-class …` and the like.
pub(in crate::front::mermaid) fn subject(word: Span, keyword: &str, text: &str) -> Diagnostic {
    let what = match keyword {
        "classDef" => "a class's name",
        _ => "the states' names",
    };
    let text = quote(text);
    error(word, format!("`{keyword}` can't take `{text}`"))
        .label(format!("expected {what}"))
        .help("here names are made of the letters a to z, digits and `_` only")
}
