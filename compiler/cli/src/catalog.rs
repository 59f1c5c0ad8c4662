//! The workflows of some specs, read again when a file has changed.
//!
//! One catalog serves commands and servers. What to rely on: of several machines with one id, none counts unless they are
//! alike, so that no file comes before another by its name; files that can't be read any more leave the workflows as they
//! were.

mod create;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use statemark_compiler::back::svg::TooLarge;
use statemark_compiler::diag::render::json as render_json;
use statemark_compiler::proofs::prove;
use statemark_compiler::source::MAX_SOURCE_BYTES;
use statemark_compiler::valid::Valid;
use statemark_compiler::{Format, back};
use statemark_runs::{Hash, RunError, Trail, Workflow, WorkflowError, Workflows, shell_word};
use statemark_text::suggest::nearest;
use statemark_tools::lookup::missing_workflow;
use statemark_tools::{
    Allow, Catalog, Created, NewSpec, Page, Problem, Project, Simulated, Simulation, Spec,
};

use crate::drawing::drawing_options;
use crate::failure::{Failure, UNKNOWN_WORKFLOW};
use crate::search::{self, Stamp};
use crate::simulation::simulate;
use crate::specs::{
    Checked, STDIN_NAME, bad_table, check, check_all, check_text, merge, no_machine,
    no_machine_message, not_a_table, read_table,
};
use crate::{files, project};

/// Time for which the files aren't looked at again. Why: a client asks several things at once.
const FRESH: Duration = Duration::from_millis(500);

/// A section with a machine, for whoever has written a document without one.
const EXAMPLE: &str = "\
## STATE-MACHINE: door

```mermaid
stateDiagram-v2
    [*] --> open
    open --> [*] : close
```
";

/// A workflow, and the spec that it is from.
struct Entry {
    workflow: Arc<Workflow>,
    spec: Spec,
    text: String,
    compiled: Arc<Compiled>,
}

/// A compiled machine, and its proofs, which are made when somebody asks.
struct Compiled {
    machine: Valid,
    proofs: OnceLock<Value>,
}

/// The specs as they were read.
#[derive(Default)]
struct Snapshot {
    entries: BTreeMap<String, Entry>,
    /// The files with errors: nobody should start what they define.
    broken: Vec<String>,
    /// By id: the files with machines that aren't alike.
    rivals: BTreeMap<String, Vec<String>>,
    /// The files and the times when they were changed.
    files: Vec<(PathBuf, Option<Stamp>)>,
    /// The files of workflows that were there, and that have errors now.
    lost: BTreeMap<String, String>,
    checked_at: Option<Instant>,
}

/// The workflows of some specs.
#[derive(Default)]
pub(crate) struct SpecCatalog {
    specs: Vec<PathBuf>,
    snapshot: RwLock<Snapshot>,
    /// The lock of writers.
    ///
    /// Why: of two at once, one would take the other's temporary file for that of a dead process.
    writing: Mutex<()>,
    /// The files that agents have written since the server began, with the hash of what they wrote.
    drafts: Mutex<BTreeMap<PathBuf, Hash>>,
    /// True if the project starts accepted workflows alone.
    only_accepted: bool,
    /// A workflow of a table, which no spec defines.
    table: Option<Arc<Workflow>>,
    /// The id of a document without a machine.
    plain: Option<String>,
    /// The workflows of the user's folder, of libraries and of the program.
    ///
    /// A spec with the same id hides them.
    fallback: BTreeMap<String, Entry>,
    /// The documentation that a server has besides that of the workflows.
    pages: Option<LazyPages>,
}

/// Pages that are made when somebody asks for them.
///
/// Why: that takes as long as all else that a server does before it answers.
type LazyPages = LazyLock<Vec<Page>, Box<dyn FnOnce() -> Vec<Page> + Send>>;

