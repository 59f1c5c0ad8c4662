//! `effect`: actions to be carried out outside, and their outcomes.

use clap::Subcommand;
use serde::Serialize;
use serde_json::Value;
use statemark_runs::Key;
use statemark_runs::body::{Body, Effect, EffectStatus, Refused};
use statemark_runs::runs::ReportEffect;
use statemark_runs::state::EffectState;
use statemark_text::list::join;

use super::REPLAYED;
use crate::args::{self, RunArgs, StoreArgs, TextFormat};
use crate::failure::{CommandResult, ExitStatus};
use crate::printer::{Palette, Printer};
use crate::runs;

/// List the effects of a run, and report their outcomes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark effect list build-7 --open\n  \
                        statemark effect report build-7 build-7:4:1 intended\n  \
                        statemark effect report build-7 build-7:4:1 succeeded --detail '{\"id\": 17}'")]
pub(crate) struct EffectArgs {
    /// The subcommand
    #[command(subcommand)]
    command: EffectCommand,
}

/// A subcommand of `effect`.
#[derive(Debug, Subcommand)]
enum EffectCommand {
    List(ListArgs),
    Report(ReportArgs),
}

/// List the effects of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark effect list build-7\n  \
                        statemark effect list build-7 --open     those whose outcome is open\n  \
                        statemark effect list build-7 --json     one effect a line")]
struct ListArgs {
    /// Only those that nobody has certainly carried out
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Report the outcome of an effect.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark effect report build-7 build-7:4:1 intended        before it is carried out\n  \
                        statemark effect report build-7 build-7:4:1 succeeded\n  \
                        statemark effect report build-7 build-7:4:1 failed --detail '{\"error\": \"timeout\"}'\n\n\
                        intended     somebody is about to carry it out\n  \
                        succeeded    it was carried out\n  \
                        failed       it did nothing, and may be tried again\n  \
                        unknown      nobody knows whether it was carried out\n  \
                        compensated  it was carried out, and undone\n\n\
                        An action that its definition calls idempotent needs no report before it is carried out.\n\
                        Exit code 1: the effect can't have that outcome; the message says which it can have.")]
struct ReportArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    /// The effect, as its step names it: RUN:SEQ:NUMBER
    #[arg(value_name = "EFFECT")]
    effect: String,
    /// The outcome: intended, succeeded, failed, unknown or compensated
    #[arg(value_name = "STATUS", value_parser = args::name::<EffectStatus>)]
    status: EffectStatus,
    /// Details, as JSON
    #[arg(long, value_name = "JSON", value_parser = args::json)]
    detail: Option<Value>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    #[command(flatten)]
    store: StoreArgs,
}

impl From<&ReportArgs> for ReportEffect {
    fn from(args: &ReportArgs) -> Self {
        Self {
            key: args.effect.clone(),
            status: args.status,
            detail: args.detail.clone().unwrap_or_default(),
        }
    }
}

/// Runs a subcommand.
pub(in crate::commands) fn run(args: &EffectArgs, printer: &mut Printer) -> CommandResult {
    match &args.command {
        EffectCommand::List(args) => list(args, printer),
        EffectCommand::Report(args) => report(args, printer),
    }
}

/// An effect, as `--json` prints it.
#[derive(Serialize)]
struct EffectLine<'a> {
    key: &'a str,
    #[serde(flatten)]
    effect: &'a EffectState,
    /// True if carrying it out twice does no harm.
    idempotent: bool,
    /// True if nobody has certainly carried it out.
    open: bool,
}

fn list(args: &ListArgs, printer: &mut Printer) -> CommandResult {
    let (_, loaded) = runs::open_run(&args.run)?;
    let open = loaded.open_effects();
    let effects = loaded.state.effects.iter();
    let mut lines: Vec<EffectLine<'_>> = effects
        .map(|(key, effect)| EffectLine {
            open: open.iter().any(|open| open.key == *key),
            idempotent: loaded.is_idempotent(&effect.name),
            key,
            effect,
        })
        .filter(|line| line.open || !args.open)
        .collect();
    // Numbers of a step have no leading zeros, so the longer key is the later one.
    lines.sort_by_key(|line| (line.effect.seq, line.key.len(), line.key));
    let palette = printer.palette();
    let width = |length: fn(&EffectLine<'_>) -> usize| lines.iter().map(length).max().unwrap_or(0);
    let widths = (
        width(|line| line.key.chars().count()),
        width(|line| line.effect.name.chars().count()),
    );
    for line in &lines {
        match args.run.store.format() {
            TextFormat::Json => printer.json(line),
            TextFormat::Text => printer.result(&line.describe(widths, palette)),
        }
    }
    if lines.is_empty() && args.run.store.format() == TextFormat::Text {
        printer.remark(if args.open {
            "no open effects\n"
        } else {
            "no effects\n"
        });
    }
    Ok(ExitStatus::Clean)
}

impl EffectLine<'_> {
    fn describe(&self, (key, name): (usize, usize), palette: Palette) -> String {
        let effect = self.effect;
        let status = match effect.status {
            None => "to do".to_owned(),
            Some(status) => paint_status(status, palette),
        };
        let mut notes = Vec::new();
        if let Some(other) = &effect.compensates {
            notes.push(format!("compensates {other}"));
        }
        if effect.taken_back {
            notes.push("its step was rewound".to_owned());
        }
        let notes = match notes.is_empty() {
            true => String::new(),
            false => palette.dim(&format!("  {}", notes.join(", "))),
        };
        let event = palette.event(&format!("{:key$}", self.key));
        format!("{event}  {:name$}  {status}{notes}\n", effect.name)
    }
}

fn paint_status(status: EffectStatus, palette: Palette) -> String {
    let name = status.name();
    match status {
        EffectStatus::Succeeded => palette.good(name),
        EffectStatus::Failed => palette.bad(name),
        EffectStatus::Intended | EffectStatus::Unknown => palette.guard(name),
        EffectStatus::Compensated => name.to_owned(),
    }
}

/// The outcome of a report, as `--json` prints it.
#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
    replayed: bool,
}

fn report(args: &ReportArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let report = ReportEffect::from(args);
    let written = runs::execute(&runs, &args.run, args.key.as_ref(), &report)?;
    let mut answer = Answer {
        effect: None,
        refused: None,
        replayed: written.replayed,
    };
    for body in written.records.iter().filter_map(|it| it.read().ok()) {
        match body {
            Body::Effect(effect) => answer.effect = Some(effect),
            Body::Refused(refused) => answer.refused = Some(refused),
            _ => {}
        }
    }
    match args.store.format() {
        TextFormat::Json => printer.json(&answer),
        TextFormat::Text => answer.print(printer),
    }
    Ok(ExitStatus::clean_if(answer.refused.is_none()))
}

impl Answer {
    fn print(&self, printer: &mut Printer) {
        if self.replayed {
            printer.remark(REPLAYED);
        }
        if let Some(effect) = &self.effect {
            let status = paint_status(effect.status, printer.palette());
            printer.result(&format!("{} ({}): {status}\n", effect.name, effect.key));
        }
        if let Some(refused) = &self.refused {
            let legal = match refused.legal.as_slice() {
                [] => String::new(),
                all => format!("; it may be {}", join(all, "or")),
            };
            printer.refusal(&format!("{}{legal}", refused.reason));
        }
    }
}
