//! The front matter of a diagram: a block of YAML between two `---` at its very start.
//!
//! Mermaid reads `title` and settings from it. Only the title matters here, and that the YAML is valid: Mermaid draws
//! nothing where it isn't.

use std::ops::Range;

use super::lex::rule::is_space;
use crate::diag::{Code, Diagnostic, Diags};
use crate::excerpt::Excerpt;
use crate::front::yaml::{self, Value, YamlError};
use crate::source::{Span, Spanned};

/// The location of front matter in the searched text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FrontMatter {
    /// The whole block, with its fences and the blank lines after it.
    pub(super) whole: Range<usize>,
    /// The YAML.
    pub(super) yaml: Range<usize>,
    /// The number of blanks before the first fence, which the block's lines share.
    pub(super) indent: usize,
}

/// A title and its range in the searched text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Title {
    /// The decoded title.
    text: String,
    /// The range of the value.
    range: Range<usize>,
}

/// Finds the front matter.
///
/// Mermaid's expression is `/^([^\S\n\r]*)-{3}\s*[\n\r](.*?)[\n\r]\1-{3}\s*[\n\r]+/s`.
pub(super) fn find(text: &str) -> Option<FrontMatter> {
    let fence = text.find(|c| !is_space(c) || c == '\n')?;
    let indent = text.get(..fence)?;
    let after = text.get(fence..)?.strip_prefix("---")?;
    let blanks_start = fence + 3;
    let blanks_end = text.len() - after.trim_start_matches(is_space).len();
    let blanks = text.get(blanks_start..blanks_end)?;
    let first = blanks_start + blanks.find('\n')?;
    let last = blanks_start + blanks.rfind('\n')?;
    // The expression is greedy in blanks, so an end after their last line end wins over one among them.
    let (start, (newline, end)) = match find_closing(text, indent, last + 1) {
        Some(found) => (last + 1, found),
        None => (first + 1, find_closing(text, indent, first + 1)?),
    };
    Some(FrontMatter {
        whole: 0..end,
        yaml: start..newline,
        indent: indent.len(),
    })
}

/// Finds the first closing fence with an indent, at or after an offset.
///
/// The fence follows a line end, and only blanks and a line end follow it. Returns the offset of the line end before it
/// and the end of the block.
fn find_closing(text: &str, indent: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let newline = at + text.get(at..)?.find('\n')?;
        let line = text.get(newline + 1..)?;
        let after = line
            .strip_prefix(indent)
            .and_then(|line| line.strip_prefix("---"));
        if let Some(after) = after {
            let blanks = after.len() - after.trim_start_matches(is_space).len();
            if let Some(end) = after.get(..blanks).and_then(|blanks| blanks.rfind('\n')) {
                return Some((newline, text.len() - after.len() + end + 1));
            }
        }
        at = newline + 1;
    }
}

/// Parses the YAML and returns its title.
///
/// # Errors
///
/// The span and description of a fault in the YAML.
fn parse_yaml(excerpt: &Excerpt, found: &FrontMatter) -> Result<Option<Title>, (Span, YamlError)> {
    let yaml = excerpt.text().get(found.yaml.clone()).unwrap_or("");
    let dedented = dedent(excerpt, found);
    let text = dedented.text();
    if text.trim().is_empty() {
        return Ok(None);
    }
    let wrong = |error: YamlError| (dedented.span(error.range.clone()), error);
    if let Some(error) = check_first_line(text) {
        return Err(wrong(error));
    }
    let root = yaml::parse(text).map_err(wrong)?;
    Ok(root
        .and_then(|root| title_of(&root.value))
        .map(|text| Title {
            text,
            range: title_range(yaml, found.yaml.start),
        }))
}

/// Removes the indent that the YAML's lines share with the fences.
fn dedent(excerpt: &Excerpt, found: &FrontMatter) -> Excerpt {
    let yaml = excerpt.slice(found.yaml.clone());
    let mut at = 0;
    let mut blanks = Vec::new();
    for line in yaml.text().split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        blanks.push(at..at + indent.min(found.indent));
        at += line.len();
    }
    yaml.without(&blanks)
}

/// Reports a first line that js-yaml refuses and our YAML library accepts.
fn check_first_line(text: &str) -> Option<YamlError> {
    let mut at = 0;
    let first = text.split_inclusive('\n').find(|line| {
        let is_blank = line.trim().is_empty();
        at += if is_blank { line.len() } else { 0 };
        !is_blank
    })?;
    let (reason, help) = if first.starts_with('\t') {
        ("a tab can't indent a line", "indent with blanks")
    } else if first.trim_end() == ":" || first.starts_with(": ") {
        (
            "a key is missing before the colon",
            "write a key on each line: `title: …`",
        )
    } else {
        return None;
    };
    Some(YamlError {
        range: at..at + 1,
        reason: reason.to_owned(),
        help,
    })
}

