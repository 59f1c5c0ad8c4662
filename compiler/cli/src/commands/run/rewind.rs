//! `rewind`: what came after a record is taken back, after a look at what that is.

use std::fmt::Write as _;

use statemark_runs::body::{EffectStatus, Scope};
use statemark_runs::runs::{Rewind, RewindPlan};

use super::{files, outcome, shown};
use crate::args::{RewindArgs, ScopeArg, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &RewindArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let run = runs::current(&all, &args.run)?;
    let rewind = Rewind {
        scope: match args.scope {
            ScopeArg::State => Scope::State,
            ScopeArg::Workspace => Scope::Workspace,
            ScopeArg::Both => Scope::Both,
        },
        token: args.token.clone(),
        force: args.force,
        reason: args.reason.clone(),
        ..Rewind::to(args.to)
    };
    let format = args.store.format();
    if rewind.token.is_none() {
        let plan = all.plan_rewind(&run, &rewind)?;
        printer.result(&match format {
            TextFormat::Json => shown::json(&plan),
            TextFormat::Text => planned(&plan),
        });
        if format == TextFormat::Text {
            printer.talk(&format!(
                "nothing was done; the same with `--token {}` does it\n",
                plan.token
            ));
        }
        return Ok(ExitStatus::Clean);
    }
    let written = all.execute(&runs::order_of_person(run, None)?, &rewind)?;
    outcome::show(&written, &all, &args.store, printer)
}

/// What would be undone.
fn planned(plan: &RewindPlan) -> String {
    let mut text = format!(
        "back from record {} to {}: {} → {}\n",
        plan.at,
        plan.to,
        plan.leaves.join(", "),
        plan.leaves_then.join(", ")
    );
    let mut line = |what: &str, items: Vec<String>| {
        if !items.is_empty() {
            let _ = writeln!(text, "  {what}: {}", items.join(", "));
        }
    };
    let records = plan.records.iter();
    line(
        "records",
        records
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect(),
    );
    let events = plan.events.iter();
    line(
        "events",
        events
            .map(|(seq, event)| format!("{event} ({seq})"))
            .collect(),
    );
    let artifacts = plan.artifacts.iter();
    let artifacts = artifacts.map(|(name, revision)| format!("{name} (revision {revision})"));
    line("artifacts", artifacts.collect());
    let decided = plan.decided.iter();
    line(
        "decided",
        decided
            .map(|(id, how)| format!("{id} {}", how.name()))
            .collect(),
    );
    line("asked", plan.opened.clone());
    let persons = plan.persons.iter();
    line(
        "only a person takes back",
        persons
            .map(|(seq, told)| format!("{told} ({seq})"))
            .collect(),
    );
    line("effects without a report", plan.unreported.clone());
    let timers = plan.timers.iter();
    line(
        "timers then",
        timers
            .map(|it| format!("{} at {}", it.name, runs::time(it.due)))
            .collect(),
    );
    line("children that are given up", plan.children.clone());
    line("children that begin again", plan.children_again.clone());
    for effect in &plan.effects {
        let then = match (&effect.compensation, effect.blocks) {
            (Some(action), false) => format!("taken back by {action}"),
            (None, false) => "hasn't left".to_owned(),
            (_, true) if effect.status == EffectStatus::Succeeded => {
                "has left, and nothing takes it back: needs --force".to_owned()
            }
            (_, true) => format!(
                "is {}, and may have left: report on it, or --force leaves it behind",
                effect.status.name()
            ),
        };
        let _ = writeln!(text, "  effect {} ({}): {then}", effect.name, effect.key);
    }
    text + &files::told(plan.checkpoint.as_deref(), plan.files.as_ref())
}
