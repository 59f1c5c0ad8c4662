//! The header of a diagram.

use super::Parser;
use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::is_nearly_header;
use crate::front::mermaid::lex::Kind;
use crate::front::mermaid::messages::quote;
use crate::front::mermaid::preprocess;
use crate::source::Span;

impl Parser<'_> {
    /// Parses `NL* SD`, and reports a missing header.
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
                self.report(undetected_header(span, written.trim()));
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
            self.report(direction_in_header(span));
            return Some(span);
        }
        // `info --> done` leads from a state.
        let other = other_diagram(first).filter(|_| !written.contains("-->"));
        let is_misspelt = detected || is_nearly_header(first);
        let end = (line.start + written.find(first).unwrap_or(0) + first.len()).min(line.end);
        let word = self.trimmed_span(line.start..end);
        self.report(match other {
            _ if first.is_empty() => empty_diagram(span),
            _ if is_misspelt => misspelt_header(word, first),
            Some(kind) => other_kind(word, kind),
            None => {
                let start = line.start + written.find(first).unwrap_or(0);
                let insertion = self.insertion_of_line(start, start);
                let line_end = self.prepared.line_end;
                let prefix = self.prepared.excerpt.prefix();
                let insertion = insertion.map(|(place, _)| {
                    (place, format!("{line_end}{prefix}{}", self.indent_of(span)))
                });
                no_header(span.before(), insertion)
            }
        });
        if is_misspelt || other.is_some() {
            self.restart(line.end);
        }
        None
    }

    /// Returns the blanks before the first statement, which its text doesn't have any more.
    fn indent_of(&self, statement: Span) -> &str {
        let whole = &self.prepared.with_front_matter;
        let before = whole
            .offset_of(statement.start)
            .and_then(|at| whole.text().get(..at))
            .unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_blank = line.trim().is_empty();
        if is_blank { line } else { "" }
    }
}

/// Creates an `SM106` diagnostic (`missing-header`).
fn missing_header(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::MissingHeader, span, message)
        .help("begin the diagram with a line `stateDiagram-v2`")
}

/// The first words of the other diagrams of Mermaid 11.
///
/// Some are also written with `-v2`, `-elk` or `-beta`.
const OTHERS: [&str; 29] = [
    "architecture",
    "block",
    "C4Component",
    "C4Container",
    "C4Context",
    "C4Deployment",
    "C4Dynamic",
    "classDiagram",
    "erDiagram",
    "flowchart",
    "gantt",
    "gitGraph",
    "graph",
    "info",
    "journey",
    "kanban",
    "mindmap",
    "packet",
    "pie",
    "quadrantChart",
    "radar",
    "requirement",
    "requirementDiagram",
    "sankey",
    "sequenceDiagram",
    "timeline",
    "treemap",
    "xychart",
    "zenuml",
];

/// Returns the kind of diagram that a first word announces, if it isn't one of states.
pub(in crate::front::mermaid) fn other_diagram(word: &str) -> Option<&'static str> {
    let word = word.trim_end_matches([':', ';']);
    let endings = ["-v2", "-elk", "-beta"];
    let word = endings
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    OTHERS
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(word))
}

/// Reports a diagram without a header.
///
/// `insertion`: where a line before it fits, and the line end with the indent of the line that is there.
fn no_header(place: Span, insertion: Option<(Span, String)>) -> Diagnostic {
    let diagnostic = missing_header(place, "this diagram doesn't begin with `stateDiagram-v2`")
        .label("expected here");
    match insertion {
        Some((start, rest)) => {
            diagnostic.safe_fix("add it", start, format!("stateDiagram-v2{rest}"))
        }
        None => diagnostic,
    }
}

/// Reports an empty diagram.
fn empty_diagram(place: Span) -> Diagnostic {
    missing_header(place, "this diagram is empty")
}

/// Reports another kind of diagram.
fn other_kind(word: Span, kind: &str) -> Diagnostic {
    missing_header(word, format!("`{kind}` is not a state diagram"))
        .label("expected `stateDiagram-v2`")
}

/// Reports `stateDiagram-v3`, `stateDiagram;`.
fn misspelt_header(word: Span, written: &str) -> Diagnostic {
    let message = format!("`{}` is no header of a state diagram", quote(written));
    missing_header(word, message).safe_fix("write `stateDiagram-v2`", word, "stateDiagram-v2")
}

/// Reports a header that isn't detected: in capitals, or after something else.
fn undetected_header(header: Span, written: &str) -> Diagnostic {
    if written.starts_with("stateDiagram") {
        return missing_header(header, "the header must come before everything else")
            .label("something precedes it");
    }
    misspelt_header(header, written)
}

/// Reports `stateDiagram-v2 direction LR`.
fn direction_in_header(line: Span) -> Diagnostic {
    missing_header(line, "the header needs a line of its own")
        .label("Mermaid reads this line as a direction and nothing else")
        .help("put the direction on the next line")
}
