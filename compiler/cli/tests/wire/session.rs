//! A session: a folder, servers that are started as they are needed, and the callers that were named so far.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use statemark_harness::script::{Minted, milliseconds, pretty};

use super::mask::{masked, string};
use crate::client::{Client, serve};
use crate::raw::Listening;
use crate::shell::{Run, Scratch, perform, token};

/// The time at which each session begins. Unit: milliseconds since 1970.
const BEGIN: u64 = 1_800_000_000_000;

/// Width of a line that an object or list may fill.
const WIDTH: usize = 160;

/// The words of `serve`, and the caller's token.
type Options = (Vec<String>, Option<String>);

pub(super) struct Session<'s> {
    scratch: &'s Scratch,
    now: u64,
    serve: Vec<String>,
    /// The current caller's token.
    token: Option<String>,
    /// True if the current caller is a person, who has no rights over standard input and output.
    is_person: bool,
    /// The tokens that were made, by the words after `as`.
    tokens: BTreeMap<String, String>,
    /// Servers over standard input and output.
    clients: BTreeMap<Options, Client>,
    /// Servers over HTTP.
    listening: BTreeMap<Vec<String>, Listening>,
    minted: Minted,
    last: Value,
}

impl<'s> Session<'s> {
    pub(super) fn new(scratch: &'s Scratch) -> Self {
        Self {
            scratch,
            now: BEGIN,
            serve: Vec::new(),
            token: None,
            is_person: false,
            tokens: BTreeMap::new(),
            clients: BTreeMap::new(),
            listening: BTreeMap::new(),
            minted: Minted::default(),
            last: Value::Null,
        }
    }

    /// Makes a call, and returns the masked answer.
    pub(super) fn call(&mut self, call: &str) -> String {
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
            "tools" => return self.tools(),
            _ if word == "git" || call.contains("statemark ") => return self.command(call),
            tool => return self.tool(tool, object(rest)),
        }
        String::new()
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

    fn client(&mut self) -> Result<&mut Client, String> {
        let options = (self.serve.clone(), self.token.clone());
        if !self.clients.contains_key(&options) {
            let mut command = serve(&self.scratch.path, &[]);
            self.set(&mut command);
            if let Some(token) = &self.token {
                command.env("STATEMARK_TOKEN", token);
            }
            command.stderr(Stdio::null());
            let client = Client::try_start(command).map_err(|code| format!("exit {code}\n"))?;
            self.clients.insert(options.clone(), client);
        }
        Ok(self.clients.get_mut(&options).unwrap())
    }

    /// Sends a request of the protocol as the current caller: a person's over HTTP.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        if !self.is_person {
            return self.client().map(|client| client.ask(method, params));
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
    fn rpc(&mut self, method: &str, params: &Value) -> String {
        let mut answer = match self.ask(method, params) {
            Ok(answer) => answer,
            Err(exit) => return exit,
        };
        answer
            .as_object_mut()
            .unwrap()
            .retain(|key, _| key == "result" || key == "error");
        self.render(&answer)
    }

    /// Lists the names of the tools that are offered.
    fn tools(&mut self) -> String {
        let answer = match self.ask("tools/list", &json!({})) {
            Ok(answer) => answer,
            Err(exit) => return exit,
        };
        let tools = answer["result"]["tools"].as_array().unwrap().iter();
        let names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
        names.join(" ")
    }

    fn tool(&mut self, tool: &str, mut arguments: Value) -> String {
        for argument in arguments.as_object_mut().unwrap().values_mut() {
            let name = argument.as_str().and_then(|text| text.strip_prefix('$'));
            if let Some(name) = name {
                *argument = self.last["data"][name].clone();
            }
        }
        let params = json!({"name": tool, "arguments": arguments});
        let mut answer = match self.ask("tools/call", &params) {
            Ok(answer) => answer,
            Err(exit) => return exit,
        };
        let Some(result) = answer.get_mut("result").map(Value::take) else {
            return self.render(&json!({"error": answer["error"]}));
        };
        let is_error = result["isError"] == true;
        let texts = result["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = texts.filter_map(|item| item["text"].as_str()).collect();
        let mark = if is_error { "error\n" } else { "" };
        if let Some(structured) = result.get("structuredContent") {
            let text = texts
                .first()
                .and_then(|text| serde_json::from_str::<Value>(text).ok());
            assert_eq!(text.as_ref(), Some(structured), "the text says the same");
            self.last = structured.clone();
            return format!("{mark}{}", self.render(structured));
        }
        // Only texts that aren't errors are documented.
        let shown = texts
            .iter()
            .map(|text| match serde_json::from_str::<Value>(text) {
                Ok(value) => self.render(&value),
                Err(_) if is_error => "…".to_owned(),
                Err(_) => string(text, &mut self.minted),
            });
        format!("{mark}text\n{}", shown.collect::<Vec<_>>().join("\n"))
    }

    fn request(&mut self, method: &str, rest: &str) -> String {
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
        format!(
            "status {}\n{}",
            answer.status,
            self.shown_text(&answer.body)
        )
    }

    fn command(&mut self, command: &str) -> String {
        let token = self
            .token
            .as_ref()
            .map(|token| format!(" STATEMARK_TOKEN={token}"));
        let now = self.now;
        let set = match command.starts_with("git ") {
            true => String::new(),
            false => format!("STATEMARK_NOW={now}{} ", token.unwrap_or_default()),
        };
        let command = format!("{set}{command}");
        let said = perform(&Run::new(&command), &self.scratch.path);
        let lines: Vec<String> = said
            .stdout
            .lines()
            .map(|line| self.shown_text(line))
            .collect();
        let whole = serde_json::from_str::<Value>(&said.stdout).ok();
        let answer = whole.map_or_else(|| lines.join("\n"), |value| self.render(&value));
        format!("exit {}\n{answer}", said.code)
    }

    /// Returns the masked JSON of a text; of another text nothing is compared but that there is one.
    fn shown_text(&mut self, text: &str) -> String {
        match serde_json::from_str(text) {
            Ok(value) => self.render(&value),
            Err(_) if text.is_empty() => String::new(),
            Err(_) => "text".to_owned(),
        }
    }

    fn render(&mut self, value: &Value) -> String {
        let folder = self.scratch.path.to_str().unwrap();
        let text = value.to_string().replace(folder, "FOLDER");
        let value = serde_json::from_str(&text).unwrap();
        pretty(&masked(&value, &mut self.minted), WIDTH)
    }
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
