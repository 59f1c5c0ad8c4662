//! The front matter of a diagram: a block of YAML between two `---` at its very start.
//!
//! Mermaid reads `title` and settings from it. Only the title matters here, and that the YAML is good, since Mermaid draws
//! nothing where it isn't.

use std::ops::Range;

use super::lex::rule::is_space;

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

/// Reads the YAML: its title, or what is wrong with it.
pub(super) fn read(text: &str, found: &FrontMatter) -> Result<Option<Title>, String> {
    let yaml = text.get(found.yaml.clone()).unwrap_or("");
    let dedented: String = yaml
        .split_inclusive('\n')
        .map(|line| {
            let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
            line.get(blanks.min(found.indent)..).unwrap_or(line)
        })
        .collect();
    if dedented.trim().is_empty() {
        return Ok(None);
    }
    let value: serde_json::Value = serde_saphyr::from_str(&dedented).map_err(|error| {
        let message = error.to_string();
        message.lines().next().unwrap_or("").to_owned()
    })?;
    let title = match value.get("title") {
        Some(serde_json::Value::String(title)) if !title.is_empty() => title.clone(),
        Some(value @ serde_json::Value::Number(_)) => value.to_string(),
        _ => return Ok(None),
    };
    Ok(Some(Title {
        text: title,
        range: title_range(yaml, found.yaml.start),
    }))
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
