//! Front matter: the YAML between `---` lines at the very start of a document.
//!
//! It is found here and not by Markdown's parser, which takes any `---` in a document for the start of a metadata block and
//! so would swallow sections between two thematic breaks. TOML between `+++` lines is skipped.

use std::ops::Range;

use super::document::Document;
use super::outline;
use crate::diag::{Code, Diagnostic, Diags};
use crate::front::yaml::{self, YamlError};
use crate::source::{FileId, Span, Spanned};

/// Splits a text into the YAML of its front matter, if any, and the start of the document proper.
///
/// A byte order mark belongs to neither.
pub(super) fn split(text: &str) -> (Option<Range<usize>>, usize) {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lines = text
        .get(start..)
        .unwrap_or_default()
        .split_inclusive('\n')
        .scan(start, |at, line| {
            *at += line.len();
            Some((*at - line.len(), line.trim_end()))
        });
    let Some((_, fence @ ("---" | "+++"))) = lines.next() else {
        return (None, start);
    };
    let mut inner: Option<usize> = None;
    for (at, line) in lines {
        let inner = *inner.get_or_insert(at);
        if line == fence || (fence == "---" && line == "...") {
            let newline_at = text.get(at..).and_then(|rest| rest.find('\n'));
            let body = newline_at.map_or(text.len(), |newline| at + newline + 1);
            return ((fence == "---").then_some(inner..at), body);
        }
    }
    (None, start)
}

/// Reads `name` and `description` of the YAML in `range` into the document.
///
/// The other keys belong to agents.
pub(super) fn read(
    file: FileId,
    text: &str,
    range: Range<usize>,
    document: &mut Document,
    diags: &mut Diags,
) {
    let place =
        |at: &Range<usize>| outline::span(file, &(range.start + at.start..range.start + at.end));
    let yaml = text.get(range.clone()).unwrap_or_default();
    match read_values(yaml) {
        Ok([name, description]) => {
            let spanned = |(text, at): Text| Spanned::new(text, place(&at));
            document.name = name.map(spanned).filter(|it| !it.value.is_empty());
            document.description = description.map(spanned);
        }
        Err(error) => diags.push(unread_front_matter(place(&error.range), &error)),
    }
}

/// A text and its range in the YAML.
type Text = (String, Range<usize>);

/// Returns `name` and `description`.
fn read_values(yaml: &str) -> Result<[Option<Text>; 2], YamlError> {
    let root = yaml::parse(yaml)?;
    let entries = root.as_ref().map_or(Ok(&[][..]), yaml::expect_map)?;
    let mut values = [None, None];
    for (key, node) in entries {
        let value = match key.value.text() {
            Some("name") => &mut values[0],
            Some("description") => &mut values[1],
            _ => continue,
        };
        *value = yaml::expect_text(node)?.map(|text| (text.trim().to_owned(), node.range.clone()));
    }
    Ok(values)
}

/// Reports front matter that can't be read.
fn unread_front_matter(place: Span, error: &YamlError) -> Diagnostic {
    let message = format!("the front matter can't be read: {}", error.reason);
    Diagnostic::new(Code::UnreadFrontMatter, place, message)
        .note(
            "without it, the machine takes its name from the heading, the definition, or the file",
        )
        .help(error.help)
}
