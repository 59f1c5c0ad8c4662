//! Executors of the built program: against a provider that follows a script, killed, stopped, and several at once.
//!
//! A file in `cases/` has a project, the provider's script, and commands; beside it is what they print, word for word.

mod api;
mod examples;
mod workers;
mod worktrees;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use statemark_harness::{compare, files};

use crate::attacks::children::has_landlock;
use crate::shell::{Run, Scratch, perform, statemark};
use api::Api;

#[test]
fn attempts_are_as_their_cases_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/executor/cases");
    let mut faults = Vec::new();
    let cases: Vec<PathBuf> = files(&folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    assert!(cases.len() >= 10, "{cases:?}");
    for path in cases {
        let text = fs::read_to_string(&path).unwrap();
        let actual = play(path.file_stem().unwrap().to_str().unwrap(), &text);
        if let Err(fault) = compare(&path.with_extension("txt"), &actual) {
            faults.push(fault);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Plays a case, and returns what its commands print and what the provider was asked.
fn play(name: &str, text: &str) -> String {
    let scratch = Scratch::new(&format!("executor-{name}"));
    let script = block(text, "api").unwrap_or_else(|| "[{}]".to_owned());
    let api = Api::start(serde_json::from_str(&script).unwrap());
    for section in text.split("\n## file ").skip(1) {
        let (file, _) = section.split_once('\n').unwrap();
        let content = fenced(section);
        scratch.write(file, &content.replace("ADDRESS", &api.address.to_string()));
    }
    let mut printed = String::new();
    for command in block(text, "commands").unwrap().lines() {
        let said = perform(&Run::new(command), &scratch.path);
        let _ = write!(printed, "> {command}\n{}{}", said.stderr, said.stdout);
        if said.code != 0 {
            let _ = writeln!(printed, "exit {}", said.code);
        }
    }
    let asked = api.asked();
    let mut formats: Vec<&Value> = asked.iter().map(|it| &it["response_format"]).collect();
    formats.retain(|it| !it.is_null());
    formats.dedup();
    for format in formats {
        let _ = writeln!(printed, "format: {}", format["json_schema"]["schema"]);
    }
    let models: Vec<&str> = asked.iter().filter_map(|it| it["model"].as_str()).collect();
    let _ = writeln!(printed, "asked: {}", models.join(" "));
    // A wait has a part that is chance.
    let mut clean = String::new();
    for line in printed.lines() {
        let line = match line.split_once("; asked again in ") {
            Some((before, _)) => format!("{before}; asked again"),
            None => line.replace(&api.address.to_string(), "ADDRESS"),
        };
        clean += &without_times(&line);
        clean.push('\n');
    }
    clean
}

/// Replaces durations in milliseconds, which no two machines have alike.
fn without_times(line: &str) -> String {
    match line
        .split_once(" (")
        .filter(|(_, rest)| rest.contains(" ms"))
    {
        Some((before, rest)) => {
            let failed = if rest.contains("refused or failed") {
                " (refused or failed)"
            } else {
                ""
            };
            format!("{before}{failed}")
        }
        None => line.to_owned(),
    }
}

fn block(text: &str, title: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("\n## {title}\n"))?;
    Some(fenced(rest))
}

fn fenced(text: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("~~~~"));
    lines.next();
    let inside = lines.take_while(|line| !line.starts_with("~~~~"));
    inside.fold(String::new(), |all, line| all + line + "\n")
}

const COUNTER: &str = "\
# Counter

## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> work
    work --> work : again [n < 9] / count
    work --> over : again [n >= 9]
    over --> [*] : /
```

```json definition
{
  \"id\": \"counter\",
  \"context\": {\"n\": 0},
  \"actions\": {\"count\": {\"assign\": {\"n\": \"n + 1\"}}},
  \"meta\": {\"executor\": \"step\"},
  \"states\": {\"work\": {\"max_attempts\": 1000}}
}
```
";

/// Starts the program in a folder by the clock of the machine.
fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = statemark(folder);
    command
        .args(arguments)
        .env_remove("STATEMARK_NOW")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

fn output(folder: &Path, arguments: &[&str]) -> String {
    let mut command = statemark(folder);
    let output = command
        .args(arguments)
        .env_remove("STATEMARK_NOW")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn records(folder: &Path, run: &str) -> Vec<Value> {
    let lines = output(folder, &["events", run, "--json"]);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn of_kind<'r>(records: &'r [Value], kind: &str) -> Vec<&'r Value> {
    records.iter().filter(|it| it["kind"] == kind).collect()
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let _ = kill_process(pid, signal);
}

/// A program that moves a run by a few steps, each with a line in a file, and sometimes takes its time.
fn counting(name: &str, lease: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("counter.md", COUNTER);
    scratch.write(
        "statemark.toml",
        &format!(
            "[executor]\nlease = \"{lease}\"\n[executor.commands.step]\nopen = true\ncommand = [\"sh\", \"step.sh\"]\nsuccess = \"again\"\n"
        ),
    );
    scratch.write(
        "step.sh",
        "echo \"$STATEMARK_ATTEMPT\" >>log\nsleep 0.0$(( $$ % 9 ))\n",
    );
    scratch
}

/// Times that an executor is killed. `STATEMARK_TEST_KILLS` says another number.
const KILLS: u32 = 25;

#[test]
fn no_attempt_is_lost_unsaid_when_executors_are_killed() {
    let scratch = counting("executor-killed", "300ms");
    let folder = &scratch.path;
    let mut runs = 0;
    let mut killed = 0;
    #[expect(
        clippy::disallowed_methods,
        reason = "the program's list is for the program"
    )]
    let most = std::env::var("STATEMARK_TEST_KILLS");
    let most = most.ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS);
    while killed < most {
        runs += 1;
        let run = format!("k{runs}");
        output(folder, &["start", "counter", "--run-id", &run]);
        loop {
            let mut child = spawn(folder, &["agent", "run", &run]);
            let long = Duration::from_millis(u64::from(20 + (killed * 37) % 400));
            let ended = kill_after(&mut child, long);
            killed += u32::from(ended.is_none());
            if ended.is_some_and(|it| it.code() == Some(0)) {
                break;
            }
            // A killed executor has the lease until it is over.
            std::thread::sleep(Duration::from_millis(100));
        }
        check_journal(folder, &run);
    }
    let verified = output(folder, &["store", "verify"]);
    assert!(verified.starts_with("whole"), "{verified}");
}

/// Checks that each attempt has an end, that no two of one state overlap, and that work outside was done by recorded attempts.
fn check_journal(folder: &Path, run: &str) {
    let records = records(folder, run);
    let mut open = None;
    for record in &records {
        match record["kind"].as_str().unwrap() {
            "attempt.started" => {
                assert_eq!(open, None, "{run}: two at once");
                open = record["body"]["attempt"].as_u64();
            }
            "attempt.ended" => {
                assert_eq!(open, record["body"]["attempt"].as_u64(), "{run}");
                open = None;
            }
            _ => {}
        }
    }
    assert_eq!(open, None, "{run}: an attempt without an end");
    let started = of_kind(&records, "attempt.started").len();
    let log = fs::read_to_string(folder.join("log")).unwrap();
    let own = log
        .lines()
        .filter(|line| line.ends_with(&format!(":{run}")));
    let mut worked: Vec<&str> = own.collect();
    let all = worked.len();
    worked.sort_unstable();
    worked.dedup();
    // An attempt is made once: what was done twice was done by two attempts, of which the journal calls one lost.
    assert_eq!(all, worked.len(), "{run}: {log}");
    assert!(all <= started, "{run}: {all} of {started}");
    let taken = of_kind(&records, "event").len();
    assert_eq!(taken, 10, "{run}: {records:?}");
    let lost = of_kind(&records, "attempt.ended");
    let lost = lost
        .iter()
        .filter(|it| it["body"]["outcome"] != "advanced")
        .count();
    // One that was killed between its event and its end is lost, too.
    assert!(
        (10..=10 + lost).contains(&started),
        "{run}: {started}, {lost} lost"
    );
}

#[test]
fn an_executor_that_was_stopped_is_fenced() {
    let scratch = counting("executor-stopped", "500ms");
    let folder = &scratch.path;
    scratch.write("step.sh", "echo \"$STATEMARK_ATTEMPT\" >>log\nsleep 1\n");
    output(folder, &["start", "counter", "--run-id", "s"]);
    let mut stopped = spawn(folder, &["agent", "run", "s"]);
    wait_for(|| folder.join("log").exists());
    signal(&stopped, Signal::STOP);
    std::thread::sleep(Duration::from_millis(700));
    // The other one finds the lease over.
    let mut other = spawn(folder, &["agent", "run", "s"]);
    wait_for(|| of_kind(&records(folder, "s"), "attempt.started").len() > 1);
    let fence = |records: &[Value]| {
        let ended = of_kind(records, "attempt.ended");
        ended.first().map(|it| it["body"]["outcome"].clone())
    };
    assert_eq!(fence(&records(folder, "s")), Some(json!("lost")));
    signal(&stopped, Signal::CONT);
    let code = stopped.wait().unwrap().code();
    assert_ne!(code, Some(0));
    assert_eq!(other.wait().unwrap().code(), Some(0));
    check_journal(folder, "s");
    let records = records(folder, "s");
    // The first attempt is the only one that was lost: the stopped one wrote nothing any more.
    let ended = of_kind(&records, "attempt.ended");
    let advanced = ended
        .iter()
        .filter(|it| it["body"]["outcome"] == "advanced");
    assert_eq!(advanced.count(), 10);
}

#[test]
fn an_attempt_ends_when_somebody_ends_it() {
    let api = Api::start(vec![json!({"stall": 120_000})]);
    let scratch = Scratch::new("executor-ended");
    let folder = &scratch.path;
    scratch.write(
        "one.workflow.json",
        r#"{"id": "one", "initial": "a", "meta": {"executor": "model"}, "states": {"a": {"on": {"go": "b"}}, "b": {"type": "final"}}}"#,
    );
    scratch.write(
        "statemark.toml",
        &format!(
            "[executor]\nmodel = \"m:m\"\n[executor.models.\"m:\"]\nurl = \"http://{}/v1\"\n",
            api.address
        ),
    );
    for (run, how) in [
        ("signal", None),
        ("cancel", Some("cancel")),
        ("pause", Some("pause")),
        ("send", Some("send")),
    ] {
        output(folder, &["start", "one", "--run-id", run]);
        let mut child = spawn(folder, &["agent", "run", run]);
        wait_for(|| !of_kind(&records(folder, run), "attempt.started").is_empty());
        match how {
            None => signal(&child, Signal::INT),
            Some("send") => drop(output(folder, &["send", run, "go"])),
            Some(deed) => drop(output(folder, &[deed, run])),
        }
        let began = Instant::now();
        child.wait().unwrap();
        // The provider would take two minutes.
        assert!(began.elapsed() < Duration::from_secs(60), "{run}");
        let records = records(folder, run);
        let ended = of_kind(&records, "attempt.ended");
        let outcome = if how.is_none() { "cancelled" } else { "moved" };
        assert_eq!(ended[0]["body"]["outcome"], outcome, "{run}");
    }
}

/// Runs that workers share, and workers.
const SHARED: usize = 16;
const WORKERS: usize = 4;

#[test]
fn workers_share_runs_and_none_is_worked_on_twice() {
    let scratch = counting("executor-workers", "10s");
    let folder = &scratch.path;
    for number in 0..SHARED {
        output(
            folder,
            &["start", "counter", "--run-id", &format!("w{number}")],
        );
    }
    let workers: Vec<Child> = (0..WORKERS)
        .map(|_| spawn(folder, &["serve", "--execute", "--http", "127.0.0.1:0"]))
        .collect();
    wait_for(|| {
        let runs = output(folder, &["runs", "--status", "completed", "--json"]);
        runs.matches("\"workflow\":").count() >= SHARED
    });
    for worker in &workers {
        signal(worker, Signal::TERM);
    }
    for mut worker in workers {
        worker.wait().unwrap();
    }
    for number in 0..SHARED {
        let run = format!("w{number}");
        check_journal(folder, &run);
        let records = records(folder, &run);
        assert_eq!(of_kind(&records, "attempt.started").len(), 10, "{run}");
    }
}

/// A thousand runs of one workflow don't keep another's waiting.
#[test]
fn workflows_take_turns() {
    let scratch = counting("executor-turns", "10s");
    let folder = &scratch.path;
    scratch.write(
        "rare.md",
        &COUNTER
            .replace("counter", "rare")
            .replace("# Counter", "# Rare"),
    );
    for number in 0..6 {
        output(
            folder,
            &["start", "counter", "--run-id", &format!("c{number}")],
        );
    }
    output(folder, &["start", "rare", "--run-id", "rare-1"]);
    let arguments = [
        "serve",
        "--execute",
        "--parallel",
        "1",
        "--http",
        "127.0.0.1:0",
    ];
    let mut worker = spawn(folder, &arguments);
    let began = |run: &str| {
        of_kind(&records(folder, run), "attempt.started")
            .first()
            .map(|it| it["time"].as_u64().unwrap())
    };
    wait_for(|| began("rare-1").is_some());
    signal(&worker, Signal::TERM);
    worker.wait().unwrap();
    let rare = began("rare-1").unwrap();
    let before = (0..6).filter_map(|number| began(&format!("c{number}")));
    let before = before.filter(|time| *time < rare).count();
    assert!(
        before <= 1,
        "{before} runs of the other workflow came first"
    );
}

/// A program may send its event itself, and go on for a while: whoever comes next isn't beside it.
/// What an agent has written is run by whoever tests it: it reaches no further than the agent did.
#[test]
fn a_program_is_confined_unless_it_is_open() {
    let scratch = Scratch::new("executor-confined");
    let folder = &scratch.path;
    scratch.write(
        "flow.workflow.json",
        r#"{"id": "flow", "initial": "a", "states": {"a": {"executor": "tests", "on": {"over": "b"}}, "b": {"type": "final"}}}"#,
    );
    scratch.write("src/kept", "");
    let outside = Scratch::new("executor-confined-outside");
    let place = outside.path.join("made");
    let test = format!(
        "echo inside >src/made\n(echo outside >'{}') 2>/dev/null\n(echo x >>.statemark/made) 2>/dev/null\n\
         \"$STATEMARK\" send \"$STATEMARK_RUN\" over\nexit 3\n",
        place.display()
    );
    scratch.write("test.sh", &test);
    for open in [false, true] {
        scratch.write(
            "statemark.toml",
            &format!("[executor]\nmax_attempts = 1\n[executor.commands.tests]\ncommand = [\"sh\", \"test.sh\"]\nopen = {open}\n"),
        );
        let run = format!("r-{open}");
        let child = statemark(folder)
            .args(["agent", "run", "flow", "--run-id", &run])
            .env("XDG_CONFIG_HOME", folder.join("own"))
            .output()
            .unwrap();
        let said = String::from_utf8(child.stderr).unwrap();
        assert!(folder.join("src/made").exists(), "{said}");
        if has_landlock() {
            assert_eq!(place.exists(), open, "{said}");
            assert_eq!(folder.join(".statemark/made").exists(), open, "{said}");
            let hint = "it exited with 3; it was confined to its folder, and `open = true` in `[executor.commands.tests]` ends that";
            assert_eq!(said.contains(hint), !open, "{said}");
            assert_eq!(
                said.contains("advanced: the run has completed"),
                open,
                "{said}"
            );
        }
        fs::remove_file(folder.join("src/made")).unwrap();
    }
}

#[test]
fn the_next_state_waits_for_last_words() {
    let scratch = Scratch::new("executor-last-words");
    let folder = &scratch.path;
    scratch.write(
        "pair.workflow.json",
        r#"{"id": "pair", "initial": "one", "states": {"one": {"executor": "one", "on": {"go": "two"}}, "two": {"executor": "two", "on": {"end": "over"}}, "over": {"type": "final"}}}"#,
    );
    scratch.write(
        "statemark.toml",
        "[executor.commands.one]\nopen = true\ncommand = [\"sh\", \"-c\", \"\\\"$STATEMARK\\\" send \\\"$STATEMARK_RUN\\\" go && sleep 1 && echo last words >>log\"]\n\
         [executor.commands.two]\nopen = true\ncommand = [\"sh\", \"-c\", \"echo next >>log\"]\nsuccess = \"end\"\n",
    );
    let mut child = spawn(folder, &["agent", "run", "pair", "--run-id", "p"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let log = fs::read_to_string(folder.join("log")).unwrap();
    assert_eq!(log, "last words\nnext\n");
}

/// Who reads a file or a pipe has a line for each thing that happens, and nothing that is drawn over.
#[test]
fn a_budget_is_a_bar_on_a_terminal_alone() {
    let api = Api::start(vec![
        json!({"calls": [["get_run", {}]]}),
        json!({"calls": [["send_event", {"event": "go"}]]}),
    ]);
    let scratch = Scratch::new("executor-bar");
    scratch.write(
        "one.workflow.json",
        r#"{"id": "one", "initial": "a", "meta": {"executor": "model", "token_budget": 1000}, "states": {"a": {"on": {"go": "b"}}, "b": {"type": "final"}}}"#,
    );
    let url = format!("--model m --url http://{}", api.address);
    let at_terminal = Run {
        typed: Some(String::new()),
        ..Run::new(&format!("statemark agent run one --run-id t {url}"))
    };
    let shown = perform(&at_terminal, &scratch.path).stderr;
    for (bar, next) in [
        (
            "budget [##----------------------]  11 %  110 of 1000 tokens",
            "  a: get_run",
        ),
        (
            "budget [#####-------------------]  22 %  220 of 1000 tokens",
            "  a: send_event",
        ),
    ] {
        let part = format!("{bar}\r{}\r{next}", " ".repeat(bar.len()));
        assert!(shown.contains(&part), "{part:?}: {shown:?}");
    }
    assert!(shown.ends_with(" \r"), "{shown:?}");
    let piped = perform(
        &Run::new(&format!("statemark agent run one --run-id p {url}")),
        &scratch.path,
    );
    assert!(!piped.stderr.contains(['\r', '[']), "{}", piped.stderr);
}

#[test]
fn regions_are_worked_on_side_by_side() {
    let scratch = Scratch::new("executor-regions");
    let folder = &scratch.path;
    scratch.write(
        "pair.md",
        "# Pair\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> both\n    state both {\n        [*] --> left\n        left --> left_done : left_over\n        left_done --> [*] : /\n        --\n        [*] --> right\n        right --> right_done : right_over\n        right_done --> [*] : /\n    }\n    both --> [*] : /\n```\n\n```json definition\n{\"id\": \"pair\", \"states\": {\"left\": {\"executor\": \"left\"}, \"right\": {\"executor\": \"right\"}}}\n```\n",
    );
    // Each waits for the other: one after the other, neither would end.
    let one = |own: &str, other: &str| {
        format!(
            "[executor.commands.{own}]\nopen = true\ncommand = [\"sh\", \"-c\", \"touch {own}; while ! [ -e {other} ]; do sleep 0.05; done\"]\nsuccess = \"{own}_over\"\n"
        )
    };
    scratch.write(
        "statemark.toml",
        &(one("left", "right") + &one("right", "left")),
    );
    let mut child = spawn(folder, &["agent", "run", "pair", "--run-id", "p"]);
    assert_eq!(
        child.wait().unwrap().code(),
        Some(0),
        "{:?}",
        records(folder, "p")
    );
}

