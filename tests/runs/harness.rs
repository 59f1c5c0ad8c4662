//! Runs of specs that a test compiles, on a clock that it turns.

use std::collections::BTreeMap;
use std::sync::Arc;

use statemark_compiler::source::Sources;
use statemark_compiler::{Options, back, compile};
use statemark_runs::{Actor, ManualClock, Order, Role, RunId, Runs, Store, Workflow};
use statemark_stores::MemoryStore;

/// When all tests begin. Unit: milliseconds since 1970.
pub(crate) const BEGIN: u64 = 1_800_000_000_000;

/// Runs, and the clock that they go by.
pub(crate) struct Bench {
    pub(crate) runs: Runs,
    pub(crate) clock: Arc<ManualClock>,
    store: Arc<dyn Store>,
}

/// The workflows of some specs, each with the name of its file.
pub(crate) fn workflows(specs: &[(&str, &str)]) -> BTreeMap<String, Arc<Workflow>> {
    let mut sources = Sources::new();
    for (name, text) in specs {
        sources.add(*name, *text);
    }
    let compiled = compile(&sources, &Options::default());
    assert_eq!(
        compiled.machines.len(),
        compiled.found,
        "{:#?}",
        compiled.diagnostics
    );
    let tables = compiled.machines.iter().map(back::table::write);
    let workflows = tables.map(|bytes| Arc::new(Workflow::from_bytes(bytes).unwrap()));
    workflows.map(|it| (it.id().to_owned(), it)).collect()
}

impl Bench {
    /// Over a store of its own.
    pub(crate) fn new(specs: &[(&str, &str)]) -> Self {
        let clock = Arc::new(ManualClock::new(BEGIN));
        let store = Arc::new(MemoryStore::new(Arc::clone(&clock)));
        Self::over(specs, clock, store)
    }

    /// Over some store.
    pub(crate) fn over(
        specs: &[(&str, &str)],
        clock: Arc<ManualClock>,
        store: Arc<dyn Store>,
    ) -> Self {
        Self::of(Arc::new(workflows(specs)), clock, store)
    }

    /// The same where no spec is.
    pub(crate) fn bare(&self) -> Self {
        let none = Arc::new(BTreeMap::new());
        Self::of(none, Arc::clone(&self.clock), Arc::clone(&self.store))
    }

    fn of(
        workflows: Arc<BTreeMap<String, Arc<Workflow>>>,
        clock: Arc<ManualClock>,
        store: Arc<dyn Store>,
    ) -> Self {
        let runs = Runs::new(Arc::clone(&store), workflows, Arc::clone(&clock) as Arc<_>);
        Self { runs, clock, store }
    }

    /// An order of an agent.
    pub(crate) fn order(&self, run: &str) -> Order {
        Order::new(run.parse::<RunId>().unwrap(), Actor::new(Role::Agent))
    }
}
