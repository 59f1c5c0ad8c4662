//! JSON before it is parsed: its number of values, and objects that have a key twice.
//!
//! JSON's grammar allows that, and readers disagree about which of the two counts: most take the last, some the first, some
//! refuse (RFC 8259, section 4). So whoever decides by JSON that others wrote refuses it, and nobody who reads the same
//! text, such as a proxy or a reviewer, can have seen something else.
//!
//! What to rely on: keys are compared as what they spell, so that `"a"` and `"\u0061"` are one key. The work grows with the
//! text, however deep or wide it is.
//!
//! Deliberately not here: whether a text is JSON at all. Of one that isn't, any key may be found or none.

use std::borrow::Cow;

/// Counts the values of a text, with the names of members, before it takes memory to parse it.
///
/// A value takes up to some hundred times its size in memory. Of what isn't JSON the number means nothing.
#[must_use]
pub fn count_values(text: &[u8]) -> usize {
    // Each value and each name but the first in a list or an object comes behind one of these.
    let (mut values, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b':' | b'[' | b'{' if !is_text => values = values.saturating_add(1),
            _ => {}
        }
    }
    values
}

/// A key that stands twice in one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedKey {
    /// The key, as it reads.
    pub key: String,
    /// Its first place. Unit: bytes of the text.
    pub first: usize,
    /// The place of the repetition. Unit: bytes of the text.
    pub again: usize,
}

