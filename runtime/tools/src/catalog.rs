//! The workflows that a server is handed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use statemark_runs::authority::WriteSpec;
use statemark_runs::check::{CheckPlace, Declaration};
use statemark_runs::{Hash, Trail, Workflow, Workflows};

use crate::{Page, Problem};

/// A source of workflows.
///
/// It may change while it is used: runs continue under the tables that they began with.
pub trait Catalog: Workflows {
    /// Lists the specs, by id.
    fn specs(&self) -> Vec<Spec>;

    /// Returns a spec's text as its author wrote it.
    fn source(&self, id: &str) -> Option<String>;

    /// Draws the machine as a canonical Mermaid diagram.
    fn diagram(&self, id: &str) -> Option<String>;

    /// Draws a workflow as SVG, with the way of a run through it if there is one.
    ///
    /// It needn't be the catalog's: a run goes by the table that it began with.
    fn drawing(&self, workflow: &Workflow, trail: Option<&Trail>) -> Option<String> {
        let _ = (workflow, trail);
        None
    }

    /// Lists the proofs of a machine, as `show --output-format json` does; `None` for tables alone.
    fn proofs(&self, id: &str) -> Option<Value> {
        let _ = id;
        None
    }

    /// Lints a text, as `lint --output-format json` does; the name tells its format.
    fn lint(&self, name: &str, text: &str) -> Value;

    /// Lints a served file, which is named by a workflow's id or by its own name.
    ///
    /// A file with errors defines no workflow.
    fn lint_file(&self, word: &str) -> Option<Value> {
        let spec = self.specs().into_iter().find(|spec| spec.id == word)?;
        let text = self.source(word)?;
        Some(self.lint(&spec.source, &text))
    }

    /// Writes a spec into the first of its folders that can be written to, whole or not at all.
    ///
    /// Nothing outside of that folder is touched. `allow` is asked before anything is written.
    ///
    /// # Errors
    ///
    /// The spec has errors or no machine; the name can't be one or is taken; no folder can be written to; that of `allow`.
    fn create(&self, new: &NewSpec<'_>, allow: Allow<'_>) -> Result<Created, Problem> {
        let (name, _) = (new.name, allow);
        let message = format!("`{name}` can't be written: no folder of specs is served");
        Err(Problem::new("no_folder", message))
    }

    /// Reads the project that agents work in, as it is now.
    ///
    /// # Errors
    ///
    /// Its configuration can't be read.
    fn project(&self) -> Result<Option<Project>, Problem> {
        Ok(None)
    }

    /// Lists the documentation apart from that of workflows; always the same.
    fn pages(&self) -> Vec<Page> {
        Vec::new()
    }

    /// Steps through a machine with some events, without a run.
    ///
    /// # Errors
    ///
    /// There is no such workflow; an event can't be read.
    fn simulate(&self, wanted: &Simulation<'_>) -> Result<Simulated, Problem> {
        let workflow = wanted.workflow;
        let message = format!("`{workflow}` can't be simulated: tables alone are served");
        Err(Problem::new("not_simulated", message))
    }
}

/// A project that agents work on.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The root: the repository's, else the folder that the server was started in.
    pub root: PathBuf,
    /// The checks that the project's configuration declares.
    pub checks: BTreeMap<String, Declaration>,
    /// The folder that those checks run in.
    pub checks_root: PathBuf,
    /// The place of checks: what starts them, and the folders outside of the project that they may use.
    ///
    /// Its root doesn't count: each check has its own.
    pub place: CheckPlace,
    /// Servers inside of the own network that a person allows tools to reach, as `http://HOST:PORT`.
    pub servers: Vec<String>,
    /// The settings of packs by their names; each pack reads its own.
    pub packs: Map<String, Value>,
}

/// A spec that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewSpec<'n> {
    /// The name of its file, without the ending.
    pub name: &'n str,
    /// The text.
    pub text: &'n str,
    /// True for a definition alone; else it is a Markdown document.
    pub is_definition: bool,
    /// True if a file of that name may be replaced.
    pub overwrite: bool,
    /// True if it is an agent's.
    ///
    /// Agents may replace it as long as the server runs and nobody else has changed it.
    pub is_draft: bool,
}

/// The decision whether a spec may be written.
pub type Allow<'a> = &'a dyn Fn(&WriteSpec) -> Result<(), Problem>;

/// Writes a definition as people read it.
pub fn definition_text(definition: &Map<String, Value>) -> String {
    // An object of JSON can always be written.
    let text = serde_json::to_string_pretty(definition).unwrap_or_default();
    format!("{text}\n")
}

/// A spec that was written.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Created {
    /// The id of its first machine.
    pub id: String,
    /// The hash of that machine's table.
    #[schemars(with = "String")]
    pub hash: Hash,
    /// The file.
    pub path: String,
    /// The ids of all its machines, if it has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// True if the file was there with the same text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// The findings that are no errors, as [`Catalog::lint`] gives them.
    #[schemars(with = "Map<String, Value>")]
    pub findings: Value,
}

/// Events that a machine is to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Simulation<'s> {
    /// The workflow's id.
    pub workflow: &'s str,
    /// Each as a line of a script of `statemark simulate`, or as its object.
    pub events: &'s [Value],
    /// Merged into the data that the machine begins with.
    pub context: &'s Map<String, Value>,
}

/// The outcome of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// The outcome of each event, as `statemark simulate` has it in JSON; the first is the start.
    pub records: Vec<Value>,
    /// The active states at the end.
    pub configuration: Vec<String>,
    /// Its data.
    pub context: Value,
    /// The events that could be sent next.
    pub legal: Vec<String>,
    /// True if the machine has ended.
    pub is_final: bool,
}

/// A workflow that can be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spec {
    /// Its id.
    pub id: String,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The file, as it was found.
    pub source: String,
    /// The hash of its table.
    pub hash: Hash,
    /// The number of states that a person sees.
    pub states: usize,
    /// The number of findings in its file.
    pub diagnostics: usize,
    /// True if it is in the user's own folder of workflows, not among those of the project.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub global: bool,
    /// True if nobody has accepted it as it is. A catalog doesn't know: who lists specs says so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unreviewed: bool,
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
                global: false,
                unreviewed: false,
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
