//! Checks whose caller gives up or goes away: nothing of them goes on, and the journal says so.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Client;
use super::raw::Listening;
use crate::keeping::said;
use crate::shell::{BINARY, Scratch, untouched};

/// What takes longer has gone wrong. The check takes five times as long.
const LONGEST: Duration = Duration::from_secs(60);

/// The check is slow until there is a file `quick`; whatever it has begun holds the pipe `alive`.
const SPEC: &str = r#"# Slow

## STATE-MACHINE

```json definition
{
  "id": "slow",
  "initial": "working",
  "checks": {"tests": {"command": ["sh", "-c", "test -e quick && exit; exec 3> alive; sleep 300 & sleep 300"]}},
  "states": {"working": {"requires": ["tests"], "on": {"ship": "over"}}, "over": {"type": "final"}}
}
```
"#;

fn slow(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("slow.md", SPEC);
    scratch.write("statemark.toml", "store = \"runs.db\"\n");
    let made = Command::new("mkfifo")
        .arg(scratch.path.join("alive"))
        .status();
    assert!(made.unwrap().success());
    said(&scratch, "statemark start slow --run-id r1", 0);
    scratch
}

fn check() -> Value {
    let arguments = json!({"run_id": "r1", "name": "tests", "idempotency_key": "k"});
    json!({"name": "run_check", "arguments": arguments})
}

/// Waits until the check runs.
fn wait_for_check(scratch: &Scratch) -> File {
    let path = scratch.path.join("alive");
    let (tell, told) = channel();
    // Opening it waits until somebody writes, for ever if nobody does.
    std::thread::spawn(move || tell.send(File::open(path)));
    let opened = told.recv_timeout(LONGEST);
    opened.expect("the check hasn't begun").unwrap()
}

/// Waits until nothing that the check has begun is there any more, and then until the journal says so.
fn ended(scratch: &Scratch, mut alive: File) {
    let began = Instant::now();
    alive.read_to_end(&mut Vec::new()).unwrap();
    loop {
        let told = said(scratch, "statemark events r1 --kind check", 0).stdout;
        if told.contains("check `tests` was cancelled") {
            break;
        }
        assert!(began.elapsed() < LONGEST, "{told}");
    }
    // By itself it ends, too, but later.
    assert!(began.elapsed() < LONGEST);
    let refused = said(scratch, "statemark send r1 ship", 1).stderr;
    let is_told = refused.contains("check `tests` was cancelled (record ")
        && refused.contains("); run it again");
    assert!(is_told, "{refused}");
}

#[test]
fn a_check_that_is_given_up_ends_with_all_that_it_has_begun() {
    let scratch = slow("given-up");
    let mut client = Client::start(&scratch.path, &["--toolsets", "project,runs"]);
    let asked = client.begin("tools/call", &check());
    let alive = wait_for_check(&scratch);
    client.tell("notifications/cancelled", &json!({"requestId": asked}));
    ended(&scratch, alive);
    // Nobody has had an answer: the same key runs it again.
    scratch.write("quick", "");
    let passed = client.ask("tools/call", &check())["result"]["structuredContent"].take();
    assert_eq!(passed["data"]["passed"], true, "{passed}");
    let shipped = client.call("send_event", &json!({"run_id": "r1", "event": "ship"}));
    assert_eq!(shipped["data"]["to"], json!(["over"]), "{shipped}");
}

#[test]
fn a_check_ends_with_the_client_that_has_it_run() {
    let scratch = slow("given-up-left");
    let mut client = Client::start(&scratch.path, &["--toolsets", "project,runs"]);
    client.begin("tools/call", &check());
    let alive = wait_for_check(&scratch);
    assert_eq!(client.leave(), Some(0));
    ended(&scratch, alive);
}

#[test]
fn a_check_ends_with_its_server() {
    let scratch = slow("given-up-ended");
    let mut client = Client::start(&scratch.path, &["--toolsets", "project,runs"]);
    client.begin("tools/call", &check());
    let alive = wait_for_check(&scratch);
    assert_eq!(client.end(), Some(0));
    ended(&scratch, alive);
}

#[test]
fn a_check_ends_with_the_connection_of_its_caller() {
    let scratch = slow("given-up-http");
    let server = Listening::start(&scratch.path, &["--toolsets", "project,runs"]);
    let connection = server.begin("tools/call", &check());
    let alive = wait_for_check(&scratch);
    drop(connection);
    ended(&scratch, alive);
    drop(server);
}

#[test]
fn a_check_ends_with_a_server_that_listens() {
    let scratch = slow("given-up-http-ended");
    let server = Listening::start(&scratch.path, &["--toolsets", "project,runs"]);
    let _connection = server.begin("tools/call", &check());
    let alive = wait_for_check(&scratch);
    assert!(server.end());
    ended(&scratch, alive);
}

/// By the keyboard, by a service manager, with its terminal: the check has a group of its own, which the terminal doesn't reach.
#[test]
fn a_check_ends_with_its_command() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        if signal == "-HUP" && is_ignored_here(1) {
            println!(
                "not tried: whoever began these tests has the closing of terminals ignored (`nohup`)"
            );
            continue;
        }
        let scratch = slow(&format!("given-up-command{signal}"));
        let mut command = run_check(&scratch, "");
        let alive = wait_for_check(&scratch);
        send_signal(&command, signal);
        assert_eq!(command.wait().unwrap().code(), Some(1), "{signal}");
        ended(&scratch, alive);
    }
}

#[test]
fn a_check_goes_on_without_its_terminal_where_that_is_wished() {
    let scratch = slow("given-up-nohup");
    let mut command = run_check(&scratch, "trap '' HUP;");
    let alive = wait_for_check(&scratch);
    send_signal(&command, "-HUP");
    // It looks for signals much more often than this.
    std::thread::sleep(Duration::from_secs(2));
    assert!(command.try_wait().unwrap().is_none());
    send_signal(&command, "-TERM");
    assert_eq!(command.wait().unwrap().code(), Some(1));
    ended(&scratch, alive);
}

/// Starts `run-check` for the run, from a shell that does something else before.
fn run_check(scratch: &Scratch, before: &str) -> Child {
    let script = format!("{before} exec \"$0\" run-check tests --run r1");
    let mut shell = untouched("sh", &scratch.path);
    shell.args(["-c", &script, BINARY]);
    shell.stdout(Stdio::null()).spawn().unwrap()
}

fn send_signal(process: &Child, signal: &str) {
    let id = process.id().to_string();
    let told = Command::new("kill").args([signal, &id]).status();
    assert!(told.unwrap().success());
}

/// Whether a signal was ignored when these tests were begun: then what they begin ignores it, too.
fn is_ignored_here(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|it| u64::from_str_radix(it.trim(), 16).ok());
    mask.is_some_and(|it| it >> (signal - 1) & 1 == 1)
}
