//! Words of a text, as the index has them.
//!
//! A word of letters is indexed by its stem, so that `reaching` finds `reached`. Words with digits or underscores are
//! code: they are indexed whole, and by their parts. The signs with a meaning in a diagram are words, too.

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    /// The spelling, in lowercase.
    pub(super) text: String,
    /// The stem that it is indexed by.
    pub(super) stem: String,
}

/// Signs that are words.
const SIGNS: &[&str] = &["[*]", "[h]", "[h*]", "-->", "<<", "&&", "||"];

/// Stop words. Source: those of questions, without the keys of a definition.
const STOP_WORDS: &[&str] = &[
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "do", "does",
    "fix", "for", "from", "get", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its",
    "let", "make", "me", "mean", "means", "my", "need", "of", "on", "one", "or", "our", "should",
    "so", "some", "that", "the", "their", "them", "there", "these", "they", "this", "to", "use",
    "want", "was", "way", "we", "what", "when", "where", "which", "who", "why", "will", "with",
    "work", "works", "would", "write", "you", "your",
];

/// Checks whether a word of a question is a stop word.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Splits a text into its words.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word> {
    let small = text.to_lowercase();
    let mut all = Vec::new();
    for sign in SIGNS {
        let count = small.matches(sign).count();
        let word = Word {
            text: (*sign).to_owned(),
            stem: (*sign).to_owned(),
        };
        all.extend(std::iter::repeat_n(word, count));
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let runs = text.split(|letter: char| !is_part(letter));
    for run in runs.filter(|run| run.chars().any(char::is_alphanumeric)) {
        let parts = parts(run);
        let is_code = parts.len() > 1 || run.chars().any(|letter| letter.is_numeric());
        if is_code {
            let whole = run.to_lowercase();
            all.push(Word {
                stem: whole.clone(),
                text: whole,
            });
        }
        if !is_code || parts.len() > 1 {
            all.extend(parts.iter().map(|part| {
                let text = part.to_lowercase();
                Word {
                    stem: stem(&text),
                    text,
                }
            }));
        }
    }
    all.into_iter()
}

/// Splits `max_iterations` and `maxIterations` into parts.
fn parts(run: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for letter in run.chars() {
        if letter == '_' || (letter.is_uppercase() && was_small) {
            parts.push(String::new());
        }
        was_small = letter.is_lowercase();
        if letter != '_'
            && let Some(part) = parts.last_mut()
        {
            part.push(letter);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the stem that forms of a word have in common, roughly, by removing endings.
fn stem(word: &str) -> String {
    if !word.is_ascii() {
        return word.to_owned();
    }
    let mut stem = word.to_owned();
    if let Some(rest) = stem.strip_suffix("ies")
        && rest.len() > 2
    {
        stem = format!("{rest}y");
    } else if let Some(rest) = stem.strip_suffix('s')
        && rest.len() > 2
        && !rest.ends_with(['s', 'u', 'i'])
    {
        stem = rest.to_owned();
    }
    for (ending, least) in [("ing", 3), ("ed", 3), ("ion", 5), ("ent", 6), ("ence", 6)] {
        let Some(rest) = stem.strip_suffix(ending) else {
            continue;
        };
        let has_vowel = rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
        if rest.len() >= least && has_vowel {
            stem = remove_doubled(rest).to_owned();
            break;
        }
    }
    if let Some(rest) = stem.strip_suffix('e')
        && rest.len() > 3
    {
        stem = rest.to_owned();
    }
    stem
}

/// Removes a doubled last letter: `stopp` becomes `stop`; `call` stays.
fn remove_doubled(stem: &str) -> &str {
    let mut letters = stem.chars().rev();
    match (letters.next(), letters.next()) {
        (Some(last), Some(other)) if last == other && !matches!(last, 'l' | 's' | 'e' | 'o') => {
            stem.strip_suffix(last).unwrap_or(stem)
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        words(text).map(|word| word.stem).collect()
    }

    #[test]
    fn forms_of_a_word_are_one() {
        for forms in [
            "state states",
            "transition transitions",
            "stop stopped stopping stops",
            "declare declared declares declaring",
            "simulate simulation simulating",
            "history histories",
            "reach reached reaching",
            "guard guards guarded",
            "limit limits limited",
            "differ different difference differs",
        ] {
            let stems = stems(forms);
            assert!(stems.iter().all(|it| *it == stems[0]), "{forms}: {stems:?}");
        }
        assert_ne!(stem("status"), stem("state"));
        assert_ne!(stem("process"), stem("proces"));
    }

    #[test]
    fn code_is_found_as_it_is_written() {
        assert_eq!(stems("SM304"), ["sm304"]);
        assert_eq!(
            stems("`max_iterations`"),
            ["max_iterations", "max", "iterat"]
        );
        assert_eq!(stems("outputFormat"), ["outputformat", "output", "format"]);
        assert_eq!(stems("[*] --> x"), ["[*]", "-->", "x"]);
        assert_eq!(stems("e.g. ___ ?"), ["e", "g"]);
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("how") && !is_stop_word("guard"));
    }
}
