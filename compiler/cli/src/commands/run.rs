//! The commands about runs, and how they print a run.

pub(super) mod artifacts;
pub(super) mod check;
pub(super) mod checkpoint;
pub(super) mod control;
pub(super) mod effect;
pub(super) mod emit;
pub(super) mod events;
pub(super) mod history;
pub(super) mod migrate;
mod migrate_all;
pub(super) mod report;
pub(super) mod requests;
pub(super) mod rewind;
pub(super) mod session;
pub(super) mod state;
pub(super) mod transcript;

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use statemark_runs::body::{Event, Opened, Refused, StepStatus, Subject};
use statemark_runs::state::WaitingFor;
use statemark_runs::{
    Body, Fact, FileChanges, Legal, Loaded, PendingTimer, Remedy, RunView, Runs, Status, Written,
};
use statemark_text::visible;

use crate::args::{StoreArgs, TextFormat};
use crate::caller;
use crate::clock::format_length;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::quoted::{brief, shorten_blanks};
use crate::printer::{Palette, Printer, WIDTH, first_line, fit};

/// The remark of an answer that was given before.
const REPLAYED: &str = "answered before, under the same key\n";

/// The outcome of an order, as `--json` prints it.
#[derive(Serialize)]
struct Outcome<'a> {
    /// The event that was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<&'a Event>,
    /// The request that was opened, where nothing was taken.
    #[serde(rename = "asked", skip_serializing_if = "Option::is_none")]
    opened: Option<&'a Opened>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    /// The fields of the event's data that didn't become fields of the context.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_merged: Vec<String>,
    /// True if the order was answered before, under the same key.
    replayed: bool,
    state: &'a RunView,
}

/// Prints the outcome of an order, and the run as it is now. A refusal comes first.
fn print_outcome<T>(
    written: &Written<T>,
    runs: &Runs,
    store: &StoreArgs,
    printer: &mut Printer,
) -> CommandResult {
    let (mut taken, mut opened, mut refused) = (None, None, None);
    for record in &written.records {
        match record.read() {
            Ok(Body::Event(body)) => taken = taken.or(Some(body)),
            Ok(Body::Opened(body)) => opened = opened.or(Some(body)),
            Ok(Body::Refused(body)) => refused = refused.or(Some(body)),
            _ => {}
        }
    }
    let view = written.loaded.view()?;
    let workflow = &written.loaded.workflow;
    // Other refusals don't depend on what the data has set.
    let is_ignored = refused.as_ref().is_some_and(|it| it.code == "not_taken");
    let sent = match (&taken, refused.as_ref().map(|it| &it.subject)) {
        (Some(event), _) => Some((&event.event, &event.data)),
        (None, Some(Subject::Event { name, data })) if is_ignored => Some((name, data)),
        (None, _) => None,
    };
    let unmerged =
        |(name, data): (&String, &Option<Value>)| workflow.unmerged_fields(name, data.as_ref());
    let outcome = Outcome {
        taken: taken.as_ref(),
        opened: opened.as_ref().filter(|_| taken.is_none()),
        refused: refused.as_ref(),
        not_merged: sent.map_or_else(Vec::new, unmerged),
        replayed: written.replayed,
        state: &view,
    };
    match store.format() {
        TextFormat::Json => printer.json(&outcome),
        TextFormat::Text => {
            outcome.print(&written.loaded, runs, printer)?;
            printer.result(&describe_run(&view, runs.now(), printer.palette()));
        }
    }
    Ok(ExitStatus::clean_if(refused.is_none()))
}

impl Outcome<'_> {
    /// Prints what the run as it is doesn't show.
    fn print(&self, loaded: &Loaded, runs: &Runs, printer: &mut Printer) -> Result<(), Failure> {
        if self.replayed {
            printer.remark(REPLAYED);
        }
        if let Some(refused) = self.refused {
            printer.refusal(&refused.reason);
            if refused.code == "not_a_person" {
                printer.help(caller::describe_way_to_person(runs)?);
            } else if let Some(remedy) = refused_remedy(refused, loaded) {
                printer.help(&describe_remedy(&remedy, loaded, runs.now()));
            }
        }
        if let Some(opened) = self.opened.filter(|opened| opened.event.is_some()) {
            let (request, prompt) = (&opened.request, &opened.prompt);
            let prompt = visible::line(prompt);
            printer.remark(&format!("waiting for approval {request}: {prompt}\n"));
        }
        for field in &self.not_merged {
            printer.remark(&format!(
                "`{field}` of the data isn't merged into the context: guards and actions read it as `event.{field}`\n"
            ));
        }
        for effect in self.taken.iter().flat_map(|event| &event.step.effects) {
            printer.result(&format!("to do: {} ({})\n", effect.name, effect.key));
        }
        Ok(())
    }
}

