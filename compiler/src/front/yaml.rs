//! What both readers of front matter need of the YAML library: the place of an error, and words for it.
//!
//! Deliberately not here: what a front matter holds, which differs between a document and a diagram.

use std::ops::Range;

/// What is wrong with some YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The bytes of the YAML that it is about; empty where only a place is known.
    pub(crate) range: Range<usize>,
    /// What is wrong, as an author would say it.
    pub(crate) reason: String,
    /// How to mend it.
    pub(crate) help: &'static str,
}

impl Trouble {
    /// Finds place and words for an error of the library, which was given this YAML.
    pub(crate) fn of(yaml: &str, error: &serde_saphyr::Error) -> Self {
        let range = error
            .location()
            .map_or(0..0, |location| bytes_of(yaml, location.span()));
        let words = error.without_snippet().to_string();
        let (reason, help) = plain(&words);
        Self {
            range,
            reason,
            help,
        }
    }
}

/// The bytes that a place of the library covers, on character boundaries; it may know them only in characters.
pub(crate) fn bytes_of(yaml: &str, span: serde_saphyr::Span) -> Range<usize> {
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let by_characters = |count: usize| {
        yaml.char_indices()
            .nth(count)
            .map_or(yaml.len(), |(at, _)| at)
    };
    let (start, end) = match (span.byte_offset(), span.byte_len()) {
        (Some(start), Some(length)) => {
            (number(start), number(start).saturating_add(number(length)))
        }
        _ => {
            let start = number(span.offset());
            let end = start.saturating_add(number(span.len()));
            (by_characters(start), by_characters(end))
        }
    };
    let whole = |mut at: usize| {
        while !yaml.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = whole(start.min(yaml.len()));
    let end = whole(end.min(yaml.len())).max(start);
    let kept = yaml.get(start..end).unwrap_or_default().trim_end().len();
    start..start + kept
}

const QUOTES: &str =
    "a text that holds `: ` or begins with a sign such as `*`, `[` or `{` needs quotes";

/// The library's words, as an author would say them, and how to mend it.
fn plain(reason: &str) -> (String, &'static str) {
    let line = reason.lines().next().unwrap_or_default();
    let line = line
        .rsplit_once(" at line ")
        .map_or(line, |(words, _)| words);
    if let Some(key) = line.strip_prefix("duplicate mapping key: ") {
        let key = key.split(", set ").next().unwrap_or(key);
        return (
            format!("the key `{key}` stands twice"),
            "drop one of the two",
        );
    }
    if let Some(bracket) = line.strip_prefix("unclosed bracket ") {
        let bracket = bracket.trim_matches('\'');
        return (format!("`{bracket}` isn't closed"), QUOTES);
    }
    if let Some(sign) = line.strip_prefix("unexpected character: ") {
        let sign = sign.trim_start_matches('`').trim_end_matches('\'');
        let sign = if sign.is_empty() { "`" } else { sign };
        return (
            format!("a text can't begin with {}", shown(sign)),
            "a text that begins with a sign needs quotes",
        );
    }
    let (reason, help) = known(line).unwrap_or((line, QUOTES));
    (reason.to_owned(), help)
}

/// A sign between backticks; a backtick by its name.
fn shown(sign: &str) -> String {
    match sign {
        "`" => "a backtick".to_owned(),
        _ => format!("`{sign}`"),
    }
}

/// Words for what the library says most often.
fn known(line: &str) -> Option<(&'static str, &'static str)> {
    Some(match line {
        "mapping values are not allowed in this context" => {
            ("`: ` in a text without quotes", QUOTES)
        }
        "expected string scalar" => ("expected a text", QUOTES),
        "expected mapping start" => (
            "expected keys with values",
            "write a key on each line: `name: …`",
        ),
        "simple key expected ':'" => (
            "expected a colon behind this key",
            "write a key on each line: `name: …`",
        ),
        "invalid indentation in multiline quoted scalar" => (
            "the text in quotes above goes on here",
            "close it with a second quote",
        ),
        "invalid trailing content after single-quoted scalar" => (
            "the text in quotes ends in front of this",
            "between `'` and `'`, a quote is written twice: `''`",
        ),
        "invalid trailing content after double-quoted scalar" => (
            "the text in quotes ends in front of this",
            "a quote between `\"` and `\"` is written `\\\"`",
        ),
        "while parsing a quoted scalar, found unknown escape character" => (
            "a `\\` with a sign behind it that means nothing",
            "between `\"` and `\"`, a backslash is written `\\\\`",
        ),
        "while parsing a block mapping, did not find expected key" => (
            "this line is indented otherwise than those above",
            "indent the keys of one level alike",
        ),
        "tabs disallowed within this context (block indentation)" => {
            ("a tab can't indent a line", "indent with blanks")
        }
        "alias references unknown anchor" => ("a text can't begin with `*`", QUOTES),
        _ => return None,
    })
}
