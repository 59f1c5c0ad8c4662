//! The language of transcripts: what is done to a run, and what comes of it.
//!
//! A file in `cases/` is a spec with a fence `transcript`. Lines in it that begin with `> ` are what is done; what follows
//! is what came of it. `UPDATE=1` rewrites the answers.
//!
//! ```text
//! > start {"retries": 1}            the run `r` of the first workflow by name; the input may be left out
//! > send go {"n": 1}                an event, with data
//! > wait 10s                        lets time pass; what is due is taken when it is
//! > as ann send go                  any of these, done by a person of that name instead of an agent; `agent NAME` and
//! > as agent bo send go             `nobody` (a person without a name) do, too
//! > open select {"prompt": "Which?", "choices": ["a", "b"]}
//! > approve r:3 fine                a request, with a comment; likewise deny, send_back and withdraw
//! > answer r:3 "b"                  a request, with JSON
//! > reserve Edit {"call": "c1", "files": ["a.rs"]}
//! > used Edit {"call": "c1", "files": ["a.rs"], "output": 100}
//! > observe Edit {"call": "c2"}     a call that runs whatever is said to it
//! > bind claude:s1                 a client's session; likewise hold, end and release, and `release` alone for all
//! > pause for lunch                 likewise continue and cancel; `force STATE`, and with it `{"n": 1}`
//! > @r/test/1 send ok               any of these, done to another run
//! > bare send ok                    any of these, where no spec is
//! > look                            what is due or missing is made up for, as faces do before anything else
//! > at 3 send ok                    any of these, if the run is at record 3
//! > runs                            all runs, and what they have come to
//! > state                           where it is
//! > why go                          why that event would be taken or not; or why it stands where it does
//! > report w build running ::T1 {"n": 1}      a report on a step of the workflow `w`, of a unit, with data
//! > steps                         what is known of steps and of children
//! > child r/agent::T1             where a run under it is, and what is known of its steps
//! > records                         the kinds of its records, and what they say in short
//! > @f state                        the same of the run `f`
//! ```
//!
//! The modules of this folder document the words that they carry out.

pub(crate) mod artifacts;
mod attempts;
mod checks;
pub(crate) mod reports;
pub(crate) mod travel;

use std::fmt::Write as _;

use serde_json::Value;
use statemark_runs::policy::{Gating, Verdict};
use statemark_runs::{
    Actor, AnswerRequest, BindSession, Binding, Body, CancelRun, Claims, ContinueRun, EndSession,
    ForceState, HoldSession, OpenRequest, Order, PauseRun, Query, RecordCall, ReleaseSession,
    Remedy, Reply, ReserveCall, ReserveOutcome, Role, RunError, SendEvent, StartRun,
    WithdrawRequest, Written, explain, fire_due, state,
};

use crate::harness::Bench;

const RUN: &str = "r";

/// The same text with the answers of today.
pub(crate) fn play(text: &str, make: impl Fn(&[(&str, &str)]) -> Bench) -> String {
    let case = Case::of(text);
    let bench = make(&case.specs());
    let mut played = format!("{}```transcript\n", case.before);
    for line in &case.lines {
        let _ = writeln!(played, "> {line}");
        let answer = answer(&bench, line);
        check_sense(line, &answer);
        played += &answer;
    }
    played + "```" + case.after
}

/// Fails if a line is about a run or a request that should be there by then and isn't.
///
/// What made it was refused, or has another number now. If the answers were taken over so, the transcript would go on to
/// show that nothing is there, and none of what it is for.
fn check_sense(line: &str, answer: &str) {
    let run = line.strip_prefix('@').and_then(|it| it.split(' ').next());
    let is_lost = run.is_some_and(|run| answer.contains(&format!("there is no run `{run}`")));
    assert!(!is_lost, "`{line}`: {answer}");
    let mut words = line.split(' ');
    let is_request = |word: &&str| {
        word.split_once(':')
            .is_some_and(|(_, seq)| seq.parse::<u64>().is_ok())
    };
    let request = words.find(is_request);
    let is_lost = request.is_some_and(|it| answer.contains(&format!("there is no request `{it}`")));
    assert!(!is_lost, "`{line}`: {answer}");
}