impl SpecCatalog {
    /// Compiles the specs among some paths.
    pub(crate) fn read(specs: &[PathBuf]) -> Result<Self, Failure> {
        Ok(Self {
            specs: specs.to_vec(),
            snapshot: RwLock::new(read_specs(specs)?),
            only_accepted: project::only_accepted()?,
            ..Self::default()
        })
    }

    /// Adds the workflows of the user's own folder, if there is one, as they are now.
    pub(crate) fn with_global(self) -> Result<Self, Failure> {
        let folder = project::global_workflows();
        self.with_library(folder.as_slice())
    }

    /// Adds workflows that are no project's, as they are now.
    ///
    /// A spec with the same id hides one, and so does a library that was added before.
    pub(crate) fn with_library(mut self, library: &[PathBuf]) -> Result<Self, Failure> {
        if library.is_empty() {
            return Ok(self);
        }
        for (id, mut entry) in read_specs(library)?.entries {
            entry.spec.global = true;
            self.fallback.entry(id).or_insert(entry);
        }
        Ok(self)
    }

    /// Adds specs that the program brings along, by name and text. A spec with the same id hides one.
    pub(crate) fn with_builtin(mut self, specs: &[(&str, &str)]) -> Self {
        for (name, text) in specs {
            let file = check_text(name, text);
            let entries = file.machines.iter().filter_map(|it| read_entry(&file, it));
            for entry in entries {
                self.fallback.entry(entry.spec.id.clone()).or_insert(entry);
            }
        }
        self
    }

    /// Adds documentation for a server.
    pub(crate) fn with_pages(self, pages: impl FnOnce() -> Vec<Page> + Send + 'static) -> Self {
        let pages: Box<dyn FnOnce() -> Vec<Page> + Send> = Box::new(pages);
        Self {
            pages: Some(LazyLock::new(pages)),
            ..self
        }
    }

    /// Returns the workflow that a word means, and the catalog that it is in.
    ///
    /// A table is one workflow. Of a spec it is the one with the run's id, else the only one. Any other word is an id.
    pub(crate) fn resolve(
        word: &str,
        specs: &[PathBuf],
        current: &str,
    ) -> Result<(Self, Arc<Workflow>), Failure> {
        let path = Path::new(word);
        if word.ends_with(".table") {
            return Self::read_table(path);
        }
        if !path.is_file() && !looks_like_file(word) {
            let catalog = Self::read(specs)?.with_global()?;
            let workflow = catalog.find_or_fail(word)?;
            return Ok((catalog, workflow));
        }
        let catalog = Self::read(&[path.to_owned()])?;
        let ids = catalog.ids();
        let only = match ids.as_slice() {
            [only] => catalog.find(only),
            _ => None,
        };
        if let Some(workflow) = catalog.find(current).or(only) {
            return Ok((catalog, workflow));
        }
        let (name, broken) = (files::display(path), catalog.broken());
        Err(if !ids.is_empty() {
            let count = ids.len();
            Failure::new(format!(
                "{name} has {count} workflows, and none is the run's"
            ))
            .with_help(format!(
                "name one of {} and add `--specs {name}`",
                ids.join(", ")
            ))
        } else if broken.is_empty() {
            no_machine(&name)
        } else {
            unknown_workflow(current, &[], &broken)
        })
    }

    fn read_table(path: &Path) -> Result<(Self, Arc<Workflow>), Failure> {
        let workflow = Workflow::from_bytes(read_table(path)?).map_err(|error| {
            let name = files::display(path);
            match error {
                WorkflowError::Decode(cause) => not_a_table(&name, &cause),
                WorkflowError::Verify(cause) => bad_table(&name, &cause),
                other => RunError::Table(other).into(),
            }
        })?;
        let workflow = Arc::new(workflow);
        let catalog = Self {
            table: Some(Arc::clone(&workflow)),
            ..Self::default()
        };
        Ok((catalog, workflow))
    }

