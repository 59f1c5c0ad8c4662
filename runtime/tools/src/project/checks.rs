//! Checks: programs that the workflow or the project declares, such as its tests.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use statemark_runs::check::{self, CheckResult, Declaration};
use statemark_runs::{Checked, Loaded, RunCheck, RunCheckIn, Written};

use super::{current_project, project_of_check};
use crate::{Ctx, Problem, Project};

/// Time between two reports of progress. Why: clients give a silent call up after a minute.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// The check to run.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// Its name.
    pub name: &'r str,
    /// Arguments after the declared ones; no shell reads them.
    pub args: &'r [String],
    /// The run that remembers it.
    pub run: Option<&'r str>,
    /// The last record that the caller knows of.
    pub expected_seq: Option<u64>,
    /// The key: calls with one key are one call.
    pub idempotency_key: Option<&'r str>,
}

/// The result of a check.
pub struct Outcome {
    /// The records that were written, if a run remembers the check.
    pub written: Option<Written<Checked>>,
    /// The exit code and output, unless the run refused the check.
    pub ran: Option<CheckResult>,
}

/// Runs a check. A run remembers it, if one is meant.
///
/// # Errors
///
/// Nothing declares the check, or it can't be run as declared.
pub fn run_check(ctx: &Ctx<'_>, request: &Request<'_>) -> Result<Outcome, Problem> {
    let run = match ctx.resolve_run(request.run) {
        Ok(run) => run,
        Err(problem) if problem.code == "no_run" => {
            return run_alone(ctx, request);
        }
        Err(problem) => return Err(problem),
    };
    let loaded = ctx.load_run(Some(run.as_str()))?;
    let project = project_of_check(ctx, &loaded, request.name)?;
    let (declared, root) = find_for_run(&loaded, &project, request.name)?;
    let order = ctx.order(run, request.idempotency_key, request.expected_seq)?;
    let check = RunCheck {
        name: request.name.to_owned(),
        declared,
        arguments: request.args.to_vec(),
    };
    let limit = check.declared.time_limit().ok();
    let place = project.place.at(root);
    let written = with_progress(ctx, request.name, limit, || {
        let check = RunCheckIn {
            what: check,
            place: &place,
            cancelled: ctx.cancelled(),
        };
        ctx.runs().execute(&order, &check)
    })?;
    let ran = written.outcome.check.clone().map(|checked| checked.ran);
    Ok(Outcome {
        written: Some(written),
        ran,
    })
}

/// Runs a check that no run remembers.
///
/// # Errors
///
/// Those of [`run_check`].
pub fn run_alone(ctx: &Ctx<'_>, request: &Request<'_>) -> Result<Outcome, Problem> {
    let project = current_project(ctx)?;
    let name = request.name;
    let declared = match project.checks.get(name) {
        Some(declared) => Some((declared.clone(), project.checks_root.clone())),
        None => find_in_workflows(ctx, name)?.map(|declared| (declared, project.root.clone())),
    };
    let Some((declared, root)) = declared else {
        return Err(unknown_check(name, known_checks(ctx, &project)));
    };
    let place = project.place.at(root);
    let ran = with_progress(ctx, name, declared.time_limit().ok(), || {
        check::run(&declared, request.args, &place, ctx.cancelled())
    });
    let ran = ran.map_err(|error| invalid_check(name, &error))?;
    Ok(Outcome {
        written: None,
        ran: Some(ran),
    })
}

/// Finds the check of a run, and the folder that it runs in: the workflow's own, else the project's.
fn find_for_run(
    loaded: &Loaded,
    project: &Project,
    name: &str,
) -> Result<(Declaration, PathBuf), Problem> {
    if let Some(declared) = loaded.check(name)? {
        return Ok((declared, project.root.clone()));
    }
    match project.checks.get(name) {
        Some(declared) => Ok((declared.clone(), project.checks_root.clone())),
        None => {
            let mut known = loaded.workflow.checks();
            known.extend(project.checks.keys().cloned());
            Err(unknown_check(name, known))
        }
    }
}

/// Finds the check of that name in the workflows, if all that declare it declare the same one.
fn find_in_workflows(ctx: &Ctx<'_>, name: &str) -> Result<Option<Declaration>, Problem> {
    let catalog = ctx.catalog();
    let mut found: Option<Declaration> = None;
    for id in catalog.ids() {
        let Some(workflow) = catalog.find(&id) else {
            continue;
        };
        let Some(declared) = workflow.check(name) else {
            continue;
        };
        let declared = declared.map_err(|error| invalid_check(name, &error))?;
        if found.as_ref().is_some_and(|other| *other != declared) {
            let message = format!(
                "several workflows declare a check `{name}` in different ways: name a run to choose one"
            );
            return Err(Problem::new("several_checks", message));
        }
        found = Some(declared);
    }
    Ok(found)
}

/// Lists the names of all checks, sorted.
pub(crate) fn known_checks(ctx: &Ctx<'_>, project: &Project) -> Vec<String> {
    let catalog = ctx.catalog();
    let workflows = catalog.ids().into_iter().filter_map(|id| catalog.find(&id));
    let mut known: Vec<String> = workflows.flat_map(|workflow| workflow.checks()).collect();
    known.extend(project.checks.keys().cloned());
    known.sort();
    known.dedup();
    known
}

fn unknown_check(name: &str, mut known: Vec<String>) -> Problem {
    known.sort();
    known.dedup();
    let there = match known.as_slice() {
        [] => "none is declared, neither in the workflow nor in `statemark.toml`".to_owned(),
        known => format!("there are {}", known.join(", ")),
    };
    let message = format!("there is no check `{name}`; {there}");
    Problem::new("unknown_check", message).with(json!({"known": known}))
}

fn invalid_check(name: &str, error: &check::CheckError) -> Problem {
    let message = format!("the check `{name}` can't be run as it is declared: {error}");
    Problem::new("bad_check", message)
}

/// Does the work, and reports progress to the caller now and then.
pub fn with_progress<T: Send>(
    ctx: &Ctx<'_>,
    name: &str,
    limit: Option<Duration>,
    work: impl FnOnce() -> T + Send,
) -> T {
    let limit = limit.unwrap_or(check::DEFAULT_TIMEOUT);
    let began = Instant::now();
    let (finished, waiting) = std::sync::mpsc::channel::<()>();
    let progress = ctx.progress();
    std::thread::scope(|threads| {
        threads.spawn(move || {
            while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) =
                waiting.recv_timeout(PROGRESS_INTERVAL)
            {
                let elapsed = began.elapsed();
                let share = elapsed.as_secs_f64() / limit.as_secs_f64();
                let seconds = elapsed.as_secs();
                progress(share.min(1.0), &format!("`{name}` has run for {seconds} s"));
            }
        });
        let outcome = work();
        drop(finished);
        outcome
    })
}
