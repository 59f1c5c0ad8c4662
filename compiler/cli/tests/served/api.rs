//! The API beside MCP: the same objects by paths, with statuses.

use serde_json::json;

use super::raw::Listening;
use super::resources::desk;
use crate::keeping::said;
use crate::shell::token;

#[test]
fn a_run_is_driven_and_decided() {
    let scratch = desk("api-story");
    let server = Listening::start(&scratch.path, &[]);
    let listed = server.get("/api/workflows", "").json();
    assert_eq!(listed["data"]["workflows"][0]["id"], "desk");
    let shown = server.get("/api/workflows/desk?format=mermaid", "").json();
    assert!(
        shown["data"]["text"]
            .as_str()
            .unwrap()
            .starts_with("stateDiagram-v2")
    );
    assert_eq!(server.get("/api/workflows/none", "").status, 404);
    let start = json!({"workflow": "desk", "run_id": "r1"});
    let begun = server.post("/api/runs", "", &start);
    assert_eq!(
        (begun.status, &begun.json()["data"]["run_id"]),
        (201, &json!("r1"))
    );
    assert_eq!(server.post("/api/runs", "", &start).status, 409);
    let found = server
        .get("/api/runs?status=running,waiting&limit=1", "")
        .json();
    assert_eq!(found["data"]["runs"][0]["run_id"], "r1");
    let list = server.post("/api/runs", "", &json!([1]));
    assert_eq!(
        (list.status, list.code().as_str()),
        (400, "invalid_arguments")
    );
    assert_eq!(server.get("/api/runs?limit=many", "").status, 400);
    assert_eq!(server.get("/api/runs?colour=red", "").status, 400);
    let twice = server.get("/api/runs?limit=1&status=running&limit=2", "");
    assert_eq!(
        (twice.status, twice.code().as_str()),
        (400, "invalid_arguments")
    );
    assert_eq!(twice.json()["error"]["details"]["path"], "limit");
    let refused = server.post("/api/runs/r1/events", "", &json!({"event": "accept"}));
    assert_eq!(refused.status, 409, "{refused:?}");
    scratch.write("text.md", "## Aim\n\nTo be read.\n");
    said(
        &scratch,
        "statemark artifacts put r1 text text.md --final",
        0,
    );
    let moved = server.post("/api/runs/r1/events", "", &json!({"event": "done"}));
    assert_eq!(moved.json()["data"]["to"], json!(["checking"]));
    let asked = server
        .post("/api/runs/r1/events", "", &json!({"event": "accept"}))
        .json();
    let request = asked["data"]["asked"].as_str().unwrap().to_owned();
    let open = server.get("/api/runs/r1/requests", "").json();
    assert_eq!(open["data"]["requests"][0]["request_id"], request.as_str());
    let path = format!("/api/requests/{request}");
    let refused = server.post(&path, "", &json!({"action": "approve"}));
    assert!([403, 409].contains(&refused.status), "{refused:?}");
    let ann = token(&scratch.path, "ann --role person");
    let ann = format!("Authorization: Bearer {ann}\r\n");
    let decided = server.post(&path, &ann, &json!({"action": "approve"}));
    assert_eq!(decided.status, 200, "{decided:?}");
    let seen = server
        .get("/api/runs/r1?include=context,visits", &ann)
        .json();
    assert_eq!(seen["data"]["next"]["status"], "completed");
    assert!(seen["data"]["visits"].is_object());
    let events = server
        .get("/api/runs/r1/events?kinds=event&view=transcript", &ann)
        .json();
    let by: Vec<&str> = events["data"]["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["by"].as_str().unwrap())
        .collect();
    assert_eq!(by, ["agent", "ann (person)"]);
    assert_eq!(server.get("/api/nothing", &ann).status, 404);
    let large = json!({"workflow": "desk", "input": {"large": "x".repeat(700_000)}});
    let large = server.post("/api/runs", &ann, &large);
    assert_eq!((large.status, large.code().as_str()), (413, "too_large"));
    let wrong = server.raw(
        &format!("POST /api/runs HTTP/1.1\r\nHost: {}\r\n{ann}", server.at),
        b"workflow=desk",
    );
    assert_eq!(wrong.status, 415);
}

#[test]
fn what_scopes_a_server_holds_for_the_api() {
    let scratch = desk("api-scope");
    said(&scratch, "statemark start desk --run-id r1", 0);
    said(&scratch, "statemark start desk --run-id r2", 0);
    let server = Listening::start(&scratch.path, &["--read-only", "--run", "r1"]);
    assert_eq!(server.get("/api/runs/r1", "").status, 200);
    assert_eq!(server.get("/api/runs/r2", "").status, 403);
    assert_eq!(server.get("/api/stream?run_id=r2", "").status, 403);
    let refused = server.post("/api/runs/r1/events", "", &json!({"event": "done"}));
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "not_offered")
    );
    // Whatever is asked for wrongly is answered as everything else.
    for (path, status, code) in [
        ("/api/nothing", 404, "unknown_path"),
        ("/api/requests/r1", 405, "unknown_method"),
        ("/api/stream?after=abc", 400, "invalid_arguments"),
    ] {
        let refused = server.get(path, "");
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (status, code),
            "{path}"
        );
    }
    // What there is, is told with and without a slash; nothing is answered without a word.
    for path in ["/api", "/api/"] {
        let index = server.get(path, "");
        assert_eq!(index.status, 200, "{path}");
        let index = index.json();
        let paths = index["data"]["paths"].as_array().unwrap().clone();
        assert!(paths.iter().any(|it| it["path"] == "/api/runs"), "{index}");
        for told in paths {
            let path = told["path"].as_str().unwrap().replace("{id}", "none");
            for method in told["methods"].as_array().unwrap() {
                let method = method.as_str().unwrap();
                // A stream and MCP have tests of their own.
                if ["/api/stream", "/mcp"].contains(&path.as_str()) {
                    continue;
                }
                let answer = match method {
                    "GET" => server.get(&path, ""),
                    _ => server.post(&path, "", &json!({})),
                };
                let code = answer.code();
                assert!(
                    !["unknown_path", "unknown_method"].contains(&code.as_str()),
                    "{path}"
                );
            }
        }
    }
    for path in ["/nothing", "/apis", "/dashboard", "/dashboard/nothing.js"] {
        let refused = server.get(path, "");
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (404, "unknown_path"),
            "{path}"
        );
    }
    // Sets of ours that are named are all that there is.
    let server = Listening::start(&scratch.path, &["--toolsets", "human"]);
    assert_eq!(server.get("/api/runs/r2/requests", "").status, 200);
    for path in [
        "/api/runs",
        "/api/runs/r2",
        "/api/runs/r2/timeline",
        "/api/stream",
    ] {
        let refused = server.get(path, "");
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (404, "not_offered"),
            "{path}"
        );
    }
    // Without them clients are told of the default ones, and the API has a path to every tool of ours.
    for options in [[].as_slice(), &["--profile", "statewright"]] {
        let server = Listening::start(&scratch.path, options);
        // It is there; that the run's state grants it to nobody is another matter.
        let refused = server.get("/api/runs/r2/timeline", "");
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (403, "not_granted")
        );
        let listed = server.ask("tools/list", &json!({}), "").json().to_string();
        assert!(!listed.contains("get_timeline"), "{listed}");
    }
}
