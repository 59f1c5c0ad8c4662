//! `state`, `why`, `wait` and `runs`: where runs are, and why.

use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use statemark_executor::describe_budget;
use statemark_runs::body::Usage;
use statemark_runs::runs::{TreeUsage, tree_usage};
use statemark_runs::{
    Explanation, Head, Loaded, Query, Reason, RunState, Runs, Status, WaitingFor, explain,
    fire_all_due, state,
};
use statemark_text::visible;

use super::transcript::describe_usage;
use super::{describe_remedy, paint_status, print_run};
use crate::args::{self, RunArgs, StoreArgs, TextFormat};
use crate::clock::format_length;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::{Palette, Printer};
use crate::{project, runs};

/// Show where a run is and what could come next.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark state build-7\n  \
                        statemark state build-7 --at 12      as it was after record 12\n  \
                        statemark state build-7 --watch\n  \
                        statemark state build-7 --json")]
pub(crate) struct StateArgs {
    /// Show the run as it was after this record
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Show the run again whenever it changes, until it is over
    #[arg(long, conflicts_with = "at")]
    watch: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Shows a run.
pub(in crate::commands) fn run(args: &StateArgs, printer: &mut Printer) -> CommandResult {
    let (runs, mut loaded) = runs::open_run(&args.run)?;
    if let Some(at) = args.at {
        let past = load_past(&runs, loaded, at)?;
        let now = past.view()?.updated;
        print_run(&past, now, &args.run.store, printer)?;
        return Ok(ExitStatus::Clean);
    }
    loop {
        print_run(&loaded, runs.now(), &args.run.store, printer)?;
        if !args.watch || loaded.state.status().is_over() {
            return Ok(ExitStatus::Clean);
        }
        printer.flush();
        loaded = wait_for_change(&runs, &loaded)?;
        if args.run.store.format() == TextFormat::Text {
            printer.result("\n");
        }
    }
}

/// Waits until the run has another record.
fn wait_for_change(runs: &Runs, before: &Loaded) -> Result<Loaded, Failure> {
    loop {
        thread::sleep(runs::PAUSE);
        let loaded = runs.catch_up(&before.run)?;
        if loaded.head.seq != before.head.seq {
            return Ok(loaded);
        }
    }
}

/// Loads a run as it was after one of its records.
fn load_past(runs: &Runs, now: Loaded, at: u64) -> Result<Loaded, Failure> {
    if at == 0 || at > now.head.seq {
        let allowed = format!("1 to {}", now.head.seq);
        return Err(Failure::bad_value("--at", &at.to_string(), &allowed));
    }
    let state = state::replay(runs.store(), &now.run, Some(at))?;
    let table = state.table.unwrap_or(now.workflow.hash());
    let mut head = now.head;
    head.seq = at;
    Ok(Loaded {
        workflow: runs.workflow_of(&table)?,
        is_accepted: now.is_accepted,
        run: now.run,
        head,
        state: state.into(),
    })
}

/// Explain why a run is where it is, and what would move it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark why build-7\n  \
                        statemark why build-7 --event plan_ready     why that event would be taken or not")]
pub(crate) struct WhyArgs {
    /// Explain this event alone
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    #[command(flatten)]
    run: RunArgs,
}

/// Explains why a run is where it is.
pub(in crate::commands) fn explain_run(args: &WhyArgs, printer: &mut Printer) -> CommandResult {
    let (runs, loaded) = runs::open_run(&args.run)?;
    let explanation = explain(&loaded, args.event.as_deref())?;
    let spending = match args.event {
        None => Spending::read(&runs, &loaded)?,
        Some(_) => Spending::default(),
    };
    if args.run.store.format() == TextFormat::Json {
        printer.json(&Explained {
            explanation: &explanation,
            spending: &spending,
        });
        return Ok(ExitStatus::Clean);
    }
    let palette = printer.palette();
    printer.result(&format!(
        "{} is {}\n",
        palette.strong(loaded.run.as_str()),
        paint_status(explanation.status, palette)
    ));
    for reason in &explanation.reasons {
        printer.result(&reason_line(reason, &loaded, runs.now(), palette));
    }
    for line in spending.lines() {
        printer.result(&format!("  {}\n", palette.dim(&line)));
    }
    Ok(ExitStatus::Clean)
}

/// An explanation, with what the work has cost.
#[derive(Serialize)]
struct Explained<'e> {
    #[serde(flatten)]
    explanation: &'e Explanation,
    #[serde(flatten)]
    spending: &'e Spending,
}

