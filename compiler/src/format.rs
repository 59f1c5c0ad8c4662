//! The canonical form of diagrams and definitions, inside their documents.
//!
//! [`format_text`] changes nothing but blanks: indentation, the blanks around arrows and colons, those between the tokens of
//! JSON, and line breaks where JSON has them. Words, comments and the order of everything stay, and so does the rest of
//! a document.
//!
//! What to rely on: the machines of the result are those of the text, byte for byte in their tables, or nothing is changed;
//! formatting twice changes nothing more. What has an error is left as it is.

mod diagram;
mod json;

use crate::back;
use crate::diag::apply::write_edits;
use crate::diag::{Diags, Edit, Severity};
use crate::excerpt::Excerpt;
use crate::front::{markdown, mermaid};
use crate::pipeline::{Compiled, Format, Options, compile};
use crate::source::Sources;

/// The result of formatting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Formatted {
    /// The canonical text, which may be the one that was given.
    Text(String),
    /// The spec has errors, so nothing is known of what it means.
    Errors,
    /// The canonical text would mean something else. This is a defect.
    Changed,
}

/// Returns the canonical form of a spec.
///
/// ```
/// use statemark_compiler::{Formatted, format_text};
///
/// let text = "stateDiagram-v2\n[*]-->open\n  open --> [*]:close  \n";
/// let canonical = "stateDiagram-v2\n    [*] --> open\n    open --> [*] : close\n";
/// assert_eq!(format_text("door.mmd", text), Formatted::Text(canonical.to_owned()));
/// ```
#[must_use]
pub fn format_text(name: &str, text: &str) -> Formatted {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let before = compile(&sources, &Options::default());
    if has_errors(&before) {
        return Formatted::Errors;
    }
    let mut edits: Vec<Edit> = Vec::new();
    let whole = Excerpt::whole(file, text);
    match Format::of_name(name) {
        Format::Diagram => add_diagram(text, &whole, &mut edits),
        Format::Definition => json::add_edits(text, &whole, &mut edits),
        Format::Scxml => {}
        Format::Markdown => {
            let document = markdown::parse_document(file, text, false, &mut Diags::new());
            for section in &document.sections {
                if let Some(diagram) = &section.diagram {
                    add_diagram(text, diagram, &mut edits);
                }
                if let Some(definition) = &section.definition {
                    json::add_edits(text, &definition.text, &mut edits);
                }
            }
        }
    }
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let new = write_edits(text, edits.iter());
    if new == text {
        return Formatted::Text(new);
    }
    let mut sources = Sources::new();
    sources.add(name, new.as_str());
    let after = compile(&sources, &Options::default());
    let codes =
        |compiled: &Compiled| -> Vec<_> { compiled.diagnostics.iter().map(|it| it.code).collect() };
    let tables = |compiled: &Compiled| -> Vec<Vec<u8>> {
        compiled.machines.iter().map(back::table::write).collect()
    };
    match tables(&before) == tables(&after) && codes(&before) == codes(&after) {
        true => Formatted::Text(new),
        false => Formatted::Changed,
    }
}

fn has_errors(compiled: &Compiled) -> bool {
    let mut findings = compiled.diagnostics.iter();
    findings.any(|found| found.severity == Severity::Error)
}

fn add_diagram(text: &str, excerpt: &Excerpt, edits: &mut Vec<Edit>) {
    let diagram = mermaid::parse_diagram(excerpt, &mut Diags::new());
    diagram::add_edits(text, excerpt, &diagram, edits);
}

/// Adds the edit that makes a range of an excerpt another text of blanks, unless it is that text.
///
/// A range that has more in the file than in the excerpt, such as the `>` of a quote, is left alone.
fn replace(
    text: &str,
    excerpt: &Excerpt,
    range: std::ops::Range<usize>,
    blanks: &str,
    edits: &mut Vec<Edit>,
) {
    if range.is_empty() {
        return;
    }
    let old = excerpt.text().get(range.clone()).unwrap_or_default();
    let span = excerpt.span(range);
    let is_whole = text.get(span.range()) == Some(old);
    if old != blanks && is_whole && old.chars().all(char::is_whitespace) {
        edits.push(Edit {
            span,
            text: blanks.to_owned(),
        });
    }
}
