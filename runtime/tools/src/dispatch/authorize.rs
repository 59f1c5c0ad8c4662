//! Authorization of calls: which tools the active states grant, and how often.
//!
//! Before a tool runs, policy is asked and the call takes a place in the visit's count; afterwards its use is recorded.
//! Tools that drive a run are neither restricted nor counted. A tool that a state can restrict must know the run that is
//! meant: if several could be, it isn't called, unless it can do without one. It needs the grant of every run that holds the caller, and not of the one
//! alone that is meant: naming a run says which run a record belongs to, and no more.
//!
//! All of this holds for agents. What people and observers may do depends on their role.

use serde_json::{Map, Value, json};
use statemark_runs::policy::{Denial, Gating, StateEnvironment, Verdict, normal_path};
use statemark_runs::{
    DenyTool, Hash, Loaded, RecordCall, ReserveCall, ReserveOutcome, Right, Role, RunError, RunId,
    StoreError, shell_word,
};

use crate::arguments::{find, find_mut};
use crate::caller::Credential;
use crate::envelope::set_field;
use crate::options::Set;
use crate::tools::RUN_CHECK;
use crate::{Ctx, Problem, Tool};

/// A place in a run's count, taken for a call.
pub(super) struct Reservation {
    run: RunId,
    reserve: ReserveCall,
    /// The time at which the call began. Unit: milliseconds since 1970.
    began: u64,
}

/// Checks that the caller's role may call the tool.
///
/// The refusal of a caller who may not write isn't recorded: it would move the run of others.
pub(super) fn check_role(ctx: &Ctx<'_>, tool: &Tool) -> Result<(), Problem> {
    let right = match tool.set {
        _ if tool.annotations.read_only => Right::See,
        Set::Author => Right::Author,
        _ => Right::Drive,
    };
    Ok(right.check(&ctx.actor())?)
}

/// Checks that a tool isn't withheld from everybody.
///
/// The refusal is recorded on the run that is meant, if there is one.
pub(super) fn check_not_withheld(ctx: &Ctx<'_>, tool: &Tool) -> Result<(), Problem> {
    let Some(problem) = &tool.withheld else {
        return Ok(());
    };
    if let Ok(run) = ctx.resolve_run(None) {
        record_denial(ctx, tool, run, &problem.message);
    }
    Err((**problem).clone())
}

/// Authorizes a call, and takes a place for it in each run in which it counts. Records a denial.
///
/// A check that an active state requires is free: without it the state could never be exited.
///
/// # Errors
///
/// A run that holds the caller doesn't grant the tool, its limits leave no place, or it isn't known which run is meant.
pub(super) fn authorize(
    ctx: &Ctx<'_>,
    tool: &Tool,
    arguments: &mut Map<String, Value>,
) -> Result<Vec<Reservation>, Problem> {
    let free = Ok(Vec::new());
    let (gating, _) = tool.policy(arguments);
    if ctx.caller.actor.role != Role::Agent || gating == Gating::Free {
        return free;
    }
    let counts = gating == Gating::Counted;
    let named = named_run(tool, arguments);
    let run = match ctx.resolve_run(named.and_then(Value::as_str)) {
        Ok(run) => {
            let is_left_out = named.is_none() && ctx.bound_run().is_none();
            if counts
                && is_left_out
                && let Err(problem) = ctx.check_no_live_child()
            {
                return match tool.needs_run {
                    true => Err(problem),
                    false => reserve_in_each(ctx, tool, arguments),
                };
            }
            run
        }
        Err(problem) if counts && problem.code == "several_runs" && !tool.needs_run => {
            return reserve_in_each(ctx, tool, arguments);
        }
        Err(problem) if counts && problem.code != "no_run" => return Err(problem),
        Err(_) if counts && named.is_none() => {
            check_holding(ctx, tool, None, arguments)?;
            check_needed_run(ctx, tool)?;
            return free;
        }
        // A tool that needs a run says itself that none is meant.
        Err(_) => return free,
    };
    let loaded = match ctx.runs().load(&run) {
        Ok(loaded) => loaded,
        Err(error) if counts => return Err(error.into()),
        Err(_) => return free,
    };
    if is_required_check(&loaded, tool, arguments) {
        return free;
    }
    if let Verdict::Deny(denial) = decide(&loaded, tool, arguments) {
        record_denial(ctx, tool, run, &denial.reason);
        return Err(describe_denial(&loaded, denial));
    }
    // A tool that drives its run is that run's alone.
    if !matches!(gating, Gating::Needs(_)) {
        check_holding(ctx, tool, Some(&run), arguments)?;
    }
    if !counts {
        return free;
    }
    reserve(ctx, tool, run, arguments).map(|it| vec![it])
}

