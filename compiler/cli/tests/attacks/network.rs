//! What the port and the messages of an agent can't do: starve others, or have work done without end.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::{DOOR, attacked, done};
use crate::served::client::{Client, serve};
use crate::served::raw::{Listening, answer_of};
use crate::shell::{Scratch, token};

/// Files that a server may open in these tests. Why: few are enough to show that none starves.
const FILES: &str = "128";

/// A server that may open few files, over a store with the tokens of two agents.
struct Small {
    server: Listening,
    _scratch: Scratch,
    tokens: [String; 2],
}

impl Small {
    fn start(name: &str) -> Self {
        let scratch = Scratch::new(name);
        scratch.write("door.md", DOOR);
        done(&scratch, &["start", "door", "--run-id", "r1"]);
        let tokens = ["bot", "other"].map(|name| {
            let text = token(&scratch.path, &format!("{name} --role agent"));
            format!("Authorization: Bearer {text}\r\n")
        });
        let server = serve(&scratch.path, &[]);
        let mut command = Command::new("prlimit");
        command.args([&format!("--nofile={FILES}:{FILES}"), "--"]);
        command.arg(server.get_program()).args(server.get_args());
        command.current_dir(&scratch.path).envs(
            server
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        Self {
            server: Listening::of(&scratch.path, command),
            _scratch: scratch,
            tokens,
        }
    }

    fn is_served(&self, token: &str) {
        let answer = self.server.get("/api/runs/r1", token);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

#[test]
fn m4_half_open_requests_stop_nobody() {
    let small = Small::start("attack-m4");
    let slow: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut connection = small.server.connect();
            // The server may have ended it already.
            let _ = connection.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
            connection
        })
        .collect();
    for token in &small.tokens {
        small.is_served(token);
    }
    assert_eq!(small.server.get("/healthz", "").status, 200);
    drop(slow);
}

#[test]
fn h9_a_caller_leaves_connections_to_others() {
    let small = Small::start("attack-h9");
    let [greedy, other] = &small.tokens;
    let path = "/api/stream?run_id=r1";
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{greedy}\r\n");
    let begin = || {
        let mut connection = small.server.connect();
        connection.write_all(head.as_bytes()).unwrap();
        let mut begun = [0; 12];
        connection.read_exact(&mut begun).unwrap();
        (begun, connection)
    };
    let mut streams: Vec<TcpStream> = Vec::new();
    let refused = loop {
        let (begun, connection) = begin();
        if begun != *b"HTTP/1.1 200" {
            assert_eq!(begun, *b"HTTP/1.1 429");
            break connection;
        }
        streams.push(connection);
        assert!(streams.len() < 64, "a caller has all of the connections");
    };
    let refused = answer_of(refused);
    assert!(refused.body.contains("too_many_connections"), "{refused:?}");
    assert!(streams.len() > 40, "{} streams", streams.len());
    small.is_served(other);
}

/// Calls that wait take a caller's own places, and nobody else's.
#[test]
fn h9_a_caller_leaves_calls_to_others() {
    let scratch = Scratch::new("attack-h9-calls");
    scratch.write("door.md", DOOR);
    done(&scratch, &["start", "door", "--run-id", "r1"]);
    let [greedy, other] = ["bot", "other"].map(|name| {
        let text = token(&scratch.path, &format!("{name} --role agent"));
        format!("Authorization: Bearer {text}\r\n")
    });
    let server = Listening::start(&scratch.path, &[]);
    let head = format!("GET /api/stream?run_id=r1 HTTP/1.1\r\nHost: localhost\r\n{greedy}\r\n");
    let mut open: Vec<TcpStream> = Vec::new();
    let refused = loop {
        let mut connection = server.connect();
        connection.write_all(head.as_bytes()).unwrap();
        let mut begun = [0; 12];
        connection.read_exact(&mut begun).unwrap();
        if begun != *b"HTTP/1.1 200" {
            assert_eq!(begun, *b"HTTP/1.1 429");
            break answer_of(connection);
        }
        open.push(connection);
        assert!(open.len() <= 1_024, "a caller may wait for everything");
    };
    if refused.body.contains("too_many_connections") {
        // A system that lets a process open few files lets nobody wait so often.
        return;
    }
    assert!(refused.body.contains("too_many_calls"), "{refused:?}");
    assert_eq!(open.len(), 1_024);
    let ask = |header: &str| server.get("/api/runs/r1", header);
    assert_eq!(ask(&greedy).code(), "too_many_calls");
    assert_eq!(ask(&other).status, 200);
    // Places are given back.
    open.truncate(1_000);
    let begun = std::time::Instant::now();
    while ask(&greedy).status != 200 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// A large body that arrives slowly keeps its sender waiting, and nobody else.
#[test]
fn second_a_slow_large_body_stops_nobody() {
    let small = Small::start("attack-second-slow");
    let [slow, other] = &small.tokens;
    let head = |token: &str, length: usize| {
        format!(
            "POST /api/runs/r1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             {token}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        )
    };
    let held: Vec<TcpStream> = (0..4)
        .map(|_| {
            let mut connection = small.server.connect();
            connection
                .write_all(head(slow, 20 << 20).as_bytes())
                .unwrap();
            connection.write_all(&vec![b' '; 3 << 20]).unwrap();
            connection
        })
        .collect();
    let body = format!("{}{{\"event\": \"push\"}}", " ".repeat(3 << 20));
    let mut connection = small.server.connect();
    connection
        .write_all(head(other, body.len()).as_bytes())
        .unwrap();
    connection.write_all(body.as_bytes()).unwrap();
    let answer = answer_of(connection);
    assert_eq!(answer.status, 200, "{answer:?}");
    // Who announces too much is told before it comes.
    let mut connection = small.server.connect();
    connection
        .write_all(head(other, 99 << 20).as_bytes())
        .unwrap();
    let answer = answer_of(connection);
    assert_eq!(answer.status, 413, "{answer:?}");
    drop(held);
}

/// Of two headers, a proxy may have gone by the other one.
#[test]
fn second_a_decisive_header_stands_once() {
    let small = Small::start("attack-second-headers");
    let token = &small.tokens[0];
    for twice in [
        "Host: evil.example\r\n",
        "Origin: http://localhost\r\nOrigin: http://evil.example\r\n",
        &small.tokens[1],
    ] {
        let answer = small.server.get("/api/runs/r1", &format!("{token}{twice}"));
        assert_eq!(answer.status, 400, "{twice}: {answer:?}");
    }
    let head =
        format!("GET http://evil.example/api/runs/r1 HTTP/1.1\r\nHost: localhost\r\n{token}");
    let answer = small.server.raw(&head, b"");
    assert_eq!(answer.status, 403, "{answer:?}");
}

/// The most memory that a process has had. Unit: KiB.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}

#[test]
fn m3_a_message_is_refused_before_it_fills_the_memory() {
    let small = Small::start("attack-m3");
    let fields: Vec<String> = (0..1_500_000).map(|at| format!("\"k{at}\":{at}")).collect();
    let body = format!("{{{}}}", fields.join(","));
    assert!(body.len() > 20 << 20);
    for path in ["/api/runs/r1/events", "/mcp"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{}",
            small.tokens[0]
        );
        let answer = small.server.raw(&head, body.as_bytes());
        assert_eq!(answer.status, 413, "{path}: {}", answer.head);
        assert!(
            answer.body.contains("more than 100000 values"),
            "{answer:?}"
        );
    }
    let peak = peak(small.server.process.id());
    assert!(peak < 400 << 10, "{peak} KiB");
    let scratch = Scratch::new("attack-m3-stdio");
    scratch.write("door.md", DOOR);
    let mut client = Client::start(&scratch.path, &[]);
    let many: Map<String, Value> = (0..110_000)
        .map(|at| (format!("k{at}"), json!(at)))
        .collect();
    let answer = client.ask(
        "tools/call",
        &json!({"name": "list_runs", "arguments": many}),
    );
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("more than 100000 values"), "{message}");
    assert_eq!(client.call("list_runs", &json!({}))["ok"], true);
}

/// A workflow whose report is a list.
const REPORTED: &str = r#"## STATE-MACHINE: reported

```json definition
{
  "id": "reported",
  "initial": "open",
  "artifacts": {"report": {"format": "json", "schema": {"type": "array"}}, "notes": {"format": "json"}},
  "states": {"open": {"on": {"close": "over"}}, "over": {"type": "final"}}
}
```
"#;

#[test]
fn ninth_f1_artifacts_fill_no_memory() {
    let scratch = Scratch::new("attack-ninth-artifacts");
    scratch.write("reported.md", REPORTED);
    done(&scratch, &["start", "reported", "--run-id", "r1"]);
    let server = Listening::start(&scratch.path, &[]);
    let content = format!("[{}]", vec!["{\"a\":1}"; 400_000].join(","));
    let (listening, text) = (&server, &content);
    let call = move |name: &str| {
        // As older clients do: their answers begin before the tool does.
        let session = listening.begin_session("");
        let arguments = json!({"run_id": "r1", "name": name, "mode": "final", "content": text});
        let params = json!({"name": "submit_artifact", "arguments": arguments});
        listening.ask_older("tools/call", &params, &session).json()
    };
    std::thread::scope(|scope| {
        for at in 0..8 {
            scope.spawn(move || call(["report", "notes"][at % 2]));
        }
    });
    let refused = call("report").to_string();
    assert!(refused.contains("more than 200000 values"), "{refused}");
    let taken = call("notes");
    assert_eq!(taken["result"]["isError"], false, "{taken}");
    let peak = peak(server.process.id());
    assert!(peak < 400 << 10, "{peak} KiB");
}

#[test]
fn m1_a_schema_is_refused_that_takes_for_ever() {
    let scratch = Scratch::new("attack-m1");
    scratch.write("door.md", DOOR);
    let parts: Map<String, Value> = (0..40)
        .map(|at| {
            let next = json!({"$ref": format!("#/$defs/a{}", at + 1)});
            (format!("a{at}"), json!({"allOf": [next, next]}))
        })
        .chain([("a40".to_owned(), json!({"type": "object"}))])
        .collect();
    let schema = json!({"$ref": "#/$defs/a0", "$defs": parts});
    let mut agent = Client::start(&scratch.path, &[]);
    agent.call("start_run", &json!({"workflow": "door", "run_id": "r1"}));
    let asked = json!({"run_id": "r1", "prompt": "What?", "kind": "json", "schema": schema});
    let answer = agent.call("request_human", &asked);
    assert_eq!(answer["error"]["code"], "bad_request", "{answer:#}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("more than 10000 of its parts"),
        "{message}"
    );
}

/// Lints a document, which must be refused for its size and in time.
fn is_too_much(scratch: &Scratch, file: &str, text: &str, message: &str) {
    scratch.write(file, text);
    let said = attacked(scratch, &["lint", file]);
    assert_eq!(said.code, 1, "{}{}", said.stdout, said.stderr);
    assert!(
        said.stdout.contains(message) || said.stderr.contains(message),
        "{}",
        said.stderr
    );
    fs::remove_file(Path::new(&scratch.path).join(file)).unwrap();
}

#[test]
fn m2_scxml_takes_no_longer_than_its_size() {
    let scratch = Scratch::new("attack-m2");
    let nested: String = (0..100_000)
        .map(|at| format!("<n{at}:a xmlns:n{at}='n{at}'>"))
        .collect();
    is_too_much(&scratch, "names.scxml", &nested, "more than 64 namespaces");
    let attributes: String = (0..300_000).map(|at| format!(" a{at}='1'")).collect();
    let text = format!("<scxml{attributes}/>");
    is_too_much(
        &scratch,
        "attributes.scxml",
        &text,
        "more than 256 attributes",
    );
}

/// Guards that are asked in one step double its paths, and are looked at no more than those that are written out.
#[test]
fn third_guards_of_regions_dont_multiply_the_work() {
    let scratch = Scratch::new("third-guards");
    let region = |at: usize| format!("[*] --> a{at}\na{at} --> b{at} : go [g{at}]\n");
    let regions: Vec<String> = (0..40).map(region).collect();
    let text = format!(
        "## STATE-MACHINE: it\n\n```mermaid\nstateDiagram-v2\n[*] --> all\nstate all {{\n{}}}\n```\n",
        regions.join("--\n")
    );
    scratch.write("it.md", &text);
    done(&scratch, &["build", "it.md", "-o", "out", "--emit", "rust"]);
}

/// Over the loopback come all users of a machine; a store without tokens is its own user's.
#[test]
fn third_another_user_of_the_machine_is_nobody() {
    let scratch = Scratch::new("attack-third-user");
    scratch.write("door.md", DOOR);
    done(&scratch, &["start", "door", "--run-id", "r1"]);
    let server = Listening::start(&scratch.path, &[]);
    assert_eq!(server.get("/api/runs/r1", "").status, 200);
    let request = format!(
        "exec 3<>/dev/tcp/{}; printf 'GET /api/runs/r1 HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3",
        server.at.replace(':', "/")
    );
    let mut shell = Command::new("bash");
    shell.args(["-c", &request]).current_dir("/");
    let own = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    assert!(own.starts_with("HTTP/1.1 200"), "{own}");
    // Only the system's own user can be another one.
    std::os::unix::process::CommandExt::uid(&mut shell, 65_534);
    match shell.output() {
        Ok(output) => {
            let other = String::from_utf8(output.stdout).unwrap();
            assert!(other.starts_with("HTTP/1.1 401"), "{other}");
        }
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }
}

/// What a page of another site embeds, it learns nothing from.
#[test]
fn third_no_other_site_embeds_an_answer() {
    let small = Small::start("attack-third-sites");
    let token = &small.tokens[0];
    for (source, status) in [
        ("", 200),
        ("Sec-Fetch-Site: same-origin\r\n", 200),
        ("Sec-Fetch-Site: none\r\n", 200),
        (
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n",
            200,
        ),
        ("Sec-Fetch-Site: cross-site\r\n", 403),
        (
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n",
            403,
        ),
        (
            "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\n",
            403,
        ),
    ] {
        let answer = small
            .server
            .get("/api/runs/r1", &format!("{token}{source}"));
        assert_eq!(answer.status, status, "{source}: {answer:?}");
        let head = answer.head.to_ascii_lowercase();
        for header in [
            "x-content-type-options: nosniff",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(head.contains(header), "{source}: {head}");
        }
    }
}

#[test]
fn third_metrics_tell_a_bound_token_of_no_other_run() {
    let scratch = Scratch::new("attack-third-metrics");
    scratch.write("door.md", DOOR);
    for run in ["r1", "r2"] {
        done(&scratch, &["start", "door", "--run-id", run]);
    }
    let bound = token(&scratch.path, "b1 --role agent --run r2");
    let free = token(&scratch.path, "b2 --role observer");
    let server = Listening::start(&scratch.path, &[]);
    let of = |text: &str| format!("Authorization: Bearer {text}\r\n");
    assert_eq!(server.get("/metrics", &of(&free)).status, 200);
    assert_eq!(server.get("/metrics", &of(&bound)).status, 403);
}
