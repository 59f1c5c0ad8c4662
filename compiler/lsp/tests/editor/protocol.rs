//! What the protocol asks of every server.

use serde_json::{Value, json};
use statemark_lsp::{Message, Notification};

use crate::client::{Client, URI};

/// The checks, each with its name.
pub(crate) const CHECKS: &[(&str, fn())] = &[
    (
        "findings_are_pushed_or_pulled_never_both",
        findings_are_pushed_or_pulled_never_both,
    ),
    ("encodings_are_negotiated", encodings_are_negotiated),
    (
        "what_cant_be_read_is_answered",
        what_cant_be_read_is_answered,
    ),
    (
        "cancelled_requests_are_answered",
        cancelled_requests_are_answered,
    ),
    (
        "a_closed_document_has_no_findings",
        a_closed_document_has_no_findings,
    ),
    (
        "other_documents_are_left_alone",
        other_documents_are_left_alone,
    ),
    (
        "a_session_begins_and_ends_as_it_should",
        a_session_begins_and_ends_as_it_should,
    ),
    (
        "a_broken_configuration_is_told_once",
        a_broken_configuration_is_told_once,
    ),
    ("many_changes_are_one_push", many_changes_are_one_push),
];

const BROKEN: &str =
    "## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n  [*] --> a\n  a -> b : go\n```\n";

fn position(line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } })
}

fn findings_are_pushed_or_pulled_never_both() {
    let mut pushed = Client::new(&json!({}), &Value::Null);
    assert_eq!(
        pushed.initialized["capabilities"]["diagnosticProvider"],
        Value::Null
    );
    pushed.open(URI, BROKEN);
    assert!(!pushed.findings(URI).is_empty());
    let capabilities = json!({ "textDocument": { "diagnostic": {} } });
    let mut pulled = Client::new(&capabilities, &Value::Null);
    assert!(pulled.initialized["capabilities"]["diagnosticProvider"].is_object());
    pulled.open(URI, BROKEN);
    let params = json!({ "textDocument": { "uri": URI } });
    let report = pulled.ask("textDocument/diagnostic", params).unwrap();
    assert_eq!(report["kind"], "full");
    assert!(!report["items"].as_array().unwrap().is_empty());
    pulled.tell(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": URI } }),
    );
    let hover = pulled.ask("textDocument/hover", position(0, 0));
    assert_eq!(hover, Ok(Value::Null));
    assert!(pulled.unasked.is_empty(), "{:?}", pulled.unasked);
}

fn encodings_are_negotiated() {
    for (offered, chosen) in [
        (json!(null), "utf-16"),
        (json!([]), "utf-16"),
        (json!(["utf-16"]), "utf-16"),
        (json!(["utf-32", "utf-16"]), "utf-16"),
        (json!(["utf-16", "utf-8"]), "utf-8"),
    ] {
        let general = json!({ "general": { "positionEncodings": offered } });
        let client = Client::new(&general, &Value::Null);
        assert_eq!(
            client.initialized["capabilities"]["positionEncoding"],
            chosen
        );
    }
}

fn what_cant_be_read_is_answered() {
    let mut client = Client::new(&json!({}), &Value::Null);
    client.open(URI, BROKEN);
    let cases = [
        ("textDocument/hover", json!(5), -32602),
        ("textDocument/hover", json!({ "textDocument": 1 }), -32602),
        ("textDocument/rename", json!({}), -32602),
        ("textDocument/noSuchThing", json!({}), -32601),
        ("initialize", json!({ "capabilities": {} }), -32601),
    ];
    for (method, params, code) in cases {
        let answer = client.ask(method, params);
        assert_eq!(answer.unwrap_err().0, code, "{method}");
    }
    // Notifications have no answer, whatever is in them.
    for method in [
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didClose",
        "$/x",
    ] {
        client.tell(method, json!([1]));
    }
    // Positions anywhere are places of the text.
    for (line, character) in [(0, u32::MAX), (u32::MAX, 0), (u32::MAX, u32::MAX)] {
        client
            .ask("textDocument/hover", position(line, character))
            .unwrap();
    }
    let range =
        json!({ "start": { "line": 9, "character": 0 }, "end": { "line": 0, "character": 0 } });
    client.tell(
        "textDocument/didChange",
        json!({
            "textDocument": { "uri": URI, "version": 2 },
            "contentChanges": [{ "range": range, "text": "x" }],
        }),
    );
    assert_eq!(
        client.ask("textDocument/hover", position(5, 2)),
        Ok(Value::Null)
    );
    let warned =
        |it: &Message| matches!(it, Message::Notification(it) if it.method == "window/showMessage");
    assert!(client.unasked.iter().any(warned), "{:?}", client.unasked);
    client.finish().unwrap();
}

