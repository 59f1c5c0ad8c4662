//! What Mermaid does to a text before it lexes it: line ends, front matter, directives, comments, entities.
//!
//! Parts are cut out of the [`Excerpt`], so that what is left still knows its place in the file. Where Mermaid replaces a
//! text by one of another length, a character of the same length stands in here that no rule of the lexer knows: the
//! working text and the excerpt agree byte for byte in their offsets.

use std::ops::Range;

use super::front_matter::{self, FrontMatter};
use super::lex::rule::{is_line_end, is_space, is_word, space0, word1};
use crate::excerpt::Excerpt;
use crate::source::Span;

/// Stands for the `#` of an entity, and is part of an id as Mermaid's own stand-in is.
const ENTITY_START: u8 = 1;

/// Stands for the `;` of an entity.
const ENTITY_END: u8 = 2;

/// A diagram ready for the lexer.
#[derive(Debug)]
pub(super) struct Prepared {
    /// What is left of the excerpt.
    pub(super) excerpt: Excerpt,
    /// The same text as the lexer shall see it, and a line end behind it.
    pub(super) text: String,
    /// The directives that don't end in `}%%`.
    pub(super) open_directives: Vec<OpenDirective>,
    /// The front matter, where there was one, in the excerpt `with_front_matter`.
    pub(super) front_matter: Option<FrontMatter>,
    /// The excerpt with its front matter and with plain line ends.
    pub(super) with_front_matter: Excerpt,
}

/// A directive that doesn't end in `}%%`.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenDirective {
    /// Its `%%{`.
    pub(super) sign: Span,
    /// All that is taken for it.
    pub(super) whole: Span,
    /// Whether a `}%%` follows on its last line.
    pub(super) ends_early: bool,
}

/// Prepares a diagram.
pub(super) fn prepare(excerpt: &Excerpt) -> Prepared {
    let lined = excerpt.without(&carriage_returns(excerpt.text()));
    let text = clean(lined.text());
    let front_matter = front_matter::find(&text);
    let mut work = Work {
        excerpt: lined.clone(),
        text,
    };
    if let Some(found) = &front_matter {
        work.cut(vec![found.whole.clone()]);
    }
    let cut = directives(&work.text);
    let open_directives = cut.iter().filter_map(|range| work.open_directive(range));
    let open_directives = open_directives.collect();
    work.cut(cut);
    work.cut(comments(&work.text));
    let blank = work.text.len() - work.text.trim_start_matches(is_space).len();
    work.cut(std::iter::once(0..blank).collect());
    for word in ["style", "classDef"] {
        work.cut(style_ends(&work.text, word));
    }
    let mut text = hide_entities(work.text);
    text.push('\n');
    Prepared {
        excerpt: work.excerpt,
        text,
        open_directives,
        front_matter,
        with_front_matter: lined,
    }
}

/// Whether Mermaid takes a prepared text for a state diagram: `/^\s*stateDiagram/`, after another look at the comments.
pub(super) fn is_detected(text: &str) -> bool {
    let mut rest = text.trim_start_matches(is_space);
    while rest.starts_with("%%") {
        let line_end = rest.find('\n').unwrap_or(rest.len());
        rest = rest
            .get(line_end..)
            .unwrap_or("")
            .trim_start_matches(is_space);
    }
    rest.starts_with("stateDiagram")
}

struct Work {
    excerpt: Excerpt,
    text: String,
}

impl Work {
    /// A directive as one that isn't closed, if it isn't.
    fn open_directive(&self, range: &Range<usize>) -> Option<OpenDirective> {
        let text = self.text.get(range.clone()).unwrap_or("");
        let behind = self.text.get(range.end..).unwrap_or("");
        let line = behind.split(is_line_end).next().unwrap_or("");
        (!text.ends_with("}%%")).then(|| OpenDirective {
            sign: self.excerpt.span(range.start..range.start + 3),
            whole: self
                .excerpt
                .span(range.start..range.start + text.trim_end().len()),
            ends_early: line.contains("}%%"),
        })
    }

    fn cut(&mut self, ranges: Vec<Range<usize>>) {
        if ranges.iter().all(Range::is_empty) {
            return;
        }
        self.excerpt = self.excerpt.without(&ranges);
        let mut kept = String::with_capacity(self.text.len());
        let mut from = 0;
        for range in ranges {
            kept.push_str(self.text.get(from..range.start).unwrap_or(""));
            from = range.end;
        }
        kept.push_str(self.text.get(from..).unwrap_or(""));
        self.text = kept;
    }
}

/// The `\r` of each `\r\n`.
fn carriage_returns(text: &str) -> Vec<Range<usize>> {
    if !text.contains('\r') {
        return Vec::new();
    }
    text.match_indices("\r\n")
        .map(|(at, _)| at..at + 1)
        .collect()
}

/// Makes a line end of each `\r` that is left, and single quotes of the double ones around attributes of tags.
fn clean(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for byte in &mut bytes {
        if *byte == b'\r' {
            *byte = b'\n';
        }
    }
    if text.contains("=\"") {
        for range in tags(text) {
            for quote in attribute_quotes(text, range) {
                if let Some(byte) = bytes.get_mut(quote) {
                    *byte = b'\'';
                }
            }
        }
    }
    // Only ASCII stood in for ASCII, so this never gives up.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// What stands between `<tag` and the next `>`: `/<(\w+)([^>]*)>/g`.
fn tags(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('<')) {
        let inside = from + at + 1;
        from = inside;
        let rest = text.get(inside..).unwrap_or("");
        if !rest.starts_with(is_word) {
            continue;
        }
        // Without a `>` ahead there is no further tag either.
        let Some(length) = rest.find('>') else {
            break;
        };
        found.push(inside..inside + length);
        from = inside + length;
    }
    found
}

