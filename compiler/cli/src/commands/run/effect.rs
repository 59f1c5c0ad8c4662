//! `effect`: what a run has to do in the world, and what became of it.

use serde::Serialize;
use statemark_runs::body::{Body, Effect, EffectStatus, Refused};
use statemark_runs::runs::ReportEffect;
use statemark_runs::state::EffectState;

use super::shown;
use crate::args::{EffectArgs, EffectWhat, EffectsArgs, ReportArgs, TextFormat};
use crate::failure::Failure;
use crate::palette::Palette;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &EffectArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    match &args.what {
        EffectWhat::List(args) => list(args, printer),
        EffectWhat::Report(args) => report(args, printer),
    }
}

/// An effect as programs read it.
#[derive(Serialize)]
struct Line<'a> {
    key: &'a str,
    #[serde(flatten)]
    effect: &'a EffectState,
    /// Whether doing it twice does no harm.
    idempotent: bool,
    /// Whether nobody has carried it out for certain.
    open: bool,
}

fn list(args: &EffectsArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let loaded = runs::load(&all, &args.run)?;
    let open = loaded.open_effects();
    let is_open = |key: &str| open.iter().any(|it| it.key == key);
    let effects = loaded.state.effects.iter();
    let mut lines: Vec<Line<'_>> = effects
        .map(|(key, effect)| Line {
            open: is_open(key),
            idempotent: loaded.is_idempotent(&effect.name),
            key,
            effect,
        })
        .filter(|line| line.open || !args.open)
        .collect();
    // Numbers of a step have no leading zeros, so that the longer key is the later one.
    lines.sort_by_key(|it| (it.effect.seq, it.key.len(), it.key));
    let palette = printer.palette();
    let width = |of: fn(&Line<'_>) -> usize| lines.iter().map(of).max().unwrap_or(0);
    let widths = (
        width(|it| it.key.chars().count()),
        width(|it| it.effect.name.chars().count()),
    );
    for line in &lines {
        printer.result(&match args.store.format() {
            TextFormat::Json => shown::json(line),
            TextFormat::Text => told(line, widths, palette),
        });
    }
    if lines.is_empty() && args.store.format() == TextFormat::Text {
        printer.talk(if args.open {
            "no effect is open\n"
        } else {
            "no effects\n"
        });
    }
    Ok(ExitStatus::Clean)
}

fn told(line: &Line<'_>, (key, name): (usize, usize), palette: Palette) -> String {
    let Line { effect, .. } = line;
    let status = match effect.status {
        None => "to do".to_owned(),
        Some(status) => painted(status, palette),
    };
    let mut notes = Vec::new();
    if let Some(other) = &effect.compensates {
        notes.push(format!("takes back {other}"));
    }
    if effect.taken_back {
        notes.push("its step was taken back".to_owned());
    }
    let notes = match notes.is_empty() {
        true => String::new(),
        false => palette.dim(&format!("  {}", notes.join(", "))),
    };
    let event = palette.event(&format!("{:key$}", line.key));
    format!("{event}  {:name$}  {status}{notes}\n", effect.name)
}

fn painted(status: EffectStatus, palette: Palette) -> String {
    let name = status.name();
    match status {
        EffectStatus::Succeeded => palette.good(name),
        EffectStatus::Failed => palette.bad(name),
        EffectStatus::Intended | EffectStatus::Unknown => palette.guard(name),
        EffectStatus::Compensated => name.to_owned(),
    }
}

/// What `--json` prints of a report.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'a Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    /// Whether the same report was answered before.
    replayed: bool,
}

fn report(args: &ReportArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let detail = runs::json("--detail", args.detail.as_deref())?;
    let all = runs::open(&args.store)?;
    let run = runs::current(&all, &args.run)?;
    let report = ReportEffect {
        key: args.effect.clone(),
        status: args.status.into(),
        detail: detail.unwrap_or_default(),
    };
    let written = all.execute(&runs::order(run, args.key.as_deref())?, &report)?;
    let (mut effect, mut refused) = (None, None);
    for body in written.records.iter().filter_map(|it| it.read().ok()) {
        match body {
            Body::Effect(it) => effect = Some(it),
            Body::Refused(it) => refused = Some(it),
            _ => {}
        }
    }
    if args.store.format() == TextFormat::Json {
        printer.result(&shown::json(&Answer {
            effect: effect.as_ref(),
            refused: refused.as_ref(),
            replayed: written.replayed,
        }));
    } else {
        if written.replayed {
            printer.talk("answered before, under the same key\n");
        }
        if let Some(Effect {
            key, name, status, ..
        }) = &effect
        {
            let status = painted(*status, printer.palette());
            printer.result(&format!("{name} ({key}): {status}\n"));
        }
        if let Some(refused) = &refused {
            let bad = printer.talk_palette().bad("refused:");
            let legal = match refused.legal.as_slice() {
                [] => String::new(),
                [only] => format!("; it may be {only}"),
                [all @ .., last] => format!("; it may be {} or {last}", all.join(", ")),
            };
            printer.talk(&format!("{bad} {}{legal}\n", refused.reason));
        }
    }
    Ok(match refused {
        None => ExitStatus::Clean,
        Some(_) => ExitStatus::Findings,
    })
}
