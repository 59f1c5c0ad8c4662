//! A desk over specs that a test compiles, on a clock that it turns.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard};

use serde_json::{Map, Value};
use statemark_compiler::diag::render::{Style, concise, json};
use statemark_compiler::proofs::prove;
use statemark_compiler::source::Sources;
use statemark_compiler::{Options as Compiling, back, compile};
use statemark_runs::authority::WriteSpec;
use statemark_runs::{ManualClock, Store, Workflow, Workflows};
use statemark_stores::MemoryStore;
use statemark_tools::{
    Allow, Caller, Catalog, Created, Dispatcher, NewSpec, Options, Problem, Project, Spec,
};

/// When all tests begin. Unit: milliseconds since 1970.
pub(crate) const BEGIN: u64 = 1_800_000_000_000;

/// A desk, and what it stands on.
pub(crate) struct Bench {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Arc<dyn Store>,
    specs: Arc<Specs>,
}

impl Bench {
    /// Over a memory store of its own, with the specs, each with the name of its file.
    pub(crate) fn new(specs: &[(&str, &str)]) -> Self {
        let clock = Arc::new(ManualClock::new(BEGIN));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::clone(&clock)));
        let specs = Arc::new(Specs::new(specs));
        let dispatcher =
            dispatcher(&store, &specs, &clock, Options::default()).expect("the default sets");
        Self {
            dispatcher,
            clock,
            store,
            specs,
        }
    }

    /// Another desk over the same store, as after a restart.
    pub(crate) fn serve(&mut self, options: Options) -> Result<(), String> {
        let dispatcher = dispatcher(&self.store, &self.specs, &self.clock, options);
        self.dispatcher = dispatcher.map_err(|error| error.to_string())?;
        Ok(())
    }

    /// The files have become others; a desk that is made after this has those.
    pub(crate) fn edit(&mut self, specs: &[(&str, &str)]) {
        self.specs = Arc::new(Specs::new(specs));
    }

    /// The server is for a project now: `branch`, `commits` (each a message and files), `files` by path, `checks` and the
    /// settings of `packs`. A desk that is made after this has it.
    pub(crate) fn found(&mut self, project: &Value) {
        let folder = Folder::new();
        let branch = project["branch"].as_str().unwrap();
        match project["commits"].as_array() {
            Some(commits) => folder.commit(branch, commits),
            None => folder.write(".git/HEAD", &format!("ref: refs/heads/{branch}\n")),
        }
        for (path, text) in project["files"].as_object().into_iter().flatten() {
            folder.write(path, text.as_str().unwrap());
        }
        let checks = match &project["checks"] {
            Value::Null => BTreeMap::new(),
            checks => serde_json::from_value(checks.clone()).unwrap(),
        };
        let specs = Specs {
            all: RwLock::new(self.specs.all().clone()),
            project: Some(Project {
                root: folder.path.clone(),
                checks,
                checks_root: folder.path.clone(),
                packs: project["packs"].as_object().cloned().unwrap_or_default(),
                ..Project::default()
            }),
            _folder: Some(folder),
        };
        self.specs = Arc::new(specs);
    }

    /// The root of the project.
    pub(crate) fn root(&self) -> Option<&Path> {
        let project = self.specs.project.as_ref();
        project.map(|it| it.root.as_path())
    }

    /// Calls a tool.
    pub(crate) fn call(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Option<(Value, bool)> {
        let call = self.dispatcher.ctx(caller);
        let reply = self.dispatcher.call(&call, tool, arguments)?;
        Some((reply.answer, reply.is_error))
    }
}

fn dispatcher(
    store: &Arc<dyn Store>,
    specs: &Arc<Specs>,
    clock: &Arc<ManualClock>,
    options: Options,
) -> Result<Dispatcher, statemark_tools::StartError> {
    let catalog = Arc::clone(specs) as Arc<dyn Catalog>;
    let clock = Arc::clone(clock) as Arc<_>;
    let others = statemark_profiles::all()
        .into_iter()
        .chain(statemark_packs::all());
    Dispatcher::new(Arc::clone(store), catalog, clock, options, others.collect())
}

/// The workflows of some specs.
struct Specs {
    all: RwLock<BTreeMap<String, One>>,
    project: Option<Project>,
    /// It is there as long as this is.
    _folder: Option<Folder>,
}

/// A folder for a test.
struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Length of each path, in bytes. Why: answers hold it, and limits count the bytes of answers.
    const LENGTH: usize = 120;

    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let parent = std::env::temp_dir().canonicalize().unwrap();
        let name = format!("statemark-tools-{}-{number}", std::process::id());
        let length = Self::LENGTH.saturating_sub(parent.as_os_str().len() + 1);
        let path = parent.join(format!("{name:-<length$}"));
        fs::create_dir_all(&path).unwrap();
        Self { path }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Makes a repository with some commits, which are the same each time.
    fn commit(&self, branch: &str, commits: &[Value]) {
        let git = |words: &[&str]| {
            let mut command = Command::new("git");
            command.current_dir(&self.path).args(words);
            for who in ["AUTHOR", "COMMITTER"] {
                command
                    .env(format!("GIT_{who}_NAME"), "Ann")
                    .env(format!("GIT_{who}_EMAIL"), "ann@example.org")
                    .env(format!("GIT_{who}_DATE"), "2026-11-01T12:00:00Z");
            }
            let done = command.output().unwrap();
            assert!(done.status.success(), "{words:?}: {done:?}");
        };
        git(&["init", "-q", "-b", branch]);
        for commit in commits {
            for (path, text) in commit["files"].as_object().into_iter().flatten() {
                self.write(path, text.as_str().unwrap());
            }
            git(&["add", "-A"]);
            git(&["commit", "-q", "-m", commit["message"].as_str().unwrap()]);
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left goes with the machine's other temporary files.
        drop(fs::remove_dir_all(&self.path));
    }
}

