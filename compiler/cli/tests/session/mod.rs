//! A session: a folder, servers that are started as they are needed, and the callers that were named so far.
//!
//! ```text
//! > get_run {"run_id": "r"}          calls a tool by MCP; the arguments may span lines, and may be left out
//! > rpc prompts/list {}              sends any request of the protocol
//! > connect                          what the server answers when a client connects
//! > tools                          lists the names of the tools that are offered
//! > GET /api/runs?limit=1            sends a request to the HTTP API
//! > POST /api/runs {"workflow": "w"}
//! > statemark runs --json            runs a command
//! > statemark hook claude <<< {}      runs one with an input, which may span lines
//! > in src statemark runs            runs a command in a folder below, which is made
//! > cat docs/a.md                    reads a file; `ls docs` lists a folder
//! > serve --toolsets time            from here on, servers have these arguments, after variables (`NAME=value`)
//! > as person ann                    from here on, callers have this role and name; `as agent bo run r` is bound to a run
//! > after 10s                        lets time pass; likewise 5m and 2h
//! > write {"docs/a.md": "text"}      writes files
//! > rewind_run {"confirm_token": "$confirm_token"}    inserts that field of the answer before
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use statemark_harness::script::milliseconds;

use crate::client::{Client, serve};
use crate::raw::Listening;
use crate::shell::{Run, Said, Scratch, perform, token};

/// The time at which each session begins. Unit: milliseconds since 1970.
const BEGIN: u64 = 1_800_000_000_000;

/// The words of `serve`, and the caller's token.
type Options = (Vec<String>, Option<String>);

/// What a call is answered.
pub(crate) enum Answer {
    /// Nothing: the call was for what follows.
    Nothing,
    /// A server that ended instead of serving, with its exit code.
    Ended(i32),
    /// The names of tools.
    Names(Vec<String>),
    /// The result of a request of the protocol, or its error: `{"result": …}`.
    Protocol(Value),
    /// The answer of a tool: its JSON, or its texts.
    Tool {
        is_error: bool,
        structured: Option<Value>,
        texts: Vec<String>,
    },
    /// An answer by HTTP.
    Http { status: u16, body: String },
    /// What a command has said.
    Command(Said),
}

pub(crate) struct Session<'s> {
    scratch: &'s Scratch,
    now: u64,
    serve: Vec<String>,
    /// The current caller's token.
    token: Option<String>,
    /// True if the current caller is a person, who has no rights over standard input and output.
    is_person: bool,
    /// The tokens that were made, by the words after `as`.
    tokens: BTreeMap<String, String>,
    /// Servers over standard input and output, each with its answer to the handshake.
    clients: BTreeMap<Options, (Client, Value)>,
    /// Servers over HTTP.
    listening: BTreeMap<Vec<String>, Listening>,
    last: Value,
}

impl<'s> Session<'s> {
    pub(crate) fn new(scratch: &'s Scratch) -> Self {
        Self {
            scratch,
            now: BEGIN,
            serve: Vec::new(),
            token: None,
            is_person: false,
            tokens: BTreeMap::new(),
            clients: BTreeMap::new(),
            listening: BTreeMap::new(),
            last: Value::Null,
        }
    }

    /// Makes a call, and returns the answer as it is.
    pub(crate) fn call(&mut self, call: &str) -> Answer {
        let (word, rest) = call.split_once(' ').unwrap_or((call, ""));
        match word {
            "serve" => self.serve = rest.split_whitespace().map(str::to_owned).collect(),
            "as" => self.become_caller(rest),
            "after" => {
                self.now += milliseconds(rest).unwrap();
                // Clocks stand still: only a server that is started now has the new time.
                self.clients.clear();
                self.listening.clear();
            }
            "write" => {
                for (path, text) in object(rest).as_object().unwrap() {
                    self.scratch.write(path, text.as_str().unwrap());
                }
            }
            "GET" | "POST" => return self.request(word, rest),
            "rpc" => {
                let (method, params) = rest.split_once(' ').unwrap_or((rest, ""));
                return self.rpc(method, &object(params));
            }
            "connect" => return self.connect(),
            "tools" => return self.tools(),
            "in" => {
                let (folder, command) = rest.split_once(' ').unwrap();
                return self.command(folder, command);
            }
            "cat" | "ls" | "git" => return self.command("", call),
            _ if call.contains("statemark ") => return self.command("", call),
            tool => return self.tool(tool, object(rest)),
        }
        Answer::Nothing
    }