/// A transcript and its specs.
pub(crate) struct Case<'t> {
    pub(crate) before: &'t str,
    specs: Vec<(String, String)>,
    /// What is done.
    pub(crate) lines: Vec<&'t str>,
    pub(crate) after: &'t str,
}

impl<'t> Case<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let (before, rest) = text.split_once("```transcript\n").expect("a transcript");
        let (script, after) = rest.split_once("```").expect("its end");
        // Each heading of the first level begins a spec of its own.
        let specs = format!("\n{before}")
            .split("\n# ")
            .skip(1)
            .zip(1..)
            .map(|(text, number)| (format!("case{number}.md"), format!("# {text}\n")))
            .collect();
        let lines = script.lines().filter_map(|line| line.strip_prefix("> "));
        Self {
            before,
            specs,
            lines: lines.collect(),
            after,
        }
    }

    pub(crate) fn specs(&self) -> Vec<(&str, &str)> {
        let specs = self.specs.iter();
        specs.map(|(name, text)| (&**name, &**text)).collect()
    }
}

/// What comes of a line.
pub(crate) fn answer(bench: &Bench, line: &str) -> String {
    match act(bench, line) {
        Ok(answer) => answer,
        Err(error) => format!("error: {error}\n"),
    }
}

/// Who does what a line says, and what.
fn actor(line: &str) -> (Actor, &str) {
    let Some(line) = line.strip_prefix("as ") else {
        return (Actor::new(Role::Agent), line);
    };
    let split = |line| str::split_once(line, ' ').expect("what is done");
    match split(line) {
        ("agent", rest) => {
            let (name, rest) = split(rest);
            (Actor::new(Role::Agent).with_name(name), rest)
        }
        ("nobody", rest) => (Actor::new(Role::Person), rest),
        (name, rest) => (Actor::new(Role::Person).with_name(name), rest),
    }
}

/// The record that the run has to be at, if the line says so.
fn expected(line: &str) -> (Option<u64>, &str) {
    let Some((seq, line)) = line.strip_prefix("at ").and_then(|it| it.split_once(' ')) else {
        return (None, line);
    };
    (Some(seq.parse().expect("a number")), line)
}

fn act(bench: &Bench, line: &str) -> Result<String, RunError> {
    if let Some(line) = line.strip_prefix("bare ") {
        return act(&bench.bare(), line);
    }
    let elsewhere = line.strip_prefix('@').and_then(|it| it.split_once(' '));
    let (run, line) = elsewhere.unwrap_or((RUN, line));
    let (actor, line) = actor(line);
    let (expected, line) = expected(line);
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let order = Order {
        actor,
        expected,
        ..bench.order(run)
    };
    let json = |text: &str| -> Option<Value> {
        (!text.is_empty()).then(|| serde_json::from_str(text).expect("JSON"))
    };
    match word {
        "may" => {
            let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
            let loaded = bench.runs.load(&order.run)?;
            let arguments = json(arguments).unwrap_or_default();
            Ok(match loaded.may_use(tool, gating_of(tool), &arguments) {
                Verdict::Allow => "allowed\n".to_owned(),
                Verdict::Deny(denial) => format!("denied ({}): {}\n", denial.code, denial.reason),
            })
        }
        "start" => {
            let start = StartRun {
                workflow: bench.runs.workflows().ids().remove(0),
                input: json(rest).unwrap_or_default(),
                ..StartRun::default()
            };
            Ok(shown(&bench.runs.execute(&order, &start)?))
        }
        "send" => {
            let (rest, claims) = claiming(rest);
            let (event, data) = rest.split_once(' ').unwrap_or((rest, ""));
            let send = SendEvent {
                event: event.to_owned(),
                data: json(data),
                claims,
            };
            Ok(shown(&bench.runs.execute(&order, &send)?))
        }
        "wait" => wait(bench, rest),
        "open" | "approve" | "deny" | "send_back" | "answer" | "withdraw" => {
            request(bench, &order, word, rest)
        }
        "reserve" | "observe" | "used" => tool(bench, &order, word, rest),
        "bind" | "hold" | "end" | "release" => session(bench, &order, word, rest),
        "pause" | "continue" | "cancel" | "force" => control(bench, &order, word, rest),
        "runs" => runs(bench),
        word if artifacts::WORDS.contains(&word) => artifacts::act(bench, &order, word, rest),
        word if attempts::WORDS.contains(&word) => attempts::act(bench, &order, word, rest),
        "ran" | "last" => checks::act(bench, &order, word, rest),
        "report" => reports::report(bench, run, rest),
        "steps" => reports::steps(bench, run),
        "child" => reports::child(bench, rest),
        "why" => why(bench, run, rest),
        "state" => state(bench, run),
        "look" => bench.runs.catch_up(&order.run).map(|_| String::new()),
        "records" => records(bench, run),
        _ => travel::act(bench, &order, line),
    }
}

