//! What an artifact has to be like, and where one isn't.
//!
//! A contract comes from the definition: `artifacts: {NAME: …}`. Of JSON it is a schema; of Markdown it says which sections
//! there are, in which order, and what each contains. A [`Verdict`] names the place of each finding and how to mend it.
//!
//! | key | says |
//! |---|---|
//! | `format` | `json`, `markdown` or `text`; else what the other keys are about |
//! | `schema` | the JSON Schema of the document |
//! | `front_matter` | the JSON Schema of the lines `key: value` between `---` that a Markdown document begins with; values are texts |
//! | `required_sections` | headings that have to be there; short for `sections` |
//! | `sections` | rules of sections, in the order of the document: `contract/rule.rs` |
//! | `closed` | whether other sections beside those are wrong |
//! | `max_characters` | how long the document may be |
//! | `like` | the name of a contract whose keys count where these are left out: `contract/builtin.rs` |
//!
//! Deliberately not here: what is done with a document (`runs/artifact.rs`), and whether what it says is true.

mod builtin;
mod front;
mod json;
mod markdown;
mod place;
mod rule;
mod section;

use serde::Deserialize;
use serde_json::Value;

pub use builtin::{builtin, builtins};

use crate::body::Verdict;
use crate::workflow::Workflow;
use place::{Excerpt, Findings};
use rule::Rule;

/// What an artifact has to be like.
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
    /// The contract of an artifact in a workflow; none if the definition doesn't have the artifact.
    ///
    /// # Errors
    ///
    /// It can't be understood: why.
    pub fn of(workflow: &Workflow, artifact: &str) -> Result<Option<Self>, String> {
        let artifacts = workflow.meta().get("artifacts");
        let Some(found) = artifacts.and_then(|it| it.get(artifact)) else {
            return Ok(None);
        };
        Self::read(found).map(Some)
    }

    /// A contract by its name; none if nothing is called so.
    ///
    /// # Errors
    ///
    /// As for [`Contract::read`].
    pub fn named(name: &str) -> Result<Option<Self>, String> {
        builtin(name).map(|found| Self::read(&found)).transpose()
    }

    /// A contract as a definition has it.
    ///
    /// # Errors
    ///
    /// It can't be understood: why.
    pub fn read(value: &Value) -> Result<Self, String> {
        let value = builtin::over(value)?;
        let mut contract = Self::deserialize(&value).map_err(|error| error.to_string())?;
        let own = contract.sections.iter().map(|rule| &rule.schema);
        let schemas = [&contract.schema, &contract.front_matter];
        for schema in schemas.into_iter().chain(own).flatten() {
            crate::schema::is_schema(schema)
                .map_err(|error| format!("a schema in it is broken: {error}"))?;
        }
        for heading in std::mem::take(&mut contract.required_sections) {
            if !contract.sections.iter().any(|rule| rule.is_of(&heading)) {
                contract.sections.push(Rule::of(heading));
            }
        }
        Ok(contract)
    }

    /// What a document of this kind is called.
    #[must_use]
    pub fn media(&self) -> &'static str {
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

    /// Whether a document is as the contract says, and where it isn't.
    #[must_use]
    pub fn check(&self, document: &[u8]) -> Verdict {
        let text = match std::str::from_utf8(document) {
            Ok(text) => text,
            Err(error) => return place::not_text(document, error.valid_up_to()),
        };
        let mut findings = Findings::of(text);
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
                let document = markdown::read(text);
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
