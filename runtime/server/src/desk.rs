//! The desk: runs, workflows and tools, and the one way in which a tool is called.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value};
use statemark_runs::{Clock, Hash, Role, RunError, Runs, Store, Workflows};

use crate::call::{Call, Changed};
use crate::caller::Caller;
use crate::catalog::Catalog;
use crate::docs::{self, Docs};
use crate::metrics::Metrics;
use crate::news::Teller;
use crate::offer::{Options, StartError, chosen};
use crate::problem::{OTHER_RUN, Problem};
use crate::tool::{Set, Tool};
use crate::{arguments, bounds, gate, next};

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

    /// The tools that a caller is told of: an observer of those that change nothing; an agent that is bound to a run of
    /// those that its state may grant.
    #[must_use]
    pub fn offered(&self, caller: &Caller) -> Vec<&Tool> {
        let call = Call::quiet(self, caller);
        let only_reads = caller.actor.role < Role::Agent;
        // Grants are for agents.
        let bound = call.bound().filter(|_| caller.actor.role == Role::Agent);
        let loaded = bound.and_then(|run| self.runs.load(run).ok());
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

    fn use_tool(&self, call: &Call<'_>, tool: &Tool, given: Map<String, Value>) -> (Value, bool) {
        let began = Instant::now();
        let changed = Changed::default();
        let call = &Call {
            changed: Some(&changed),
            ..*call
        };
        let size = serde_json::to_string(&given).map_or(usize::MAX, |text| text.len());
        let admitted = arguments::check_size(size).and_then(|()| tool.normal(given));
        let text = |name: &str| {
            let named = admitted.as_ref().ok();
            let named = named.and_then(|given| arguments::by_name(given, name));
            named.and_then(Value::as_str).map(str::to_owned)
        };
        let named = (text("run_id"), text("request_id"));
        let admitted = admitted.and_then(|mut given| {
            self.check_role(call, tool, &given)?;
            Ok((self.admit(call, tool, &mut given)?, given))
        });
        let (place, outcome) = match admitted {
            Ok((place, given)) => (place, tool.call(call, given)),
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
        self.refused(call, tool, bound, &problem.message);
    }

    /// Whether the caller's role lets the tool be called at all. A refusal is recorded if it is known which run was meant.
    fn check_role(
        &self,
        call: &Call<'_>,
        tool: &Tool,
        given: &Map<String, Value>,
    ) -> Result<(), Problem> {
        let actor = &call.caller.actor;
        if tool.hints.read_only || actor.role >= Role::Agent {
            return Ok(());
        }
        let actor = actor.clone();
        let problem = Problem::from(RunError::ReadOnly { actor });
        let named = gate::named_run(given).and_then(Value::as_str);
        // One that is merely the only run may not be meant.
        let is_known = named.is_some() || call.bound().is_some();
        if is_known && let Ok(run) = call.run(named) {
            self.refused(call, tool, run, &problem.message);
        }
        Err(problem)
    }
}
