//! Blocks of MkDocs with indented bodies: boxes (`!!!`), boxes that fold (`???`), and tabs (`===`).
//!
//! ```text
//! opening = ( "!!!" | "???" [ "+" ] ) " " words [ title ]
//!         | "===" [ "!" | "+" ] " " title
//! title   = '"' text '"'
//! ```
//!
//! Markdown takes the body for an indented code block. A list item whose content begins four columns to the right has the
//! same body, and there Markdown reads it. So [`as_lists`] writes each opening line as the line of such an item, of as many
//! bytes: the parser finds what the body holds, and its offsets stay those of the document.
//!
//! Deliberately not here: blocks that mark their end (`:::`, `///`). Their bodies aren't indented.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::outline::line_start;

/// Columns from an opening line to its body.
const INDENT: usize = 4;

/// The beginning of a list item whose content stands [`INDENT`] columns to the right.
const ITEM: &str = "-   ";

/// Most levels of blocks in blocks. Unit: levels. Why: each is a pass; documents have two or three.
const MAX_DEPTH: usize = 8;

/// Returns Markdown of the same length in which blocks of MkDocs are list items.
///
/// What looks like a block inside of a fence or another code block is text, and stays as it is.
pub(super) fn as_lists(source: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(source);
    // Most documents have none, and pay for this search alone.
    if !['!', '?', '='].iter().any(|sign| is_tripled(source, *sign)) {
        return text;
    }
    for _ in 0..MAX_DEPTH {
        let openings = outermost(&text);
        if openings.is_empty() {
            break;
        }
        let mut written = String::with_capacity(text.len());
        let mut at = 0;
        for opening in openings {
            written.push_str(text.get(at..opening.start).unwrap_or_default());
            written.push_str(ITEM);
            // The title is of no use here, and as anything but letters it could mean something.
            written.extend(std::iter::repeat_n('x', opening.len() - ITEM.len()));
            at = opening.end;
        }
        written.push_str(text.get(at..).unwrap_or_default());
        text = Cow::Owned(written);
    }
    text
}

/// Returns true if a sign stands three times in a row somewhere.
fn is_tripled(text: &str, sign: char) -> bool {
    // To look for one sign is many times as quick as to look for three.
    text.match_indices(sign).any(|(at, _)| {
        let rest = text.get(at..).unwrap_or_default();
        rest.chars().take(3).filter(|it| *it == sign).count() == 3
    })
}

/// Returns the opening lines that aren't in the body of another block, without blanks around them.
fn outermost(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut body_end = 0;
    let mut begins_line = false;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        let is_first = begins_line;
        begins_line = matches!(
            event,
            Event::Start(Tag::Paragraph | Tag::Item) | Event::SoftBreak | Event::HardBreak
        );
        if !is_first || !matches!(event, Event::Text(_)) || range.start < body_end {
            continue;
        }
        let line = text.get(range.start..).and_then(|rest| rest.lines().next());
        let line = line.unwrap_or_default().trim_end();
        if !opens(line) {
            continue;
        }
        let opening = range.start..range.start + line.len();
        if let Some(end) = end_of_body(text, &opening) {
            body_end = end;
            found.push(opening);
        }
    }
    found
}

/// Returns true if a line opens a block.
fn opens(line: &str) -> bool {
    let is_title = |text: &str| text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    if let Some(rest) = line.strip_prefix("===") {
        let rest = rest.strip_prefix(['!', '+']).unwrap_or(rest);
        return rest.starts_with(' ') && is_title(rest.trim_start());
    }
    let foldable = line.strip_prefix("???");
    let foldable = foldable.map(|rest| rest.strip_prefix('+').unwrap_or(rest));
    let Some(rest) = foldable.or_else(|| line.strip_prefix("!!!")) else {
        return false;
    };
    let words = rest.split('"').next().unwrap_or_default();
    let title = rest.strip_prefix(words).unwrap_or_default();
    let is_word_sign = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | ' ');
    rest.starts_with(' ')
        && words.chars().all(is_word_sign)
        && (is_title(title) || title.is_empty() && !words.trim().is_empty())
}

/// Returns the end of the last line of a block's body; `None` if it has no body.
fn end_of_body(text: &str, opening: &Range<usize>) -> Option<usize> {
    let before = text.get(line_start(text, opening.start)..opening.start)?;
    let indent = columns(before) + INDENT;
    let mut at = opening.end;
    let mut end = None;
    let mut lines = text.get(opening.end..)?.split_inclusive('\n');
    // What is left of the opening line.
    at += lines.next()?.len();
    for line in lines {
        let words = line.trim_start_matches([' ', '\t', '>']);
        let before = line.get(..line.len() - words.len()).unwrap_or_default();
        at += line.len();
        if words.trim_end().is_empty() {
            continue;
        }
        if columns(before) < indent {
            break;
        }
        end = Some(at);
    }
    end
}

/// Returns the columns that the beginning of a line takes.
fn columns(text: &str) -> usize {
    text.chars().fold(0, |column, sign| match sign {
        '\t' => (column / 4 + 1) * 4,
        _ => column + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_open_blocks_as_mkdocs_reads_them() {
        for line in [
            "!!! note",
            "!!! note \"\"",
            "!!! danger highlight inline end \"Don't try \"this\" at home\"",
            "??? note",
            "???+ question \"Wie?\"",
            "??? \"A title alone\"",
            "=== \"Tab\"",
            "===! \"Tab\"",
            "===+  \"Tab\"",
        ] {
            assert!(opens(line), "{line}");
        }
        for line in [
            "!!!",
            "!!! ",
            "!!!note",
            "!! note",
            "!!!! note",
            "!!! Never do this!",
            "!!! note \"open",
            "??? really? yes",
            "=== Tab",
            "===\"Tab\"",
            "=== \"",
            "====",
        ] {
            assert!(!opens(line), "{line}");
        }
    }

    #[test]
    fn blocks_become_items_of_the_same_length() {
        for (source, expected) in [
            ("!!! note\n    a\n", "-   xxxx\n    a\n"),
            ("??? ä \"ß\"\r\n\r\n\ta\r\n", "-   xxxxxxx\r\n\r\n\ta\r\n"),
            ("> !!! note\n>\n>     a\n", "> -   xxxx\n>\n>     a\n"),
            (
                "- b\n\n    !!! note\n        a\n",
                "- b\n\n    -   xxxx\n        a\n",
            ),
            (
                "=== \"A\"\n\n    ??? tip\n        a\n\n=== \"B\"\n\n    b\n",
                "-   xxx\n\n    -   xxx\n        a\n\n-   xxx\n\n    b\n",
            ),
            // Without a body, in code, and what only looks so.
            ("!!! note\na\n", "!!! note\na\n"),
            ("!!! note\n  a\n", "!!! note\n  a\n"),
            ("```\n!!! note\n    a\n```\n", "```\n!!! note\n    a\n```\n"),
            (
                "a\n\n    !!! note\n        a\n",
                "a\n\n    !!! note\n        a\n",
            ),
            (
                "!!! note\n    ```\n    !!! tip\n        a\n    ```\n",
                "-   xxxx\n    ```\n    !!! tip\n        a\n    ```\n",
            ),
            ("Wow !!! note\n    a\n", "Wow !!! note\n    a\n"),
        ] {
            assert_eq!(as_lists(source), expected, "{source}");
        }
    }
}
