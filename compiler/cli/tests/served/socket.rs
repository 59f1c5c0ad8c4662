//! The stream over a WebSocket: the same events, the same checks.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::raw::Listening;
use super::resources::desk;
use crate::keeping::said;
use crate::shell::token;

/// A client's side of a WebSocket.
struct Socket(TcpStream);

impl Socket {
    /// Asks for one. Gives the head of the answer, too.
    fn open(server: &Listening, path: &str, headers: &str) -> (Self, String) {
        let mut stream = server.connect();
        let at = &server.at;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        )
        .unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.push(byte[0]);
        }
        (Self(stream), String::from_utf8(head).unwrap())
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Reads a frame: its kind and its content (RFC 6455, 5.2).
    fn frame(&mut self) -> (u8, Vec<u8>) {
        let head = self.take(2);
        let length = match head[1] {
            126 => {
                let bytes = self.take(2);
                usize::from(u16::from_be_bytes([bytes[0], bytes[1]]))
            }
            short => usize::from(short),
        };
        (head[0] & 0x0f, self.take(length))
    }

    /// The next message that is an event.
    fn next(&mut self) -> Value {
        loop {
            let (kind, content) = self.frame();
            if kind == 1 {
                let message: Value = serde_json::from_slice(&content).unwrap();
                if message.get("event").is_some() {
                    return message;
                }
            }
        }
    }

    /// Reads up to the end. Gives the code that it ends with.
    fn end(&mut self) -> u16 {
        loop {
            if let (8, content) = self.frame() {
                return u16::from_be_bytes([content[0], content[1]]);
            }
        }
    }
}

#[test]
fn a_socket_tells_what_a_stream_tells() {
    let scratch = desk("socket-stream");
    said(&scratch, "statemark start desk --run-id r1", 0);
    let server = Listening::start(&scratch.path, &[]);
    let (mut socket, head) = Socket::open(&server, "/api/stream?run_id=r1&after_seq=0", "");
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    // Of the key above (RFC 6455, 1.3).
    assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
    let first = socket.next();
    assert_eq!(
        (&first["event"], &first["id"], &first["data"]["kind"]),
        (&json!("record"), &json!("1"), &json!("run.started"))
    );
    said(&scratch, "statemark pause r1", 0);
    assert_eq!(socket.next()["data"]["kind"], "run.paused");
    // Cut off, it goes on where it was.
    drop(socket);
    said(&scratch, "statemark continue r1", 0);
    let (mut socket, _) = Socket::open(&server, "/api/stream?run_id=r1&after_seq=2", "");
    assert_eq!(socket.next()["id"], "3");
    let (mut all, _) = Socket::open(&server, "/api/stream", "");
    // The mark from which it tells.
    let (kind, mark) = loop {
        let (kind, content) = all.frame();
        if kind == 1 {
            break (kind, content);
        }
    };
    let mark: Value = serde_json::from_slice(&mark).unwrap();
    assert_eq!((kind, mark.get("event")), (1, None), "{mark}");
    said(&scratch, "statemark pause r1", 0);
    // The change before may have been told after the mark.
    let changed = loop {
        let told = all.next();
        assert_eq!(told["event"], "run", "{told}");
        if told["data"]["status"] == "paused" {
            break told;
        }
    };
    assert!(changed["data"]["updated_at"].is_u64(), "{changed}");
}

/// Several projects have one store: whoever has no token is told of the runs of its own.
#[test]
fn a_stream_is_of_the_projects_own_runs() {
    let scratch = desk("socket-projects");
    let start = |project: &str| {
        let config = format!("project = \"{project}\"\n");
        scratch.write("statemark.toml", &config);
        let run = format!("statemark start desk --run-id of-{project} --store x.db");
        said(&scratch, &run, 0);
    };
    start("first");
    let server = Listening::start(&scratch.path, &["--store", "x.db"]);
    let (mut all, _) = Socket::open(&server, "/api/stream", "");
    // From its first message on, the mark, it tells what changes.
    while all.frame().0 != 1 {}
    start("other");
    said(&scratch, "statemark pause of-first --store x.db", 0);
    loop {
        let told = all.next();
        assert_eq!(told["data"]["run_id"], "of-first", "{told}");
        if told["data"]["status"] == "paused" {
            break;
        }
    }
}

