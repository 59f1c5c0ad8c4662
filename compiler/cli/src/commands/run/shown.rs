//! A run as a person reads it.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;
use statemark_runs::state::WaitingFor;
use statemark_runs::{Fact, Legal, PendingTimer, RunView, Status};

use crate::lines::{WIDTH, cut, first_line};
use crate::palette::Palette;
use crate::runs::length;

/// An answer as programs read it: one line.
pub(in crate::commands) fn json(answer: &impl Serialize) -> String {
    format!("{}\n", serde_json::to_string(answer).unwrap_or_default())
}

/// A run, as it is now.
pub(super) fn view(view: &RunView, now: u64, palette: Palette) -> String {
    let mut text = format!(
        "{} ({}): {}",
        palette.strong(view.run.as_str()),
        view.workflow,
        status(view.status, palette)
    );
    if let Some(reason) = &view.reason {
        let _ = write!(text, ", {reason}");
    }
    text.push('\n');
    if let Some(title) = &view.title {
        let _ = writeln!(text, "{title}");
    }
    for active in &view.active {
        let since = length(now.saturating_sub(active.since));
        let visits = match active.visits {
            0 | 1 => String::new(),
            visits => format!(", visit {visits}"),
        };
        let place = palette.strong(&active.state);
        let _ = writeln!(
            text,
            "in {place}{}",
            palette.dim(&format!("  for {since}{visits}"))
        );
        let first = active.instructions.as_deref().and_then(first_line);
        if let Some(line) = first {
            let _ = writeln!(text, "   {}", cut(&line, WIDTH - 3));
        }
    }
    for step in &view.steps {
        let unit = step
            .unit
            .as_ref()
            .map(|unit| format!(" ({unit})"))
            .unwrap_or_default();
        let words = step
            .message
            .as_ref()
            .map(|it| format!(": {it}"))
            .unwrap_or_default();
        let status = step.status.name().replace('_', " ");
        let _ = writeln!(text, "step {}{unit} {status}{words}", step.step);
    }
    if !view.context.is_empty() {
        let context = Value::Object(view.context.clone()).to_string();
        let _ = writeln!(text, "data {}", cut(&context, WIDTH - 5));
    }
    for request in &view.requests {
        let id = palette.event(&request.request);
        let left = request.expires.map_or_else(String::new, |expires| {
            palette.dim(&format!("  ({})", left(expires, now)))
        });
        let _ = writeln!(text, "asks {id}: {}{left}", request.prompt);
    }
    for waits in &view.waiting_for {
        let _ = match waits {
            WaitingFor::Child { run } => writeln!(text, "waits for child run {run}"),
            WaitingFor::Workflow { workflow, step } => writeln!(
                text,
                "waits for a run of {workflow}, which {step} invokes and which no spec has had yet"
            ),
            WaitingFor::Approval { .. } | WaitingFor::Question { .. } | WaitingFor::Step { .. } => {
                Ok(())
            }
        };
    }
    let expiry = |it: &&PendingTimer| it.name.starts_with("request:");
    for timer in view.timers.iter().filter(|it| !expiry(it)) {
        let left = match timer.due.checked_sub(now) {
            Some(0) | None => "due".to_owned(),
            Some(left) => format!("in {}", length(left)),
        };
        let name = timer.name.split_once(':').map_or("", |(_, name)| name);
        let _ = writeln!(text, "timer {name} {left}");
    }
    text + &next(&view.next, palette)
}

/// How long a request can still be answered.
pub(super) fn left(expires: u64, now: u64) -> String {
    match expires.checked_sub(now) {
        Some(0) | None => "its time is over".to_owned(),
        Some(left) => format!("for {} more", length(left)),
    }
}

/// What could come next.
pub(super) fn next(legal: &[Legal], palette: Palette) -> String {
    let mut text = String::new();
    let width = legal
        .iter()
        .map(|it| it.event.chars().count())
        .max()
        .unwrap_or(0);
    for it in legal {
        let name = palette.event(&format!("{:width$}", it.event));
        let to = match it.to.as_slice() {
            [] => "stays".to_owned(),
            targets => format!("→ {}", targets.join(", ")),
        };
        let why = match (it.enabled, it.holds) {
            _ if it.held_by.is_some() => {
                let held = it.held_by.iter().map(|it| it.reason.as_str());
                format!("  not now: {}", held.collect::<String>())
            }
            (true, _) if it.requires_approval => "  needs approval".to_owned(),
            (true, _) => String::new(),
            (false, true) if !it.lacks.is_empty() => {
                format!("  not now: it requires {}", it.lacks.join(", "))
            }
            (false, true) => "  another comes first".to_owned(),
            (false, false) => format!("  not now: {}", facts(&it.facts)),
        };
        let _ = writeln!(text, "  {name}  {to}{}", palette.dim(&why));
    }
    text
}

/// What a guard that doesn't hold has read.
pub(super) fn facts(facts: &[Fact]) -> String {
    if facts.is_empty() {
        return "its guard doesn't hold".to_owned();
    }
    let told = facts.iter().map(|fact| match &fact.value {
        Some(value) => format!("{} is {value}", fact.field),
        None => format!("{} is absent", fact.field),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// A status in its color.
pub(super) fn status(status: Status, palette: Palette) -> String {
    let name = status.name();
    match status {
        Status::Completed => palette.good(name),
        Status::Failed | Status::Cancelled => palette.bad(name),
        Status::Waiting | Status::Paused => palette.guard(name),
        Status::Running => name.to_owned(),
    }
}
