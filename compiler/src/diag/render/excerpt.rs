//! The lines of a text that a finding shows, in the form that the snippet renderer needs.
//!
//! An [`Excerpts`] has only those lines, shortened if they are long, with every character visible. It maps each position
//! in them to the file, so line and column numbers are the file's. That keeps the cost of a finding independent of the
//! size of its file.

use std::collections::BTreeSet;
use std::ops::Range;

use codespan_reporting::diagnostic as rendered;
use codespan_reporting::files::{Error, Files, Location};

use super::visible::{stand_in, visible};
use crate::diag::Diagnostic;
use crate::source::{FileId, SourceFile, Sources, Span};

/// Longest line that is shown whole.
///
/// Unit: bytes. Why: two lines of a wide terminal. A longer line is data, of which only the neighborhood of the span
/// helps.
const MAX_LINE: usize = 240;

/// Shown length of a longer line. Unit: bytes.
const MAX_PART: usize = 160;

/// Shown length of a longer line before the span in it. Unit: bytes.
const BEFORE: usize = 60;

/// Shown lines after the first one of a span. Unit: lines.
pub(super) const FIRST_LINES: usize = 3;

/// Shown lines before the last one of a span. Unit: lines.
pub(super) const LAST_LINES: usize = 1;

/// Distance of two lines for the renderer if lines between them are left out.
///
/// Unit: lines. Why: from 3 on it draws a gap.
const GAP: usize = 3;

/// The shown lines of every file that a finding points into.
pub(super) struct Excerpts<'s> {
    files: Vec<FileExcerpt<'s>>,
}

/// The shown lines of one file.
struct FileExcerpt<'s> {
    id: FileId,
    source: &'s SourceFile,
    /// The shown lines, separated by line ends.
    text: String,
    /// Ascending by both numbers.
    lines: Vec<Line>,
}

struct Line {
    /// The index in the file, from 0.
    index: usize,
    /// The index for the renderer, which visits every line of a span; a gap counts as [`GAP`] lines.
    row: usize,
    /// The range in the excerpt's text.
    shown: Range<usize>,
    /// The byte offsets of each shown character, and of the end, in the file and in the excerpt.
    bytes: Vec<(usize, usize)>,
}

impl<'s> Excerpts<'s> {
    /// Returns the lines that the spans of a finding need, and its labels as ranges in them.
    pub(super) fn new(
        diagnostic: &Diagnostic,
        sources: &'s Sources,
    ) -> (Self, Vec<rendered::Label<FileId>>) {
        let places: Vec<(Span, &str, rendered::LabelStyle)> = std::iter::once((
            clamped(diagnostic.primary.span, sources),
            diagnostic.primary.message.as_str(),
            rendered::LabelStyle::Primary,
        ))
        .chain(diagnostic.related.iter().map(|label| {
            let span = clamped(label.span, sources);
            (
                span,
                label.message.as_str(),
                rendered::LabelStyle::Secondary,
            )
        }))
        .collect();
        let mut excerpts = Self { files: Vec::new() };
        for (span, ..) in &places {
            if excerpts.file(span.file).is_none() {
                let spans = places.iter().map(|place| place.0);
                let here: Vec<Span> = spans.filter(|other| other.file == span.file).collect();
                let source = sources.file(span.file);
                excerpts
                    .files
                    .push(FileExcerpt::new(span.file, source, &here));
            }
        }
        let labels = places
            .iter()
            .map(|&(span, message, style)| {
                let range = excerpts
                    .file(span.file)
                    .map_or(0..0, |file| file.excerpt_range(span));
                rendered::Label::new(style, span.file, range).with_message(visible(message))
            })
            .collect();
        (excerpts, labels)
    }

    fn file(&self, id: FileId) -> Option<&FileExcerpt<'s>> {
        self.files.iter().find(|file| file.id == id)
    }
}

impl<'s> FileExcerpt<'s> {
    fn new(id: FileId, source: &'s SourceFile, spans: &[Span]) -> Self {
        let mut excerpt = Self {
            id,
            source,
            text: String::new(),
            lines: Vec::new(),
        };
        for index in shown_lines(source, spans) {
            excerpt.push_line(index, spans);
        }
        excerpt
    }

    fn push_line(&mut self, index: usize, spans: &[Span]) {
        let source = self.source;
        let Some(mut line) = source.line_range(index) else {
            return;
        };
        if index == 0 && source.text().starts_with('\u{feff}') {
            line.start += '\u{feff}'.len_utf8();
        }
        let kept = window(source.text(), &line, spans);
        let from = self.text.len();
        let mut bytes = Vec::new();
        if kept.start > line.start {
            self.text.push('…');
        }
        let mut before = None;
        let text = source.text().get(kept.clone()).unwrap_or("");
        for (at, character) in text.char_indices() {
            bytes.push((kept.start + at, self.text.len()));
            let shown = stand_in(character, before).filter(|_| character != '\t');
            self.text.push(shown.unwrap_or(character));
            before = Some(character);
        }
        bytes.push((kept.end, self.text.len()));
        if kept.end < line.end {
            self.text.push('…');
        }
        let row = self
            .lines
            .last()
            .map_or(0, |before| before.row + (index - before.index).min(GAP));
        self.lines.push(Line {
            index,
            row,
            shown: from..self.text.len(),
            bytes,
        });
        self.text.push('\n');
    }

