//! Streams of events: of one run and of all, and how they go on after an interruption.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::raw::Listening;
use super::resources::desk;
use crate::keeping::said;
use crate::shell::Scratch;
use crate::shell::token;

/// A stream as a reader has it.
struct Reader {
    lines: BufReader<TcpStream>,
    /// The id that it would come back with.
    id: String,
}

impl Reader {
    fn open(server: &Listening, path: &str, headers: &str) -> Self {
        let mut stream = server.connect();
        let at = &server.at;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {at}\r\n{headers}\r\n").unwrap();
        let mut reader = Self {
            lines: BufReader::new(stream),
            id: String::new(),
        };
        while reader.line().trim() != "content-type: text/event-stream" {}
        reader
    }

    /// Comes back with the id of what was read last.
    fn again(&self, server: &Listening, headers: &str) -> Self {
        let headers = format!("Last-Event-ID: {}\r\n{headers}", self.id);
        Self::open(server, "/api/stream", &headers)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let count = self.lines.read_line(&mut line).unwrap();
        assert_ne!(count, 0, "the stream has ended");
        line
    }

    /// Reads up to the next id.
    fn marked(mut self) -> Self {
        let before = self.id.clone();
        while self.id == before {
            self.read_line();
        }
        self
    }

    /// Reads a line; its data if it has some.
    fn read_line(&mut self) -> Option<Value> {
        let line = self.line();
        if let Some(id) = line.strip_prefix("id: ") {
            id.trim().clone_into(&mut self.id);
        }
        let data = line.strip_prefix("data: ")?;
        Some(serde_json::from_str(data).unwrap())
    }

    /// The data of the next event, whose id is known then.
    fn next(&mut self) -> Value {
        let mut found = None;
        loop {
            // An empty line ends an event, and the head of the answer.
            match self.read_line() {
                None if found.is_some() => return found.unwrap(),
                None => {}
                data => found = data,
            }
        }
    }

    /// Of the next events, which runs they are about, where those end, and with which status, until one is of this run.
    fn until(&mut self, run: &str) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let event = self.next();
            let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            all.push(format!(
                "{} {} {}",
                text("run_id"),
                event["seq"],
                text("status")
            ));
            if event["run_id"] == run {
                return all;
            }
        }
    }
}

fn begin(scratch: &Scratch, runs: &[&str]) {
    for run in runs {
        said(scratch, &format!("statemark start desk --run-id {run}"), 0);
    }
}

#[test]
fn the_records_of_a_run_go_on_where_they_were_cut_off() {
    let scratch = desk("stream-run");
    let server = Listening::start(&scratch.path, &[]);
    begin(&scratch, &["r1"]);
    let mut one = Reader::open(&server, "/api/stream?run_id=r1&after_seq=0", "");
    let record = one.next();
    assert_eq!(
        (one.id.as_str(), &record["kind"]),
        ("1", &json!("run.started"))
    );
    drop(one);
    // Another process than the server.
    said(&scratch, "statemark pause r1", 0);
    let mut one = Reader::open(&server, "/api/stream?run_id=r1", "Last-Event-ID: 1\r\n");
    let record = one.next();
    assert_eq!(
        (one.id.as_str(), &record["kind"]),
        ("2", &json!("run.paused"))
    );
    assert_eq!(server.get("/api/stream?run_id=none", "").status, 404);
}

