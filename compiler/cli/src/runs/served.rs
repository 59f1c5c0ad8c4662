//! The workflows that a server is handed: those of some specs, read again when a file has changed.

mod create;
mod lint;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use statemark_compiler::back;
use statemark_compiler::diag::render::json as rendered;
use statemark_compiler::proofs::prove;
use statemark_compiler::source::MAX_SOURCE_BYTES;
use statemark_compiler::valid::Valid;
use statemark_runs::{Workflow, Workflows};
use statemark_server::{
    Catalog, Created, NewSpec, Page, Problem, Project, Simulated, Simulation, Spec,
};

use crate::commands::{check_all, story};
use crate::docs;
use crate::failure::{Failure, is_document, no_machine};
use crate::files;
use crate::report::{Checked, check, merged};

/// How long what was read is taken to be as the files are. Why: a client asks several things at once.
const FRESH: Duration = Duration::from_millis(500);

/// What a workflow is, and where it comes from.
struct Entry {
    workflow: Arc<Workflow>,
    spec: Spec,
    text: String,
    diagram: String,
    proofs: Arc<Proofs>,
}

/// What is certain of a machine, found out when somebody asks.
struct Proofs {
    machine: Valid,
    known: OnceLock<Value>,
}

/// What was read, and when.
#[derive(Default)]
struct Read {
    entries: BTreeMap<String, Entry>,
    /// The files with the times when they were written.
    files: Vec<(PathBuf, Option<SystemTime>)>,
    /// The files of workflows that were there, and that have errors now.
    lost: BTreeMap<String, String>,
    looked: Option<Instant>,
}

/// The workflows of some specs.
pub(crate) struct Served {
    specs: Vec<PathBuf>,
    read: RwLock<Read>,
    /// Held by whoever writes a spec: two at once would take each other's file for what a dead process has left.
    writing: Mutex<()>,
}

impl Served {
    /// Compiles the specs.
    pub(crate) fn new(specs: &[PathBuf]) -> Result<Self, Failure> {
        let read = read(specs)?;
        Ok(Self {
            specs: specs.to_vec(),
            read: RwLock::new(read),
            writing: Mutex::default(),
        })
    }

    /// Forgets how fresh what was read is: a file has been written.
    fn look_again(&self) {
        let mut known = self.read.write().unwrap_or_else(PoisonError::into_inner);
        known.looked = None;
        // A file that was written twice within the clock's tick has one time.
        known.files.clear();
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
        if let Some(mut again) = again {
            again.lost = lost(&known, &again);
            *known = again;
        }
        known.looked = Some(Instant::now());
    }

    fn with<T>(&self, ask: impl FnOnce(&Read) -> T) -> T {
        self.look();
        let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
        ask(&read)
    }
}

/// The workflows that aren't there any more while their files are.
fn lost(before: &Read, now: &Read) -> BTreeMap<String, String> {
    let files: BTreeSet<String> = now.files.iter().map(|it| files::shown(&it.0)).collect();
    let known = before.entries.iter();
    let known = known.map(|(id, entry)| (id, &entry.spec.source));
    let known = before.lost.iter().chain(known);
    let lost = known.filter(|(id, file)| !now.entries.contains_key(*id) && files.contains(*file));
    lost.map(|(id, file)| (id.clone(), file.clone())).collect()
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
                proofs: Arc::new(Proofs {
                    machine: machine.clone(),
                    known: OnceLock::new(),
                }),
                workflow: Arc::new(workflow),
            });
        }
    }
    Ok(Read {
        entries,
        files,
        lost: BTreeMap::new(),
        looked: Some(Instant::now()),
    })
}

impl Workflows for Served {
    fn find(&self, id: &str) -> Option<Arc<Workflow>> {
        self.with(|read| read.entries.get(id).map(|it| Arc::clone(&it.workflow)))
    }

    fn ids(&self) -> Vec<String> {
        self.with(|read| read.entries.keys().cloned().collect())
    }
}

impl Catalog for Served {
    fn specs(&self) -> Vec<Spec> {
        self.with(|read| read.entries.values().map(|it| it.spec.clone()).collect())
    }

    fn source(&self, id: &str) -> Option<String> {
        self.with(|read| read.entries.get(id).map(|it| it.text.clone()))
    }

    fn diagram(&self, id: &str) -> Option<String> {
        self.with(|read| read.entries.get(id).map(|it| it.diagram.clone()))
    }

    fn proofs(&self, id: &str) -> Option<Value> {
        // It may take a second, in which others go on reading.
        let proofs = self.with(|read| read.entries.get(id).map(|it| Arc::clone(&it.proofs)))?;
        let found = || serde_json::to_value(prove(&proofs.machine)).unwrap_or_default();
        Some(proofs.known.get_or_init(found).clone())
    }

    fn lint(&self, name: &str, text: &str) -> Value {
        findings(&checked(name, text))
    }

    fn lint_file(&self, word: &str) -> Option<Value> {
        lint::lint(self, word)
    }

    fn create(&self, new: &NewSpec<'_>) -> Result<Created, Problem> {
        create::create(self, new)
    }

    fn project(&self) -> Result<Option<Project>, Problem> {
        let project = super::checks::project();
        let unread = |failure: Failure| Problem::new("bad_configuration", failure.to_string());
        project.map(Some).map_err(unread)
    }

    fn pages(&self) -> Vec<Page> {
        docs::pages()
    }

    fn simulate(&self, wanted: &Simulation<'_>) -> Result<Simulated, Problem> {
        let Some(workflow) = self.find(wanted.workflow) else {
            let message = format!("there is no workflow `{}`", wanted.workflow);
            return Err(Problem::new("unknown_workflow", message)
                .with(json!({"known": self.ids()}))
                .mended_by("list_workflows", json!({})));
        };
        story(workflow.table(), wanted)
    }
}

/// A text, compiled as a file of that name.
fn checked(name: &str, text: &str) -> Checked {
    let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let is_too_large = text.len() > MAX_SOURCE_BYTES;
    let read = if is_too_large {
        Err(size)
    } else {
        Ok(text.as_bytes().to_vec())
    };
    check(name, read)
}

/// What a section with a machine looks like.
const EXAMPLE: &str = "\
## STATE-MACHINE: door

```mermaid
stateDiagram-v2
    [*] --> open
    open --> [*] : close
```
";

/// The findings in a file, as programs read them; a file without a machine has none, and says why.
fn findings(checked: &Checked) -> Value {
    let (sources, diagnostics) = merged(std::slice::from_ref(checked));
    let mut told = serde_json::from_str(&rendered(&diagnostics, &sources)).unwrap_or_default();
    if let Value::Object(told) = &mut told
        && checked.found == 0
        && !checked.has_errors()
    {
        told.insert("note".to_owned(), no_machine(&checked.name).into());
        if is_document(&checked.name) {
            told.insert("example".to_owned(), EXAMPLE.into());
        }
    }
    told
}
