//! HTTP, by raw requests: who is let in, and how a server begins and ends.

use std::fs;
use std::io::{Read, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{newer, serve};
use super::raw::Listening;
use super::resources::desk;
use crate::keeping::said;
use crate::shell::token;

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

#[test]
fn pages_and_other_names_are_refused() {
    let scratch = desk("http-sources");
    let options = [
        "--host",
        "runs.example.org",
        "--origin",
        "https://runs.example.org",
    ];
    let server = Listening::start(&scratch.path, &options);
    let at = &server.at;
    for (host, origin, status, code) in [
        (at.as_str(), "", 200, ""),
        ("localhost", "", 200, ""),
        ("[::1]:1", "", 200, ""),
        ("runs.example.org", "", 200, ""),
        ("runs.example.org:443", "https://runs.example.org", 200, ""),
        ("evil.example", "", 403, "bad_host"),
        ("localhost.evil.example", "", 403, "bad_host"),
        ("localhost:1", "http://localhost:1", 200, ""),
        ("evil.example", "http://evil.example", 403, "bad_host"),
        ("localhost:1", "http://localhost:2", 403, "bad_origin"),
        (at.as_str(), "https://evil.example", 403, "bad_origin"),
        (at.as_str(), "http://localhost", 403, "bad_origin"),
        (at.as_str(), "null", 403, "bad_origin"),
    ] {
        let origin = match origin {
            "" => String::new(),
            origin => format!("Origin: {origin}\r\n"),
        };
        for path in ["/api/workflows", "/metrics"] {
            let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{origin}");
            let answer = server.raw(&head, b"");
            assert_eq!(answer.status, status, "{head}{answer:?}");
            if !code.is_empty() {
                assert_eq!(answer.code(), code);
            }
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }});
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n"
        );
        let answer = server.raw(&head, body.to_string().as_bytes());
        assert_eq!(answer.status, status, "{head}{answer:?}");
    }
    // A request that says no name at all.
    let answer = server.raw("GET /api/workflows HTTP/1.0\r\n", b"");
    assert_eq!(answer.status, 403);
    // Whether it is there is nobody's secret.
    let healthy = server.raw("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n", b"");
    assert_eq!((healthy.status, healthy.body.as_str()), (200, "ok\n"));
}

#[test]
fn tokens_say_who_calls_and_are_worth_nothing_once_revoked() {
    let scratch = desk("http-tokens");
    let elsewhere = desk("http-tokens-elsewhere");
    let server = Listening::start(&scratch.path, &[]);
    // Nobody has a token yet: whoever is on this machine is an agent.
    let begun = server.call(
        "start_run",
        &json!({"workflow": "desk", "run_id": "r1"}),
        "",
    );
    assert_eq!(begun["ok"], true, "{begun}");
    server.call(
        "start_run",
        &json!({"workflow": "desk", "run_id": "r2"}),
        "",
    );
    let stranger = token(&elsewhere.path, "bot --role agent");
    let bot = token(&scratch.path, "bot --role agent --run r1");
    let eve = token(&scratch.path, "eve --role observer");
    sleep(NOTICED);
    for headers in [
        String::new(),
        bearer("smk_0000"),
        bearer(&stranger),
        format!("Authorization: Basic {bot}\r\n"),
        format!("Authorization: {bot}\r\n"),
        "Authorization: Bearer\r\n".to_owned(),
    ] {
        for answer in [
            server.get("/api/runs", &headers),
            server.get("/metrics", &headers),
            server.ask("tools/list", &json!({}), &headers),
        ] {
            assert_eq!(answer.status, 401, "{headers}{answer:?}");
            assert_eq!(answer.code(), "unauthorized");
            assert!(
                answer
                    .head
                    .to_ascii_lowercase()
                    .contains("www-authenticate: bearer")
            );
        }
    }
    let seen = server.call("get_run", &json!({}), &bearer(&bot));
    assert_eq!(seen["data"]["next"]["run_id"], "r1");
    let refused = server.call("get_run", &json!({"run_id": "r2"}), &bearer(&bot));
    assert_eq!(refused["error"]["code"], "other_run");
    let read = json!({"uri": "statemark://run/r2"});
    let headers = format!("Mcp-Name: statemark://run/r2\r\n{}", bearer(&bot));
    let refused = server.ask("resources/read", &read, &headers).json();
    assert_eq!(refused["error"]["data"]["code"], "other_run", "{refused}");
    let refused = server.call(
        "send_event",
        &json!({"run_id": "r1", "event": "done"}),
        &bearer(&eve),
    );
    assert_eq!(refused["error"]["code"], "read_only");
    let seen = server.get("/api/runs/r1", &bearer(&eve));
    assert_eq!(seen.status, 200);
    said(&scratch, "AS=root statemark token revoke bot", 0);
    sleep(NOTICED);
    let refused = server.get("/api/runs/r1", &bearer(&bot));
    assert_eq!(refused.status, 401);
    // A list in the folder, as former versions kept it, changes nothing.
    fs::write(scratch.path.join(".statemark/tokens.json"), "{").unwrap();
    let seen = server.get("/api/runs/r1", &bearer(&eve));
    assert_eq!(seen.status, 200);
}

