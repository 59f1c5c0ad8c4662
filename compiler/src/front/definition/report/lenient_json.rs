//! SM712: something that other dialects have and JSON doesn't.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// A place where a text leaves JSON, with what JSON has instead where that is certain.
#[derive(Clone, Debug)]
pub(crate) enum Leniency {
    /// The first comment, and the others.
    Comments(Span, Vec<Span>),
    /// The comma.
    TrailingComma(Span),
    /// The place where the comma is missing.
    MissingComma(Span),
    /// The text, and how JSON writes it.
    SingleQuotes(Span, String),
    /// The text, and how JSON writes it.
    ControlCharacter(Span, String),
    /// The text, and how JSON writes it.
    Escape(Span, String),
    /// The key, and how JSON writes it.
    BareKey(Span, String),
    /// The number, and how JSON writes it.
    Number(Span, String),
}

/// The definition is read all the same.
pub(crate) fn lenient_json(leniency: Leniency) -> Diagnostic {
    let rewrite = |place, message, written: String| {
        let order = format!("write `{written}`");
        finding(place, message)
            .help(order.clone())
            .fix(Applicability::Safe, order, place, written)
    };
    match leniency {
        Leniency::Comments(first, others) => {
            let help = "mark the fence as `jsonc definition`, name the file `.jsonc`, or drop the comments";
            let found = finding(first, "JSON has no comments").help(help);
            others
                .into_iter()
                .fold(found, |found, other| found.related(other, "another one"))
        }
        Leniency::TrailingComma(comma) => finding(comma, "JSON has no comma behind the last item")
            .help("drop the comma, or mark the fence as `jsonc definition`")
            .fix(Applicability::Safe, "drop the comma", comma, ""),
        Leniency::MissingComma(place) => finding(place, "a comma is missing here")
            .help("write a comma between two items")
            .fix(Applicability::Safe, "write the comma", place, ","),
        Leniency::SingleQuotes(text, plain) => {
            rewrite(text, "JSON has no texts in single quotes", plain)
        }
        Leniency::ControlCharacter(text, plain) => rewrite(
            text,
            "a text has no line breaks or tabs in JSON but as escapes",
            plain,
        ),
        Leniency::Escape(text, plain) => {
            rewrite(text, "this text has an escape that JSON hasn't", plain)
        }
        Leniency::BareKey(key, plain) => rewrite(key, "a key needs double quotes in JSON", plain),
        Leniency::Number(number, plain) => {
            rewrite(number, "JSON doesn't write numbers like this", plain)
        }
    }
}

fn finding(place: Span, message: &str) -> Diagnostic {
    Diagnostic::new(Code::LenientJson, place, message)
}
