//! SM151: a text that isn't XML.

use roxmltree::Error;

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// The XML breaks off at that place. What stands behind it can't be told, so nothing of the document is read.
pub(in crate::front::scxml) fn xml_syntax(place: Span, error: &Error) -> Diagnostic {
    let finding = |message: String| Diagnostic::new(Code::XmlSyntax, place, message);
    match error {
        Error::DtdDetected => finding("a document type isn't read".to_owned())
            .label("stands here")
            .help("remove `<!DOCTYPE …>`; SCXML needs none"),
        Error::UnexpectedCloseTag(expected, actual, _) => {
            finding(format!("`{actual}` is closed, but `{expected}` is open"))
                .label(format!("expected `</{expected}>`"))
                .help(format!(
                    "write `</{expected}>`, or close what it is inside of"
                ))
        }
        Error::UnclosedRootNode => finding("an element is never closed".to_owned())
            .help("close every element: `<state>` by `</state>`, `<transition/>` by itself"),
        Error::NoRootNode => finding("there is no element".to_owned())
            .help("an SCXML document is one element `<scxml>` with states inside"),
        Error::InvalidChar2(_, b'<', _) => finding("`<` can't stand in an attribute".to_owned())
            .label("begins an element")
            .help("write `&lt;`")
            .fix(Applicability::Safe, "write `&lt;`", place, "&lt;"),
        Error::MalformedEntityReference(_) | Error::UnknownEntityReference(..) => {
            finding("`&` can't stand for itself".to_owned())
                .label("begins an entity, which ends with `;`")
                .help("write `&amp;`, so `a &amp;&amp; b` for `a && b`")
        }
        Error::DuplicatedAttribute(name, _) => finding(format!("`{name}` stands twice"))
            .help("an element has each attribute once: remove one of them"),
        Error::UnknownNamespace(prefix, _) => {
            finding(format!("`{prefix}:` stands for no namespace")).help(format!(
                "declare it: `xmlns:{prefix}=\"…\"` on the element `scxml`"
            ))
        }
        Error::NodesLimitReached => finding("the document has too many elements".to_owned())
            .help("split it into several machines"),
        _ => {
            let said = error.to_string();
            let what = said
                .rsplit_once(" at ")
                .map_or(said.as_str(), |(what, _)| what);
            finding(format!("this isn't XML: {}", what.replace('\'', "`")))
                .help("mend the XML; nothing behind this place is read until then")
        }
    }
}
