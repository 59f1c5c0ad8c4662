//! Workers that share runs in a real PostgreSQL: none is worked on twice, none starves, and grants hold in all.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::api::Api;
use super::{of_kind, output, records, signal, spawn, wait_for};
use crate::served::raw::Listening;
use crate::shell::{Scratch, statemark};

#[expect(
    dead_code,
    clippy::disallowed_methods,
    reason = "the tests of the store use all of it, and ask the machine"
)]
#[path = "../../../../tests/runs/postgres/server.rs"]
mod server;

/// Runs that workers share, and attempts that each worker makes at once.
///
/// `STATEMARK_TEST_RUNS` says another number: then there are four workers.
const RUNS: usize = 8;
const PARALLEL: usize = 2;

/// Two states of models that may do different things, and one of a program.
const SPEC: &str = r#"# Errand

## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> looking
    looking --> mending : seen
    mending --> checking : mended
    checking --> over : whole
    over --> [*] : /
```

```json definition
{
  "id": "errand",
  "states": {
    "looking": {"executor": "model", "allowed_tools": ["read_file"], "max_attempts": 1},
    "mending": {"executor": "model", "allowed_tools": ["write_file"], "max_attempts": 1},
    "checking": {"executor": "check", "max_attempts": 1}
  }
}
```
"#;

/// Starts a server of PostgreSQL; none where there is none, unless it is required.
fn start_postgres() -> Option<server::Server> {
    let programs = server::programs();
    if programs.is_none() {
        let wanted = variable("STATEMARK_POSTGRES");
        assert_ne!(wanted.as_deref(), Some("required"), "no PostgreSQL");
    }
    programs.map(|programs| server::Server::start(&programs, false))
}

/// An administrator looks into the database's log, and an error there is one too many.
#[test]
fn servers_that_make_the_tables_at_once_leave_no_error_in_the_log() {
    let Some(postgres) = start_postgres() else {
        return;
    };
    let scratch = Scratch::new("served-empty-database");
    scratch.write("errand.md", SPEC);
    for round in 0..3 {
        let address = postgres.database(&format!("served_{round}"));
        let start = || {
            Listening::with(&scratch.path, &[], |command| {
                command.env("STATEMARK_STORE", &address)
            })
        };
        let servers: Vec<Listening> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        for (number, server) in servers.iter().enumerate() {
            let run = format!("r{round}-{number}");
            let started = server.call(
                "start_run",
                &json!({"workflow": "errand", "run_id": run}),
                "",
            );
            assert_eq!(started["ok"], true, "{started}");
        }
    }
    postgres.has_logged_no_error();
}

/// A program that would get the store's password isn't started, and its run isn't said to have failed.
#[test]
fn what_would_hand_over_a_password_is_no_attempt() {
    let Some(server) = start_postgres() else {
        return;
    };
    let address = server.database("guarded");
    let scratch = Scratch::new("executor-password");
    scratch.write(
        "job.workflow.json",
        r#"{"id": "job", "initial": "x", "states": {"x": {"executor": "step", "on": {"go": "y"}}, "y": {"type": "final"}}}"#,
    );
    scratch.write(
        "statemark.toml",
        "[executor.commands.step]\ncommand = [\"touch\", \"ran\"]\nsuccess = \"go\"\nopen = true\n",
    );
    let run = |arguments: &[&str]| {
        let mut command = statemark(&scratch.path);
        command.args(arguments).env("STATEMARK_STORE", &address);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    for arguments in [
        ["agent", "run", "job", "--run-id", "r"].as_slice(),
        &["agent", "run", "r"],
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!(code, Some(2), "{stdout}{stderr}");
        let said = "`r` can't be worked on: a program would get the password of the store";
        assert!(stderr.contains(said), "{stderr}");
        assert!(!stderr.contains(server::PASSWORD), "{stderr}");
    }
    assert!(!scratch.path.join("ran").exists());
    let (_, journal, _) = run(&["events", "r", "--json"]);
    assert!(
        journal.contains("run.started") && !journal.contains("attempt"),
        "{journal}"
    );
}

#[test]
fn workers_share_the_runs_of_a_database_and_none_starves() {
    let Some(server) = start_postgres() else {
        return;
    };
    let asked_for = variable("STATEMARK_TEST_RUNS").and_then(|it| it.parse().ok());
    let (many, workers) = asked_for.map_or((RUNS, 2), |many| (many, 4));
    server.database("shared");
    // No program gets a password, and none is asked for.
    let address = format!(
        "postgres://statemark@127.0.0.1:{}/postgres?options=-csearch_path%3Dshared",
        server.port()
    );
    let api = Api::start(steps());
    let scratch = Scratch::new("executor-postgres");
    let folder = &scratch.path;
    let place = format!("postgres://127.0.0.1:{}\n", server.port());
    scratch.write("own/statemark/places", &place);
    scratch.write("errand.md", SPEC);
    scratch.write("a.txt", "a\n");
    scratch.write(
        "statemark.toml",
        &format!(
            "store = \"{address}\"\n[packs.fs]\n[executor]\nmodel = \"m:m\"\n[executor.models.\"m:\"]\nurl = \"http://{}/v1\"\n\
             [executor.commands.check]\nopen = true\ncommand = [\"sh\", \"-c\", \"echo \\\"$STATEMARK_ATTEMPT\\\" >>log\"]\nsuccess = \"whole\"\n",
            api.address
        ),
    );
    let names: Vec<String> = (0..many).map(|number| format!("w{number:03}")).collect();
    for run in &names {
        let started = output(folder, &["start", "errand", "--run-id", run]);
        assert!(started.starts_with(run), "{started}");
    }
    let parallel = PARALLEL.to_string();
    let arguments = [
        "serve",
        "--execute",
        "--parallel",
        &parallel,
        "--http",
        "127.0.0.1:0",
    ];
    let began = Instant::now();
    let workers: Vec<Child> = (0..workers).map(|_| spawn(folder, &arguments)).collect();
    let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
    wait_for(|| log().lines().count() >= many);
    wait_for(|| {
        let runs = output(
            folder,
            &["runs", "--status", "completed", "--limit", "200", "--json"],
        );
        runs.matches("\"workflow\":").count() >= many
    });
    let took = began.elapsed();
    let slots = workers.len() * PARALLEL;
    for worker in &workers {
        signal(worker, Signal::TERM);
    }
    for mut worker in workers {
        worker.wait().unwrap();
    }
    let mut firsts: Vec<(u64, usize)> = Vec::new();
    for (number, run) in names.iter().enumerate() {
        let records = records(folder, run);
        firsts.push((check_run(run, &records), number));
    }
    // A model was asked once in each of its states: nobody else has ever worked there, and thrown it away.
    assert_eq!(api.asked().len(), 2 * many);
    let log = log();
    let mut worked: Vec<&str> = log.lines().collect();
    worked.sort_unstable();
    worked.dedup();
    assert_eq!((worked.len(), log.lines().count()), (many, many), "{log}");
    check_turns(&firsts, slots);
    if asked_for.is_some() {
        report(folder, &firsts, took);
    }
}

/// Returns what the model answers: in each state it first does what the other one grants.
fn steps() -> Vec<Value> {
    let read = json!(["read_file", {"path": "a.txt"}]);
    let write = json!(["write_file", {"path": "b.txt", "content": "b\n"}]);
    let send = |event: &str| json!(["send_event", {"event": event}]);
    vec![
        json!({"when": "in its state `looking`", "again": true, "calls": [write, read, send("seen")]}),
        json!({"when": "in its state `mending`", "again": true, "calls": [read, write, send("mended")]}),
    ]
}

/// Checks a run: an attempt for each state, one after another, each within its grants. Returns when the first began.
fn check_run(run: &str, records: &[Value]) -> u64 {
    let mut attempts = Vec::new();
    let mut is_open = false;
    for record in records {
        match record["kind"].as_str() {
            Some("attempt.started") => {
                assert!(!is_open, "{run}: two at once");
                is_open = true;
                attempts.push(record["body"]["state"].as_str().unwrap());
            }
            Some("attempt.ended") => {
                is_open = false;
                assert_eq!(record["body"]["outcome"], "advanced", "{run}");
            }
            _ => {}
        }
    }
    assert_eq!(attempts, ["looking", "mending", "checking"], "{run}");
    let called = of_kind(records, "tool").into_iter().map(|it| {
        let body = &it["body"];
        (body["name"].as_str().unwrap(), body["verdict"] == "denied")
    });
    let mut called: Vec<(&str, bool)> = called.filter(|it| it.0.ends_with("_file")).collect();
    // One that runs has a record before, too, where others must not run meanwhile.
    called.dedup();
    let granted = [
        ("write_file", true),
        ("read_file", false),
        ("read_file", true),
        ("write_file", false),
    ];
    assert_eq!(called, granted, "{run}");
    of_kind(records, "attempt.started")[0]["time"]
        .as_u64()
        .unwrap()
}

/// Checks that those which were there first came first: none was overtaken by more than were worked on at once.
fn check_turns(firsts: &[(u64, usize)], slots: usize) {
    let mut order = firsts.to_vec();
    order.sort_unstable();
    let turns: BTreeMap<usize, usize> = order
        .iter()
        .enumerate()
        .map(|(turn, (_, number))| (*number, turn))
        .collect();
    for (number, turn) in turns {
        let late = turn.saturating_sub(number);
        assert!(
            late <= 2 * slots,
            "run {number} came after {late} that began later: {order:?}"
        );
    }
}

/// Writes down how the first attempts were spread.
fn report(folder: &Path, firsts: &[(u64, usize)], took: Duration) {
    let mut times: Vec<u64> = firsts.iter().map(|it| it.0).collect();
    times.sort_unstable();
    let after = |at: usize| times[at] - times[0];
    let text = format!(
        "{} runs in {took:?}; first attempts after {} ms (half of them) and {} ms (the last)\n",
        times.len(),
        after(times.len() / 2),
        after(times.len() - 1),
    );
    println!("{text}");
    fs::write(folder.with_extension("report"), text).unwrap();
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program's list is for the program"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
