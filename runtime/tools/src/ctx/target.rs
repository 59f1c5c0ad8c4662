//! The run that a call means.
//!
//! Nothing is remembered here. A run is named; else it is the one that the server or the caller's token is bound to; else
//! the only live run of the caller's project that no other run has invoked.
//!
//! Tools that name no run can name a session. A session means the run that was started for it; a caller without a session
//! means such a run only if no run without a session is live. If no run is live, the last one that ended still answers
//! questions. Runs that other runs have invoked aren't meant: a caller that drives the outer run is led into the run that
//! the outer one waits for.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use statemark_runs::{
    Head, Loaded, MAX_PAGE, Query, RunError, RunId, RunState, Status, StoreError, WaitingFor,
};

use super::Ctx;
use crate::Problem;
use crate::envelope::set_field;
use crate::problem::{OTHER_PROJECT, OTHER_RUN};

/// Most runs that are looked at to find the one that is meant. Unit: runs.
const MAX_CANDIDATES: usize = MAX_PAGE;

/// Most runs that a problem names. Unit: runs. Why: a caller chooses one of a few.
const MAX_NAMED: usize = 10;

/// Most runs that are followed from one that waits for the next. Unit: runs.
const MAX_DEPTH: usize = 32;

/// The statuses of runs that can still move.
const LIVE: [Status; 3] = [Status::Running, Status::Waiting, Status::Paused];

/// The session of a caller, if it names one.
pub type Session<'s> = Option<&'s str>;

impl Ctx<'_> {
    /// Checks that both the server and the caller's token allow a run.
    fn check_may_touch(&self, run: &RunId) -> Result<(), Problem> {
        let server = self.options().run.as_ref();
        let token = self.caller.run.as_ref();
        let other = server.into_iter().chain(token).find(|bound| *bound != run);
        other.map_or(Ok(()), |bound| {
            let message = format!("this caller may touch the run `{bound}` only, not `{run}`");
            Err(Problem::new(OTHER_RUN, message))
        })
    }

    /// Returns the only project whose runs the caller may touch and see, if there is one.
    #[must_use]
    pub fn confined_to(&self) -> Option<&str> {
        let is_shared = !self.options().own_store;
        self.caller.confined_to().filter(|_| is_shared)
    }

    /// Reports whether the caller may touch and see runs of a project; those of none are everybody's.
    #[must_use]
    pub fn may_touch_project(&self, project: Option<&str>) -> bool {
        let own = self.confined_to();
        own.is_none() || project.is_none() || own == project
    }

    /// Checks that a run is of the project that an agent without a token works on.
    ///
    /// A run that doesn't exist passes: whoever looks for it says so.
    fn check_is_own(&self, run: &RunId) -> Result<(), Problem> {
        let is_given = [self.bound_run(), self.attempted_run()].contains(&Some(run));
        if is_given || self.confined_to().is_none() {
            return Ok(());
        }
        let project = match self.runs().recall(run) {
            Some(loaded) => loaded.state.project.clone(),
            None => match self.runs().store().head(run) {
                Ok(head) => head.summary.project,
                Err(StoreError::NotFound { .. }) => return Ok(()),
                Err(error) => return Err(RunError::from(error).into()),
            },
        };
        if self.may_touch_project(project.as_deref()) {
            return Ok(());
        }
        let message = format!(
            "`{run}` is a run of another project, and an agent without a token works in its own"
        );
        Err(Problem::new(OTHER_PROJECT, message))
    }

    /// Checks that the caller may start runs: one that is bound to a run starts no other.
    ///
    /// # Errors
    ///
    /// The caller is bound to a run.
    pub fn check_may_start(&self) -> Result<(), Problem> {
        self.bound_run().map_or(Ok(()), |bound| {
            let message =
                format!("this caller may touch the run `{bound}` only, and starts no other");
            Err(Problem::new(OTHER_RUN, message))
        })
    }

    /// Returns the id of a run to start: the named one, the caller's own, or a new random one.
    ///
    /// # Errors
    ///
    /// The name isn't a valid id, or the caller is bound to another run.
    pub fn new_run_id(&self, named: Option<&str>) -> Result<RunId, Problem> {
        if named.is_some() || self.bound_run().is_some() {
            return self.resolve_run(named);
        }
        Ok(RunId::random())
    }

    /// Returns the run that is meant: the named one, the caller's own, or the only live one of its project.
    ///
    /// Runs that other runs have invoked aren't meant.
    ///
    /// # Errors
    ///
    /// No run is meant, or several are; the caller is bound to another run.
    pub fn resolve_run(&self, named: Option<&str>) -> Result<RunId, Problem> {
        if let Some(named) = named {
            let run: RunId = named
                .parse()
                .map_err(|error| Problem::argument("run_id", error))?;
            self.check_may_touch(&run)?;
            self.check_is_own(&run)?;
            return Ok(run);
        }
        if let Some(bound) = self.bound_run() {
            self.check_may_touch(bound)?;
            return Ok(bound.clone());
        }
        match live_runs(self)?.as_slice() {
            [only] => Ok(only.run.clone()),
            [] => Err(Problem::new(
                "no_run",
                "no run is active: name one with `run_id`, or start one",
            )
            .mended_by("list_workflows", json!({}))),
            several => Err(several_runs(several)),
        }
    }

    /// Checks that no other run than the one that is meant is live, not even one that it has invoked.
    ///
    /// A tool that counts isn't called where its use could belong to several runs.
    pub(crate) fn check_no_live_child(&self) -> Result<(), Problem> {
        let live = list_runs(self, &LIVE)?;
        if live.iter().any(|head| head.summary.parent.is_some()) {
            return Err(several_runs(&live));
        }
        Ok(())
    }
}

