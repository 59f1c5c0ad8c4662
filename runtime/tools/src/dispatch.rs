//! Dispatch: the one way in which a tool is called.
//!
//! ```text
//! find ─→ size, names ─→ role ─→ policy, reservation ─→ tool ─→ shape, bounds ─→ record of use
//!                                                       ↑  ↓
//!                                                      waiting
//! ```
//!
//! A call has turns: a tool that has to wait ends its turn, and goes on in another.
//!
//! What to rely on: nothing else calls a tool; policy sees the arguments that the tool is going to read.

mod authorize;
mod session;

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use statemark_runs::policy::{Gating, PATH_ARGUMENTS};
use statemark_runs::runs::run_of_request;
use statemark_runs::{Clock, Loaded, Role, RunId, Runs, Store, Workflows};

use crate::arguments;
use crate::ctx::Changes;
use crate::envelope::{bounds, describe_next};
use crate::problem::OTHER_RUN;
use crate::project::current_project;
use crate::registry::{Registry, StartError, UpstreamTools};
use crate::services::{Listed, Services};
use crate::tool::ToolCall as _;
use crate::tools::{RUN_CHECK, StartRunCall};
use crate::waiting::{Signal, Wait, Waits};
use crate::{Caller, Catalog, Ctx, Effort, Executor, Options, Outcome, Problem, Set, Tool};
pub use session::{Admission, NativeCall, NativeOutcome, NativeUse, Refusal, SessionPolicy};

use authorize::{
    Reservation, authorize, check_not_withheld, check_role, record_denial, record_use,
};

/// The codes that tell a caller that its picture of a run is outdated.
const OUTDATED: [&str; 3] = ["conflict", "key_reused", "invalid_request"];

/// The tools of a server, and all that they work on.
pub struct Dispatcher {
    services: Services,
    registry: Registry,
    upstream: RwLock<Arc<UpstreamTools>>,
    /// Counts the replacements of those.
    upstream_version: AtomicU64,
}

/// The reply to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The answer in its tool's shape.
    pub answer: Value,
    /// The JSON of the answer.
    pub text: String,
    /// True if the answer is an error.
    pub is_error: bool,
    /// True if the answer is a result of the protocol already.
    pub is_result: bool,
    /// The code of the problem, if there is one, whatever the shape makes of it.
    pub code: Option<String>,
}

/// A turn of a call.
pub enum Turn {
    /// The call is done.
    Done(Reply),
    /// The call waits.
    Waits(Box<Waiting>),
}

/// A call that waits, on no thread.
pub struct Waiting {
    call: Call,
    wait: Wait,
}

/// A call that was admitted.
struct Call {
    /// The tool's name and set, by which it is found again.
    tool: (Cow<'static, str>, Set),
    subject: Subject,
    reservations: Vec<Reservation>,
    changes: Changes,
    /// True if it came over the API, which has more tools than clients are offered.
    is_api: bool,
}

impl Waiting {
    /// Returns the run whose change ends the wait; none if only time does.
    #[must_use]
    pub const fn run(&self) -> Option<&RunId> {
        self.wait.run.as_ref()
    }

    /// Returns the time at which the wait ends at the latest.
    #[must_use]
    pub const fn until(&self) -> Instant {
        self.wait.until
    }

    /// Takes the signal that ends the wait, if there is one.
    pub const fn take_signal(&mut self) -> Option<Signal> {
        self.wait.signal.take()
    }
}

/// Time between two looks of a call that waits on its caller's thread.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl Dispatcher {
    /// Creates a dispatcher over a store and a catalog, with the tools of profiles.
    ///
    /// # Errors
    ///
    /// The options allow a tool that doesn't exist, or name sets that clash.
    pub fn new(
        store: Arc<dyn Store>,
        catalog: Arc<dyn Catalog>,
        clock: Arc<dyn Clock>,
        options: Options,
        profiles: Vec<Tool>,
    ) -> Result<Self, StartError> {
        let registry = Registry::new(&options, profiles)?;
        let workflows = Arc::clone(&catalog) as Arc<dyn Workflows>;
        let mut runs = Runs::new(store, workflows, clock);
        if let Ok(Some(project)) = catalog.project() {
            runs = runs.with_project_root(project.root);
        }
        let own = registry.own_tools().filter_map(Tool::own_name).collect();
        let listed = registry.offered.iter().filter_map(|tool| {
            let name = tool.own_name()?;
            Some(Listed {
                name,
                own: tool.equivalent.unwrap_or(name),
                set: tool.set,
                read_only: tool.annotations.read_only,
            })
        });
        let services = Services::new(runs, catalog, options, own, listed.collect());
        Ok(Self {
            services,
            registry,
            upstream: RwLock::default(),
            upstream_version: AtomicU64::new(0),
        })
    }

