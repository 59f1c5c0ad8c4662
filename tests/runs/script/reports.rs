//! Lines of transcripts that report on steps.

use std::fmt::Write as _;

use statemark_runs::body::StepStatus;
use statemark_runs::{Advance, Advanced, Report, RunError, RunState, StartRun};

use crate::harness::Bench;

/// `WORKFLOW STEP STATUS [::UNIT] [key=K] [close] [JSON] [claiming LIST]`.
pub(crate) fn report(bench: &Bench, run: &str, line: &str) -> Result<String, RunError> {
    let (line, claims) = super::claiming(line);
    let (words, json) = match line.find('{') {
        Some(at) => line.split_at(at),
        None => (line, ""),
    };
    let mut words = words.split_whitespace();
    let mut word = || words.next().expect("a word");
    let (workflow, step, status) = (word(), word(), word());
    let named = |it: &&StepStatus| it.name() == status;
    let status = StepStatus::ALL.iter().find(named).expect("a status");
    let mut advance = Advance::status(step, *status).starting(StartRun {
        workflow: workflow.to_owned(),
        ..StartRun::default()
    });
    advance = advance.claiming(claims);
    let mut order = bench.order(run);
    for word in words {
        if let Some(unit) = word.strip_prefix("::") {
            advance = advance.for_unit(unit);
        } else if let Some(key) = word.strip_prefix("key=") {
            order.key = Some(key.parse().unwrap());
        } else if word == "close" {
            advance.close = true;
        } else {
            panic!("no such word: {word}");
        }
    }
    if !json.is_empty()
        && let Report::Status { data, .. } = &mut advance.report
    {
        *data = serde_json::from_str(json).expect("JSON");
    }
    bench.runs.execute(&order, &advance).map(|it| shown(&it))
}

/// What became of it.
pub(crate) fn shown(advanced: &Advanced) -> String {
    let mut text = String::new();
    let mut event = |word: &str, event: &Option<statemark_runs::body::Event>| {
        let Some(event) = event else { return };
        let leaves = event.step.leaves.join(", ");
        let _ = write!(text, "{word} by {} -> {leaves}", event.event);
        if let Some(statemark_runs::body::Cause::Advance { others, .. }) = &event.cause
            && !others.is_empty()
        {
            let _ = write!(text, " (as well as by {})", others.join(", "));
        }
        text.push('\n');
    };
    event("entered", &advanced.entered);
    event("left", &advanced.left);
    if advanced.started {
        text = format!("began {}\n{text}", advanced.run);
    }
    if let Some(request) = &advanced.request {
        let _ = writeln!(text, "asks {request}");
    }
    if let Some(step) = &advanced.step {
        let unit = step
            .unit
            .as_ref()
            .map_or(String::new(), |it| format!(" ::{it}"));
        let unchecked = if step.unchecked { " (unchecked)" } else { "" };
        let status = step.status.name();
        let _ = writeln!(
            text,
            "{}: {}{unit} {status}{unchecked}",
            advanced.run, step.step
        );
    }
    if let Some(refused) = &advanced.refused {
        let _ = writeln!(text, "refused ({}): {}", refused.code, refused.reason);
        if !refused.legal.is_empty() {
            let _ = writeln!(text, "legal: {}", refused.legal.join(", "));
        }
    }
    if advanced.written.as_ref().is_some_and(|it| it.replayed) {
        text += "as before\n";
    }
    if advanced.written.is_none() {
        text += "nothing written\n";
    }
    text
}

/// What is known of the steps of a run, and of the runs under it.
pub(crate) fn steps(bench: &Bench, run: &str) -> Result<String, RunError> {
    let state = bench.runs.load(&run.parse().unwrap())?.state;
    let mut text = step_reports(&state);
    for (id, child) in &state.children {
        let ended = match child.ended {
            None => "at work",
            Some(true) => "done",
            Some(false) => "failed",
        };
        let step = child.step.as_deref().unwrap_or_default();
        let _ = writeln!(text, "child {id} under {step}: {ended}");
    }
    Ok(text)
}

/// Where a run is, and what is known of its steps.
pub(crate) fn child(bench: &Bench, run: &str) -> Result<String, RunError> {
    let state = bench.runs.load(&run.parse().unwrap())?.state;
    let leaves = state.leaves.join(", ");
    let parent = state.parent.as_ref().map(|it| {
        let (step, unit) = (it.step.as_deref(), it.unit.as_deref());
        let (step, unit) = (step.unwrap_or_default(), unit.unwrap_or_default());
        format!(", for {} in {step} ::{unit}", it.run)
    });
    let status = state.status().name();
    let parent = parent.unwrap_or_default();
    Ok(format!(
        "{status} in {leaves}{parent}\n{}",
        step_reports(&state)
    ))
}

fn step_reports(state: &RunState) -> String {
    let mut text = String::new();
    for (step, units) in &state.steps {
        for (unit, reported) in units {
            let unit = if unit.is_empty() {
                String::new()
            } else {
                format!(" ::{unit}")
            };
            let _ = writeln!(text, "{step}{unit} {}", reported.status.name());
        }
    }
    text
}
