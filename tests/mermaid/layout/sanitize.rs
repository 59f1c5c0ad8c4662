//! Texts as Mermaid shows them: harmless HTML is kept, and everything else is escaped or dropped.
//!
//! Mermaid gives each text to DOMPurify, which parses it as a browser would and writes it again. This module does so for
//! the HTML that labels hold: elements of running text, their common attributes, entities, comments. A text without a `<`
//! stays unchanged.
//!
//! Deliberately not here: how a browser repairs tables, forms and crossed tags, and drawings inside of labels.

use statemark_compiler::front::mermaid::entity;

/// Elements without an end.
const VOID: [&str; 6] = ["br", "hr", "img", "input", "wbr", "area"];

/// Elements that are kept, in addition to those of [`VOID`].
const KEPT: [&str; 55] = [
    "a",
    "abbr",
    "acronym",
    "address",
    "b",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "button",
    "center",
    "cite",
    "code",
    "data",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "i",
    "ins",
    "kbd",
    "label",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "tt",
    "u",
    "ul",
    "var",
];

/// Elements that end a paragraph.
const BLOCKS: [&str; 19] = [
    "address",
    "blockquote",
    "center",
    "details",
    "div",
    "dl",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "ol",
    "p",
    "pre",
    "ul",
];

/// Elements that are dropped together with their contents.
const DROPPED: [&str; 9] = [
    "script", "style", "title", "noscript", "iframe", "noembed", "noframes", "xmp", "template",
];

/// Attributes that are kept, in addition to `data-…` and `aria-…`.
const ATTRIBUTES: [&str; 23] = [
    "align", "alt", "border", "cite", "class", "color", "dir", "face", "height", "hidden", "href",
    "id", "label", "lang", "name", "rel", "role", "size", "src", "style", "title", "value",
    "width",
];

/// Sanitizes a text as DOMPurify does.
pub(super) fn sanitize(text: &str) -> String {
    if !text.contains('<') {
        return text.to_owned();
    }
    let mut writer = Writer::default();
    let mut rest = text;
    while let Some((before, mark)) = rest.find('<').and_then(|at| rest.split_at_checked(at)) {
        writer.text(before);
        rest = match piece(mark) {
            Some((Piece::Start(tag), after)) => writer.start(&tag, after),
            Some((Piece::End(name), after)) => {
                writer.end(&name);
                after
            }
            Some((Piece::Nothing, after)) => after,
            None => {
                writer.text("<");
                mark.get(1..).unwrap_or("")
            }
        };
    }
    writer.text(rest);
    writer.finish()
}

/// The piece of HTML that a `<` begins.
enum Piece {
    Start(Tag),
    /// The name of an end tag.
    End(String),
    /// A comment, or a tag without an end.
    Nothing,
}

struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

#[derive(Default)]
struct Writer {
    written: String,
    open: Vec<String>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        for c in decode(text).chars() {
            match c {
                '&' => self.written.push_str("&amp;"),
                '<' => self.written.push_str("&lt;"),
                '>' => self.written.push_str("&gt;"),
                '\u{a0}' => self.written.push_str("&nbsp;"),
                '\0' => {}
                other => self.written.push(other),
            }
        }
    }

    /// Writes a start tag, and returns the rest of the text.
    fn start<'t>(&mut self, tag: &Tag, after: &'t str) -> &'t str {
        let name = tag.name.as_str();
        if DROPPED.contains(&name) {
            return after_end_tag(name, after);
        }
        let is_void = VOID.contains(&name);
        if !is_void && !KEPT.contains(&name) {
            return after;
        }
        self.close_before(name);
        self.written.push('<');
        self.written.push_str(name);
        for (name, value) in &tag.attributes {
            let value = value.replace('&', "&amp;").replace('"', "&quot;");
            self.written.push_str(&format!(" {name}=\"{value}\""));
        }
        self.written.push('>');
        if !is_void {
            self.open.push(name.to_owned());
        }
        after
    }

    /// Closes the elements that a start tag closes: a list item closes the item before it, a block the paragraph.
    fn close_before(&mut self, name: &str) {
        let ended = match name {
            "li" => "li",
            "dd" | "dt" => "dd",
            _ if BLOCKS.contains(&name) => "p",
            _ => return,
        };
        let is_ended = |open: &String| open == ended || (ended == "dd" && open == "dt");
        let is_wall = |open: &&String| !matches!(open.as_str(), "ul" | "ol" | "dl" | "div");
        let mut inside = self.open.iter().rev().take_while(is_wall);
        if let Some(open) = inside.find(|open| is_ended(open)).cloned() {
            self.end(&open);
        }
    }

    fn end(&mut self, name: &str) {
        match self.open.iter().rposition(|open| open == name) {
            Some(place) => {
                for name in self.open.drain(place..).rev() {
                    self.written.push_str(&format!("</{name}>"));
                }
            }
            None if name == "br" => self.written.push_str("<br>"),
            None if name == "p" => self.written.push_str("<p></p>"),
            None => {}
        }
    }

    fn finish(mut self) -> String {
        while let Some(name) = self.open.pop() {
            self.written.push_str(&format!("</{name}>"));
        }
        self.written
    }
}

