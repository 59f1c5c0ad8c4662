//! The pages about one run and about one request.
//!
//! They have what other commands print of them, section by section.

use std::fmt::Write as _;

use statemark_runs::body::{Opened, StepStatus};
use statemark_runs::runs::Timeline;
use statemark_runs::state::AttemptState;
use statemark_runs::{
    Loaded, Record, RunError, RunId, RunView, Runs, StepView, explain, load_timeline,
};
use statemark_text::visible;

use super::pager::{Pager, Section};
use crate::clock::format_length;
use crate::commands::run::artifacts::describe_artifacts;
use crate::commands::run::history::{describe_timeline, record_line};
use crate::commands::run::requests::{describe_kind, describe_request, describe_terms};
use crate::commands::run::state::reason_line;
use crate::commands::run::transcript::describe_usage;
use crate::commands::run::{describe_run, paint_step};
use crate::printer::Palette;

/// Number of records, and of lines of a timeline, that a page ends with.
///
/// Why: it shows what goes on; commands show all.
const LATEST: usize = 30;

/// The journal from which on no timeline is made. Unit: records.
///
/// Why: it is read from its beginning at each change.
const LONG_JOURNAL: u64 = 10_000;

/// A run, live.
pub(super) struct RunPage {
    pub(super) run: RunId,
    read: Option<ReadRun>,
    pub(super) pager: Pager,
}

/// The parts that were read of a run.
struct ReadRun {
    loaded: Loaded,
    timeline: Option<Timeline>,
    latest: Vec<Record>,
}

impl RunPage {
    pub(super) fn new(run: RunId) -> Self {
        Self {
            run,
            read: None,
            pager: Pager::default(),
        }
    }

    /// Reads the run.
    pub(super) fn read(&mut self, runs: &Runs) -> Result<(), RunError> {
        let loaded = runs.catch_up(&self.run)?;
        let seq = loaded.head.seq;
        let timeline = if seq <= LONG_JOURNAL {
            Some(load_timeline(runs, &self.run)?)
        } else {
            None
        };
        let before = seq.saturating_sub(LATEST as u64);
        let latest = runs.store().records(&self.run, before, LATEST)?;
        self.read = Some(ReadRun {
            loaded,
            timeline,
            latest,
        });
        Ok(())
    }

    /// Returns the first open request of the run.
    pub(super) fn first_request(&self) -> Option<String> {
        let open = self.read.as_ref()?.loaded.state.open_requests();
        open.first().map(|request| request.opened.request.clone())
    }

    /// Writes the page as it is now.
    pub(super) fn write(&mut self, now: u64, palette: Palette) -> Result<(), RunError> {
        if let Some(read) = &self.read {
            self.pager.set(read.sections(now, palette)?);
        }
        Ok(())
    }
}

impl ReadRun {
    fn sections(&self, now: u64, palette: Palette) -> Result<Vec<Section>, RunError> {
        let loaded = &self.loaded;
        let view = loaded.view()?;
        let mut sections = vec![Section {
            text: describe_run(&view, now, palette),
        }];
        let mut add = |title: &str, text: &str| {
            if !text.is_empty() {
                let title = palette.strong(title);
                let text = format!("\n{title}\n{text}");
                sections.push(Section { text });
            }
        };
        let reasons = explain(loaded, None)?.reasons;
        let reasons = reasons.iter();
        let reasons: String = reasons
            .map(|reason| reason_line(reason, loaded, now, palette))
            .collect();
        add("why", &reasons);
        add("steps", &describe_steps(loaded, &view, now, palette));
        add("attempts", &describe_attempts(loaded, now, palette));
        add("artifacts", &indented(&describe_artifacts(loaded, now)));
        let timeline = self.timeline.as_ref().map_or_else(
            || "  it is long: `statemark timeline` shows it\n".to_owned(),
            |timeline| latest_lines(&describe_timeline(timeline, palette)),
        );
        add("timeline", &timeline);
        let latest = self.latest.iter();
        let latest: String = latest
            .map(|record| record_line(record, "", palette))
            .collect();
        add("latest records", &latest);
        Ok(sections)
    }
}

/// Describes every step of a run's machine, also those that nobody has begun.
fn describe_steps(loaded: &Loaded, view: &RunView, now: u64, palette: Palette) -> String {
    let mut text = String::new();
    if view.steps.is_empty() {
        // Nobody has reported: the place and the visits say what is known.
        for (_, name) in loaded.workflow.visible_states() {
            let step = StepView {
                step: name.to_owned(),
                unit: None,
                status: StepStatus::NotStarted,
                message: None,
                detached: false,
            };
            describe_step(&mut text, &step, loaded, now, palette);
        }
    }
    for step in &view.steps {
        describe_step(&mut text, step, loaded, now, palette);
    }
    text
}