    /// Replaces the tools of other servers by those that there are now.
    pub fn set_upstream(&self, tools: Vec<Tool>) {
        let tools = Arc::new(UpstreamTools::new(&self.services.options, tools));
        *self
            .upstream
            .write()
            .unwrap_or_else(PoisonError::into_inner) = tools;
        self.upstream_version.fetch_add(1, Ordering::Release);
    }

    /// Returns a number that is another one once the tools of other servers have been replaced.
    #[must_use]
    pub fn upstream_version(&self) -> u64 {
        self.upstream_version.load(Ordering::Acquire)
    }

    /// Sets the executor that tools hand runs to. Only the first one counts.
    pub fn set_executor(&self, executor: Arc<dyn Executor>) {
        drop(self.services.executor.set(executor));
    }

    /// Returns the tools of other servers as they are now.
    fn upstream(&self) -> Arc<UpstreamTools> {
        Arc::clone(&self.upstream.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Creates the context of a call.
    #[must_use]
    pub fn ctx<'c>(&'c self, caller: &'c Caller) -> Ctx<'c> {
        Ctx::new(&self.services, caller)
    }

    /// Returns the runs.
    #[must_use]
    pub fn runs(&self) -> &Runs {
        &self.services.runs
    }

    /// Returns the tools that clients are offered, by name, without those of other servers.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.registry.offered
    }

    /// Returns the workflows.
    #[must_use]
    pub fn catalog(&self) -> &dyn Catalog {
        &*self.services.catalog
    }

    /// Returns one of our own tools, offered to clients or not.
    #[must_use]
    pub fn own_tool(&self, name: &str) -> Option<&Tool> {
        self.registry.own_tools().find(|tool| tool.name == name)
    }

    /// Says that no tool of that name is offered, and how it would be.
    #[must_use]
    pub fn describe_missing(&self, name: &str) -> String {
        match self.registry.set_left_out(name) {
            Some(set) => {
                let flag = match set {
                    Set::Profile(_) => "--profile",
                    _ => "--toolsets",
                };
                let set = set.name();
                format!(
                    "there is no tool `{name}` here: `statemark serve {flag} {set}` would offer it"
                )
            }
            None => format!("there is no tool `{name}`"),
        }
    }

    /// Tells what the tool of that name takes of a thread. Of a tool that isn't there, it is little.
    #[must_use]
    pub fn effort(&self, name: &str) -> Effort {
        let tool = self.registry.all().find(|tool| tool.name == name);
        let own = tool.and_then(|tool| tool.equivalent);
        let own = own.and_then(|own| self.own_tool(own));
        match own.or(tool).map(|tool| tool.set) {
            Some(Set::Author) => Effort::Compiling,
            Some(Set::Runs | Set::Human) | None => Effort::Brief,
            Some(_) => Effort::Long,
        }
    }

    /// Lists the tools that a caller is offered, each as `read` has it.
    ///
    /// An observer is offered the tools that change nothing; an agent that is bound to a run those that its states may
    /// grant.
    #[must_use]
    pub fn offered_tools<T>(&self, caller: &Caller, read: impl Fn(&Tool) -> T) -> Vec<T> {
        let only_reads = caller.actor.role < Role::Agent;
        // Grants are for agents.
        let is_agent = caller.actor.role == Role::Agent;
        let bound = self.ctx(caller).bound_run().filter(|_| is_agent);
        let loaded = bound.and_then(|run| self.runs().load(run).ok());
        let upstream = self.upstream();
        let all = self.tools().iter().chain(upstream.iter());
        let offered = all.filter(|tool| {
            (tool.annotations.read_only || !only_reads)
                && tool.withheld.is_none()
                && loaded.as_ref().is_none_or(|it| may_offer(it, tool))
        });
        offered.map(read).collect()
    }

    /// Calls a tool that clients are offered, and waits on this thread where the tool does.
    #[must_use]
    pub fn call(&self, ctx: &Ctx<'_>, name: &str, arguments: Map<String, Value>) -> Option<Reply> {
        let mut turn = self.begin(ctx, name, arguments)?;
        loop {
            match turn {
                Turn::Done(reply) => return Some(reply),
                Turn::Waits(waiting) => {
                    let left = waiting.until().saturating_duration_since(Instant::now());
                    std::thread::sleep(left.min(POLL_INTERVAL));
                    turn = self.resume(ctx, *waiting)?;
                }
            }
        }
    }

    /// Begins a call of a tool that clients are offered.
    #[must_use]
    pub fn begin(&self, ctx: &Ctx<'_>, name: &str, arguments: Map<String, Value>) -> Option<Turn> {
        if let Some(tool) = self.tools().iter().find(|tool| tool.name == name) {
            return Some(dispatch(ctx, tool, arguments));
        }
        let tool = self.upstream().find(name)?;
        Some(dispatch(ctx, &tool, arguments))
    }

    /// Begins a call of one of our own tools, offered to clients or not. The same policy holds.
    #[must_use]
    pub fn begin_own(
        &self,
        ctx: &Ctx<'_>,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Option<Turn> {
        let tool = self.own_tool(name)?;
        Some(dispatch(&ctx.over_api(), tool, arguments))
    }

    /// Goes on with a call that waited, of a caller who is the same.
    #[must_use]
    pub fn resume(&self, ctx: &Ctx<'_>, waiting: Waiting) -> Option<Turn> {
        let Waiting { call, wait } = waiting;
        let ctx = if call.is_api { ctx.over_api() } else { *ctx };
        if call.tool.1 == Set::Upstream {
            // One that is gone meanwhile has a call that is under way.
            let tool = self.upstream().find(&call.tool.0);
            let tool = tool.unwrap_or_else(|| Arc::new(Tool::gone(&call.tool.0)));
            return Some(go_on(&ctx, &tool, call, wait.rest));
        }
        let mut all = self.registry.all();
        let found = all.find(|it| it.name == call.tool.0 && it.set == call.tool.1);
        Some(go_on(&ctx, found?, call, wait.rest))
    }
}

/// Calls a tool, if policy allows it.
fn dispatch(ctx: &Ctx<'_>, tool: &Tool, arguments: Map<String, Value>) -> Turn {
    let arguments = arguments::check_size(&arguments).and_then(|()| {
        if tool.has_own_arguments() {
            arguments::normalize(&tool.input, arguments)
        } else {
            Ok(arguments)
        }
    });
    let mut call = Call {
        tool: (tool.name.clone(), tool.set),
        subject: Subject::find(arguments.as_ref().ok()),
        reservations: Vec::new(),
        changes: Changes::default(),
        is_api: ctx.is_api(),
    };
    let admitted = arguments.and_then(|mut arguments| {
        check_role(ctx, tool)?;
        check_not_withheld(ctx, tool)?;
        if matches!(tool.set, Set::Pack(_)) {
            strip_root(ctx, &mut arguments);
        }
        call.reservations = authorize(ctx, tool, &mut arguments)?;
        Ok(arguments)
    });
    match admitted {
        Ok(arguments) => go_on(ctx, tool, call, |ctx| (tool.run)(ctx, arguments)),
        Err(problem) => Turn::Done(end(ctx, tool, call, Err(problem))),
    }
}

/// Makes whole paths below the project's root relative: policy and tool read one path.
fn strip_root(ctx: &Ctx<'_>, arguments: &mut Map<String, Value>) {
    let Ok(project) = current_project(ctx) else {
        return;
    };
    let strip = |value: &mut Value| {
        let path = value
            .as_str()
            .and_then(|path| Path::new(path).strip_prefix(&project.root).ok());
        if let Some(path) = path.and_then(Path::to_str) {
            *value = Value::from(if path.is_empty() { "." } else { path });
        }
    };
    for name in PATH_ARGUMENTS {
        match arguments.get_mut(*name) {
            Some(Value::Array(all)) => all.iter_mut().for_each(strip),
            Some(value) => strip(value),
            None => {}
        }
    }
}

/// Goes on with a call, to its end or to where it waits.
fn go_on(ctx: &Ctx<'_>, tool: &Tool, call: Call, rest: impl FnOnce(&Ctx<'_>) -> Outcome) -> Turn {
    let waits = Waits::default();
    let outcome = rest(&ctx.collecting(&call.changes, &waits));
    match waits.take() {
        Some(wait) => Turn::Waits(Box::new(Waiting { call, wait })),
        None => Turn::Done(end(ctx, tool, call, outcome)),
    }
}