/// Returns the remedy for a refused event.
///
/// Another event is none: the run's view has those, but not what to claim.
fn refused_remedy(refused: &Refused, loaded: &Loaded) -> Option<Remedy> {
    let remedy = match refused.subject {
        Subject::Event { .. } => refused.remedy(loaded),
        _ => None,
    };
    remedy.filter(|remedy| !matches!(remedy, Remedy::Send { claims, .. } if claims.is_empty()))
}

/// Describes a remedy: the command that a user types, or the time until it comes on its own.
fn describe_remedy(remedy: &Remedy, loaded: &Loaded, now: u64) -> String {
    let commands = remedy.as_commands(&loaded.run, loaded.workflow.id());
    match (remedy, commands.as_slice()) {
        (Remedy::Wait { until }, []) if *until > now => {
            format!("in {}", format_length(until - now))
        }
        (_, []) => "now".to_owned(),
        (_, commands) => visible::line(&format!("`{}`", commands.join("` or `"))).into_owned(),
    }
}

/// Prints a run.
fn print_run(
    loaded: &Loaded,
    now: u64,
    store: &StoreArgs,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let view = loaded.view()?;
    match store.format() {
        TextFormat::Json => printer.json(&view),
        TextFormat::Text => printer.result(&describe_run(&view, now, printer.palette())),
    }
    Ok(())
}

/// Describes a run.
pub(super) fn describe_run(view: &RunView, now: u64, palette: Palette) -> String {
    let mut text = format!(
        "{} ({}{}): {}",
        palette.strong(view.run.as_str()),
        view.workflow,
        if view.unreviewed { ", unreviewed" } else { "" },
        paint_status(view.status, palette)
    );
    if let Some(reason) = &view.reason {
        let _ = write!(text, ", {}", shorten_blanks(&visible::line(reason)));
    }
    text.push('\n');
    if let Some(title) = &view.title {
        let _ = writeln!(text, "{}", brief(title));
    }
    if let Some(by) = &view.imported_by {
        let _ = writeln!(
            text,
            "imported by {}: what it did before was in another store",
            brief(by)
        );
    }
    describe_states(&mut text, view, now, palette);
    if !view.context.is_empty() {
        let context = json!(view.context).to_string();
        let _ = writeln!(text, "data {}", fit(&context, WIDTH - 5));
    }
    for request in &view.requests {
        let id = palette.event(&request.request);
        let left = request.expires.map_or_else(String::new, |expires| {
            palette.dim(&format!("  ({})", time_left(expires, now)))
        });
        let prompt = visible::line(&request.prompt);
        let _ = writeln!(text, "asks {id}: {prompt}{left}");
    }
    for waiting in &view.waiting_for {
        let _ = match waiting {
            WaitingFor::Child { run } => writeln!(text, "waits for child run {run}"),
            WaitingFor::Workflow { workflow, step } => writeln!(
                text,
                "waits for a run of {workflow}, which {step} invokes and of which no spec has an accepted definition yet"
            ),
            WaitingFor::Approval { .. } | WaitingFor::Question { .. } | WaitingFor::Step { .. } => {
                Ok(())
            }
        };
    }
    // Requests have their times already.
    let is_request = |timer: &&PendingTimer| timer.name.starts_with("request:");
    for timer in view.timers.iter().filter(|timer| !is_request(timer)) {
        let left = match timer.due.checked_sub(now) {
            Some(0) | None => "due".to_owned(),
            Some(left) => format!("in {}", format_length(left)),
        };
        let name = timer.name.split_once(':').map_or("", |(_, name)| name);
        let _ = writeln!(text, "timer {name} {left}");
    }
    text + &describe_next(&view.next, palette)
}