/// Parses the piece that begins with a `<`, and returns the rest. `None` where the `<` is plain text.
fn piece(mark: &str) -> Option<(Piece, &str)> {
    let rest = mark.strip_prefix('<')?;
    if let Some(comment) = rest.strip_prefix("!--") {
        let closed = comment.split_once("-->");
        return Some((Piece::Nothing, closed.map_or("", |(_, after)| after)));
    }
    let skipped = |rest: &'_ str| {
        let end = rest.find('>').map_or(rest.len(), |at| at + 1);
        rest.len() - end
    };
    if rest.starts_with(['!', '?']) {
        let left = skipped(rest);
        return Some((Piece::Nothing, rest.get(rest.len() - left..).unwrap_or("")));
    }
    if let Some(end) = rest.strip_prefix('/') {
        if end.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Some(match tag(end) {
                Some((tag, after)) => (Piece::End(tag.name), after),
                None => (Piece::Nothing, ""),
            });
        }
        if end.is_empty() {
            return None;
        }
        let left = skipped(end);
        return Some((Piece::Nothing, end.get(end.len() - left..).unwrap_or("")));
    }
    if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    Some(match tag(rest) {
        Some((tag, after)) => (Piece::Start(tag), after),
        None => (Piece::Nothing, ""),
    })
}

/// Parses a tag from its name on, and returns the rest. `None` where the text ends before the `>`.
fn tag(text: &str) -> Option<(Tag, &str)> {
    let ends_name = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>');
    let (name, mut rest) = text.split_at_checked(text.find(ends_name)?)?;
    let mut attributes: Vec<(String, String)> = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if let Some(after) = rest.strip_prefix('>') {
            let name = name.to_ascii_lowercase();
            return Some((Tag { name, attributes }, after));
        }
        let (key, after) = rest.split_at_checked(attribute_name(rest)?)?;
        let after = after.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let (value, after) = match after.strip_prefix('=') {
            None => ("", after),
            Some(value) => attribute_value(value)?,
        };
        rest = after;
        let key = key.to_ascii_lowercase();
        let value = decode(value);
        if is_kept(&key, &value) && !attributes.iter().any(|(known, _)| *known == key) {
            attributes.push((key, value));
        }
    }
}

/// Returns the length of an attribute's name. A leading `=` belongs to it.
fn attribute_name(text: &str) -> Option<usize> {
    let ends = |&(at, c): &(usize, char)| {
        c.is_ascii_whitespace() || matches!(c, '/' | '>') || (c == '=' && at > 0)
    };
    text.char_indices().find(ends).map(|(at, _)| at)
}

/// Parses the value after a `=`, and returns the rest.
fn attribute_value(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote);
        }
    }
    let end = text.find(|c: char| c.is_ascii_whitespace() || c == '>')?;
    text.split_at_checked(end)
}

fn is_kept(name: &str, value: &str) -> bool {
    let named = |start: &str| {
        name.strip_prefix(start).is_some_and(|rest| {
            rest.chars()
                .all(|c| c.is_alphanumeric() || c == '-' || c == '_')
        })
    };
    if named("data-") || named("aria-") {
        return true;
    }
    if !ATTRIBUTES.contains(&name) {
        return false;
    }
    let is_link = matches!(name, "href" | "src" | "cite");
    !is_link || is_harmless(value)
}

/// Returns whether a link's scheme is harmless.
fn is_harmless(link: &str) -> bool {
    let schemes = [
        "http:", "https:", "ftp:", "ftps:", "mailto:", "tel:", "sms:",
    ];
    let link = link.trim_start();
    let scheme = |c: char| c.is_ascii_alphabetic() || matches!(c, '+' | '.' | '-');
    schemes.iter().any(|scheme| {
        link.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    }) || !link.trim_start_matches(scheme).starts_with(':')
}

/// Returns the text after the end tag of a dropped element.
fn after_end_tag<'t>(name: &str, text: &'t str) -> &'t str {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("</") {
        let is_end = after
            .get(..name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name));
        if is_end {
            return after.split_once('>').map_or("", |(_, after)| after);
        }
        rest = after;
    }
    ""
}

/// Decodes HTML's own entities: `&lt;`, `&#60;`.
fn decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        decoded.push_str(before);
        let entity = after
            .split_once(';')
            .and_then(|(name, tail)| Some((character(name)?, tail)));
        rest = match entity {
            Some((c, tail)) => {
                decoded.push(c);
                tail
            }
            None => {
                decoded.push('&');
                after
            }
        };
    }
    decoded.push_str(rest);
    decoded
}

/// Returns the character of an entity, named as between its `&` and its `;`.
fn character(name: &str) -> Option<char> {
    let is_digit = |c: char| c.is_ascii_digit();
    let name = match name.strip_prefix('#') {
        Some(number) if number.starts_with(|c: char| is_digit(c) || matches!(c, 'x' | 'X')) => {
            number
        }
        None if !name.starts_with(is_digit) => name,
        _ => return None,
    };
    // Mermaid's entities are HTML's without the `&`.
    let decoded = entity::decode(&format!("#{name};"));
    let mut chars = decoded.chars();
    chars.next().filter(|_| chars.next().is_none())
}
