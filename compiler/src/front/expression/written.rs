//! A text with the way back to the file.
//!
//! An expression is between the brackets of a label, where `#lt;` is a `<`, or in a JSON string, where `\"` is a `"`.
//! [`Written`] looks at the bytes of the file and knows for each byte of the text where it came from. Where the bytes
//! of the file don't spell the text in one of these ways, every part is shown as the whole.

use std::ops::Range;

use crate::excerpt::Excerpt;
use crate::front::mermaid::entity;
use crate::source::{Sources, Span, Spanned, narrow};

/// A text with the place of each of its bytes.
#[derive(Clone, Debug)]
pub struct Written {
    text: String,
    span: Span,
    how: How,
}

/// The encoding of a text in its file.
#[derive(Clone, Debug)]
enum How {
    /// Byte for byte, from the start of the span on.
    Plain,
    /// Byte by byte: the range of the file's bytes, from the start of the span on, that it came from.
    Pieces {
        places: Vec<(u32, u32)>,
        /// True if it is in a JSON string.
        in_json: bool,
    },
    /// Some other way.
    Apart,
}

impl Written {
    /// Takes a text that is byte for byte at its span, or in no file at all.
    #[must_use]
    pub fn plain(text: &Spanned<String>) -> Self {
        Self {
            text: text.value.clone(),
            span: text.span,
            how: How::Plain,
        }
    }

    /// Takes a text between the brackets of a label.
    ///
    /// `is_verbatim` is true if it is byte for byte in the file.
    #[must_use]
    pub fn in_label(words: &Spanned<String>, is_verbatim: bool) -> Self {
        let span = words.span;
        if !words.value.contains('#') {
            return Self {
                text: words.value.clone(),
                span,
                how: if is_verbatim { How::Plain } else { How::Apart },
            };
        }
        let (text, places) = decode_entities(&words.value);
        let how = match (is_verbatim, text == words.value) {
            (true, true) => How::Plain,
            (true, false) => How::Pieces {
                places,
                in_json: false,
            },
            (false, _) => How::Apart,
        };
        Self { text, span, how }
    }

    /// Takes the value of a JSON string, whose span holds its quotes.
    #[must_use]
    pub fn in_json(text: &Spanned<String>, sources: &Sources) -> Self {
        let raw = sources.text(text.span);
        let how = if raw == text.value {
            How::Plain
        } else {
            decode_json(raw, &text.value).map_or(How::Apart, |places| How::Pieces {
                places,
                in_json: true,
            })
        };
        Self {
            text: text.value.clone(),
            span: text.span,
            how,
        }
    }

    /// Takes a text that is in its file in pieces.
    #[must_use]
    pub fn in_excerpt(excerpt: &Excerpt) -> Self {
        let span = excerpt.full_span();
        let place = |at: usize| {
            let place = excerpt.span(at..at + 1);
            let within = |end: u32| end.saturating_sub(span.start);
            (within(place.start), within(place.end))
        };
        Self {
            text: excerpt.text().to_owned(),
            span,
            how: How::Pieces {
                places: (0..excerpt.text().len()).map(place).collect(),
                in_json: false,
            },
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the span of the whole text.
    #[must_use]
    pub fn whole(&self) -> Span {
        self.span
    }

    /// Returns the span of a part of the text, or of the whole if the part has none of its own.
    #[must_use]
    pub fn span(&self, range: Range<usize>) -> Span {
        self.exact_span(range).unwrap_or(self.span)
    }

    /// Returns the span of a part of the text if it has one of its own, so that it can be replaced.
    #[must_use]
    pub fn exact_span(&self, range: Range<usize>) -> Option<Span> {
        let at = |offset: u32| self.span.start.saturating_add(offset);
        let (start, end) = match &self.how {
            How::Plain => (narrow(range.start), narrow(range.end)),
            How::Pieces { places, .. } => {
                let end = places.last().map_or(0, |last| last.1);
                let start = places.get(range.start).map_or(end, |place| place.0);
                let end = match range.end.checked_sub(1) {
                    Some(last) if range.end > range.start => places.get(last)?.1,
                    _ => start,
                };
                (start, end)
            }
            How::Apart => return None,
        };
        Some(Span {
            start: at(start),
            end: at(end),
            ..self.span
        })
    }

    /// Returns true if it is in a JSON string, so that a double quote in it needs a backslash.
    #[must_use]
    pub fn is_in_json(&self) -> bool {
        matches!(self.how, How::Pieces { in_json: true, .. })
    }
}

/// Decodes the entities of a text; returns also the origin of each byte.
fn decode_entities(text: &str) -> (String, Vec<(u32, u32)>) {
    let mut decoded = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let start = text.len() - rest.len();
        let (c, length) = match entity::first(rest) {
            Some((c, behind)) => (c, rest.len() - behind.len()),
            None => (first, first.len_utf8()),
        };
        push(&mut decoded, &mut places, c, start..start + length);
        rest = rest.get(length..).unwrap_or("");
    }
    (decoded, places)
}

fn push(text: &mut String, places: &mut Vec<(u32, u32)>, c: char, from: Range<usize>) {
    text.push(c);
    let place = (narrow(from.start), narrow(from.end));
    places.extend(std::iter::repeat_n(place, c.len_utf8()));
}

/// Returns the origins of the bytes of a JSON string's value.
///
/// It is `None` if `raw` isn't a string of that value.
fn decode_json(raw: &str, value: &str) -> Option<Vec<(u32, u32)>> {
    let quote = raw
        .chars()
        .next()
        .filter(|quote| matches!(quote, '"' | '\''))?;
    let body = raw.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut decoded = String::with_capacity(body.len());
    let mut places = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(first) = rest.chars().next() {
        let start = 1 + body.len() - rest.len();
        let (c, length) = if first == '\\' {
            json_escape(rest)?
        } else {
            (first, first.len_utf8())
        };
        push(&mut decoded, &mut places, c, start..start + length);
        rest = rest.get(length..)?;
    }
    (decoded == value).then_some(places)
}

/// Returns the character of a JSON escape, and its length in bytes.
fn json_escape(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text
            .get(at..at + 6)?
            .strip_prefix("\\u")
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let kind = text.chars().nth(1)?;
    let c = match kind {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => {
            let high = unit(0)?;
            if let Some(c) = char::from_u32(high) {
                return Some((c, 6));
            }
            let low = unit(6)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
            let code = 0x1_0000 + ((high.checked_sub(0xd800)?) << 10) + low;
            return Some((char::from_u32(code)?, 12));
        }
        other => other,
    };
    Some((c, 1 + kind.len_utf8()))
}
