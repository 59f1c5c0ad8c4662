//! The workflows of the specs that lie about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use statemark_compiler::source::MAX_SOURCE_BYTES;
use statemark_compiler::{Format, back};
use statemark_runs::{RunError, Workflow, WorkflowError, Workflows};
use statemark_runtime::MAX_TABLE_BYTES;

use super::unknown_workflow;
use crate::commands::check_all;
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::report::check;

/// The workflows that some specs define.
#[derive(Default)]
pub(super) struct Catalog {
    workflows: BTreeMap<String, Arc<Workflow>>,
    /// The specs with errors: nobody should start what they define.
    broken: Vec<String>,
    /// The id of a document without a machine, if one was looked for and found.
    plain: Option<String>,
}

impl Catalog {
    /// Compiles the specs. Of two machines with one id the first counts, in the order of the files' names.
    pub(super) fn new(specs: &[PathBuf]) -> Result<Self, Failure> {
        let mut catalog = Self::default();
        for file in check_all(specs, "stdin.md")? {
            if file.has_errors() {
                catalog.broken.push(file.name.clone());
            }
            for machine in &file.machines {
                if let Ok(workflow) = Workflow::from_bytes(back::table::write(machine)) {
                    let id = workflow.id().to_owned();
                    let entry = catalog.workflows.entry(id);
                    entry.or_insert_with(|| Arc::new(workflow));
                }
            }
        }
        Ok(catalog)
    }

    /// The workflow that a word means: a table, or a spec, of which the one with the run's id is taken, else the only one;
    /// or an id that the specs define. Each counts as a workflow of its own id.
    pub(super) fn towards(
        word: &str,
        specs: &[PathBuf],
        current: &str,
    ) -> Result<(Self, Arc<Workflow>), Failure> {
        let path = Path::new(word);
        if word.ends_with(".table") {
            return Self::of_table(path);
        }
        if !path.is_file() && !looks_like_file(word) {
            let catalog = Self::new(specs)?;
            let found = catalog.workflows.get(word).cloned();
            let none = || unknown_workflow(word, catalog.ids(), catalog.broken());
            let found = found.ok_or_else(none)?;
            return Ok((catalog, found));
        }
        let catalog = Self::new(&[path.to_owned()])?;
        let mut all = catalog.workflows.values();
        let found = match (catalog.workflows.get(current), all.next(), all.next()) {
            (Some(found), _, _) | (None, Some(found), None) => Arc::clone(found),
            (None, None, _) if catalog.broken.is_empty() => {
                let path = files::shown(path);
                return Err(FailureKind::NoMachine { path }.into());
            }
            (None, None, _) => return Err(unknown_workflow(current, Vec::new(), &catalog.broken)),
            (None, Some(_), Some(_)) => {
                let (path, ids) = (files::shown(path), catalog.ids());
                return Err(FailureKind::SeveralWorkflows { path, ids }.into());
            }
        };
        Ok((catalog, found))
    }

    fn of_table(path: &Path) -> Result<(Self, Arc<Workflow>), Failure> {
        let bytes = match files::read(path, MAX_TABLE_BYTES)? {
            Ok(bytes) => bytes,
            Err(_) => {
                let path = path.to_owned();
                let cause = std::io::Error::other("it is larger than any table");
                return Err(FailureKind::Unreadable { path, cause }.into());
            }
        };
        let workflow = Workflow::from_bytes(bytes).map_err(|error| {
            let path = files::shown(path);
            match error {
                WorkflowError::Decode(cause) => FailureKind::NotATable { path, cause },
                WorkflowError::Verify(cause) => FailureKind::BadTable { path, cause },
                other => FailureKind::Run(RunError::Table(other)),
            }
        })?;
        let workflow = Arc::new(workflow);
        let mut catalog = Self::default();
        let id = workflow.id().to_owned();
        catalog.workflows.insert(id, Arc::clone(&workflow));
        Ok((catalog, workflow))
    }

    /// Looks for a document of that id that has no machine: a skill or an agent that nobody tracks.
    pub(super) fn look_for_plain(&mut self, specs: &[PathBuf], id: &str) -> Result<(), Failure> {
        for found in files::find(specs)? {
            let name = files::shown(&found.path);
            if !name.ends_with(".md") {
                continue;
            }
            let Ok(bytes) = files::read(&found.path, MAX_SOURCE_BYTES)? else {
                continue;
            };
            let is_meant = ids(&name, &String::from_utf8_lossy(&bytes)).any(|it| it == id);
            if is_meant && check(&name, Ok(bytes)).found == 0 {
                self.plain = Some(id.to_owned());
            }
        }
        Ok(())
    }

    /// The specs with errors.
    pub(super) fn broken(&self) -> &[String] {
        &self.broken
    }
}

impl Workflows for Catalog {
    fn find(&self, id: &str) -> Option<Arc<Workflow>> {
        self.workflows.get(id).cloned()
    }

    fn ids(&self) -> Vec<String> {
        self.workflows.keys().cloned().collect()
    }

    fn lacks_machine(&self, id: &str) -> bool {
        self.plain.as_deref() == Some(id)
    }
}

/// Whether a word is meant as a file, though there may be none.
fn looks_like_file(word: &str) -> bool {
    word.contains('/') || word.ends_with(".md") || Format::of_name(word) != Format::Markdown
}

/// What a document without a machine is called: by the `name` in its front matter, by its folder if it is a `SKILL.md`, by
/// its file.
pub(super) fn ids(name: &str, text: &str) -> impl Iterator<Item = String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let has_front_matter = lines.next().is_some_and(|line| line.trim_end() == "---");
    let front = lines.take_while(|line| line.trim_end() != "---");
    let mut names = front.filter_map(|line| line.strip_prefix("name:"));
    let front = names.next().filter(|_| has_front_matter);
    let front = front.map(|it| it.trim().trim_matches(['"', '\'']).to_owned());
    let mut parts = name.rsplit('/');
    let stem = parts.next().and_then(|file| file.split('.').next());
    let file = match stem {
        Some("SKILL") => parts.next(),
        stem => stem,
    };
    front.into_iter().chain(file.map(str::to_owned))
}
