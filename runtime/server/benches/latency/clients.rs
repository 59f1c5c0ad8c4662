//! Clients that do no more than a call needs.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio as Pipe};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A caller of tools.
pub(crate) trait Client {
    /// Calls a tool. Returns the time that it took, and its result.
    fn call(&mut self, tool: &str, arguments: &Value) -> (Duration, Value);
}

fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    })
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn result(line: &[u8]) -> Value {
    let mut answer: Value = serde_json::from_slice(line).unwrap();
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].take()
}

/// Starts this program as one of the servers.
fn begin(folder: &Path, part: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([part]).arg(folder);
    command.stdin(Pipe::piped()).stdout(Pipe::piped());
    command.spawn().unwrap()
}

/// A client over standard input and output.
pub(crate) struct Stdio {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Stdio {
    pub(crate) fn new(folder: &Path, part: &str) -> Self {
        let mut server = begin(folder, part);
        let mut client = Self {
            input: server.stdin.take().unwrap(),
            output: BufReader::new(server.stdout.take().unwrap()),
            server,
            asked: 0,
        };
        client.ask("initialize", &initialize());
        let told = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        client.input.write_all(told.as_bytes()).unwrap();
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> (Duration, Value) {
        self.asked += 1;
        let text = request(self.asked, method, params) + "\n";
        let mut line = Vec::new();
        let began = Instant::now();
        self.input.write_all(text.as_bytes()).unwrap();
        self.output.read_until(b'\n', &mut line).unwrap();
        (began.elapsed(), result(&line))
    }
}

impl Client for Stdio {
    fn call(&mut self, tool: &str, arguments: &Value) -> (Duration, Value) {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A server over HTTP.
pub(crate) struct Listening {
    pub(crate) server: Child,
    pub(crate) address: String,
}

impl Listening {
    pub(crate) fn new(folder: &Path, part: &str) -> Self {
        let mut server = begin(folder, part);
        let mut address = String::new();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        Self { server, address }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// One session over one connection.
pub(crate) struct Session {
    stream: BufReader<TcpStream>,
    id: String,
    asked: u64,
}

impl Session {
    pub(crate) fn new(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut session = Self {
            stream: BufReader::new(stream),
            id: String::new(),
            asked: 0,
        };
        session.ask("initialize", &initialize());
        session.post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        session
    }

    /// Sends a body. Returns the answer, which may be empty.
    fn post(&mut self, body: &str) -> Vec<u8> {
        let session = match self.id.as_str() {
            "" => String::new(),
            id => format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n"),
        };
        let text = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
        let mut length = None;
        let mut is_ok = false;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            is_ok |= line.starts_with("http/1.1 2");
            match line.split_once(": ") {
                Some(("content-length", value)) => length = Some(value.parse().unwrap()),
                Some(("mcp-session-id", value)) => value.clone_into(&mut self.id),
                _ => {}
            }
        }
        assert!(is_ok, "{body}");
        let Some(length) = length else {
            return self.chunks();
        };
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).unwrap();
        answer
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
            let mut chunk = vec![0; length + 2];
            self.stream.read_exact(&mut chunk).unwrap();
            if length == 0 {
                return all;
            }
            all.extend(&chunk[..length]);
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> (Duration, Value) {
        self.asked += 1;
        let text = request(self.asked, method, params);
        let began = Instant::now();
        let answer = self.post(&text);
        let took = began.elapsed();
        let answer = String::from_utf8(answer).unwrap();
        // As an event, or as it is.
        let line = answer
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .find(|line| line.contains("\"id\""))
            .unwrap_or(&answer);
        (took, result(line.as_bytes()))
    }
}

impl Client for Session {
    fn call(&mut self, tool: &str, arguments: &Value) -> (Duration, Value) {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }
}

/// A server over HTTP, and one session with it.
pub(crate) struct Http {
    session: Session,
    _server: Listening,
}

impl Http {
    pub(crate) fn new(folder: &Path, part: &str) -> Self {
        let server = Listening::new(folder, part);
        Self {
            session: Session::new(&server.address),
            _server: server,
        }
    }
}

impl Client for Http {
    fn call(&mut self, tool: &str, arguments: &Value) -> (Duration, Value) {
        self.session.call(tool, arguments)
    }
}
