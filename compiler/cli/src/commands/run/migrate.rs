//! `replay` and `migrate`: a run is compared with a machine, or continues under it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use statemark_runs::body::{Body, Migrated, Refused};
use statemark_runs::runs::{Difference, MigrateRun, MigrationPlan, Obstacle, Replay};
use statemark_runs::{Key, Loaded, RowChanges, RunView, plan_migration, replay_run};
use statemark_text::visible;

use super::{REPLAYED, describe_run};
use crate::args::{SpecsArgs, StoreArgs, TextFormat};
use crate::failure::{CommandResult, ExitStatus};
use crate::printer::{Palette, Printer, WIDTH, count, fit};
use crate::runs::{self, Comparison};

/// Most names in a line; `--json` has all of them.
const MAX_NAMES: usize = 8;

/// Run the machine again over a journal, and compare.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark replay build-7\n  \
                        statemark replay build-7 --under build.md     what another version would have done\n\n\
                        Every step is made again from the same data at the same time; nothing is written.\n\
                        Exit code 1: the machine does something else; the first difference is shown.")]
pub(crate) struct ReplayArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    /// Replay under this machine instead of the run's own: a spec, a table, or a workflow's id
    #[arg(long, value_name = "SPEC")]
    under: Option<String>,
    #[command(flatten)]
    specs: SpecsArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// Replays a run.
pub(in crate::commands) fn replay(args: &ReplayArgs, printer: &mut Printer) -> CommandResult {
    let (runs, run, under) = match &args.under {
        None => {
            let runs = runs::open(&args.store)?;
            let run = runs::find(runs.store(), &args.run)?;
            (runs, run, None)
        }
        Some(word) => {
            let Comparison {
                runs,
                run,
                workflow,
            } = runs::open_comparison(&args.store, &args.specs, word, &args.run)?;
            (runs, run, Some(workflow))
        }
    };
    let replay = replay_run(&runs, &run, under)?;
    match args.store.format() {
        TextFormat::Json => printer.json(&replay),
        TextFormat::Text => {
            let text = describe_replay(run.as_str(), &replay, printer.palette());
            printer.result(&text);
        }
    }
    Ok(ExitStatus::clean_if(replay.difference.is_none()))
}

fn describe_replay(run: &str, replay: &Replay, palette: Palette) -> String {
    let amount =
        |number: u64, noun: &str| count(usize::try_from(number).unwrap_or(usize::MAX), noun);
    let records = amount(replay.records, "record");
    let steps = amount(replay.steps, "step");
    let run = palette.strong(run);
    match &replay.difference {
        None => {
            let same = palette.good("the same");
            format!("{run}: {same}; {records}, {steps} replayed\n")
        }
        Some(difference) => format!(
            "{run}: {} at record {}; {records} before it, {steps} replayed\n{}",
            palette.bad("different"),
            difference.seq,
            describe_difference(difference)
        ),
    }
}

fn describe_difference(difference: &Difference) -> String {
    let path = difference.path.as_ref();
    let path = path.map_or_else(String::new, |path| format!(", at `{path}`"));
    let mut text = format!("  {}{path}\n", difference.what);
    let Difference { journal, again, .. } = difference;
    for (source, value) in [("journal", journal), ("machine", again)] {
        if !(journal.is_null() && again.is_null()) {
            let value = fit(&value.to_string(), WIDTH - 12);
            text += &format!("    {source}: {value}\n");
        }
    }
    text
}

/// Continue a run under another machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark migrate build-7 --to build --dry-run          can it continue under the new spec?\n  \
                        statemark migrate build-7 --to build.md\n  \
                        statemark migrate build-7 --to build --map review=check\n\n\
                        Active states, recorded histories, timers and open approvals must be there under the same name, or\n\
                        under the one that `--map` gives. No state is entered or exited, and no action is carried out.\n\
                        An agent may migrate a run only to a spec with other texts; a person decides freely.\n\
                        Exit code 1: something has no counterpart, or needs a person; all of it is listed, and the run\n\
                        stays as it is.")]
pub(crate) struct MigrateArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    /// The machine to continue under: a spec, a table, or a workflow's id
    #[arg(long, value_name = "SPEC|WORKFLOW")]
    to: String,
    /// A state that has another name there; may be given several times
    #[arg(long = "map", value_name = "OLD=NEW", value_parser = pair)]
    states: Vec<(String, String)>,
    /// A timer that has another name there, unless its state is renamed; may be given several times
    #[arg(long = "map-timer", value_name = "OLD=NEW", value_parser = pair)]
    timers: Vec<(String, String)>,
    /// Only show what would happen
    #[arg(long)]
    dry_run: bool,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY", conflicts_with = "dry_run")]
    key: Option<Key>,
    #[command(flatten)]
    specs: SpecsArgs,
    #[command(flatten)]
    store: StoreArgs,
}

fn pair(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => {
            Ok((old.to_owned(), new.to_owned()))
        }
        _ => Err("write OLD=NEW, such as `review=check`".to_owned()),
    }
}

/// The outcome of a migration, as `--json` prints it.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    migrated: Option<Migrated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
    #[serde(skip_serializing_if = "<[Obstacle]>::is_empty")]
    obstacles: &'a [Obstacle],
    replayed: bool,
    state: &'a RunView,
}

