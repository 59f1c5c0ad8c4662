//! What a heading means.

use std::ops::Range;

use super::outline::Heading;

/// The words of a section's heading.
const TITLE: &str = "STATE-MACHINE";

/// What a heading means to this front end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It starts a machine's section.
    Section {
        /// The bytes of the name behind the colon.
        name: Option<Range<usize>>,
    },
    /// It looks as if it was meant to.
    NearMiss {
        /// The heading that its author may have meant.
        right: String,
        /// Whether that heading gives a name that this one may not have been meant to give.
        names: bool,
        /// Whether it is written in capitals, as nobody writes a heading by chance.
        capitals: bool,
    },
    /// It starts the instructions of the state whose id has those bytes.
    Instructions(Range<usize>),
    /// It is prose.
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
    if let Some(miss) = near_miss(&heading.words) {
        return miss;
    }
    match &heading.code {
        Some(code) if heading.level == 3 => Meaning::Instructions(code.clone()),
        _ => Meaning::Other,
    }
}

/// The bytes of a name in the text behind the colon, which begins at `start`; a code span's backticks aren't part of it.
fn name_range(behind: &str, start: usize) -> Option<Range<usize>> {
    let is_around = |sign: char| sign.is_whitespace() || sign == '`';
    let name = behind.trim_matches(is_around);
    let lead = behind.len() - behind.trim_start_matches(is_around).len();
    (!name.is_empty()).then(|| start + lead..start + lead + name.len())
}

/// Whether somebody who wrote those words in a heading plausibly meant to start a section.
///
/// Only letters are compared, so that numbering (`3. `), signs (`§`) and other dashes don't matter. A heading that says
/// more (`How the state machine works`) is prose, unless it begins with the very words and goes on like a name.
fn near_miss(words: &str) -> Option<Meaning> {
    let letters: String = words.chars().filter(|sign| sign.is_alphabetic()).collect();
    let lower = letters.to_lowercase();
    if lower == "statemachine" || lower == "statemachines" {
        return Some(Meaning::NearMiss {
            right: format!("## {TITLE}"),
            names: false,
            capitals: letters.starts_with("STATEMACHINE"),
        });
    }
    let behind = words.trim().strip_prefix(TITLE)?;
    let separators = [':', '-', '–', '—', '(', '='];
    let apart = behind.trim_start().starts_with(separators);
    let name = behind.trim_matches(|sign: char| {
        sign.is_whitespace() || separators.contains(&sign) || sign == ')'
    });
    let is_name = if apart {
        !name.is_empty()
    } else {
        behind.starts_with(char::is_whitespace) && name.split_whitespace().count() == 1
    };
    is_name.then(|| Meaning::NearMiss {
        right: format!("## {TITLE}: {name}"),
        names: true,
        capitals: true,
    })
}