#[derive(Clone)]
struct One {
    workflow: Arc<Workflow>,
    spec: Spec,
    text: String,
    diagram: String,
    proofs: Value,
}

impl Specs {
    fn new(specs: &[(&str, &str)]) -> Self {
        let all = specs.iter().flat_map(|(name, text)| {
            compiled(name, text).unwrap_or_else(|findings| panic!("{findings}"))
        });
        Self {
            all: RwLock::new(all.map(|one| (one.spec.id.clone(), one)).collect()),
            project: None,
            _folder: None,
        }
    }

    fn all(&self) -> RwLockReadGuard<'_, BTreeMap<String, One>> {
        self.all.read().unwrap()
    }
}

/// The machines of a spec, or its findings if one of them is an error.
fn compiled(name: &str, text: &str) -> Result<Vec<One>, String> {
    let mut sources = Sources::new();
    sources.add(name, text);
    let compiled = compile(&sources, &Compiling::default());
    if compiled.machines.len() != compiled.found || compiled.found == 0 {
        let style = Style { color: false };
        return Err(concise(&compiled.diagnostics, &sources, &style));
    }
    let ones = compiled.machines.iter().map(|machine| {
        let workflow = Workflow::from_bytes(back::table::write(machine)).unwrap();
        let said = |key: &str| {
            let value = workflow.meta().get(key).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let spec = Spec {
            id: workflow.id().to_owned(),
            title: said("title"),
            description: said("description"),
            source: name.to_owned(),
            hash: workflow.hash(),
            states: workflow.visible_states().count(),
            diagnostics: compiled.diagnostics.len(),
            global: false,
            unreviewed: false,
        };
        One {
            spec,
            text: text.to_owned(),
            diagram: back::mermaid::write(machine),
            proofs: serde_json::to_value(prove(machine)).unwrap(),
            workflow: Arc::new(workflow),
        }
    });
    Ok(ones.collect())
}

impl Workflows for Specs {
    fn find(&self, id: &str) -> Option<Arc<Workflow>> {
        self.all().get(id).map(|it| Arc::clone(&it.workflow))
    }

    fn ids(&self) -> Vec<String> {
        self.all().keys().cloned().collect()
    }
}

impl Catalog for Specs {
    fn specs(&self) -> Vec<Spec> {
        self.all().values().map(|it| it.spec.clone()).collect()
    }

    fn source(&self, id: &str) -> Option<String> {
        self.all().get(id).map(|it| it.text.clone())
    }

    fn diagram(&self, id: &str) -> Option<String> {
        self.all().get(id).map(|it| it.diagram.clone())
    }

    fn proofs(&self, id: &str) -> Option<Value> {
        self.all().get(id).map(|it| it.proofs.clone())
    }

    /// In memory, where the real one writes a file.
    fn create(&self, new: &NewSpec<'_>, allow: Allow<'_>) -> Result<Created, Problem> {
        let path = format!("{}.workflow.json", new.name);
        let text = new.text;
        let made = compiled(&path, text).map_err(|_| {
            let findings = self.lint(&path, text);
            let problem = Problem::new("has_errors", "nothing was written: the spec has errors");
            problem.with(serde_json::json!({"findings": findings}))
        })?;
        let mut all = self.all.write().unwrap();
        let one = made.into_iter().next().expect("a machine");
        let id = one.spec.id.clone();
        if all.get(&id).is_some_and(|it| it.text != text) {
            let message = format!("nothing was written: `{path}` is there already");
            return Err(Problem::new("exists", message));
        }
        let declared = one.workflow.declared_powers().into_iter();
        allow(&WriteSpec {
            path: path.clone(),
            ids: vec![id.clone()],
            declares: declared.map(|(key, _)| key).collect(),
            ..WriteSpec::default()
        })?;
        let hash = one.spec.hash;
        let unchanged = all.insert(id.clone(), one).is_some();
        Ok(Created {
            id,
            hash,
            path,
            ids: Vec::new(),
            unchanged,
            findings: Value::Null,
        })
    }

    fn project(&self) -> Result<Option<Project>, Problem> {
        Ok(self.project.clone())
    }

    fn lint(&self, name: &str, text: &str) -> Value {
        let mut sources = Sources::new();
        sources.add(name, text);
        let compiled = compile(&sources, &Compiling::default());
        serde_json::from_str(&json(&compiled.diagnostics, &sources)).unwrap()
    }
}
