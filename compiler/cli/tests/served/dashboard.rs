//! The dashboard's page: who gets it, what its headers allow, and that it decides nothing that its reader may not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::raw::{Answer, Listening};
use super::resources::desk;
use crate::keeping::said;
use crate::shell::{person_token, token};

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// The value of a header of an answer.
fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    let mut lines = answer.head.lines();
    lines.find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}

/// The files that a text of the dashboard names.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for quote in ['"', '\''] {
        let words = text.split(quote);
        for word in words {
            let is_path = word.starts_with("/dashboard/") || word.starts_with("./");
            let is_file = [".js", ".css", ".svg"].iter().any(|it| word.ends_with(it));
            if is_path && is_file && !word.contains(char::is_whitespace) {
                found.insert(word.trim_start_matches("./").to_owned());
            }
        }
    }
    found
}

#[test]
fn the_page_and_all_that_it_loads_come_from_the_server() {
    let scratch = desk("dashboard-files");
    let server = Listening::start(&scratch.path, &[]);
    let page = server.get("/", "");
    assert_eq!(page.status, 200);
    let mut open: Vec<String> = named(&page.body).into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let file = server.get(&path, "");
        assert_eq!(file.status, 200, "{path}");
        let media = header(&file, "content-type").unwrap();
        let wanted = match Path::new(&path).extension().unwrap().to_str().unwrap() {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            _ => "image/svg+xml",
        };
        assert_eq!(media, wanted, "{path}");
        // An import names a file beside the one that imports it.
        let (folder, _) = path.rsplit_once('/').unwrap();
        let imports = named(&file.body)
            .into_iter()
            .map(|it| match it.starts_with('/') {
                true => it,
                false => format!("{folder}/{it}"),
            });
        open.extend(imports);
    }
    assert!(seen.contains("/dashboard/vendor/preact.js"), "{seen:?}");
    assert!(seen.contains("/dashboard/inbox.js"), "{seen:?}");
}

#[test]
fn the_page_runs_nothing_else_and_stands_in_no_frame() {
    let scratch = desk("dashboard-headers");
    let server = Listening::start(&scratch.path, &[]);
    for path in ["/", "/dashboard/app.js"] {
        let answer = server.get(path, "");
        for (name, value) in [
            (
                "content-security-policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                 connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            ),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-cache"),
        ] {
            assert_eq!(header(&answer, name), Some(value), "{path}");
        }
        // No cookie: nothing that a browser sends by itself gives a right.
        assert_eq!(header(&answer, "set-cookie"), None);
        // A browser that has it gets no second copy.
        let tag = header(&answer, "etag").unwrap();
        let known = server.get(path, &format!("If-None-Match: {tag}\r\n"));
        assert_eq!((known.status, known.body.as_str()), (304, ""));
        let other = server.get(path, "If-None-Match: \"other\"\r\n");
        assert_eq!(other.status, 200);
    }
    // The page has no script and no style of its own, which the policy would refuse.
    let page = server.get("/", "").body;
    assert!(!page.contains("<style") && !page.contains("style="));
    assert_eq!(page.matches("<script").count(), 1);
}

#[test]
fn the_page_is_for_whoever_reaches_the_server_by_its_name() {
    let scratch = desk("dashboard-hosts");
    token(&scratch.path, "bot --role agent");
    let server = Listening::start(&scratch.path, &["--host", "runs.example.org"]);
    let at = server.at.clone();
    let elsewhere = "https://evil.example";
    for (host, origin, status) in [
        (at.as_str(), None, 200),
        ("runs.example.org", None, 200),
        ("evil.example", None, 403),
        (at.as_str(), Some(elsewhere), 403),
    ] {
        let origin = origin.map(|it| format!("Origin: {it}\r\n"));
        let origin = origin.unwrap_or_default();
        for path in ["/", "/dashboard/app.js"] {
            let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{origin}");
            assert_eq!(server.raw(&head, b"").status, status, "{head}");
        }
    }
    // It says nothing about runs; the API does, to whoever has a token.
    assert_eq!(server.get("/api/me", "").status, 401);
    assert_eq!(server.get("/api/runs", "").status, 401);
}

#[test]
fn callers_learn_who_they_are() {
    let scratch = desk("dashboard-me");
    let server = Listening::start(&scratch.path, &[]);
    let me = |headers: &str| server.get("/api/me", headers).json()["data"].clone();
    assert_eq!(me(""), json!({"role": "agent", "has_token": false}));
    said(&scratch, "statemark start desk --run-id r1", 0);
    let bot = token(&scratch.path, "bot --role agent --run r1");
    let eve = token(&scratch.path, "eve --role observer");
    let root = person_token(&scratch.path, "root", &[]);
    sleep(Duration::from_millis(300));
    assert_eq!(
        me(&bearer(&bot)),
        json!({"role": "agent", "name": "bot", "has_token": true, "run_id": "r1"})
    );
    assert_eq!(me(&bearer(&eve))["role"], "observer");
    assert_eq!(me(&bearer(&root))["role"], "person");
}