/// Ends a call: what came of it is recorded, and becomes a reply.
fn end(ctx: &Ctx<'_>, tool: &Tool, call: Call, outcome: Outcome) -> Reply {
    if let Err(problem) = &outcome
        && problem.code == OTHER_RUN
        && let Some(bound) = ctx.bound_run()
    {
        record_denial(ctx, tool, bound.clone(), &problem.message);
    }
    let code = outcome.as_ref().err().map(|problem| problem.code.clone());
    let ((answer, text), is_error) = shape(ctx, tool, &call.subject, outcome);
    let changed = call.changes.take();
    for reservation in call.reservations {
        record_use(ctx, reservation, (text.len(), is_error), changed.clone());
    }
    Reply {
        answer,
        text,
        is_error,
        is_result: tool.set == Set::Upstream || tool.gives_results && !is_error,
        code,
    }
}

/// Returns whether the active states let a tool be called, by its name or its equivalent's.
fn may_offer(loaded: &Loaded, tool: &Tool) -> bool {
    if tool.does(RUN_CHECK) && loaded.legality().requires_check(None) {
        return true;
    }
    match tool.equivalent {
        None => loaded.may_offer(&tool.name, tool.gating),
        Some(own) => {
            loaded.may_offer(own, tool.gating) || loaded.may_offer(&tool.name, Gating::Counted)
        }
    }
}

