//! `fork` and `rewind`: a run goes on from an earlier record, as another run or as itself.

use std::fmt::Write as _;

use serde_json::Value;
use statemark_runs::body::{EffectStatus, Scope};
use statemark_runs::runs::{ForkPlan, ForkRun, RewindPlan, RewindRun};
use statemark_runs::{PendingTimer, RunId, plan_fork, plan_rewind, shell_word};
use statemark_text::visible;

use super::{describe_file_changes, print_outcome, print_run};
use crate::args::{self, RunArgs, TextFormat};
use crate::clock::format_time;
use crate::failure::{CommandResult, ExitStatus};
use crate::printer::Printer;
use crate::runs;

/// Begin a run that shares another's journal up to a record.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark fork build-7 --at 12\n  \
                        statemark fork build-7 --at 12 --run-id try-2 --input '{\"retries\": 0}'\n  \
                        statemark fork build-7 --at 12 --reset review    as it was before `review` was last entered\n  \
                        statemark fork build-7 --at 12 --restore-workspace --dry-run    which files would change\n\n\
                        The other run stays as it is. Overwritten files are saved first.")]
pub(crate) struct ForkArgs {
    /// The last record that both runs share
    #[arg(long, value_name = "SEQ")]
    at: u64,
    /// States to begin before: the fork begins before the first of them was entered
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    reset: Vec<String>,
    /// The new run's id; by default, one is made up
    #[arg(long, value_name = "RUN")]
    run_id: Option<RunId>,
    /// JSON object that is merged into the new run's data
    #[arg(long, value_name = "JSON", value_parser = args::json)]
    input: Option<Value>,
    /// Begin without artifacts
    #[arg(long)]
    drop_artifacts: bool,
    /// Restore the files to the checkpoint that has them as they were then
    #[arg(long)]
    restore_workspace: bool,
    /// Only show how the new run would begin
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Forks a run.
pub(in crate::commands) fn fork(args: &ForkArgs, printer: &mut Printer) -> CommandResult {
    let (runs, other) = runs::open_run(&args.run)?;
    let fork = ForkRun {
        reset: args.reset.clone(),
        input: args.input.clone().unwrap_or_default(),
        drop_artifacts: args.drop_artifacts,
        restore_workspace: args.restore_workspace,
        ..ForkRun::new(other.run.clone(), args.at)
    };
    if args.dry_run {
        let plan = plan_fork(&runs, &fork)?;
        match args.run.store.format() {
            TextFormat::Json => printer.json(&plan),
            TextFormat::Text => {
                printer.result(&describe_fork(&plan));
                printer.remark("nothing was done; leave out `--dry-run` to do it\n");
            }
        }
        return Ok(ExitStatus::Clean);
    }
    let workflow = &other.state.workflow;
    let mut begun: Option<RunId> = None;
    let written = runs::begin(&runs, args.run_id.as_ref(), workflow, None, |order| {
        begun = Some(order.run.clone());
        runs.execute(order, &fork)
    });
    if let (Err(_), Some(run)) = (&written, &begun)
        && let Ok(loaded) = runs.load(run)
        && loaded.state.restoring.is_some()
    {
        printer.remark(&format!(
            "{run} has begun, but its files aren't restored yet; `statemark checkpoint restore {} --finish` finishes it\n",
            shell_word(run.as_str())
        ));
    }
    let written = written?;
    let decided = written.forked().map(|it| it.decided.as_slice());
    if let Some(decided @ [_, ..]) = decided {
        let (run, decided) = (&other.run, visible::line(&decided.join(", ")).into_owned());
        printer.remark(&format!(
            "nobody is asked again what was decided in {run}: {decided}; fork at an earlier record to decide anew\n"
        ));
    }
    let loaded = written.loaded;
    let forked = loaded.head.forked.as_ref();
    if let Some((_, at)) = forked.filter(|(_, at)| *at != args.at) {
        printer.remark(&format!("begins with {} up to record {at}\n", other.run));
    }
    print_run(&loaded, runs.now(), &args.run.store, printer)?;
    Ok(ExitStatus::Clean)
}

fn describe_fork(plan: &ForkPlan) -> String {
    let leaves = plan.leaves.join(", ");
    let mut text = format!(
        "a run like {} up to record {}: {leaves}\n",
        plan.from, plan.at
    );
    list_line(&mut text, "decided already", plan.decided.iter().cloned());
    let artifacts = plan.artifacts.iter();
    let artifacts = artifacts.map(|(name, revision)| format!("{name} (revision {revision})"));
    list_line(&mut text, "artifacts", artifacts);
    list_line(
        &mut text,
        "requests, asked again",
        plan.requests.iter().cloned(),
    );
    list_line(&mut text, "timers", plan.timers.iter().map(describe_timer));
    text + &describe_file_changes(plan.checkpoint.as_deref(), plan.files.as_ref())
}

/// Adds a line with items, if there are any.
fn list_line(text: &mut String, label: &str, items: impl IntoIterator<Item = String>) {
    let items: Vec<String> = items.into_iter().collect();
    if !items.is_empty() {
        let _ = writeln!(text, "  {label}: {}", visible::line(&items.join(", ")));
    }
}

fn describe_timer(timer: &PendingTimer) -> String {
    format!("{} at {}", timer.name, format_time(timer.due))
}

/// Rewind a run to a record.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark rewind build-7 --to 12                    shows what it would undo, and a token\n  \
                        statemark rewind build-7 --to 12 --token 5f0c…      does it\n\n\
                        Nothing is deleted: the journal keeps the rewound records, and the rewind itself.")]
pub(crate) struct RewindArgs {
    /// The last record to keep
    #[arg(long, value_name = "SEQ")]
    to: u64,
    /// What is rewound: state, workspace or both
    #[arg(long, value_name = "SCOPE", default_value = "state", value_parser = args::name::<Scope>)]
    scope: Scope,
    /// The token of the dry run; without it, this is the dry run
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Abandon effects that nothing compensates; the journal keeps them
    #[arg(long, requires = "token")]
    force: bool,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    run: RunArgs,
}

impl From<&RewindArgs> for RewindRun {
    fn from(args: &RewindArgs) -> Self {
        Self {
            scope: args.scope,
            token: args.token.clone(),
            force: args.force,
            reason: args.reason.clone(),
            ..Self::to(args.to)
        }
    }
}

/// Rewinds a run, after a dry run.
pub(in crate::commands) fn rewind(args: &RewindArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.run.store)?;
    let rewind = RewindRun::from(args);
    if rewind.token.is_some() {
        let written = runs::execute_as_person(&runs, &args.run.id, "rewind", (None, &rewind))?;
        return print_outcome(&written, &runs, &args.run.store, printer);
    }
    let run = runs::load(&runs, &args.run.id)?.run;
    let plan = plan_rewind(&runs, &run, &rewind)?;
    match args.run.store.format() {
        TextFormat::Json => printer.json(&plan),
        TextFormat::Text => {
            printer.result(&describe_rewind(&plan));
            let token = &plan.token;
            printer.remark(&format!(
                "nothing was done; add `--token {token}` to do it\n"
            ));
        }
    }
    Ok(ExitStatus::Clean)
}

