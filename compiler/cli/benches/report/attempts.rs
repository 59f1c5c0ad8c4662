//! Attempts of an executor: the CPU of an attempt and of a call of a tool, beside a bare loop against the same model.
//!
//! The model is a scripted API on this machine, which answers at once. The bare loop asks it word for word what the executor
//! has asked, reads the answers, and does what they call for; it has no state, no policy and no record.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::Api;
use crate::bench::{Bench, cpu_of_children, table};
use crate::shell::{BINARY, Scratch, untouched};

/// Turns of each; the middle one counts.
const TURNS: usize = 3;

/// What attempts are measured by.
#[derive(Clone, Copy)]
enum Work {
    /// Attempts with one answer each: an event.
    Attempts,
    /// One attempt, whose answers call a tool.
    Calls,
}

impl Work {
    /// Returns the numbers of which the difference is taken, so that the start doesn't count.
    const fn counts(self) -> [u32; 2] {
        match self {
            Self::Attempts => [20, 220],
            // A conversation is sent whole with each question: a long one would measure its length.
            Self::Calls => [5, 55],
        }
    }
}

pub(crate) fn section(_: &Bench) -> String {
    let rows = [
        ("an attempt: prompt, answer, event", Work::Attempts),
        ("a call in it: answer, `read_file`", Work::Calls),
    ];
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(name, work)| {
            let turns: Vec<[f64; 2]> = (0..TURNS).map(|_| of_one(work)).collect();
            let middle = |at: usize| {
                let mut all: Vec<f64> = turns.iter().map(|turn| turn[at]).collect();
                all.sort_by(f64::total_cmp);
                format!("{:.2}", all[TURNS / 2])
            };
            vec![name.to_owned(), middle(0), middle(1)]
        })
        .collect();
    String::from(
        "`statemark agent run` with a scripted model on this machine, each step committed to SQLite; beside it a loop that asks \
         the same model the same, and does what it answers, without states, policy and records.\n\n",
    ) + &table(&["milliseconds of CPU", "`agent run`", "bare loop"], &rows)
}

/// Returns the CPU of one attempt or call, and of the same in a bare loop. Unit: milliseconds.
fn of_one(work: Work) -> [f64; 2] {
    let counts = work.counts();
    let [few, many] = counts.map(|count| measure(work, count));
    let of_one = |many: Duration, few: Duration| {
        let all = many.saturating_sub(few).as_secs_f64() * 1e3;
        all / f64::from(counts[1] - counts[0])
    };
    [of_one(many.0, few.0), of_one(many.1, few.1)]
}

/// Returns the CPU of a run with so many attempts or calls, and that of a bare loop.
fn measure(work: Work, count: u32) -> (Duration, Duration) {
    let scratch = Scratch::new("bench-attempts");
    let folder = scratch.path.as_path();
    let again = json!({"calls": [["send_event", {"event": "again"}]]});
    let read = json!({"calls": [["read_file", {"path": "a.txt"}]]});
    let (most, script) = match work {
        Work::Attempts => (count, vec![again]),
        Work::Calls => {
            let reads = (0..count).map(|_| read.clone());
            (0, reads.chain([again]).collect())
        }
    };
    let api = Api::start(script);
    scratch.write("a.txt", "a line\n");
    scratch.write("loop.md", &spec(most));
    scratch.write("statemark.toml", &settings(api.address));
    let mut shell = untouched("bash", folder);
    shell.args(["-c", "\"$@\" >&2 && times", "bash", BINARY]);
    shell.args(["agent", "run", "loop", "--run-id", "r"]);
    shell.env_remove("STATEMARK_NOW");
    let ours = cpu(&mut shell);
    let asked = api.asked();
    let expected = usize::try_from(count).unwrap() + 1;
    assert_eq!(asked.len(), expected);
    // What is asked now is answered by the script's last step, which is as long as the others.
    let bare = Api::start(match work {
        Work::Attempts => vec![json!({"calls": [["send_event", {"event": "again"}]]})],
        Work::Calls => vec![read],
    });
    (ours, bare_loop(bare.address, asked, folder))
}

/// Returns the CPU of a command that a shell starts, which tells it at its end.
fn cpu(shell: &mut Command) -> Duration {
    let output = shell.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    cpu_of_children(&String::from_utf8(output.stdout).unwrap())
}

/// Asks, reads and does, in a thread whose CPU is returned.
fn bare_loop(address: SocketAddr, asked: Vec<Value>, folder: &Path) -> Duration {
    let folder = folder.to_path_buf();
    let thread = std::thread::spawn(move || {
        let begun = cpu_of_thread();
        for body in &asked {
            for call in ask(address, body) {
                let given = call["function"]["arguments"].as_str().unwrap();
                let given: Value = serde_json::from_str(given).unwrap();
                if let Some(path) = given["path"].as_str() {
                    fs::read_to_string(folder.join(path)).unwrap();
                }
            }
        }
        cpu_of_thread().saturating_sub(begun)
    });
    thread.join().unwrap()
}

/// Asks a model, and returns the calls of its answer.
fn ask(address: SocketAddr, body: &Value) -> Vec<Value> {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let data = answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let parts = data.filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let calls = parts.filter_map(|part| {
        let calls = part["choices"][0]["delta"]["tool_calls"].as_array();
        calls.cloned()
    });
    calls.flatten().collect()
}

/// Returns the CPU of this thread until now, as Linux tells it.
fn cpu_of_thread() -> Duration {
    // What has run since the last turn of the scheduler isn't in it.
    std::thread::sleep(Duration::from_millis(1));
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(told.split(' ').next().unwrap().parse().unwrap())
}

/// Returns a machine with a state that is entered so many times.
fn spec(most: u32) -> String {
    format!(
        "## STATE-MACHINE: loop\n\n```mermaid\nstateDiagram-v2\n    [*] --> on\n    on --> on : again [n < {most}] / add\n\
         \x20   on --> over : again [n >= {most}]\n    over --> [*] : /\n```\n\n```json definition\n\
         {{\"context\": {{\"n\": 0}}, \"actions\": {{\"add\": {{\"assign\": {{\"n\": \"n + 1\"}}}}}},\n\
         \"states\": {{\"on\": {{\"executor\": \"model\", \"allowed_tools\": [\"read_file\"]}}}}}}\n```\n"
    )
}

fn settings(address: SocketAddr) -> String {
    format!(
        "[packs.fs]\n[executor]\nmodel = \"m:m\"\nmax_turns = 1000\n[executor.models.\"m:\"]\nurl = \"http://{address}/v1\"\n"
    )
}
