//! Calls that wait: how many may, and what ends them.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::client::Client;
use super::raw::{Listening, answer_of};
use super::resources::desk;
use crate::keeping::{filled, said};
use crate::shell::Scratch;

/// More calls than a server has threads that may block.
const MANY: usize = 600;

/// What takes longer has gone wrong; a wait that nothing ends takes twice as long.
const SOON: Duration = Duration::from_secs(12);

fn begin(name: &str) -> (Scratch, Listening) {
    let scratch = desk(name);
    said(&scratch, "statemark start desk --run-id r1", 0);
    said(&scratch, "statemark start desk --run-id r2", 0);
    let server = Listening::start(&scratch.path, &[]);
    (scratch, server)
}

fn wait(server: &Listening, more: &Value) -> TcpStream {
    let mut arguments = json!({"run_id": "r1", "timeout_ms": 25_000});
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    let params = json!({"name": "wait_run", "arguments": arguments});
    server.begin("tools/call", &params)
}

/// The data of a wait's answer.
fn waited(connection: TcpStream) -> Value {
    answer_of(connection).json()["result"]["structuredContent"]["data"].clone()
}

/// Has a run changed: a refusal is a record, too.
fn change(server: &Listening, run: &str) {
    let sent = server.call("send_event", &json!({"run_id": run, "event": "done"}), "");
    assert_eq!(sent["ok"], false, "{sent}");
}

/// How many waits are over, as the server counts them.
fn ended(server: &Listening) -> usize {
    let metrics = server.get("/metrics", "").body;
    let line = "statemark_calls_total{tool=\"wait_run\",outcome=\"ok\"} ";
    let count = metrics.lines().find_map(|it| it.strip_prefix(line));
    count.map_or(0, |it| it.parse().unwrap())
}

#[test]
fn many_waits_leave_others_served_and_end_by_a_change() {
    let (_scratch, server) = begin("waits-many");
    let waits: Vec<TcpStream> = (0..MANY).map(|_| wait(&server, &json!({}))).collect();
    // All of them have begun when a later one is over.
    waited(wait(&server, &json!({"run_id": "r2", "timeout_ms": 300})));
    let began = Instant::now();
    for _ in 0..20 {
        let seen = server.call("get_run", &json!({"run_id": "r2"}), "");
        assert_eq!(seen["ok"], true, "{seen}");
    }
    // A change of another run ends none.
    change(&server, "r2");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(ended(&server), 1);
    change(&server, "r1");
    let changed = Instant::now();
    for connection in waits {
        assert_eq!(waited(connection)["reached"], true);
    }
    assert!(changed.elapsed() < 2 * SOON, "{:?}", changed.elapsed());
}

#[test]
fn a_wait_ends_by_another_process_and_at_its_limit() {
    let (scratch, server) = begin("waits-ends");
    let by_other = wait(&server, &json!({}));
    let by_limit = wait(&server, &json!({"run_id": "r2", "timeout_ms": 300}));
    let began = Instant::now();
    let limited = waited(by_limit);
    assert_eq!(limited["reached"], false, "{limited}");
    let took = began.elapsed();
    assert!(Duration::from_millis(200) < took && took < SOON, "{took:?}");
    said(&scratch, "statemark pause r1", 0);
    let changed = waited(by_other);
    assert_eq!(changed["reached"], true, "{changed}");
    assert_eq!(changed["records"][0]["kind"], "run.paused", "{changed}");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    // What has changed before a wait begins ends it at once.
    let before = waited(wait(&server, &json!({"after_seq": 1})));
    assert_eq!(before["reached"], true, "{before}");
}

#[test]
fn a_wait_ends_with_its_client() {
    let (_scratch, server) = begin("waits-left");
    let waits: Vec<TcpStream> = (0..10).map(|_| wait(&server, &json!({}))).collect();
    // All of them have begun when a later one is over.
    waited(wait(&server, &json!({"timeout_ms": 300})));
    assert_eq!(ended(&server), 1);
    drop(waits);
    let left = Instant::now();
    while ended(&server) < 11 {
        assert!(left.elapsed() < SOON, "{}", ended(&server));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Holds the store of a folder, as another process does that writes.
fn hold(scratch: &Scratch) -> Connection {
    let store = Connection::open(scratch.path.join("runs.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    store
}

/// A call has the thread of its request, and waits on it for whoever holds the store.
#[test]
fn calls_that_wait_for_the_store_hold_up_nothing_else() {
    let scratch = filled("waits-held");
    let mut client = Client::start(&scratch.path, &[]);
    let send = json!({"name": "send_event", "arguments": {"run_id": "d1", "event": "pull"}});
    let push = json!({"run_id": "d1", "event": "push"});
    for _ in 0..10 {
        let store = hold(&scratch);
        let sent = client.begin("tools/call", &send);
        let ping = client.ask("ping", &json!({}));
        assert_eq!(ping["result"], json!({}), "{ping}");
        let seen = client.call("get_run", &json!({"run_id": "d1"}));
        assert_eq!(seen["ok"], true, "{seen}");
        assert!(!client.is_answered(sent), "nothing waited");
        store.execute_batch("COMMIT").unwrap();
        let answer = client.answer(sent).unwrap();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        assert_eq!(client.call("send_event", &push)["ok"], true);
    }
    assert_eq!(client.leave(), Some(0));

    // More of them than the server has threads.
    let server = Listening::start(&scratch.path, &[]);
    let store = hold(&scratch);
    let waits: Vec<TcpStream> = (0..40).map(|_| server.begin("tools/call", &send)).collect();
    for _ in 0..20 {
        assert_eq!(server.get("/healthz", "").status, 200);
    }
    store.execute_batch("COMMIT").unwrap();
    let taken = |connection| answer_of(connection).json()["result"]["isError"] == false;
    assert_eq!(waits.into_iter().map(taken).filter(|it| *it).count(), 1);
}
