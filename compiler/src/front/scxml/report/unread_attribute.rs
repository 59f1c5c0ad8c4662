//! SM153: an attribute that would be lost.

use super::choices;
use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::source::Span;

/// SCXML's attributes that hold what is only known when the machine runs.
const COMPUTED: &[(&str, &str)] = &[
    ("eventexpr", "event"),
    ("targetexpr", "target"),
    ("typeexpr", "type"),
    ("delayexpr", "delay"),
    ("sendidexpr", "sendid"),
];

/// The attribute that is computed where the plain one is known before.
pub(in crate::front::scxml) fn computed(plain: &str) -> Option<&'static str> {
    let mut pairs = COMPUTED.iter();
    pairs.find(|pair| pair.1 == plain).map(|pair| pair.0)
}

/// The attribute that is known before where the other one is computed.
pub(in crate::front::scxml) fn plain(computed: &str) -> Option<&'static str> {
    let mut pairs = COMPUTED.iter();
    pairs.find(|pair| pair.0 == computed).map(|pair| pair.1)
}

/// An element has an attribute that isn't read.
pub(in crate::front::scxml) fn unread_attribute(
    place: Span,
    name: &str,
    element: &str,
    known: &[&str],
) -> Diagnostic {
    let finding = |why: &str| {
        Diagnostic::new(
            Code::UnreadAttribute,
            place,
            format!("`{name}` of `<{element}>` isn't read"),
        )
        .label(why.to_owned())
    };
    if let Some(plain) = plain(name) {
        return finding("would be computed while the machine runs")
            .help(format!("write `{plain}`, whose value is known before"));
    }
    match name {
        "idlocation" => {
            return finding("ids aren't made while the machine runs")
                .help("write `id`, and cancel by it");
        }
        "src" => return finding("no other file is read").help("write what it holds here"),
        "namelist" => {
            return finding("events that a machine sends bring no data").help("remove it");
        }
        _ => {}
    }
    let finding = finding("no attribute that has a meaning here");
    match nearest(name, known.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            place,
            near,
        ),
        None if known.is_empty() => finding.help("remove it"),
        None => finding.help(format!(
            "remove it; `<{element}>` may have {}",
            choices(known)
        )),
    }
}
