//! SCXML documents: state machines as the W3C writes them.
//!
//! [`parse_scxml`] reads XML into [`ast`], and reports whatever it doesn't keep: an element or an attribute that would
//! change what the machine does and is left out makes another machine. Names are as written; [`crate::lower`] resolves
//! them. Source: *State Chart XML (SCXML): State Machine Notation for Control Abstraction*, W3C, 2015.
//!
//! Elements of other namespaces are read over where they only describe (an editor's places and colors), and refused among
//! actions, where they would do something. Our own namespace, [`NAMESPACE`], has what SCXML has no words for.
//!
//! Deliberately not here: expressions. A condition is kept as the text that its author wrote, with its places.

pub mod ast;
mod content;
mod limits;
pub(crate) mod messages;
mod reader;
mod script;
mod structure;

use roxmltree::{Document as Xml, Error, ParsingOptions};

use statemark_text::markup::push_escaped;

use crate::diag::{Code, Diagnostic, Diags};
use crate::source::{FileId, Span, narrow};
use reader::Reader;
pub(crate) use reader::place_of;
pub use reader::{NAMESPACE, SCXML};

/// Most nodes of a document.
///
/// Unit: elements, texts, comments. Why: it bounds the memory of the tree; a machine of the most states that a table
/// holds has some ten for each.
const MAX_NODES: u32 = 1 << 20;

/// Reads one document. `None` where it isn't XML, or isn't SCXML; the findings say so.
///
/// Nothing is fetched: a document type definition is refused, and `src` isn't followed.
#[must_use]
pub fn parse_scxml(file: FileId, text: &str, diags: &mut Diags) -> Option<ast::Document> {
    if let Some(excess) = limits::find_excess(text) {
        let place = Span {
            file,
            start: narrow(excess.place.start),
            end: narrow(excess.place.end),
        };
        let finding = Diagnostic::new(Code::XmlSyntax, place, excess.message);
        diags.push(finding.label("one too many").help(excess.help));
        return None;
    }
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    let xml = match Xml::parse_with_options(text, options) {
        Ok(xml) => xml,
        Err(error) => {
            let place = error_span(file, text, &error);
            let rest = text.get(place.range().end..).unwrap_or_default();
            diags.push(xml_syntax(place, rest, &error));
            return None;
        }
    };
    let mut reader = Reader::new(file, text, diags);
    structure::document(xml.root_element(), &mut reader)
}

/// Returns the span of the character at which the XML breaks off.
fn error_span(file: FileId, text: &str, error: &Error) -> Span {
    let at = error.pos();
    let line = usize::try_from(at.row).unwrap_or(1).saturating_sub(1);
    let column = usize::try_from(at.col).unwrap_or(1).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = text.get(start..).unwrap_or("");
    let mut letters = rest.char_indices().skip(column);
    let (from, to) = match letters.next() {
        Some((from, letter)) if letter != '\n' => (from, from + letter.len_utf8()),
        Some((from, _)) => (from, from),
        None => (rest.len(), rest.len()),
    };
    Span {
        file,
        start: narrow(start + from),
        end: narrow(start + to),
    }
}

/// Escapes a text as the value of an attribute.
///
/// Characters that XML doesn't have become the replacement character.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => escaped.push_str(&format!("&#{};", u32::from(letter))),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            letter => push_escaped(&mut escaped, letter),
        }
    }
    escaped
}

/// Reports that the XML breaks off there. The rest is unknown, so nothing of the document is read.
///
/// `rest` is the text behind the place.
fn xml_syntax(place: Span, rest: &str, error: &Error) -> Diagnostic {
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
        Error::InvalidChar2(_, b'<', _) | Error::InvalidChar(b'"' | b'\'', b'<', _) => {
            let found =
                finding("`<` isn't allowed in an attribute".to_owned()).label("begins an element");
            // What looks like a tag may be one, behind a quote that is missing.
            if rest.starts_with(|next: char| next.is_alphabetic() || "/!?".contains(next)) {
                return found
                    .help("close the attribute before it, or write `&lt;` if it is a part of it");
            }
            found
                .help("write `&lt;`")
                .safe_fix("write `&lt;`", place, "&lt;")
        }
        Error::MalformedEntityReference(_) | Error::UnknownEntityReference(..) => {
            finding("`&` must be escaped".to_owned())
                .label("begins an entity, which ends with `;`")
                .help("write `&amp;`, so `a &amp;&amp; b` for `a && b`")
        }
        Error::DuplicatedAttribute(name, _) => finding(format!("`{name}` occurs twice"))
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
                .help("mend the XML; nothing after this place is read until then")
        }
    }
}