#[test]
fn only_a_person_on_the_servers_own_page_decides() {
    let scratch = desk("dashboard-decides");
    let root = person_token(&scratch.path, "root", &[]);
    let bot = token(&scratch.path, "bot --role agent");
    let eve = token(&scratch.path, "eve --role observer");
    said(&scratch, "statemark start desk --run-id r1", 0);
    said(&scratch, "statemark ask r1 'May I?' --kind confirm", 0);
    let server = Listening::start(&scratch.path, &[]);
    let at = server.at.clone();
    let open = server.get("/api/requests", &bearer(&eve)).json();
    let request = open["data"]["requests"][0]["request_id"].clone();
    assert_eq!(open["data"]["requests"][0]["run_id"], "r1", "{open}");
    let path = format!("/api/requests/{}", request.as_str().unwrap());
    let approve = json!({"action": "approve"});
    let own = format!("Origin: http://{at}\r\n");
    let other = "Origin: http://127.0.0.1:1\r\n";
    for (headers, status, code) in [
        (own.clone(), 401, "unauthorized"),
        (format!("{own}{}", bearer(&eve)), 403, "read_only"),
        (format!("{own}{}", bearer(&bot)), 403, "not_a_person"),
        // Another page that has got hold of a person's token, and a form that sends no JSON.
        (format!("{other}{}", bearer(&root)), 403, "bad_origin"),
        (
            "Origin: null\r\n".to_owned() + &bearer(&root),
            403,
            "bad_origin",
        ),
        // A cookie is no credential.
        (
            format!("{own}Cookie: statemark.token={root}\r\n"),
            401,
            "unauthorized",
        ),
        // Nor is a token in an address.
    ] {
        let answer = server.post(&path, &headers, &approve);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{headers}{answer:?}"
        );
    }
    let stolen = server.post(&format!("{path}?token={root}"), &own, &approve);
    assert_eq!(stolen.status, 401);
    let decided = server.post(&path, &format!("{own}{}", bearer(&root)), &approve);
    assert_eq!(
        decided.json()["data"]["resolution"],
        "approved",
        "{decided:?}"
    );
}

#[test]
fn what_the_page_orders_has_a_path() {
    let scratch = desk("dashboard-orders");
    let root = person_token(&scratch.path, "root", &[]);
    let server = Listening::start(&scratch.path, &[]);
    let headers = bearer(&root);
    let post = |path: &str, body: &Value| server.post(path, &headers, body).json();
    let begun = post("/api/runs", &json!({"workflow": "desk", "run_id": "r1"}));
    assert_eq!(begun["ok"], true, "{begun}");
    let why = server.get("/api/runs/r1/why", &headers).json();
    assert!(why["data"]["blockers"].is_array(), "{why}");
    let paused = post("/api/runs/r1/control", &json!({"action": "pause"}));
    assert_eq!(paused["data"]["status"], "paused", "{paused}");
    post("/api/runs/r1/control", &json!({"action": "continue"}));
    let plan = post("/api/runs/r1/fork", &json!({"at_seq": 1, "dry_run": true}));
    assert!(plan["data"]["plan"].is_object(), "{plan}");
    let plan = post("/api/runs/r1/rewind", &json!({"to": 1, "dry_run": true}));
    let confirm = plan["data"]["confirm_token"].clone();
    let done = post(
        "/api/runs/r1/rewind",
        &json!({"to": 1, "confirm_token": confirm}),
    );
    assert_eq!(done["data"]["to"], 1, "{done}");
    let findings = server.get("/api/workflows/desk/findings", &headers).json();
    assert!(findings["data"]["diagnostics"].is_array(), "{findings}");
    // The source of a workflow may have been edited since.
    fs::write(scratch.path.join("desk.md"), "# Nothing\n").unwrap();
    let gone = server.get("/api/workflows/none/findings", &headers);
    assert_eq!(gone.status, 404);
}

#[test]
fn what_an_approval_leads_to_is_said_by_the_runs_own_table() {
    let scratch = desk("dashboard-pinned");
    let spec = |target: &str| {
        let states = json!({
            "asked": {"on": {"go": {"target": target, "requires_approval": true, "actions": ["pay"]}}},
            target: {"on": {"end": "over"}},
            "over": {"type": "final"},
        });
        let spec = json!({"id": "pinned", "initial": "asked", "states": states});
        fs::write(scratch.path.join("pinned.workflow.json"), spec.to_string()).unwrap();
    };
    spec("charged");
    said(&scratch, "statemark start pinned --run-id r1", 0);
    said(&scratch, "statemark send r1 go", 0);
    // An agent may write the file.
    spec("only_a_preview");
    let server = Listening::start(&scratch.path, &[]);
    let read = |path: &str| server.get(path, "").json()["data"].clone();
    let leads = json!([{"from": "asked", "to": ["charged"], "actions": ["pay"]}]);
    for path in ["/api/requests", "/api/runs/r1/requests"] {
        assert_eq!(read(path)["requests"][0]["leads"], leads, "{path}");
    }
    let brief = read("/api/requests?brief=true");
    assert_eq!(brief["requests"][0].get("leads"), None, "{brief}");
    let own = read("/api/runs/r1?include=states,transitions,events");
    let now = read("/api/workflows/pinned");
    let names = |it: &Value| it["states"].as_array().unwrap()[1]["state"].clone();
    let to = |it: &Value| it["transitions"][0]["to"][0].clone();
    assert_eq!(
        (names(&own), to(&own)),
        (json!("charged"), json!("charged"))
    );
    assert_eq!(
        (names(&now), to(&now)),
        (json!("only_a_preview"), json!("only_a_preview"))
    );
    let drawing = server.get("/api/runs/r1/graph.svg", "").body;
    assert!(drawing.contains("charged") && !drawing.contains("only_a_preview"));
}
