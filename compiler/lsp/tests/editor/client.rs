//! An editor: it opens documents, asks, and applies edits by the protocol's own definition.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use statemark_lsp::{
    Connection, FileRules, Message, NoProject, Notification, Project, Request, RequestId, Response,
    ServeError, SpecFile, serve,
};

/// The longest that an answer may take. Why: only a server that hangs takes as long.
const PATIENCE: Duration = Duration::from_secs(120);

/// The address of the document of most tests.
pub(crate) const URI: &str = "file:///specs/door.md";

/// A project that is in no file.
struct Folder;

impl Project for Folder {
    fn is_spec(&self, path: &Path) -> bool {
        path.extension().is_none_or(|it| it != "rs")
    }

    fn rules(&self, path: &Path, folders: &[PathBuf]) -> Result<Box<dyn FileRules + '_>, String> {
        if path.ends_with("misconfigured.md") {
            return Err("`statemark.toml` can't be read".to_owned());
        }
        NoProject.rules(path, folders)
    }

    fn specs(&self, folder: &Path) -> Vec<SpecFile> {
        let path = folder.join("lamp.mmd");
        let stamp = None;
        vec![SpecFile { path, stamp }]
    }

    fn read(&self, _: &Path) -> Option<String> {
        Some("stateDiagram-v2\n[*] --> bright\nbright --> [*] : out\n".to_owned())
    }

    fn tools(&self) -> Vec<(String, String)> {
        vec![("read_file".to_owned(), "Read a file".to_owned())]
    }
}

/// An editor with its server.
pub(crate) struct Client {
    connection: Option<Connection>,
    server: Option<JoinHandle<Result<(), ServeError>>>,
    last_id: i32,
    /// The messages that nobody asked for, in their order.
    pub(crate) unasked: VecDeque<Message>,
    /// The notifications that came while findings were waited for.
    pub(crate) passed_over: Vec<Notification>,
    /// The answer to `initialize`.
    pub(crate) initialized: Value,
    /// True if positions count bytes.
    pub(crate) counts_bytes: bool,
}

impl Client {
    /// Starts a server for an editor with some capabilities.
    pub(crate) fn new(capabilities: &Value, options: &Value) -> Self {
        let mut client = Self::uninitialized();
        client.initialize(capabilities, options);
        client
    }

    /// Begins the session of an editor with some capabilities.
    pub(crate) fn initialize(&mut self, capabilities: &Value, options: &Value) {
        let params = json!({
            "processId": null,
            "rootUri": "file:///specs",
            "capabilities": capabilities,
            "initializationOptions": options,
        });
        let answer = self.ask("initialize", params);
        self.initialized = answer.unwrap();
        self.counts_bytes = self.initialized["capabilities"]["positionEncoding"] == "utf-8";
        self.tell("initialized", json!({}));
    }

    /// Starts a server and says nothing to it.
    pub(crate) fn uninitialized() -> Self {
        Self::of_project(Folder)
    }

    /// Starts a server of a project and says nothing to it.
    pub(crate) fn of_project(project: impl Project + Send + 'static) -> Self {
        let (connection, other) = Connection::memory();
        let server = std::thread::spawn(move || serve(&other, &project));
        Self {
            connection: Some(connection),
            server: Some(server),
            last_id: 0,
            unasked: VecDeque::new(),
            passed_over: Vec::new(),
            initialized: Value::Null,
            counts_bytes: false,
        }
    }

    /// Sends a message as it is.
    pub(crate) fn send(&self, message: impl Into<Message>) {
        let connection = self.connection.as_ref().unwrap();
        connection.sender.send(message.into()).unwrap();
    }

    /// Sends a notification.
    pub(crate) fn tell(&self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params));
    }

    /// Sends a request, and returns its id.
    pub(crate) fn send_request(&mut self, method: &str, params: Value) -> RequestId {
        self.last_id += 1;
        let id = RequestId::from(self.last_id);
        self.send(Request::new(id.clone(), method.to_owned(), params));
        id
    }

    /// Returns the next message.
    pub(crate) fn receive(&self) -> Message {
        let connection = self.connection.as_ref().unwrap();
        connection.receiver.recv_timeout(PATIENCE).unwrap()
    }

    /// Waits for the answer to a request.
    pub(crate) fn wait_for(&mut self, id: &RequestId) -> Response {
        loop {
            match self.receive() {
                Message::Response(response) if response.id == *id => return response,
                other => self.unasked.push_back(other),
            }
        }
    }

    /// Asks, and returns the answer or the error.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.send_request(method, params);
        let response = self.wait_for(&id);
        response
            .response_result
            .map_err(|error| (error.code, error.message))
    }

    /// Opens a document.
    pub(crate) fn open(&self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "markdown", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Waits for the findings that are pushed for a document.
    pub(crate) fn findings(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let message = self.unasked.pop_front().unwrap_or_else(|| self.receive());
            let Message::Notification(it) = message else {
                continue;
            };
            if it.method == "textDocument/publishDiagnostics" && it.params["uri"] == uri {
                return it.params["diagnostics"].as_array().unwrap().clone();
            }
            self.passed_over.push(it);
        }
    }

    /// Returns a position, counted as the session counts.
    pub(crate) fn position(&self, text: &str, byte: usize) -> Value {
        let before = &text[..byte];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = match self.counts_bytes {
            true => byte - start,
            false => before[start..].encode_utf16().count(),
        };
        json!({ "line": before.matches('\n').count(), "character": column })
    }

    /// Returns the byte of a position.
    pub(crate) fn byte(&self, text: &str, position: &Value) -> usize {
        let number = |key| usize::try_from(position[key].as_u64().unwrap()).unwrap();
        let (line, column) = (number("line"), number("character"));
        let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        let start = starts.nth(line).unwrap_or(text.len());
        let mut units = 0;
        for (at, character) in text[start..].char_indices() {
            if units >= column {
                return start + at;
            }
            units += match self.counts_bytes {
                true => character.len_utf8(),
                false => character.len_utf16(),
            };
        }
        text.len()
    }

    /// Applies edits, from the last to the first.
    pub(crate) fn apply(&self, text: &str, edits: &[Value]) -> String {
        let range = |edit: &Value| {
            let place = |key| self.byte(text, &edit["range"][key]);
            place("start")..place("end")
        };
        let mut edits: Vec<_> = edits.iter().map(|it| (range(it), it)).collect();
        edits.sort_by_key(|(range, _)| range.start);
        let mut new = text.to_owned();
        for (range, edit) in edits.into_iter().rev() {
            new.replace_range(range, edit["newText"].as_str().unwrap());
        }
        new
    }

    /// Ends the session, and returns how the server ended.
    pub(crate) fn finish(mut self) -> Result<(), ServeError> {
        let answer = self.ask("shutdown", Value::Null);
        assert_eq!(answer, Ok(Value::Null));
        self.tell("exit", Value::Null);
        self.server.take().unwrap().join().unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Hanging up ends the server, too.
        self.connection = None;
        if let Some(server) = self.server.take() {
            let ended = server.join();
            if !std::thread::panicking() {
                ended.unwrap().unwrap();
            }
        }
    }
}
