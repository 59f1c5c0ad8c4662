//! Characters that nobody sees: Unicode's default-ignorable ones.
//!
//! They are part of a name all the same, so two names that look alike can be two states. Not reported: the joiners and
//! variation marks that an emoji or a script needs.

/// The default-ignorable characters, as ranges.
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

/// Scripts that join their letters with zero-width characters: Arabic and its kin, and those of India.
const JOINING: [(char, char); 2] = [('\u{600}', '\u{8ff}'), ('\u{900}', '\u{dff}')];

/// A name without what can't be seen, or `None` where it has nothing of the kind.
pub(super) fn strip(name: &str) -> Option<String> {
    found(name).next()?;
    let hidden: Vec<bool> = flags(name).collect();
    let kept = name.chars().zip(hidden).filter(|&(_, hidden)| !hidden);
    Some(kept.map(|(c, _)| c).collect())
}

/// What can't be seen in a name.
pub(super) fn found(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .zip(flags(name))
        .filter(|&(_, hidden)| hidden)
        .map(|(c, _)| c)
}

/// For each character of a name whether it is hidden and has no business there.
fn flags(name: &str) -> impl Iterator<Item = bool> {
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
