//! Sessions of the older protocol over HTTP: there for who began them, and for nobody else.

use std::io::{Read, Write};

use serde_json::json;

use super::raw::{Answer, Listening};
use super::resources::desk;
use crate::keeping::said;
use crate::shell::token;

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// Ends a session.
fn end(server: &Listening, headers: &str) -> Answer {
    let at = &server.at;
    let head = format!("DELETE /mcp HTTP/1.1\r\nHost: {at}\r\n{headers}");
    server.raw(&head, b"")
}

/// In whatever way a session is asked for with these headers, it isn't there.
fn check_not_there(server: &Listening, headers: &str) {
    let check = |answer: Answer| {
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (404, "Not Found: Session not found"),
            "{headers}{answer:?}"
        );
    };
    check(server.ask_older("tools/list", &json!({}), headers));
    check(end(server, headers));
    let streamed = format!("Accept: text/event-stream\r\n{headers}");
    check(server.get("/mcp", &streamed));
}

/// What a stream tells until it has told this.
fn read_until(stream: &mut impl Read, wanted: &str) -> String {
    let mut text = String::new();
    let mut part = [0; 4096];
    while !text.contains(wanted) {
        let count = stream.read(&mut part).unwrap();
        assert_ne!(count, 0, "the stream has ended: {text}");
        text += &String::from_utf8_lossy(&part[..count]);
    }
    text
}

#[test]
fn a_session_is_there_for_who_began_it_alone() {
    let scratch = desk("http-owners");
    let server = Listening::start(&scratch.path, &[]);
    let anyones = server.begin_session("");
    let listed = server.ask_older("tools/list", &json!({}), &anyones);
    assert_eq!(listed.status, 200, "{listed:?}");
    said(&scratch, "statemark start desk --run-id r1", 0);
    let ann = bearer(&token(&scratch.path, "ann --role agent"));
    let ben = bearer(&token(&scratch.path, "ben --role person"));
    let session = server.begin_session(&ann);
    let other = server.begin_session(&ben);
    let made_up = "Mcp-Session-Id: 00000000-0000-4000-8000-000000000000\r\n";
    for (named, by) in [
        (session.as_str(), &ben),
        (&other, &ann),
        (&anyones, &ann),
        (made_up, &ann),
        ("Mcp-Session-Id: none\r\n", &ann),
        ("Mcp-Session-Id: \r\n", &ann),
    ] {
        check_not_there(&server, &format!("{named}{by}"));
    }
    // Whoever names two sessions names the first.
    check_not_there(&server, &format!("{session}{other}{ben}"));
    // The owner has a stream, in which it hears what it has asked for.
    let own = format!("{session}{ann}");
    let mut stream = server.connect();
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n{own}\r\n",
        server.at
    )
    .unwrap();
    let head = read_until(&mut stream, "\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let uri = json!({"uri": "statemark://run/r1"});
    let asked = server.ask_older("resources/subscribe", &uri, &own);
    assert_eq!(asked.json()["result"], json!({}), "{asked:?}");
    said(&scratch, "statemark pause r1", 0);
    read_until(&mut stream, "notifications/resources/updated");
    // It ends its session, and then it is there for nobody.
    for own in [own, format!("{other}{ben}")] {
        let listed = server.ask_older("tools/list", &json!({}), &own);
        assert_eq!(listed.status, 200, "{listed:?}");
        let ended = end(&server, &own);
        assert_eq!(ended.status, 202, "{ended:?}");
        check_not_there(&server, &own);
    }
}

#[test]
fn a_newer_request_that_names_a_session_is_answered_without_it() {
    let scratch = desk("http-owners-newer");
    let server = Listening::start(&scratch.path, &[]);
    let named = "Mcp-Session-Id: 00000000-0000-4000-8000-000000000000\r\n";
    let listed = server.ask("tools/list", &json!({}), named);
    assert_eq!(listed.status, 200, "{listed:?}");
}
