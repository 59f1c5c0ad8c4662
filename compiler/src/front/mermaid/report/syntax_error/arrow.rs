//! Arrows.

use super::error;
use crate::diag::{Applicability, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// `a -->` and nothing behind it.
pub(in crate::front::mermaid) fn no_target(arrow: Span) -> Diagnostic {
    error(arrow, "expected a state's name behind `-->`")
        .label("this leads nowhere")
        .help("name the target on the same line: `a --> b`")
}

/// `a --> : label`.
pub(in crate::front::mermaid) fn no_target_before_label(arrow: Span) -> Diagnostic {
    error(arrow, "expected a state's name between `-->` and the label")
        .label("this leads nowhere")
        .help("name the target: `a --> b : label`")
}

/// `--> b`.
pub(in crate::front::mermaid) fn no_source(arrow: Span) -> Diagnostic {
    error(arrow, "expected a state's name in front of `-->`")
        .label("this comes from nowhere")
        .help("name the source on the same line: `a --> b`")
}

/// `a --> b --> c`.
pub(in crate::front::mermaid) fn chained(
    arrow: Span,
    name: &str,
    insertion: Option<(Span, String)>,
) -> Diagnostic {
    let name = quote(name);
    let finding = error(arrow, "a transition has one arrow")
        .label("a second one")
        .help(format!("begin another transition with `{name} -->`"));
    match insertion {
        Some((place, line)) => finding.fix(
            Applicability::Safe,
            "write two transitions",
            place,
            format!("{line}{name} "),
        ),
        None => finding,
    }
}

/// `->`, `--->`, `-.->` and their kin.
pub(in crate::front::mermaid) fn misspelt(span: Span, written: &str) -> Diagnostic {
    error(
        span,
        format!("an arrow is written `-->`, not `{}`", quote(written)),
    )
    .fix(Applicability::Safe, "write `-->`", span, "-->")
}

/// `b <-- a`; what to write instead, and where, if the statement can be turned around.
pub(in crate::front::mermaid) fn backwards(
    span: Span,
    turned: Option<(Span, String)>,
) -> Diagnostic {
    let finding = error(span, "arrows lead from left to right").label("this one leads to the left");
    match turned {
        Some((place, text)) => finding.fix(
            Applicability::Unsafe,
            format!("write `{}`", quote(&text)),
            place,
            text,
        ),
        None => finding.help("write the source first: `a --> b : label`"),
    }
}

/// `a <-> b`.
pub(in crate::front::mermaid) fn both_ways(span: Span, written: &str) -> Diagnostic {
    error(
        span,
        format!("an arrow is written `-->`, not `{}`", quote(written)),
    )
    .help("a transition leads one way; write a second one for the way back")
}

/// `a -- text --> b`.
pub(in crate::front::mermaid) fn label_inside(span: Span, text: &str) -> Diagnostic {
    let text = if text.is_empty() { "label" } else { text };
    error(span, "a label can't stand inside of an arrow")
        .label("the arrow begins here")
        .help(format!(
            "put it behind the target: `a --> b : {}`",
            quote(text)
        ))
}
