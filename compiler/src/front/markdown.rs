//! Markdown documents.
//!
//! [`parse_document`] finds the `## STATE-MACHINE` sections of a document and the content of them: the diagram's fence, the
//! definition's fence, the instructions of states. What a fence says is other front ends' business; they get it as an
//! [`Excerpt`], so that each of its bytes still knows its place in the file.
//!
//! Rely on this: a heading inside a fence is text, spans are right in lists, block quotes, blocks of MkDocs, with tabs, CRLF
//! and a byte order mark, and a document that doesn't speak of a state machine costs one scan and
//! a look at the lines that begin with `#`.
//!
//! Deliberately not here: whether a section has what a machine needs. An empty one is a later stage's finding.

pub mod document;
mod fence;
mod front_matter;
mod heading;
mod mkdocs;
mod outline;
pub(crate) mod remarks;
mod sections;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::diag::Diags;
use crate::excerpt::Excerpt;
use crate::front::mermaid::announces_state_diagram;
use crate::front::words::to_nfc;
use crate::source::{FileId, Span, Spanned, narrow};
use document::Document;
use outline::BlockKind;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Reads what a Markdown document says about machines.
///
/// `text` is the whole text of `file`; every span of the answer is a range of its bytes. Never fails: what is wrong with
/// a section is among its own findings, the rest is pushed onto `diags`, and the answer has whatever could be read all the
/// same. If every diagram is checked (`checks_all`), a heading that may be nothing but a heading is no finding.
///
/// ```
/// use statemark_compiler::diag::Diags;
/// use statemark_compiler::front::markdown::parse_document;
/// use statemark_compiler::source::Sources;
///
/// let text = "## STATE-MACHINE: order\n\n```json definition\n{}\n```\n";
/// let mut sources = Sources::new();
/// let file = sources.add("SPEC.md", text);
/// let mut diags = Diags::new();
/// let document = parse_document(file, text, false, &mut diags);
/// let section = &document.sections[0];
/// assert_eq!(section.name.as_ref().unwrap().value, "order");
/// assert_eq!(section.definition.as_ref().unwrap().text.text(), "{}\n");
/// ```
pub fn parse_document(file: FileId, text: &str, checks_all: bool, diags: &mut Diags) -> Document {
    if !speaks_of_state_machines(text) && !has_near_miss(text) {
        return Document::default();
    }
    let (front, body) = front_matter::split(text);
    let outline = outline::read(file, text, body);
    let sections = sections::gather(file, text, &outline, checks_all, diags);
    let mut document = Document {
        sections,
        ..Document::default()
    };
    if let Some(front) = front.filter(|_| !document.sections.is_empty()) {
        front_matter::read(file, text, front, &mut document, diags);
    }
    document
}

/// Returns the Mermaid state diagrams of a document that aren't a machine's, in the order of the text.
///
/// `document` has its sections, as [`parse_document`] read them.
#[must_use]
pub fn other_diagrams(file: FileId, text: &str, document: &Document) -> Vec<Excerpt> {
    let (_, body) = front_matter::split(text);
    let outline = outline::read(file, text, body);
    let of_machines: Vec<Span> = document
        .sections
        .iter()
        .filter_map(|section| Some(section.diagram.as_ref()?.full_span()))
        .collect();
    let fences = outline
        .blocks
        .into_iter()
        .filter_map(|block| match block.kind {
            BlockKind::Fence(fence) => Some(fence),
            BlockKind::Heading(_) | BlockKind::Unspaced(_) => None,
        });
    fences
        .filter(|fence| fence::language(text, fence) == fence::Language::Mermaid)
        .filter(|fence| announces_state_diagram(fence.text.text()))
        .map(|fence| match fence::overrun(&fence) {
            Some(line) => fence.text.slice(0..line.start),
            None => fence.text,
        })
        .filter(|diagram| !of_machines.contains(&diagram.full_span()))
        .collect()
}

/// Returns the code spans of a document's prose: each text between its backticks, with its place.
///
/// One whose text isn't in the file byte for byte, because a line ends within it, is left out.
#[must_use]
pub fn code_spans(file: FileId, text: &str) -> Vec<Spanned<String>> {
    let (_, body) = front_matter::split(text);
    let source = text.get(body..).unwrap_or_default();
    let read = mkdocs::as_lists(source);
    let parser = Parser::new_ext(&read, Options::empty()).into_offset_iter();
    parser
        .filter_map(|(event, range)| {
            let Event::Code(code) = event else {
                return None;
            };
            let at = source.get(range.clone())?.find(&*code)?;
            let start = narrow(body + range.start + at);
            let end = start + narrow(code.len());
            Some(Spanned::new(code.to_string(), Span { file, start, end }))
        })
        .collect()
}

/// Returns the words of a document's prose, and the texts between its backticks.
///
/// What is in fences is none of it.
pub(crate) fn prose_words(text: &str) -> BTreeSet<String> {
    let (_, body) = front_matter::split(text);
    let mut words = BTreeSet::new();
    let mut is_code = false;
    let read = mkdocs::as_lists(text.get(body..).unwrap_or_default());
    for event in Parser::new_ext(&read, Options::empty()) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Code(code) => {
                words.insert(to_nfc(&code).into_owned());
            }
            Event::Text(prose) if !is_code => {
                let prose = to_nfc(&prose);
                let separate = |sign: char| !(sign.is_alphanumeric() || sign == '_');
                words.extend(prose.split(separate).map(str::to_owned));
            }
            _ => {}
        }
    }
    words
}

/// Returns true if a line looks like the heading of a section but for a typing error.
///
/// Only lines that begin with `#`, after the signs of quotes and lists, are looked at: they are few.
fn has_near_miss(text: &str) -> bool {
    let is_prefix = |sign: char| matches!(sign, ' ' | '\t' | '>' | '-' | '*' | '+');
    text.lines()
        .map(|line| line.trim_start_matches(is_prefix))
        .any(|line| line.starts_with('#') && heading::is_near_miss(line))
}

/// Returns true if the words "state" and "machine" follow each other somewhere, in any case.
///
/// At most a few bytes that aren't letters may be between them. Every heading that this front end has an opinion about
/// holds them so, but for those with a typing error.
fn speaks_of_state_machines(text: &str) -> bool {
    /// Most bytes between the two words.
    ///
    /// Unit: bytes. Why: room for markup (`**`, `__`), a dash of three bytes, and blanks.
    const GAP: usize = 8;
    let starts_with = |bytes: &[u8], word: &[u8]| {
        bytes
            .get(..word.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b's' | b'S')) {
        rest = rest.get(at..).unwrap_or_default();
        if starts_with(rest, b"state") {
            let after = rest.get(5..).unwrap_or_default();
            let gap = after
                .iter()
                .take(GAP)
                .take_while(|byte| !byte.is_ascii_alphanumeric())
                .count();
            if starts_with(after.get(gap..).unwrap_or_default(), b"machine") {
                return true;
            }
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}