/// Checks that an agent's tool for its work isn't called without a run where the project demands one.
fn check_needed_run(ctx: &Ctx<'_>, tool: &Tool) -> Result<(), Problem> {
    if !ctx.options().run_required || !matches!(tool.set, Set::Pack(_) | Set::Upstream) {
        return Ok(());
    }
    let message = format!(
        "no run holds you, and this project demands one before `{}` is used: start one with `start_run`",
        tool.name
    );
    Err(Problem::new("run_required", message))
}

/// Checks whether a call runs a check that an active state requires, as it is declared.
fn is_required_check(loaded: &Loaded, tool: &Tool, arguments: &Map<String, Value>) -> bool {
    let name = find(arguments, "name").or_else(|| find(arguments, "hook_name"));
    let own = find(arguments, "args").and_then(Value::as_array);
    // With other arguments it is another check.
    let is_declared = own.is_none_or(Vec::is_empty);
    let name = name.and_then(Value::as_str).filter(|_| is_declared);
    tool.does(RUN_CHECK) && name.is_some_and(|name| loaded.legality().requires_check(Some(name)))
}

/// Takes a place in each live run that holds the caller, for a call that can do without one.
///
/// Every run that holds the caller has to grant it.
fn reserve_in_each(
    ctx: &Ctx<'_>,
    tool: &Tool,
    arguments: &mut Map<String, Value>,
) -> Result<Vec<Reservation>, Problem> {
    check_holding(ctx, tool, None, arguments)?;
    let mut places = Vec::new();
    for held in ctx.runs().runs_holding(ctx.caller.binding())? {
        let is_live = match ctx.runs().load(&held) {
            // It was pruned a moment ago.
            Err(RunError::Store(StoreError::NotFound { .. })) => false,
            loaded => !loaded?.state.status().is_over(),
        };
        if is_live {
            places.push(reserve(ctx, tool, held, arguments)?);
        }
    }
    Ok(places)
}

fn describe_denial(loaded: &Loaded, denial: Denial) -> Problem {
    let mut details = json!({
        "run_id": loaded.run,
        "states": denial.states,
        "granted": denial.granted,
        "legal": denial.legal,
    });
    if !denial.granted_in.is_empty() {
        set_field(&mut details, "granted_in", json!(denial.granted_in));
    }
    Problem::new(denial.code, denial.reason).with(details)
}

/// Checks that the other runs that hold the caller grant a tool, whichever run the call means.
///
/// Else a second run, or giving up the first one, would get an agent what its state withholds. The denial is recorded on
/// the run that the call means, if there is one.
fn check_holding(
    ctx: &Ctx<'_>,
    tool: &Tool,
    run: Option<&RunId>,
    arguments: &Map<String, Value>,
) -> Result<(), Problem> {
    let caller = ctx.caller;
    // Who is bound to one run touches no other, and who has many is judged by the one that is meant.
    if ctx.bound_run().is_some() || caller.credential == Credential::ManyRuns {
        return Ok(());
    }
    let binding = caller.binding();
    for held in ctx.runs().runs_holding(binding)? {
        if Some(&held) == run {
            continue;
        }
        let loaded = match ctx.runs().load(&held) {
            // It was pruned a moment ago.
            Err(RunError::Store(StoreError::NotFound { .. })) => continue,
            loaded => loaded?,
        };
        let Verdict::Deny(denial) = decide(&loaded, tool, arguments) else {
            continue;
        };
        let problem = if !loaded.state.status().is_over() {
            held_by_other(&loaded, denial)
        } else if ctx.runs().is_replaced(&loaded, binding)? {
            continue;
        } else {
            held_by_given_up(&loaded, &tool.name, denial)
        };
        record_denial(ctx, tool, run.unwrap_or(&held).clone(), &problem.message);
        return Err(problem);
    }
    Ok(())
}

