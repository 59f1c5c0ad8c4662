//! The meaning of headings.

use std::ops::Range;

use super::outline::{Heading, TITLE};

/// The meaning of a heading to this front end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A heading that starts a machine's section.
    Section {
        /// The bytes of the name after the colon.
        name: Option<Range<usize>>,
    },
    /// A heading that looks as if it was meant to start one.
    NearMiss {
        /// The heading that its author may have meant.
        right: String,
        /// True if the suggested heading says something that this one may not have been meant to say.
        ///
        /// `## State machine` may head a drawing for people, of which a section would make a machine.
        is_guess: bool,
        /// True if it is reported even where no machine follows.
        ///
        /// It is odd, or it has the very words on the very level.
        is_likely: bool,
        /// True if it is written in capitals, as nobody writes a heading by chance.
        is_odd: bool,
    },
    /// A heading that starts the instructions of the state whose id has those bytes.
    Instructions(Range<usize>),
    /// Prose.
    Other,
}

/// Tells what a heading means. `text` is the whole document.
pub(super) fn meaning(text: &str, heading: &Heading) -> Meaning {
    let written = text.get(heading.content.clone()).unwrap_or_default();
    if heading.level == 2 {
        if written == TITLE {
            return Meaning::Section { name: None };
        }
        if let Some(name) = written
            .strip_prefix(TITLE)
            .and_then(|it| it.strip_prefix(':'))
        {
            let start = heading.content.end - name.len();
            return Meaning::Section {
                name: name_range(name, start),
            };
        }
    }
    if let Some(miss) = near_miss(&heading.words, heading.level) {
        return miss;
    }
    match &heading.code {
        Some(code) if heading.level == 3 => Meaning::Instructions(code.clone()),
        _ => Meaning::Other,
    }
}

/// Returns the bytes of a name in the text after the colon, which begins at `start`.
///
/// A code span's backticks aren't part of it.
fn name_range(rest: &str, start: usize) -> Option<Range<usize>> {
    let is_around = |sign: char| sign.is_whitespace() || sign == '`';
    let name = rest.trim_matches(is_around);
    let lead = rest.len() - rest.trim_start_matches(is_around).len();
    (!name.is_empty()).then(|| start + lead..start + lead + name.len())
}

/// Returns true if the words of a heading are nearly those of a section's.
pub(super) fn is_near_miss(words: &str) -> bool {
    near_miss(words, 2).is_some()
}

/// Tests that somebody who wrote those words in a heading plausibly meant to start a section.
///
/// Only letters are compared, so that numbering (`3. `), signs (`§`) and other dashes don't matter, and one typing error is
/// forgiven. A heading that says more (`How the state machine works`) is prose, unless it begins with the words, and then
/// continues like a name: after a colon or a dash, or as a single word after the very words.
fn near_miss(words: &str, level: u8) -> Option<Meaning> {
    if let Some(title) = title(words) {
        return Some(Meaning::NearMiss {
            right: format!("## {TITLE}"),
            is_guess: title.has_article || !title.capitals,
            is_likely: title.capitals || (level == 2 && title.exact && !title.has_article),
            is_odd: title.capitals,
        });
    }
    let is_separator = |sign: char| matches!(sign, ':' | '：' | '-' | '–' | '—' | '(' | '=');
    // More separators than these in front of the name are no title.
    for (at, sign) in words.match_indices(is_separator).take(4) {
        let Some(title) = words.get(..at).and_then(title) else {
            continue;
        };
        let name = words
            .get(at..)
            .unwrap_or_default()
            .trim_matches(|sign: char| {
                sign.is_whitespace() || is_separator(sign) || matches!(sign, ')' | '`')
            });
        let is_prose = !title.capitals && name.contains(char::is_whitespace);
        let right = if name.is_empty() {
            format!("## {TITLE}")
        } else {
            format!("## {TITLE}: {name}")
        };
        return Some(Meaning::NearMiss {
            right,
            is_guess: sign != ":" || is_prose || title.has_article || !title.capitals,
            is_likely: title.capitals,
            is_odd: title.capitals,
        });
    }
    let rest = words.trim().strip_prefix(TITLE)?;
    let name = rest.trim();
    let is_name = rest.starts_with(char::is_whitespace) && !name.contains(char::is_whitespace);
    is_name.then(|| Meaning::NearMiss {
        right: format!("## {TITLE}: {name}"),
        is_guess: true,
        is_likely: true,
        is_odd: true,
    })
}

/// A text that is nearly a section's title.
struct Title {
    /// True if its letters are in capitals.
    capitals: bool,
    /// True if its letters are right, but for capitals and a plural.
    exact: bool,
    /// True if it begins with an article.
    has_article: bool,
}

/// Reads words as a title if only their letters count and one of them may be wrong.
fn title(words: &str) -> Option<Title> {
    /// Longest text that is examined.
    ///
    /// Unit: letters. Why: the title has 12, an article 3, a plural and an error 1 each.
    const MOST: usize = 17;
    let letters: String = words
        .chars()
        .filter(|sign| sign.is_alphabetic())
        .take(MOST + 1)
        .collect();
    let lower = letters.to_lowercase();
    let article = ["the", "our", "a"].into_iter().find(|article| {
        let rest = lower.strip_prefix(article);
        rest.is_some_and(|rest| rest.starts_with("stat"))
    });
    let bare = article.map_or(0, str::len);
    let lower = lower.get(bare..)?;
    let exact = matches!(lower, "statemachine" | "statemachines");
    if !exact && !is_one_edit(lower, "statemachine") {
        return None;
    }
    let own = letters.get(bare..)?;
    Some(Title {
        capitals: own
            .strip_suffix('s')
            .unwrap_or(own)
            .chars()
            .all(char::is_uppercase),
        exact,
        has_article: article.is_some(),
    })
}

/// Returns true if one edit leads from one text to the other.
///
/// An edit adds, drops or changes a letter, or swaps two neighbors.
fn is_one_edit(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = |pair: &(&char, &char)| pair.0 == pair.1;
    let head = one.iter().zip(&other).take_while(same).count();
    let (one, other) = (
        one.get(head..).unwrap_or_default(),
        other.get(head..).unwrap_or_default(),
    );
    let (backward, other_backward) = (one.iter().rev(), other.iter().rev());
    let tail = backward.zip(other_backward).take_while(same).count();
    let left = |rest: &[char]| rest.len().saturating_sub(tail);
    match (left(one), left(other)) {
        (0 | 1, 0 | 1) => true,
        (2, 2) => matches!((one, other), ([a, b, ..], [c, d, ..]) if a == d && b == c),
        _ => false,
    }
}
