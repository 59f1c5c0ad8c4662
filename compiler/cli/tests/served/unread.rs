//! What can't be read gets its answer: over standard input as over HTTP, nobody waits for ever.

use serde_json::{Value, json};

use super::client::Client;
use super::raw::Listening;
use super::resources::desk;

/// A call of a tool whose data is lists in lists, so many.
fn deep(levels: usize) -> String {
    let data = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    format!(
        r#"{{"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": {{"name": "send_event", "arguments": {{"event": "done", "data": {data}}}}}}}"#
    )
}

/// Messages that can't be read, with the code and the id of what is answered.
fn unread() -> Vec<(String, i64, Value)> {
    let one = r#"{"jsonrpc": "2.0", "id": 901, "method": "tools/call", "params": "#;
    vec![
        (deep(125), -32600, json!(900)),
        (deep(5000), -32600, json!(900)),
        (
            format!(
                r#"{one}{{"name": "report_progress", "arguments": {{"message": "a \ud83d b"}}}}}}"#
            ),
            -32600,
            json!(901),
        ),
        // An id that can't be kept, which rmcp takes for none.
        (
            r#"{"jsonrpc": "2.0", "id": 99999999999999999999, "method": "ping"}"#.to_owned(),
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 9223372036854775808, "method": "tools/list"}"#.to_owned(),
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc": "2.0", "id": -1e400, "method": "ping"}"#.to_owned(),
            -32700,
            Value::Null,
        ),
        // What can be read in two ways.
        (
            format!(
                r#"{one}{{"name": "get_run", "arguments": {{"run_id": "a", "run_id": "b"}}}}}}"#
            ),
            -32600,
            json!(901),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 903, "method": "ping", "id": 904}"#.to_owned(),
            -32600,
            Value::Null,
        ),
        ("{bad".to_owned(), -32700, Value::Null),
        ("[]".to_owned(), -32600, Value::Null),
        // What can be read, and isn't as the protocol has it.
        (
            format!(r#"{one}{{"name": "get_run", "arguments": []}}}}"#),
            -32602,
            json!(901),
        ),
        (
            format!(r#"{one}{{"arguments": {{}}}}}}"#),
            -32602,
            json!(901),
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 902, "method": "tools/cull"}"#.to_owned(),
            -32601,
            json!(902),
        ),
    ]
}

#[test]
fn a_call_over_standard_input_gets_an_answer() {
    let scratch = desk("unread-stdio");
    let mut client = Client::start(&scratch.path, &[]);
    for (text, code, id) in unread() {
        let answer = client.say_text(&text);
        let begin: String = text.chars().take(150).collect();
        assert_eq!(answer["error"]["code"], code, "{begin}\n{answer}");
        assert_eq!(answer["id"], id, "{begin}\n{answer}");
    }
    let wrong = json!({"name": "get_run", "arguments": []});
    let answer = client.ask("tools/call", &wrong);
    assert_eq!(
        answer["error"]["message"],
        "the parameters of `tools/call`: `arguments`: invalid type: list, expected an object"
    );
    // It goes on, and nothing was said twice.
    let run = client.call("start_run", &json!({"workflow": "desk", "run_id": "r"}));
    assert_eq!(run["ok"], true);
    assert!(client.told.is_empty(), "{:?}", client.told);
    assert_eq!(client.leave(), Some(0));
    // One who hasn't said who they are, and leaves at once.
    let mut client = Client::unheard(&scratch.path, &[]);
    assert_eq!(client.say_text("{bad")["error"]["code"], -32700);
}

#[test]
fn a_call_over_http_gets_an_answer_of_the_same_kind() {
    let scratch = desk("unread-http");
    let server = Listening::start(&scratch.path, &[]);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n",
        server.at
    );
    let session = server.begin_session("");
    for (text, code, id) in unread() {
        let answer = server.raw(&format!("{head}{session}"), text.as_bytes());
        let begin: String = text.chars().take(150).collect();
        let told = answer.json();
        assert_eq!(told["error"]["code"], code, "{begin}\n{answer:?}");
        assert_eq!(told["id"], id, "{begin}\n{answer:?}");
        let unread = code == -32700 || code == -32600;
        assert_eq!(answer.status == 400, unread, "{begin}\n{answer:?}");
    }
}