/// Creates the problem that several runs could be meant.
fn several_runs(live: &[Head]) -> Problem {
    let message = "several runs are active: name one with `run_id`";
    Problem::new("several_runs", message).with(json!({"runs": describe_runs(live, false)}))
}

/// Describes some of the runs that could be meant, with their sessions if a session names them.
fn describe_runs(live: &[Head], with_sessions: bool) -> Vec<Value> {
    let runs = live.iter().take(MAX_NAMED).map(|head| {
        let summary = &head.summary;
        let mut run =
            json!({"run_id": head.run, "workflow": summary.workflow, "status": summary.status});
        if let Some(session) = summary.session.as_ref().filter(|_| with_sessions) {
            set_field(&mut run, "session_id", json!(session));
        }
        run
    });
    runs.collect()
}

/// Loads the run that a session means: a live one, else the last one if it has ended.
///
/// Returns none if the only run that the caller may touch hasn't started.
///
/// # Errors
///
/// Several runs are live, or the run can't be read.
pub fn session_run(ctx: &Ctx<'_>, session: Session<'_>) -> Result<Option<Loaded>, Problem> {
    let run = match ctx.bound_run() {
        Some(bound) => Some(bound.clone()),
        None => find_session_run(ctx, session)?,
    };
    let Some(run) = run else {
        return Ok(None);
    };
    match ctx.runs().catch_up(&run) {
        Err(RunError::Store(StoreError::NotFound { .. })) if ctx.bound_run().is_some() => Ok(None),
        loaded => Ok(Some(loaded?)),
    }
}

/// Loads the run to drive: the innermost one that the session's run waits for.
///
/// # Errors
///
/// Those of [`session_run`].
pub fn driven_run(ctx: &Ctx<'_>, session: Session<'_>) -> Result<Option<Loaded>, Problem> {
    session_run(ctx, session)?
        .map(|outer| innermost_run(ctx, outer))
        .transpose()
}

/// Loads the innermost run that a run waits for; the run itself if it waits for none.
///
/// # Errors
///
/// One of the runs can't be read.
pub fn innermost_run(ctx: &Ctx<'_>, outer: Loaded) -> Result<Loaded, Problem> {
    let mut loaded = outer;
    for _ in 0..MAX_DEPTH {
        let Some(child) = awaited_run(&loaded.state) else {
            break;
        };
        loaded = ctx.runs().catch_up(&child)?;
    }
    Ok(loaded)
}