/// Returns the range of the title's value, or of the whole YAML where the line isn't plain.
fn title_range(yaml: &str, start: usize) -> Range<usize> {
    let mut at = start;
    for line in yaml.split_inclusive('\n') {
        let after = line
            .trim_start()
            .strip_prefix("title")
            .and_then(|rest| rest.trim_start().strip_prefix(':'));
        if let Some(value) = after {
            let value = value.trim();
            if let Some(offset) = line.rfind(value).filter(|_| !value.is_empty()) {
                return at + offset..at + offset + value.len();
            }
        }
        at += line.len();
    }
    start..start + yaml.len()
}

/// Returns the title of the front matter, and reports invalid YAML.
pub(super) fn read_title(
    found: &FrontMatter,
    excerpt: &Excerpt,
    diags: &mut Diags,
) -> Option<Spanned<String>> {
    match parse_yaml(excerpt, found) {
        Ok(title) => title.map(|title| Spanned::new(title.text, excerpt.span(title.range))),
        Err((place, error)) => {
            diags.push(not_yaml(place, &error));
            None
        }
    }
}

/// Returns the title of a front matter, as Mermaid prints it.
///
/// An empty title, `false`, zero and *not a number* are none: JavaScript takes them for false.
fn title_of(root: &Value) -> Option<String> {
    let Value::Map(entries) = root else {
        return None;
    };
    let is_title = |key: &Value| key.text() == Some("title");
    let (_, title) = entries.iter().find(|(key, _)| is_title(&key.value))?;
    let text = title.value.text().filter(|text| !text.is_empty())?;
    match &title.value {
        Value::Plain(_) => plain_title(text),
        _ => Some(text.to_owned()),
    }
}

/// Returns a title without quotes, which may be a boolean or a number: Mermaid prints its value.
fn plain_title(text: &str) -> Option<String> {
    match text {
        "true" | "True" | "TRUE" => return Some("true".to_owned()),
        "false" | "False" | "FALSE" | ".nan" | ".NaN" | ".NAN" => return None,
        _ => {}
    }
    match parse_number(text) {
        Some(0.0) => None,
        Some(number) => Some(print_number(number)),
        None => Some(text.to_owned()),
    }
}

/// Parses a number of YAML's JSON schema, as js-yaml does.
fn parse_number(text: &str) -> Option<f64> {
    let (sign, size) = match text.strip_prefix('-') {
        Some(size) => (-1.0, size),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if matches!(size, ".inf" | ".Inf" | ".INF") {
        return Some(sign * f64::INFINITY);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = size.strip_prefix(prefix).filter(|it| !it.is_empty()) {
            let number = digits.chars().try_fold(0.0, |number, digit| {
                Some(number * f64::from(radix) + f64::from(digit.to_digit(radix)?))
            })?;
            return Some(sign * number);
        }
    }
    // Rust parses the words `inf` and `nan` as well, and a second sign.
    let is_number = size.starts_with(|it: char| it.is_ascii_digit() || it == '.');
    let number = size.parse::<f64>().ok();
    let number = number.filter(|number| is_number && number.is_finite());
    number.map(|number| sign * number)
}

/// Prints a number as JavaScript does: with an exponent from 10²¹ on, and below 10⁻⁶.
fn print_number(number: f64) -> String {
    if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        return format!("{sign}Infinity");
    }
    if (1e-6..1e21).contains(&number.abs()) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

/// Creates an `SM109` diagnostic (`broken-diagram-front-matter`).
///
/// Mermaid draws nothing of such a diagram.
fn broken_front_matter(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BrokenDiagramFrontMatter, span, message)
}

/// Reports a block without a closing fence.
pub(super) fn unclosed_front_matter(fence: Span) -> Diagnostic {
    broken_front_matter(fence, "the diagram's front matter isn't closed")
        .label("expected a second `---`, indented like this one")
        .help("close it with a line `---`, or remove this line")
}

/// Reports two fences without a line between them; `whole` are their lines.
pub(super) fn empty_front_matter(fences: Span, whole: Span) -> Diagnostic {
    broken_front_matter(fences, "the diagram's front matter is empty")
        .label("nothing is between the two `---`")
        .note("Mermaid draws nothing of a diagram whose front matter it can't read")
        .safe_fix("remove both lines", whole, "")
}

/// Reports a block that isn't at the very start.
pub(super) fn front_matter_not_first(fence: Span) -> Diagnostic {
    let message = "a diagram's front matter must begin on its first line";
    broken_front_matter(fence, message)
        .help("move it there: neither a blank line nor a comment may come before it")
}

/// Reports invalid YAML.
fn not_yaml(place: Span, error: &YamlError) -> Diagnostic {
    let message = format!("the diagram's front matter is not YAML: {}", error.reason);
    broken_front_matter(place, message)
        .note("Mermaid draws nothing of a diagram whose front matter it can't read")
        .help(error.help)
}