fn describe_rewind(plan: &RewindPlan) -> String {
    let mut text = format!(
        "back from record {} to {}: {} → {}\n",
        plan.at,
        plan.to,
        plan.leaves.join(", "),
        plan.leaves_then.join(", ")
    );
    let records = plan.records.iter();
    let records = records.map(|(kind, count)| format!("{count} {kind}"));
    list_line(&mut text, "records", records);
    let events = plan.events.iter();
    let events = events.map(|(seq, event)| format!("{event} ({seq})"));
    list_line(&mut text, "events", events);
    let artifacts = plan.artifacts.iter();
    let artifacts = artifacts.map(|(name, revision)| format!("{name} (revision {revision})"));
    list_line(&mut text, "artifacts", artifacts);
    let decided = plan.decided.iter();
    let decided = decided.map(|(id, decision)| format!("{id} {}", decision.name()));
    list_line(&mut text, "decided", decided);
    list_line(&mut text, "requests", plan.opened.iter().cloned());
    let persons = plan.persons.iter();
    let persons = persons.map(|(seq, summary)| format!("{summary} ({seq})"));
    list_line(&mut text, "only a person may undo", persons);
    let unreported = plan.unreported.iter().cloned();
    list_line(&mut text, "effects without a report", unreported);
    let timers = plan.timers.iter().map(describe_timer);
    list_line(&mut text, "timers then", timers);
    list_line(
        &mut text,
        "cancelled children",
        plan.children.iter().cloned(),
    );
    let again = plan.children_again.iter().cloned();
    list_line(&mut text, "restarted children", again);
    for effect in &plan.effects {
        let fate = match (&effect.compensation, effect.blocks) {
            (Some(action), false) => format!("compensated by {action}"),
            (None, false) => "wasn't carried out".to_owned(),
            (_, true) if effect.status == EffectStatus::Succeeded => {
                "was carried out, and nothing compensates it: needs --force".to_owned()
            }
            (_, true) => format!(
                "is {}, and may have been carried out: report its outcome, or abandon it with --force",
                effect.status.name()
            ),
        };
        let _ = writeln!(text, "  effect {} ({}): {fate}", effect.name, effect.key);
    }
    text + &describe_file_changes(plan.checkpoint.as_deref(), plan.files.as_ref())
}
