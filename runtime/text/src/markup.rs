//! Texts in XML, HTML and Markdown.

/// Appends a letter, escaped for an element or for an attribute in double quotation marks.
///
/// Letters that a format doesn't have are the caller's to replace.
pub fn push_escaped(escaped: &mut String, letter: char) {
    match letter {
        '&' => escaped.push_str("&amp;"),
        '<' => escaped.push_str("&lt;"),
        '>' => escaped.push_str("&gt;"),
        '"' => escaped.push_str("&quot;"),
        letter => escaped.push(letter),
    }
}

/// Returns Markdown in which what begins as HTML, outside of code, is text.
///
/// Where it isn't plain what is code, since a mark of it stands alone in its line, is longer or is escaped, nothing counts as
/// code.
#[must_use]
pub fn without_html(text: &str) -> String {
    let is_paired = |line: &str| line.split('`').count() % 2 == 1;
    let is_plain = text.lines().all(is_paired) && !text.contains("``") && !text.contains("\\`");
    let mut shown = String::with_capacity(text.len());
    let mut is_code = false;
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        is_code ^= letter == '`' && is_plain;
        let begins = |next: &char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
        if letter == '<' && !is_code && rest.peek().is_some_and(begins) {
            shown.push('\\');
        }
        shown.push(letter);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_markup_is_none() {
        let mut escaped = String::new();
        for letter in "<a href=\"x\">&'é</a>".chars() {
            push_escaped(&mut escaped, letter);
        }
        assert_eq!(escaped, "&lt;a href=&quot;x&quot;&gt;&amp;'é&lt;/a&gt;");
        for (line, shown) in [
            (
                "a < b, `Vec<T>` and <b>x</b>",
                "a < b, `Vec<T>` and \\<b>x\\</b>",
            ),
            ("<!-- x --> 1<2", "\\<!-- x --> 1<2"),
            // A mark of code may have its pair in another line, or none.
            ("a ` <b>", "a ` \\<b>"),
            ("a `b\nc` <b>`d`", "a `b\nc` \\<b>`d`"),
            ("``a` <b>``", "``a` \\<b>``"),
            ("\\` <b> `", "\\` \\<b> `"),
        ] {
            assert_eq!(without_html(line), shown);
        }
    }
}
