//! Text that others wrote, set apart from ours where somebody decides by it.
//!
//! Each of its rows has a mark before it, also those into which a narrow terminal breaks a line
//! ([`wrap_lines`](super::screen::wrap_lines)); what is blank for long is counted. So nothing in it looks like a line of
//! ours, and nothing pushes ours off the screen unseen.

use std::fmt::Write as _;

use statemark_text::visible;

use super::screen;

/// The mark before each row of somebody's text.
pub(crate) const MARK: &str = "│";

/// Most blanks in a row that are shown as such. Unit: characters.
///
/// Why: an indent or a column of a table has fewer.
const MAX_BLANKS: usize = 40;

/// Most empty lines in a row that are shown as such. Unit: lines.
const MAX_EMPTY: usize = 3;

/// Widest text that stands in a row of ours. Unit: columns.
///
/// Why: with a label it breaks at no terminal in use.
const MAX_INLINE: usize = 56;

/// Quotes a text: a row for each of its lines, indented, with the mark.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::new();
    let mut row = |line: &str| {
        let _ = writeln!(quoted, "{}", format!("  {MARK} {line}").trim_end());
    };
    let mut empty = 0_usize;
    let end_of_empty = |empty: usize, row: &mut dyn FnMut(&str)| match empty {
        0..=MAX_EMPTY => (0..empty).for_each(|_| row("")),
        more => row(&format!("⟨{more} empty lines⟩")),
    };
    for line in text.lines() {
        if line.chars().all(is_blank) {
            empty += 1;
            continue;
        }
        end_of_empty(std::mem::take(&mut empty), &mut row);
        row(&shorten_blanks(&visible::line(line)));
    }
    end_of_empty(empty, &mut row);
    quoted
}

/// Writes a value that others wrote behind a label of ours.
///
/// It stands in the same row if it is short, else quoted below.
pub(crate) fn labeled(label: &str, value: &str) -> String {
    let value = visible::line(value);
    let value = shorten_blanks(&value);
    if screen::columns_of(&value) <= MAX_INLINE {
        format!("  {label} {value}\n")
    } else {
        format!("  {label}\n{}", quote(&value))
    }
}

/// Shortens a word that others wrote to what stands within a line of ours.
pub(crate) fn brief(text: &str) -> String {
    super::fit(&shorten_blanks(&visible::line(text)), MAX_INLINE)
}

/// Wraps a text without colors as the terminal's width demands.
pub(crate) fn wrap_to(text: &str, columns: usize) -> String {
    let lines = screen::wrap_lines(&screen::lay_out(text), columns);
    let mut wrapped = String::with_capacity(text.len());
    for line in &lines {
        line.spans.iter().for_each(|span| wrapped += &span.content);
        wrapped.push('\n');
    }
    if !text.ends_with('\n') {
        wrapped.pop();
    }
    wrapped
}

/// Reports whether nothing is to be seen of a character.
fn is_blank(character: char) -> bool {
    // The last one is Braille's pattern without a dot.
    character.is_whitespace() || character == '\u{2800}'
}

/// Returns a line in which long runs of blanks stand as their number.
pub(crate) fn shorten_blanks(line: &str) -> String {
    let mut short = String::with_capacity(line.len().min(1 << 12));
    let mut rest = line;
    while !rest.is_empty() {
        let words = rest.find(is_blank).unwrap_or(rest.len());
        let (word, blanks) = rest.split_at_checked(words).unwrap_or((rest, ""));
        let end = blanks.find(|it| !is_blank(it)).unwrap_or(blanks.len());
        let (blanks, after) = blanks.split_at_checked(end).unwrap_or((blanks, ""));
        short += word;
        match blanks.chars().count() {
            0..=MAX_BLANKS => short += blanks,
            many => {
                let _ = write!(short, "⟨{many} blanks⟩");
            }
        }
        rest = after;
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_of_a_quoted_text_has_a_mark() {
        let text = "Fine?\nq1:3  w, by ann\u{202e}\n\n\n\n\n\n\tend   of it";
        let quoted =
            "  │ Fine?\n  │ q1:3  w, by ann\\u{202e}\n  │ ⟨5 empty lines⟩\n  │ \\u{9}end   of it\n";
        assert_eq!(quote(text), quoted);
        let wrapped = wrap_to(&quote(&"word ".repeat(30)), 30);
        assert!(wrapped.lines().count() > 4, "{wrapped}");
        for row in wrapped.lines() {
            assert!(
                row.starts_with("  │ word") && screen::columns_of(row) <= 30,
                "{row}"
            );
        }
        let wrapped = wrap_to(&quote(&"日本".repeat(40)), 25);
        assert!(
            wrapped
                .lines()
                .all(|row| row.starts_with("  │ 日") || row.starts_with("  │ 本")),
            "{wrapped}"
        );
    }

    #[test]
    fn long_blanks_are_counted() {
        let data = format!("{{\"note\":\"{}q9:2\"}}", " ".repeat(6_000));
        assert_eq!(quote(&data), "  │ {\"note\":\"⟨6000 blanks⟩q9:2\"}\n");
        for blank in ['\u{a0}', '\u{2003}', '\u{2800}', '\u{3000}'] {
            let text = format!("a{}b", String::from(blank).repeat(50));
            assert_eq!(quote(&text), "  │ a⟨50 blanks⟩b\n");
        }
        assert_eq!(
            quote(&format!("a{}b", " ".repeat(40))),
            format!("  │ a{}b\n", " ".repeat(40))
        );
        assert_eq!(labeled("event", "go"), "  event go\n");
        let long = "x".repeat(60);
        assert_eq!(labeled("event", &long), format!("  event\n  │ {long}\n"));
    }
}
