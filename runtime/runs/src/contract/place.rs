//! Places in documents, and what is wrong there.

use crate::body::{Finding, Verdict};

/// Most findings that are told. Why: they stand in the journal, and an author mends the first ones and asks again.
const MAX_FINDINGS: usize = 20;

/// Most findings that are thought of. Why: a document of many megabytes may be wrong on each line.
const MAX_COUNTED: usize = 2_000;

/// Most characters of a finding. Unit: characters. Why: a finding quotes the document, which may be one long line.
const MAX_CHARACTERS: usize = 300;

/// What is wrong in a document.
pub(super) struct Findings<'t> {
    text: &'t str,
    /// Where each line begins.
    lines: Vec<usize>,
    all: Vec<Finding>,
    more: u64,
}

impl<'t> Findings<'t> {
    /// Nothing is wrong yet.
    pub(super) fn of(text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1));
        Self {
            lines: lines.collect(),
            all: Vec::new(),
            more: 0,
            text,
        }
    }

    /// Something is wrong at a place. Unit: bytes of the document.
    pub(super) fn add(&mut self, at: usize, what: impl Into<String>, help: Option<String>) {
        if self.all.len() >= MAX_COUNTED {
            self.more += 1;
            return;
        }
        let (line, column) = self.place(at);
        self.all.push(Finding {
            line,
            column,
            what: shortened(&what.into()),
            help: help.map(|it| shortened(&it)),
        });
    }

    /// The line and the column of a place, both from 1.
    pub(super) fn place(&self, at: usize) -> (u64, u64) {
        let line = self.lines.partition_point(|begin| *begin <= at);
        let begin = line.checked_sub(1).and_then(|it| self.lines.get(it));
        let before = self.text.get(begin.copied().unwrap_or_default()..at);
        let column = before.map_or(0, |before| before.chars().count());
        (number(line.max(1)), number(column) + 1)
    }

    /// All of it, in the order of the document.
    pub(super) fn verdict(mut self) -> Verdict {
        // What is said of one place stays in the order of the contract.
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

/// What is said of bytes that are no text from there on.
pub(super) fn not_text(document: &[u8], at: usize) -> Verdict {
    let text = document.get(..at).unwrap_or_default();
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut findings = Findings::of(text);
    let help = "hand it in as text in UTF-8".to_owned();
    findings.add(at, "the document isn't text from here on", Some(help));
    findings.verdict()
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A part of a document without what stands before each of its lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// Where in the excerpt a piece begins, and where in the document.
    pieces: Vec<(usize, usize)>,
}

impl Excerpt {
    /// All of a document.
    pub(super) fn whole(text: &str) -> Self {
        let mut excerpt = Self::default();
        excerpt.push(text, 0);
        excerpt
    }

    /// The same with a piece of the document behind it.
    pub(super) fn push(&mut self, piece: &str, at: usize) {
        self.pieces.push((self.text.len(), at));
        self.text += piece;
    }

    /// The place in the document.
    pub(super) fn at(&self, place: usize) -> usize {
        let piece = self.pieces.partition_point(|(begin, _)| *begin <= place);
        let piece = piece.checked_sub(1).and_then(|it| self.pieces.get(it));
        piece.map_or(place, |(begin, at)| at + (place - begin))
    }
}
