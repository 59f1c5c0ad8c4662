//! Front matter: the YAML between `---` lines at the very start of a document.
//!
//! It is found here and not by Markdown's parser, which takes any `---` in a document for the start of a metadata block and
//! so would swallow sections that stand between two thematic breaks. TOML between `+++` lines is skipped.

use std::ops::Range;

use serde::Deserialize;

use super::document::Document;
use super::outline;
use crate::diag::{Code, Diagnostic, Diags};
use crate::front::yaml::{Trouble, bytes_of};
use crate::source::{FileId, Span, Spanned};

/// The bytes of the YAML in the front matter, if there is any, and where the document proper begins.
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
            let behind = text.get(at..).and_then(|rest| rest.find('\n'));
            let body = behind.map_or(text.len(), |newline| at + newline + 1);
            return ((fence == "---").then_some(inner..at), body);
        }
    }
    (None, start)
}

/// What is read of the front matter; agents' other keys are no concern of ours.
#[derive(Default, Deserialize)]
struct FrontMatter {
    name: Option<serde_saphyr::Spanned<String>>,
    description: Option<serde_saphyr::Spanned<String>>,
}

/// Reads `name` and `description` of the YAML in `range` into the document.
pub(super) fn read(
    file: FileId,
    text: &str,
    range: Range<usize>,
    document: &mut Document,
    diags: &mut Diags,
) {
    let yaml = text.get(range.clone()).unwrap_or_default();
    let place = |location: serde_saphyr::Location| {
        let at = bytes_of(yaml, location.span());
        outline::span(file, &(range.start + at.start..range.start + at.end))
    };
    match serde_saphyr::from_str::<Option<FrontMatter>>(yaml) {
        Ok(front) => {
            let FrontMatter { name, description } = front.unwrap_or_default();
            let spanned = |it: serde_saphyr::Spanned<String>| {
                Spanned::new(it.value.trim().to_owned(), place(it.referenced))
            };
            document.name = name.map(spanned).filter(|it| !it.value.is_empty());
            document.description = description.map(spanned);
        }
        Err(error) => {
            let trouble = Trouble::of(yaml, &error);
            let at = range.start + trouble.range.start..range.start + trouble.range.end;
            diags.push(unread_front_matter(outline::span(file, &at), &trouble));
        }
    }
}

/// The YAML can't be read at that place.
fn unread_front_matter(place: Span, trouble: &Trouble) -> Diagnostic {
    Diagnostic::new(
        Code::UnreadFrontMatter,
        place,
        format!("the front matter can't be read: {}", trouble.reason),
    )
    .note("without it, the machine takes its name from the heading, the definition, or the file")
    .help(trouble.help)
}
