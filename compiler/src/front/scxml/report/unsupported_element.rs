//! SM152: an element that would be lost.

use super::misplaced_content;
use crate::diag::{Code, Diagnostic, nearest};
use crate::source::Span;

/// SCXML's elements that are read somewhere.
const READ: &[&str] = &[
    "assign",
    "cancel",
    "data",
    "datamodel",
    "else",
    "elseif",
    "final",
    "history",
    "if",
    "initial",
    "log",
    "onentry",
    "onexit",
    "parallel",
    "raise",
    "scxml",
    "send",
    "state",
    "transition",
];

/// SCXML's other elements, with the reason why each isn't read.
const UNREAD: &[(&str, &str)] = &[
    ("invoke", "a machine starts no other one"),
    ("finalize", "a machine starts no other one"),
    ("script", "only assignments are read: `count = count + 1;`"),
    ("foreach", "a step is bounded, so there are no loops"),
    ("donedata", "events of completion bring no data"),
    ("param", "events that a machine sends bring no data"),
    ("content", "events that a machine sends bring no data"),
];

/// An element of SCXML that may not stand there: one that is read elsewhere, or one that isn't read at all.
pub(in crate::front::scxml) fn element(
    tag: Span,
    name: &str,
    around: &str,
    allowed: &[&str],
) -> Diagnostic {
    if READ.contains(&name) {
        return misplaced_content::element(tag, name, around, allowed);
    }
    let reason = UNREAD.iter().find(|(unread, _)| *unread == name);
    unsupported_element(tag, name, reason.map(|(_, reason)| *reason))
}

/// An element that isn't read, with the reason if it is known to SCXML.
pub(in crate::front::scxml) fn unsupported_element(
    tag: Span,
    name: &str,
    reason: Option<&str>,
) -> Diagnostic {
    let finding = Diagnostic::new(
        Code::UnsupportedElement,
        tag,
        format!("`<{name}>` isn't supported"),
    );
    if let Some(reason) = reason {
        let finding = finding.label(reason);
        return match name {
            "script" | "foreach" | "invoke" => finding.help(
                "let the host do it: `<statemark:action name=\"…\"/>`, or an event that it sends",
            ),
            _ => finding.help("remove it, or say it with what is supported"),
        };
    }
    match nearest(name, READ.iter().copied()) {
        Some(near) => finding
            .label("no element of SCXML")
            .help(format!("did you mean `<{near}>`?")),
        None => finding
            .label("no element of SCXML")
            .help("remove it, or give it a namespace of its own"),
    }
}
