//! What stands behind a colon, up to the end of the line.

use super::Parser;
use crate::diag::Edit;
use crate::front::mermaid::lex::Token;
use crate::front::mermaid::lex::rule::is_space;
use crate::front::mermaid::lines::Lines;
use crate::front::mermaid::report;
use crate::source::Spanned;

impl Parser<'_> {
    /// The text behind a colon, and a report where a `;` cuts it or where it holds more than a label.
    pub(super) fn label(&mut self, token: Token) -> Spanned<String> {
        let text = self.spanned(token.start + 1..token.end);
        if text.value.ends_with('}') {
            self.glued_brace = Some(self.trim(token.start + 1..token.end));
        }
        self.check_cut(token.end);
        self.check_swallowed(token, &text);
        text
    }

    /// A `;` behind a text: Mermaid ends the text there and makes states of the rest.
    pub(super) fn check_cut(&mut self, end: usize) {
        let line = self.line_of(end);
        if !self.slice(end..end + 1).starts_with(';') || self.is_silent(line) {
            return;
        }
        let rest = self.trim(end..self.line_range(end).end);
        let lost = self.raw(rest.start + 1..rest.end);
        let mark = self.span(end..end + 1);
        self.report(report::semicolon_in_label::cut(
            mark,
            self.span(rest),
            lost.trim(),
        ));
        self.silence(line);
    }

    /// A comment or an arrow in a text.
    fn check_swallowed(&mut self, token: Token, label: &Spanned<String>) {
        let text = self.slice(token.start..token.end);
        if !text.contains(['%', '#', '>']) {
            return;
        }
        if let Some((at, sign)) = comment(text) {
            let start = token.start + at;
            let edits = self.comment_moved(token, start, sign);
            let said = self.raw(start..token.end);
            let finding = report::swallowed_by_label::comment(label.span, &said, edits);
            self.report(finding);
        } else if text.contains(" --> ") {
            self.report(report::swallowed_by_label::arrow(label.span));
        }
    }

    /// What puts the comment that begins at an offset above its line.
    fn comment_moved(&self, token: Token, start: usize, sign: &str) -> Option<Vec<Edit>> {
        let line = self.trim(self.line_range(token.start));
        let said = self.raw(start + sign.len()..token.end);
        let above = Lines::new(self.prepared)
            .above(self.span(line.clone()), &format!("%% {}", said.trim()))?;
        let kept = self.slice(token.start..start).trim_end_matches(is_space);
        // Of a colon with nothing else behind it, nothing is left.
        let before = self.slice(line.start..token.start);
        let from = match kept {
            ":" => line.start + before.trim_end_matches(is_space).len(),
            _ => token.start + kept.len(),
        };
        let end = self.trim(start..token.end).end;
        let removal = Edit {
            span: self.span(from..end),
            text: String::new(),
        };
        Some(vec![above, removal])
    }
}

/// Where the text of a label, with its colon, goes over to a comment, and the sign that begins it.
fn comment(text: &str) -> Option<(usize, &'static str)> {
    let behind_blank = |at: usize| {
        let before = text.get(..at).unwrap_or("");
        before == ":" || before.ends_with(is_space)
    };
    let percent = text.find("%%").filter(|&at| behind_blank(at));
    let hash = text.match_indices('#').map(|(at, _)| at).find(|&at| {
        let behind = text.get(at + 1..).unwrap_or("");
        behind_blank(at) && behind.starts_with(is_space)
    });
    match (percent, hash) {
        (Some(percent), Some(hash)) if hash < percent => Some((hash, "#")),
        (Some(percent), _) => Some((percent, "%%")),
        (None, hash) => hash.map(|hash| (hash, "#")),
    }
}
