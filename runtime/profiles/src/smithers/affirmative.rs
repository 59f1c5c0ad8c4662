//! Detection of a plain yes in a person's answer.
//!
//! A yes is recognized as a whole or not at all: each word of the answer must be one of those that mean yes. An answer
//! that says more may take the yes back in ways that no list foresees. So it isn't one, and the caller reads it.

use serde_json::Value;

/// The phrases that mean yes.
const YES: &str = "\
    yes, y, yep, yeah, yup, ok, okay, sure, absolutely, certainly, definitely, of course, true, \
    approve, approved, i approve, accept, accepted, i accept, agree, agreed, i agree, confirm, \
    confirmed, i confirm, allow, allowed, proceed, continue, go ahead, go for, do, do so, ship, \
    lgtm, looks good, looks good to me, sounds good, sounds good to me";

/// The phrases of [`YES`] that need an object.
const NEEDS_OBJECT: &[&str] = &["go for", "do", "ship"];

/// The objects of a yes.
const OBJECTS: &[&str] = &["it", "that", "this"];

/// The phrases before or after a yes that add nothing.
const POLITE: &str = "please, thanks, thank you";

/// The marks between words that mean nothing. Any other, above all a question mark, may mean something.
const MARKS: &[char] = &[
    '.', ',', '!', ';', ':', '-', '–', '—', '…', '"', '“', '”', '„', '\'', '‘', '’', '(', ')', '*',
    '`',
];

/// Most bytes of a plain yes. Why: none needs more words.
const MAX_LENGTH: usize = 200;

/// Checks whether an answer is a plain yes.
pub(super) fn is_affirmative(answer: &Value) -> bool {
    match answer {
        Value::Bool(yes) => *yes,
        Value::String(text) if text.len() <= MAX_LENGTH => is_yes(&text.to_lowercase()),
        _ => false,
    }
}

fn is_yes(text: &str) -> bool {
    let is_between = |letter: char| letter.is_whitespace() || MARKS.contains(&letter);
    let words: Vec<&str> = text.split(is_between).filter(|it| !it.is_empty()).collect();
    let mut rest = words.as_slice();
    let mut has_yes = false;
    while !rest.is_empty() {
        if let Some((_, rest_after)) = strip_phrase(rest, POLITE) {
            rest = rest_after;
            continue;
        }
        let Some((phrase, rest_after)) = strip_phrase(rest, YES) else {
            return false;
        };
        let object = rest_after
            .split_first()
            .filter(|(word, _)| OBJECTS.contains(word));
        rest = match object {
            Some((_, rest_after)) => rest_after,
            None if NEEDS_OBJECT.contains(&phrase) => return false,
            None => rest_after,
        };
        has_yes = true;
    }
    has_yes
}

/// Strips the longest phrase that the words begin with. Returns it with the rest.
fn strip_phrase<'w>(
    words: &'w [&'w str],
    phrases: &'static str,
) -> Option<(&'static str, &'w [&'w str])> {
    let found = phrases.split(", ").filter_map(|phrase| {
        let phrase_words: Vec<&str> = phrase.split(' ').collect();
        Some((phrase, words.strip_prefix(phrase_words.as_slice())?))
    });
    found.min_by_key(|(_, rest)| rest.len())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::is_affirmative;

    const YES: &[&str] = &[
        "yes",
        "y",
        "yep",
        "yeah",
        "ok",
        "okay",
        "sure",
        "approve",
        "approved",
        "I approve",
        "I agree",
        "agreed",
        "accepted",
        "confirmed",
        "allow",
        "proceed",
        "please proceed",
        "continue",
        "go ahead",
        "go for it",
        "do it",
        "do so",
        "do that please",
        "ship it",
        "lgtm",
        "looks good",
        "looks good to me",
        "sounds good",
        "of course",
        "true",
        "yes please",
        "yes, thanks",
        "ok, thank you",
        "approve it",
        "approve this",
        "yes, approved",
        "yes — go ahead",
        "sure, go ahead, thanks",
        "yes: do it",
        "“yes”",
        "(ok)",
        "**approved**",
        "ok…",
    ];

    const NO: &[&str] = &[
        "no",
        "n",
        "",
        " ",
        "…",
        "please",
        "thanks",
        "it",
        "do",
        "ship",
        "go",
        "postgres",
        "not ok",
        "no, approved is what it isn't",
        "ok, I don't want that",
        "ok, I don’t want that",
        "ok I dont want that",
        "yes, hold off for now",
        "approved? nope",
        "approved?",
        "yes?",
        "sure, after QA signed off",
        "ok you can't",
        "ok you can’t",
        "yes — only on staging",
        "okay. rollback instead",
        "yes, but not on Friday",
        "yes if the tests pass",
        "yes once the tests pass",
        "yes, except the migration",
        "okay, don't",
        "okay, later",
        "yes and no",
        "yes/no",
        "y/n",
        "y n",
        "yes\nno",
        "yes, revert it",
        "sure thing, tomorrow",
        "yeah, right",
        "approve the smaller change",
        "approved by nobody",
        "accept the risk? never",
        "go ahead and cancel",
        "go back",
        "go home",
        "do nothing",
        "do not do it",
        "do it never",
        "don't do it",
        "ship that to the trash",
        "lgtm but wait",
        "looks good to nobody",
        "looks bad",
        "true, and yet",
        "ok boomer",
        "Yesterday's backup",
        "proceed with postgres",
        "~~yes~~",
        "yes 🚫",
        "yes ❌",
        "👎 yes",
        "ye s",
        "-1",
        "0",
        "false",
        "oui",
        "я",
        "yes\u{202e}",
        "yes\u{200b}",
        "yes\0",
    ];

    /// The ways in which people write the same words.
    fn forms(text: &str) -> Vec<String> {
        let mut first = text.chars();
        let capital = first.next().map_or_else(String::new, |it| {
            it.to_uppercase().chain(first).collect::<String>()
        });
        vec![
            text.to_owned(),
            text.to_uppercase(),
            capital,
            format!("{text}."),
            format!("{text}!"),
            format!("  {text} \r\n"),
            text.replace(' ', "  "),
            text.replace('\'', "’"),
        ]
    }

    #[test]
    fn a_plain_yes_is_one_however_it_is_written() {
        for yes in YES.iter().copied().flat_map(forms) {
            assert!(is_affirmative(&json!(yes)), "{yes}");
        }
        assert!(is_affirmative(&json!(true)));
    }

    #[test]
    fn nothing_else_is_one() {
        for no in NO.iter().copied().flat_map(forms) {
            assert!(!is_affirmative(&json!(no)), "{no}");
        }
        for tail in [
            "not", "no", "never", "only", "after", "but", "if", "can't", "nope", "?", "👎",
        ] {
            for yes in YES {
                let no = format!("{yes} {tail}");
                assert!(!is_affirmative(&json!(no)), "{no}");
                let no = format!("{tail} {yes}");
                assert!(!is_affirmative(&json!(no)), "{no}");
            }
        }
        for no in [
            json!(false),
            json!(null),
            json!(1),
            json!({"approved": true}),
            json!(["yes"]),
            Value::String("yes ".repeat(100)),
        ] {
            assert!(!is_affirmative(&no), "{no}");
        }
    }
}
