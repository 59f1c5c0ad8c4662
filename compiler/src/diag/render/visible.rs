//! Visible substitutes for characters that a terminal would interpret or hide.

use std::borrow::Cow;

/// Returns the substitute for a character, or `None` if it can be shown as it is.
///
/// Control characters become their pictures; characters that change the writing direction or have no width become `�`. A
/// joiner after a character outside ASCII is part of an emoji or of a word in another script, and is kept.
pub(super) fn stand_in(character: char, before: Option<char>) -> Option<char> {
    match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('␡'),
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => Some('\u{fffd}'),
        '\u{200c}' | '\u{200d}' if before.is_none_or(|before| before.is_ascii()) => {
            Some('\u{fffd}')
        }
        _ => None,
    }
}

/// Returns a text on one line, with every character visible.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    replace(text, |_| false)
}

/// Returns a text with every character visible; tabs and line ends are kept.
pub(super) fn visible_lines(text: &str) -> Cow<'_, str> {
    replace(text, |character| matches!(character, '\n' | '\t'))
}

fn replace(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if plain {
        return Cow::Borrowed(text);
    }
    let mut before = None;
    let shown = text
        .chars()
        .map(|character| {
            let stand_in = stand_in(character, before).filter(|_| !keep(character));
            before = Some(character);
            stand_in.unwrap_or(character)
        })
        .collect();
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_visible_characters_reach_the_terminal() {
        assert_eq!(visible("a\u{1b}[31mb\r\nc"), "a␛[31mb␍␊c");
        assert_eq!(visible("x\u{202e}y\u{200b}z\u{9b}"), "x�y�z�");
        assert_eq!(visible_lines("a\n\tb\u{7}"), "a\n\tb␇");
    }

    #[test]
    fn joiners_stay_where_they_join() {
        assert_eq!(visible("👩\u{200d}💻"), "👩\u{200d}💻");
        assert_eq!(visible("a\u{200d}b"), "a�b");
    }
}