fn cancelled_requests_are_answered() {
    let mut client = Client::new(&json!({}), &Value::Null);
    client.open(URI, BROKEN);
    let mut ids = Vec::new();
    for _ in 0..200 {
        ids.push(client.send_request("textDocument/hover", position(4, 10)));
    }
    for id in &ids {
        let id = json!(id);
        client.send(Notification::new(
            "$/cancelRequest".to_owned(),
            json!({ "id": id }),
        ));
    }
    // Each has one answer: what was asked for, or that it was cancelled.
    for id in ids {
        let response = client.wait_for(&id);
        let error = response.response_result.err();
        assert!(error.is_none_or(|error| error.code == -32800));
    }
    client.finish().unwrap();
}

fn a_closed_document_has_no_findings() {
    let mut client = Client::new(&json!({}), &Value::Null);
    client.open(URI, BROKEN);
    assert!(!client.findings(URI).is_empty());
    client.tell(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": URI } }),
    );
    assert_eq!(client.findings(URI), Vec::<Value>::new());
}

fn other_documents_are_left_alone() {
    let mut client = Client::new(&json!({}), &Value::Null);
    for (name, text) in [
        (
            "a.md",
            "# A guide\n\nText with a state machine, and a diagram:\n\n```mermaid\nstateDiagram-v2\n a -> b\n```\n",
        ),
        ("b.md", ""),
        ("c.md", "```mermaid\nflowchart LR\n a --> b\n```\n"),
    ] {
        let uri = format!("file:///specs/{name}");
        client.open(&uri, text);
        assert_eq!(client.findings(&uri), Vec::<Value>::new(), "{name}");
        let document = json!({ "uri": uri });
        for method in [
            "documentSymbol",
            "foldingRange",
            "codeLens",
            "semanticTokens/full",
        ] {
            let params = json!({ "textDocument": document });
            let answer = client
                .ask(&format!("textDocument/{method}"), params)
                .unwrap();
            let items = answer.get("data").unwrap_or(&answer);
            assert_eq!(items, &json!([]), "{method} of {name}");
        }
        let options =
            json!({ "textDocument": document, "options": { "tabSize": 2, "insertSpaces": true } });
        assert_eq!(
            client.ask("textDocument/formatting", options),
            Ok(json!([])),
            "{name}"
        );
    }
}

fn a_session_begins_and_ends_as_it_should() {
    let mut client = Client::uninitialized();
    let answer = client.ask("textDocument/hover", position(0, 0));
    assert_eq!(answer.unwrap_err().0, -32002, "before it is initialized");
    let answer = client.ask("initialize", json!({ "capabilities": 7 }));
    assert_eq!(answer.unwrap_err().0, -32602);
    let params = json!({ "processId": null, "rootUri": null, "capabilities": {} });
    let answer = client.ask("initialize", params).unwrap();
    assert_eq!(answer["serverInfo"]["name"], "statemark");
    assert_eq!(
        answer["capabilities"]["codeLensProvider"],
        Value::Null,
        "it has no commands"
    );
    client.tell("initialized", json!({}));
    client.finish().unwrap();
}

fn many_changes_are_one_push() {
    let mut client = Client::new(&json!({}), &Value::Null);
    client.open(URI, BROKEN);
    let end = json!({ "line": 99, "character": 0 });
    for version in 2..400 {
        client.tell(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": URI, "version": version },
                "contentChanges": [{ "range": { "start": end, "end": end }, "text": "a\n" }],
            }),
        );
    }
    let mut versions = Vec::new();
    while versions.last() != Some(&399) {
        let message = client
            .unasked
            .pop_front()
            .unwrap_or_else(|| client.receive());
        if let Message::Notification(it) = message {
            versions.push(it.params["version"].as_i64().unwrap());
        }
    }
    assert!(versions.len() < 200 && versions.is_sorted(), "{versions:?}");
}

fn a_broken_configuration_is_told_once() {
    let mut client = Client::new(&json!({}), &Value::Null);
    let uri = "file:///specs/misconfigured.md";
    for _ in 0..2 {
        client.open(uri, BROKEN);
        // Findings are there all the same.
        assert!(!client.findings(uri).is_empty());
    }
    let said = client.passed_over.iter();
    let said = said.filter(|it| it.method == "window/showMessage");
    assert_eq!(said.count(), 1);
}