/// Lists the live runs of the caller's project that no run has invoked, the last changed first.
///
/// # Errors
///
/// The store can't be read.
pub fn live_runs(ctx: &Ctx<'_>) -> Result<Vec<Head>, Problem> {
    outer_runs(ctx, &LIVE)
}

/// Keeps the runs that a session holds; if it holds none, those that no session holds.
pub fn runs_of_session(live: Vec<Head>, session: Session<'_>) -> Vec<Head> {
    let is_own = |head: &Head| head.summary.session.as_deref() == session;
    if live.iter().any(is_own) {
        return live.into_iter().filter(is_own).collect();
    }
    let is_free = |head: &Head| head.summary.session.is_none();
    live.into_iter().filter(is_free).collect()
}

/// Creates the problem that several live runs could be meant.
pub fn several_live(live: &[Head]) -> Problem {
    let message = format!(
        "several runs are live, among them {}: {}start the server with `--run`, or give the client a token of one run",
        name_runs(live),
        if have_own_sessions(live) {
            "name one's session with `session_id`, "
        } else {
            ""
        },
    );
    Problem::new("several_runs", message).with(json!({"runs": describe_runs(live, true)}))
}

/// Returns whether each run has a session of its own.
fn have_own_sessions(live: &[Head]) -> bool {
    let sessions: BTreeSet<_> = live
        .iter()
        .filter_map(|head| head.summary.session.as_ref())
        .collect();
    sessions.len() == live.len()
}

/// Names runs in a sentence, each with its session.
pub fn name_runs(live: &[Head]) -> String {
    let name = |head: &Head| match &head.summary.session {
        Some(session) => format!("`{}` of session `{session}`", head.run),
        None => format!("`{}`", head.run),
    };
    let names: Vec<String> = live.iter().take(MAX_NAMED).map(name).collect();
    names.join(", ")
}

fn find_session_run(ctx: &Ctx<'_>, session: Session<'_>) -> Result<Option<RunId>, Problem> {
    let all = live_runs(ctx)?;
    let mut live = runs_of_session(all.clone(), session);
    if live.is_empty() && session.is_none() {
        live = all;
    }
    match live.as_slice() {
        [only] => Ok(Some(only.run.clone())),
        [] => {
            let has_ended = |head: &Head| {
                let ended = [Status::Completed, Status::Failed].map(Status::name);
                ended.contains(&head.summary.status.as_str())
            };
            let mut runs = outer_runs(ctx, &Status::ALL)?.into_iter();
            let last = runs.find(|head| {
                let own = head.summary.session.as_deref();
                session.is_none() || own.is_none() || own == session
            });
            Ok(last.filter(has_ended).map(|head| head.run))
        }
        several => Err(several_live(several)),
    }
}

/// Lists the runs with these statuses that no run has invoked, the last changed first.
fn outer_runs(ctx: &Ctx<'_>, statuses: &[Status]) -> Result<Vec<Head>, Problem> {
    let mut heads = list_runs(ctx, statuses)?;
    heads.retain(|head| head.summary.parent.is_none());
    Ok(heads)
}

/// Lists the runs of the caller's project with these statuses, the last changed first.
fn list_runs(ctx: &Ctx<'_>, statuses: &[Status]) -> Result<Vec<Head>, Problem> {
    let statuses = statuses.iter().map(|status| status.name().to_owned());
    let query = Query {
        statuses: statuses.collect(),
        project: ctx.caller.project.clone(),
        limit: MAX_CANDIDATES,
        ..Query::default()
    };
    Ok(ctx.runs().store().list(&query)?.heads)
}

/// Returns the run that a run waits for, if it waits for nothing else.
fn awaited_run(state: &RunState) -> Option<RunId> {
    match state.waiting_for().as_slice() {
        [WaitingFor::Child { run }] => run.parse().ok(),
        _ => None,
    }
}