/// Lists the keys that stand in their object before, in the order of the text.
#[must_use]
pub fn find_repeated_keys(text: &[u8]) -> Vec<RepeatedKey> {
    let mut found = Vec::new();
    // The keys of the objects that are open, and where those of each object or list begin among them.
    let mut keys: Vec<(Cow<'_, [u8]>, usize)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b'{' | b'[' => open.push(keys.len()),
            b'}' | b']' => {
                let start = open.pop().unwrap_or_default();
                find_among(keys.get_mut(start..).unwrap_or_default(), &mut found);
                keys.truncate(start);
            }
            b'"' => {
                let string = string_at(text.get(at..).unwrap_or_default());
                at += string.len() + 1;
                let after = text.get(at..).unwrap_or_default().trim_ascii_start();
                if after.first() == Some(&b':') {
                    keys.push((unescape(string), begin));
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(|key| key.again);
    found
}

/// Describes the first key that stands twice in an object, with both places and how to mend it.
#[must_use]
pub fn describe_repeated_key(text: &[u8]) -> Option<String> {
    let repeated = find_repeated_keys(text).into_iter().next()?;
    let RepeatedKey { key, first, again } = repeated;
    let (first, again) = (describe_offset(text, first), describe_offset(text, again));
    Some(format!(
        "the key `{key}` stands twice in one object, at {first} and at {again}: readers of JSON disagree about which counts, so leave one out"
    ))
}

/// Returns an offset in words, with line and column from 1.
fn describe_offset(text: &[u8], offset: usize) -> String {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let begin = before.rsplit(|byte| *byte == b'\n').next();
    let column = String::from_utf8_lossy(begin.unwrap_or_default())
        .chars()
        .count()
        + 1;
    if text.contains(&b'\n') {
        format!("line {line}, column {column}")
    } else {
        format!("column {column}")
    }
}

/// Adds those of an object's keys that repeat another.
fn find_among(keys: &mut [(Cow<'_, [u8]>, usize)], found: &mut Vec<RepeatedKey>) {
    // Sorted by their places within one key, so that the first of them is the one that the others repeat.
    keys.sort_unstable();
    let mut first = None;
    for (key, at) in keys.iter() {
        match first {
            Some((earlier, first)) if earlier == key => found.push(RepeatedKey {
                key: String::from_utf8_lossy(key).into_owned(),
                first,
                again: *at,
            }),
            _ => first = Some((key, *at)),
        }
    }
}

/// Returns the string that begins after its quote, without its end.
fn string_at(text: &[u8]) -> &[u8] {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// Returns what a string spells. An escape that spells no character stays as it is written.
fn unescape(string: &[u8]) -> Cow<'_, [u8]> {
    if !string.contains(&b'\\') {
        return Cow::Borrowed(string);
    }
    let mut spelled = Vec::with_capacity(string.len());
    let mut rest = string;
    while let Some((byte, after)) = rest.split_first() {
        let (character, length) = match (byte, after.first()) {
            (b'\\', Some(b'u')) => escaped_character(rest),
            (b'\\', Some(escaped)) => (short_escape(*escaped), 2),
            _ => (None, 1),
        };
        let (written, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        match character {
            Some(character) => {
                spelled.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            None => spelled.extend_from_slice(written),
        }
        rest = after;
    }
    Cow::Owned(spelled)
}

const fn short_escape(escaped: u8) -> Option<char> {
    Some(match escaped {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'"' | b'\\' | b'/' => escaped as char,
        _ => return None,
    })
}

/// Returns the character that `\u` and its digits spell, and its length. Unit: bytes.
fn escaped_character(text: &[u8]) -> (Option<char>, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
        // `from_str_radix` takes a sign, too.
        let is_digits = digits.iter().all(u8::is_ascii_hexdigit);
        let digits = std::str::from_utf8(digits).ok().filter(|_| is_digits)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else {
        return (None, 2);
    };
    let units = [first, unit(6).unwrap_or_default()];
    let mut decoded = char::decode_utf16(units);
    match decoded.next() {
        Some(Ok(character)) => (Some(character), 6 * character.len_utf16()),
        _ => (None, 6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(text: &str) -> Vec<(String, usize, usize)> {
        let found = find_repeated_keys(text.as_bytes()).into_iter();
        found
            .map(|found| (found.key, found.first, found.again))
            .collect()
    }

    #[test]
    fn a_key_is_what_it_spells() {
        for (text, expected) in [
            (
                r#"{"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]}"#,
                vec![],
            ),
            (r#"{"a": 1, "a": 1}"#, vec![("a", 1, 9)]),
            (
                r#"{"a":1,"b":2,"a":3,"a":4}"#,
                vec![("a", 1, 13), ("a", 1, 19)],
            ),
            (r#"[{"x": {"b": 1, "a": 2, "b": 3}}]"#, vec![("b", 8, 24)]),
            (r#"{"a": 1, "\u0061": 2}"#, vec![("a", 1, 9)]),
            (r#"{"\ud83d\ude00": 1, "😀": 2}"#, vec![("😀", 1, 20)]),
            (
                r#"{"\"": 1, "\u0022": 2, "/": 3, "\/": 4}"#,
                vec![("\"", 1, 10), ("/", 23, 31)],
            ),
            // A value isn't a key, also where it looks like one.
            (r#"{"a": "a", "b": "\"a\": 1, \"a\": 2"}"#, vec![]),
            (r#"{"a": ["a", "a"], "A": "{\"a\":"}"#, vec![]),
            // Halves that lack the other are as they are written.
            (
                r#"{"\ud83d": 1, "\ud83e": 2, "\u+123": 3, "\u": 4}"#,
                vec![],
            ),
            (r#"{"\ud83d": 1, "\ud83d": 2}"#, vec![("\\ud83d", 1, 14)]),
            ("", vec![]),
            ("}]{\"a", vec![]),
        ] {
            let expected = expected.into_iter();
            let expected: Vec<_> = expected
                .map(|(key, first, again)| (key.to_owned(), first, again))
                .collect();
            assert_eq!(repeated(text), expected, "{text}");
        }
    }

    #[test]
    fn both_places_are_told() {
        let told = |text: &str| describe_repeated_key(text.as_bytes());
        assert_eq!(told("{}"), None);
        let one = told(r#"{"ä": 1, "ä": 2}"#).unwrap();
        assert!(
            one.contains("`ä`") && one.contains("at column 2 and at column 10"),
            "{one}"
        );
        let several = told("{\n  \"a\": 1,\n  \"a\": 2\n}").unwrap();
        assert!(
            several.contains("at line 2, column 3 and at line 3, column 3"),
            "{several}"
        );
    }

    #[test]
    fn the_work_grows_with_the_text() {
        let deep = "{\"a\":".repeat(200_000);
        assert_eq!(repeated(&deep), []);
        let wide: String = (0..200_000)
            .map(|number| format!("\"{number}\":0,"))
            .collect();
        assert_eq!(repeated(&format!("{{{wide}\"7\":1}}")).len(), 1);
        let same = "\"a\":0,".repeat(200_000);
        assert_eq!(repeated(&format!("{{{same}\"b\":1}}")).len(), 199_999);
    }
}
