//! The workflows that a server is handed.

use serde::Serialize;
use serde_json::Value;
use statemark_store::{Hash, Workflows};

/// Where workflows come from. A catalog may change while it is used: runs go on under the tables that they began with.
pub trait Catalog: Workflows {
    /// What is there, by id.
    fn specs(&self) -> Vec<Spec>;

    /// A spec's text as its author wrote it.
    fn source(&self, id: &str) -> Option<String>;

    /// The machine as a canonical Mermaid diagram.
    fn diagram(&self, id: &str) -> Option<String>;

    /// The findings in a text, as `lint --output-format json` gives them; the name tells its format.
    fn lint(&self, name: &str, text: &str) -> Value;
}

/// A workflow that can be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spec {
    /// Its id.
    pub id: String,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The file, as it was found.
    pub source: String,
    /// The hash of its table.
    pub hash: Hash,
    /// How many states a person sees in it.
    pub states: usize,
    /// How many findings its file has.
    pub diagnostics: usize,
}
