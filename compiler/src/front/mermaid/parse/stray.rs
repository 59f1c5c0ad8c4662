//! Words that silently become states.
//!
//! Mermaid needs no separator between statements, so on a line of prose each word is a state. A word alone on its line is
//! what its author meant; one that shares its line with another statement hardly is. A line gets one report.

use std::ops::Range;

use super::Parser;
use crate::front::mermaid::report;

/// The statements of one line.
#[derive(Debug, Default)]
pub(super) struct Strays {
    line: usize,
    entries: Vec<(What, Range<usize>)>,
    /// The line that is reported already.
    silent: Option<usize>,
}

/// What a statement of the line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A state and nothing else.
    Mention,
    /// A transition; where its target stands.
    Transition(Range<usize>),
    /// A state and a text.
    Description,
    /// `--`.
    Divider,
    /// Anything else.
    Other,
}

impl Parser<'_> {
    /// Adds a statement to its line, and reports the line before if this is another one.
    pub(super) fn log(&mut self, what: What, range: Range<usize>) {
        if self.line_of(range.start) != self.strays.line {
            self.strays_end();
        }
        self.strays.line = self.line_of(range.end.max(range.start + 1) - 1);
        self.strays.entries.push((what, range));
    }

    /// Whether a line has its report.
    pub(super) fn is_silent(&self, line: usize) -> bool {
        self.strays.silent == Some(line)
    }

    /// Says nothing more about a line.
    pub(super) fn silence(&mut self, line: usize) {
        if self.strays.line != line {
            self.strays_end();
        }
        self.strays.entries.clear();
        self.strays.silent = Some(line);
    }

    /// Reports the line's stray words.
    pub(super) fn strays_end(&mut self) {
        let entries = std::mem::take(&mut self.strays.entries);
        if self.strays.silent == Some(self.strays.line) {
            return;
        }
        if self.foreign_arrow(&entries) {
            return;
        }
        let alone = entries.len() == 1;
        let mut words: Option<Range<usize>> = None;
        let mut piped = false;
        let mut divided = false;
        for (what, range) in &entries {
            match what {
                What::Mention => {
                    let start = words.as_ref().map_or(range.start, |words| words.start);
                    words = Some(start..range.end);
                }
                What::Transition(target) if self.slice(target.clone()).starts_with('|') => {
                    piped = true;
                }
                What::Divider => divided = true,
                What::Transition(_) | What::Description | What::Other => {}
            }
        }
        let Some(words) = words else {
            return;
        };
        let text = self.raw(words.clone());
        if alone && !report::stray_words::is_sign(&text) {
            return;
        }
        let first = entries
            .first()
            .map_or(words.start, |(_, range)| range.start);
        let last = entries.last().map_or(words.end, |(_, range)| range.end);
        let facts = report::stray_words::Facts {
            line: self.raw(first..last),
            line_span: self.span(first..last),
            words: text,
            words_span: self.span(words),
            piped,
            divided,
            inside: self.frames.len() > 1,
        };
        let finding = report::stray_words::on_line(&facts);
        self.report(finding);
    }

    /// Reports an arrow among the words that is none in Mermaid. Says whether there is one.
    fn foreign_arrow(&mut self, entries: &[(What, Range<usize>)]) -> bool {
        let is_plain = |what: &What| !matches!(what, What::Divider | What::Other);
        let (Some((_, first)), Some((_, last))) = (entries.first(), entries.last()) else {
            return false;
        };
        if !entries.iter().all(|(what, _)| is_plain(what)) {
            return false;
        }
        if !report::stray_words::may_hold_foreign_arrow(self.slice(first.start..last.end)) {
            return false;
        }
        let line = self.raw(first.start..last.end);
        let Some(arrow) = report::stray_words::foreign_arrow(&line) else {
            return false;
        };
        let span = self.span(first.start + arrow.start..first.start + arrow.end);
        let finding = report::stray_words::arrow(span, &line, arrow);
        self.report(finding);
        true
    }
}
