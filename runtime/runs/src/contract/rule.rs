//! What a section of a Markdown document has to be like.
//!
//! | key | says |
//! |---|---|
//! | `heading` | its heading; capitals don't matter |
//! | `level` | 1 to 6; else any |
//! | `optional` | whether it may be left out |
//! | `contains` | what has to be in it: `text`, `list`, `checkboxes`, `table`, `code`, `json` (in a fence) |
//! | `forbids` | which of these mustn't |
//! | `forbids_text` | words that mustn't stand in it, such as `TBD`; capitals don't matter |
//! | `ids` | whether each entry begins with an id of its own: `- [S1] …` |
//! | `min_items` `max_items` | how many entries it has |
//! | `schema` | the JSON Schema of what stands in its fences `json` |
//!
//! An *entry* is a subsection; in a section without any, an item of a list that stands in no other list.

use serde::Deserialize;
use serde_json::Value;

/// What a section has to be like.
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
    /// A section that has to be there.
    pub(super) fn of(heading: String) -> Self {
        Self {
            heading,
            ..Self::default()
        }
    }

    /// Whether this is its heading.
    pub(super) fn is_of(&self, heading: &str) -> bool {
        self.heading.trim().to_lowercase() == heading.trim().to_lowercase()
    }
}

/// What can be in a section.
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
    /// What it is, in a sentence.
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

    /// One of it.
    pub(super) const fn one(self) -> &'static str {
        match self {
            Self::List => "a list",
            Self::Table => "a table",
            Self::Code => "a code block",
            Self::Text | Self::Checkboxes | Self::Json => self.name(),
        }
    }

    /// How it is written.
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
