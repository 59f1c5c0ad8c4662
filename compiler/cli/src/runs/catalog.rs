//! The workflows of the specs that lie about.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use statemark_compiler::back;
use statemark_store::{Workflow, Workflows};

use crate::commands::check_all;
use crate::failure::Failure;

/// The workflows that some specs define.
#[derive(Default)]
pub(super) struct Catalog {
    workflows: BTreeMap<String, Arc<Workflow>>,
    /// The specs with errors: nobody should start what they define.
    broken: Vec<String>,
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
}
