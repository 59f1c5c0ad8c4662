//! The desk: runs, workflows and tools, and the one way in which a tool is called.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value, json};
use statemark_store::{
    Actor, Clock, Hash, Key, Loaded, Order, Query, Role, RunError, RunId, Runs, Status, Store,
    Workflows,
};

use crate::caller::Caller;
use crate::catalog::Catalog;
use crate::docs::{self, Docs};
use crate::metrics::Metrics;
use crate::news::Teller;
use crate::problem::Problem;
use crate::tool::{Call, Set, Tool};
use crate::tools;
use crate::{arguments, bounds};

/// The code of a reach for a run that isn't the caller's.
const OTHER_RUN: &str = "other_run";

/// How many runs are named where several could be meant.
const CANDIDATES: usize = 10;

/// What a server offers.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The sets of tools; the default ones if none is named.
    pub sets: Vec<Set>,
    /// The only tools that are offered, of whatever set; none of them means no tool at all.
    pub allowed: Option<Vec<String>>,
    /// Whether only tools are offered that change nothing.
    pub read_only: bool,
    /// The run that all callers mean, and the only one that they may touch.
    pub run: Option<RunId>,
}

/// Why a server can't be started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// A tool that nobody has was allowed.
    UnknownTool {
        /// Its name.
        name: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// Sets that are to be offered together have tools of the same names.
    Clash {
        /// The names, each with the sets that have it.
        tools: Vec<(&'static str, Vec<Set>)>,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTool { name, known } => {
                write!(
                    out,
                    "there is no tool `{name}`; there are {}",
                    known.join(", ")
                )
            }
            Self::Clash { tools } => {
                let tools = tools.iter().map(|(tool, sets)| {
                    let sets: Vec<&str> = sets.iter().map(|set| set.name()).collect();
                    format!("`{tool}` ({})", sets.join(", "))
                });
                let tools: Vec<String> = tools.collect();
                write!(
                    out,
                    "these can't be offered together, since they have tools of the same names: {}",
                    tools.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for StartError {}

/// Runs, workflows and tools.
pub struct Desk {
    runs: Runs,
    catalog: Arc<dyn Catalog>,
    options: Options,
    tools: Vec<Tool>,
    /// The documentation, and the workflows that it was made of.
    docs: Mutex<Option<(Vec<Hash>, Arc<Docs>)>>,
    /// Those of ours that no client is told of, since their sets weren't asked for.
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
        let mut tools = tools::all();
        tools.sort_by_key(|tool| tool.name);
        if let Some(allowed) = &options.allowed {
            let is_known = |name: &&String| tools.iter().any(|tool| tool.name == name.as_str());
            if let Some(name) = allowed.iter().find(|name| !is_known(name)) {
                let name = name.clone();
                let sets: &[Set] = if options.sets.is_empty() {
                    &Set::OWN
                } else {
                    &options.sets
                };
                let known = tools.iter().filter(|tool| sets.contains(&tool.set));
                let known = known.map(|tool| tool.name).collect();
                return Err(StartError::UnknownTool { name, known });
            }
        }
        let (mut tools, mut others): (Vec<_>, Vec<_>) =
            tools.into_iter().partition(|tool| offers(&options, tool));
        others.retain(|tool| Set::OWN.contains(&tool.set) && lets(&options, tool));
        if options.allowed.is_some() {
            nearest(&options, &mut tools);
        }
        check_names(&tools)?;
        Ok(Self {
            runs: Runs::new(store, workflows, clock),
            catalog,
            options,
            tools,
            docs: Mutex::default(),
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

    /// Who tells what is new.
    pub(crate) const fn teller(&self) -> &Teller {
        &self.teller
    }

    /// What is counted.
    pub(crate) const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// A tool of ours, whether or not its set was asked for.
    pub(crate) fn own(&self, name: &str) -> Option<&Tool> {
        let mut all = self.tools.iter().chain(&self.others);
        all.find(|tool| tool.name == name && Set::OWN.contains(&tool.set))
    }

    /// Calls a tool of ours, whether or not its set was asked for; what scopes all tools holds here, too.
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
        let size = serde_json::to_string(&given).map_or(usize::MAX, |text| text.len());
        let admitted = arguments::check_size(size)
            .and_then(|()| check_role(call, tool))
            .and_then(|()| self.admit(call, tool, &mut given));
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
        let (told, is_error) = tool.told(outcome);
        let is_own = Set::OWN.contains(&tool.set);
        let told = if is_own { bounds::enforced(told) } else { told };
        if let Some(place) = place {
            self.leave(call, place, &told, is_error);
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

/// Of tools with one name the one that is meant: of the sets that are named or offered by default, else one of ours.
fn nearest(options: &Options, tools: &mut Vec<Tool>) {
    let named: &[Set] = if options.sets.is_empty() {
        &Set::DEFAULT
    } else {
        &options.sets
    };
    let far = |set: &Set| match set {
        set if named.contains(set) => 0,
        set if Set::OWN.contains(set) => 1,
        _ => 2,
    };
    let mut least: BTreeMap<&'static str, u8> = BTreeMap::new();
    for tool in &*tools {
        let least = least.entry(tool.name).or_insert(u8::MAX);
        *least = (*least).min(far(&tool.set));
    }
    tools.retain(|tool| least.get(tool.name) == Some(&far(&tool.set)));
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

/// Whether each name is one tool's; the tools come by name.
fn check_names(tools: &[Tool]) -> Result<(), StartError> {
    let same = tools.chunk_by(|one, other| one.name == other.name);
    let clashes = same.filter_map(|same| match same {
        [first, _, ..] => Some((first.name, same.iter().map(|tool| tool.set).collect())),
        _ => None,
    });
    let tools: Vec<_> = clashes.collect();
    if tools.is_empty() {
        return Ok(());
    }
    Err(StartError::Clash { tools })
}

/// Whether the options leave a tool.
fn offers(options: &Options, tool: &Tool) -> bool {
    if !lets(options, tool) {
        return false;
    }
    if options.allowed.is_some() {
        return true;
    }
    if options.sets.is_empty() {
        return Set::DEFAULT.contains(&tool.set);
    }
    options.sets.contains(&tool.set)
}

/// Whether the options leave a tool, of whatever set.
fn lets(options: &Options, tool: &Tool) -> bool {
    let allowed = options.allowed.as_ref();
    (tool.hints.read_only || !options.read_only)
        && allowed.is_none_or(|all| all.iter().any(|name| name == tool.name))
}

impl<'c> Call<'c> {
    /// A call that nobody waits for, and that tells nobody how far it is.
    #[must_use]
    pub const fn quiet(desk: &'c Desk, caller: &'c Caller) -> Self {
        Self {
            desk,
            caller,
            cancelled: &|| false,
            progress: &|_, _| {},
        }
    }

    /// The only run that the caller may touch, if there is one: the server's, else the caller's own.
    #[must_use]
    pub fn bound(&self) -> Option<&'c RunId> {
        self.caller.run.as_ref().or(self.desk.options.run.as_ref())
    }

    /// Whether both the server and the caller's credential are for this run.
    fn may_touch(&self, run: &RunId) -> Result<(), Problem> {
        let server = self.desk.options.run.as_ref();
        let caller = self.caller.run.as_ref();
        match server.into_iter().chain(caller).find(|bound| *bound != run) {
            None => Ok(()),
            Some(bound) => Err(Problem::new(
                OTHER_RUN,
                format!("this caller may touch the run `{bound}` only, not `{run}`"),
            )),
        }
    }

    /// Whether the caller may begin runs: who is bound to one begins no other.
    ///
    /// # Errors
    ///
    /// It may not.
    pub(crate) fn may_begin(&self) -> Result<(), Problem> {
        match self.bound() {
            None => Ok(()),
            Some(bound) => Err(Problem::new(
                OTHER_RUN,
                format!("this caller may touch the run `{bound}` only, and begins no other"),
            )),
        }
    }

    /// The run that is meant: the named one; else the one that the server or the caller is bound to; else the only active
    /// run of the caller's project.
    ///
    /// # Errors
    ///
    /// None is meant, or several; or the caller may touch another one only.
    pub fn run(&self, named: Option<&str>) -> Result<RunId, Problem> {
        if let Some(named) = named {
            let run: RunId = named
                .parse()
                .map_err(|error| Problem::argument("run_id", error))?;
            self.may_touch(&run)?;
            return Ok(run);
        }
        if let Some(bound) = self.bound() {
            self.may_touch(bound)?;
            return Ok(bound.clone());
        }
        let statuses = [Status::Running, Status::Waiting, Status::Paused];
        let query = Query {
            statuses: statuses.map(|it| it.name().to_owned()).to_vec(),
            project: self.caller.project.clone(),
            limit: CANDIDATES,
            ..Query::default()
        };
        let page = self.desk.runs.store().list(&query)?;
        match page.heads.as_slice() {
            [only] => Ok(only.run.clone()),
            [] => Err(Problem::new(
                "no_run",
                "no run is active: name one with `run_id`, or start one",
            )
            .mended_by("list_workflows", json!({}))),
            several => {
                let runs: Vec<Value> = several
                    .iter()
                    .map(|head| json!({"run_id": head.run, "workflow": head.summary.workflow, "status": head.summary.status}))
                    .collect();
                Err(Problem::new(
                    "several_runs",
                    "several runs are active: name one with `run_id`",
                )
                .with(json!({"runs": runs})))
            }
        }
    }

    /// The run that is meant, as it is now; what was due by now has been taken.
    ///
    /// # Errors
    ///
    /// As for [`Call::run`]; the run can't be read.
    pub fn load(&self, named: Option<&str>) -> Result<Loaded, Problem> {
        let run = self.run(named)?;
        Ok(self.desk.runs.caught_up(&run)?)
    }

    /// An order of the caller.
    ///
    /// # Errors
    ///
    /// The key can't be one.
    pub fn order(
        &self,
        run: RunId,
        key: Option<&str>,
        expected: Option<u64>,
    ) -> Result<Order, Problem> {
        let key = key.map(str::parse::<Key>).transpose();
        let key = key.map_err(|error| Problem::argument("idempotency_key", error))?;
        Ok(Order {
            key,
            expected,
            ..Order::new(run, self.actor())
        })
    }

    /// Who calls.
    #[must_use]
    pub fn actor(&self) -> Actor {
        self.caller.actor.clone()
    }

    /// As many items as fit into a reply beside what it has else.
    pub(crate) fn fitting(items: Vec<Value>, beside: &Value) -> Vec<Value> {
        bounds::fitting(items, beside.to_string().len())
    }
}
