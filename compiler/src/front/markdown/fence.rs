//! The purpose of fences, and the intended end of one that isn't closed.

use std::ops::Range;

use super::outline::Fence;
use crate::excerpt::Excerpt;

/// The meaning of the words after a fence's marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// `mermaid`.
    Mermaid,
    /// `json definition` or `jsonc definition`.
    Definition {
        /// `jsonc`.
        comments: bool,
    },
    /// `json` or `jsonc` alone: an example.
    PlainJson {
        /// The bytes of that word.
        word: Range<usize>,
        /// `jsonc`.
        comments: bool,
    },
    /// Anything else.
    Other,
}

/// Returns the purpose of a fence. `text` is the whole document.
pub(super) fn language(text: &str, fence: &Fence) -> Language {
    let info = text.get(fence.info.clone()).unwrap_or_default();
    let mut words = info.split_whitespace();
    let first = words.next().unwrap_or_default();
    let comments = first.eq_ignore_ascii_case("jsonc");
    if first.eq_ignore_ascii_case("mermaid") {
        Language::Mermaid
    } else if !comments && !first.eq_ignore_ascii_case("json") {
        Language::Other
    } else if words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("definition"))
    {
        Language::Definition { comments }
    } else {
        Language::PlainJson {
            word: fence.info.start..fence.info.start + first.len(),
            comments,
        }
    }
}

/// Finds the first line of a fence that plainly doesn't belong to a diagram or definition.
///
/// It is the opening of another fence or, in a fence that nothing closes, a heading. Returns its range in the fence's
/// text.
///
/// A fence that its author forgot to close swallows the next one and is closed by that one's end, so closed ones are
/// looked at as well.
pub(super) fn overrun(fence: &Fence) -> Option<Range<usize>> {
    let sign = fence.marker.chars().next()?;
    let mut at = 0;
    for line in fence.text.text().split_inclusive('\n') {
        let words = line.trim_matches([' ', '\t', '\n']);
        // Whatever a shorter marker opens can't have had this fence's end for its own: it is shown here.
        let signs = words.len() - words.trim_start_matches(sign).len();
        let is_shown = fence.closed && signs < fence.marker.len();
        if is_shown {
            at += line.len();
            continue;
        }
        let opens = info(words, sign).is_some() || (!fence.closed && opens_ours(words));
        if opens || (!fence.closed && is_heading(words)) {
            return Some(at..at + line.trim_end().len());
        }
        at += line.len();
    }
    None
}

/// Returns true if a line from an offset on opens a fence that would hold a diagram or a definition.
pub(super) fn opens_part(text: &Excerpt, from: usize) -> bool {
    let lost = text.text().get(from..).unwrap_or_default();
    lost.lines().any(|line| opens_ours(line.trim()))
}

/// Returns true if a line opens a fence that would hold a diagram or a definition.
fn opens_ours(line: &str) -> bool {
    let info = info(line, '`').or_else(|| info(line, '~'));
    let mut words = info.unwrap_or_default().split_whitespace();
    let language = words.next().unwrap_or_default().to_ascii_lowercase();
    let second = words.next().unwrap_or_default();
    let is_definition = second.eq_ignore_ascii_case("definition");
    language == "mermaid" || (matches!(language.as_str(), "json" | "jsonc") && is_definition)
}

/// Returns the words after the marker of a line that opens a fence.
fn info(line: &str, sign: char) -> Option<&str> {
    let info = line.trim_start_matches(sign);
    let is_open = line.len() - info.len() >= 3;
    let info = info.trim();
    // With an arrow it is a transition of a diagram, whatever the state is called that it leads from.
    (is_open && info.starts_with(char::is_alphabetic) && !info.contains("-->")).then_some(info)
}

/// Returns true if a line is a heading with `#`.
fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (1..=6).contains(&level) && text.starts_with(' ') && !text.trim().is_empty()
}

/// Returns the prefix of a fence on a further line of its container.
///
/// Quote marks stay, list markers become blanks.
pub(super) fn continuation(prefix: &str) -> String {
    prefix
        .chars()
        .map(|sign| {
            if matches!(sign, '>' | '\t') {
                sign
            } else {
                ' '
            }
        })
        .collect()
}
