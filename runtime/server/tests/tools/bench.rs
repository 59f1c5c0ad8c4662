//! A desk over specs that a test compiles, on a clock that it turns.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use statemark_compiler::diag::render::{Style, concise, json};
use statemark_compiler::source::Sources;
use statemark_compiler::{Options as Compiling, back, compile};
use statemark_server::{Call, Caller, Catalog, Desk, Options, Spec};
use statemark_store::{ManualClock, MemoryStore, Store, Workflow, Workflows};

/// When all tests begin. Unit: milliseconds since 1970.
pub(crate) const BEGIN: u64 = 1_800_000_000_000;

/// A desk, and what it stands on.
pub(crate) struct Bench {
    pub(crate) desk: Desk,
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
        let desk = desk(&store, &specs, &clock, Options::default()).expect("the default sets");
        Self {
            desk,
            clock,
            store,
            specs,
        }
    }

    /// Another desk over the same store, as after a restart.
    pub(crate) fn serve(&mut self, options: Options) -> Result<(), String> {
        let desk = desk(&self.store, &self.specs, &self.clock, options);
        self.desk = desk.map_err(|error| error.to_string())?;
        Ok(())
    }

    /// The files have become others; a desk that is made after this has those.
    pub(crate) fn edit(&mut self, specs: &[(&str, &str)]) {
        self.specs = Arc::new(Specs::new(specs));
    }

    /// Calls a tool.
    pub(crate) fn call(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Option<(Value, bool)> {
        let call = Call {
            desk: &self.desk,
            caller,
            cancelled: &|| false,
            progress: &|_, _| {},
        };
        self.desk.call(&call, tool, arguments)
    }
}

fn desk(
    store: &Arc<dyn Store>,
    specs: &Arc<Specs>,
    clock: &Arc<ManualClock>,
    options: Options,
) -> Result<Desk, statemark_server::StartError> {
    let catalog = Arc::clone(specs) as Arc<dyn Catalog>;
    let clock = Arc::clone(clock) as Arc<_>;
    Desk::new(Arc::clone(store), catalog, clock, options)
}

/// The workflows of some specs.
struct Specs {
    all: BTreeMap<String, One>,
}

struct One {
    workflow: Arc<Workflow>,
    spec: Spec,
    text: String,
    diagram: String,
}

impl Specs {
    fn new(specs: &[(&str, &str)]) -> Self {
        let mut all = BTreeMap::new();
        for (name, text) in specs {
            let mut sources = Sources::new();
            sources.add(*name, *text);
            let compiled = compile(&sources, &Compiling::default());
            let told = concise(&compiled.diagnostics, &sources, &Style { color: false });
            assert_eq!(compiled.machines.len(), compiled.found, "{told}");
            for machine in &compiled.machines {
                let workflow = Workflow::from_bytes(back::table::write(machine)).unwrap();
                let said = |key: &str| {
                    let value = workflow.meta().get(key).and_then(Value::as_str);
                    value.map(str::to_owned)
                };
                let spec = Spec {
                    id: workflow.id().to_owned(),
                    title: said("title"),
                    description: said("description"),
                    source: (*name).to_owned(),
                    hash: workflow.hash(),
                    states: workflow.visible_states().count(),
                    diagnostics: compiled.diagnostics.len(),
                };
                let one = One {
                    spec,
                    text: (*text).to_owned(),
                    diagram: back::mermaid::write(machine),
                    workflow: Arc::new(workflow),
                };
                all.insert(one.spec.id.clone(), one);
            }
        }
        Self { all }
    }
}

impl Workflows for Specs {
    fn find(&self, id: &str) -> Option<Arc<Workflow>> {
        self.all.get(id).map(|it| Arc::clone(&it.workflow))
    }

    fn ids(&self) -> Vec<String> {
        self.all.keys().cloned().collect()
    }
}

impl Catalog for Specs {
    fn specs(&self) -> Vec<Spec> {
        self.all.values().map(|it| it.spec.clone()).collect()
    }

    fn source(&self, id: &str) -> Option<String> {
        self.all.get(id).map(|it| it.text.clone())
    }

    fn diagram(&self, id: &str) -> Option<String> {
        self.all.get(id).map(|it| it.diagram.clone())
    }

    fn lint(&self, name: &str, text: &str) -> Value {
        let mut sources = Sources::new();
        sources.add(name, text);
        let compiled = compile(&sources, &Compiling::default());
        serde_json::from_str(&json(&compiled.diagnostics, &sources)).unwrap()
    }
}
