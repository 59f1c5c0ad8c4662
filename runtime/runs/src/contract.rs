//! Contracts: the rules of an artifact, and the check of a document against them.
//!
//! A contract comes from the definition: `artifacts: {NAME: …}`. For JSON it is a schema; for Markdown it names the
//! sections, their order, and the content of each. A [`Verdict`] locates each finding and says how to mend it.
//!
//! | key | meaning |
//! |---|---|
//! | `format` | `json`, `markdown` or `text`; by default the format that the other keys are about |
//! | `schema` | the JSON Schema of the document |
//! | `front_matter` | the JSON Schema of the front matter of a Markdown document: lines `key: value`, whose values are strings |
//! | `required_sections` | headings of required sections; short for `sections` |
//! | `sections` | rules for sections, in the order of the document: `contract/rule.rs` |
//! | `closed` | other sections are errors |
//! | `max_characters` | the document's maximum length |
//! | `like` | the name of a contract that provides the keys left out here: `contract/builtin.rs` |
//!
//! Deliberately not here: the life of an artifact (`runs/artifact.rs`), and the truth of its content.

mod builtin;
mod findings;
mod front;
mod json;
mod markdown;
mod rule;
mod section;

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

pub use builtin::{builtin, builtin_type, builtins};
pub use json::MAX_DOCUMENT_VALUES;

use crate::body::Verdict;
use crate::workflow::Workflow;
use findings::{Excerpt, Findings};
use rule::{Rule, plain_heading};

/// The requirements on an artifact.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Contract {
    format: Option<Format>,
    schema: Option<Value>,
    front_matter: Option<Value>,
    required_sections: Vec<String>,
    sections: Vec<Rule>,
    closed: bool,
    max_characters: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Format {
    Json,
    Markdown,
    Text,
}

impl Contract {
    /// Returns the contract of an artifact in a workflow; none if the definition declares none.
    ///
    /// # Errors
    ///
    /// The defect of a malformed contract.
    pub fn for_artifact(workflow: &Workflow, artifact: &str) -> Result<Option<Self>, String> {
        let artifacts = workflow.meta().get("artifacts");
        let Some(declared) = artifacts.and_then(|it| it.get(artifact)) else {
            return Ok(None);
        };
        Self::parse(declared).map(Some)
    }

    /// Returns a built-in contract by its name, if there is one.
    ///
    /// # Errors
    ///
    /// Those of [`Contract::parse`].
    pub fn builtin(name: &str) -> Result<Option<Self>, String> {
        builtin(name)
            .map(|contract| Self::parse(&contract))
            .transpose()
    }

    /// Parses a contract as a definition has it.
    ///
    /// # Errors
    ///
    /// The defect of a malformed contract.
    pub fn parse(value: &Value) -> Result<Self, String> {
        let value = builtin::with_inherited_keys(value)?;
        let mut contract = Self::deserialize(&value).map_err(|error| error.to_string())?;
        let own = contract.sections.iter().map(|rule| &rule.schema);
        let schemas = [&contract.schema, &contract.front_matter];
        for schema in schemas.into_iter().chain(own).flatten() {
            crate::schema::check_schema(schema)
                .map_err(|error| format!("a schema in it is broken: {error}"))?;
        }
        let ruled = contract.sections.iter();
        let mut ruled: BTreeSet<String> = ruled.map(|it| plain_heading(&it.heading)).collect();
        for heading in std::mem::take(&mut contract.required_sections) {
            if ruled.insert(plain_heading(&heading)) {
                contract.sections.push(Rule::required(heading));
            }
        }
        Ok(contract)
    }

    /// Returns the media type of its documents.
    #[must_use]
    pub fn media_type(&self) -> &'static str {
        match self.format() {
            Format::Json => "application/json",
            Format::Markdown => "text/markdown",
            Format::Text => "text/plain",
        }
    }

    fn format(&self) -> Format {
        self.format.unwrap_or(match self {
            it if it.schema.is_some() => Format::Json,
            it if it.front_matter.is_some() || !it.sections.is_empty() => Format::Markdown,
            _ => Format::Text,
        })
    }

    /// Checks a document.
    #[must_use]
    pub fn check(&self, document: &[u8]) -> Verdict {
        let text = match std::str::from_utf8(document) {
            Ok(text) => text,
            Err(error) => return findings::not_utf8(document, error.valid_up_to()),
        };
        let mut findings = Findings::new(text);
        if let Some(most) = self.max_characters {
            let characters = text.chars().count();
            if let Some((end, _)) = text.char_indices().nth(most) {
                let what = format!("the document has {characters} characters; most are {most}");
                findings.add(end, what, Some("shorten it".to_owned()));
            }
        }
        match self.format() {
            Format::Json => json::check(&Excerpt::whole(text), self.schema.as_ref(), &mut findings),
            Format::Markdown => {
                let document = markdown::parse(text);
                if let Some(schema) = &self.front_matter {
                    front::check(&document, schema, &mut findings);
                }
                section::check(text, &document, &self.sections, self.closed, &mut findings);
            }
            Format::Text => {}
        }
        findings.verdict()
    }
}
