//! The workflows that a server is handed.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use statemark_store::{Hash, Workflow, Workflows};

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

/// Workflows that were compiled elsewhere: nothing is left of their sources, and nothing can be linted.
impl Catalog for BTreeMap<String, Arc<Workflow>> {
    fn specs(&self) -> Vec<Spec> {
        let specs = self.iter().map(|(id, workflow)| {
            let text_of = |key| workflow.meta().get(key).and_then(Value::as_str);
            Spec {
                id: id.clone(),
                title: text_of("title").map(str::to_owned),
                description: text_of("description").map(str::to_owned),
                source: String::new(),
                hash: workflow.hash(),
                states: workflow.visible_states().count(),
                diagnostics: 0,
            }
        });
        specs.collect()
    }

    fn source(&self, _: &str) -> Option<String> {
        None
    }

    fn diagram(&self, _: &str) -> Option<String> {
        None
    }

    fn lint(&self, _: &str, _: &str) -> Value {
        Value::Null
    }
}