fn describe_step(text: &mut String, step: &StepView, loaded: &Loaded, now: u64, palette: Palette) {
    let state = &loaded.state;
    let visit = state.visits.get(&step.step).filter(|it| it.count > 0);
    let visit = visit.filter(|_| step.unit.is_none());
    let status = match (step.status, visit) {
        // A report says more than the place; without one the place is what is known.
        (StepStatus::NotStarted, Some(visit)) if visit.left.is_some() => StepStatus::Completed,
        (StepStatus::NotStarted, Some(_)) if state.status().is_over() => StepStatus::Completed,
        (StepStatus::NotStarted, Some(_)) => StepStatus::Running,
        (status, _) => status,
    };
    let unit = step.unit.as_ref();
    let unit = unit.map_or_else(String::new, |unit| format!(" ({unit})"));
    let mut remarks = Vec::new();
    if let Some(visit) = visit {
        if visit.count > 1 {
            remarks.push(format!("{} visits", visit.count));
        }
        if visit.left.is_none() && status == StepStatus::Running {
            let since = format_length(now.saturating_sub(visit.since));
            remarks.push(format!("for {since}"));
        }
    }
    if let Some(message) = &step.message {
        remarks.push(message.clone());
    }
    let name = visible::line(&format!("{}{unit}", step.step)).into_owned();
    let remarks = palette.dim(&visible::line(&remarks.join(", ")));
    let _ = writeln!(text, "  {}  {name}  {remarks}", paint_step(status, palette));
}

/// Describes the attempts that the state of a run has, and what the run has cost.
fn describe_attempts(loaded: &Loaded, now: u64, palette: Palette) -> String {
    let state = &loaded.state;
    let mut text = String::new();
    for (number, attempt) in &state.attempts {
        text += &describe_attempt(*number, attempt, now, palette);
    }
    if state.usage.tokens() > 0 {
        let usage = describe_usage(&state.usage);
        let _ = writeln!(text, "  {}", palette.dim(&format!("in all {usage}")));
    }
    text
}

fn describe_attempt(number: u64, attempt: &AttemptState, now: u64, palette: Palette) -> String {
    let model = attempt.model.as_ref();
    let model = model.map_or_else(String::new, |model| format!(" with {model}"));
    let (state, executor) = (&attempt.state, &attempt.executor);
    let title = format!("{number} in {state} by {executor}{model}");
    let title = visible::line(&title);
    let end = attempt.ended.as_ref().map_or(now, |(_, _, time)| *time);
    let length = format_length(end.saturating_sub(attempt.time));
    let outcome = match &attempt.ended {
        None => palette.guard("goes on"),
        Some((outcome, reason, _)) => {
            let reason = reason.as_ref();
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            let words = format!("{}{reason}", outcome.name());
            let words = visible::line(&words);
            if outcome.is_failure() {
                palette.bad(&words)
            } else {
                palette.good(&words)
            }
        }
    };
    let calls = match attempt.calls {
        0 => String::new(),
        1 => ", 1 call".to_owned(),
        calls => format!(", {calls} calls"),
    };
    let usage = describe_usage(&attempt.usage);
    let taken_back = if attempt.taken_back.is_some() {
        ", taken back"
    } else {
        ""
    };
    let spent = palette.dim(&format!("{length}, {usage}{calls}{taken_back}"));
    format!("  {title}  {outcome}  {spent}\n")
}

/// Returns the last lines of a text, but for its first, which is its title.
fn latest_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let left_out = lines.len().saturating_sub(LATEST);
    let mut latest = String::new();
    if left_out > 0 {
        let _ = writeln!(latest, "  {left_out} earlier ones");
    }
    for line in lines.iter().skip(left_out) {
        let _ = writeln!(latest, "{line}");
    }
    latest
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A request with all that it is about, for somebody who decides.
pub(super) struct RequestPage {
    pub(super) run: RunId,
    pub(super) id: String,
    read: Option<Loaded>,
    pub(super) pager: Pager,
}

impl RequestPage {
    pub(super) fn new(run: RunId, id: String) -> Self {
        Self {
            run,
            id,
            read: None,
            pager: Pager::default(),
        }
    }

    /// Reads the request with its run. Where what it is about has changed, it is to be read anew.
    pub(super) fn read(&mut self, runs: &Runs) -> Result<(), RunError> {
        let loaded = runs.catch_up(&self.run)?;
        if let Some(before) = &self.read {
            let text = |loaded| describe_request(loaded, &self.id, 0);
            if text(before) != text(&loaded) {
                self.pager.reopen();
            }
        }
        self.read = Some(loaded);
        Ok(())
    }

    /// Returns the request, if it is still open.
    pub(super) fn open_request(&self) -> Option<&Opened> {
        let open = self.read.as_ref()?.state.open_requests();
        let mut open = open.into_iter().map(|request| &request.opened);
        open.find(|opened| opened.request == self.id)
    }

    /// Writes the page as it is now.
    pub(super) fn write(&mut self, now: u64, palette: Palette) {
        let Some(loaded) = &self.read else { return };
        let mut text = describe_request(loaded, &self.id, now);
        match self.open_request() {
            Some(opened) => {
                let _ = write!(text, "\n  it asks for: {}\n", describe_kind(opened.kind));
                text += &describe_terms(opened, now, palette);
            }
            None => text += "\n  it isn't open any more\n",
        }
        self.pager.set(vec![Section { text }]);
    }
}