/// The run and the request that the arguments of a call name.
#[derive(Default)]
struct Subject {
    run: Option<String>,
    request: Option<String>,
}

impl Subject {
    fn find(arguments: Option<&Map<String, Value>>) -> Self {
        let text = |name: &str| {
            let value = arguments.and_then(|arguments| arguments::find(arguments, name));
            value.and_then(Value::as_str).map(str::to_owned)
        };
        Self {
            run: text("run_id"),
            request: text("request_id"),
        }
    }
}

/// Gives an outcome the tool's shape, and returns its JSON as well.
///
/// One of our own is bounded, and says what is next.
fn shape(
    ctx: &Ctx<'_>,
    tool: &Tool,
    subject: &Subject,
    outcome: Outcome,
) -> ((Value, String), bool) {
    if !tool.set.is_own() {
        let outcome = outcome.map_err(|problem| problem.callable_by(ctx));
        let (answer, is_error) = (tool.shape)(outcome);
        let text = answer.to_string();
        return ((answer, text), is_error);
    }
    let outcome = outcome.map_err(|problem| add_next(ctx, tool, subject, problem).callable_by(ctx));
    let (answer, is_error) = (tool.shape)(outcome);
    (bounds::enforce(answer), is_error)
}

/// Adds what is next to the problem of an outdated caller, if its call is about a run.
fn add_next(ctx: &Ctx<'_>, tool: &Tool, subject: &Subject, mut problem: Problem) -> Problem {
    if !OUTDATED.contains(&problem.code.as_str()) || !tool.is_about_a_run() {
        return problem;
    }
    let run = subject.run.as_deref();
    let run_of_request = subject.request.as_deref().and_then(run_of_request);
    // A call that starts a run and names none isn't about a run.
    if run.is_none() && run_of_request.is_none() && tool.name == StartRunCall::NAME {
        return problem;
    }
    let run = ctx.resolve_run(run.or(run_of_request.as_ref().map(RunId::as_str)));
    let loaded = run.and_then(|run| Ok(ctx.runs().load(&run)?));
    let described = loaded.and_then(|loaded| Ok((describe_next(&loaded)?, loaded.run)));
    let Ok((next, run)) = described else {
        return problem;
    };
    match &mut problem.details {
        Value::Object(map) => drop(map.insert("next".to_owned(), next.into_json())),
        Value::Null => problem.details = json!({"next": next}),
        _ => {}
    }
    if problem.code == "conflict" && problem.fix.is_none() {
        return problem.mended_by("get_run", json!({"run_id": run}));
    }
    problem
}
