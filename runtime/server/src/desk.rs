//! The desk: runs, workflows and tools, and the one way in which a tool is called.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value};
use statemark_store::{Clock, Hash, Role, RunError, Runs, Store, Workflows};

use crate::call::{Call, Changed};
use crate::caller::Caller;
use crate::catalog::Catalog;
use crate::docs::{self, Docs};
use crate::metrics::Metrics;
use crate::news::Teller;
use crate::offer::{Options, StartError, chosen};
use crate::problem::{OTHER_RUN, Problem};
use crate::tool::{Set, Tool};
use crate::{arguments, bounds, next};

/// Runs, workflows and tools.
pub struct Desk {
    runs: Runs,
    catalog: Arc<dyn Catalog>,
    options: Options,
    tools: Vec<Tool>,
    /// The documentation, and the workflows that it was made of.
    docs: Mutex<Option<(Vec<Hash>, Arc<Docs>)>>,
    /// The pages that are listed: their places and titles.
    listed: OnceLock<Vec<(String, String)>>,
    /// Those of ours that no client is told of, for the API.
    others: Vec<Tool>,
    teller: Teller,
    metrics: Metrics,
}

impl Desk {
    /// A desk over a store.
    ///
    /// # Errors
    ///
    /// The options name a tool that isn't there.
    pub fn new(
        store: Arc<dyn Store>,
        catalog: Arc<dyn Catalog>,
        clock: Arc<dyn Clock>,
        options: Options,
    ) -> Result<Self, StartError> {
        let workflows = Arc::clone(&catalog) as Arc<dyn Workflows>;
        let (tools, others) = chosen(&options)?;
        Ok(Self {
            runs: Runs::new(store, workflows, clock),
            catalog,
            options,
            tools,
            docs: Mutex::default(),
            listed: OnceLock::new(),
            others,
            teller: Teller::default(),
            metrics: Metrics::default(),
        })
    }

    /// The runs.
    #[must_use]
    pub const fn runs(&self) -> &Runs {
        &self.runs
    }

    /// What it was told to offer.
    pub(crate) const fn options(&self) -> &Options {
        &self.options
    }

    /// The workflows.
    #[must_use]
    pub fn catalog(&self) -> &dyn Catalog {
        &*self.catalog
    }

    /// The tools that are offered, by name.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The documentation: what the catalog has, and the workflows as they are now.
    #[must_use]
    pub fn docs(&self) -> Arc<Docs> {
        let specs = self.catalog.specs();
        let hashes: Vec<Hash> = specs.iter().map(|spec| spec.hash).collect();
        let mut kept = self.docs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, docs)) = &*kept
            && *known == hashes
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
        *kept = Some((hashes, Arc::clone(&docs)));
        docs
    }

    /// The pages of the documentation that are listed: their places and titles. Nothing is indexed for that.
    pub(crate) fn listed_pages(&self) -> &[(String, String)] {
        self.listed.get_or_init(|| {
            let pages = self.catalog.pages().into_iter();
            let listed = pages.filter(|page| page.listed);
            listed.map(|page| (page.id, page.title)).collect()
        })
    }

    /// Who tells what is new.
    pub(crate) const fn teller(&self) -> &Teller {
        &self.teller
    }

    /// What is counted.
    pub(crate) const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// A tool of ours, whether or not clients are told of it.
    pub(crate) fn own(&self, name: &str) -> Option<&Tool> {
        let mut all = self.tools.iter().chain(&self.others);
        all.find(|tool| tool.name == name && Set::OWN.contains(&tool.set))
    }

    /// Calls a tool of ours, whether or not clients are told of it; what scopes all tools holds here, too.
    pub(crate) fn call_own(
        &self,
        call: &Call<'_>,
        name: &str,
        given: Map<String, Value>,
    ) -> Option<(Value, bool)> {
        self.own(name).map(|tool| self.use_tool(call, tool, given))
    }

    /// The tools that a caller is told of: an observer of those that change nothing; whoever is bound to a run of those
    /// that its state may grant.
    #[must_use]
    pub fn offered(&self, caller: &Caller) -> Vec<&Tool> {
        let call = Call::quiet(self, caller);
        let loaded = call.bound().and_then(|run| self.runs.load(run).ok());
        let only_reads = caller.actor.role < Role::Agent;
        let offered = self.tools.iter().filter(|tool| {
            (tool.hints.read_only || !only_reads)
                && loaded.as_ref().is_none_or(|it| {
                    it.may_offer(tool.name) || tool.kin.is_some_and(|kin| it.may_offer(kin))
                })
        });
        offered.collect()
    }

    /// Calls a tool. The answer is what the caller is told, and whether it is an error; nothing if there is no such tool.
    #[must_use]
    pub fn call(
        &self,
        call: &Call<'_>,
        name: &str,
        given: Map<String, Value>,
    ) -> Option<(Value, bool)> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        Some(self.use_tool(call, tool, given))
    }

    fn use_tool(
        &self,
        call: &Call<'_>,
        tool: &Tool,
        mut given: Map<String, Value>,
    ) -> (Value, bool) {
        let began = Instant::now();
        let changed = Changed::default();
        let call = &Call {
            changed: Some(&changed),
            ..*call
        };
        let size = serde_json::to_string(&given).map_or(usize::MAX, |text| text.len());
        let admitted = arguments::check_size(size)
            .and_then(|()| check_role(call, tool))
            .and_then(|()| self.admit(call, tool, &mut given));
        let text = |names: [&str; 2]| {
            let mut named = names.into_iter().filter_map(|it| given.get(it)?.as_str());
            named.next().map(str::to_owned)
        };
        let named = (text(["run_id", "runId"]), text(["request_id", "requestId"]));
        let (place, outcome) = match admitted {
            Ok(place) => (place, tool.call(call, given)),
            Err(problem) => (None, Err(problem)),
        };
        if let Err(problem) = &outcome
            && problem.code == OTHER_RUN
        {
            self.note(call, tool, problem);
        }
        let code = outcome.as_ref().err().map(|problem| problem.code.as_str());
        self.metrics.called(tool.name, code, began.elapsed());
        let is_own = Set::OWN.contains(&tool.set);
        let outcome = outcome.map_err(|problem| {
            let named = (named.0.as_deref(), named.1.as_deref());
            if is_own {
                next::beside(call, tool, named, problem)
            } else {
                problem
            }
        });
        let (told, is_error) = tool.told(outcome);
        let told = if is_own { bounds::enforced(told) } else { told };
        if let Some(place) = place {
            self.leave(call, place, (&told, is_error), changed.take());
        }
        (told, is_error)
    }

    /// Records a reach for another run on the run that the caller is bound to.
    fn note(&self, call: &Call<'_>, tool: &Tool, problem: &Problem) {
        let Some(bound) = call.bound().cloned() else {
            return;
        };
        if let Ok(order) = call.order(bound, None, None) {
            // Refused it is, whether that can be recorded or not: an observer writes nothing, and the run may not be there.
            drop(self.runs.deny_tool(&order, tool.name, &problem.message));
        }
    }
}

/// Whether the caller's role lets the tool be called at all.
fn check_role(call: &Call<'_>, tool: &Tool) -> Result<(), Problem> {
    let actor = &call.caller.actor;
    if tool.hints.read_only || actor.role >= Role::Agent {
        return Ok(());
    }
    let actor = actor.clone();
    Err(RunError::ReadOnly { actor }.into())
}
