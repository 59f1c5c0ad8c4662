//! A server over HTTP, and requests to it byte for byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{newer, serve};

/// A server that listens.
pub(crate) struct Listening {
    pub(crate) process: Child,
    /// Where: name and port.
    pub(crate) at: String,
    folder: PathBuf,
}

/// What a server has answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        let text = self
            .body
            .lines()
            .find_map(|line| line.strip_prefix("data: {"));
        let text = text.map_or_else(|| self.body.clone(), |rest| format!("{{{rest}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What its error is called.
    pub(crate) fn code(&self) -> String {
        let answer = self.json();
        answer["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

impl Listening {
    /// Starts a server at a free port.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::with(folder, arguments, |command| command)
    }

    pub(crate) fn with(
        folder: &Path,
        arguments: &[&str],
        set: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Self {
        let mut command = serve(folder, arguments);
        set(&mut command);
        Self::of(folder, command)
    }

    /// Runs a command that serves, at a free port.
    pub(crate) fn of(folder: &Path, mut command: Command) -> Self {
        command.args(["--http", "127.0.0.1:0"]);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        // The first line of the log.
        let at = line.split_once("listening at http://");
        let at = at.and_then(|(_, rest)| rest.split_once("/mcp "));
        let (at, _) = at.unwrap_or_else(|| panic!("{line}"));
        let at = at.to_owned();
        Self {
            process,
            at,
            folder: folder.to_owned(),
        }
    }

    /// The file that says where it listens.
    pub(crate) fn session_file(&self) -> PathBuf {
        self.folder.join(".statemark/mcp-session.json")
    }

    /// Its address.
    pub(crate) fn at(&self) -> &str {
        &self.at
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.at).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream
    }

    /// Sends a request as it is, with a body; the connection is closed behind it.
    pub(crate) fn raw(&self, head: &str, body: &[u8]) -> Answer {
        answer_of(self.send(head, body))
    }

    /// The same, and doesn't wait for the answer: the connection.
    fn send(&self, head: &str, body: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        let length = body.len();
        let head = format!("{head}Content-Length: {length}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        // A server that has refused already doesn't read on.
        let _ = stream.write_all(body);
        stream
    }

    /// Asks for a path, with headers.
    pub(crate) fn get(&self, path: &str, headers: &str) -> Answer {
        let at = &self.at;
        self.raw(
            &format!("GET {path} HTTP/1.1\r\nHost: {at}\r\n{headers}"),
            b"",
        )
    }

    /// Sends JSON to a path, with headers.
    pub(crate) fn post(&self, path: &str, headers: &str, body: &Value) -> Answer {
        self.raw(&self.posting(path, headers), body.to_string().as_bytes())
    }

    fn posting(&self, path: &str, headers: &str) -> String {
        let at = &self.at;
        format!("POST {path} HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\n{headers}")
    }

    /// Asks by the newer protocol, with headers.
    pub(crate) fn ask(&self, method: &str, params: &Value, headers: &str) -> Answer {
        let (headers, body) = asking(method, params, headers);
        self.post("/mcp", &headers, &body)
    }

    /// The same, and doesn't wait for the answer: the connection.
    pub(crate) fn begin(&self, method: &str, params: &Value) -> TcpStream {
        let (headers, body) = asking(method, params, "");
        let head = self.posting("/mcp", &headers);
        self.send(&head, body.to_string().as_bytes())
    }

    /// Calls a tool by the newer protocol, and gives its envelope.
    pub(crate) fn call(&self, tool: &str, arguments: &Value, headers: &str) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.ask("tools/call", &params, headers).json();
        answer["result"]["structuredContent"].clone()
    }

    /// Begins a session, as clients up to 2025-11-25 do, with headers: the header that names it.
    pub(crate) fn begin_session(&self, headers: &str) -> String {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "script", "version": "1"},
        });
        let answer = self.ask_older("initialize", &params, headers);
        let named = |line: &&str| line.to_ascii_lowercase().starts_with("mcp-session-id: ");
        let session = answer.head.lines().find(named);
        let session = session.unwrap_or_else(|| panic!("no session: {answer:?}"));
        let session = format!("{session}\r\n");
        let headers = format!("{session}{headers}");
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.notify_older(&told, &headers).status, 202);
        session
    }

    /// Asks by the older protocol, with headers, among them the one that names the session.
    pub(crate) fn ask_older(&self, method: &str, params: &Value, headers: &str) -> Answer {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.notify_older(&body, headers)
    }

    fn notify_older(&self, body: &Value, headers: &str) -> Answer {
        let headers = format!("Accept: application/json, text/event-stream\r\n{headers}");
        self.post("/mcp", &headers, body)
    }

    /// Asks it to end, as service managers do, and waits. Whether it ended well.
    #[cfg(unix)]
    pub(crate) fn end(mut self) -> bool {
        let id = self.process.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status();
        asked.unwrap().success() && self.process.wait().unwrap().success()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The headers and the body of a request by the newer protocol.
fn asking(method: &str, params: &Value, headers: &str) -> (String, Value) {
    let name = params["name"]
        .as_str()
        .map(|it| format!("Mcp-Name: {it}\r\n"));
    let headers = format!(
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{}{headers}",
        name.unwrap_or_default()
    );
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": newer(params)});
    (headers, body)
}

/// Reads the answer of a connection to its end.
pub(crate) fn answer_of(mut connection: TcpStream) -> Answer {
    let mut answer = Vec::new();
    let _ = connection.read_to_end(&mut answer);
    read(&String::from_utf8_lossy(&answer))
}

/// An answer, of which the body came as a whole or in chunks.
fn read(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let body = if head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked")
    {
        whole(body)
    } else {
        body.to_owned()
    };
    Answer {
        status: status.unwrap_or_default(),
        head: head.to_owned(),
        body,
    }
}

fn whole(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
        let Some((chunk, behind)) = rest.split_at_checked(size).filter(|_| size > 0) else {
            break;
        };
        body += chunk;
        chunks = behind.trim_start_matches("\r\n");
    }
    body
}
