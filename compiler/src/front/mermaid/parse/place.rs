//! Pieces of the text and where they stand.

use std::ops::Range;

use super::Parser;
use crate::front::mermaid::lex::rule::is_space;
use crate::front::mermaid::{invisible, preprocess, report};
use crate::source::{Span, Spanned};

impl<'a> Parser<'a> {
    pub(super) fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or("")
    }

    /// The text as Mermaid reads it, but without the stand-ins of entities: nearly always as its author wrote it.
    pub(super) fn raw(&self, range: Range<usize>) -> String {
        let text = self.prepared.excerpt.text();
        let end = range.end.min(text.len());
        let range = range.start.min(end)..end;
        let original = text.get(range.clone()).unwrap_or("");
        let read = self.slice(range);
        if read == original {
            return read.to_owned();
        }
        preprocess::show_entities(read, original)
    }

    pub(super) fn span(&self, range: Range<usize>) -> Span {
        let most = self.prepared.excerpt.text().len();
        let end = range.end.min(most);
        self.prepared.excerpt.span(range.start.min(end)..end)
    }

    pub(super) fn trim(&self, range: Range<usize>) -> Range<usize> {
        let text = self.slice(range.clone());
        let kept = text.trim_start_matches(is_space);
        let start = range.end - kept.len();
        let kept = kept.trim_end_matches(is_space);
        if text.is_empty() {
            range
        } else {
            start..start + kept.len()
        }
    }

    pub(super) fn trimmed_span(&self, range: Range<usize>) -> Span {
        self.span(self.trim(range))
    }

    /// A text without the blanks around it, with its place.
    pub(super) fn spanned(&self, range: Range<usize>) -> Spanned<String> {
        let range = self.trim(range);
        Spanned::new(self.raw(range.clone()), self.span(range))
    }

    /// A state's id with its place, and a report where it holds what can't be seen.
    pub(super) fn name(&mut self, range: Range<usize>) -> Spanned<String> {
        let name = self.spanned(range);
        if !name.value.is_ascii()
            && let Some(visible) = invisible::strip(&name.value)
        {
            let finding = report::invisible_character::in_name(name.span, &name.value, &visible);
            self.report(finding);
        }
        name
    }

    /// The line that holds an offset, from 0.
    pub(super) fn line_of(&self, at: usize) -> usize {
        // Nearly every question is about the line of the last one, or the next.
        let last = self.last_line.get();
        for line in [last, last + 1] {
            let start = self.line_starts.get(line).copied();
            let next = self.line_starts.get(line + 1).copied();
            if start.is_some_and(|start| start <= at) && next.is_none_or(|next| at < next) {
                self.last_line.set(line);
                return line;
            }
        }
        let behind = self.line_starts.partition_point(|&start| start <= at);
        let line = behind.saturating_sub(1);
        self.last_line.set(line);
        line
    }

    /// The line that holds an offset, without its end.
    pub(super) fn line_range(&self, at: usize) -> Range<usize> {
        let line = self.line_of(at);
        let start = self.line_starts.get(line).copied().unwrap_or(0);
        let end = self
            .line_starts
            .get(line + 1)
            .map_or(self.text.len(), |next| next - 1);
        start..end.max(start)
    }

    pub(super) fn same_line(&self, a: usize, b: usize) -> bool {
        self.line_of(a) == self.line_of(b)
    }
}
