//! Names out of free text.
//!
//! Half of the labels that people draw are prose. [`slug`] makes an identifier of a text, [`word_key`] tells which
//! spellings mean one name, [`is_identifier`] tells a name from prose.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use crate::front::mermaid::entity;

/// Returns a name in Unicode's composed form (NFC).
///
/// Names that differ only in the storage of their accents are one name.
#[must_use]
pub fn to_nfc(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.nfc().collect())
}

/// Returns whether a text is an identifier, in any case style.
///
/// `paid`, `planReady`, `PLAN_READY`, `plan-ready` and `order.paid` are.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    if text.is_ascii() {
        return is_ascii_identifier(text.as_bytes());
    }
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|first| first == '_' || first.is_alphabetic())
        && letters.all(|c| is_word(c) || c == '-' || c == '.')
        && !text.ends_with(['-', '.'])
        && !text.contains("--")
        && !text.contains("..")
}

/// Returns the same for ASCII alone, as most names are, in one pass.
fn is_ascii_identifier(text: &[u8]) -> bool {
    let mut before = None;
    let fits = |&byte: &u8| {
        let last = before.replace(byte);
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => true,
            b'0'..=b'9' => last.is_some(),
            b'-' | b'.' => last.is_some() && last != Some(byte),
            _ => false,
        }
    };
    text.iter().all(fits) && !matches!(before, None | Some(b'-' | b'.'))
}

/// Returns whether a character continues a word of an identifier (Unicode's `XID_Continue`).
fn is_word(c: char) -> bool {
    unicode_ident::is_xid_continue(c)
}

/// Returns the identifier that a text becomes: `User clicks "Pay"` becomes `user_clicks_pay`.
///
/// Empty if no letter of the text fits an identifier.
///
/// Entities are decoded, tags and line breaks are blanks, letters are composed (NFC), comparisons become words, letters
/// become lower case, each run of other characters becomes `_`, and `_` goes before a first digit. Letters of other
/// scripts stay as they are.
#[must_use]
pub fn slug(text: &str) -> String {
    let plain = strip_tags(&entity::decode(text));
    let spelled = to_nfc(&plain)
        .replace("<=", " le ")
        .replace(">=", " ge ")
        .replace("==", " eq ")
        .replace("!=", " ne ")
        .replace('≤', " le ")
        .replace('≥', " ge ")
        .replace('≠', " ne ")
        .replace('<', " lt ")
        .replace('>', " gt ")
        .replace('=', " eq ");
    let mut slug = String::with_capacity(spelled.len());
    let letters = spelled.chars().filter(|&c| !is_invisible(c));
    for c in letters.flat_map(char::to_lowercase).nfc() {
        if is_word(c) && c != '_' {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    let trimmed = slug.trim_end_matches('_');
    if trimmed.starts_with(|c: char| !unicode_ident::is_xid_start(c)) {
        return format!("_{trimmed}");
    }
    trimmed.to_owned()
}

/// Returns whether a character is invisible (Unicode's `Default_Ignorable_Code_Point`).
///
/// Such are zero-width blanks and joiners, soft hyphens, variation selectors and byte order marks.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Replaces each `<tag>` by a blank.
///
/// A `<` that no `>` follows, or that a blank follows, is a comparison.
pub(crate) fn strip_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        plain.push_str(before);
        let tag = after.split_once('>').filter(|(name, _)| {
            let name = name.strip_prefix('/').unwrap_or(name);
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains('<')
        });
        if let Some((_, after_tag)) = tag {
            plain.push(' ');
            rest = after_tag;
        } else {
            plain.push('<');
            rest = after;
        }
    }
    plain.push_str(rest);
    plain
}

/// Returns the words of an identifier, in lower case, joined by `_`.
///
/// `planReady`, `PLAN_READY` and `plan-ready` all give `plan_ready`. A name with dots keeps them: `order.paid` and `order_paid` are two names.
#[must_use]
pub fn word_key(name: &str) -> Cow<'_, str> {
    if is_word_key(name) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(statemark_runtime::words(&to_nfc(name)).collect())
}

/// Returns whether a name is its own key, as most are: lowercase ASCII words with one `_` between them.
fn is_word_key(name: &str) -> bool {
    let words = name.as_bytes().split(|&byte| byte == b'_');
    let is_letter = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut words = words.map(|word| !word.is_empty() && word.iter().all(is_letter));
    words.all(|is_word| is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_its_own_key_is_left_alone() {
        for (name, is_key) in [
            ("paid", true),
            ("plan_ready_2", true),
            ("", false),
            ("_paid", false),
            ("paid_", false),
            ("plan__ready", false),
            ("planReady", false),
            ("order.paid", false),
        ] {
            assert_eq!(is_word_key(name), is_key, "{name}");
            let key: String = statemark_runtime::words(name).collect();
            assert!(!is_key || key == name, "{name}: {key}");
        }
    }

    #[test]
    fn prose_becomes_an_identifier() {
        for (text, expected) in [
            ("User submits request", "user_submits_request"),
            ("user clicks \"Pay\"", "user_clicks_pay"),
            ("players < 4", "players_lt_4"),
            ("a<br/>b", "a_b"),
            ("x >= 3", "x_ge_3"),
            ("3 tries left", "_3_tries_left"),
            ("기간 만료", "기간_만료"),
            ("…", ""),
            ("Größe ≠ 2", "größe_ne_2"),
            ("a\u{200b}b", "ab"),
            ("E\u{301}tat \u{e9}crit", "\u{e9}tat_\u{e9}crit"),
            ("x =\u{338} 2", "x_ne_2"),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    #[test]
    fn spellings_of_one_name_agree() {
        for group in [
            &[
                "planReady",
                "PlanReady",
                "plan_ready",
                "PLAN_READY",
                "plan-ready",
            ][..],
            &["DONE", "done", "Done"],
            &["HTTPError", "httpError", "http_error"],
            &["cl\u{e9}", "cle\u{301}", "CLE\u{301}"],
        ] {
            let keys: Vec<_> = group.iter().map(|name| word_key(name)).collect();
            assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
        }
        assert_ne!(word_key("order.paid"), word_key("order_paid"));
    }

    #[test]
    fn identifiers_in_ascii_follow_the_rule_of_all() {
        let letters = ["", "a", "Z", "_", "7", "-", ".", " ", "é"];
        for one in letters {
            for two in letters {
                for three in letters {
                    let text = format!("{one}{two}{three}");
                    // A letter outside ASCII behind it takes the other path, and changes only what an end decides.
                    let ends_well = !text.is_empty() && !text.ends_with(['-', '.']);
                    let longer = is_identifier(&format!("{text}é"));
                    assert_eq!(is_identifier(&text), ends_well && longer, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn identifiers_are_told_from_prose() {
        for name in [
            "paid",
            "planReady",
            "PLAN_READY",
            "plan-ready",
            "order.paid",
            "größe",
            "_x",
            "a1",
        ] {
            assert!(is_identifier(name), "{name}");
        }
        for text in [
            "",
            "two words",
            "1st",
            "a()",
            "x < 3",
            "done.",
            "a--b",
            "-a",
        ] {
            assert!(!is_identifier(text), "{text}");
        }
    }
}