    /// Looks for a document of that id without a machine: a skill or an agent that isn't tracked.
    pub(crate) fn find_plain(&mut self, id: &str) -> Result<(), Failure> {
        for file in search::find(&self.specs)? {
            let name = file.name;
            if file.problem.is_some() || !name.ends_with(".md") {
                continue;
            }
            let Ok(bytes) = files::read(&file.path, MAX_SOURCE_BYTES)? else {
                continue;
            };
            let is_meant =
                document_ids(&name, &String::from_utf8_lossy(&bytes)).any(|other| other == id);
            if is_meant && check(&name, Ok(bytes)).machine_count == 0 {
                self.plain = Some(id.to_owned());
            }
        }
        Ok(())
    }

    /// Finds a workflow by its id. The failure of one that isn't there says why.
    pub(crate) fn find_or_fail(&self, id: &str) -> Result<Arc<Workflow>, Failure> {
        let missing = || match RunError::no_workflow(self, id) {
            RunError::UnknownWorkflow { id, known } => {
                unknown_workflow(&id, &known, &self.broken())
            }
            other => other.into(),
        };
        self.find(id).ok_or_else(missing)
    }

    /// Returns why workflows that several files define don't count, a sentence each.
    pub(crate) fn rivalries(&self) -> Vec<String> {
        let rivals = self.with(|snapshot| snapshot.rivals.clone());
        let errors = rivals.into_iter();
        let errors = errors.map(|(id, specs)| RunError::AmbiguousWorkflow { id, specs });
        errors.map(|error| error.to_string()).collect()
    }

    /// Returns the files with errors.
    pub(crate) fn broken(&self) -> Vec<String> {
        self.with(|snapshot| snapshot.broken.clone())
    }

    /// Forgets how fresh the snapshot is: a file has been written.
    fn invalidate(&self) {
        let mut snapshot = self
            .snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        snapshot.checked_at = None;
        // A file that was written twice within the clock's tick has one time.
        snapshot.files.clear();
    }

    /// Reads the specs again if a file has changed. Files that can't be read leave the snapshot as it is.
    fn refresh(&self) {
        let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |at: Instant| at.elapsed() < FRESH;
        if self.specs.is_empty() || snapshot.checked_at.is_some_and(is_fresh) {
            return;
        }
        let is_same = stamps(&self.specs).is_ok_and(|files| files == snapshot.files);
        drop(snapshot);
        let changed = if is_same {
            None
        } else {
            let read = read_specs(&self.specs);
            if let Err(failure) = &read {
                tracing::warn!(cause = %failure, "the specs can't be read again; the workflows stay");
            }
            read.ok()
        };
        let mut snapshot = self
            .snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(mut changed) = changed {
            changed.lost = lost_workflows(&snapshot, &changed);
            let (workflows, files_with_errors) = (changed.entries.len(), changed.broken.len());
            tracing::info!(workflows, files_with_errors, "read the specs again");
            *snapshot = changed;
        }
        snapshot.checked_at = Some(Instant::now());
    }

