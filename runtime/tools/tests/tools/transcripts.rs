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
//! > serve {"sets": ["time"]}       another server over the same store: `sets`, `allowed`, `read_only`, `run_required`, `run`, `environment`
//! > rewind_run {"confirm_token": "$confirm_token"}    with that field of the answer before
//! > project {"branch": "060-x"}   the server is for such a project: `files` by path, `commits`, `checks`, `packs`; then `serve`
//! > tools                          the names of the tools that are offered
//! > schema get_run                 what clients are told of a tool
//! > without next                   from here on answers are shown without what is next; `with next` ends that
//! ```
//!
//! Ids that were minted are shown as `minted-1`, `minted-2` and so on, in the order in which they were first seen.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use statemark_harness::script::{self, Minted, milliseconds, pretty};
use statemark_runs::{Actor, Role};
use statemark_tools::{Caller, Options, Set};

use crate::bench::Bench;

/// Returns the document with the answers of today.
pub(crate) fn play(text: &str) -> String {
    let specs = specs(text);
    let specs: Vec<(&str, &str)> = specs.iter().map(|(name, it)| (&**name, &**it)).collect();
    let mut stage = Stage {
        bench: Bench::new(&specs),
        caller: Caller::agent(),
        has_next: true,
        minted: Minted::default(),
        last: Value::Null,
    };
    script::play(text, ("```transcript", "```"), |call| {
        let answer = stage.act(call);
        let mut answer = stage.unminted(answer);
        // A text that ends with a line feed is shown with it.
        if !answer.is_empty() {
            answer.push('\n');
        }
        answer
    })
}

/// The specs in a text, each under a heading of its own.
fn specs(text: &str) -> Vec<(String, String)> {
    let parts = format!("\n{text}");
    let parts = parts.split("\n# ").skip(1);
    let machines = parts.filter(|it| it.contains("\n```mermaid") || it.contains("\n```json defin"));
    let own = machines.map(|it| it.split("```transcript\n").next().unwrap_or_default());
    own.zip(1..)
        .map(|(text, number)| (format!("case{number}.md"), format!("# {text}\n")))
        .collect()
}

/// Who calls what.
struct Stage {
    bench: Bench,
    caller: Caller,
    /// Whether `next` is shown.
    has_next: bool,
    /// The ids that were seen and that nobody has given.
    minted: Minted,
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
                self.bench.clock.advance(milliseconds(rest).unwrap());
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
                let tools = self
                    .bench
                    .dispatcher
                    .tools()
                    .iter()
                    .map(|tool| tool.own_name().unwrap());
                tools.collect::<Vec<_>>().join(" ")
            }
            "schema" => {
                let tools = self.bench.dispatcher.tools();
                let tool = tools.iter().find(|tool| tool.name == rest).expect("a tool");
                pretty(
                    &json!({
                        "description": tool.description,
                        "input": tool.input,
                        "output": tool.output,
                    }),
                    WIDTH,
                )
            }
            tool => self.call(tool, object(rest)),
        }
    }

    /// Returns the text with other names for ids that differ each time.
    fn unminted(&mut self, mut text: String) -> String {
        if let Some(root) = self.bench.root().and_then(Path::to_str) {
            text = text.replace(root, "/project");
        }
        self.minted.mask(&text)
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
        let mut answer = answer;
        // How long a command took.
        if let Some(time) = answer.get_mut("milliseconds") {
            *time = json!(0);
        }
        self.last = answer.clone();
        let own = answer.get("ok").is_some_and(Value::is_boolean);
        let mark = if is_error && !own { "error:\n" } else { "" };
        match answer {
            Value::String(text) => format!("{mark}{text}"),
            answer if own && !self.has_next => {
                format!("{mark}{}", pretty(&without_next(answer), WIDTH))
            }
            answer => format!("{mark}{}", pretty(&answer, WIDTH)),
        }
    }
}

/// Widest line that an object or list is put on as a whole.
const WIDTH: usize = 120;

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

fn options(given: &Map<String, Value>) -> Options {
    let texts = |key: &str| -> Option<Vec<String>> {
        let given = given.get(key)?.clone();
        Some(serde_json::from_value(given).unwrap())
    };
    let sets = texts("sets").unwrap_or_default();
    let set = |name: &String| {
        let all = Set::OWN
            .into_iter()
            .chain(statemark_profiles::SETS)
            .chain(statemark_packs::SETS);
        let mut named = all.filter(|set| set.name() == name);
        named.next().expect("a set of tools")
    };
    Options {
        extra: Vec::new(),
        sets: sets.iter().map(set).collect(),
        allowed: texts("allowed"),
        upstream_prefixes: Vec::new(),
        read_only: given.get("read_only") == Some(&json!(true)),
        own_store: false,
        run_required: given.get("run_required") == Some(&json!(true)),
        run: given
            .get("run")
            .and_then(Value::as_str)
            .map(|it| it.parse().unwrap()),
        environment: given.get("environment").map_or_else(BTreeMap::new, |it| {
            serde_json::from_value(it.clone()).unwrap()
        }),
    }
}