#[test]
fn a_socket_is_checked_as_everything_else() {
    let scratch = desk("socket-checks");
    said(&scratch, "statemark start desk --run-id r1", 0);
    let bot = token(&scratch.path, "bot --role agent");
    let eve = token(&scratch.path, "eve --role observer --run r1");
    let server = Listening::start(&scratch.path, &[]);
    let at = &server.at;
    let protocol =
        |token: &str| format!("Sec-WebSocket-Protocol: statemark, statemark.bearer.{token}\r\n");
    for (headers, status) in [
        (String::new(), 401),
        (protocol("smk_none"), 401),
        (
            format!("{}Origin: https://evil.example\r\n", protocol(&bot)),
            403,
        ),
        (format!("{}Origin: http://{at}\r\n", protocol(&bot)), 101),
        (format!("Authorization: Bearer {bot}\r\n"), 101),
        // What `Authorization` says counts.
        (
            format!("Authorization: Bearer smk_none\r\n{}", protocol(&bot)),
            401,
        ),
        (format!("{}{}", protocol(&bot), protocol(&bot)), 400),
    ] {
        let (_, head) = Socket::open(&server, "/api/stream", &headers);
        let is_so = head.starts_with(&format!("HTTP/1.1 {status} "));
        assert!(is_so, "{headers}{head}");
        // A browser insists on one of the protocols that it named; none is a token.
        let chosen = head.to_ascii_lowercase();
        let chosen = chosen.contains("sec-websocket-protocol: statemark\r\n");
        assert_eq!(
            chosen,
            status == 101 && headers.contains("Protocol"),
            "{head}"
        );
    }
    // Elsewhere that header is no credential, and a token sees what it sees.
    assert_eq!(server.get("/api/runs", &protocol(&bot)).status, 401);
    said(&scratch, "statemark start desk --run-id r2", 0);
    let (_, head) = Socket::open(&server, "/api/stream?run_id=r2", &protocol(&eve));
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
    let (_, head) = Socket::open(&server, "/api/stream?after=abc", &protocol(&eve));
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    // What it says means nothing; that it is far too much ends it.
    let (mut socket, _) = Socket::open(&server, "/api/stream", &protocol(&bot));
    socket
        .0
        .write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'])
        .unwrap();
    said(&scratch, "statemark pause r2", 0);
    assert_eq!(socket.next()["data"]["run_id"], "r2");
    socket
        .0
        .write_all(&[0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
        .unwrap();
    let mut rest = Vec::new();
    socket.0.read_to_end(&mut rest).unwrap();
}

#[test]
fn a_socket_ends_with_its_token_and_with_its_server() {
    let scratch = desk("socket-ends");
    said(&scratch, "statemark start desk --run-id r1", 0);
    let bot = token(&scratch.path, "bot --role agent");
    let server = Listening::start(&scratch.path, &[]);
    let header = format!("Authorization: Bearer {bot}\r\n");
    let (mut socket, _) = Socket::open(&server, "/api/stream?run_id=r1", &header);
    said(&scratch, "AS=root statemark token revoke bot", 0);
    assert_eq!(socket.end(), 1008);
    let ben = token(&scratch.path, "ben --role agent");
    sleep(Duration::from_millis(300));
    let header = format!("Authorization: Bearer {ben}\r\n");
    let (mut socket, head) = Socket::open(&server, "/api/stream", &header);
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    #[cfg(unix)]
    {
        let reader = std::thread::spawn(move || socket.end());
        assert!(server.end());
        assert_eq!(reader.join().unwrap(), 1001);
    }
    #[cfg(not(unix))]
    drop((socket.frame(), server));
}
