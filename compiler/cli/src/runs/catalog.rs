//! The workflows of the specs that lie about.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use statemark_compiler::back;
use statemark_compiler::source::MAX_SOURCE_BYTES;
use statemark_store::{Workflow, Workflows};

use crate::commands::check_all;
use crate::failure::Failure;
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

/// What a document without a machine is called: by the `name` in its front matter, by its folder if it is a `SKILL.md`, by
/// its file.
fn ids(name: &str, text: &str) -> impl Iterator<Item = String> {
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
