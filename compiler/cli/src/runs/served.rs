//! The workflows that a server is handed: those of some specs, read again when a file has changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use statemark_compiler::back;
use statemark_compiler::diag::render::json;
use statemark_server::{Catalog, Spec};
use statemark_store::{Workflow, Workflows};

use crate::commands::check_all;
use crate::failure::Failure;
use crate::files;
use crate::report::{check, merged};

/// How long what was read is taken to be as the files are. Why: a client asks several things at once.
const FRESH: Duration = Duration::from_millis(500);

/// What a workflow is, and where it comes from.
struct Entry {
    workflow: Arc<Workflow>,
    spec: Spec,
    text: String,
    diagram: String,
}

/// What was read, and when.
#[derive(Default)]
struct Read {
    entries: BTreeMap<String, Entry>,
    /// The files with the times when they were written.
    files: Vec<(PathBuf, Option<SystemTime>)>,
    looked: Option<Instant>,
}

/// The workflows of some specs.
pub(crate) struct Served {
    specs: Vec<PathBuf>,
    read: RwLock<Read>,
}

impl Served {
    /// Compiles the specs.
    pub(crate) fn new(specs: &[PathBuf]) -> Result<Self, Failure> {
        let read = read(specs)?;
        Ok(Self {
            specs: specs.to_vec(),
            read: RwLock::new(read),
        })
    }

    /// Reads the specs again if a file has changed. Files that can't be read leave what was there.
    fn look(&self) {
        let known = self.read.read().unwrap_or_else(PoisonError::into_inner);
        if known.looked.is_some_and(|it| it.elapsed() < FRESH) {
            return;
        }
        let same = files_of(&self.specs).is_ok_and(|files| files == known.files);
        drop(known);
        let again = if same { None } else { read(&self.specs).ok() };
        let mut known = self.read.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(again) = again {
            *known = again;
        }
        known.looked = Some(Instant::now());
    }

    fn with<T>(&self, ask: impl FnOnce(&BTreeMap<String, Entry>) -> T) -> T {
        self.look();
        let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
        ask(&read.entries)
    }
}

fn files_of(specs: &[PathBuf]) -> Result<Vec<(PathBuf, Option<SystemTime>)>, Failure> {
    let found = files::find(specs)?.into_iter().map(|file| {
        let changed = fs::metadata(&file.path).and_then(|it| it.modified());
        (file.path, changed.ok())
    });
    Ok(found.collect())
}

fn read(specs: &[PathBuf]) -> Result<Read, Failure> {
    let files = files_of(specs)?;
    let mut entries = BTreeMap::new();
    for file in check_all(specs, "stdin.md")? {
        let text = file
            .sources
            .iter()
            .map(|(_, it)| it.text())
            .collect::<String>();
        for machine in &file.machines {
            let Ok(workflow) = Workflow::from_bytes(back::table::write(machine)) else {
                continue;
            };
            let id = workflow.id().to_owned();
            let text_of = |key: &str| {
                let value = workflow.meta().get(key).and_then(Value::as_str);
                value.map(str::to_owned)
            };
            let spec = Spec {
                id: id.clone(),
                title: text_of("title"),
                description: text_of("description"),
                source: file.name.clone(),
                hash: workflow.hash(),
                states: workflow.visible_states().count(),
                diagnostics: file.diagnostics.len(),
            };
            entries.entry(id).or_insert_with(|| Entry {
                spec,
                text: text.clone(),
                diagram: back::mermaid::write(machine),
                workflow: Arc::new(workflow),
            });
        }
    }
    Ok(Read {
        entries,
        files,
        looked: Some(Instant::now()),
    })
}

impl Workflows for Served {
    fn find(&self, id: &str) -> Option<Arc<Workflow>> {
        self.with(|all| all.get(id).map(|it| Arc::clone(&it.workflow)))
    }

    fn ids(&self) -> Vec<String> {
        self.with(|all| all.keys().cloned().collect())
    }
}

impl Catalog for Served {
    fn specs(&self) -> Vec<Spec> {
        self.with(|all| all.values().map(|it| it.spec.clone()).collect())
    }

    fn source(&self, id: &str) -> Option<String> {
        self.with(|all| all.get(id).map(|it| it.text.clone()))
    }

    fn diagram(&self, id: &str) -> Option<String> {
        self.with(|all| all.get(id).map(|it| it.diagram.clone()))
    }

    fn lint(&self, name: &str, text: &str) -> Value {
        let checked = [check(name, Ok(text.as_bytes().to_vec()))];
        let (sources, diagnostics) = merged(&checked);
        serde_json::from_str(&json(&diagnostics, &sources)).unwrap_or_default()
    }
}
