//! A client of the server that says exactly what it is told to, over standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::shell::statemark;

/// A server of its own, and the one client of it.
pub(crate) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
    /// What the server has told without being asked.
    pub(crate) told: Vec<Value>,
}

impl Client {
    /// Starts `statemark serve` with these arguments in a folder, and shakes hands as clients up to 2025-11-25 do.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::try_start(serve(folder, arguments)).unwrap()
    }

    /// The same with a token.
    pub(crate) fn with_token(folder: &Path, arguments: &[&str], token: &str) -> Self {
        let mut command = serve(folder, arguments);
        command.env("STATEMARK_TOKEN", token);
        Self::try_start(command).unwrap()
    }

    /// Starts a command that serves, and shakes hands; the exit code if it ends instead.
    pub(crate) fn try_start(command: Command) -> Result<Self, i32> {
        Self::greet(command).map(|(client, _)| client)
    }

    /// The same, with the server's answer to the handshake.
    pub(crate) fn greet(command: Command) -> Result<(Self, Value), i32> {
        let mut client = Self::spawn(command);
        let asked = client.begin("initialize", &handshake());
        let Some(greeting) = client.answer(asked) else {
            return Err(client.server.wait().unwrap().code().unwrap());
        };
        client.tell("notifications/initialized", &json!({}));
        Ok((client, greeting))
    }

    /// The same, and nothing is said yet.
    pub(crate) fn unheard(folder: &Path, arguments: &[&str]) -> Self {
        Self::spawn(serve(folder, arguments))
    }

    fn spawn(mut command: Command) -> Self {
        // That it begins and ends is no news in the output of tests.
        command.env("STATEMARK_LOG", "warn");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        Self {
            input: server.stdin.take(),
            output: BufReader::new(server.stdout.take().unwrap()),
            server,
            asked: 0,
            told: Vec::new(),
        }
    }

    /// Asks, and gives the whole answer: with `result` or `error`.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let asked = self.begin(method, params);
        self.answer(asked)
            .unwrap_or_else(|| panic!("the server ended within `{method}`"))
    }

    /// Asks as clients from 2026-07-28 on do, who shake no hands.
    pub(crate) fn ask_newer(&mut self, method: &str, params: &Value) -> Value {
        self.ask(method, &newer(params))
    }

    /// Asks, and doesn't wait. The number that the answer will have.
    pub(crate) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn tell(&mut self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn say(&mut self, message: &Value) {
        // A server that is gone is noticed where its answer is missed.
        let _ = writeln!(self.input.as_mut().unwrap(), "{message}");
    }

    /// Says a text as it is, and gives the next thing that the server says.
    pub(crate) fn say_text(&mut self, text: &str) -> Value {
        let _ = writeln!(self.input.as_mut().unwrap(), "{text}");
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {text} {line}"))
    }

    /// The answer with that number; none if the server ends first.
    pub(crate) fn answer(&mut self, asked: u64) -> Option<Value> {
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line);
            // What was cut off by the server's end is no answer.
            if !matches!(read, Ok(1..)) || !line.ends_with('\n') {
                return None;
            }
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == asked {
                return Some(message);
            }
            self.told.push(message);
        }
    }

    /// Has the answer with that number come before the one that was waited for?
    pub(crate) fn is_answered(&self, asked: u64) -> bool {
        self.told.iter().any(|message| message["id"] == asked)
    }

    /// The next thing of this kind that the server tells without being asked.
    pub(crate) fn hear(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.told.iter().position(|it| it["method"] == method) {
                return self.told.remove(at)["params"].take();
            }
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            assert!(line.ends_with('\n'), "the server ended before `{method}`");
            self.told.push(serde_json::from_str(&line).unwrap());
        }
    }

    /// Calls a tool, and gives its envelope.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        answer["result"]["structuredContent"].take()
    }

    /// Says that nothing more will come, and waits for the server to end: its exit code.
    pub(crate) fn leave(mut self) -> Option<i32> {
        drop(self.input.take());
        self.server.wait().unwrap().code()
    }

    /// Asks the server to end, as service managers do, and waits: its exit code.
    #[cfg(unix)]
    pub(crate) fn end(mut self) -> Option<i32> {
        let id = self.server.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status();
        assert!(asked.unwrap().success());
        self.server.wait().unwrap().code()
    }

    /// Ends the server with no chance to tidy up.
    pub(crate) fn kill(&mut self) {
        let _ = self.server.kill();
    }
}

/// What a client says first.
fn handshake() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "script", "version": "1"},
    })
}

/// `statemark serve` with these arguments in a folder.
pub(crate) fn serve(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = statemark(folder);
    command.arg("serve").args(arguments);
    command
}

/// What a request says for itself since there are no sessions.
pub(crate) fn newer(params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({"name": "script", "version": "1"});
    params
}

impl Drop for Client {
    fn drop(&mut self) {
        self.kill();
        let _ = self.server.wait();
    }
}
