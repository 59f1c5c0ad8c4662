//! The workflows that states invoke: which tables are meant by their ids.
//!
//! A child may have to be started by anybody who looks at its parent, wherever no spec is. So a run says when it begins
//! which tables its children will have, with those of their children, and keeps them. What no spec had then may be found
//! later by whoever has one; until then the state waits, and nothing is recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Loaded, RunError, Runs};
use crate::hash::Hash;
use crate::workflow::Workflow;

impl Runs {
    /// Returns the tables of all workflows that states of this one invoke, and so on.
    ///
    /// They are the pinned ones, else those of specs. A workflow that neither has is left out.
    pub(super) fn invoked_by(
        &self,
        workflow: &Workflow,
        pinned: &BTreeMap<String, Hash>,
    ) -> Result<BTreeMap<String, Hash>, RunError> {
        let mut found = BTreeMap::new();
        let mut open: Vec<String> = invoked(workflow);
        while let Some(id) = open.pop() {
            if found.contains_key(&id) {
                continue;
            }
            if let Some(next) = self.pinned_or_known(&id, pinned)? {
                open.extend(invoked(&next));
                found.insert(id, next.hash());
            }
        }
        Ok(found)
    }

    /// Returns the workflow that an id means.
    fn pinned_or_known(
        &self,
        id: &str,
        pinned: &BTreeMap<String, Hash>,
    ) -> Result<Option<Arc<Workflow>>, RunError> {
        match pinned.get(id) {
            Some(table) => self.workflow_of(table).map(Some),
            None => Ok(self.workflows.find(id)),
        }
    }

    /// Keeps the tables that come from specs. Those that another run has pinned are kept already.
    pub(super) fn keep_tables(&self, tables: &BTreeMap<String, Hash>) -> Result<(), RunError> {
        for (id, table) in tables {
            if let Some(workflow) = self.workflows.find(id).filter(|it| it.hash() == *table) {
                self.store.put_blob(workflow.bytes())?;
            }
        }
        Ok(())
    }

    /// Returns the tables for children of active states that have none, and stores them.
    ///
    /// A workflow that nobody knows is left out.
    pub(super) fn startable(&self, loaded: &Loaded) -> Result<BTreeMap<String, Hash>, RunError> {
        let mut tables = loaded.state.invokes.clone();
        for missing in loaded.uninvoked() {
            if !tables.contains_key(&missing.workflow)
                && let Some(workflow) = self.workflows.find(&missing.workflow)
            {
                self.store.put_blob(workflow.bytes())?;
                tables.insert(missing.workflow, workflow.hash());
            }
        }
        Ok(tables)
    }
}

/// Returns the ids of the workflows that states of one invoke.
fn invoked(workflow: &Workflow) -> Vec<String> {
    invoking(workflow).into_values().collect()
}

/// Returns, by state, the workflow that it invokes.
pub(super) fn invoking(workflow: &Workflow) -> BTreeMap<String, String> {
    let table = workflow.table();
    let states = table.states().filter_map(|(state, _)| {
        let id = workflow.invoked_workflow(state)?;
        Some((table.state_name(state).to_owned(), id.to_owned()))
    });
    states.collect()
}
