//! Durable sends by servers, beside bare databases, and reads by many clients: ratios of turns within one run.
//!
//! A bare writer is a process that commits the rows of an append by prepared statements, with the same guarantees.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Bench, load, table};
use crate::client::Client;
use crate::raw::Listening;
use crate::served::spec;
use crate::shell::Scratch;

/// Turns of each; the middle ratio counts.
const TURNS: usize = 7;

/// Sends of a process in a turn.
const SENDS: usize = 60;

/// Clients of one server that send at once.
const CLIENTS: usize = 16;

/// Clients that read at once, and for how long.
const READERS: usize = 64;
const READING: Duration = Duration::from_secs(3);

pub(crate) fn section(bench: &Bench) -> String {
    let stores = bench.executable("stores");
    let mut rows = Vec::new();
    let bare = Scratch::new("bench-races-bare");
    let file = bare.path.join("bare.db").display().to_string();
    for processes in [1, 8] {
        let writers = Writers::start(&stores, ["bare", &file], processes);
        let name = format!("SQLite, {processes}");
        rows.push(race(name, Served::each(processes, None), writers));
    }
    let mut left_out = "";
    match Database::start(&stores) {
        Some(database) => {
            for processes in [1, 16] {
                let address = Some(database.address.as_str());
                let writers = database.writers(&stores, processes);
                let name = format!("PostgreSQL, {processes}");
                rows.push(race(name, Served::each(processes, address), writers));
            }
            let writers = database.writers(&stores, CLIENTS);
            let name = format!("PostgreSQL, {CLIENTS} clients of one `serve` over HTTP");
            let served = Served::together(CLIENTS, &database.address);
            rows.push(race(name, served, writers));
        }
        None => left_out = "\nLeft out: PostgreSQL, which isn't installed.\n",
    }
    let columns = ["durable sends by `serve`", "a second", "bare", "of bare"];
    let [few, many] = [2, READERS].map(reads);
    format!(
        "Each process has a run and a client of its own, over standard input and output; the client's work counts too. \
         Bare is a process for each client. {}\n\n\
         {}{left_out}\n{READERS} clients that call `get_run` over HTTP: {few:.0} calls a second on two runs, {many:.0} on {READERS}.\n",
        load(),
        table(&columns, &rows)
    )
}

/// The clients of servers, each with a run of its own; what each does sends an event.
struct Served {
    clients: Vec<Box<dyn FnMut() + Send>>,
    /// Until this is dropped, the servers' folder is there, and the one that has all clients.
    _kept: (Scratch, Option<Listening>),
}

impl Served {
    /// Starts a server for each client.
    fn each(count: usize, address: Option<&str>) -> Self {
        let scratch = ticking();
        let arguments: Vec<&str> = address.iter().flat_map(|it| ["--store", it]).collect();
        let clients = (0..count).map(|number| {
            let mut client = Client::start(&scratch.path, &arguments);
            let run = format!("race-{count}-{number}");
            let start = json!({"workflow": "tick", "run_id": run});
            assert_eq!(client.call("start_run", &start)["ok"], true);
            let send = tick(&run);
            let send = move || assert_eq!(client.call("send_event", &send)["ok"], true);
            Box::new(send) as Box<dyn FnMut() + Send>
        });
        Self {
            clients: clients.collect(),
            _kept: (scratch, None),
        }
    }

    /// Starts one server for all clients, over HTTP.
    fn together(count: usize, address: &str) -> Self {
        let scratch = ticking();
        let server = Listening::start(&scratch.path, &["--store", address]);
        let clients = (0..count).map(|number| {
            let mut client = Reader::new(&server);
            let run = format!("race-together-{number}");
            client.call("start_run", &json!({"workflow": "tick", "run_id": run}));
            let send = tick(&run);
            Box::new(move || client.call("send_event", &send)) as Box<dyn FnMut() + Send>
        });
        Self {
            clients: clients.collect(),
            _kept: (scratch, Some(server)),
        }
    }
}

fn ticking() -> Scratch {
    let scratch = Scratch::new("bench-races");
    scratch.write("tick.md", &spec(2));
    scratch
}

fn tick(run: &str) -> Value {
    json!({"run_id": run, "event": "tick", "data": {"by": "ann"}})
}

