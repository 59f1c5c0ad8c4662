//! Executors that are agents' own command lines, without a terminal.
//!
//! They are given our server, bound to the run, and our hook, so that the state's grants hold for their own tools as well.
//! What they write, an event a line, is read for what was said and what it cost.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde_json::{Map, Value, json};
use statemark_runs::RunError;
use statemark_runs::body::AttemptOutcome;
use statemark_runs::check::RunningEnd;
use statemark_runs::runs::RecordTurn;
use statemark_text::shorten::shorten;

use crate::attempt::{Attempt, End};
use crate::command;
use crate::happening::Happening;
use crate::plan::ClientKind;
use crate::settings::{Client, millionths};

/// The tools of Claude Code that it may use without asking: the hook asks the state.
const CLAUDE_TOOLS: &str = "mcp__statemark,Bash,Edit,Glob,Grep,MultiEdit,NotebookEdit,Read,Task,TodoWrite,WebFetch,WebSearch,Write";

/// The options of Gemini CLI. Whom it would ask for a call isn't there: the hook asks the state.
const GEMINI_OPTIONS: [&str; 5] = [
    "--output-format",
    "stream-json",
    "--approval-mode",
    "yolo",
    "--skip-trust",
];

/// Longest text of a message that is recorded whole. Unit: bytes.
///
/// Why: a character of it may take six bytes as JSON, and a record has at most a mebibyte.
const MAX_SAID: usize = 160 << 10;

/// Works by an agent's command line to the end of an attempt.
pub(crate) fn work(
    attempt: &Attempt<'_>,
    kind: ClientKind,
    client: &Client,
    model: Option<&str>,
) -> Result<End, RunError> {
    let (mut piece, mut used) = (String::new(), Used::default());
    let (words, variables) = match kind {
        ClientKind::Claude => (claude(attempt), Vec::new()),
        ClientKind::Codex => (codex(attempt), Vec::new()),
        ClientKind::Gemini => {
            let words = GEMINI_OPTIONS.map(str::to_owned);
            let file = attempt.surroundings.gemini_settings.iter();
            let file = file.map(|it| it.to_string_lossy().into_owned());
            let variables = file.map(|it| ("GEMINI_CLI_SYSTEM_SETTINGS_PATH".to_owned(), it));
            (words.to_vec(), variables.collect())
        }
        ClientKind::OpenCode => {
            let words = ["run", "--format", "json"].map(str::to_owned);
            let variable = (
                "OPENCODE_CONFIG_CONTENT".to_owned(),
                opencode(attempt).to_string(),
            );
            (words.to_vec(), vec![variable])
        }
    };
    let words = command_line(attempt, (kind, client), words, model);
    let ended = command::run(
        attempt,
        (&words, &client.inherit, true),
        variables,
        &mut |line| {
            let Ok(Value::Object(event)) = serde_json::from_str(line) else {
                return Ok(());
            };
            let turn = match kind {
                ClientKind::Claude => read_claude(&event, &mut used),
                ClientKind::Codex => read_codex(&event),
                ClientKind::Gemini => read_gemini(&event, &mut piece),
                ClientKind::OpenCode => read_opencode(&event),
            };
            record(attempt, turn, model)
        },
    )?;
    // What it was about to say when it ended.
    let rest = (!piece.trim().is_empty()).then(|| ("assistant".to_owned(), piece));
    let rest = Turn {
        said: rest.into_iter().collect(),
        usage: None,
    };
    record(attempt, rest, model)?;
    if let Some(end) = attempt.look(true)? {
        return Ok(end);
    }
    let reason = match ended {
        RunningEnd::Exited(0) => {
            let reason = "its agent has ended, and sent no event that leads on";
            return attempt.end_nowhere(reason.to_owned());
        }
        RunningEnd::Exited(code) => format!("its agent exited with {code}"),
        RunningEnd::Broken(reason) => reason,
        RunningEnd::Stopped => "its agent was stopped".to_owned(),
    };
    Ok(End::because(AttemptOutcome::Failed, reason))
}

/// The message and the cost in an event of a client.
#[derive(Debug, Default, PartialEq)]
struct Turn {
    said: Vec<(String, String)>,
    usage: Option<(u64, u64, Option<u64>)>,
}

