//! The header.

use super::Parser;
use crate::front::mermaid::lex::Kind;
use crate::front::mermaid::{preprocess, report};
use crate::source::Span;

impl Parser<'_> {
    /// `NL* SD`, and a report where there is none.
    pub(super) fn header(&mut self) -> Option<Span> {
        while self.peek().kind == Kind::NewLine {
            self.bump();
        }
        let token = self.peek();
        let detected = preprocess::is_detected(self.text);
        if token.kind == Kind::Header {
            self.bump();
            let span = self.trimmed_span(token.start..token.end);
            if !detected {
                let written = self.raw(token.start..token.end);
                self.report(report::missing_header::not_detected(span, written.trim()));
            }
            return Some(span);
        }
        let line = self.line_range(token.lead);
        let written = self.raw(line.clone());
        let first = written.split_whitespace().next().unwrap_or("");
        let span = self.trimmed_span(line.clone());
        if let Kind::Direction(direction) = token.kind
            && detected
        {
            self.direction(token, direction, false);
            self.report(report::missing_header::swallowed(span));
            return Some(span);
        }
        let other = report::missing_header::other_diagram(first);
        let near = detected || first.to_ascii_lowercase().starts_with("statediagram");
        let end = (line.start + written.find(first).unwrap_or(0) + first.len()).min(line.end);
        let word = self.trimmed_span(line.start..end);
        self.report(match other {
            _ if first.is_empty() => report::missing_header::nothing(span),
            _ if near => report::missing_header::misspelt(word, first),
            Some(kind) => report::missing_header::another(word, kind),
            None => report::missing_header::none(span.before()),
        });
        if near || other.is_some() {
            self.restart(line.end);
        }
        None
    }
}
