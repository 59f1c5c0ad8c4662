//! Services: what every call works on, whoever makes it and by which tool.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use statemark_runs::{Hash, Runs};

use crate::docs;
use crate::{Catalog, Docs, Executor, Options, Set};

/// A tool that clients are offered, as far as others speak of it.
pub(crate) struct Listed {
    pub(crate) name: &'static str,
    /// The tool of our own that does the same; itself, if it is one.
    pub(crate) own: &'static str,
    pub(crate) set: Set,
    pub(crate) read_only: bool,
}

/// The runs, the workflows and the documentation of a server.
pub(crate) struct Services {
    pub(crate) runs: Runs,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) options: Options,
    /// The names of our own tools that the options leave: listed to clients, or for the API alone.
    pub(crate) own_tools: BTreeSet<&'static str>,
    /// The tools that clients are offered, by name.
    pub(crate) listed: Vec<Listed>,
    /// The index of the documentation, and the hashes of the workflows in it.
    docs: Mutex<Option<(Vec<Hash>, Arc<Docs>)>>,
    /// The executor, if the server has one.
    pub(crate) executor: OnceLock<Arc<dyn Executor>>,
    /// The ids and titles of the listed pages.
    listed_pages: OnceLock<Vec<(String, String)>>,
}

impl Services {
    pub(crate) fn new(
        runs: Runs,
        catalog: Arc<dyn Catalog>,
        options: Options,
        own_tools: BTreeSet<&'static str>,
        listed: Vec<Listed>,
    ) -> Self {
        Self {
            runs,
            catalog,
            options,
            own_tools,
            listed,
            docs: Mutex::default(),
            executor: OnceLock::new(),
            listed_pages: OnceLock::new(),
        }
    }

    /// Returns the documentation: the catalog's pages, and the workflows as they are now.
    pub(crate) fn docs(&self) -> Arc<Docs> {
        let specs = self.catalog.specs();
        let hashes: Vec<Hash> = specs.iter().map(|spec| spec.hash).collect();
        let mut cache = self.docs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((indexed, docs)) = &*cache
            && *indexed == hashes
        {
            return Arc::clone(docs);
        }
        let workflows = specs
            .iter()
            .filter_map(|spec| self.catalog.find(&spec.id))
            .map(|workflow| docs::workflow_page(&workflow));
        let mut pages = self.catalog.pages();
        pages.extend(workflows);
        let docs = Arc::new(Docs::new(pages));
        *cache = Some((hashes, Arc::clone(&docs)));
        docs
    }

    /// Returns the ids and titles of the listed pages of the documentation. Builds no index.
    pub(crate) fn listed_pages(&self) -> &[(String, String)] {
        self.listed_pages.get_or_init(|| {
            let pages = self.catalog.pages().into_iter();
            let listed = pages.filter(|page| page.listed);
            listed.map(|page| (page.id, page.title)).collect()
        })
    }
}
