//! `migrate`: a run goes on under another machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use statemark_runs::body::{Body, Migrated, Refused};
use statemark_runs::runs::{Migrate, MigrationPlan, Obstacle};
use statemark_runs::{Loaded, RowChanges, RunView};

use super::shown;
use crate::args::{MigrateArgs, TextFormat};
use crate::failure::{Failure, FailureKind};
use crate::palette::Palette;
use crate::printer::Printer;
use crate::runs::{self, Towards};
use crate::status::ExitStatus;

/// What `--json` prints of a migration that was tried.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    migrated: Option<&'a Migrated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    #[serde(skip_serializing_if = "<[Obstacle]>::is_empty")]
    obstacles: &'a [Obstacle],
    /// Whether the same request was answered before.
    replayed: bool,
    state: &'a RunView,
}

pub(in crate::commands) fn run(
    args: &MigrateArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let (states, timers) = (
        pairs("--map", &args.states)?,
        pairs("--map-timer", &args.timers)?,
    );
    let towards = runs::towards(&args.store, &args.specs, &args.to, &args.run)?;
    let migrate = Migrate {
        workflow: Some(towards.workflow.id().to_owned()),
        states,
        timers,
    };
    let order = runs::order_of_person(towards.run.clone(), args.key.as_deref())?;
    let role = order.actor.role;
    let plan = towards.runs.plan_migration(&towards.run, &migrate, role)?;
    if args.dry_run {
        return dry_run(args, &towards, &plan, printer);
    }
    let written = towards.runs.execute(&order, &migrate)?;
    let bodies: Vec<Body> = written
        .records
        .iter()
        .filter_map(|it| it.read().ok())
        .collect();
    let migrated = bodies.iter().find_map(|body| match body {
        Body::Migrated(migrated) => Some(migrated),
        _ => None,
    });
    let refused = bodies.iter().find_map(|body| match body {
        Body::Refused(refused) => Some(refused),
        _ => None,
    });
    let lacks = refused.is_some_and(|it| it.code == "no_counterpart");
    let obstacles = if lacks {
        plan.obstacles.as_slice()
    } else {
        &[]
    };
    let view = written.loaded.view()?;
    if args.store.format() == TextFormat::Json {
        printer.result(&shown::json(&Answer {
            migrated,
            refused,
            obstacles,
            replayed: written.replayed,
            state: &view,
        }));
    } else {
        if written.replayed {
            printer.talk("answered before, under the same key\n");
        }
        if let Some(refused) = refused {
            let bad = printer.talk_palette().bad("refused:");
            printer.talk(&match obstacles {
                [] => format!("{bad} {}\n", refused.reason),
                _ => format!("{bad} it can't go on there\n{}", in_the_way(obstacles)),
            });
        }
        printer.result(&shown::view(&view, towards.runs.now(), printer.palette()));
    }
    Ok(if refused.is_some() {
        ExitStatus::Findings
    } else {
        ExitStatus::Clean
    })
}

fn dry_run(
    args: &MigrateArgs,
    towards: &Towards,
    plan: &MigrationPlan,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let loaded = towards.runs.load(&towards.run)?;
    let is_free = plan.obstacles.is_empty();
    if args.store.format() == TextFormat::Json {
        printer.result(&shown::json(plan));
    } else {
        printer.result(&planned(&loaded, plan, printer.palette()));
        if is_free {
            printer.talk("nothing was done; the same without `--dry-run` does it\n");
        }
    }
    Ok(if is_free {
        ExitStatus::Clean
    } else {
        ExitStatus::Findings
    })
}

/// What would become of the run.
fn planned(loaded: &Loaded, plan: &MigrationPlan, palette: Palette) -> String {
    let run = palette.strong(loaded.run.as_str());
    if !plan.obstacles.is_empty() {
        let bad = palette.bad("can't go on there:");
        return format!("{run} {bad}\n{}", in_the_way(&plan.obstacles));
    }
    let migrated = &plan.migrated;
    let mut text = format!("{run} {}\n", palette.good("can go on there"));
    for (kind, rows) in &plan.comparison.rows {
        text += &differences(kind, rows);
    }
    let (before, after) = (loaded.state.leaves.join(", "), migrated.leaves.join(", "));
    let _ = match before == after {
        true => writeln!(text, "  stays in {after}"),
        false => writeln!(text, "  is in {after} instead of {before}"),
    };
    for (old, new) in &migrated.timers {
        let _ = writeln!(text, "  timer {old} is {new}");
    }
    if !migrated.context.is_empty() {
        let data = shown::json(&migrated.context);
        let _ = writeln!(text, "  data gets {}", data.trim_end());
    }
    text
}

/// Most names that a line has; as JSON there are all of them.
const MOST_NAMED: usize = 8;

/// What of a kind is gone, new and changed, by names.
fn differences(kind: &str, rows: &RowChanges) -> String {
    let fates = rows.name_changes(kind);
    let fates = [
        ("gone", fates.gone),
        ("new", fates.new),
        ("changed", fates.changed),
    ];
    let mut text = String::new();
    for (fate, names) in fates.iter().filter(|(_, names)| !names.is_empty()) {
        let more = names.len().saturating_sub(MOST_NAMED);
        let shown = names.iter().take(MOST_NAMED).cloned();
        let more = (more > 0).then(|| format!("and {more} more"));
        let shown: Vec<String> = shown.chain(more).collect();
        let _ = writeln!(text, "  {kind} {fate}: {}", shown.join(", "));
    }
    text
}

fn in_the_way(obstacles: &[Obstacle]) -> String {
    let mut text = String::new();
    for obstacle in obstacles {
        let _ = writeln!(text, "  {}", obstacle.reason);
    }
    let has = |what: &str| obstacles.iter().any(|it| it.what == what);
    if has("state") || has("history") {
        text += "`--map OLD=NEW` says what a state is called there\n";
    }
    if has("timer") {
        text += "`--map-timer OLD=NEW` says what a timer is called there\n";
    }
    text
}

/// Names and what they are there.
fn pairs(name: &'static str, words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |word: &String| match word.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => {
            Ok((old.to_owned(), new.to_owned()))
        }
        _ => Err(FailureKind::BadWord {
            name,
            word: word.clone(),
            words: "OLD=NEW, such as `review=check`".to_owned(),
        }
        .into()),
    };
    words.iter().map(pair).collect()
}
