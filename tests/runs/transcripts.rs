//! Transcripts: what is done to a run, and what comes of it, in files.
//!
//! A file in `cases/` is a spec with a fence `transcript`. Lines in it that begin with `> ` are what is done; what follows
//! is what came of it. `UPDATE=1` rewrites the answers.
//!
//! ```text
//! > start {"retries": 1}            the run `r`; the input may be left out
//! > send go {"n": 1}                an event, with data
//! > wait 10s                        lets time pass; what is due is taken
//! > state                           where it is
//! > why go                          why that event would be taken or not; or why it stands where it does
//! > report w build running ::T1 {"n": 1}      a report on a step of the workflow `w`, of a unit, with data
//! > steps                         what is known of steps and of children
//! > child r/agent::T1             where a run under it is, and what is known of its steps
//! > records                         the kinds of its records, and what they say in short
//! > @f state                        the same of the run `f`
//! ```
//!
//! What else there is to do is where its words are: `travel.rs`.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use statemark_store::runs::Sent;
use statemark_store::{Body, Call, RunError, Send, Start, Written, fold};

use crate::golden::root;
use crate::harness::Bench;
use crate::reports;
use crate::travel;

const RUN: &str = "r";

#[test]
fn transcripts_are_as_expected() {
    let mut wrong = String::new();
    for (path, text) in all() {
        let played = play(&text, Bench::new);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, played).unwrap();
        } else if played != text {
            let _ = write!(wrong, "{}:\n{played}\n", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// All transcripts, in the order of their names.
pub(crate) fn all() -> Vec<(PathBuf, String)> {
    let folder = root().join("tests/runs/cases");
    let paths = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut all: Vec<_> = paths
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect();
    assert!(!all.is_empty());
    all.sort();
    all
}

/// The same text with the answers of today.
pub(crate) fn play(text: &str, make: impl Fn(&[(&str, &str)]) -> Bench) -> String {
    let (before, rest) = text.split_once("```transcript\n").expect("a transcript");
    let (script, after) = rest.split_once("```").expect("its end");
    let bench = make(&[("case.md", before)]);
    let mut played = format!("{before}```transcript\n");
    for line in script.lines().filter_map(|line| line.strip_prefix("> ")) {
        let _ = writeln!(played, "> {line}");
        let answer = match act(&bench, line) {
            Ok(answer) => answer,
            Err(error) => format!("error: {error}\n"),
        };
        played += &answer;
    }
    played + "```" + after
}

fn act(bench: &Bench, line: &str) -> Result<String, RunError> {
    let named = line.strip_prefix('@').and_then(|line| line.split_once(' '));
    let (run, line) = named.unwrap_or((RUN, line));
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let order = bench.order(run);
    let json = |text: &str| -> Option<Value> {
        (!text.is_empty()).then(|| serde_json::from_str(text).expect("JSON"))
    };
    match word {
        "start" => {
            let start = Start {
                workflow: bench.runs.workflows().ids().remove(0),
                input: json(rest).unwrap_or_default(),
                ..Start::default()
            };
            Ok(shown(&bench.runs.start(&order, &start)?))
        }
        "send" => {
            let (event, data) = rest.split_once(' ').unwrap_or((rest, ""));
            let send = Send {
                event: event.to_owned(),
                data: json(data),
            };
            Ok(shown(&bench.runs.send(&order, &send)?))
        }
        "report" => reports::report(bench, run, rest),
        "steps" => reports::steps(bench, run),
        "child" => reports::child(bench, rest),
        "why" => why(bench, run, rest),
        "state" => state(bench, run),
        "records" => records(bench, run),
        _ => travel::act(bench, run, line),
    }
}

/// What was written.
fn shown(written: &Written) -> String {
    match Sent::of(written) {
        Ok(Sent::Taken(event)) => {
            let mut text = format!("took {} -> {}\n", event.event, event.step.leaves.join(", "));
            for effect in &event.step.effects {
                let _ = writeln!(text, "effect {} {}", effect.key, effect.name);
            }
            text
        }
        Ok(Sent::Refused(refused)) => format!(
            "refused ({}): {}; legal: {}\n",
            refused.code,
            refused.reason,
            refused.legal.join(", ")
        ),
        Err(_) => format!("{}\n", written.loaded.state.leaves.join(", ")),
    }
}

fn state(bench: &Bench, run: &str) -> Result<String, RunError> {
    let loaded = bench.runs.load(&run.parse().unwrap())?;
    let state = &loaded.state;
    let mut text = format!("{} in {}\n", state.status().name(), state.leaves.join(", "));
    if !state.context.is_empty() {
        let _ = writeln!(text, "context {}", Value::Object(state.context.clone()));
    }
    for it in loaded.legal()? {
        let holds = if it.enabled { "" } else { " (not now)" };
        let _ = writeln!(text, "{} -> {}{holds}", it.event, it.to.join(", "));
    }
    for timer in &state.timers {
        let left = timer.due.saturating_sub(bench.runs.now());
        let _ = writeln!(text, "{} in {left} ms", timer.name);
    }
    // Whoever folds from the first record on comes to the same.
    let anew = fold::read_anew(bench.runs.store(), &loaded.run, None)?;
    assert_eq!(anew, loaded.state);
    Ok(text)
}

/// Why it stands where it does. An event that is proposed must be one that would be
/// taken.
fn why(bench: &Bench, run: &str, event: &str) -> Result<String, RunError> {
    let loaded = bench.runs.load(&run.parse().unwrap())?;
    let why = loaded.why((!event.is_empty()).then_some(event))?;
    let mut text = String::new();
    for reason in why.reasons {
        let _ = write!(text, "{}: {}", reason.code, reason.text);
        if let Some(next) = &reason.next {
            let _ = write!(text, " ({})", serde_json::to_string(next).unwrap());
        }
        text.push('\n');
        if let Some(Call::Send { event, fields }) = &reason.next
            && fields.is_empty()
        {
            let legal = loaded.legal()?;
            assert!(legal.iter().any(|it| it.enabled && it.event == *event));
        }
    }
    Ok(text)
}

fn records(bench: &Bench, run: &str) -> Result<String, RunError> {
    let mut text = String::new();
    fold::each(
        bench.runs.store(),
        &run.parse().unwrap(),
        0,
        None,
        |record| {
            let _ = write!(text, "{} {} by {}", record.seq, record.kind, record.actor);
            match record.read().unwrap() {
                Body::Event(event) => {
                    let _ = write!(text, ": {}", event.event);
                }
                Body::Refused(refused) => {
                    let _ = write!(text, ": {}", refused.reason);
                }
                _ => {}
            }
            text.push('\n');
            Ok(())
        },
    )?;
    Ok(text)
}
