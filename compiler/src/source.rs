//! Texts, and places in them.
//!
//! [`Sources`] owns every text of one compilation; a [`Span`] is a file and a range of its bytes. Everything that the
//! compiler makes of a text keeps a span from birth, so that every message can point at what its author wrote.
//!
//! Columns come in three kinds, because readers count differently: characters for people, UTF-16 units for editors, bytes
//! for machines. Deliberately not here: reading files. A front end reads, and hands over bytes or text.

use std::ops::Range;
use std::sync::OnceLock;

/// Longest text that is compiled.
///
/// Unit: bytes. Why: spans are 32 bits, and no document that a person keeps is longer; past it a mistaken path (a
/// video, a log) is likelier than a spec.
pub const MAX_SOURCE_BYTES: usize = 8 * 1024 * 1024;

/// A text of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    /// Returns the position of the file in [`Sources`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A range of bytes of one file. Both ends lie on character boundaries of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from the start of `self` to the end of `other`, in the file of `self`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Returns the empty span at the end of `self`.
    #[must_use]
    pub fn after(self) -> Self {
        Self {
            start: self.end,
            ..self
        }
    }

    /// Returns the empty span at the start of `self`.
    #[must_use]
    pub fn before(self) -> Self {
        Self {
            end: self.start,
            ..self
        }
    }

    /// Returns the range of bytes.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns true if `other` is wholly inside `self`.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }
}

/// A value with the place where its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its span.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Creates a value with a span.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// Converts the value and keeps the span.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned {
            value: make(self.value),
            span: self.span,
        }
    }
}

/// A place as people and editors count it. All numbers but `byte_column` count from 1 for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The column in UTF-16 units, from 0, as editors ask for it.
    pub utf16_column: u32,
    /// The column in bytes, from 0.
    pub byte_column: u32,
}

/// One text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    /// The counts up to every so many bytes of the text, made when a long line is asked about.
    milestones: OnceLock<Vec<Counts>>,
}

/// The distance of two milestones. Unit: bytes.
///
/// Why: most lines are shorter, and a text on one line may have as many findings as it has bytes.
const MILE: usize = 1024;

/// The numbers of characters and of UTF-16 units of a text.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    characters: usize,
    units: usize,
}

impl Counts {
    fn new(text: &str) -> Self {
        Self {
            characters: text.chars().count(),
            units: text.encode_utf16().count(),
        }
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            characters: self.characters + other.characters,
            units: self.units + other.units,
        }
    }

    const fn minus(self, other: Self) -> Self {
        Self {
            characters: self.characters.saturating_sub(other.characters),
            units: self.units.saturating_sub(other.units),
        }
    }
}

impl SourceFile {
    /// Returns the name that diagnostics show, as the front end gave it: a path with `/`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text, byte for byte as it came.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the index of the line that holds the byte, from 0.
    #[must_use]
    pub fn line_index(&self, byte: u32) -> usize {
        self.line_starts
            .partition_point(|&start| start <= byte)
            .saturating_sub(1)
    }

    /// Returns the bytes of a line without its line end, or `None` past the last line.
    #[must_use]
    pub fn line_range(&self, line: usize) -> Option<Range<usize>> {
        let start = *self.line_starts.get(line)? as usize;
        let end = self
            .line_starts
            .get(line + 1)
            .map_or(self.text.len(), |&next| next as usize);
        let text = self.text.get(start..end)?;
        let kept = text.strip_suffix('\n').unwrap_or(text);
        let kept = kept.strip_suffix('\r').unwrap_or(kept);
        Some(start..start + kept.len())
    }

    /// Returns the position of a byte, in all the ways of counting. A byte order mark has no column.
    #[must_use]
    pub fn position(&self, byte: u32) -> Position {
        let line = self.line_index(byte);
        let start = self.line_starts.get(line).copied().unwrap_or(0) as usize;
        let before = self.text.get(start..byte as usize).unwrap_or("");
        let seen = if line == 0 {
            before.strip_prefix('\u{feff}').unwrap_or(before)
        } else {
            before
        };
        let counts = if seen.len() > MILE {
            let end = start + before.len();
            self.counts_to(end).minus(self.counts_to(end - seen.len()))
        } else {
            Counts::new(seen)
        };
        Position {
            line: narrow(line) + 1,
            column: narrow(counts.characters) + 1,
            utf16_column: narrow(counts.units),
            byte_column: narrow(before.len()),
        }
    }

    /// Counts the text before a byte, from the nearest milestone on.
    fn counts_to(&self, byte: usize) -> Counts {
        let milestones = self.milestones.get_or_init(|| {
            let mut sum = Counts::default();
            let mut all = vec![sum];
            for mile in 1..=self.text.len() / MILE {
                let from = self.boundary((mile - 1) * MILE);
                let to = self.boundary(mile * MILE);
                sum = sum.plus(Counts::new(self.text.get(from..to).unwrap_or_default()));
                all.push(sum);
            }
            all
        });
        let mile = byte / MILE;
        let sum = milestones.get(mile).copied().unwrap_or_default();
        let from = self.boundary(mile * MILE);
        sum.plus(Counts::new(self.text.get(from..byte).unwrap_or_default()))
    }

    /// Returns the character boundary at a byte, or before it.
    fn boundary(&self, mut byte: usize) -> usize {
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    }
}

/// Every text of one compilation.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Creates a set without texts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under the name that diagnostics shall show.
    ///
    /// A text longer than [`MAX_SOURCE_BYTES`] is cut there, at a character boundary, so that spans stay small; the
    /// pipeline reports a file of that length as too large.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let mut text: String = text.into();
        if text.len() > MAX_SOURCE_BYTES {
            let mut cut = MAX_SOURCE_BYTES;
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            text.truncate(cut);
            text.shrink_to_fit();
        }
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| narrow(at + 1)))
            .collect();
        let id = FileId(narrow(self.files.len()));
        self.files.push(SourceFile {
            name: name.into(),
            text,
            line_starts,
            milestones: OnceLock::new(),
        });
        id
    }

    /// Returns the file of that id.
    ///
    /// An id of other sources may give another file or, past the end, an empty one.
    #[must_use]
    pub fn file(&self, id: FileId) -> &SourceFile {
        static NONE: SourceFile = SourceFile {
            name: String::new(),
            text: String::new(),
            line_starts: Vec::new(),
            milestones: OnceLock::new(),
        };
        self.files.get(id.index()).unwrap_or(&NONE)
    }

    /// Returns the text that a span covers; empty if the span isn't of these sources.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.range()).unwrap_or("")
    }

    /// Returns every file with its id, in the order of adding.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(index, file)| (FileId(narrow(index)), file))
    }
}

/// Narrows a number of bytes, lines or files to 32 bits.
///
/// Texts are at most [`MAX_SOURCE_BYTES`], so nothing is lost.
pub(crate) fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_counted_as_short_ones_are() {
        let line = "\u{feff}".to_owned() + &"aé€𝄞".repeat(700);
        let mut sources = Sources::new();
        let id = sources.add("long.md", format!("{line}\n{}", "aé€𝄞".repeat(700)));
        let file = sources.file(id);
        for (byte, _) in file.text().char_indices() {
            let position = file.position(narrow(byte));
            let start = file.line_starts[file.line_index(narrow(byte))] as usize;
            let before = file.text().get(start..byte).unwrap_or_default();
            let before = before.trim_start_matches('\u{feff}');
            assert_eq!(
                position.column as usize,
                before.chars().count() + 1,
                "{byte}"
            );
            let units = before.encode_utf16().count();
            assert_eq!(position.utf16_column as usize, units, "{byte}");
        }
    }
}
