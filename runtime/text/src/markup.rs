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

/// Returns a line of Markdown in which what begins as HTML, outside of code, is text.
#[must_use]
pub fn without_html(line: &str) -> String {
    let parts = line.split('`').enumerate().map(|(at, part)| {
        // Each other part is between backticks.
        if at % 2 == 1 {
            return part.to_owned();
        }
        let mut shown = String::with_capacity(part.len());
        let mut rest = part.chars().peekable();
        while let Some(character) = rest.next() {
            let begins =
                |next: &char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
            if character == '<' && rest.peek().is_some_and(begins) {
                shown.push('\\');
            }
            shown.push(character);
        }
        shown
    });
    parts.collect::<Vec<_>>().join("`")
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
        ] {
            assert_eq!(without_html(line), shown);
        }
    }
}
