//! Pieces of text for a terminal.

/// Widest line. Unit: characters. Why: a terminal beside an editor.
pub(crate) const WIDTH: usize = 100;

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}

/// The first line with text, without the marks of a heading or a list.
pub(crate) fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let plain = line.trim_start_matches(['#', '-', '*', '>', ' ']);
    Some(plain.to_owned())
}

/// The text cut to so many characters.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The words of a text in lines of so many characters, which is at least one; a longer word is cut into several.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let letters: Vec<char> = word.chars().collect();
        let mut pieces = letters.chunks(width.max(1)).map(String::from_iter);
        let first = pieces.next().unwrap_or_default();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + first.chars().count() <= width => {
                line.push(' ');
                line.push_str(&first);
            }
            _ => lines.push(first),
        }
        lines.extend(pieces);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_too_wide() {
        assert_eq!(
            wrapped("a bc def ghijklm", 4),
            ["a bc", "def", "ghij", "klm"]
        );
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcd", 4), "abcd");
    }

    #[test]
    fn the_first_line_is_plain() {
        assert_eq!(
            first_line("\n## A title\n\ntext").as_deref(),
            Some("A title")
        );
        assert_eq!(first_line(" \n"), None);
    }
}
