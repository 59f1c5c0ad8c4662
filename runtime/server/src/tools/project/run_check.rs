//! `run_check`: a check that the workflow or the project declares, such as its tests.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::check::{self, CheckResult, Declaration};
use statemark_runs::{Checked, Loaded, Role, RunCheck, RunCheckIn, RunError, Written};

use crate::call::Call;
use crate::problem::Problem;
use crate::project::Project;
use crate::tool::{Data, Hints, Set, Tool};
use crate::tools::{done, fields};

/// How often a caller is told that a check still runs. Why: clients give a silent call up after a minute.
const TELL: Duration = Duration::from_secs(5);

/// How much of what a check has printed is in the answer, of each stream. Why: both fit into a reply with what is next.
const SHOWN: usize = 3 << 10;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The check's name.
    pub(crate) name: String,
    /// Arguments behind its own; no shell reads them.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// The run that remembers it; may be left out where only one is meant, or none.
    pub(crate) run_id: Option<String>,
    /// The record that the run must end with; else the call is refused.
    pub(crate) expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    pub(crate) idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("run_check", Set::Project, Hints::WRITES),
        (
            "Run a check",
            "Runs a check that the workflow (`checks`) or `statemark.toml` declares, and gives what came of it: exit code, \
             the end of its output, seconds. A run remembers it, so that a state can require it.",
        ),
        &[
            ("name", "string"),
            ("passed", "boolean"),
            ("exit_code", ""),
            ("stdout", "string"),
            ("stderr", "string"),
            ("seconds", "number"),
            ("next", "object"),
        ],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let (written, ran) = ran(call, input)?;
    let told = told(&input.name, ran.as_ref());
    match &written {
        Some(written) => done(written, told),
        None => Ok(fields(told)),
    }
}

/// Runs a check: what was written of it, if a run remembers it, and what came of it, if it wasn't refused.
pub(crate) fn ran(
    call: &Call<'_>,
    input: &Input,
) -> Result<(Option<Written<Checked>>, Option<CheckResult>), Problem> {
    let actor = call.actor();
    if actor.role < Role::Agent {
        return Err(RunError::ReadOnly { actor }.into());
    }
    let run = match call.run(input.run_id.as_deref()) {
        Ok(run) => run,
        Err(problem) if problem.code == "no_run" => return Ok((None, Some(alone(call, input)?))),
        Err(problem) => return Err(problem),
    };
    let project = super::project(call)?;
    let loaded = call.load(Some(run.as_str()))?;
    let (declared, root) = of_run(&loaded, &project, &input.name)?;
    let order = call.order(run, input.idempotency_key.as_deref(), input.expected_seq)?;
    let what = RunCheck {
        name: input.name.clone(),
        declared,
        arguments: input.args.clone(),
    };
    let time = what.declared.time_limit().unwrap_or(check::DEFAULT_TIMEOUT);
    let written = telling(call, &input.name, time, || {
        let check = RunCheckIn {
            what,
            root: &root,
            cancelled: call.cancelled,
        };
        call.desk.runs().execute(&order, &check)
    })?;
    let ran = written.outcome.check.clone().map(|it| it.ran);
    Ok((Some(written), ran))
}

/// A check that no run remembers.
fn alone(call: &Call<'_>, input: &Input) -> Result<CheckResult, Problem> {
    let project = super::project(call)?;
    let name = &input.name;
    let declared = match project.checks.get(name) {
        Some(declared) => Some((declared.clone(), project.checks_root.clone())),
        None => of_any(call, name)?.map(|it| (it, project.root.clone())),
    };
    let Some((declared, root)) = declared else {
        return Err(unknown(name, known(call, &project)));
    };
    let time = declared.time_limit().unwrap_or(check::DEFAULT_TIMEOUT);
    let ran = telling(call, name, time, || {
        check::run(&declared, &input.args, &root, call.cancelled)
    });
    ran.map_err(|error| unusable(name, &error))
}

/// The check of a run: its workflow's own, else the project's; and the folder that it runs in.
fn of_run(
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
            Err(unknown(name, known))
        }
    }
}

