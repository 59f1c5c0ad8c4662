//! `fork`: a run that shares another's journal.

use std::fmt::Write as _;

use statemark_runs::RunId;
use statemark_runs::runs::{Fork, ForkPlan};

use super::{files, shown};
use crate::args::{ForkArgs, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &ForkArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let input = runs::json("--input", args.input.as_deref())?;
    let all = runs::open(&args.store)?;
    let other = runs::load(&all, &args.run)?;
    let fork = Fork {
        reset: args.reset.clone(),
        input: input.unwrap_or_default(),
        drop_artifacts: args.drop_artifacts,
        restore_workspace: args.restore_workspace,
        ..Fork::new(other.run.clone(), args.at)
    };
    let format = args.store.format();
    if args.dry_run {
        let plan = all.plan_fork(&fork)?;
        printer.result(&match format {
            TextFormat::Json => shown::json(&plan),
            TextFormat::Text => planned(&plan),
        });
        if format == TextFormat::Text {
            printer.talk("nothing was done; the same without `--dry-run` does it\n");
        }
        return Ok(ExitStatus::Clean);
    }
    let workflow = &other.state.workflow;
    let mut begun: Option<RunId> = None;
    let written = runs::begin(args.run_id.as_deref(), workflow, None, |order| {
        begun = Some(order.run.clone());
        all.execute(order, &fork)
    });
    if let (Err(_), Some(run)) = (&written, &begun)
        && let Ok(loaded) = all.load(run)
        && loaded.state.restoring.is_some()
    {
        printer.talk(&format!(
            "{run} has begun, and its files aren't back yet; `statemark checkpoint restore {run} --finish` goes on\n"
        ));
    }
    let written = written?;
    if let Some((_, at)) = written
        .loaded
        .head
        .forked
        .as_ref()
        .filter(|it| it.1 != args.at)
    {
        printer.talk(&format!("begins with {} up to record {at}\n", other.run));
    }
    let view = written.loaded.view()?;
    printer.result(&match format {
        TextFormat::Json => shown::json(&view),
        TextFormat::Text => shown::view(&view, all.now(), printer.palette()),
    });
    Ok(ExitStatus::Clean)
}

/// What the new run would begin with.
fn planned(plan: &ForkPlan) -> String {
    let leaves = plan.leaves.join(", ");
    let mut text = format!(
        "a run like {} up to record {}: {leaves}\n",
        plan.from, plan.at
    );
    let mut line = |what: &str, items: Vec<String>| {
        if !items.is_empty() {
            let _ = writeln!(text, "  {what}: {}", items.join(", "));
        }
    };
    let artifacts = plan.artifacts.iter();
    let artifacts = artifacts.map(|(name, revision)| format!("{name} (revision {revision})"));
    line("artifacts", artifacts.collect());
    line("asked again", plan.requests.clone());
    let timers = plan.timers.iter();
    let timers = timers.map(|it| format!("{} at {}", it.name, runs::time(it.due)));
    line("timers", timers.collect());
    text + &files::told(plan.checkpoint.as_deref(), plan.files.as_ref())
}