    /// Maps a span of the file to the excerpt.
    fn excerpt_range(&self, span: Span) -> Range<usize> {
        let start = self.excerpt_byte(span.start as usize, span.start);
        let end = self.excerpt_byte(span.end as usize, span.end);
        start..end.max(start)
    }

    fn excerpt_byte(&self, byte: usize, at: u32) -> usize {
        let index = self.source.line_index(at);
        let Some(line) = self.lines.iter().find(|line| line.index == index) else {
            return 0;
        };
        let next = line.bytes.partition_point(|&(source, _)| source < byte);
        let found = line.bytes.get(next).or(line.bytes.last());
        found.map_or(line.shown.start, |&(_, shown)| shown)
    }

    /// Returns the line of a row.
    fn row(&self, row: usize) -> Option<&Line> {
        let found = self.lines.binary_search_by_key(&row, |line| line.row);
        found.ok().and_then(|at| self.lines.get(at))
    }

    /// Returns the line that contains a byte of the excerpt.
    fn line_at(&self, byte: usize) -> Option<&Line> {
        let next = self.lines.partition_point(|line| line.shown.start <= byte);
        self.lines.get(next.checked_sub(1)?)
    }
}

/// Limits a span to its file, without trailing line ends and blanks.
fn clamped(span: Span, sources: &Sources) -> Span {
    let text = sources.file(span.file).text();
    let range = span.range();
    let start = range.start.min(text.len());
    let end = range.end.clamp(start, text.len());
    let Some(covered) = text.get(start..end) else {
        return span.before();
    };
    let kept = covered.trim_end_matches([' ', '\t', '\r', '\n']);
    let cut = if kept.is_empty() {
        // Blanks alone are the point of the finding, but not beyond a line end.
        covered.find(['\r', '\n']).unwrap_or(covered.len())
    } else {
        kept.len()
    };
    Span {
        end: crate::source::narrow(start + cut),
        start: crate::source::narrow(start),
        ..span
    }
}

/// Returns the lines to show for some spans.
///
/// They are the first and last ones of each span, without gaps of a single line.
fn shown_lines(source: &SourceFile, spans: &[Span]) -> BTreeSet<usize> {
    let mut lines = BTreeSet::new();
    for span in spans {
        let first = source.line_index(span.start);
        let last = source.line_index(span.end);
        lines.extend(first..=last.min(first + FIRST_LINES));
        lines.extend(last.saturating_sub(LAST_LINES).max(first)..=last);
    }
    let gaps: Vec<usize> = lines
        .iter()
        .filter(|&&line| lines.contains(&(line + 2)))
        .map(|line| line + 1)
        .collect();
    lines.extend(gaps);
    lines
}

/// Returns the shown part of a line: around the finding's span, or else around the first other one.
fn window(text: &str, line: &Range<usize>, spans: &[Span]) -> Range<usize> {
    if line.len() <= MAX_LINE {
        return line.clone();
    }
    let first = spans
        .iter()
        .map(|span| span.start as usize)
        .find(|start| line.contains(start))
        .unwrap_or(line.start);
    let start = first.saturating_sub(BEFORE).max(line.start);
    let end = (start + MAX_PART).min(line.end);
    boundary(text, start)..boundary(text, end)
}

/// Returns the nearest character boundary at or before a byte.
pub(super) fn boundary(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl<'a> Files<'a> for Excerpts<'_> {
    type FileId = FileId;
    type Name = String;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<String, Error> {
        let file = self.file(id).ok_or(Error::FileMissing)?;
        Ok(visible(file.source.name()).into_owned())
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.file(id).ok_or(Error::FileMissing)?.text)
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, Error> {
        let file = self.file(id).ok_or(Error::FileMissing)?;
        Ok(file.line_at(byte).map_or(0, |line| line.row))
    }

    fn line_number(&'a self, id: FileId, row: usize) -> Result<usize, Error> {
        let file = self.file(id).ok_or(Error::FileMissing)?;
        Ok(file.row(row).map_or(1, |line| line.index + 1))
    }

    fn line_range(&'a self, id: FileId, row: usize) -> Result<Range<usize>, Error> {
        let file = self.file(id).ok_or(Error::FileMissing)?;
        // The renderer asks for rows in a gap, and doesn't show them.
        Ok(file.row(row).map_or(0..0, |line| line.shown.clone()))
    }

    fn location(&'a self, id: FileId, byte: usize) -> Result<Location, Error> {
        let file = self.file(id).ok_or(Error::FileMissing)?;
        let bytes = file.line_at(byte).map_or(&[][..], |line| &line.bytes);
        let next = bytes.partition_point(|&(_, shown)| shown < byte);
        let at = bytes.get(next).map_or(0, |&(source, _)| source);
        let at = file.source.position(crate::source::narrow(at));
        Ok(Location {
            line_number: at.line as usize,
            column_number: at.column as usize,
        })
    }
}