/// The check of the workflows that have one of that name, if they declare the same.
fn of_any(call: &Call<'_>, name: &str) -> Result<Option<Declaration>, Problem> {
    let catalog = call.desk.catalog();
    let mut found: Option<Declaration> = None;
    for id in catalog.ids() {
        let Some(workflow) = catalog.find(&id) else {
            continue;
        };
        let Some(declared) = workflow.check(name) else {
            continue;
        };
        let declared = declared.map_err(|error| unusable(name, &error))?;
        if found.as_ref().is_some_and(|it| *it != declared) {
            let message = format!(
                "several workflows declare a check `{name}`, and not the same: say which with a run"
            );
            return Err(Problem::new("several_checks", message));
        }
        found = Some(declared);
    }
    Ok(found)
}

/// The names of all checks, sorted.
pub(super) fn known(call: &Call<'_>, project: &Project) -> Vec<String> {
    let catalog = call.desk.catalog();
    let workflows = catalog.ids().into_iter().filter_map(|id| catalog.find(&id));
    let mut known: Vec<String> = workflows.flat_map(|it| it.checks()).collect();
    known.extend(project.checks.keys().cloned());
    known.sort();
    known.dedup();
    known
}

fn unknown(name: &str, mut known: Vec<String>) -> Problem {
    known.sort();
    known.dedup();
    let there = match known.as_slice() {
        [] => "none is declared, neither in the workflow nor in `statemark.toml`".to_owned(),
        known => format!("there are {}", known.join(", ")),
    };
    let message = format!("there is no check `{name}`; {there}");
    Problem::new("unknown_check", message).with(json!({"known": known}))
}

fn unusable(name: &str, error: &check::CheckError) -> Problem {
    let message = format!("the check `{name}` can't be run as it is declared: {error}");
    Problem::new("bad_check", message)
}

/// Does something, and tells the caller now and then that it is still being done.
fn telling<T: Send>(
    call: &Call<'_>,
    name: &str,
    time: Duration,
    work: impl FnOnce() -> T + Send,
) -> T {
    let began = Instant::now();
    let (finished, waiting) = std::sync::mpsc::channel::<()>();
    let progress = call.progress;
    std::thread::scope(|threads| {
        threads.spawn(move || {
            while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = waiting.recv_timeout(TELL) {
                let took = began.elapsed();
                let share = took.as_secs_f64() / time.as_secs_f64();
                let seconds = took.as_secs();
                progress(share.min(1.0), &format!("`{name}` runs for {seconds} s"));
            }
        });
        let outcome = work();
        drop(finished);
        outcome
    })
}

/// What came of a check; of long outputs the end, which says what was wrong.
fn told(name: &str, ran: Option<&CheckResult>) -> Value {
    let Some(ran) = ran else {
        return json!({"name": name});
    };
    let (stdout, cut_out) = end(&ran.stdout);
    let (stderr, cut_err) = end(&ran.stderr);
    let cut = u64::try_from(cut_out.saturating_add(cut_err)).unwrap_or(u64::MAX);
    let mut told = json!({
        "name": name,
        "passed": ran.passed,
        "exit_code": ran.exit_code,
        "stdout": stdout,
        "stderr": stderr,
        "seconds": Duration::from_millis(ran.milliseconds).as_secs_f64(),
    });
    if let Some(map) = told.as_object_mut() {
        if ran.cancelled {
            map.insert("cancelled".to_owned(), json!(true));
        }
        if let Some(problem) = &ran.problem {
            map.insert("problem".to_owned(), json!(problem));
        }
        let left_out = ran.left_out.saturating_add(cut);
        if left_out > 0 {
            map.insert("left_out".to_owned(), json!(left_out));
        }
    }
    told
}

/// The end of a text, as much as is shown, and how much was before it.
fn end(text: &str) -> (&str, usize) {
    let mut at = text.len().saturating_sub(SHOWN);
    while !text.is_char_boundary(at) {
        at = at.saturating_add(1);
    }
    (text.get(at..).unwrap_or_default(), at)
}
