//! Invisible characters in names: Unicode's default-ignorable ones.
//!
//! They are part of a name, so two names that look alike can be two states. The joiners and variation selectors that an
//! emoji or a script needs aren't reported.

use super::messages::quote;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// The ranges of default-ignorable characters.
///
/// Source: Unicode 16, `DerivedCoreProperties.txt`, `Default_Ignorable_Code_Point`.
const IGNORABLE: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Scripts that join their letters with zero-width characters: Arabic and related ones, and India's.
const JOINING: [(char, char); 2] = [('\u{600}', '\u{8ff}'), ('\u{900}', '\u{dff}')];

/// Returns a diagnostic for a name that holds invisible characters.
pub(super) fn check(span: Span, name: &str) -> Option<Diagnostic> {
    let visible = without_hidden(name)?;
    Some(invisible_character(span, name, &visible))
}

/// Returns a name without its hidden characters, or `None` if it has none.
fn without_hidden(name: &str) -> Option<String> {
    hidden_chars(name).next()?;
    let hidden: Vec<bool> = hidden_flags(name).collect();
    let kept = name.chars().zip(hidden).filter(|&(_, hidden)| !hidden);
    Some(kept.map(|(c, _)| c).collect())
}

/// Returns the hidden characters of a name.
fn hidden_chars(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .zip(hidden_flags(name))
        .filter(|&(_, hidden)| hidden)
        .map(|(c, _)| c)
}

/// Returns for each character of a name whether it is hidden without need.
fn hidden_flags(name: &str) -> impl Iterator<Item = bool> {
    let mut before = ' ';
    name.chars().map(move |c| {
        if !within(&IGNORABLE, c) {
            before = c;
            return false;
        }
        let joiner = matches!(c, '\u{200c}' | '\u{200d}');
        let emoji_part =
            c == '\u{200d}' || within(&[('\u{fe00}', '\u{fe0f}'), ('\u{e0020}', '\u{e007f}')], c);
        let symbol = !before.is_ascii() && !before.is_alphanumeric();
        let keycap = matches!(c, '\u{fe0f}') && matches!(before, '#' | '*' | '0'..='9');
        !(joiner && within(&JOINING, before) || emoji_part && symbol || keycap)
    })
}

fn within(ranges: &[(char, char)], c: char) -> bool {
    ranges.iter().any(|&(first, last)| first <= c && c <= last)
}

/// Reports a state name that looks like another one.
fn invisible_character(span: Span, name: &str, visible: &str) -> Diagnostic {
    let shown: Vec<String> = hidden_chars(name)
        .map(|c| format!("U+{:04X}", u32::from(c)))
        .collect();
    let shown = shown.join(", ");
    let visible = quote(visible);
    let message = format!("a name that looks like `{visible}` holds what can't be seen");
    Diagnostic::new(Code::InvisibleCharacter, span, message)
        .label(shown)
        .note("names that differ in it are different states")
        .unsafe_fix(format!("write `{visible}`"), span, visible)
}
