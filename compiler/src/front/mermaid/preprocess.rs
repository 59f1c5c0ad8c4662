//! Mermaid's pre-processing: line ends, front matter, directives, comments, entities.
//!
//! Parts are cut out of the [`Excerpt`], so that the rest keeps its spans. Where Mermaid replaces a text by one of
//! another length, a character of the original length takes its place that no lexer rule knows. The working text and
//! the excerpt agree byte for byte in their offsets.

use std::ops::Range;

use super::front_matter::{self, FrontMatter};
use super::lex::rule::{is_line_end, is_space, is_word, space0, word1};
use crate::diag::Diags;
use crate::excerpt::Excerpt;
use crate::source::Span;

/// The stand-in for the `#` of an entity; like Mermaid's own, it can be part of an id.
const ENTITY_START: u8 = 1;

/// The stand-in for the `;` of an entity.
const ENTITY_END: u8 = 2;

/// A diagram ready for the lexer.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The rest of the excerpt.
    pub(super) excerpt: Excerpt,
    /// The text of the excerpt as the lexer gets it, with a line end added.
    pub(super) text: String,
    /// The directives without a closing `}%%`.
    pub(super) open_directives: Vec<OpenDirective>,
    /// The front matter, if there is any, in the excerpt `with_front_matter`.
    pub(super) front_matter: Option<FrontMatter>,
    /// The excerpt with its front matter and with plain line ends.
    pub(super) with_front_matter: Excerpt,
    /// The line end of the file, which the text here has not.
    pub(super) line_end: &'static str,
}

/// A directive without a closing `}%%`.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenDirective {
    /// The span of its `%%{`.
    pub(super) sign: Span,
    /// The span of everything that Mermaid takes for it.
    pub(super) whole: Span,
    /// Set if a `}%%` follows on its last line.
    pub(super) ends_early: bool,
}

/// Prepares a diagram.
pub(super) fn prepare(excerpt: &Excerpt) -> Prepared {
    let lined = excerpt.without(&find_carriage_returns(excerpt.text()));
    let text = normalize(lined.text());
    let front_matter = front_matter::find(&text);
    let mut work = Work {
        excerpt: lined.clone(),
        text,
    };
    if let Some(found) = &front_matter {
        work.cut(vec![found.whole.clone()]);
    }
    let cut = find_directives(&work.text);
    let open_directives = cut.iter().filter_map(|range| work.open_directive(range));
    let open_directives = open_directives.collect();
    work.cut(cut);
    work.cut(find_comments(&work.text));
    let blank = work.text.len() - work.text.trim_start_matches(is_space).len();
    work.cut(std::iter::once(0..blank).collect());
    for word in ["style", "classDef"] {
        work.cut(find_style_ends(&work.text, word));
    }
    let mut text = hide_entities(work.text);
    text.push('\n');
    Prepared {
        excerpt: work.excerpt,
        text,
        open_directives,
        front_matter,
        with_front_matter: lined,
        line_end: line_end(excerpt),
    }
}

/// Returns the line end of the file that an excerpt is of, which the excerpt of a fence has not.
fn line_end(excerpt: &Excerpt) -> &'static str {
    let text = excerpt.text();
    let first = text.find('\n').filter(|&at| at > 0);
    let is_left_out = |at: usize| excerpt.span(at - 1..at).end < excerpt.span(at..at + 1).start;
    let is_long = first.is_some_and(|at| {
        text.get(..at).is_some_and(|line| line.ends_with('\r')) || is_left_out(at)
    });
    match is_long {
        true => "\r\n",
        false => "\n",
    }
}

/// Reports front matter that Mermaid doesn't find, and skips to the header.
pub(super) fn skip_broken_front_matter(prepared: &mut Prepared, diags: &mut Diags) {
    if !prepared.text.starts_with("---") {
        return;
    }
    let fence = prepared.excerpt.span(0..3);
    let end = || end_of_block(&prepared.text).unwrap_or(prepared.text.len());
    let cut = super::header_line(&prepared.text).unwrap_or_else(end);
    let before = prepared.text.get(..cut).unwrap_or("");
    let mut after = before.lines().skip(1);
    let closing = after.position(|line| line.trim() == "---");
    let is_first = prepared.front_matter.is_none().then(|| {
        let whole = prepared.with_front_matter.text();
        whole.trim_start_matches(is_space).starts_with("---")
    });
    diags.push(match (closing, is_first) {
        (Some(0), Some(true)) => {
            let end = before
                .match_indices("---")
                .nth(1)
                .map_or(3, |(at, _)| at + 3);
            // Up to the text of the next line: what its container has before it stays once.
            let text = prepared.excerpt.text();
            let next = text.get(end..).and_then(|rest| rest.find('\n'));
            let next = next.map(|at| end + at + 1).filter(|&at| at < text.len());
            let fences = prepared.excerpt.span(0..end);
            let next = next.map(|at| prepared.excerpt.span(at..at + 1).before());
            front_matter::empty_front_matter(fences, next.map_or(fences, |it| fences.to(it)))
        }
        (Some(_), Some(_)) => front_matter::front_matter_not_first(fence),
        _ => front_matter::unclosed_front_matter(fence),
    });
    prepared.excerpt = prepared.excerpt.without(std::slice::from_ref(&(0..cut)));
    prepared.text = prepared.text.get(cut..).unwrap_or("").to_owned();
}