fn record(attempt: &Attempt<'_>, turn: Turn, model: Option<&str>) -> Result<(), RunError> {
    if turn == Turn::default() {
        return Ok(());
    }
    let mut turn = turn;
    for (_, text) in &mut turn.said {
        if text.len() > MAX_SAID {
            *text = shorten(text, MAX_SAID / 4);
        }
        attempt.say(text);
    }
    if let Some((input_tokens, output_tokens, cost)) = turn.usage {
        attempt.observe(Happening::Used {
            input_tokens,
            output_tokens,
            cost,
        });
    }
    attempt.record(&RecordTurn {
        messages: turn.said,
        usage: turn.usage,
        model: model.map(str::to_owned),
    })?;
    attempt.count_budgets()
}

/// Our server for the run, as a client starts it.
struct Server {
    program: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Server {
    fn new(attempt: &Attempt<'_>) -> Self {
        let surroundings = attempt.surroundings;
        let mut arguments = vec!["serve".to_owned(), ".".to_owned()];
        if let Some(store) = &surroundings.store {
            arguments.extend(["--store".to_owned(), store.clone()]);
        }
        arguments.extend(["--run".to_owned(), attempt.run.to_string()]);
        let of_attempt = attempt.caller.attempt.iter();
        let variables = of_attempt.flat_map(|it| surroundings.variables(it));
        let text = |it: OsString| it.to_string_lossy().into_owned();
        Self {
            program: surroundings.program.clone(),
            arguments,
            variables: variables
                .map(|(name, value)| (text(name), text(value)))
                .collect(),
        }
    }
}

/// Returns the words that start a client.
///
/// They are its own, `words`, the model, those of the configuration, and the prompt, in this order.
fn command_line(
    attempt: &Attempt<'_>,
    (kind, client): (ClientKind, &Client),
    words: impl IntoIterator<Item = String>,
    model: Option<&str>,
) -> Vec<String> {
    let mut all = if client.command.is_empty() {
        vec![kind.name().to_owned()]
    } else {
        client.command.clone()
    };
    all.extend(words);
    if let Some(model) = model {
        all.extend(["--model".to_owned(), model.to_owned()]);
    }
    all.extend(client.arguments.iter().cloned());
    let prompt = &attempt.prompt.text;
    if kind == ClientKind::Gemini {
        // In one word, so that no prompt is an option: it reads nothing after `--`.
        all.push(format!("--prompt={prompt}"));
    } else {
        // After `--`, so that no prompt is an option, nor one more tool.
        all.extend(["--".to_owned(), prompt.clone()]);
    }
    all
}

/// Returns the options of Claude Code.
fn claude(attempt: &Attempt<'_>) -> Vec<String> {
    let server = Server::new(attempt);
    let variables = server.variables.into_iter();
    let variables: Map<String, Value> = variables.map(|(name, it)| (name, it.into())).collect();
    let servers = json!({"mcpServers": {"statemark": {
        "command": server.program, "args": server.arguments, "env": variables,
    }}});
    let settings = attempt.surroundings.claude_settings.to_string();
    let words = [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--strict-mcp-config",
        "--permission-mode",
        "acceptEdits",
        "--allowedTools",
        CLAUDE_TOOLS,
        "--mcp-config",
        &servers.to_string(),
        "--settings",
        &settings,
    ];
    words.map(str::to_owned).to_vec()
}

/// Returns the subcommand and the options of Codex.
fn codex(attempt: &Attempt<'_>) -> Vec<String> {
    let server = Server::new(attempt);
    let words = [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--sandbox",
        "workspace-write",
    ];
    let mut words = words.map(str::to_owned).to_vec();
    let mut set = |key: &str, value: Value| {
        // A JSON string or list of strings is one of TOML.
        words.extend([
            "-c".to_owned(),
            format!("mcp_servers.statemark.{key}={value}"),
        ]);
    };
    set("command", json!(server.program));
    set("args", json!(server.arguments));
    for (name, value) in server.variables {
        set(&format!("env.{name}"), json!(value));
    }
    words
}

/// Returns the configuration of OpenCode.
///
/// It loads a plugin or leaves it out without a word, so all tools are denied until the plugin itself allows them.
fn opencode(attempt: &Attempt<'_>) -> Value {
    let server = Server::new(attempt);
    let words = std::iter::once(server.program).chain(server.arguments);
    let variables = server.variables.into_iter();
    let variables: Map<String, Value> = variables.map(|(name, it)| (name, it.into())).collect();
    let plugin = attempt.surroundings.opencode_plugin.iter();
    let plugin = plugin.map(|file| file.to_string_lossy().into_owned());
    json!({
        "mcp": {"statemark": {
            "type": "local",
            "command": words.collect::<Vec<_>>(),
            "environment": variables,
        }},
        "permission": {"*": "deny"},
        "plugin": plugin.collect::<Vec<_>>(),
        "share": "disabled",
    })
}

/// The tokens of a client's session, as far as they have been told.
///
/// An attempt may be cut off before its end tells the sum, and a budget is to hold before.
#[derive(Debug, Default)]
struct Used {
    /// By message: the tokens that were read and written for it, as it was told of last.
    messages: BTreeMap<String, (u64, u64)>,
    /// The sum over the messages.
    sum: (u64, u64),
    /// The tokens that are counted already.
    counted: (u64, u64),
}

impl Used {
    /// Takes the tokens of a message and returns what is to be counted. It may be told of several times.
    fn count_message(&mut self, id: &str, tokens: (u64, u64)) -> (u64, u64) {
        let known = self.messages.entry(id.to_owned()).or_default();
        let more = rise(known, tokens);
        self.sum.0 = self.sum.0.saturating_add(more.0);
        self.sum.1 = self.sum.1.saturating_add(more.1);
        rise(&mut self.counted, self.sum)
    }