/// The claims at the end of a line, a list of JSON behind `claiming`, and the line without them.
fn claiming(line: &str) -> (&str, Claims) {
    match line.split_once(" claiming ") {
        Some((line, claims)) => {
            let claims = serde_json::from_str(claims).expect("a list of texts");
            (line, Claims::new(claims).expect("few and short claims"))
        }
        None => (line, Claims::default()),
    }
}

/// The power that states have over a tool, as the server declares it.
fn gating_of(tool: &str) -> Gating {
    match tool {
        "get_run" | "start_run" => Gating::Free,
        "submit_artifact" => Gating::Needs("artifact.submit"),
        "report_progress" => Gating::Needs("run.report_progress"),
        _ => Gating::Counted,
    }
}

/// Something about a request.
fn request(bench: &Bench, order: &Order, word: &str, rest: &str) -> Result<String, RunError> {
    let (id, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let comment = (!text.is_empty()).then(|| text.to_owned());
    if word == "open" {
        return Ok(shown(&bench.runs.execute(order, &question(id, text))?));
    }
    if word == "withdraw" {
        let withdraw = WithdrawRequest {
            request: id.to_owned(),
            reason: comment,
        };
        return Ok(shown(&bench.runs.execute(order, &withdraw)?));
    }
    let reply = match word {
        "approve" => Reply::Approve,
        "deny" => Reply::Deny,
        "send_back" => Reply::SendBack,
        _ => Reply::Value(serde_json::from_str(text).expect("JSON")),
    };
    let comment = comment.filter(|_| word != "answer");
    let answer = AnswerRequest {
        comment,
        relayed: order.actor.name.as_deref() == Some("relay"),
        elicited: order.actor.name.as_deref() == Some("client"),
        ..AnswerRequest::new(id, reply)
    };
    Ok(shown(&bench.runs.execute(order, &answer)?))
}

fn question(kind: &str, options: &str) -> OpenRequest {
    let kind = serde_json::from_value(kind.into()).expect("a kind of request");
    let options: Value = serde_json::from_str(options).expect("JSON");
    let text = |key: &str| options.get(key).and_then(Value::as_str).map(str::to_owned);
    let texts = |key: &str| -> Vec<String> {
        let texts = options.get(key).cloned().unwrap_or_default();
        serde_json::from_value(texts).unwrap_or_default()
    };
    OpenRequest {
        choices: texts("choices"),
        approvers: texts("approvers"),
        schema: options.get("schema").cloned(),
        state: text("state"),
        blocking: options.get("blocking").is_some(),
        expires_in: options.get("expires_in").and_then(Value::as_u64),
        ..OpenRequest::new(kind, text("prompt").unwrap_or_default())
    }
}

/// Lets time pass, from one timer that is due to the next.
fn wait(bench: &Bench, time: &str) -> Result<String, RunError> {
    let (number, unit) = time.split_at(time.len() - 1);
    let factor = if unit == "m" { 60_000 } else { 1_000 };
    let end = bench.runs.now() + number.parse::<u64>().expect("a number") * factor;
    let mut text = String::new();
    while let Some(due) = bench.runs.store().next_due()?.filter(|due| *due <= end) {
        let now = bench.runs.now();
        bench.clock.advance(due.saturating_sub(now));
        for fired in fire_due(&bench.runs, bench.runs.now(), 10)? {
            let written = fired.written?;
            if written.records.is_empty() {
                let _ = writeln!(text, "{} stays", fired.timer.name);
            }
            text += &shown(&written);
        }
    }
    bench.clock.advance(end - bench.runs.now());
    Ok(text)
}

/// What was written.
pub(crate) fn shown<T>(written: &Written<T>) -> String {
    let mut text = String::new();
    if written.replayed {
        text += "as before: ";
    }
    for record in &written.records {
        match record.read().unwrap() {
            Body::Started(started) => text += &started.step.leaves.join(", "),
            Body::Event(event) => {
                match &event.cause {
                    None => {
                        let leaves = event.step.leaves.join(", ");
                        let _ = write!(text, "took {} -> {leaves}", event.event);
                    }
                    Some(_) => text += &record.summary(),
                }
                for effect in &event.step.effects {
                    let _ = write!(text, "\neffect {} {}", effect.key, effect.name);
                }
            }
            Body::Refused(refused) => {
                let _ = write!(text, "refused ({}): {}", refused.code, refused.reason);
                if !refused.legal.is_empty() {
                    let _ = write!(text, "; legal: {}", refused.legal.join(", "));
                }
            }
            _ => text += &record.summary(),
        }
        text.push('\n');
    }
    text
}

/// A call of a tool.
fn tool(bench: &Bench, order: &Order, word: &str, rest: &str) -> Result<String, RunError> {
    let (tool, options) = rest.split_once(' ').unwrap_or((rest, "{}"));
    let options: Value = serde_json::from_str(options).expect("JSON");
    let call = options.get("call").and_then(Value::as_str);
    let (tool, call) = (tool.to_owned(), call.map(str::to_owned));
    let files = options.get("files").cloned().unwrap_or_default();
    let files = serde_json::from_value(files).unwrap_or_default();
    if word == "used" {
        let used = RecordCall {
            tool,
            call,
            files,
            output: options.get("output").and_then(Value::as_u64),
            ..RecordCall::default()
        };
        return Ok(shown(&bench.runs.execute(order, &used)?));
    }
    let reserve = ReserveCall {
        tool,
        call,
        files,
        observe: word == "observe",
        ..ReserveCall::default()
    };
    let written = bench.runs.execute(order, &reserve)?;
    let mut text = shown(&written);
    text += match written.outcome {
        ReserveOutcome::Yes => "may run\n",
        ReserveOutcome::No { .. } => "may not run\n",
    };
    Ok(text)
}

/// The tie between a client's session and a run, and the runs that hold the session after it.
fn session(bench: &Bench, order: &Order, word: &str, rest: &str) -> Result<String, RunError> {
    let session = rest.to_owned();
    let runs = &bench.runs;
    let mut text = shown(&match word {
        "bind" => runs.execute(order, &BindSession { session })?,
        "hold" => runs.execute(order, &HoldSession { session })?,
        "end" => runs.execute(order, &EndSession { session })?,
        _ => {
            let session = Some(session).filter(|it| !it.is_empty());
            runs.execute(order, &ReleaseSession { session })?
        }
    });
    for name in [rest, "claude:other"] {
        let names = [name.to_owned()];
        let held = runs.runs_holding(Binding::Session(None, &names))?;
        let held: Vec<String> = held.iter().map(|run| format!("`{run}`")).collect();
        let held = if held.is_empty() {
            "no run".to_owned()
        } else {
            held.join(", ")
        };
        let _ = writeln!(text, "held by {held}: {name}");
    }
    Ok(text)
}

/// What is done to a run from outside.
fn control(bench: &Bench, order: &Order, word: &str, rest: &str) -> Result<String, RunError> {
    let reason = (!rest.is_empty()).then(|| rest.to_owned());
    let (to, context) = rest.split_once(" {").unwrap_or((rest, "}"));
    let force = ForceState {
        to: to.to_owned(),
        context: serde_json::from_str(&format!("{{{context}")).expect("JSON"),
        reason: None,
    };
    Ok(shown(&match word {
        "pause" => bench.runs.execute(order, &PauseRun { reason })?,
        "continue" => bench.runs.execute(order, &ContinueRun { reason })?,
        "cancel" => bench.runs.execute(order, &CancelRun { reason })?,
        _ => bench.runs.execute(order, &force)?,
    }))
}

fn runs(bench: &Bench) -> Result<String, RunError> {
    let query = Query {
        limit: 100,
        ..Query::default()
    };
    let mut heads = bench.runs.store().list(&query)?.heads;
    heads.sort_by(|one, other| one.run.cmp(&other.run));
    let mut text = String::new();
    for head in heads {
        let summary = &head.summary;
        let leaves = summary.leaves.join(", ");
        let _ = writeln!(
            text,
            "{} of {} {} in {leaves}",
            head.run, summary.workflow, summary.status
        );
    }
    Ok(text)
}

fn state(bench: &Bench, run: &str) -> Result<String, RunError> {
    let loaded = bench.runs.load(&run.parse().unwrap())?;
    let state = &loaded.state;
    let mut text = format!("{} in {}\n", state.status().name(), state.leaves.join(", "));
    if !state.context.is_empty() {
        let _ = writeln!(text, "context {}", Value::Object(state.context.to_map()));
    }
    for it in loaded.legality().transitions()? {
        let holds = match &it.held_by {
            Some(held) => format!(" (not now: {})", held.reason),
            None if it.enabled => String::new(),
            None => " (not now)".to_owned(),
        };
        let _ = writeln!(text, "{} -> {}{holds}", it.event, it.to.join(", "));
    }
    for timer in &state.timers {
        let left = timer.due.saturating_sub(bench.runs.now());
        let _ = writeln!(text, "{} in {left} ms", timer.name);
    }
    // Whoever folds from the first record on comes to the same.
    let anew = state::replay(bench.runs.store(), &loaded.run, None)?;
    assert_eq!(anew, *loaded.state);
    Ok(text)
}

/// Why it stands where it does. An event that is proposed must be one that would be
/// taken.
fn why(bench: &Bench, run: &str, event: &str) -> Result<String, RunError> {
    let loaded = bench.runs.load(&run.parse().unwrap())?;
    let why = explain(&loaded, (!event.is_empty()).then_some(event))?;
    let mut text = String::new();
    for reason in why.reasons {
        let _ = write!(text, "{}: {}", reason.code(), reason.text());
        if let Some(next) = &reason.remedy {
            let _ = write!(text, " ({})", serde_json::to_string(next).unwrap());
        }
        text.push('\n');
        if let Some(Remedy::Send {
            event,
            fields,
            claims,
        }) = &reason.remedy
            && fields.is_empty()
        {
            let legal = loaded.legality().claiming(claims).transitions()?;
            assert!(legal.iter().any(|it| it.enabled && it.event == *event));
        }
    }
    Ok(text)
}

fn records(bench: &Bench, run: &str) -> Result<String, RunError> {
    let mut text = String::new();
    let run = run.parse().unwrap();
    state::for_each_record(bench.runs.store(), &run, 0, None, |record| {
        let _ = write!(text, "{} {} by {}: ", record.seq, record.kind, record.actor);
        text += &record.summary();
        text.push('\n');
        Ok(())
    })?;
    Ok(text)
}
