//! Transcripts: which tools are called, and what they answer, in files.
//!
//! A file in `cases/` is prose, specs, and fences `transcript`. Each heading of the first level begins a spec of its own,
//! unless what stands under it has no machine. Lines in a fence that begin with `> ` are what is done; what follows is what
//! the caller gets: a text as it is, all else as JSON. `UPDATE=1` rewrites the answers.
//!
//! ```text
//! > get_run {"run_id": "r"}        a call of a tool; the arguments may go on over lines, and may be left out
//! > as person ann                  from here on a caller of this role and name calls; `person`, `agent`, `observer`
//! > as agent bo run r              one who may touch this run only; `project p`: one who works in this project
//! > after 10s                      lets time pass; likewise 5m and 2h
//! > serve {"sets": ["time"]}       another server over the same store: `sets`, `allowed`, `read_only`, `run`, `smithers`
//! > rewind_run {"confirm_token": "$confirm_token"}    with that field of the answer before
//! > project {"branch": "060-x"}   the server is for such a project: `files` by path, `checks`; then `serve`
//! > tools                          the names of the tools that are offered
//! > schema get_run                 what clients are told of a tool
//! > without next                   from here on answers are shown without what is next; `with next` ends that
//! ```
//!
//! Ids that were minted are shown as `minted-1`, `minted-2` and so on, in the order in which they were first seen.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use statemark_runs::{Actor, Role};
use statemark_server::{Asks, Caller, Options, Set};

use crate::bench::Bench;

const FENCE: &str = "```transcript\n";

/// Returns the document with the answers of today.
pub(crate) fn play(text: &str) -> String {
    let specs = specs(text);
    let specs: Vec<(&str, &str)> = specs.iter().map(|(name, it)| (&**name, &**it)).collect();
    let mut stage = Stage {
        bench: Bench::new(&specs),
        caller: Caller::agent(),
        has_next: true,
        minted: Vec::new(),
        last: Value::Null,
    };
    let mut played = String::new();
    let mut rest = text;
    while let Some((before, begun)) = rest.split_once(FENCE) {
        let (script, after) = begun.split_once("\n```").expect("the fence's end");
        played += before;
        played += FENCE;
        for line in commands(script) {
            let _ = writeln!(played, "> {line}");
            let answer = stage.act(&line);
            let answer = stage.unminted(answer);
            played += &answer;
            if !answer.is_empty() {
                played.push('\n');
            }
        }
        played += "```";
        rest = after;
    }
    assert!(!played.is_empty(), "a fence `transcript`");
    played + rest
}

/// The specs in a text, each under a heading of its own.
fn specs(text: &str) -> Vec<(String, String)> {
    let parts = format!("\n{text}");
    let parts = parts.split("\n# ").skip(1);
    let machines = parts.filter(|it| it.contains("\n```mermaid") || it.contains("\n```json defin"));
    let own = machines.map(|it| it.split(FENCE).next().unwrap_or_default());
    own.zip(1..)
        .map(|(text, number)| (format!("case{number}.md"), format!("# {text}\n")))
        .collect()
}

/// What is done: lines after `> `, with those behind that belong to their arguments.
fn commands(script: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in script.lines() {
        if is_open && let Some(last) = all.last_mut() {
            *last += "\n";
            *last += line;
        } else if let Some(begun) = line.strip_prefix("> ") {
            all.push(begun.to_owned());
        } else {
            continue;
        }
        is_open = all.last().is_some_and(|it| !is_whole(it));
    }
    all
}

/// Whether the arguments of a call are whole.
fn is_whole(command: &str) -> bool {
    let Some((_, arguments)) = command.split_once(" {") else {
        return true;
    };
    let read = serde_json::from_str::<Value>(&format!("{{{arguments}"));
    !read.is_err_and(|error| error.is_eof())
}

/// Who calls what.
struct Stage {
    bench: Bench,
    caller: Caller,
    /// Whether `next` is shown.
    has_next: bool,
    /// The ids that were seen and that nobody has given.
    minted: Vec<String>,
    /// The answer before.
    last: Value,
}

impl Stage {
    fn act(&mut self, command: &str) -> String {
        let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
        match word {
            "as" => {
                self.caller = caller(rest);
                String::new()
            }
            "after" => {
                self.bench.clock.advance(milliseconds(rest));
                String::new()
            }
            "with" | "without" => {
                self.has_next = word == "with";
                String::new()
            }
            "serve" => match self.bench.serve(options(&object(rest))) {
                Ok(()) => String::new(),
                // Behind it stands every name that there is.
                Err(error) => format!("error: {}", error.split(';').next().unwrap_or_default()),
            },
            "project" => {
                self.bench.found(&Value::Object(object(rest)));
                String::new()
            }
            "tools" => {
                let tools = self.bench.dispatcher.tools().iter().map(|tool| tool.name);
                tools.collect::<Vec<_>>().join(" ")
            }
            "schema" => {
                let tools = self.bench.dispatcher.tools();
                let tool = tools.iter().find(|tool| tool.name == rest).expect("a tool");
                pretty(&json!({
                    "description": tool.description,
                    "input": tool.input,
                    "output": tool.output,
                }))
            }
            tool => self.call(tool, object(rest)),
        }
    }

    /// The same text with other names for ids that are others each time.
    fn unminted(&mut self, mut text: String) -> String {
        if let Some(root) = self.bench.root().and_then(Path::to_str) {
            text = text.replace(root, "/project");
        }
        let mut from = 0;
        while let Some(at) = (from..text.len()).find(|at| is_minted(&text.as_bytes()[*at..])) {
            let id = text.get(at..at + MINTED.len()).unwrap().to_owned();
            if !self.minted.contains(&id) {
                self.minted.push(id.clone());
            }
            let number = self.minted.iter().position(|it| *it == id).unwrap() + 1;
            text.replace_range(at..at + MINTED.len(), &format!("minted-{number}"));
            from = at;
        }
        text
    }