/// Creates the problem that another live run of the caller doesn't grant a tool.
pub(super) fn held_by_other(loaded: &Loaded, mut denial: Denial) -> Problem {
    let granted_in = match denial.granted_in.as_slice() {
        [] => "none of its states grants it".to_owned(),
        states => {
            let states: Vec<String> = states.iter().map(|it| format!("`{it}`")).collect();
            format!("granted in {}", states.join(", "))
        }
    };
    denial.reason = format!(
        "run `{}` holds this caller, too: {} ({granted_in})",
        loaded.run, denial.reason
    );
    describe_denial(loaded, denial)
}

/// Creates the problem that a run that an agent gave up doesn't grant a tool.
pub(super) fn held_by_given_up(loaded: &Loaded, tool: &str, mut denial: Denial) -> Problem {
    denial.code = "given_up";
    denial.reason = format!(
        "`{}` isn't granted: an agent gave up run `{}` in `{}`, which still holds its callers; start `{}` again and \
         complete it, or a person releases them by `statemark cancel {}`",
        tool,
        loaded.run,
        denial.states.join("`, `"),
        loaded.state.workflow,
        shell_word(loaded.run.as_str()),
    );
    describe_denial(loaded, denial)
}

/// Decides whether the active states grant a tool.
///
/// A tool with an equivalent may be granted by either name. What disallows either name wins.
fn decide(loaded: &Loaded, tool: &Tool, arguments: &Map<String, Value>) -> Verdict {
    let (gating, equivalent) = tool.policy(arguments);
    let arguments = &Value::Object(arguments.clone());
    let Some(equivalent) = equivalent else {
        return loaded.may_use(&tool.name, gating, arguments);
    };
    // A definition that names the tool of a profile means that one, whatever power it has over the equivalent.
    let by_name = loaded.may_use(&tool.name, Gating::Counted, arguments);
    match (by_name, loaded.may_use(equivalent, gating, arguments)) {
        (Verdict::Deny(denial), _) | (_, Verdict::Deny(denial)) if denial.code != "not_granted" => {
            Verdict::Deny(denial)
        }
        (Verdict::Deny(denial), Verdict::Deny(_)) => Verdict::Deny(denial),
        _ => Verdict::Allow,
    }
}

/// Takes a place for a call, if the limits of the active states leave one.
fn reserve(
    ctx: &Ctx<'_>,
    tool: &Tool,
    run: RunId,
    arguments: &mut Map<String, Value>,
) -> Result<Reservation, Problem> {
    let input = Value::Object(arguments.clone()).to_string();
    let reserve = ReserveCall {
        tool: tool.name.to_string(),
        call: Some(call_id(tool, arguments)),
        input: Some(Hash::digest(input.as_bytes())),
        files: changed_files(tool, arguments),
        ..ReserveCall::default()
    };
    let began = ctx.runs().now();
    let order = ctx.order(run.clone(), None, None)?;
    let written = ctx.runs().execute(&order, &reserve)?;
    let loaded = &written.loaded;
    if let ReserveOutcome::No { reason } = written.outcome {
        let details = json!({
            "states": loaded.state.leaves,
            "granted": loaded.grants().allowed.unwrap_or_default(),
            "legal": loaded.legality().enabled_events(),
        });
        return Err(Problem::new("no_place", reason).with(details));
    }
    // The reservation is a record: a caller that expects the record before it expects the run as it is.
    let records = u64::try_from(written.records.len()).unwrap_or(u64::MAX);
    let before = loaded.head.seq.saturating_sub(records);
    if tool.has_own_arguments()
        && let Some(expected) = find_mut(arguments, "expected_seq")
        && expected.as_u64() == Some(before)
    {
        *expected = json!(loaded.head.seq);
    }
    Ok(Reservation {
        run,
        reserve,
        began,
    })
}

