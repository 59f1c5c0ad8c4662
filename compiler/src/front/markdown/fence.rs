//! The purpose of fences, and the intended end of one that isn't closed.

use std::ops::Range;

use super::outline::Fence;

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
        let marker = words.chars().take_while(|&other| other == sign).count();
        let info = words.trim_start_matches(sign).trim();
        let opens = marker >= 3 && info.chars().next().is_some_and(char::is_alphabetic);
        if opens || (!fence.closed && is_heading(words)) {
            return Some(at..at + line.trim_end().len());
        }
        at += line.len();
    }
    None
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