/// Time after which every server has noticed a change of tokens.
const NOTICED: Duration = Duration::from_millis(300);

#[test]
fn revoking_the_last_token_opens_nothing() {
    let scratch = desk("http-last-token");
    said(&scratch, "statemark start desk --run-id r1", 0);
    let server = Listening::start(&scratch.path, &[]);
    assert_eq!(server.get("/api/runs/r1", "").status, 200, "never a token");
    let bot = token(&scratch.path, "bot --role agent");
    sleep(NOTICED);
    assert_eq!(server.get("/api/runs/r1", "").status, 401);
    said(&scratch, "AS=root statemark token revoke bot", 0);
    // The last person stays, or nobody could decide.
    said(&scratch, "AS=root statemark token revoke root", 2);
    sleep(NOTICED);
    assert_eq!(server.get("/api/runs/r1", "").status, 401);
    assert_eq!(server.get("/api/runs/r1", &bearer(&bot)).status, 401);
    let later = Listening::start(&scratch.path, &[]);
    assert_eq!(later.get("/api/runs/r1", "").status, 401);
}

#[test]
fn a_stream_ends_with_its_token() {
    let scratch = desk("http-streams");
    said(&scratch, "statemark start desk --run-id r1", 0);
    let bot = token(&scratch.path, "bot --role agent");
    let server = Listening::start(&scratch.path, &[]);
    let mut stream = server.connect();
    let head = format!(
        "GET /api/stream?run_id=r1&after_seq=0 HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n",
        server.at,
        bearer(&bot)
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut part = [0; 4096];
    let mut text = String::new();
    while !text.contains("run.started") {
        let count = stream.read(&mut part).unwrap();
        assert_ne!(count, 0, "{text}");
        text += &String::from_utf8_lossy(&part[..count]);
    }
    said(&scratch, "AS=root statemark token revoke bot", 0);
    let began = Instant::now();
    while stream.read(&mut part).unwrap() != 0 {}
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_is_no_request_is_refused() {
    let scratch = desk("http-hostile");
    let server = Listening::start(&scratch.path, &[]);
    let at = server.at.clone();
    let accept =
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {at}\r\n{accept}");
    let deep = "[".repeat(100_000);
    for body in [
        "",
        "{",
        "null",
        "[]",
        "{\"jsonrpc\": \"1.0\"}",
        deep.as_str(),
    ] {
        let answer = server.raw(&head, body.as_bytes());
        assert!(
            (400..500).contains(&answer.status),
            "{body:.20}: {answer:?}"
        );
    }
    let large = vec![b' '; (32 << 20) + 1];
    for path in ["/mcp", "/api/runs"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {at}\r\n{accept}");
        assert_eq!(server.raw(&head, &large).status, 413, "{path}");
    }
    for (arguments, code) in [
        (json!({"run_id": 7}), "invalid_arguments"),
        (json!({"runId": "a", "run_id": "b"}), "invalid_arguments"),
        (json!({"run_id": ""}), "invalid_arguments"),
        (json!({"run_id": "none"}), "unknown_run"),
    ] {
        let refused = server.call("get_run", &arguments, "");
        assert_eq!(refused["error"]["code"], code, "{arguments}: {refused}");
    }
    let unknown = server.ask(
        "tools/call",
        &json!({"name": "no_such_tool", "arguments": {}}),
        "",
    );
    assert_eq!(unknown.json()["error"]["code"], -32602, "{unknown:?}");
    // The server is as well as before.
    assert_eq!(server.get("/healthz", "").status, 200);
}

#[test]
fn small_answers_do_not_wait() {
    let scratch = desk("http-quick");
    let server = Listening::start(&scratch.path, &[]);
    let mut stream = server.connect();
    let body = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "prompts/list",
        "params": newer(&json!({})),
    });
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: prompts/list\r\nContent-Length: {}\r\n\r\n{body}",
        server.at,
        body.len()
    );
    let mut quickest = Duration::MAX;
    for _ in 0..40 {
        let began = Instant::now();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        // The answer comes in several small parts.
        while !text.ends_with("\r\n0\r\n\r\n") {
            let mut part = [0; 16 << 10];
            let count = stream.read(&mut part).unwrap();
            assert_ne!(count, 0, "{text}");
            text += &String::from_utf8_lossy(&part[..count]);
        }
        quickest = quickest.min(began.elapsed());
    }
    // Without TCP_NODELAY each would take 40 ms.
    assert!(quickest < Duration::from_millis(38), "{quickest:?}");
}

