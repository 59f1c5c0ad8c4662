//! Authorization of calls: which tools the active states grant, and how often.
//!
//! Before a tool runs, policy is asked and the call takes a place in the visit's count; afterwards its use is recorded.
//! Tools that drive a run are neither restricted nor counted. A tool that a state can restrict must know the run that is
//! meant: if several could be, it isn't called.
//!
//! All of this holds for agents. What people and observers may do depends on their role.

use serde_json::{Map, Value, json};
use statemark_runs::policy::{Gating, Verdict};
use statemark_runs::{
    DenyTool, Hash, Loaded, RecordCall, ReserveCall, ReserveOutcome, Right, Role, RunId,
};

use crate::arguments::{find, find_mut};
use crate::ctx::target;
use crate::options::Set;
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

/// Authorizes a call, and takes a place for it if it counts. Records a denial.
///
/// # Errors
///
/// No active state grants the tool, its limits leave no place, or it isn't known which run is meant.
pub(super) fn authorize(
    ctx: &Ctx<'_>,
    tool: &Tool,
    arguments: &mut Map<String, Value>,
) -> Result<Option<Reservation>, Problem> {
    if ctx.caller.actor.role != Role::Agent {
        return Ok(None);
    }
    if tool.gating == Gating::Free {
        return Ok(None);
    }
    let counts = tool.gating == Gating::Counted;
    let named = named_run(arguments);
    let run = match ctx.resolve_run(named.and_then(Value::as_str)) {
        Ok(run) => {
            if counts && named.is_none() && ctx.bound_run().is_none() {
                ctx.check_no_live_child()?;
            }
            run
        }
        Err(problem) if counts && problem.code != "no_run" => return Err(problem),
        Err(_) if counts && named.is_none() => {
            check_released(ctx, tool)?;
            return Ok(None);
        }
        // A tool that needs a run says itself that none is meant.
        Err(_) => return Ok(None),
    };
    let loaded = match ctx.runs().load(&run) {
        Ok(loaded) => loaded,
        Err(error) if counts => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    if let Verdict::Deny(denial) = decide(&loaded, tool, &Value::Object(arguments.clone())) {
        record_denial(ctx, tool, run, &denial.reason);
        let details = json!({
            "states": denial.states,
            "granted": denial.granted,
            "legal": denial.legal,
        });
        return Err(Problem::new(denial.code, denial.reason).with(details));
    }
    if !counts {
        return Ok(None);
    }
    reserve(ctx, tool, run, arguments).map(Some)
}

/// Decides whether the active states grant a tool.
///
/// A tool with an equivalent may be granted by either name. What disallows either name wins.
fn decide(loaded: &Loaded, tool: &Tool, arguments: &Value) -> Verdict {
    let Some(equivalent) = tool.equivalent else {
        return loaded.may_use(tool.name, tool.gating, arguments);
    };
    // A definition that names the tool of a profile means that one, whatever power it has over the equivalent.
    let by_name = loaded.may_use(tool.name, Gating::Counted, arguments);
    match (by_name, loaded.may_use(equivalent, tool.gating, arguments)) {
        (Verdict::Deny(denial), _) | (_, Verdict::Deny(denial)) if denial.code != "not_granted" => {
            Verdict::Deny(denial)
        }
        (Verdict::Deny(denial), Verdict::Deny(_)) => Verdict::Deny(denial),
        _ => Verdict::Allow,
    }
}

/// Checks that no run that an agent gave up restricts it still, unless its workflow releases tools.
///
/// Else giving a run up would switch policy off. Another live run ends that.
fn check_released(ctx: &Ctx<'_>, tool: &Tool) -> Result<(), Problem> {
    let Some(last) = target::last_run(ctx)? else {
        return Ok(());
    };
    if ctx.runs().load(&last.run)?.releases_tools() {
        return Ok(());
    }
    let run = &last.run;
    let reason = format!(
        "`{}` isn't granted: an agent gave up run `{run}`, whose workflow doesn't release tools; start a run, or ask a person",
        tool.name
    );
    record_denial(ctx, tool, run.clone(), &reason);
    Err(Problem::new("given_up", reason).with(json!({"run_id": run})))
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
        tool: tool.name.to_owned(),
        call: Some(call_id(tool, arguments)),
        input: Some(Hash::digest(input.as_bytes())),
        files: Vec::new(),
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
    if let Some(expected) = find_mut(arguments, "expected_seq")
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

/// Returns the id of a call. Calls with one key are one call, if the tool takes keys.
///
/// Else any call could claim to be repeated.
fn call_id(tool: &Tool, arguments: &Map<String, Value>) -> String {
    let properties = tool.input.get("properties").and_then(Value::as_object);
    let takes_keys = properties.is_some_and(|it| find(it, "idempotency_key").is_some());
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
            tool: tool.name.to_owned(),
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
fn named_run(arguments: &Map<String, Value>) -> Option<&Value> {
    let names = ["parent_run_id", "run_id"];
    names.iter().find_map(|name| find(arguments, name))
}