    fn become_caller(&mut self, words: &str) {
        if words == "agent" {
            self.token = None;
            self.is_person = false;
            return;
        }
        let known = self.tokens.get(words).cloned();
        let made = known.unwrap_or_else(|| {
            let (role, rest) = words.split_once(' ').unwrap_or((words, role_name(words)));
            let (name, run) = rest.split_once(" run ").unwrap_or((rest, ""));
            // Two tokens of one name can't be good at once.
            let name = format!("{name}{}", if run.is_empty() { "" } else { "_" });
            let run = if run.is_empty() {
                String::new()
            } else {
                format!(" --run {run}")
            };
            token(&self.scratch.path, &format!("{name} --role {role}{run}"))
        });
        self.tokens.insert(words.to_owned(), made.clone());
        self.token = Some(made);
        self.is_person = words.starts_with("person");
    }

    /// The arguments of servers, and their environment.
    fn set<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("STATEMARK_NOW", self.now.to_string());
        let is_variable = |word: &&String| word.contains('=');
        for word in self.serve.iter().take_while(is_variable) {
            let (name, value) = word.split_once('=').unwrap();
            command.env(name, value);
        }
        command.args(self.serve.iter().skip_while(is_variable))
    }

    fn client(&mut self) -> Result<&mut (Client, Value), i32> {
        let options = (self.serve.clone(), self.token.clone());
        if !self.clients.contains_key(&options) {
            let mut command = serve(&self.scratch.path, &[]);
            self.set(&mut command);
            if let Some(token) = &self.token {
                command.env("STATEMARK_TOKEN", token);
            }
            command.stderr(Stdio::null());
            let client = Client::greet(command)?;
            self.clients.insert(options.clone(), client);
        }
        Ok(self.clients.get_mut(&options).unwrap())
    }

    /// Sends a request of the protocol as the current caller: a person's over HTTP.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, i32> {
        if !self.is_person {
            return self.client().map(|(client, _)| client.ask(method, params));
        }
        let bearer = self.bearer();
        let server = self.listening();
        let session = server.begin_session(&bearer);
        let headers = format!("{session}{bearer}");
        Ok(server.ask_older(method, params, &headers).json())
    }

    /// Returns the header with the current caller's token.
    fn bearer(&self) -> String {
        let bearer = |token| format!("Authorization: Bearer {token}\r\n");
        self.token.as_ref().map(bearer).unwrap_or_default()
    }

    /// Returns the server over HTTP with the current options.
    fn listening(&mut self) -> &Listening {
        if !self.listening.contains_key(&self.serve) {
            let server = Listening::with(&self.scratch.path, &[], |command| self.set(command));
            self.listening.insert(self.serve.clone(), server);
        }
        &self.listening[&self.serve]
    }

    /// Sends a request of the protocol.
    fn rpc(&mut self, method: &str, params: &Value) -> Answer {
        match self.ask(method, params) {
            Ok(answer) => Answer::Protocol(outcome(answer)),
            Err(code) => Answer::Ended(code),
        }
    }

    /// Returns what the server has answered when the client connected.
    fn connect(&mut self) -> Answer {
        match self.client() {
            Ok((_, greeting)) => Answer::Protocol(outcome(greeting.clone())),
            Err(code) => Answer::Ended(code),
        }
    }

    /// Lists the names of the tools that are offered.
    fn tools(&mut self) -> Answer {
        let answer = match self.ask("tools/list", &json!({})) {
            Ok(answer) => answer,
            Err(code) => return Answer::Ended(code),
        };
        let tools = answer["result"]["tools"].as_array().unwrap().iter();
        let names = tools.map(|tool| tool["name"].as_str().unwrap().to_owned());
        Answer::Names(names.collect())
    }

    fn tool(&mut self, tool: &str, mut arguments: Value) -> Answer {
        for argument in arguments.as_object_mut().unwrap().values_mut() {
            let name = argument.as_str().and_then(|text| text.strip_prefix('$'));
            if let Some(name) = name {
                let data = self.last.get("data").unwrap_or(&self.last);
                *argument = data[name].clone();
            }
        }
        let params = json!({"name": tool, "arguments": arguments});
        let mut answer = match self.ask("tools/call", &params) {
            Ok(answer) => answer,
            Err(code) => return Answer::Ended(code),
        };
        let Some(result) = answer.get_mut("result").map(Value::take) else {
            return Answer::Protocol(json!({"error": answer["error"]}));
        };
        let is_error = result["isError"] == true;
        let texts = result["content"].as_array().into_iter().flatten();
        let texts = texts.filter_map(|item| item["text"].as_str().map(str::to_owned));
        let texts: Vec<String> = texts.collect();
        let structured = result.get("structuredContent").cloned();
        if let Some(structured) = &structured {
            let text = texts
                .first()
                .and_then(|text| serde_json::from_str::<Value>(text).ok());
            assert_eq!(text.as_ref(), Some(structured), "the text says the same");
            self.last = structured.clone();
        }
        Answer::Tool {
            is_error,
            structured,
            texts,
        }
    }

    fn request(&mut self, method: &str, rest: &str) -> Answer {
        let (path, body) = rest.split_once(' ').unwrap_or((rest, ""));
        let headers = self.bearer();
        let server = self.listening();
        let answer = match method {
            "GET" => server.get(path, &headers),
            _ => {
                let at = &server.at;
                let head = format!(
                    "POST {path} HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\n{headers}"
                );
                server.raw(&head, body.as_bytes())
            }
        };
        Answer::Http {
            status: answer.status,
            body: answer.body,
        }
    }

    /// Runs a command in a folder below the session's.
    fn command(&mut self, folder: &str, command: &str) -> Answer {
        let token = self
            .token
            .as_ref()
            .map(|token| format!(" STATEMARK_TOKEN={token}"));
        let now = self.now;
        let set = match command.starts_with("git ") {
            true => String::new(),
            false => format!("STATEMARK_NOW={now}{} ", token.unwrap_or_default()),
        };
        // A repository around the session's folder isn't meant.
        let ceiling = self.scratch.path.parent().unwrap().display();
        let ceiling = match folder.is_empty() {
            true => String::new(),
            false => format!("GIT_CEILING_DIRECTORIES={ceiling} "),
        };
        let (command, stdin) = match command.split_once(" <<< ") {
            Some((command, stdin)) => (command, Some(stdin.to_owned())),
            None => (command, None),
        };
        let command = format!("{ceiling}{set}{command}");
        // A path that ends with a separator looks different in answers.
        let folder = match folder {
            "" => self.scratch.path.clone(),
            below => self.scratch.path.join(below),
        };
        fs::create_dir_all(&folder).unwrap();
        let run = Run {
            stdin,
            ..Run::new(&command)
        };
        Answer::Command(perform(&run, &folder))
    }
}

/// Returns the result of a request, or its error.
fn outcome(mut answer: Value) -> Value {
    let object = answer.as_object_mut().unwrap();
    object.retain(|key, _| key == "result" || key == "error");
    answer
}

/// The name of a caller who has none.
fn role_name(role: &str) -> &str {
    match role {
        "person" => "somebody",
        role => role,
    }
}

fn object(text: &str) -> Value {
    if text.is_empty() {
        return json!({});
    }
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