/// Returns the files that a call says it changes.
fn changed_files(tool: &Tool, arguments: &Map<String, Value>) -> Vec<String> {
    let paths = tool
        .changes
        .iter()
        .filter_map(|name| find(arguments, name)?.as_str());
    // What leads out of the workspace is refused by the tool, and changes nothing.
    paths.filter_map(normal_path).collect()
}

impl Ctx<'_> {
    /// Checks that an agent's change of so many lines is within the limits of each run that holds it.
    ///
    /// # Errors
    ///
    /// A state allows fewer. Or a run that holds the caller can't be read.
    pub fn check_edit(&self, lines: u64) -> Result<(), Problem> {
        for loaded in self.holding_runs()? {
            loaded
                .check_edit(lines)
                .map_err(|reason| Problem::new("no_place", reason))?;
        }
        Ok(())
    }

    /// Returns the environment that the states of the runs that hold an agent give to what it runs.
    ///
    /// # Errors
    ///
    /// A run that holds the caller can't be read.
    pub fn state_environment(&self) -> Result<StateEnvironment, Problem> {
        let runs = self.holding_runs()?;
        Ok(runs.iter().map(Loaded::environment).collect())
    }

    /// Loads the run that an agent means, and those that hold it besides. Nobody else is held.
    fn holding_runs(&self) -> Result<Vec<Loaded>, Problem> {
        if self.caller.actor.role != Role::Agent {
            return Ok(Vec::new());
        }
        let mut runs: Vec<RunId> = self.resolve_run(None).into_iter().collect();
        let is_judged_by_one =
            self.bound_run().is_some() || self.caller.credential == Credential::ManyRuns;
        if !is_judged_by_one {
            let holding = self.runs().runs_holding(self.caller.binding())?;
            let others = holding.into_iter().filter(|run| !runs.contains(run));
            runs.extend(others.collect::<Vec<_>>());
        }
        let loaded = runs.iter().map(|run| Ok(self.runs().load(run)?));
        loaded.collect()
    }
}

/// Returns the id of a call. Calls with one key are one call, if the tool takes keys.
///
/// Else any call could claim to be repeated.
fn call_id(tool: &Tool, arguments: &Map<String, Value>) -> String {
    let properties = tool.input.get("properties").and_then(Value::as_object);
    let takes_keys = tool.has_own_arguments()
        && properties.is_some_and(|it| find(it, "idempotency_key").is_some());
    let key = find(arguments, "idempotency_key").and_then(Value::as_str);
    match key.filter(|_| takes_keys) {
        Some(key) => format!("{}:{key}", tool.name),
        None => RunId::random().to_string(),
    }
}

/// Records a denial. The denial holds even if it can't be recorded: the run may not exist.
pub(super) fn record_denial(ctx: &Ctx<'_>, tool: &Tool, run: RunId, reason: &str) {
    if let Ok(order) = ctx.order(run, None, None) {
        let denial = DenyTool {
            tool: tool.name.to_string(),
            reason: reason.to_owned(),
        };
        drop(ctx.runs().execute(&order, &denial));
    }
}

/// Records the use of a tool: its time, the size of its answer, and the files that it has changed.
pub(super) fn record_use(
    ctx: &Ctx<'_>,
    reservation: Reservation,
    (output, failed): (usize, bool),
    files: Vec<String>,
) {
    let used = RecordCall {
        tool: reservation.reserve.tool,
        call: reservation.reserve.call,
        failed,
        milliseconds: Some(ctx.runs().now().saturating_sub(reservation.began)),
        input: reservation.reserve.input,
        output: u64::try_from(output).ok(),
        files,
    };
    let Ok(order) = ctx.order(reservation.run, None, None) else {
        return;
    };
    // The reservation has counted the call; its effects stand, whether or not they can be recorded.
    drop(ctx.runs().execute(&order, &used));
}

/// Returns the run that arguments name. If a tool forks, its `run_id` is the new run.
fn named_run<'a>(tool: &Tool, arguments: &'a Map<String, Value>) -> Option<&'a Value> {
    if !tool.has_own_arguments() {
        return None;
    }
    let names = ["parent_run_id", "run_id"];
    names.iter().find_map(|name| find(arguments, name))
}