    fn with<T>(&self, ask: impl FnOnce(&Snapshot) -> T) -> T {
        self.refresh();
        ask(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Draws a workflow as its spec has it, with notes and direction, else as its table has it.
    ///
    /// A run may go by the table of an older spec.
    pub(crate) fn draw(
        &self,
        workflow: &Workflow,
        options: &back::svg::Options,
    ) -> Result<String, TooLarge> {
        let same = |entry: &Entry| {
            let is_same = entry.workflow.hash() == workflow.hash();
            is_same.then(|| Arc::clone(&entry.compiled))
        };
        match self.entry(workflow.id(), same).flatten() {
            Some(compiled) => back::svg::write(&compiled.machine, options),
            None => back::svg::write_table(workflow.table(), options),
        }
    }

    fn entry<T>(&self, id: &str, get: impl FnOnce(&Entry) -> T) -> Option<T> {
        self.with(|snapshot| {
            let fallback = || {
                let has_rivals = snapshot.rivals.contains_key(id);
                self.fallback.get(id).filter(|_| !has_rivals)
            };
            snapshot.entries.get(id).or_else(fallback).map(get)
        })
    }
}

/// Draws the workflow of a run.
///
/// It is that of a spec in the current folder if that is the same, else that of the run's own table.
pub(crate) fn draw_run(
    workflow: &Workflow,
    options: &back::svg::Options,
) -> Result<String, TooLarge> {
    // A folder whose specs can't be read doesn't keep anybody from looking at a run.
    let catalog = SpecCatalog::read(&[PathBuf::from(".")]).unwrap_or_default();
    catalog.draw(workflow, options)
}

/// Returns the workflows that are gone while their files are there, with those files.
fn lost_workflows(before: &Snapshot, now: &Snapshot) -> BTreeMap<String, String> {
    let files = now.files.iter().map(|(path, _)| files::display(path));
    let files: BTreeSet<String> = files.collect();
    let known = before.entries.iter();
    let known = known.map(|(id, entry)| (id, &entry.spec.source));
    let known = before.lost.iter().chain(known);
    let lost = known.filter(|(id, file)| !now.entries.contains_key(*id) && files.contains(*file));
    lost.map(|(id, file)| (id.clone(), file.clone())).collect()
}

/// Returns the files of specs with their stamps.
fn stamps(specs: &[PathBuf]) -> Result<Vec<(PathBuf, Option<Stamp>)>, Failure> {
    let files = search::find(specs)?.into_iter().map(|file| {
        let stamp = search::stamp(&file.path);
        (file.path, stamp)
    });
    Ok(files.collect())
}

fn read_specs(specs: &[PathBuf]) -> Result<Snapshot, Failure> {
    let files = stamps(specs)?;
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    let mut rivals: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut broken = Vec::new();
    for file in check_all(specs, STDIN_NAME)? {
        if file.has_errors() {
            broken.push(file.name.clone());
        }
        for machine in &file.machines {
            let Some(entry) = read_entry(&file, machine) else {
                continue;
            };
            let (id, source) = (entry.spec.id.clone(), entry.spec.source.clone());
            match entries.get(&id) {
                None => {
                    entries.insert(id, entry);
                }
                Some(first) if first.workflow.hash() == entry.workflow.hash() => {}
                Some(first) => {
                    let all = rivals.entry(id);
                    all.or_insert_with(|| vec![first.spec.source.clone()])
                        .push(source);
                }
            }
        }
    }
    entries.retain(|id, _| !rivals.contains_key(id));
    Ok(Snapshot {
        entries,
        broken,
        rivals,
        files,
        lost: BTreeMap::new(),
        checked_at: Some(Instant::now()),
    })
}

fn read_entry(file: &Checked, machine: &Valid) -> Option<Entry> {
    let workflow = Workflow::from_bytes(back::table::write(machine)).ok()?;
    let meta_text = |key: &str| {
        let value = workflow.meta().get(key).and_then(Value::as_str);
        value.map(str::to_owned)
    };
    Some(Entry {
        spec: Spec {
            id: workflow.id().to_owned(),
            title: meta_text("title"),
            description: meta_text("description"),
            source: file.name.clone(),
            hash: workflow.hash(),
            states: workflow.visible_states().count(),
            diagnostics: file.diagnostics.len(),
            global: false,
            unreviewed: false,
        },
        text: file
            .sources
            .iter()
            .map(|(_, source)| source.text())
            .collect(),
        compiled: Arc::new(Compiled {
            machine: machine.clone(),
            proofs: OnceLock::new(),
        }),
        workflow: Arc::new(workflow),
    })
}

impl Workflows for SpecCatalog {
    fn find(&self, id: &str) -> Option<Arc<Workflow>> {
        let table = self.table.as_ref().filter(|table| table.id() == id);
        let spec = || self.entry(id, |entry| Arc::clone(&entry.workflow));
        table.cloned().or_else(spec)
    }

    fn ids(&self) -> Vec<String> {
        let table = self.table.iter().map(|table| table.id().to_owned());
        let specs = self.specs().into_iter().map(|spec| spec.id);
        table.chain(specs).collect()
    }

    fn rivals(&self, id: &str) -> Vec<String> {
        self.with(|snapshot| snapshot.rivals.get(id).cloned().unwrap_or_default())
    }

    fn lacks_machine(&self, id: &str) -> bool {
        if self.plain.as_deref() == Some(id) {
            return true;
        }
        let files = self.with(|snapshot| {
            let files = snapshot.files.iter().map(|(path, _)| path.clone());
            files.collect::<Vec<PathBuf>>()
        });
        files.iter().filter(|path| has_id(path, id)).any(|path| {
            let name = files::display(path);
            files::read(path, MAX_SOURCE_BYTES).is_ok_and(|bytes| {
                let checked = check(&name, bytes);
                checked.machine_count == 0 && !checked.has_errors()
            })
        })
    }

    fn only_accepted(&self) -> bool {
        self.only_accepted
    }
}

impl Catalog for SpecCatalog {
    fn specs(&self) -> Vec<Spec> {
        self.with(|snapshot| {
            let own = snapshot.entries.iter();
            let others = self.fallback.iter();
            let hides =
                |id: &String| snapshot.entries.contains_key(id) || snapshot.rivals.contains_key(id);
            let others = others.filter(|(id, _)| !hides(id));
            let all: BTreeMap<_, _> = own.chain(others).collect();
            all.values().map(|entry| entry.spec.clone()).collect()
        })
    }

    fn source(&self, id: &str) -> Option<String> {
        self.entry(id, |entry| entry.text.clone())
    }

    fn diagram(&self, id: &str) -> Option<String> {
        let compiled = self.entry(id, |entry| Arc::clone(&entry.compiled))?;
        Some(back::mermaid::write(&compiled.machine))
    }

    fn drawing(&self, workflow: &Workflow, trail: Option<&Trail>) -> Option<String> {
        let options = drawing_options(trail);
        let drawn = self.draw(workflow, &options);
        Some(drawn.unwrap_or_else(|it| it.draw(&options)))
    }

    fn proofs(&self, id: &str) -> Option<Value> {
        // It may take a second, in which others go on reading.
        let compiled = self.entry(id, |entry| Arc::clone(&entry.compiled))?;
        let make = || serde_json::to_value(prove(&compiled.machine)).unwrap_or_default();
        Some(compiled.proofs.get_or_init(make).clone())
    }

    fn lint(&self, name: &str, text: &str) -> Value {
        findings(&check_text(name, text))
    }

    /// Lints the file that a word means. A file with errors defines no workflow, but has a name.
    ///
    /// A word means, in this order: a workflow; one that was there before its file got an error; a file by its path, or by
    /// its name with or without endings; a document by the `name` in its front matter, or by the folder of a `SKILL.md`.
    fn lint_file(&self, word: &str) -> Option<Value> {
        let spec = self.entry(word, |entry| {
            (entry.spec.source.clone(), entry.text.clone())
        });
        if let Some((name, text)) = spec {
            return Some(findings(&check_text(&name, &text)));
        }
        let (lost, files) = self.with(|snapshot| {
            let files = snapshot.files.iter().map(|(path, _)| path.clone());
            let lost = snapshot.lost.get(word).cloned();
            (lost, files.collect::<Vec<PathBuf>>())
        });
        let find = |is_meant: &dyn Fn(&Path) -> bool| files.iter().find(|path| is_meant(path));
        let path = lost.and_then(|name| find(&|path| files::display(path) == name));
        let path = path.or_else(|| find(&|path| files::display(path) == word));
        let path = path.or_else(|| find(&|path| has_name(path, word)));
        let path = path.or_else(|| find(&|path| has_id(path, word)))?;
        let bytes = files::read(path, MAX_SOURCE_BYTES).ok()?;
        Some(findings(&check(&files::display(path), bytes)))
    }

    fn create(&self, new: &NewSpec<'_>, allow: Allow<'_>) -> Result<Created, Problem> {
        create::create(self, new, allow)
    }

    fn project(&self) -> Result<Option<Project>, Problem> {
        let project = project::for_server();
        let problem = |failure: Failure| Problem::new("bad_configuration", failure.to_string());
        project.map(Some).map_err(problem)
    }

    fn pages(&self) -> Vec<Page> {
        let pages = self.pages.as_ref();
        pages.map_or_else(Vec::new, |pages| (**pages).clone())
    }

    fn simulate(&self, wanted: &Simulation<'_>) -> Result<Simulated, Problem> {
        let Some(workflow) = self.find(wanted.workflow) else {
            return Err(
                missing_workflow(self, wanted.workflow).mended_by("list_workflows", json!({}))
            );
        };
        simulate(&workflow, wanted)
    }
}

/// Returns the findings in a file, as programs read them; a note says if it has no machine.
fn findings(checked: &Checked) -> Value {
    let (sources, diagnostics) = merge(std::slice::from_ref(checked));
    let mut findings =
        serde_json::from_str(&render_json(&diagnostics, &sources)).unwrap_or_default();
    if let Value::Object(findings) = &mut findings
        && checked.machine_count == 0
        && !checked.has_errors()
    {
        findings.insert("note".to_owned(), no_machine_message(&checked.name).into());
        if Format::of_name(&checked.name) == Format::Markdown {
            findings.insert("example".to_owned(), EXAMPLE.into());
        }
    }
    findings
}

/// Makes the failure of a workflow that no spec defines.
pub(crate) fn unknown_workflow(id: &str, known: &[String], broken: &[String]) -> Failure {
    let message = format!("no spec here defines the workflow `{id}`");
    let has_meant = nearest(id, known.iter().map(String::as_str)).is_some();
    if !has_meant && !broken.is_empty() {
        let broken: Vec<_> = broken.iter().map(|it| shell_word(it)).collect();
        return Failure::new(message)
            .with_code(UNKNOWN_WORKFLOW)
            .with_help(format!(
                "specs with errors define nothing: see `statemark lint {}`",
                broken.join(" ")
            ));
    }
    if known.is_empty() {
        return Failure::new(message)
            .with_code(UNKNOWN_WORKFLOW)
            .with_help("specs are looked for below this folder; `--specs PATH` looks elsewhere");
    }
    Failure::unknown_name(message, id, known).with_code(UNKNOWN_WORKFLOW)
}

/// Reports whether a word is meant as a file, which need not exist.
fn looks_like_file(word: &str) -> bool {
    word.contains('/') || word.ends_with(".md") || Format::of_name(word) != Format::Markdown
}

/// Reports whether a file has a name, with or without its endings.
fn has_name(path: &Path, word: &str) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name == word || name.split('.').next() == Some(word))
}

/// Reports whether a file is a document with an id.
fn has_id(path: &Path, word: &str) -> bool {
    let name = files::display(path);
    if !name.ends_with(".md") {
        return false;
    }
    match files::read(path, MAX_SOURCE_BYTES) {
        Ok(Ok(bytes)) => document_ids(&name, &String::from_utf8_lossy(&bytes)).any(|id| id == word),
        _ => false,
    }
}

/// Returns the ids of a document without a machine.
///
/// They are the `name` of its front matter, and the name of its file, or of the folder of a `SKILL.md`.
fn document_ids(name: &str, text: &str) -> impl Iterator<Item = String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let has_front_matter = lines.next().is_some_and(|line| line.trim_end() == "---");
    let front = lines.take_while(|line| line.trim_end() != "---");
    let mut names = front.filter_map(|line| line.strip_prefix("name:"));
    let front = names.next().filter(|_| has_front_matter);
    let front = front.map(|name| name.trim().trim_matches(['"', '\'']).to_owned());
    let mut parts = name.rsplit('/');
    let stem = parts.next().and_then(|file| file.split('.').next());
    let file = match stem {
        Some("SKILL") => parts.next(),
        stem => stem,
    };
    front.into_iter().chain(file.map(str::to_owned))
}
