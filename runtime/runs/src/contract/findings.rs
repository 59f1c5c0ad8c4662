//! Findings in documents, and their locations.

use statemark_text::shorten::shorten;

use crate::body::{Finding, Verdict};

/// Most findings in a verdict. Unit: findings.
///
/// Why: they go into the journal, and an author mends the first ones and checks again.
const MAX_FINDINGS: usize = 20;

/// Most findings that are collected. Why: a document of many megabytes may be wrong on each line.
const MAX_COLLECTED: usize = 2_000;

/// Longest finding. Unit: characters. Why: a finding quotes the document, which may be one long line.
pub(super) const MAX_CHARACTERS: usize = 300;

/// A collector of findings in one document.
pub(super) struct Findings<'t> {
    text: &'t str,
    /// The offset of each line.
    lines: Vec<usize>,
    all: Vec<Finding>,
    more: u64,
}

impl<'t> Findings<'t> {
    /// Starts without findings.
    pub(super) fn new(text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1));
        Self {
            lines: lines.collect(),
            all: Vec::new(),
            more: 0,
            text,
        }
    }

    /// Adds a finding at an offset. Unit: bytes of the document.
    pub(super) fn add(&mut self, at: usize, what: impl Into<String>, help: Option<String>) {
        if self.all.len() >= MAX_COLLECTED {
            self.more += 1;
            return;
        }
        let (line, column) = self.location(at);
        self.all.push(Finding {
            line,
            column,
            what: shorten(&what.into(), MAX_CHARACTERS),
            help: help.map(|it| shorten(&it, MAX_CHARACTERS)),
        });
    }

    /// Returns the line and the column of an offset, both from 1.
    pub(super) fn location(&self, at: usize) -> (u64, u64) {
        let line = self.lines.partition_point(|begin| *begin <= at);
        let begin = line.checked_sub(1).and_then(|it| self.lines.get(it));
        let before = self.text.get(begin.copied().unwrap_or_default()..at);
        let column = before.map_or(0, |before| before.chars().count());
        (number(line.max(1)), number(column) + 1)
    }

    /// Returns the verdict, with the findings in the order of the document.
    pub(super) fn verdict(mut self) -> Verdict {
        // Findings at one location stay in the order of the contract.
        self.all.sort_by_key(|it| (it.line, it.column));
        let rest = self.all.len().saturating_sub(MAX_FINDINGS);
        self.all.truncate(MAX_FINDINGS);
        Verdict {
            holds: self.all.is_empty(),
            findings: self.all,
            more: self.more + number(rest),
        }
    }
}

/// Returns the verdict on a document that isn't UTF-8 from an offset on.
pub(super) fn not_utf8(document: &[u8], at: usize) -> Verdict {
    let text = document.get(..at).unwrap_or_default();
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut findings = Findings::new(text);
    let help = "hand it in as text in UTF-8".to_owned();
    findings.add(at, "the document isn't text from here on", Some(help));
    findings.verdict()
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// A part of a document without the prefixes of its lines, such as `> `.
#[derive(Clone, Debug, Default)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// The offset of each piece in the excerpt and in the document.
    pieces: Vec<(usize, usize)>,
}

impl Excerpt {
    /// Makes an excerpt of a whole document.
    pub(super) fn whole(text: &str) -> Self {
        let mut excerpt = Self::default();
        excerpt.push(text, 0);
        excerpt
    }

    /// Appends a piece of the document.
    pub(super) fn push(&mut self, piece: &str, at: usize) {
        self.pieces.push((self.text.len(), at));
        self.text += piece;
    }

    /// Converts an offset in the excerpt to one in the document.
    pub(super) fn document_offset(&self, offset: usize) -> usize {
        let piece = self.pieces.partition_point(|(begin, _)| *begin <= offset);
        let piece = piece.checked_sub(1).and_then(|it| self.pieces.get(it));
        piece.map_or(offset, |(begin, at)| at + (offset - begin))
    }
}
