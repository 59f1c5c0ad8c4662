//! Elements and attributes with their places.

use roxmltree::Node;

use super::messages::{self, choices};
use crate::diag::{Code, Diagnostic, Diags, nearest};
use crate::excerpt::Excerpt;
use crate::source::{FileId, Span, Spanned, narrow};

/// The namespace of what hosts and front ends of Statemark add to SCXML.
pub const NAMESPACE: &str = "https://github.com/statemark/statemark/scxml";

/// SCXML's own namespace; a document that names none is read all the same.
pub const SCXML: &str = "http://www.w3.org/2005/07/scxml";

/// Deepest nesting that is read.
///
/// Unit: elements. Why: reading recurses; states end at 64 levels, and content inside them adds some more.
pub(super) const MAX_NESTING: usize = 128;

/// The namespace of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// SCXML's, or none.
    Scxml,
    /// Ours.
    Own,
    /// Somebody else's.
    Foreign,
}

/// The text that is read, and where findings go.
pub(super) struct Reader<'t> {
    file: FileId,
    text: &'t str,
    pub(super) diags: &'t mut Diags,
    /// True if expressions are ours, so that what SCXML lets fail is a mistake.
    pub(super) native: bool,
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: FileId, text: &'t str, diags: &'t mut Diags) -> Self {
        Self {
            file,
            text,
            diags,
            native: false,
        }
    }

    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span {
            file: self.file,
            start: narrow(range.start),
            end: narrow(range.end),
        }
    }

    /// Adds a finding.
    pub(super) fn report(&mut self, finding: Diagnostic) {
        self.diags.push(finding);
    }

    /// Returns the index of a value among those that it may have, and reports any other value.
    pub(super) fn choice(
        &mut self,
        value: &Spanned<String>,
        name: &str,
        choices: &[&str],
    ) -> Option<usize> {
        let chosen = choices.iter().position(|choice| *choice == value.value);
        if chosen.is_none() {
            self.report(messages::not_a_choice(value, name, choices));
        }
        chosen
    }

    /// Returns the span of the name in an element's opening tag.
    pub(super) fn tag(&self, node: Node<'_, '_>) -> Span {
        let start = node.range().start + 1;
        let rest = self.text.get(start..node.range().end).unwrap_or("");
        let end = rest
            .find(|letter: char| letter.is_whitespace() || letter == '/' || letter == '>')
            .unwrap_or(rest.len());
        self.span(start..start + end)
    }

    /// Returns the span of an element's opening tag, or of all of it if it is empty.
    pub(super) fn opening(&self, node: Node<'_, '_>) -> Span {
        let range = node.range();
        let end = node
            .first_child()
            .map_or(range.end, |inner| inner.range().start);
        self.span(range.start..end)
    }

    /// Returns the span of a text between elements, without the white space around it.
    pub(super) fn text_span(&self, node: Node<'_, '_>) -> Span {
        let range = node.range();
        let raw = self.text.get(range.clone()).unwrap_or("");
        let start = range.start + (raw.len() - raw.trim_start().len());
        self.span(start..start + raw.trim().len())
    }

    /// Reports attributes of SCXML that aren't in `known`, and attributes of ours that aren't in `own`.
    pub(super) fn expect_attributes(&mut self, node: Node<'_, '_>, known: &[&str], own: &[&str]) {
        for attribute in node.attributes() {
            let allowed = match attribute.namespace() {
                None => known,
                Some(NAMESPACE) => own,
                Some(SCXML) => known,
                Some(_) => continue,
            };
            let constant = plain_name(attribute.name())
                .filter(|plain| allowed.contains(plain) && node.attribute(*plain).is_none())
                .and_then(|_| self.attribute(node, attribute.name()))
                .and_then(|text| quoted(&text));
            if constant.is_none() && !allowed.contains(&attribute.name()) {
                let place = self.span(attribute.range_qname());
                self.diags.push(unread_attribute(
                    place,
                    attribute.name(),
                    node.tag_name().name(),
                    allowed,
                ));
            }
        }
    }

    /// Returns an attribute's decoded value, trimmed.
    pub(super) fn attribute(&self, node: Node<'_, '_>, name: &str) -> Option<Spanned<String>> {
        let range = node.attribute_node(name)?.range_value();
        let mut value = trimmed(&self.decoded(range.clone()));
        if value.value.is_empty() {
            value.span = self.span(range);
        }
        Some(value)
    }

    /// Returns an attribute of our namespace.
    pub(super) fn own_attribute(&self, node: Node<'_, '_>, name: &str) -> Option<Spanned<String>> {
        let attribute = node.attribute_node((NAMESPACE, name))?;
        Some(trimmed(&self.decoded(attribute.range_value())))
    }

    /// Returns an attribute's value with the span of each of its characters.
    pub(super) fn excerpt(&self, node: Node<'_, '_>, name: &str) -> Option<Excerpt> {
        let attribute = node.attribute_node(name)?;
        Some(self.decoded(attribute.range_value()))
    }

    /// Returns the words of an attribute, which white space separates.
    pub(super) fn words(&self, node: Node<'_, '_>, name: &str) -> Option<Vec<Spanned<String>>> {
        self.excerpt(node, name).map(|excerpt| words(&excerpt))
    }

    /// Returns an attribute, or the value of its computed variant if that is a text in quotes.
    pub(super) fn attribute_or_expression(
        &self,
        node: Node<'_, '_>,
        name: &str,
    ) -> Option<Spanned<String>> {
        let computed = computed_name(name).and_then(|twin| self.attribute(node, twin));
        self.attribute(node, name)
            .or_else(|| computed.and_then(|text| quoted(&text)))
    }

    /// Returns the attribute, and reports if it is missing.
    pub(super) fn required(
        &mut self,
        node: Node<'_, '_>,
        name: &str,
        of: fn(&Self, Node<'_, '_>, &str) -> Option<Spanned<String>>,
    ) -> Option<Spanned<String>> {
        let found = of(self, node, name);
        match &found {
            Some(text) if !text.value.is_empty() => return found,
            Some(text) => self.diags.push(messages::empty_attribute(text.span, name)),
            None => {
                let tag = self.tag(node);
                let element = node.tag_name().name();
                let missing = messages::missing_attribute(tag, element, name);
                self.diags.push(missing);
            }
        }
        None
    }

    /// Like [`Self::required`], with the span of each character.
    pub(super) fn required_excerpt(&mut self, node: Node<'_, '_>, name: &str) -> Option<Excerpt> {
        self.required(node, name, Self::attribute)?;
        self.excerpt(node, name)
    }

    /// Decodes a range of the file. White space is as XML reads it in attributes.
    pub(super) fn decoded(&self, range: std::ops::Range<usize>) -> Excerpt {
        let mut excerpt = Excerpt::new(self.file);
        let mut at = range.start;
        while let Some(rest) = self.text.get(at..range.end) {
            let Some(letter) = rest.chars().next() else {
                break;
            };
            let source = narrow(at);
            let entity = (letter == '&').then(|| entity(rest)).flatten();
            if let Some((meant, length)) = entity {
                excerpt.push(meant.encode_utf8(&mut [0; 4]), source);
                at += length;
                continue;
            }
            if letter.is_ascii_whitespace() {
                excerpt.push(" ", source);
                at += if rest.starts_with("\r\n") { 2 } else { 1 };
                continue;
            }
            // A run of plain letters is one piece.
            let run = rest
                .find(|c: char| c == '&' || c.is_ascii_whitespace())
                .filter(|&run| run > 0)
                .unwrap_or(if letter == '&' { 1 } else { rest.len() });
            excerpt.push(rest.get(..run).unwrap_or(""), source);
            at += run;
        }
        excerpt
    }
}