/// The cost of a run and of those below it, and how much of its budget that is.
#[derive(Default, Serialize)]
struct Spending {
    #[serde(skip_serializing_if = "Usage::is_nothing")]
    usage: Usage,
    #[serde(skip_serializing_if = "Usage::is_nothing")]
    usage_below: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<String>,
}

impl Spending {
    /// Reads what was spent. A budget that nothing was used of says nothing about where a run is.
    fn read(runs: &Runs, loaded: &Loaded) -> Result<Self, Failure> {
        let TreeUsage { own, below } = tree_usage(runs, loaded)?;
        let budget = match own.is_nothing() && below.is_nothing() {
            true => None,
            false => describe_budget(runs, &project::executors()?, loaded)?,
        };
        Ok(Self {
            usage: own,
            usage_below: below,
            budget,
        })
    }

    fn lines(&self) -> Vec<String> {
        let spent = |what: &str, usage: &Usage| {
            (!usage.is_nothing()).then(|| format!("{what}: {}", describe_usage(usage)))
        };
        let budget = self.budget.as_ref().map(|it| format!("budget: {it}"));
        let lines = [
            spent("used", &self.usage),
            spent("used by the runs below", &self.usage_below),
            budget,
        ];
        lines.into_iter().flatten().collect()
    }
}

/// Describes a reason, with what would change it.
pub(in crate::commands) fn reason_line(
    reason: &Reason,
    loaded: &Loaded,
    now: u64,
    palette: Palette,
) -> String {
    let remedy = reason.remedy.as_ref().map_or_else(String::new, |remedy| {
        palette.dim(&format!("  ({})", describe_remedy(remedy, loaded, now)))
    });
    format!("  {}{remedy}\n", visible::line(&reason.text()))
}

fn parse_status(word: &str) -> Result<Status, String> {
    let status = Status::ALL.into_iter().find(|status| status.name() == word);
    status.ok_or_else(|| {
        let names = Status::ALL.map(Status::name).join(", ");
        format!("there are {names}")
    })
}

/// Wait until a run is over or needs somebody.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark wait build-7\n  \
                        statemark wait build-7 --for completed --timeout 10m\n\n\
                        Exit code 1: the time was up, or the run ended with another status.")]
pub(crate) struct WaitArgs {
    /// Wait for one of these statuses; by default, until the run isn't running
    #[arg(long = "for", value_name = "STATUS", value_delimiter = ',', value_parser = parse_status)]
    statuses: Vec<Status>,
    /// Longest time to wait, such as 30s or 10m; by default, forever
    #[arg(long, value_name = "TIME", value_parser = args::milliseconds)]
    timeout: Option<u64>,
    #[command(flatten)]
    run: RunArgs,
}

/// Waits for a run.
pub(in crate::commands) fn wait(args: &WaitArgs, printer: &mut Printer) -> CommandResult {
    let timeout = args.timeout.map(Duration::from_millis);
    let began = Instant::now();
    let runs = runs::open(&args.run.store)?;
    let run = runs::find(runs.store(), &args.run.id)?;
    loop {
        let loaded = runs.catch_up(&run)?;
        let status = loaded.state.status();
        let is_met = if args.statuses.is_empty() {
            needs_somebody(&loaded.state)
        } else {
            args.statuses.contains(&status)
        };
        let is_late = timeout.is_some_and(|timeout| began.elapsed() >= timeout);
        if is_met || is_late || status.is_over() {
            print_run(&loaded, runs.now(), &args.run.store, printer)?;
            return Ok(ExitStatus::clean_if(is_met));
        }
        thread::sleep(runs::PAUSE);
    }
}

