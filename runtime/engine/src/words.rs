//! The words of a name, whatever the case style: what makes two spellings one name.
//!
//! The compiler asks here for the names in a spec, generated code for the names that come in later.

/// Reports whether two names are spellings of the same words: `planReady`, `PLAN_READY`, `plan-ready`.
///
/// Dots are part of a name.
///
/// ```
/// use statemark_runtime::same_words;
///
/// assert!(same_words("planReady", "PLAN_READY"));
/// assert!(same_words("HTTPError", "http-error"));
/// assert!(!same_words("order.paid", "order_paid"));
/// ```
#[must_use]
pub fn same_words(a: &str, b: &str) -> bool {
    words(a).eq(words(b))
}

/// Returns the letters of a name in lower case, with one `_` before each word but the first.
pub fn words(name: &str) -> impl Iterator<Item = char> {
    Words {
        rest: name.chars().peekable(),
        before: None,
        lower: None,
        gap: false,
        begun: false,
        dotted: false,
    }
}

/// Reports whether a capital between two letters begins a word: `R` in `planReady`, `E` in `HTTPError`.
#[must_use]
pub fn begins_word(before: Option<char>, c: char, next: Option<char>) -> bool {
    c.is_uppercase()
        && before.is_some_and(|before| {
            before.is_lowercase()
                || before.is_numeric()
                || (before.is_uppercase() && next.is_some_and(char::is_lowercase))
        })
}

struct Words<'n> {
    rest: core::iter::Peekable<core::str::Chars<'n>>,
    before: Option<char>,
    /// A letter's lower case may be several.
    lower: Option<core::char::ToLowercase>,
    /// True if a `_` is due before the next letter.
    gap: bool,
    begun: bool,
    dotted: bool,
}

impl Iterator for Words<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            if let Some(letter) = self.lower.as_mut().and_then(Iterator::next) {
                return Some(letter);
            }
            let c = self.rest.next()?;
            let begins = begins_word(self.before, c, self.rest.peek().copied());
            self.before = Some(c);
            if matches!(c, '_' | '-' | ' ') {
                self.gap = self.begun && !self.dotted;
                continue;
            }
            let gap = (self.gap || begins) && self.begun && !self.dotted;
            (self.gap, self.begun, self.dotted) = (false, true, c == '.');
            self.lower = Some(c.to_lowercase());
            if gap {
                return Some('_');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    #[test]
    fn words_are_found_in_every_case_style() {
        for (name, key) in [
            ("planReady", "plan_ready"),
            ("PLAN-READY", "plan_ready"),
            ("__x__y_", "x_y"),
            ("HTTPError", "http_error"),
            ("a._b", "a.b"),
            ("retry2Times", "retry2_times"),
            ("İx", "i\u{307}x"),
        ] {
            assert_eq!(words(name).collect::<String>(), key, "{name}");
        }
    }
}
