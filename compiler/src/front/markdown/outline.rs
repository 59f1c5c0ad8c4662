//! The headings and fences of a document in the order of the text, each with its container.
//!
//! Lines that lack only a blank to be headings are included.
//!
//! This is all that Markdown's parser is asked for. Its offsets are made offsets of the file here (it is handed the text
//! after byte order mark and front matter), and the text of each fence becomes an [`Excerpt`].

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{fence, mkdocs};
use crate::excerpt::Excerpt;
use crate::source::{FileId, Span, narrow};

/// The words of a section's heading.
pub(super) const TITLE: &str = "STATE-MACHINE";

/// A document's headings and fences, and what is nearly a heading.
#[derive(Debug)]
pub(super) struct Outline {
    /// The blocks in the order of the text.
    pub(super) blocks: Vec<Block>,
    /// The range of each container; the first is the document itself.
    pub(super) containers: Vec<Range<usize>>,
}

/// A heading, a fence, or what is nearly a heading.
#[derive(Debug)]
pub(super) struct Block {
    /// The index of the innermost list item, block quote or block of MkDocs, 0 for the document itself.
    pub(super) container: usize,
    /// The bytes of the block, without the line end after it.
    pub(super) range: Range<usize>,
    /// The kind of block.
    pub(super) kind: BlockKind,
}

/// A kind of block.
#[derive(Debug)]
pub(super) enum BlockKind {
    /// A heading, with `#` or underlined.
    Heading(Heading),
    /// A line that would be a section's heading with a blank after its `##`, by the text after it.
    Unspaced(String),
    /// A fenced code block.
    Fence(Fence),
}

/// A heading.
#[derive(Debug)]
pub(super) struct Heading {
    /// 1 to 6.
    pub(super) level: u8,
    /// The bytes of its text, markup included, without `#`.
    pub(super) content: Range<usize>,
    /// Its text without markup.
    pub(super) words: String,
    /// The bytes between the backticks, if the heading is one code span and nothing more.
    pub(super) code: Option<Range<usize>>,
}

/// A fenced code block.
#[derive(Debug)]
pub(super) struct Fence {
    /// The backticks or tildes that open it.
    pub(super) marker: String,
    /// The bytes of the opening line, from the marker on, without its line end.
    pub(super) opening: Range<usize>,
    /// The bytes after the marker, without blanks around them.
    pub(super) info: Range<usize>,
    /// The text inside.
    pub(super) text: Excerpt,
    /// True if a line closes it, rather than the end of its container.
    pub(super) closed: bool,
}

/// Reads the headings and fences of `text` from the byte `body` on.
pub(super) fn read(file: FileId, text: &str, body: usize) -> Outline {
    let mut reader = Reader {
        file,
        text,
        outline: Outline {
            blocks: Vec::new(),
            containers: std::iter::once(body..text.len()).collect(),
        },
        open: vec![0],
        heading: None,
        fence: None,
        is_paragraph: false,
    };
    let source = mkdocs::as_lists(text.get(body..).unwrap_or_default());
    for (event, range) in Parser::new_ext(&source, Options::empty()).into_offset_iter() {
        reader.event(&event, range.start + body..range.end + body);
    }
    reader.outline
}

/// The walk over the parser's events.
struct Reader<'t> {
    file: FileId,
    text: &'t str,
    outline: Outline,
    /// The containers around the current event, as indices; the last is the innermost.
    open: Vec<usize>,
    heading: Option<OpenHeading>,
    fence: Option<Excerpt>,
    /// True if a paragraph is open.
    is_paragraph: bool,
}

/// A heading whose end hasn't come yet.
#[derive(Default)]
struct OpenHeading {
    words: String,
    content: Option<Range<usize>>,
    /// The number of its pieces of text, and the last one that is code.
    pieces: usize,
    code: Option<Range<usize>>,
}