/// Reports whether a run is over, or waits for somebody to continue it, decide, answer or report.
///
/// A child that runs is nobody to act.
fn needs_somebody(state: &RunState) -> bool {
    let status = state.status();
    let is_child = |waiting: &WaitingFor| matches!(waiting, WaitingFor::Child { .. });
    status.is_over()
        || status == Status::Paused
        || !state.open_requests().is_empty()
        || !state.waiting_for().iter().all(is_child)
}

/// List runs, the latest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark runs\n  \
                        statemark runs --status waiting,paused\n  \
                        statemark runs --workflow build --limit 5")]
pub(crate) struct RunsArgs {
    /// Only with these statuses: running, waiting, paused, completed, failed, cancelled
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = parse_status)]
    status: Vec<Status>,
    /// Only of this workflow
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    store: StoreArgs,
}

impl From<&RunsArgs> for Query {
    fn from(args: &RunsArgs) -> Self {
        let statuses = args.status.iter();
        Self {
            statuses: statuses.map(|status| status.name().to_owned()).collect(),
            workflow: args.workflow.clone(),
            limit: args.limit.max(1),
            ..Self::default()
        }
    }
}

/// The remark where there is no run at all.
const NO_RUNS: &str = "no runs; `statemark start WORKFLOW` starts one\n";

/// Lists runs.
pub(in crate::commands) fn list(args: &RunsArgs, printer: &mut Printer) -> CommandResult {
    let Some(runs) = runs::open_if_exists(&args.store)? else {
        printer.remark(NO_RUNS);
        return Ok(ExitStatus::Clean);
    };
    fire_all_due(&runs)?;
    let page = runs.store().list(&args.into())?;
    if args.store.format() == TextFormat::Json {
        page.heads.iter().for_each(|head| printer.json(head));
        return Ok(ExitStatus::Clean);
    }
    let width = |length: fn(&Head) -> usize| page.heads.iter().map(length).max().unwrap_or(0);
    let widths = (
        width(|head| head.run.as_str().chars().count()),
        width(|head| head.summary.status.len()),
    );
    for head in &page.heads {
        // It may have been accepted since.
        let is_unreviewed = head.summary.unreviewed && runs.load(&head.run)?.is_unreviewed();
        let mark = if is_unreviewed { "unreviewed" } else { "" };
        printer.result(&run_line(head, mark, widths, runs.now(), printer.palette()));
    }
    if page.heads.is_empty() {
        let is_filtered = !args.status.is_empty() || args.workflow.is_some();
        printer.remark(if is_filtered {
            "no such runs\n"
        } else {
            NO_RUNS
        });
    } else if page.next.is_some() {
        let limit = args.limit.max(1).saturating_mul(2);
        printer.remark(&format!("and more: `--limit {limit}`\n"));
    }
    Ok(ExitStatus::Clean)
}

fn run_line(
    head: &Head,
    mark: &str,
    (id, status): (usize, usize),
    now: u64,
    palette: Palette,
) -> String {
    let summary = &head.summary;
    let known = Status::ALL
        .into_iter()
        .find(|status| status.name() == summary.status);
    let padding = " ".repeat(status.saturating_sub(summary.status.len()));
    let status = known.map_or(summary.status.clone(), |status| {
        paint_status(status, palette)
    });
    let ago = format_length(now.saturating_sub(head.updated));
    let requests = match summary.requests.as_slice() {
        [] => String::new(),
        requests => format!("  asks {}", requests.join(", ")),
    };
    let mark = if mark.is_empty() {
        String::new()
    } else {
        format!("  {}", palette.bad(mark))
    };
    let imported = summary.imported_by.as_ref();
    let imported = imported.map_or_else(String::new, |by| format!("  imported by {by}"));
    format!(
        "{:id$}  {status}{padding}  {}{requests}{imported}{mark}  {}\n",
        head.run.as_str(),
        summary.leaves.join(", "),
        palette.dim(&format!("{ago} ago"))
    )
}