/// Returns the span of a text, without the white space around it.
pub(crate) fn place_of(text: &Excerpt) -> Span {
    trimmed(text).span
}

/// Returns the text between two elements, without its white space.
pub(super) fn trimmed(excerpt: &Excerpt) -> Spanned<String> {
    let text = excerpt.text();
    let start = text.len() - text.trim_start().len();
    let range = start..start + text.trim().len();
    Spanned::new(text.trim().to_owned(), excerpt.span(range))
}

/// Returns the text of a literal in quotes.
fn quoted(text: &Spanned<String>) -> Option<Spanned<String>> {
    let quote = text
        .value
        .chars()
        .next()
        .filter(|c| matches!(c, '\'' | '"'))?;
    let inner = text.value.strip_prefix(quote)?.strip_suffix(quote)?;
    let is_plain = !inner.contains([quote, '\\']);
    is_plain.then(|| Spanned::new(inner.to_owned(), text.span))
}

fn words(excerpt: &Excerpt) -> Vec<Spanned<String>> {
    let text = excerpt.text();
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split(' ') {
        if !word.is_empty() {
            let span = excerpt.span(at..at + word.len());
            found.push(Spanned::new(word.to_owned(), span));
        }
        at += word.len() + 1;
    }
    found
}

/// Returns the character of an entity at the start of a text, and the entity's length.
fn entity(text: &str) -> Option<(char, usize)> {
    let (name, _) = text.strip_prefix('&')?.split_once(';')?;
    let meant = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((meant, name.len() + 2))
}

/// Returns the namespace of an element.
pub(super) fn space(node: Node<'_, '_>) -> Space {
    match node.tag_name().namespace() {
        None | Some(SCXML) => Space::Scxml,
        Some(NAMESPACE) => Space::Own,
        Some(_) => Space::Foreign,
    }
}

/// SCXML's attributes that hold what is only known when the machine runs.
const COMPUTED: &[(&str, &str)] = &[
    ("eventexpr", "event"),
    ("targetexpr", "target"),
    ("typeexpr", "type"),
    ("delayexpr", "delay"),
    ("sendidexpr", "sendid"),
];

/// Returns the computed variant of a plain attribute.
fn computed_name(plain: &str) -> Option<&'static str> {
    let mut pairs = COMPUTED.iter();
    pairs.find(|pair| pair.1 == plain).map(|pair| pair.0)
}

/// Returns the plain variant of a computed attribute.
fn plain_name(computed: &str) -> Option<&'static str> {
    let mut pairs = COMPUTED.iter();
    pairs.find(|pair| pair.0 == computed).map(|pair| pair.1)
}

/// Reports that an element has an attribute that isn't read.
fn unread_attribute(place: Span, name: &str, element: &str, known: &[&str]) -> Diagnostic {
    let finding = |why: &str| {
        let message = format!("`{name}` of `<{element}>` isn't read");
        Diagnostic::new(Code::UnreadAttribute, place, message).label(why.to_owned())
    };
    if let Some(plain) = plain_name(name) {
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
        Some(suggestion) => finding.did_you_mean(suggestion, place, ""),
        None if known.is_empty() => finding.help("remove it"),
        None => finding.help(format!(
            "remove it; `<{element}>` may have {}",
            choices(known)
        )),
    }
}