impl Reader<'_> {
    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::Item) => {
                self.open.push(self.outline.containers.len());
                self.outline.containers.push(range);
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::Item) => {
                self.open.pop();
            }
            Event::Start(Tag::Heading { .. }) => self.heading = Some(OpenHeading::default()),
            Event::End(TagEnd::Heading(level)) => self.end_heading(*level, range),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                self.fence = Some(Excerpt::new(self.file));
            }
            Event::End(TagEnd::CodeBlock) => self.end_fence(range),
            Event::Start(Tag::Paragraph) => self.is_paragraph = true,
            Event::End(TagEnd::Paragraph) => self.is_paragraph = false,
            Event::Text(piece) if self.is_paragraph => self.paragraph_text(piece, range.start),
            Event::Text(piece) if self.fence.is_some() => self.fence_text(piece, range),
            _ => self.heading_piece(event, range),
        }
    }

    fn heading_piece(&mut self, event: &Event<'_>, range: Range<usize>) {
        let text = self.text;
        let Some(heading) = &mut self.heading else {
            return;
        };
        // Before closing `#` is a blank that belongs to nothing.
        if matches!(event, Event::Text(words) if words.trim().is_empty()) {
            heading.words.push(' ');
            return;
        }
        let start = heading.content.as_ref().map_or(range.start, |it| it.start);
        heading.content = Some(start..range.end);
        heading.pieces += 1;
        match event {
            Event::Text(words) => heading.words.push_str(words),
            Event::SoftBreak | Event::HardBreak => heading.words.push(' '),
            Event::Code(words) => {
                heading.words.push_str(words);
                let written = text.get(range.clone()).unwrap_or_default();
                heading.code = written
                    .find(words.as_ref())
                    .filter(|_| !words.is_empty())
                    .map(|at| range.start + at..range.start + at + words.len());
            }
            _ => {}
        }
    }

    fn end_heading(&mut self, level: HeadingLevel, range: Range<usize>) {
        let Some(heading) = self.heading.take() else {
            return;
        };
        let range = trimmed_end(self.text, range);
        let kind = BlockKind::Heading(Heading {
            level: match level {
                HeadingLevel::H1 => 1,
                HeadingLevel::H2 => 2,
                HeadingLevel::H3 => 3,
                HeadingLevel::H4 => 4,
                HeadingLevel::H5 => 5,
                HeadingLevel::H6 => 6,
            },
            content: heading.content.map_or(range.end..range.end, |content| {
                trimmed_end(self.text, content)
            }),
            words: heading.words,
            code: heading.code.filter(|_| heading.pieces == 1),
        });
        self.push(range, kind);
    }

    /// Looks for a line that begins with `##` and continues as a section's heading without a blank.
    fn paragraph_text(&mut self, piece: &str, at: usize) {
        if !piece
            .strip_prefix("##")
            .is_some_and(|rest| rest.starts_with(TITLE))
        {
            return;
        }
        let before = self.text.get(line_start(self.text, at)..at);
        let is_first = before.is_some_and(|it| !it.contains(char::is_alphabetic));
        let line = self.text.get(at..).and_then(|rest| rest.lines().next());
        let line = line.unwrap_or_default().trim_end();
        let words = line.trim_start_matches('#');
        let rest = words.strip_prefix(TITLE).unwrap_or_default();
        if is_first && (rest.is_empty() || rest.starts_with(':')) {
            let words = words.to_owned();
            self.push(at..at + line.len(), BlockKind::Unspaced(words));
        }
    }

    /// Appends a piece of a fence's text.
    ///
    /// A piece is a slice of the source but for one kind: where a container has eaten a part of a tab, the columns that
    /// are left come as blanks with an empty range after the tab. Each of those blanks came from the tab.
    fn fence_text(&mut self, piece: &str, range: Range<usize>) {
        let Some(excerpt) = &mut self.fence else {
            return;
        };
        if self.text.get(range.clone()) == Some(piece) {
            excerpt.push(piece, narrow(range.start));
            return;
        }
        let tab = range
            .start
            .checked_sub(1)
            .filter(|&at| self.text.as_bytes().get(at) == Some(&b'\t'));
        if let Some(tab) = tab {
            for _ in piece.chars() {
                excerpt.push(" ", narrow(tab));
            }
        }
    }

    fn end_fence(&mut self, range: Range<usize>) {
        let Some(mut text) = self.fence.take() else {
            return;
        };
        let before = line_start(self.text, range.start)..range.start;
        let before = self.text.get(before).unwrap_or_default();
        if !before.is_empty() {
            text.set_prefix(fence::continuation(before));
        }
        let whole = self.text.get(range.clone()).unwrap_or_default();
        let line = whole.lines().next().unwrap_or_default();
        let marker: String = match line.chars().next() {
            Some(sign) => line.chars().take_while(|&other| other == sign).collect(),
            None => String::new(),
        };
        let info = line.get(marker.len()..).unwrap_or_default();
        let info_start = range.start + line.len() - info.trim_start().len();
        let opening = range.start..range.start + line.trim_end().len();
        let inner_end = if text.text().is_empty() {
            range.start + line.len()
        } else {
            text.full_span().range().end
        };
        // After the text of a fence are only the prefixes of its containers and the closing fence.
        let closed = marker.chars().next().is_some_and(|sign| {
            self.text
                .get(inner_end..range.end)
                .is_some_and(|rest| rest.contains(sign))
        });
        let fence = Fence {
            marker,
            info: info_start.min(opening.end)..opening.end,
            opening,
            text,
            closed,
        };
        self.push(range, BlockKind::Fence(fence));
    }

    fn push(&mut self, range: Range<usize>, kind: BlockKind) {
        self.outline.blocks.push(Block {
            container: self.open.last().copied().unwrap_or(0),
            range,
            kind,
        });
    }
}

/// Trims blanks and line ends at the end of a range.
fn trimmed_end(text: &str, range: Range<usize>) -> Range<usize> {
    let kept = text.get(range.clone()).unwrap_or_default().trim_end().len();
    range.start..range.start + kept
}

/// Returns the span of a range of bytes.
pub(super) fn span(file: FileId, range: &Range<usize>) -> Span {
    Span {
        file,
        start: narrow(range.start),
        end: narrow(range.end),
    }
}

/// Returns the first byte of the line that holds the byte `at`.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |newline| newline + 1)
}
