//! Rules for the sections of a Markdown document.
//!
//! | key | meaning |
//! |---|---|
//! | `heading` | its heading, regardless of case |
//! | `level` | 1 to 6; any level if it is left out |
//! | `optional` | the section may be missing |
//! | `contains` | required content: `text`, `list`, `checkboxes`, `table`, `code`, `json` (in a fence) |
//! | `forbids` | forbidden content |
//! | `forbids_text` | forbidden words, such as `TBD`, regardless of case |
//! | `ids` | each entry begins with a unique id: `- [S1] …` |
//! | `min_items` `max_items` | the number of entries |
//! | `schema` | the JSON Schema of its `json` fences |
//!
//! An *entry* is a subsection; in a section without subsections, an item of an outermost list.

use serde::Deserialize;
use serde_json::Value;

/// The rule for one section.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Rule {
    pub(super) heading: String,
    pub(super) level: Option<u8>,
    pub(super) optional: bool,
    pub(super) contains: Vec<Content>,
    pub(super) forbids: Vec<Content>,
    pub(super) forbids_text: Vec<String>,
    pub(super) ids: bool,
    pub(super) min_items: Option<usize>,
    pub(super) max_items: Option<usize>,
    pub(super) schema: Option<Value>,
    pub(super) description: Option<String>,
}

impl Rule {
    /// Makes the rule for a section that is only required.
    pub(super) fn required(heading: String) -> Self {
        Self {
            heading,
            ..Self::default()
        }
    }
}

/// Returns a heading as rules compare it: regardless of case.
pub(super) fn plain_heading(heading: &str) -> String {
    heading.trim().to_lowercase()
}

/// The kinds of content of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Content {
    Text,
    List,
    Checkboxes,
    Table,
    Code,
    Json,
}

impl Content {
    /// Returns its name for a sentence.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::List => "list",
            Self::Checkboxes => "checkboxes",
            Self::Table => "table",
            Self::Code => "code block",
            Self::Json => "JSON in a fence",
        }
    }

    /// Returns its name with an article.
    pub(super) const fn with_article(self) -> &'static str {
        match self {
            Self::List => "a list",
            Self::Table => "a table",
            Self::Code => "a code block",
            Self::Text | Self::Checkboxes | Self::Json => self.name(),
        }
    }

    /// Returns help on how to write it.
    pub(super) const fn help(self) -> &'static str {
        match self {
            Self::Text => "write something under the heading",
            Self::List => "write a list: lines that begin with `- `",
            Self::Checkboxes => "write a list of things to do: lines that begin with `- [ ] `",
            Self::Table => "write a table: `| a | b |`, and `|---|---|` under its first line",
            Self::Code => "write a code block: between two lines ```` ``` ````",
            Self::Json => "write JSON between a line ```` ```json ```` and a line ```` ``` ````",
        }
    }
}
