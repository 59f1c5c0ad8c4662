//! `report`: the tools that were used in a run by state, or all of the run as a page.
//!
//! With the tools stands what policy said to them.

mod page;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use statemark_runs::body::{Tool, ToolVerdict};
use statemark_runs::{Body, Loaded, RunState, Runs, state};

use crate::args::{RunArgs, TextFormat};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::{Printer, count};
use crate::runs;

/// The part of a limit from which on it is nearly reached. Unit: percent.
///
/// Why: somebody who sets limits wants to see those that a longer task would reach.
const REPORTED_FROM: u64 = 80;

/// Show the tools that were used in a run, by state, and what was refused or would have been.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                  statemark report build-7\n  \
                  statemark report build-7 --json\n  \
                  statemark report build-7 -o run.html   all of the run, as one page\n\n\
                  A hook that only observes (`statemark hook install AGENT --observe`) records what would have\n\
                  been refused: `enough` is the `allowed_tools` by which nothing would have been.")]
pub(crate) struct ReportArgs {
    /// Write one page instead, with drawing, decisions, timeline, checks, artifacts and journal: an .html file
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

/// The tools of a run.
#[derive(Serialize)]
struct Report {
    run_id: String,
    workflow: String,
    /// The states in which tools were called, in the order of the first call.
    states: Vec<StateReport>,
}

/// The tools of a state.
#[derive(Serialize)]
struct StateReport {
    /// The active states, by name.
    state: String,
    tools: BTreeMap<String, Calls>,
    refused: Vec<RefusedCalls>,
    limits: Vec<LimitUse>,
    /// The tools that would have to be allowed for each call to be granted.
    enough: Vec<String>,
}

/// The calls of a tool.
#[derive(Default, Serialize)]
struct Calls {
    /// The calls that ran, those that failed included.
    ran: u64,
    failed: u64,
    refused: u64,
    /// The calls that ran and would have been refused.
    observed: u64,
}

/// Calls that were refused for one reason.
#[derive(Serialize)]
struct RefusedCalls {
    tool: String,
    reason: String,
    count: u64,
    /// True if they ran nevertheless, because the hook only observed.
    observed: bool,
}

/// The use of a limit that was reached, or nearly.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct LimitUse {
    state: String,
    limit: &'static str,
    used: u64,
    max: u64,
}

/// Shows the report.
pub(in crate::commands) fn run(args: &ReportArgs, printer: &mut Printer) -> CommandResult {
    let (runs, loaded) = runs::open_run(&args.run)?;
    if let Some(path) = &args.output
        && !path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("html"))
    {
        let message = format!(
            "a report is a page: `{}` is no name of one",
            files::display(path)
        );
        return Err(Failure::new(message).with_help("name a file that ends in `.html`"));
    }
    let report = make_report(&runs, &loaded)?;
    if let Some(path) = &args.output {
        files::check_output(path)?;
        let text = page::write(&runs, &loaded, &report)?;
        files::write(path, text.as_bytes())?;
        printer.result(&format!("{}\n", files::display(path)));
        return Ok(ExitStatus::Clean);
    }
    match args.run.store.format() {
        TextFormat::Json => printer.json(&report),
        TextFormat::Text => printer.result(&describe(&report)),
    }
    Ok(ExitStatus::Clean)
}

/// Reads the journal of a run, and what was active at each call of a tool.
fn make_report(runs: &Runs, loaded: &Loaded) -> Result<Report, Failure> {
    let (store, run) = (runs.store(), &loaded.run);
    let live = state::live_records(store, run, None, &[])?;
    let mut now = RunState::default();
    let mut states: Vec<StateReport> = Vec::new();
    state::for_each_record(store, run, 0, None, |record| {
        // A call that a rewind took back was made nevertheless, where the run was before.
        if let Ok(Body::Tool(tool)) = record.read() {
            let name = now.leaves.join(", ");
            let at = states.iter().position(|it| it.state == name);
            let at = at.unwrap_or_else(|| {
                states.push(StateReport::new(name));
                states.len().saturating_sub(1)
            });
            if let Some(state) = states.get_mut(at) {
                let granted = patterns_of(loaded, &now, &tool.name);
                state.add(&tool, &granted);
            }
        }
        if live.contains(record.seq) {
            // What can't be read changes nothing: whoever drives the run is told so.
            drop(now.apply(record));
        }
        for state in &mut states {
            state.note_limits(loaded, &now);
        }
        Ok(())
    })?;
    Ok(Report {
        run_id: run.to_string(),
        workflow: loaded.state.workflow.clone(),
        states,
    })
}

