//! Texts in XML and HTML.

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
    }
}