/// Returns the offset after the second `---` line of a text that begins with one.
fn end_of_block(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut fences = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        fences += usize::from(line.trim() == "---");
        if fences == 2 {
            return Some(at);
        }
    }
    None
}

/// Returns whether Mermaid takes a prepared text for a state diagram.
///
/// Mermaid's test is `/^\s*stateDiagram/`, after another removal of comments.
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
    /// Returns a directive if it isn't closed.
    fn open_directive(&self, range: &Range<usize>) -> Option<OpenDirective> {
        let text = self.text.get(range.clone()).unwrap_or("");
        let after = self.text.get(range.end..).unwrap_or("");
        let line = after.split(is_line_end).next().unwrap_or("");
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

/// Finds the `\r` of each `\r\n`.
fn find_carriage_returns(text: &str) -> Vec<Range<usize>> {
    if !text.contains('\r') {
        return Vec::new();
    }
    text.match_indices("\r\n")
        .map(|(at, _)| at..at + 1)
        .collect()
}

/// Normalizes line ends and quotes.
///
/// Each remaining `\r` becomes a line end, and double quotes around attributes of tags become single ones.
fn normalize(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for byte in &mut bytes {
        if *byte == b'\r' {
            *byte = b'\n';
        }
    }
    if text.contains("=\"") {
        for range in find_tags(text) {
            for quote in find_attribute_quotes(text, range) {
                if let Some(byte) = bytes.get_mut(quote) {
                    *byte = b'\'';
                }
            }
        }
    }
    // Only ASCII replaces ASCII, so this never fails.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Finds the text between `<tag` and the next `>`: `/<(\w+)([^>]*)>/g`.
fn find_tags(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('<')) {
        let inside = from + at + 1;
        from = inside;
        let rest = text.get(inside..).unwrap_or("");
        if !rest.starts_with(is_word) {
            continue;
        }
        // Without a `>` ahead there is no further tag.
        let Some(length) = rest.find('>') else {
            break;
        };
        found.push(inside..inside + length);
        from = inside + length;
    }
    found
}

/// Finds the quotes of `="…"` in a range.
fn find_attribute_quotes(text: &str, range: Range<usize>) -> Vec<usize> {
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

/// Finds directives, `%%{…}%%` over lines, as Mermaid's expression really matches them.
///
/// The end can be missing. Then a name is all, or everything up to the end of the text.
pub(super) fn find_directives(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("%%{")) {
        let start = from + at;
        match skip_directive(text.get(start + 3..).unwrap_or("")) {
            Some(rest) => {
                found.push(start..text.len() - rest.len());
                from = text.len() - rest.len();
            }
            None => from = start + 1,
        }
    }
    found
}

/// Skips a directive from after its `%%{`.
fn skip_directive(input: &str) -> Option<&str> {
    let (input, _) = space0(input).ok()?;
    let (rest, _) = word1(input).ok()?;
    let (after, _) = space0(rest).ok()?;
    let rest = after.strip_prefix(':').unwrap_or(rest);
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

/// Finds lines that hold only a comment, with the blank lines before them.
///
/// Mermaid's expression is `/^\s*%%(?!{)[^\n]+\n?/gm`.
pub(super) fn find_comments(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains("%%") {
        return found;
    }
    let mut from = 0;
    loop {
        let rest = text.get(from..).unwrap_or("");
        let after = rest.trim_start_matches(is_space);
        let at = text.len() - after.len();
        let is_comment = after.starts_with("%%")
            && after
                .get(2..)
                .is_some_and(|body| !body.is_empty() && !body.starts_with(['{', '\n']));
        if is_comment {
            let line_end = at + after.find('\n').map_or(after.len(), |end| end + 1);
            found.push(from..line_end);
            from = line_end;
        } else {
            // `^` also matches after the line ends that only JavaScript knows.
            let next = after
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
    // Only ASCII replaces ASCII, so this never loses a text.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Restores the signs of entities in a piece of the lexer's text.
///
/// `original` is the same piece of the excerpt.
pub(super) fn show_entities(text: &str, original: &str) -> String {
    let shown = text.chars().zip(original.chars());
    let is_stand_in = |c: char| matches!(u8::try_from(c), Ok(ENTITY_START | ENTITY_END));
    shown
        .map(|(c, original)| if is_stand_in(c) { original } else { c })
        .collect()
}

/// Finds the `;` that a line loses before entities are encoded.
///
/// It is the last one of `/style.*:\S*#.*;/g`, and likewise for `classDef`.
fn find_style_ends(text: &str, word: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains(word) {
        return found;
    }
    let mut start = 0;
    for line in text.split_inclusive(is_line_end) {
        let after = line.split_once(word).map_or("", |(_, after)| after);
        if let Some((body, _)) = after.rsplit_once(';')
            && has_color(body)
        {
            let at = start + line.rfind(';').unwrap_or(0);
            found.push(at..at + 1);
        }
        start += line.len();
    }
    found
}

/// Returns whether a text matches `/:\S*#/`.
fn has_color(text: &str) -> bool {
    let mut words = text.split(is_space);
    words.any(|word| {
        word.split_once(':')
            .is_some_and(|(_, rest)| rest.contains('#'))
    })
}