/// The quotes of `="…"` in a range.
fn attribute_quotes(text: &str, range: Range<usize>) -> Vec<usize> {
    let mut quotes = Vec::new();
    let mut from = range.start;
    while let Some(at) = text.get(from..range.end).and_then(|rest| rest.find("=\"")) {
        let first = from + at + 1;
        let Some(length) = text
            .get(first + 1..range.end)
            .and_then(|rest| rest.find('"'))
        else {
            break;
        };
        quotes.extend([first, first + 1 + length]);
        from = first + length + 2;
    }
    quotes
}

/// `%%{…}%%`, over lines, as Mermaid's expression really matches: the end may be missing, and then a name is all, or
/// everything up to the end of the text.
pub(super) fn directives(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("%%{")) {
        let start = from + at;
        match directive(text.get(start + 3..).unwrap_or("")) {
            Some(rest) => {
                found.push(start..text.len() - rest.len());
                from = text.len() - rest.len();
            }
            None => from = start + 1,
        }
    }
    found
}

/// Passes over a directive behind its `%%{`.
fn directive(input: &str) -> Option<&str> {
    let (input, _) = space0(input).ok()?;
    let (rest, _) = word1(input).ok()?;
    let (behind, _) = space0(rest).ok()?;
    let rest = behind.strip_prefix(':').unwrap_or(rest);
    let (rest, _) = space0(rest).ok()?;
    let rest = match word1(rest) {
        Ok((rest, _)) => rest,
        Err(_) => {
            let stop = rest.find("}%%").unwrap_or(rest.len());
            let dotless = |c: char| is_line_end(c) && c != '\n';
            let stop = rest
                .get(..stop)
                .and_then(|text| text.find(dotless))
                .unwrap_or(stop);
            rest.get(stop..).unwrap_or("")
        }
    };
    let (rest, _) = space0(rest).ok()?;
    Some(rest.strip_prefix("}%%").unwrap_or(rest))
}

/// Lines that are a comment and nothing else, with the blank lines in front of them: `/^\s*%%(?!{)[^\n]+\n?/gm`.
pub(super) fn comments(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains("%%") {
        return found;
    }
    let mut from = 0;
    loop {
        let rest = text.get(from..).unwrap_or("");
        let behind = rest.trim_start_matches(is_space);
        let at = text.len() - behind.len();
        let is_comment = behind.starts_with("%%")
            && behind
                .get(2..)
                .is_some_and(|body| !body.is_empty() && !body.starts_with(['{', '\n']));
        if is_comment {
            let line_end = at + behind.find('\n').map_or(behind.len(), |end| end + 1);
            found.push(from..line_end);
            from = line_end;
        } else {
            // `^` also stands behind the line ends that only JavaScript knows.
            let next = behind
                .char_indices()
                .find(|&(_, c)| is_line_end(c))
                .map(|(end, c)| at + end + c.len_utf8());
            from = next.unwrap_or(text.len());
        }
        if from >= text.len() {
            return found;
        }
    }
}

/// Puts the stand-ins where Mermaid encodes entities.
fn hide_entities(text: String) -> String {
    if !text.contains('#') {
        return text;
    }
    let mut bytes = text.into_bytes();
    let mut start = None;
    for at in 0..bytes.len() {
        let byte = bytes.get(at).copied().unwrap_or(0);
        match (byte, start) {
            (b'#', _) => start = Some(at),
            (b';', Some(from)) if at > from + 1 => {
                for (place, stand_in) in [(from, ENTITY_START), (at, ENTITY_END)] {
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte = stand_in;
                    }
                }
                start = None;
            }
            (b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => {}
            _ => start = None,
        }
    }
    // Only ASCII stood in for ASCII, so this never loses a text.
    String::from_utf8(bytes).unwrap_or_default()
}

/// A piece of the text that the lexer sees, with the signs of entities as `original`, the same piece of the excerpt, has
/// them.
pub(super) fn show_entities(text: &str, original: &str) -> String {
    let shown = text.chars().zip(original.chars());
    let is_stand_in = |c: char| matches!(u8::try_from(c), Ok(ENTITY_START | ENTITY_END));
    shown
        .map(|(c, original)| if is_stand_in(c) { original } else { c })
        .collect()
}

/// The `;` that a line loses in front of entities: the last one of `/style.*:\S*#.*;/g`, and the same for `classDef`.
fn style_ends(text: &str, word: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains(word) {
        return found;
    }
    let mut start = 0;
    for line in text.split_inclusive(is_line_end) {
        let behind = line.split_once(word).map_or("", |(_, behind)| behind);
        if let Some((body, _)) = behind.rsplit_once(';')
            && has_color(body)
        {
            let at = start + line.rfind(';').unwrap_or(0);
            found.push(at..at + 1);
        }
        start += line.len();
    }
    found
}

/// Whether a text matches `/:\S*#/`.
fn has_color(text: &str) -> bool {
    let mut words = text.split(is_space);
    words.any(|word| {
        word.split_once(':')
            .is_some_and(|(_, rest)| rest.contains('#'))
    })
}
