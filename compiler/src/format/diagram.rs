//! The canonical form of diagrams.
//!
//! It has indentation by nesting, a blank on both sides of arrows and colons, and nothing at the end of a line.

use std::ops::Range;

use super::replace;
use crate::diag::Edit;
use crate::excerpt::Excerpt;
use crate::front::mermaid::ast::{Body, Diagram, Endpoint, Statement, StatementKind};
use crate::source::Span;

/// The indentation of a level.
const INDENT: &str = "    ";

/// The statements of a diagram, as ranges of its excerpt.
#[derive(Default)]
struct Layout {
    /// The text between braces, the signs included.
    bodies: Vec<Range<usize>>,
    /// Statements of several lines whose text belongs to their author, such as notes.
    verbatim: Vec<Range<usize>>,
    /// Gaps within statements, with what has to be there.
    gaps: Vec<(Range<usize>, &'static str)>,
}

/// Adds the edits that bring a diagram into its canonical form.
pub(super) fn add_edits(text: &str, excerpt: &Excerpt, diagram: &Diagram, edits: &mut Vec<Edit>) {
    let Some(header) = diagram.header.and_then(|it| excerpt.offset_of(it.start)) else {
        return;
    };
    let mut layout = Layout::default();
    read(&diagram.body, excerpt, &mut layout);
    for (gap, blanks) in &layout.gaps {
        let old = excerpt.text().get(gap.clone()).unwrap_or_default();
        match old.split_once(':').filter(|_| *blanks == " : ") {
            // The sign stays; the blanks on both of its sides are made one.
            Some((left, _)) => {
                let colon = gap.start + left.len();
                replace(text, excerpt, gap.start..colon, " ", edits);
                replace(text, excerpt, colon + 1..gap.end, " ", edits);
                add_missing(excerpt, gap.start..colon, edits);
                add_missing(excerpt, colon + 1..gap.end, edits);
            }
            None => {
                replace(text, excerpt, gap.clone(), blanks, edits);
                add_missing(excerpt, gap.clone(), edits);
            }
        }
    }
    let mut at = 0;
    let mut blank_lines = 0;
    for line in excerpt.text().split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let content = line.trim_end_matches(['\n', '\r']);
        let words = content.trim();
        let start = range.start + (content.len() - content.trim_start().len());
        let is_inside = |it: &Range<usize>| it.start < start && start < it.end;
        if range.start < header || layout.verbatim.iter().any(is_inside) || words.starts_with("%%{")
        {
            blank_lines = 0;
            continue;
        }
        if words.is_empty() {
            blank_lines += 1;
            replace(
                text,
                excerpt,
                range.start..range.start + content.len(),
                "",
                edits,
            );
            // A second blank line says no more than the first. In a quote or a list, its beginning would stay.
            let line_end = range.start + content.len()..range.end;
            let line_start = excerpt.span(range.clone()).range().start;
            let before = text.get(..line_start).unwrap_or_default();
            if blank_lines > 1 && before.ends_with('\n') {
                replace(text, excerpt, line_end, "", edits);
            }
            continue;
        }
        blank_lines = 0;
        let closes = |it: &&Range<usize>| it.start < start && start + 1 < it.end;
        let depth = layout.bodies.iter().filter(closes).count();
        let depth = depth + usize::from(range.start > header);
        let indent = INDENT.repeat(depth);
        if range.start == start {
            // Blanks up to the column of the fence, and one after the sign of a quote, are theirs. Where they are missing,
            // the first of ours would be taken for them.
            let place = excerpt.span(start..start + 1).range().start;
            let before = text.get(..place).unwrap_or_default();
            let before = before.rsplit('\n').next().unwrap_or_default();
            let sign = if before.ends_with('>') { " " } else { "" };
            let missing = excerpt.prefix().strip_prefix(before).unwrap_or(sign);
            insert(excerpt, start, &format!("{missing}{indent}"), edits);
        } else {
            replace(text, excerpt, range.start..start, &indent, edits);
        }
        let end = start + words.len();
        // After a colon, a blank is the text of its line; within a statement, it may be anything.
        let continues = |it: &Range<usize>| it.start <= start && end < it.end;
        if !words.ends_with(':') && !layout.verbatim.iter().any(continues) {
            let rest = end..range.start + content.len();
            replace(text, excerpt, rest, "", edits);
        }
    }
}

/// Adds a blank where there is none yet.
fn add_missing(excerpt: &Excerpt, gap: Range<usize>, edits: &mut Vec<Edit>) {
    if gap.is_empty() {
        insert(excerpt, gap.start, " ", edits);
    }
}

fn insert(excerpt: &Excerpt, at: usize, blanks: &str, edits: &mut Vec<Edit>) {
    if !blanks.is_empty() {
        edits.push(Edit {
            span: excerpt.span(at..at + 1).before(),
            text: blanks.to_owned(),
        });
    }
}

fn read(body: &Body, excerpt: &Excerpt, layout: &mut Layout) {
    for statement in &body.statements {
        read_statement(statement, excerpt, layout);
    }
}

fn read_statement(statement: &Statement, excerpt: &Excerpt, layout: &mut Layout) {
    let range = |span: Span| {
        let start = excerpt.offset_of(span.start)?;
        let end = excerpt.offset_of(span.end.checked_sub(1)?)? + 1;
        (start <= end).then_some(start..end)
    };
    let Some(whole) = range(statement.span) else {
        return;
    };
    let is_one_line = !excerpt
        .text()
        .get(whole.clone())
        .is_some_and(|text| text.contains('\n'));
    let mut gap = |from: Option<Range<usize>>, to: Option<Range<usize>>, blanks| {
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        let between = excerpt.text().get(from.end..to.start).unwrap_or("\n");
        let sign = if blanks == " : " { ":" } else { "" };
        if from.end <= to.start && between.trim() == sign && !between.contains('\n') {
            layout.gaps.push((from.end..to.start, blanks));
        }
    };
    match &statement.kind {
        StatementKind::Transition(it) => {
            gap(range(end_of(&it.source)), range(it.arrow), " ");
            gap(range(it.arrow), range(it.target.span), " ");
            if let Some(label) = it
                .label
                .as_ref()
                .filter(|it| !it.text.value.trim().is_empty())
            {
                gap(range(end_of(&it.target)), range(label.text.span), " : ");
            }
        }
        StatementKind::Declaration(declaration) => {
            if let Some(body) = &declaration.body {
                layout.bodies.push(whole);
                read(body, excerpt, layout);
                return;
            }
        }
        _ => {}
    }
    if !is_one_line {
        layout.verbatim.push(whole);
    }
}

/// Returns the span of an end of a transition, with its class.
fn end_of(endpoint: &Endpoint) -> Span {
    match &endpoint.class {
        Some(class) => endpoint.span.to(class.span),
        None => endpoint.span,
    }
}