/// Migrates a run.
pub(in crate::commands) fn migrate(args: &MigrateArgs, printer: &mut Printer) -> CommandResult {
    let Comparison {
        runs,
        run,
        workflow,
    } = runs::open_comparison(&args.store, &args.specs, &args.to, &args.run)?;
    let migrate = MigrateRun {
        workflow: Some(workflow.id().to_owned()),
        states: BTreeMap::from_iter(args.states.clone()),
        timers: BTreeMap::from_iter(args.timers.clone()),
    };
    let deed = format!("migrate run `{run}` to the workflow `{}`", workflow.id());
    let order = runs::person_order(&runs, run.clone(), args.key.as_ref(), &deed)?;
    let plan = plan_migration(&runs, &run, &migrate, order.actor.role)?;
    if args.dry_run {
        print_plan(args, &runs.load(&run)?, &plan, printer);
        return Ok(ExitStatus::clean_if(plan.obstacles.is_empty()));
    }
    let written = runs.execute(&order, &migrate)?;
    let (mut migrated, mut refused) = (None, None);
    for body in written.records.iter().filter_map(|it| it.read().ok()) {
        match body {
            Body::Migrated(body) => migrated = migrated.or(Some(body)),
            Body::Refused(body) => refused = refused.or(Some(body)),
            _ => {}
        }
    }
    let is_obstructed = |refused: &Refused| refused.code == "no_counterpart";
    let view = written.loaded.view()?;
    let answer = Answer {
        obstacles: if refused.as_ref().is_some_and(is_obstructed) {
            plan.obstacles.as_slice()
        } else {
            &[]
        },
        migrated,
        refused,
        replayed: written.replayed,
        state: &view,
    };
    match args.store.format() {
        TextFormat::Json => printer.json(&answer),
        TextFormat::Text => answer.print(runs.now(), printer),
    }
    Ok(ExitStatus::clean_if(answer.refused.is_none()))
}

impl Answer<'_> {
    fn print(&self, now: u64, printer: &mut Printer) {
        if self.replayed {
            printer.remark(REPLAYED);
        }
        match (&self.refused, self.obstacles) {
            (None, _) => {}
            (Some(refused), []) => printer.refusal(&refused.reason),
            (Some(_), obstacles) => {
                printer.refusal("it can't continue there");
                printer.remark(&describe_obstacles(obstacles));
            }
        }
        printer.result(&describe_run(self.state, now, printer.palette()));
    }
}

fn print_plan(args: &MigrateArgs, loaded: &Loaded, plan: &MigrationPlan, printer: &mut Printer) {
    if args.store.format() == TextFormat::Json {
        printer.json(plan);
        return;
    }
    printer.result(&describe_plan(loaded, plan, printer.palette()));
    if plan.obstacles.is_empty() {
        printer.remark("nothing was done; leave out `--dry-run` to do it\n");
    }
}

fn describe_plan(loaded: &Loaded, plan: &MigrationPlan, palette: Palette) -> String {
    let run = palette.strong(loaded.run.as_str());
    if !plan.obstacles.is_empty() {
        let bad = palette.bad("can't continue there:");
        return format!("{run} {bad}\n{}", describe_obstacles(&plan.obstacles));
    }
    let migrated = &plan.migrated;
    let mut text = format!("{run} {}\n", palette.good("can continue there"));
    for (kind, rows) in &plan.comparison.rows {
        text += &describe_rows(kind, rows);
    }
    let (before, after) = (loaded.state.leaves.join(", "), migrated.leaves.join(", "));
    let _ = match before == after {
        true => writeln!(text, "  stays in {after}"),
        false => writeln!(text, "  is in {after} instead of {before}"),
    };
    for (old, new) in &migrated.timers {
        let _ = writeln!(text, "  timer {old} becomes {new}");
    }
    if !migrated.context.is_empty() {
        let context = serde_json::to_string(&migrated.context).unwrap_or_default();
        let _ = writeln!(text, "  data gets {context}");
    }
    text
}

/// Describes the rows of a kind that are gone, new and changed.
fn describe_rows(kind: &str, rows: &RowChanges) -> String {
    let changes = rows.name_changes(kind);
    let changes = [
        ("gone", changes.gone),
        ("new", changes.new),
        ("changed", changes.changed),
    ];
    let mut text = String::new();
    for (change, names) in changes.iter().filter(|(_, names)| !names.is_empty()) {
        let more = names.len().saturating_sub(MAX_NAMES);
        let more = (more > 0).then(|| format!("and {more} more"));
        let names = names.iter().take(MAX_NAMES).cloned();
        let names: Vec<String> = names.chain(more).collect();
        let _ = writeln!(text, "  {kind} {change}: {}", names.join(", "));
    }
    text
}

fn describe_obstacles(obstacles: &[Obstacle]) -> String {
    let mut text = String::new();
    for obstacle in obstacles {
        let _ = writeln!(text, "  {}", visible::line(&obstacle.reason));
    }
    let has = |what: &str| obstacles.iter().any(|obstacle| obstacle.what == what);
    if has("state") || has("history") {
        text += "`--map OLD=NEW` gives the name of a state there\n";
    }
    if has("timer") {
        text += "`--map-timer OLD=NEW` gives the name of a timer there\n";
    }
    text
}