/// Regions, runs below a run, and the runs of a worker share the attempts that a process makes at once.
#[test]
fn a_process_makes_no_more_attempts_at_once_than_it_was_told() {
    let scratch = Scratch::new("executor-parallel");
    let folder = &scratch.path;
    scratch.write(
        "inner.workflow.json",
        r#"{"id": "inner", "initial": "x", "meta": {"executor": "step"}, "states": {"x": {"on": {"ended": "y"}}, "y": {"type": "final"}}}"#,
    );
    let region = |name: &str, on: &str| {
        format!(
            r#""{name}": {{"initial": "{name}_on", "states": {{"{name}_on": {{{on}}}, "{name}_off": {{"type": "final"}}}}}}"#
        )
    };
    let works = |name: &str, executor: &str| {
        let on = format!(r#""executor": "{executor}", "on": {{"{executor}_ended": "{name}_off"}}"#);
        region(name, &on)
    };
    let invokes = |name: &str| {
        let on = format!(r#""invoke": {{"src": "inner", "on_done": "{name}_off"}}"#);
        region(name, &on)
    };
    let regions = [
        works("a", "one"),
        works("b", "other"),
        invokes("c"),
        invokes("d"),
    ];
    scratch.write(
        "outer.workflow.json",
        &format!(
            r#"{{"id": "outer", "initial": "all", "states": {{"all": {{"type": "parallel", "on_done": "over", "states": {{{}}}}}, "over": {{"type": "final"}}}}}}"#,
            regions.join(", ")
        ),
    );
    let command = |name: &str, event: &str| {
        format!(
            "[executor.commands.{name}]\nopen = true\ncommand = [\"sh\", \"step.sh\"]\nsuccess = \"{event}\"\n"
        )
    };
    let commands = [
        command("step", "ended"),
        command("one", "one_ended"),
        command("other", "other_ended"),
    ];
    scratch.write(
        "statemark.toml",
        &format!("[executor]\nparallel = 2\n{}", commands.concat()),
    );
    // Each waits until as many are at work as may be, or for as long as nobody else comes.
    let meet = |many: usize| {
        let script = format!(
            "echo + >>log; : >in.$$; i=0\n\
             until [ -e met ] || [ $(ls in.* | wc -l) -ge {many} ] || [ $i -ge 300 ]; do sleep 0.1; i=$((i+1)); done\n\
             : >met; sleep 0.2; echo - >>log; rm in.$$\n"
        );
        scratch.write("step.sh", &script);
        drop(fs::remove_file(folder.join("met")));
    };
    meet(2);
    let most_at_once = || {
        let log = fs::read_to_string(folder.join("log")).unwrap();
        fs::remove_file(folder.join("log")).unwrap();
        let mut now = 0_usize;
        let counts = log.lines().map(|line| {
            now = if line == "+" { now + 1 } else { now - 1 };
            now
        });
        (counts.max().unwrap(), log.lines().count())
    };
    let mut child = spawn(folder, &["agent", "run", "outer", "--run-id", "o"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(most_at_once(), (2, 8));
    meet(3);
    for run in ["w1", "w2", "w3"] {
        output(folder, &["start", "outer", "--run-id", run]);
    }
    let arguments = [
        "serve",
        "--execute",
        "--parallel",
        "3",
        "--http",
        "127.0.0.1:0",
    ];
    let mut worker = spawn(folder, &arguments);
    wait_for(|| {
        let runs = output(folder, &["runs", "--status", "completed", "--json"]);
        runs.matches(r#""workflow":"outer""#).count() >= 4
    });
    signal(&worker, Signal::TERM);
    worker.wait().unwrap();
    assert_eq!(most_at_once(), (3, 24));
}

/// Whoever comes after one that was killed is told for whom it waits and until when; one that lives is left alone.
#[test]
fn who_comes_second_says_for_whom_it_waits() {
    let scratch = counting("executor-second", "5s");
    let folder = &scratch.path;
    let wait = "i=0; until [ -e go ] || [ $i -ge 600 ]; do sleep 0.1; i=$((i+1)); done";
    scratch.write(
        "step.sh",
        &format!("echo \"$STATEMARK_ATTEMPT\" >>log\n{wait}\n"),
    );
    output(folder, &["start", "counter", "--run-id", "k"]);
    let mut first = spawn(folder, &["agent", "run", "k"]);
    wait_for(|| folder.join("log").exists());
    let second = || {
        let mut command = statemark(folder);
        let arguments = ["agent", "run", "k", "--until", "over", "--json"];
        let output = command
            .args(arguments)
            .env_remove("STATEMARK_NOW")
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let first: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
        assert_eq!(first["happened"], "waits", "{printed}");
        let errors = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), first, errors)
    };
    let holder = format!("executor-{}-", first.id());
    let (code, waits, errors) = second();
    assert_eq!(code, Some(2), "{errors}");
    assert!(waits["holder"].as_str().unwrap().starts_with(&holder));
    let told = format!("another executor works on `k`: `{holder}");
    assert!(errors.contains(&told), "{errors}");
    assert!(
        errors.contains("statemark transcript k --follow"),
        "{errors}"
    );
    first.kill().unwrap();
    first.wait().unwrap();
    scratch.write("go", "");
    let began = Instant::now();
    let (code, waits, errors) = second();
    assert_eq!(code, Some(0), "{errors}");
    assert!(waits["holder"].as_str().unwrap().starts_with(&holder));
    let until = waits["until"].as_u64().unwrap();
    let taken = of_kind(&records(folder, "k"), "attempt.ended")
        .iter()
        .find(|it| it["body"]["outcome"] == "lost")
        .map(|it| it["time"].as_u64().unwrap());
    // It took over at the moment that it had named, and not before.
    let taken = taken.unwrap();
    assert!(taken >= until, "{taken} {until}");
    assert!(began.elapsed() < Duration::from_secs(60));
}

/// Kills a process after a while, and returns how it has ended if it has before.
fn kill_after(child: &mut Child, long: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + long;
    let mut ended = None;
    while ended.is_none() && Instant::now() < until {
        ended = child.try_wait().unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    // One that has ended isn't killed any more.
    let _ = child.kill();
    child.wait().unwrap();
    ended
}

/// Waits until something is so, as long as a busy machine may need.
fn wait_for(is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(180);
    while !is_so() {
        assert!(Instant::now() < until, "it didn't come so far");
        std::thread::sleep(Duration::from_millis(50));
    }
}