    fn call(&mut self, tool: &str, mut arguments: Map<String, Value>) -> String {
        for argument in arguments.values_mut() {
            let name = argument.as_str().and_then(|it| it.strip_prefix('$'));
            if let Some(name) = name {
                *argument = self.last["data"][name].clone();
            }
        }
        let Some((answer, is_error)) = self.bench.call(&self.caller, tool, arguments) else {
            return format!("error: there is no tool `{tool}`");
        };
        self.last = answer.clone();
        let own = answer.get("ok").is_some_and(Value::is_boolean);
        let mark = if is_error && !own { "error:\n" } else { "" };
        match answer {
            Value::String(text) => format!("{mark}{text}"),
            answer if own && !self.has_next => format!("{mark}{}", pretty(&without_next(answer))),
            answer => format!("{mark}{}", pretty(&answer)),
        }
    }
}

/// What an id looks like that was minted.
const MINTED: &str = "01234567-89ab-7cde-f012-3456789abcde";

fn is_minted(text: &[u8]) -> bool {
    let fits = |(is, like): (&u8, u8)| match like {
        b'-' => *is == b'-',
        _ => is.is_ascii_digit() || (b'a'..=b'f').contains(is),
    };
    text.len() >= MINTED.len() && text.iter().zip(MINTED.bytes()).all(fits)
}

/// Widest line that an object or list is put on as a whole.
const WIDTH: usize = 120;

/// JSON for people: what fits on a line stands on one.
fn pretty(value: &Value) -> String {
    let mut text = String::new();
    lay(value, 0, 0, &mut text);
    text
}

/// Puts a value after `used` characters of a line that is indented so deep.
fn lay(value: &Value, depth: usize, used: usize, text: &mut String) {
    let line = flat(value);
    if depth * 2 + used + line.len() <= WIDTH {
        text.push_str(&line);
        return;
    }
    let items: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            let items = map.iter();
            items
                .map(|(key, it)| (format!("{}: ", json!(key)), it))
                .collect()
        }
        Value::Array(all) => all.iter().map(|it| (String::new(), it)).collect(),
        _ => return text.push_str(&line),
    };
    let (open, close) = if value.is_array() {
        ('[', ']')
    } else {
        ('{', '}')
    };
    text.push(open);
    let count = items.len();
    for (number, (key, item)) in (1..).zip(items) {
        let _ = write!(text, "\n{}{key}", "  ".repeat(depth + 1));
        lay(item, depth + 1, key.len() + 1, text);
        if number < count {
            text.push(',');
        }
    }
    let _ = write!(text, "\n{}{close}", "  ".repeat(depth));
}

/// JSON on one line, with spaces between what is listed.
fn flat(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let all = map
                .iter()
                .map(|(key, it)| format!("{}: {}", json!(key), flat(it)));
            format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
        }
        Value::Array(all) => {
            let all = all.iter().map(flat);
            format!("[{}]", all.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// An answer of ours without what is next.
fn without_next(mut answer: Value) -> Value {
    for place in ["/data", "/error/details"] {
        if let Some(Value::Object(map)) = answer.pointer_mut(place) {
            map.remove("next");
        }
    }
    if let Some(Value::Object(error)) = answer.get_mut("error") {
        error.retain(|_, it| *it != json!({}));
    }
    answer
}

fn object(text: &str) -> Map<String, Value> {
    if text.is_empty() {
        return Map::new();
    }
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn caller(words: &str) -> Caller {
    let mut words = words.split(' ');
    let role = match words.next() {
        Some("person") => Role::Person,
        Some("observer") => Role::Observer,
        _ => Role::Agent,
    };
    let mut caller = Caller {
        actor: Actor::new(role),
        ..Caller::agent()
    };
    while let Some(word) = words.next() {
        match word {
            "run" => caller.run = words.next().map(|it| it.parse().unwrap()),
            "project" => caller.project = words.next().map(str::to_owned),
            name => caller = caller.with_client(Some(name)),
        }
    }
    caller
}

fn milliseconds(length: &str) -> u64 {
    let (number, unit) = length.split_at(length.len() - 1);
    let factor = match unit {
        "h" => 3_600_000,
        "m" => 60_000,
        _ => 1000,
    };
    number.parse::<u64>().unwrap() * factor
}

fn options(given: &Map<String, Value>) -> Options {
    let texts = |key: &str| -> Option<Vec<String>> {
        let given = given.get(key)?.clone();
        Some(serde_json::from_value(given).unwrap())
    };
    let asks = |key: &str| Some(given.get("smithers")?.get(key)?.as_str()?.to_owned());
    let sets = texts("sets").unwrap_or_default();
    let set = |name: &String| {
        let all = Set::OWN.into_iter().chain(Set::PROFILES);
        let mut named = all.filter(|set| set.name() == name);
        named.next().expect("a set of tools")
    };
    Options {
        sets: sets.iter().map(set).collect(),
        allowed: texts("allowed"),
        read_only: given.get("read_only") == Some(&json!(true)),
        run: given
            .get("run")
            .and_then(Value::as_str)
            .map(|it| it.parse().unwrap()),
        asks: Asks {
            run: asks("run"),
            node: asks("node"),
            iteration: asks("iteration"),
        },
    }
}
