//! The run that a session means, where tools don't name one.
//!
//! Nothing is remembered here. It is the run that the server or the caller's token is bound to; else the only live run of
//! the caller's project. A run that was started for a session is meant by who names that session; who names none means
//! it only where no run without a session is live. Where none is live, the last one that came to its end still answers
//! questions. Runs that others have invoked aren't meant: whoever drives the outer run is led into them while it waits for
//! them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use statemark_runs::{
    Head, Loaded, MAX_PAGE, Query, RunError, RunId, RunState, Status, StoreError, WaitingFor,
};

use crate::call::Call;
use crate::problem::Problem;
use crate::tools::put;

/// Most runs that are looked at for one that is meant; those that invoked runs stand between don't count as meant.
const MOST: usize = MAX_PAGE;

/// Most runs that are named where several could be meant.
const NAMED: usize = 10;

/// How deep runs are followed that invoke each other.
const DEEP: usize = 32;

/// Whether a run can still go on.
const LIVE: [Status; 3] = [Status::Running, Status::Waiting, Status::Paused];

/// The run that is meant, as it is now: a live one, else the last one if it has come to its end; none if the only one that
/// may be touched hasn't begun.
///
/// # Errors
///
/// Several are live, or the run can't be read.
pub(crate) fn outer(call: &Call<'_>, session: Option<&str>) -> Result<Option<Loaded>, Problem> {
    let run = match call.bound() {
        Some(bound) => Some(bound.clone()),
        None => found(call, session)?,
    };
    let Some(run) = run else {
        return Ok(None);
    };
    match call.desk.runs().caught_up(&run) {
        Err(RunError::Store(StoreError::NotFound { .. })) if call.bound().is_some() => Ok(None),
        loaded => Ok(Some(loaded?)),
    }
}

/// The run that is to be driven now: of the one that is meant the innermost that it waits for.
///
/// # Errors
///
/// As for [`outer`].
pub(crate) fn driven(call: &Call<'_>, session: Option<&str>) -> Result<Option<Loaded>, Problem> {
    outer(call, session)?
        .map(|it| innermost(call, it))
        .transpose()
}

/// The innermost run that this one waits for, or itself.
///
/// # Errors
///
/// One of them can't be read.
pub(crate) fn innermost(call: &Call<'_>, outer: Loaded) -> Result<Loaded, Problem> {
    let mut loaded = outer;
    for _ in 0..DEEP {
        let Some(child) = waited_for(&loaded.state) else {
            break;
        };
        loaded = call.desk.runs().caught_up(&child)?;
    }
    Ok(loaded)
}

/// The live runs of the caller's project that nobody has invoked, the last that changed first.
///
/// # Errors
///
/// The store's.
pub(crate) fn live(call: &Call<'_>) -> Result<Vec<Head>, Problem> {
    of(call, &LIVE)
}

/// Those runs that a session holds, else those that none holds; without a session only the latter.
pub(crate) fn held(live: Vec<Head>, session: Option<&str>) -> Vec<Head> {
    let own = |it: &Head| it.summary.session.as_deref() == session;
    if live.iter().any(own) {
        return live.into_iter().filter(own).collect();
    }
    let free = |it: &Head| it.summary.session.is_none();
    live.into_iter().filter(free).collect()
}

/// The run that changed last.
///
/// # Errors
///
/// The store's.
pub(crate) fn last(call: &Call<'_>) -> Result<Option<Head>, Problem> {
    Ok(of(call, &Status::ALL)?.into_iter().next())
}

/// That several runs could be meant.
pub(crate) fn several(live: &[Head]) -> Problem {
    let told = |head: &Head| {
        let summary = &head.summary;
        let mut told =
            json!({"run_id": head.run, "workflow": summary.workflow, "status": summary.status});
        if let Some(session) = &summary.session {
            put(&mut told, "session_id", json!(session));
        }
        told
    };
    let runs: Vec<Value> = live.iter().take(NAMED).map(told).collect();
    let message = format!(
        "several runs are live, among them {}: {}start the server with `--run`, or give the client a token of one run",
        names(live),
        if tells_apart(live) {
            "name one's session with `session_id`, "
        } else {
            ""
        },
    );
    Problem::new("several_runs", message).with(json!({"runs": runs}))
}

/// Whether each of some runs is of a session of its own.
fn tells_apart(live: &[Head]) -> bool {
    let sessions: BTreeSet<_> = live
        .iter()
        .filter_map(|it| it.summary.session.as_ref())
        .collect();
    sessions.len() == live.len()
}

/// The ids of some runs, each with the session that it is of.
pub(crate) fn names(live: &[Head]) -> String {
    let name = |it: &Head| match &it.summary.session {
        Some(session) => format!("`{}` of session `{session}`", it.run),
        None => format!("`{}`", it.run),
    };
    let names: Vec<String> = live.iter().take(NAMED).map(name).collect();
    names.join(", ")
}

fn found(call: &Call<'_>, session: Option<&str>) -> Result<Option<RunId>, Problem> {
    let all = live(call)?;
    let mut live = held(all.clone(), session);
    if live.is_empty() && session.is_none() {
        live = all;
    }
    match live.as_slice() {
        [only] => Ok(Some(only.run.clone())),
        [] => {
            let over = [Status::Completed, Status::Failed].map(Status::name);
            let ended = of(call, &Status::ALL)?.into_iter();
            let mut ended = ended.filter(|it| {
                session.is_none()
                    || it
                        .summary
                        .session
                        .as_deref()
                        .is_none_or(|of| Some(of) == session)
            });
            let last = ended
                .next()
                .filter(|head| over.contains(&head.summary.status.as_str()));
            Ok(last.map(|head| head.run))
        }
        all => Err(several(all)),
    }
}

fn of(call: &Call<'_>, statuses: &[Status]) -> Result<Vec<Head>, Problem> {
    let query = Query {
        statuses: statuses.iter().map(|it| it.name().to_owned()).collect(),
        project: call.caller.project.clone(),
        limit: MOST,
        ..Query::default()
    };
    let page = call.desk.runs().store().list(&query)?;
    let is_outer = |head: &Head| head.summary.parent.is_none();
    Ok(page.heads.into_iter().filter(is_outer).collect())
}

/// The run that this one waits for, if it is all that it waits for.
fn waited_for(state: &RunState) -> Option<RunId> {
    match state.waiting_for().as_slice() {
        [WaitingFor::Child { run }] => run.parse().ok(),
        _ => None,
    }
}