/// Lets servers and bare writers commit in turns.
fn race(name: String, mut served: Served, mut bare: Writers) -> Vec<String> {
    let count = served.clients.len();
    let mut turns: Vec<(f64, Duration, Duration)> = (0..TURNS)
        .map(|_| {
            let began = Instant::now();
            std::thread::scope(|scope| {
                for send in &mut served.clients {
                    scope.spawn(move || (0..SENDS).for_each(|_| send()));
                }
            });
            let (ours, bare) = (began.elapsed(), bare.turn());
            (bare.as_secs_f64() / ours.as_secs_f64(), ours, bare)
        })
        .collect();
    turns.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (ratio, ours, bare) = turns[TURNS / 2];
    let rate =
        |time: Duration| f64::from(u32::try_from(SENDS * count).unwrap()) / time.as_secs_f64();
    vec![
        name,
        format!("{:.0}", rate(ours)),
        format!("{:.0}", rate(bare)),
        format!("{ratio:.2}"),
    ]
}

/// Bare writers, until this is dropped.
struct Writers(Vec<(Child, BufReader<ChildStdout>)>);

impl Writers {
    fn start(stores: &Path, [mode, place]: [&str; 2], processes: usize) -> Self {
        let writers = (0..processes).map(|number| {
            let mut command = Command::new(stores);
            let run = format!("run-{processes}-{number}");
            command.args([mode, place, &run, &SENDS.to_string()]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            (child, output)
        });
        Self(writers.collect())
    }

    /// Lets all of them commit at once, and returns the time of the slowest.
    fn turn(&mut self) -> Duration {
        for (child, _) in &mut self.0 {
            writeln!(child.stdin.as_mut().unwrap()).unwrap();
        }
        let times = self.0.iter_mut().map(|(_, output)| {
            let mut text = String::new();
            output.read_line(&mut text).unwrap();
            Duration::from_micros(text.trim().parse().unwrap())
        });
        times.max().unwrap()
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        for (child, _) in &mut self.0 {
            // It ends with its input.
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// A PostgreSQL server, until this is dropped.
struct Database {
    process: Child,
    address: String,
}

impl Database {
    fn start(stores: &Path) -> Option<Self> {
        let mut command = Command::new(stores);
        command.arg("postgres").stdin(Stdio::piped());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let database = Self { process, address };
        (!database.address.is_empty()).then_some(database)
    }

    /// Starts bare writers to it.
    fn writers(&self, stores: &Path, processes: usize) -> Writers {
        Writers::start(stores, ["bare-postgres", &self.address], processes)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

/// Counts the calls a second of many clients that read as many runs.
fn reads(runs: usize) -> f64 {
    let scratch = Scratch::new("bench-reads");
    scratch.write("tick.md", &spec(2));
    let server = Listening::start(&scratch.path, &[]);
    for run in 0..runs {
        let start = json!({"workflow": "tick", "run_id": format!("r{run}")});
        assert_eq!(server.call("start_run", &start, "")["ok"], true);
    }
    let began = Instant::now();
    let calls: usize = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|number| {
                let (server, run) = (&server, number % runs);
                scope.spawn(move || read_on(server, run))
            })
            .collect();
        readers.into_iter().map(|it| it.join().unwrap()).sum()
    });
    f64::from(u32::try_from(calls).unwrap()) / began.elapsed().as_secs_f64()
}

/// Reads a run again and again over one connection.
fn read_on(server: &Listening, run: usize) -> usize {
    let mut reader = Reader::new(server);
    let arguments = json!({"run_id": format!("r{run}")});
    let (began, mut calls) = (Instant::now(), 0);
    while began.elapsed() < READING {
        reader.call("get_run", &arguments);
        calls += 1;
    }
    calls
}

/// A caller over one connection, which stays open.
pub(crate) struct Reader {
    host: String,
    stream: TcpStream,
}

impl Reader {
    pub(crate) fn new(server: &Listening) -> Self {
        let stream = server.connect();
        stream.set_nodelay(true).unwrap();
        let host = server.at.clone();
        Self { host, stream }
    }

    /// Calls a tool, which must succeed.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) {
        let params = crate::client::newer(&json!({"name": tool, "arguments": arguments}));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).unwrap();
        let (mut part, mut answer) = ([0; 32 << 10], Vec::new());
        while !is_whole(&answer) {
            let count = self.stream.read(&mut part).unwrap();
            assert_ne!(count, 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&part[..count]);
        }
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(!answer.contains("\"isError\":true"), "{answer}");
    }
}

/// Reports whether an answer has come to its end: its last chunk, or its length.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let head = head.to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|it| it.strip_prefix("content-length: "));
    match length.and_then(|it| it.parse::<usize>().ok()) {
        Some(length) => body.len() >= length,
        None => text.ends_with("\r\n0\r\n\r\n"),
    }
}
