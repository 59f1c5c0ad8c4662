//! Text that others wrote, made safe to show: what can't be seen is shown as what it is.
//!
//! An agent's prompt, a client's name or an event's data can hold terminal commands, direction marks and invisible
//! characters, by which a person would see something else than what is there.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// Reports whether a character changes how others are shown, or can't be seen.
///
/// Those are control characters, marks of direction (Unicode's `Bidi_Control`), and characters of no width
/// (`Default_Ignorable_Code_Point`, without the joiners and selectors that letters and emoji need inside of words).
#[must_use]
pub const fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{0}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns what a reader can tell texts apart by: what has a shape, and one blank between words.
///
/// Two texts with the same one look alike: letters are compared as they are composed (NFKC). Other letters that look alike,
/// such as those of different scripts, stay apart.
#[must_use]
pub fn shape(text: &str) -> String {
    // The last one is a note without a head, and shows nothing.
    let is_joiner = |letter: char| {
        matches!(
            letter,
            '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1d159}'
        )
    };
    let is_blank = |it: char| it.is_whitespace() || it == '\u{2800}';
    let words = text.split(is_blank).map(|word| {
        let shown = word.chars().filter(|it| !is_hidden(*it) && !is_joiner(*it));
        shown.nfkc().collect::<String>()
    });
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Returns one line of text in which hidden characters stand as `\u{…}`, and line breaks as `⏎`.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    escape(
        text,
        |_| false,
        |character| match character {
            '\n' => "⏎".to_owned(),
            hidden => code_point(hidden),
        },
    )
}

/// Returns text of several lines in which hidden characters but line breaks and tabs stand as `\u{…}`.
///
/// `is_own` allows further ones at a place: the commands to a terminal that the caller itself has written. It gets the
/// text from the character on, and returns how many bytes of it stay.
#[must_use]
pub fn lines(text: &str, is_own: impl Fn(&str) -> usize) -> Cow<'_, str> {
    if !text.contains(|it: char| is_hidden(it) && it != '\n' && it != '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let own = is_own(rest).min(rest.len());
        let length = own.max(character.len_utf8());
        let (head, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if own == 0 && is_hidden(character) && character != '\n' && character != '\t' {
            out += &code_point(character);
        } else {
            out += head;
        }
        rest = tail;
    }
    Cow::Owned(out)
}

/// Returns JSON in which hidden characters stand as JSON's escapes: the same value.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    // JSON's own text escapes control characters below the blank already; what is left of them are its line breaks.
    escape(
        text,
        |it| it <= '\u{1f}',
        |character| {
            let mut units = [0; 2];
            let units = character.encode_utf16(&mut units);
            units.iter().map(|unit| format!("\\u{unit:04x}")).collect()
        },
    )
}

fn code_point(character: char) -> String {
    format!("\\u{{{:x}}}", u32::from(character))
}

fn escape(
    text: &str,
    stays: impl Fn(char) -> bool,
    write: impl Fn(char) -> String,
) -> Cow<'_, str> {
    let is_written = |it: char| is_hidden(it) && !stays(it);
    if !text.contains(is_written) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_written(character) {
            out += &write(character);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_look_alike_have_one_shape() {
        for (text, shape_of) in [
            ("delete all", "delete all"),
            (" delete\u{a0}\t all\n", "delete all"),
            ("de\u{200d}lete\u{fe0f} al\u{200b}l", "delete all"),
            ("\u{2800} \u{3164}\u{e0041}", ""),
            ("👩\u{200d}💻", "👩💻"),
            ("cafe\u{301} \u{212a}", "café K"),
            ("\u{1100}\u{1161}", "가"),
            ("a\u{1d159}", "a"),
        ] {
            assert_eq!(shape(text), shape_of, "{text:?}");
        }
    }

    #[test]
    fn hidden_characters_are_shown_as_what_they_are() {
        let evil = "delete?\x1b[1A\x1b[2K\u{202e}\u{200b}ok\nby ann\tnow";
        assert_eq!(
            line(evil),
            r"delete?\u{1b}[1A\u{1b}[2K\u{202e}\u{200b}ok⏎by ann\u{9}now"
        );
        assert_eq!(
            lines(evil, |_| 0),
            "delete?\\u{1b}[1A\\u{1b}[2K\\u{202e}\\u{200b}ok\nby ann\tnow"
        );
        let own = |rest: &str| if rest.starts_with("\x1b[1m") { 4 } else { 0 };
        assert_eq!(lines("\x1b[1mé\x1b[2K", own), "\x1b[1mé\\u{1b}[2K");
        assert!(matches!(lines("plain\n\tétat", |_| 0), Cow::Borrowed(_)));
        assert!(matches!(line("plain état 👩‍💻"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_keeps_its_value() {
        assert_eq!(json("{\"a\": \"\u{202e}\"}\n"), "{\"a\": \"\\u202e\"}\n");
        assert_eq!(json("\u{e0041}"), "\\udb40\\udc41");
    }
}