/// Returns the patterns by which the active states grant a tool, `Bash(git *)` for example.
///
/// There are none where they grant all of it.
fn patterns_of(loaded: &Loaded, now: &RunState, tool: &str) -> Vec<String> {
    let table = loaded.workflow.table();
    let states = table.states().map(|(id, _)| id);
    let active = states.filter(|id| now.is_active(table.state_name(*id)));
    let lists = active.filter_map(|id| loaded.workflow.state_meta(id).get("allowed_tools"));
    let granted = lists.filter_map(Value::as_array).flatten();
    let granted: Vec<&str> = granted.filter_map(Value::as_str).collect();
    if granted.contains(&tool) {
        return Vec::new();
    }
    let is_of_tool = |it: &&&str| it.strip_prefix(tool).is_some_and(|it| it.starts_with('('));
    let patterns = granted.iter().filter(is_of_tool);
    patterns.map(|&it| it.to_owned()).collect()
}

impl StateReport {
    const fn new(state: String) -> Self {
        Self {
            state,
            tools: BTreeMap::new(),
            refused: Vec::new(),
            limits: Vec::new(),
            enough: Vec::new(),
        }
    }

    /// Adds a call of a tool that the active states grant by these patterns, or as a whole.
    fn add(&mut self, tool: &Tool, patterns: &[String]) {
        let calls = self.tools.entry(tool.name.clone()).or_default();
        if tool.verdict != ToolVerdict::Denied {
            // What would have been refused is nothing that the patterns grant, and only a hash of it is known.
            let needs_all = tool.observed || patterns.is_empty();
            let own = [tool.name.clone()];
            let needed = if needs_all { &own } else { patterns };
            self.enough.extend_from_slice(needed);
            self.enough.sort();
            self.enough.dedup();
        }
        match tool.verdict {
            ToolVerdict::Denied => calls.refused += 1,
            // A call is told of twice: as it is about to run, and as it has run.
            _ if tool.reserved => calls.observed += u64::from(tool.observed),
            ToolVerdict::Allowed => calls.ran += 1,
            ToolVerdict::Failed => {
                calls.ran += 1;
                calls.failed += 1;
            }
        }
        let Some(reason) = &tool.reason else {
            return;
        };
        let mut refused = self.refused.iter_mut();
        let known = refused.find(|known| {
            known.tool == tool.name && known.reason == *reason && known.observed == tool.observed
        });
        match known {
            Some(known) => known.count += 1,
            None => self.refused.push(RefusedCalls {
                tool: tool.name.clone(),
                reason: reason.clone(),
                count: 1,
                observed: tool.observed,
            }),
        }
    }

    /// Notes the most that was used of each limit of the states that are active.
    fn note_limits(&mut self, loaded: &Loaded, now: &RunState) {
        let visits = now.visits.iter().filter(|(_, visit)| visit.left.is_none());
        for (state, visit) in visits {
            if !self.state.split(", ").any(|leaf| leaf == state) {
                continue;
            }
            let files = u64::try_from(visit.files.len()).unwrap_or(u64::MAX);
            for (limit, used) in [
                ("max_iterations", visit.iterations),
                ("max_files_per_state", files),
                ("context_budget_bytes", visit.bytes),
            ] {
                let Some(max) = loaded.limit(state, limit) else {
                    continue;
                };
                if used.saturating_mul(100) < max.saturating_mul(REPORTED_FROM) {
                    continue;
                }
                let mut limits = self.limits.iter_mut();
                match limits.find(|it| it.state == *state && it.limit == limit) {
                    Some(known) => known.used = known.used.max(used),
                    None => self.limits.push(LimitUse {
                        state: state.clone(),
                        limit,
                        used,
                        max,
                    }),
                }
            }
        }
    }
}

fn describe(report: &Report) -> String {
    let mut text = format!("{} ({})\n", report.run_id, report.workflow);
    if report.states.is_empty() {
        text += "no tool was called\n";
    }
    for state in &report.states {
        let ran: u64 = state.tools.values().map(|it| it.ran).sum();
        let ran = count(usize::try_from(ran).unwrap_or(usize::MAX), "call");
        let _ = writeln!(text, "\nin {}: {ran}", state.state);
        for (tool, calls) in &state.tools {
            let parts = [
                (calls.ran, "ran"),
                (calls.failed, "failed"),
                (calls.refused, "refused"),
                (calls.observed, "would have been refused"),
            ];
            let parts = parts.iter().filter(|(number, _)| *number > 0);
            let parts: Vec<String> = parts
                .map(|(number, what)| format!("{number} {what}"))
                .collect();
            let _ = writeln!(text, "  {tool}: {}", parts.join(", "));
        }
        for refused in &state.refused {
            let what = if refused.observed {
                "would have been refused"
            } else {
                "refused"
            };
            let _ = writeln!(text, "  {what} {} ×: {}", refused.count, refused.reason);
        }
        for limit in &state.limits {
            let LimitUse {
                state,
                limit,
                used,
                max,
            } = limit;
            let _ = writeln!(text, "  {used} of {max} used of `{limit}` of `{state}`");
        }
        let enough = serde_json::to_string(&state.enough).unwrap_or_default();
        let _ = writeln!(text, "  enough: \"allowed_tools\": {enough}");
    }
    text
}