/// Describes the active states and the steps of a run.
fn describe_states(text: &mut String, view: &RunView, now: u64, palette: Palette) {
    for active in &view.active {
        let since = format_length(now.saturating_sub(active.since));
        let visits = match active.visits {
            0 | 1 => String::new(),
            visits => format!(", visit {visits}"),
        };
        let state = palette.strong(&active.state);
        let since = palette.dim(&format!("  for {since}{visits}"));
        let _ = writeln!(text, "in {state}{since}");
        let first = active.instructions.as_deref().and_then(first_line);
        if let Some(line) = first {
            let _ = writeln!(text, "   {}", fit(&line, WIDTH - 3));
        }
    }
    let (unbegun, begun): (Vec<_>, Vec<_>) = view
        .steps
        .iter()
        .partition(|step| step.unit.is_none() && step.status == StepStatus::NotStarted);
    for step in begun {
        let unit = step.unit.as_ref();
        let unit = unit.map(|unit| format!(" ({unit})")).unwrap_or_default();
        let message = step.message.as_ref();
        let message = message.map(|text| format!(": {text}")).unwrap_or_default();
        let status = step.status.name().replace('_', " ");
        let aside = if step.detached { ", beside" } else { "" };
        let line = format!("step {}{unit} {status}{aside}{message}", step.step);
        let _ = writeln!(text, "{}", visible::line(&line));
    }
    let unbegun: Vec<&str> = unbegun.iter().map(|step| step.step.as_str()).collect();
    if !unbegun.is_empty() {
        let steps = fit(&unbegun.join(", "), WIDTH - 18);
        let _ = writeln!(text, "steps not started: {steps}");
    }
}

/// Describes how long a request can still be answered.
fn time_left(expires: u64, now: u64) -> String {
    match expires.checked_sub(now) {
        Some(0) | None => "expired".to_owned(),
        Some(left) => format!("for {} more", format_length(left)),
    }
}

/// Describes the transitions that could come next.
fn describe_next(legal: &[Legal], palette: Palette) -> String {
    let mut text = String::new();
    let width = legal.iter().map(|legal| legal.event.chars().count());
    let width = width.max().unwrap_or(0);
    for legal in legal {
        let name = palette.event(&format!("{:width$}", legal.event));
        let to = match legal.to.as_slice() {
            [] => "stays".to_owned(),
            targets => format!("→ {}", targets.join(", ")),
        };
        let remark = match (legal.enabled, legal.holds, &legal.held_by) {
            (_, _, Some(held)) => format!("  not now: {}", held.reason),
            (true, _, None) if legal.requires_approval => "  needs approval".to_owned(),
            (true, _, None) => String::new(),
            (false, true, None) if !legal.lacks.is_empty() => {
                format!("  not now: it requires {}", legal.lacks.join(", "))
            }
            (false, true, None) => "  another comes first".to_owned(),
            (false, false, None) => format!("  not now: {}", describe_facts(&legal.facts)),
        };
        let remark = palette.dim(&visible::line(&remark));
        let _ = writeln!(text, "  {name}  {to}{remark}");
    }
    text
}

/// Describes the facts that a false guard has read.
fn describe_facts(facts: &[Fact]) -> String {
    if facts.is_empty() {
        return "its guard is false".to_owned();
    }
    let facts = facts.iter().map(|fact| match &fact.value {
        Some(value) => format!("{} is {value}", fact.field),
        None => format!("{} is absent", fact.field),
    });
    facts.collect::<Vec<_>>().join(", ")
}

/// Paints a status in its color.
pub(super) fn paint_status(status: Status, palette: Palette) -> String {
    let name = status.name();
    match status {
        Status::Completed => palette.good(name),
        Status::Failed | Status::Cancelled => palette.bad(name),
        Status::Waiting | Status::Paused => palette.guard(name),
        Status::Running => name.to_owned(),
    }
}

/// Paints a step's status in its color, in a column.
pub(super) fn paint_step(status: StepStatus, palette: Palette) -> String {
    let name = format!("{:11}", status.name().replace('_', " "));
    match status {
        StepStatus::Completed => palette.good(&name),
        StepStatus::Failed => palette.bad(&name),
        StepStatus::Waiting => palette.guard(&name),
        StepStatus::Running => palette.strong(&name),
        _ => palette.dim(&name),
    }
}

/// Describes how files would change by a restore.
fn describe_file_changes(checkpoint: Option<&str>, changes: Option<&FileChanges>) -> String {
    let mut text = String::new();
    if let Some(name) = checkpoint {
        let _ = writeln!(text, "  files back to checkpoint: {name}");
    }
    let Some(changes) = changes else {
        return text;
    };
    if changes.files.is_empty() {
        text += "    no file changes\n";
    }
    for file in &changes.files {
        let _ = writeln!(text, "    {:8} {}", file.fate.name(), file.path);
    }
    let more = changes.more();
    if more > 0 {
        let (added, changed, deleted) = (changes.added, changes.changed, changes.deleted);
        let _ = writeln!(
            text,
            "    and {more} more: {added} added, {changed} changed, {deleted} deleted in all"
        );
    }
    text
}
