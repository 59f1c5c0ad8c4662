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
mod reader;
mod report;
mod root;
mod script;
mod structure;

use roxmltree::{Document as Xml, ParsingOptions};

use crate::diag::Diags;
use crate::source::{FileId, Span, narrow};
use reader::Reader;

pub(crate) use report::{
    always_fails, bad_attribute, foreign_expression, idle_cancel, illegal_targets,
    misplaced_content, missing_part,
};

/// The namespace of what hosts and faces of Statemark add to SCXML.
pub const NAMESPACE: &str = "https://github.com/statemark/statemark/scxml";

/// SCXML's own namespace; a document that names none is read all the same.
pub const SCXML: &str = "http://www.w3.org/2005/07/scxml";

/// Most nodes of a document. Unit: elements, texts, comments. Why: it bounds the memory of the tree; a machine of the
/// most states that a table holds has some ten for each.
const MAX_NODES: u32 = 1 << 20;

/// Reads one document. `None` where it isn't XML, or isn't SCXML; the findings say so.
///
/// Nothing is fetched: a document type definition is refused, and `src` isn't followed.
#[must_use]
pub fn parse_scxml(file: FileId, text: &str, diags: &mut Diags) -> Option<ast::Document> {
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    let xml = match Xml::parse_with_options(text, options) {
        Ok(xml) => xml,
        Err(error) => {
            diags.push(report::xml_syntax(place(file, text, &error), &error));
            return None;
        }
    };
    let mut reader = Reader::new(file, text, diags);
    structure::document(xml.root_element(), &mut reader)
}

/// The character at which the XML breaks off.
fn place(file: FileId, text: &str, error: &roxmltree::Error) -> Span {
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

/// The place of a text, without the white space around it.
pub(crate) fn place_of(text: &crate::excerpt::Excerpt) -> Span {
    reader::trimmed(text).span
}

/// A text as the value of an attribute. Characters that XML doesn't have become the sign for such a one.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\r' | '\t' => escaped.push_str(&format!("&#{};", u32::from(letter))),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}
