//! A text made of pieces of a file.
//!
//! A fence inside a list or a block quote, a document with CRLF line ends, a diagram without its comments: each is a text
//! that is in the file only in pieces. An [`Excerpt`] owns that text and knows, for each of its bytes, where in the
//! file it came from. Parsers work on the plain text with offsets; [`Excerpt::span`] brings them home.

use std::ops::Range;

use crate::source::{FileId, Span, narrow};

/// A text and where each piece of it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    file: FileId,
    text: String,
    /// Ascending by both numbers; the first begins at 0 unless the excerpt is empty.
    pieces: Vec<Piece>,
    /// The text of its container that begins each further line in the file, such as `> `.
    prefix: String,
}

/// A run of bytes that came, one to one, from the file's bytes that begin at `source`.
///
/// It begins at `at` and ends at the next piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    at: u32,
    source: u32,
}

impl Excerpt {
    /// Creates an empty excerpt of a file.
    #[must_use]
    pub fn new(file: FileId) -> Self {
        Self {
            file,
            text: String::new(),
            pieces: Vec::new(),
            prefix: String::new(),
        }
    }

    /// Says what begins each further line in the file: the signs of a quote, or the indent of a list.
    pub(crate) fn set_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// Returns what has to begin a line in the file that is added to the text.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Reports whether nothing but the prefix stands in the file before the line at an offset.
    ///
    /// Of a line that was cut out, or has other signs, that isn't so.
    #[must_use]
    pub(crate) fn is_plain_line(&self, start: usize) -> bool {
        let Some(newline) = start.checked_sub(1) else {
            return false;
        };
        let both = self.span(newline..start + 1).range();
        both.len() == 2 + self.prefix.len()
    }

    /// Takes a whole file as one piece.
    #[must_use]
    pub fn whole(file: FileId, text: &str) -> Self {
        let mut excerpt = Self::new(file);
        excerpt.push(text, 0);
        excerpt
    }

    /// Appends a text that begins at that byte of the file.
    pub fn push(&mut self, text: &str, source: u32) {
        if text.is_empty() {
            return;
        }
        let at = narrow(self.text.len());
        let continues = self
            .pieces
            .last()
            .is_some_and(|last| last.source.checked_add(at - last.at) == Some(source));
        if !continues {
            self.pieces.push(Piece { at, source });
        }
        self.text.push_str(text);
    }

    /// Returns the file that the pieces are of.
    #[must_use]
    pub fn file(&self) -> FileId {
        self.file
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the file's span of a range of the text.
    ///
    /// It begins where the first byte of the range came from and ends after its last byte, so that a range over several
    /// pieces also covers what lies between them in the file. A range past the end is cut.
    #[must_use]
    pub fn span(&self, range: Range<usize>) -> Span {
        let start = self.source_of(range.start);
        let end = if range.end > range.start {
            self.source_of(range.end - 1) + 1
        } else {
            start
        };
        Span {
            file: self.file,
            start,
            end,
        }
    }

    /// Returns the offset in the text of the byte that came from that byte of the file; `None` if none did.
    #[must_use]
    pub fn offset_of(&self, source: u32) -> Option<usize> {
        let after = self.pieces.partition_point(|piece| piece.source <= source);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        let at = piece.at as usize + (source - piece.source) as usize;
        let next = self.pieces.get(after);
        let end = next.map_or(self.text.len(), |next| next.at as usize);
        (at < end).then_some(at)
    }

    /// Returns the file's span of the whole text.
    #[must_use]
    pub fn full_span(&self) -> Span {
        self.span(0..self.text.len())
    }

    /// Removes the given ranges, which are ascending and don't overlap.
    #[must_use]
    pub fn without(&self, ranges: &[Range<usize>]) -> Self {
        let mut kept = Self::new(self.file);
        kept.prefix.clone_from(&self.prefix);
        let mut from = 0;
        for range in ranges
            .iter()
            .cloned()
            .chain(std::iter::once(self.text.len()..self.text.len()))
        {
            kept.append(self, from..range.start);
            from = range.end.max(from);
        }
        kept
    }

    /// Returns the excerpt of one range of this excerpt.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let mut part = Self::new(self.file);
        part.prefix.clone_from(&self.prefix);
        part.append(self, range);
        part
    }

    /// Appends a range of another excerpt of the same file, piece by piece.
    fn append(&mut self, other: &Self, range: Range<usize>) {
        let mut from = range.start;
        while from < range.end {
            let next = other
                .pieces
                .partition_point(|piece| piece.at as usize <= from);
            let until = other
                .pieces
                .get(next)
                .map_or(other.text.len(), |piece| piece.at as usize)
                .min(range.end);
            let Some(text) = other.text.get(from..until).filter(|text| !text.is_empty()) else {
                return;
            };
            self.push(text, other.source_of(from));
            from = until;
        }
    }

    /// Returns the origin of the byte at `at`; past the text, the end of its last byte.
    fn source_of(&self, at: usize) -> u32 {
        if at >= self.text.len() && !self.text.is_empty() {
            return self.source_of(self.text.len() - 1) + 1;
        }
        let at = narrow(at);
        let index = self.pieces.partition_point(|piece| piece.at <= at);
        let piece = index
            .checked_sub(1)
            .and_then(|index| self.pieces.get(index));
        piece.map_or(0, |piece| piece.source + (at - piece.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    fn quoted() -> (Sources, Excerpt) {
        let mut sources = Sources::new();
        let text = "> one\r\n> two\r\n> three\r\n";
        let file = sources.add("q.md", text);
        let mut excerpt = Excerpt::new(file);
        excerpt.push("one", 2);
        excerpt.push("\n", 6);
        excerpt.push("two", 9);
        excerpt.push("\n", 13);
        excerpt.push("three", 16);
        (sources, excerpt)
    }

    #[test]
    fn spans_point_at_the_same_text() {
        let (sources, excerpt) = quoted();
        assert_eq!(excerpt.text(), "one\ntwo\nthree");
        for word in ["one", "two", "three"] {
            let at = excerpt.text().find(word).unwrap();
            assert_eq!(sources.text(excerpt.span(at..at + word.len())), word);
        }
        assert_eq!(sources.text(excerpt.span(0..7)), "one\r\n> two");
        for at in 0..excerpt.text().len() {
            let source = excerpt.span(at..at + 1).start;
            assert_eq!(excerpt.offset_of(source), Some(at));
        }
        assert_eq!([0, 5, 21, 99].map(|at| excerpt.offset_of(at)), [None; 4]);
    }

    #[test]
    fn cutting_keeps_the_way_home() {
        let (sources, excerpt) = quoted();
        let cut = excerpt.without(&[1..2, 4..8]);
        assert_eq!(cut.text(), "oe\nthree");
        assert_eq!(sources.text(cut.span(3..8)), "three");
        assert_eq!(excerpt.slice(4..7).text(), "two");
        assert_eq!(sources.text(excerpt.slice(4..7).full_span()), "two");
    }

    #[test]
    fn an_empty_excerpt_has_an_empty_span() {
        let (_, excerpt) = quoted();
        let empty = Excerpt::new(excerpt.file());
        assert_eq!(empty.full_span().range(), 0..0);
        assert_eq!(excerpt.span(13..13).range(), 21..21);
    }
}
