//! The front matter of a diagram: a block of YAML between two `---` at its very start.
//!
//! Mermaid reads `title` and settings from it. Only the title matters here, and that the YAML is good, since Mermaid draws
//! nothing where it isn't.

mod yaml;

use std::ops::Range;

use super::lex::rule::is_space;
use crate::excerpt::Excerpt;
use crate::front::yaml::Trouble;
use crate::source::Span;
use yaml::Yaml;

/// Front matter and what it holds. Ranges are of the text that was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FrontMatter {
    /// All of it, fences and blank lines behind it included.
    pub(super) whole: Range<usize>,
    /// The YAML.
    pub(super) yaml: Range<usize>,
    /// The blanks in front of the first fence, which its lines share.
    pub(super) indent: usize,
}

/// A title, and where it stands in the text that was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Title {
    /// What it says.
    pub(super) text: String,
    /// Where it stands.
    pub(super) range: Range<usize>,
}

/// Finds the front matter: `/^([^\S\n\r]*)-{3}\s*[\n\r](.*?)[\n\r]\1-{3}\s*[\n\r]+/s`.
pub(super) fn find(text: &str) -> Option<FrontMatter> {
    let fence = text.find(|c| !is_space(c) || c == '\n')?;
    let indent = text.get(..fence)?;
    let behind = text.get(fence..)?.strip_prefix("---")?;
    let blanks_start = fence + 3;
    let blanks_end = text.len() - behind.trim_start_matches(is_space).len();
    let blanks = text.get(blanks_start..blanks_end)?;
    let first = blanks_start + blanks.find('\n')?;
    let last = blanks_start + blanks.rfind('\n')?;
    // The expression is greedy in the blanks: an end behind their last line end comes first, one inside them second.
    let (start, (newline, end)) = match closing(text, indent, last + 1) {
        Some(found) => (last + 1, found),
        None => (first + 1, closing(text, indent, first + 1)?),
    };
    Some(FrontMatter {
        whole: 0..end,
        yaml: start..newline,
        indent: indent.len(),
    })
}

/// The first fence of that indent behind a line end at `from` or later, with only blanks and a line end behind it: where
/// that line end is, and where all of it ends.
fn closing(text: &str, indent: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let newline = at + text.get(at..)?.find('\n')?;
        let line = text.get(newline + 1..)?;
        let behind = line
            .strip_prefix(indent)
            .and_then(|line| line.strip_prefix("---"));
        if let Some(behind) = behind {
            let blanks = behind.len() - behind.trim_start_matches(is_space).len();
            if let Some(end) = behind.get(..blanks).and_then(|blanks| blanks.rfind('\n')) {
                return Some((newline, text.len() - behind.len() + end + 1));
            }
        }
        at = newline + 1;
    }
}

/// Reads the YAML: its title, or where and what is wrong with it.
pub(super) fn read(
    excerpt: &Excerpt,
    found: &FrontMatter,
) -> Result<Option<Title>, (Span, Trouble)> {
    let yaml = excerpt.text().get(found.yaml.clone()).unwrap_or("");
    let dedented = dedented(excerpt, found);
    let text = dedented.text();
    if text.trim().is_empty() {
        return Ok(None);
    }
    let wrong = |trouble: Trouble| (dedented.span(trouble.range.clone()), trouble);
    if let Some(trouble) = wrong_start(text) {
        return Err(wrong(trouble));
    }
    let policy = serde_saphyr::options::NonFiniteFloatPolicy::PassThrough;
    let options = serde_saphyr::options! { non_finite_float_policy: policy };
    let value: Yaml = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| wrong(Trouble::of(text, &error)))?;
    let Some(title) = value.title() else {
        return Ok(None);
    };
    Ok(Some(Title {
        text: title,
        range: title_range(yaml, found.yaml.start),
    }))
}

/// The YAML without the indent that its lines share with the fences.
fn dedented(excerpt: &Excerpt, found: &FrontMatter) -> Excerpt {
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

/// What js-yaml refuses of a first line and the library here doesn't.
fn wrong_start(text: &str) -> Option<Trouble> {
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
            "a key is missing in front of the colon",
            "write a key on each line: `title: …`",
        )
    } else {
        return None;
    };
    Some(Trouble {
        range: at..at + 1,
        reason: reason.to_owned(),
        help,
    })
}

/// Where the title's value stands; the whole YAML where its line isn't plain.
fn title_range(yaml: &str, start: usize) -> Range<usize> {
    let mut at = start;
    for line in yaml.split_inclusive('\n') {
        let behind = line
            .trim_start()
            .strip_prefix("title")
            .and_then(|rest| rest.trim_start().strip_prefix(':'));
        if let Some(value) = behind {
            let value = value.trim();
            if let Some(offset) = line.rfind(value).filter(|_| !value.is_empty()) {
                return at + offset..at + offset + value.len();
            }
        }
        at += line.len();
    }
    start..start + yaml.len()
}