    /// Takes the sum of all, and returns what of it is to be counted.
    fn count_sum(&mut self, sum: (u64, u64)) -> (u64, u64) {
        rise(&mut self.counted, sum)
    }
}

/// Raises counts to others where those are higher, and returns by how much.
fn rise(counts: &mut (u64, u64), others: (u64, u64)) -> (u64, u64) {
    let more = (
        others.0.saturating_sub(counts.0),
        others.1.saturating_sub(counts.1),
    );
    *counts = (counts.0.max(others.0), counts.1.max(others.1));
    more
}

/// Returns the tokens that Claude says were read, from a cache too, and written.
fn tokens_of_claude(usage: &Value) -> (u64, u64) {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let cached =
        count("cache_creation_input_tokens").saturating_add(count("cache_read_input_tokens"));
    (
        count("input_tokens").saturating_add(cached),
        count("output_tokens"),
    )
}

/// Reads an event of `claude --output-format stream-json`.
fn read_claude(event: &Map<String, Value>, used: &mut Used) -> Turn {
    let kind = event
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut turn = Turn::default();
    match kind {
        "assistant" => {
            let message = event.get("message");
            let usage = message.and_then(|it| it.get("usage"));
            let id = message.and_then(|it| it.get("id")?.as_str());
            if let (Some(usage), Some(id)) = (usage, id) {
                let (read, written) = used.count_message(id, tokens_of_claude(usage));
                turn.usage = (read > 0 || written > 0).then_some((read, written, None));
            }
            let parts = message.and_then(|it| it.get("content"));
            for part in parts.and_then(Value::as_array).into_iter().flatten() {
                let text = match part.get("type").and_then(Value::as_str) {
                    Some("text") => part.get("text").and_then(Value::as_str).map(str::to_owned),
                    Some("tool_use") => {
                        let name = part.get("name").and_then(Value::as_str).unwrap_or_default();
                        let input = part.get("input").unwrap_or(&Value::Null);
                        Some(format!("[{name} {input}]"))
                    }
                    _ => None,
                };
                if let Some(text) = text.filter(|it| !it.trim().is_empty()) {
                    turn.said.push(("assistant".to_owned(), text));
                }
            }
        }
        "result" => {
            if let Some(usage) = event.get("usage") {
                let (read, written) = used.count_sum(tokens_of_claude(usage));
                let cost = event.get("total_cost_usd").and_then(Value::as_f64);
                turn.usage = Some((read, written, cost.map(millionths)));
            }
        }
        _ => {}
    }
    turn
}

/// Reads an event of `codex exec --json`.
fn read_codex(event: &Map<String, Value>) -> Turn {
    let kind = event
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut turn = Turn::default();
    match kind {
        "item.completed" => {
            let item = event.get("item").unwrap_or(&Value::Null);
            let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
            let said = match item.get("type").and_then(Value::as_str) {
                Some("agent_message") => text("text"),
                Some("command_execution") => text("command").map(|it| format!("[{it}]")),
                Some("mcp_tool_call") => text("tool").map(|it| format!("[{it}]")),
                _ => None,
            };
            turn.said
                .extend(said.map(|text| ("assistant".to_owned(), text)));
        }
        "turn.completed" => {
            if let Some(usage) = event.get("usage") {
                let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
                turn.usage = Some((count("input_tokens"), count("output_tokens"), None));
            }
        }
        _ => {}
    }
    turn
}

/// Reads an event of `gemini --output-format stream-json`.
///
/// A message comes in pieces, of which `said` has those that have come so far: another event ends it.
fn read_gemini(event: &Map<String, Value>, said: &mut String) -> Turn {
    let text = |path: &str| {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let value = event.get(first)?;
        let value = if rest.is_empty() {
            Some(value)
        } else {
            value.get(rest)
        };
        value?.as_str()
    };
    let mut turn = Turn::default();
    let kind = text("type").unwrap_or_default();
    if kind == "message" && text("role") == Some("assistant") {
        *said += text("content").unwrap_or_default();
        return turn;
    }
    let mut say = |by: &str, text: String| {
        if !text.trim().is_empty() {
            turn.said.push((by.to_owned(), text));
        }
    };
    say("assistant", std::mem::take(said));
    match kind {
        "tool_use" => {
            let input = event.get("parameters").unwrap_or(&Value::Null);
            let tool = text("tool_name").unwrap_or_default();
            say("assistant", format!("[{tool} {input}]"));
        }
        "error" => say("stderr", text("message").unwrap_or_default().to_owned()),
        "result" => {
            say(
                "stderr",
                text("error/message").unwrap_or_default().to_owned(),
            );
            if let Some(stats) = event.get("stats") {
                let count = |key: &str| stats.get(key).and_then(Value::as_u64).unwrap_or_default();
                turn.usage = Some((count("input_tokens"), count("output_tokens"), None));
            }
        }
        _ => {}
    }
    turn
}

/// Reads an event of `opencode run --format json`.
fn read_opencode(event: &Map<String, Value>) -> Turn {
    let part = event.get("part").unwrap_or(&Value::Null);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let mut turn = Turn::default();
    let mut say = |by: &str, text: Option<String>| {
        let text = text.filter(|it| !it.trim().is_empty());
        turn.said.extend(text.map(|text| (by.to_owned(), text)));
    };
    match event.get("type").and_then(Value::as_str) {
        Some("text") => say("assistant", text(part.get("text"))),
        Some("tool_use") => {
            let input = part.pointer("/state/input").unwrap_or(&Value::Null);
            let call = text(part.get("tool")).map(|tool| format!("[{tool} {input}]"));
            say("assistant", call);
        }
        Some("error") => {
            let message = event
                .get("error")
                .and_then(|it| it.pointer("/data/message"));
            let name = event.get("error").and_then(|it| it.get("name"));
            say("stderr", text(message).or_else(|| text(name)));
        }
        Some("step_finish") => {
            let count = |path: &str| {
                let count = part.pointer(path).and_then(Value::as_u64);
                count.unwrap_or_default()
            };
            let cached = count("/tokens/cache/read").saturating_add(count("/tokens/cache/write"));
            let written = count("/tokens/output").saturating_add(count("/tokens/reasoning"));
            let cost = part.get("cost").and_then(Value::as_f64);
            let read = count("/tokens/input").saturating_add(cached);
            turn.usage = Some((read, written, cost.filter(|it| *it > 0.0).map(millionths)));
        }
        _ => {}
    }
    turn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_claude_has_used_counts_as_it_is_told_and_once() {
        let message = |id: &str, read: u64, written: u64| {
            json!({"type": "assistant", "message": {
                "id": id, "content": [],
                "usage": {"input_tokens": read, "cache_read_input_tokens": 1, "output_tokens": written},
            }})
        };
        let end = json!({
            "type": "result", "total_cost_usd": 0.5, "usage": {"input_tokens": 31, "output_tokens": 9},
        });
        let mut used = Used::default();
        for (event, expected) in [
            (message("a", 9, 1), Some((10, 1, None))),
            // The next part of the message.
            (message("a", 9, 1), None),
            (message("a", 9, 4), Some((0, 3, None))),
            (message("b", 19, 2), Some((20, 2, None))),
            // The sum has what no message has told.
            (end.clone(), Some((1, 3, Some(500_000)))),
            (end, Some((0, 0, Some(500_000)))),
        ] {
            let turn = read_claude(event.as_object().unwrap(), &mut used);
            assert_eq!(turn.usage, expected, "{event}");
        }
    }

    #[test]
    fn events_of_clients_say_what_was_said_and_what_it_cost() {
        let said = |text: &str| vec![("assistant".to_owned(), text.to_owned())];
        let turn = |said, usage| Turn { said, usage };
        type Read = fn(&Map<String, Value>) -> Turn;
        let cases: [(Read, &str, Turn); 14] = [
            (
                |event| read_claude(event, &mut Used::default()),
                r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hm."},{"type":"thinking","thinking":"x"}]}}"#,
                turn(said("Hm."), None),
            ),
            (
                |event| read_claude(event, &mut Used::default()),
                r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"a"}}]}}"#,
                turn(said(r#"[Read {"file_path":"a"}]"#), None),
            ),
            (
                |event| read_claude(event, &mut Used::default()),
                r#"{"type":"result","usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":5},"total_cost_usd":0.0125}"#,
                turn(Vec::new(), Some((7, 5, Some(12_500)))),
            ),
            (
                |event| read_claude(event, &mut Used::default()),
                r#"{"type":"system"}"#,
                Turn::default(),
            ),
            (
                read_codex,
                r#"{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}"#,
                turn(said("Done."), None),
            ),
            (
                read_codex,
                r#"{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":2}}"#,
                turn(Vec::new(), Some((9, 2, None))),
            ),
            (read_codex, r#"{"type":"thread.started"}"#, Turn::default()),
            (
                |event| read_gemini(event, &mut "Hm.".to_owned()),
                r#"{"type":"tool_use","tool_name":"read_file","tool_id":"a","parameters":{"file_path":"a"}}"#,
                turn(
                    [said("Hm."), said(r#"[read_file {"file_path":"a"}]"#)].concat(),
                    None,
                ),
            ),
            (
                |event| read_gemini(event, &mut String::new()),
                r#"{"type":"message","role":"assistant","content":"Hm.","delta":true}"#,
                Turn::default(),
            ),
            (
                |event| read_gemini(event, &mut String::new()),
                r#"{"type":"result","status":"error","error":{"type":"E","message":"No."},"stats":{"total_tokens":9,"input_tokens":6,"output_tokens":3,"cached":2,"input":4}}"#,
                turn(
                    vec![("stderr".to_owned(), "No.".to_owned())],
                    Some((6, 3, None)),
                ),
            ),
            (
                read_opencode,
                r#"{"type":"tool_use","part":{"type":"tool","tool":"read","state":{"status":"completed","input":{"filePath":"a"},"output":"x"}}}"#,
                turn(said(r#"[read {"filePath":"a"}]"#), None),
            ),
            (
                read_opencode,
                r#"{"type":"step_finish","part":{"tokens":{"input":2,"output":3,"reasoning":4,"cache":{"read":5,"write":6}},"cost":0.5}}"#,
                turn(Vec::new(), Some((13, 7, Some(500_000)))),
            ),
            (
                read_opencode,
                r#"{"type":"error","error":{"name":"APIError","data":{"message":"No."}}}"#,
                turn(vec![("stderr".to_owned(), "No.".to_owned())], None),
            ),
            (
                read_opencode,
                r#"{"type":"step_start","part":{}}"#,
                Turn::default(),
            ),
        ];
        for (read, text, expected) in cases {
            let event = serde_json::from_str(text).unwrap();
            assert_eq!(read(&event), expected, "{text}");
        }
    }
}