#[test]
fn all_runs_go_on_where_they_were_cut_off() {
    let scratch = desk("stream-all");
    begin(&scratch, &["r1", "r2", "r3"]);
    let server = Listening::start(&scratch.path, &[]);
    // Whoever is cut off before the first event has an id to come back with.
    let reader = Reader::open(&server, "/api/stream", "").marked();
    let first = reader.id.clone();
    let mut reader = reader.again(&server, "");
    said(&scratch, "statemark pause r3", 0);
    assert_eq!(reader.until("r3"), ["r3 2 paused"]);
    let cut = reader;
    for line in ["pause r1", "pause r2", "continue r1"] {
        said(&scratch, &format!("statemark {line}"), 0);
    }
    let missed = ["r2 2 paused", "r1 3 running"];
    let mut reader = cut.again(&server, "");
    assert_eq!(reader.until("r1"), missed);
    // Then what is new, and nothing twice.
    begin(&scratch, &["r4"]);
    assert_eq!(reader.until("r4"), ["r4 1 running"]);
    // Another server over the same store knows the ids, too.
    drop(server);
    begin(&scratch, &["r5"]);
    let server = Listening::start(&scratch.path, &[]);
    let mut later = cut.again(&server, "");
    let mut expected = missed.to_vec();
    expected.extend(["r4 1 running", "r5 1 running"]);
    assert_eq!(later.until("r5"), expected);
    assert_eq!(reader.again(&server, "").until("r5"), ["r5 1 running"]);
    let mut all = Reader::open(&server, &format!("/api/stream?after={first}"), "");
    assert_eq!(
        all.until("r5"),
        [
            "r3 2 paused",
            "r2 2 paused",
            "r1 3 running",
            "r4 1 running",
            "r5 1 running"
        ]
    );
    // What the header says is newer than what the address says.
    let path = format!("/api/stream?after={first}");
    let headers = format!("Last-Event-ID: {}\r\n", reader.id);
    assert_eq!(
        Reader::open(&server, &path, &headers).until("r5"),
        ["r5 1 running"]
    );
    // Who has missed nothing is told what is new alone.
    let mut later = all.again(&server, "").marked();
    said(&scratch, "statemark pause r5", 0);
    assert_eq!(later.until("r5"), ["r5 2 paused"]);
}

#[test]
fn an_id_that_is_not_from_here_is_said_to_have_missed_something() {
    let scratch = desk("stream-lost");
    begin(&scratch, &["r1"]);
    let server = Listening::start(&scratch.path, &[]);
    for id in [
        "1000000",
        "18446744073709551615",
        "99999999999999999999",
        "x",
        "-1",
    ] {
        let headers = format!("Last-Event-ID: {id}\r\n");
        let mut reader = Reader::open(&server, "/api/stream", &headers);
        while reader.line().trim() != "event: missed" {}
        assert_eq!(reader.next(), json!({}), "{id}");
        // From there on it goes on.
        let begun = format!("after-{id}");
        begin(&scratch, &[&begun]);
        assert_eq!(reader.until(&begun), [format!("{begun} 1 running")]);
    }
}

#[test]
fn a_reader_of_one_run_hears_of_no_other() {
    let scratch = desk("stream-bound");
    begin(&scratch, &["r1", "r2"]);
    let bot = token(&scratch.path, "bot --role agent --run r1");
    let bot = format!("Authorization: Bearer {bot}\r\n");
    let server = Listening::start(&scratch.path, &[]);
    let headers = format!("Last-Event-ID: 1\r\n{bot}");
    let mut own = Reader::open(&server, "/api/stream", &headers);
    said(&scratch, "statemark pause r2", 0);
    said(&scratch, "statemark pause r1", 0);
    let record = own.next();
    assert_eq!(
        (own.id.as_str(), &record["run_id"], &record["kind"]),
        ("2", &json!("r1"), &json!("run.paused"))
    );
    let refused = server.get("/api/stream?run_id=r2", &bot);
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "other_run")
    );
    // Marks are of all runs, records' places of one.
    for path in ["/api/stream?after=0", "/api/stream?run_id=r1&after=0"] {
        let refused = server.get(path, &bot);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "invalid_arguments"),
            "{path}"
        );
    }
    let eve = token(&scratch.path, "eve --role observer");
    let refused = server.get(
        "/api/stream?after_seq=0",
        &format!("Authorization: Bearer {eve}\r\n"),
    );
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (400, "invalid_arguments")
    );
}