#[test]
fn what_happened_is_counted() {
    let scratch = desk("http-metrics");
    said(&scratch, "statemark start desk --run-id r1", 0);
    said(&scratch, "statemark start desk --run-id r2", 0);
    said(&scratch, "statemark pause r2", 0);
    let server = Listening::start(&scratch.path, &[]);
    server.call("list_runs", &json!({}), "");
    server.call("get_run", &json!({"run_id": "none"}), "");
    server.get("/api/runs/none", "");
    server.get("/api/runs", "Authorization: Bearer smk_none\r\n");
    server.get("/api/runs", "Origin: http://evil.example\r\n");
    server.raw("GET /api/runs HTTP/1.1\r\nHost: evil.example\r\n", b"");
    let answer = server.get("/metrics", "");
    let head = answer.head.to_ascii_lowercase();
    assert!(
        head.contains("content-type: application/openmetrics-text"),
        "{head}"
    );
    for line in [
        "statemark_calls_total{tool=\"list_runs\",outcome=\"ok\"} 1",
        "statemark_calls_total{tool=\"get_run\",outcome=\"refused\"} 2",
        "statemark_refusals_total{code=\"unknown_run\"} 2",
        "statemark_refusals_total{code=\"unauthorized\"} 1",
        "statemark_refusals_total{code=\"bad_origin\"} 1",
        "statemark_refusals_total{code=\"bad_host\"} 1",
        "statemark_call_seconds_count 3",
        "statemark_connections 1",
        "statemark_runs{status=\"running\"} 1",
        "statemark_runs{status=\"paused\"} 1",
        "statemark_runs{status=\"completed\"} 0",
    ] {
        assert!(
            answer.body.lines().any(|it| it == line),
            "{line} in\n{}",
            answer.body
        );
    }
}

#[cfg(unix)]
#[test]
fn the_session_file_is_there_as_long_as_the_server() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = desk("http-session");
    let server = Listening::start(&scratch.path, &[]);
    let file = server.session_file();
    let session: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let url = format!("http://{}/mcp", server.at);
    assert_eq!(
        session,
        json!({"mcpServers": {"statemark": {"type": "http", "url": url}}})
    );
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    // Another one comes and goes: the first one is found again.
    let other = Listening::start(&scratch.path, &[]);
    assert!(fs::read_to_string(&file).unwrap().contains(&other.at));
    assert!(other.end());
    assert!(fs::read_to_string(&file).unwrap().contains(&server.at));
    // One that ends first leaves the other's file alone, and doesn't come back with it.
    let other = Listening::start(&scratch.path, &[]);
    assert!(server.end());
    assert!(fs::read_to_string(&file).unwrap().contains(&other.at));
    assert!(other.end());
    assert!(!file.exists());
    let bot = token(&scratch.path, "bot --role agent");
    let server = Listening::with(&scratch.path, &[], |it| it.env("STATEMARK_TOKEN", &bot));
    let session: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let entry = &session["mcpServers"]["statemark"];
    // Its clients have a token of their own, which ends with the server.
    let own = entry["headers"]["Authorization"].as_str().unwrap();
    assert_ne!(own, format!("Bearer {bot}"));
    let own = format!("Authorization: {own}\r\n");
    assert_eq!(server.get("/api/runs", &own).status, 200);
    // A stream that is open doesn't keep it.
    let mut stream = server.connect();
    write!(
        stream,
        "GET /api/stream HTTP/1.1\r\nHost: {}\r\n{}\r\n",
        server.at,
        bearer(&bot)
    )
    .unwrap();
    let began = Instant::now();
    assert!(server.end());
    assert!(began.elapsed() < Duration::from_secs(8));
    assert!(!file.exists());
    let later = Listening::start(&scratch.path, &[]);
    assert_eq!(later.get("/api/runs", &own).status, 401);
    assert_eq!(later.get("/api/runs", &bearer(&bot)).status, 200);
    // One that is killed leaves its file behind; the next one takes the token in it back.
    let session: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let entry = &session["mcpServers"]["statemark"];
    let own = entry["headers"]["Authorization"].as_str().unwrap();
    let own = format!("Authorization: {own}\r\n");
    assert_eq!(later.get("/api/runs", &own).status, 200);
    drop(later);
    let next = Listening::start(&scratch.path, &[]);
    // A server knows its tokens for a moment before it reads them again.
    let until = Instant::now() + Duration::from_secs(10);
    while next.get("/api/runs", &own).status != 401 {
        assert!(Instant::now() < until, "the token is still good");
        sleep(Duration::from_millis(50));
    }
    assert!(next.end());
    assert!(!file.exists());
}

#[test]
fn a_server_that_cannot_listen_says_why() {
    let scratch = desk("http-taken");
    let server = Listening::start(&scratch.path, &[]);
    let told = |arguments: &[&str]| {
        let output = serve(&scratch.path, arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let error = told(&["--http", &server.at]);
    assert!(
        error.contains(&format!("can't listen at {}", server.at)),
        "{error}"
    );
    assert!(error.contains("another program has the port"), "{error}");
    let error = told(&["--http", "0.0.0.0:0"]);
    assert!(error.contains("needs tokens"), "{error}");
    // The file of the first one is still there.
    assert!(server.session_file().exists());
}
