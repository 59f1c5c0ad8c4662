//! The executor `model`: a loop of prompt, answer, and calls of tools, until an event is taken.
//!
//! ```text
//! prompt ─→ ask ─→ calls of tools ─→ dispatcher (policy, count, record) ─→ results ─→ ask …
//!                        └─ `send_event` was taken: the attempt is over
//! ```
//!
//! A model that has no tools of its own answers with an object instead, whose schema has the same choices.

mod api;

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use statemark_runs::body::AttemptOutcome;
use statemark_runs::runs::RecordTurn;
use statemark_runs::{Loaded, RunError};
use statemark_text::shorten::shorten;
use statemark_tools::{Set, Tool};
use tokio::runtime::Handle;

use crate::attempt::{Attempt, End, LOOK};
use crate::happening::Happening;
use crate::plan::Rung;
use crate::prompt::{event_names, event_shapes};
use crate::settings::ToolStyle;
use api::{Answer, Call, NoAnswer, Request};

/// Our own tools that an agent gets in an attempt. The others are for those who drive several runs.
const OWN_TOOLS: [&str; 10] = [
    "send_event",
    "get_run",
    "explain_run",
    "submit_artifact",
    "get_artifact",
    "report_progress",
    "request_human",
    "run_check",
    "read_document",
    "complete_task",
];

/// The tool that moves a run.
const SEND: &str = "send_event";

/// Most answers in a row that neither call a tool nor send an event.
const MAX_IDLE: u32 = 3;

/// Most times that a provider is asked for one answer.
const MAX_TRIES: u32 = 6;

/// Longest wait before a provider is asked again.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Most characters of a tool's result that a model reads.
const MAX_RESULT: usize = 32_000;

/// A conversation with a model.
struct Talk<'a> {
    attempt: &'a Attempt<'a>,
    rung: &'a Rung,
    key: Option<String>,
    style: ToolStyle,
    messages: Vec<Value>,
}

/// Works with a model to the end of an attempt.
pub(crate) fn work(attempt: &Attempt<'_>, rungs: &[Rung]) -> Result<End, RunError> {
    let Some(rung) = rungs.get(attempt.rung) else {
        return Ok(End::because(AttemptOutcome::Failed, "no model is named"));
    };
    let key = match &rung.key {
        None => None,
        Some(name) => match (attempt.surroundings.variable)(name) {
            Some(key) => Some(key),
            None => {
                let reason = format!("`{}` needs the variable `{name}` with its key", rung.model);
                return Ok(End::because(AttemptOutcome::Unavailable, reason));
            }
        },
    };
    let mut talk = Talk {
        attempt,
        rung,
        key,
        style: rung.tools,
        messages: Vec::new(),
    };
    talk.begin()?;
    talk.run()
}

/// Returns the rung to begin with.
///
/// That is the first, from `from` on, whose server says that it is there; else the last.
pub(crate) fn choose_rung(tokio: &Handle, rungs: &[Rung], from: usize) -> usize {
    let last = rungs.len().saturating_sub(1);
    let mut all = rungs.iter().enumerate().skip(from.min(last));
    let chosen = all.find(|(_, rung)| match &rung.health {
        None => true,
        Some(url) => tokio.block_on(api::is_healthy(url)),
    });
    chosen.map_or(last, |(index, _)| index)
}

impl Talk<'_> {
    /// Writes the first messages anew: the way of calling tools may have changed.
    fn begin(&mut self) -> Result<(), RunError> {
        let mut text = self.attempt.prompt.text.clone();
        if self.style == ToolStyle::Envelope {
            text += &self.describe_tools()?;
        }
        self.messages = vec![
            json!({"role": "system", "content": text}),
            json!({"role": "user", "content": "Begin."}),
        ];
        Ok(())
    }

    fn run(&mut self) -> Result<End, RunError> {
        let mut idle = 0;
        for _ in 0..self.attempt.assignment.limits.turns {
            if let Some(end) = self.attempt.look(false)? {
                return Ok(end);
            }
            let answer = match self.ask()? {
                Ok(answer) => answer,
                Err(end) => return Ok(end),
            };
            self.record(&answer)?;
            let calls = self.calls(&answer);
            idle = if calls.is_empty() { idle + 1 } else { 0 };
            if idle >= MAX_IDLE {
                let reason = format!(
                    "the model said {idle} times something, and called no tool and sent no event"
                );
                return self.attempt.end_nowhere(reason);
            }
            self.remember(&answer);
            if calls.is_empty() {
                self.remind()?;
            }
            for call in calls {
                if let Some(end) = self.call(&call)? {
                    return Ok(end);
                }
            }
        }
        let turns = self.attempt.assignment.limits.turns;
        let reason = format!("the model gave {turns} answers, and sent no event that leads on");
        self.attempt.end_nowhere(reason)
    }

    /// Asks for an answer, again and again where that can help.
    fn ask(&mut self) -> Result<Result<Answer, End>, RunError> {
        let mut tries = 0;
        loop {
            let tools = match self.style {
                ToolStyle::Native => self.native_tools()?,
                ToolStyle::Envelope => Vec::new(),
            };
            let format = match self.style {
                ToolStyle::Native => None,
                ToolStyle::Envelope => Some(self.envelope_format()?),
            };
            let request = Request {
                model: &self.rung.name,
                messages: &self.messages,
                tools: &tools,
                response_format: format.as_ref(),
                reasoning_effort: self.rung.thinking.as_deref(),
            };
            let asked = api::ask(&self.rung.url, self.key.as_deref(), &request);
            let answered = self.attempt.tokio.block_on(async {
                tokio::select! {
                    answered = asked => Some(answered),
                    () = self.attempt.interrupted() => None,
                }
            });
            let (reason, wait) = match answered {
                None => {
                    // It says itself what has ended it.
                    let end = self.attempt.look(false)?;
                    return Ok(Err(end.unwrap_or(End::new(AttemptOutcome::Cancelled))));
                }
                Some(Ok(answer)) => return Ok(Ok(answer)),
                Some(Err(NoAnswer::NoTools(_))) if self.style == ToolStyle::Native => {
                    self.style = ToolStyle::Envelope;
                    self.begin()?;
                    continue;
                }
                Some(Err(NoAnswer::Never(reason) | NoAnswer::NoTools(reason))) => {
                    let reason = format!("`{}`: {reason}", self.rung.model);
                    return Ok(Err(End::because(AttemptOutcome::Unavailable, reason)));
                }
                Some(Err(NoAnswer::Later(reason, wait))) => (reason, wait),
            };
            tries += 1;
            if tries >= MAX_TRIES {
                let reason = format!("`{}`, asked {tries} times: {reason}", self.rung.model);
                return Ok(Err(End::because(AttemptOutcome::Unavailable, reason)));
            }
            let wait =
                wait.unwrap_or_else(|| growing_wait(self.attempt.settings.retry_wait(), tries));
            let wait = wait.min(MAX_WAIT);
            self.attempt.observe(Happening::Retried {
                reason,
                milliseconds: milliseconds(wait),
            });
            if let Some(end) = self.attempt.pause(wait)? {
                return Ok(Err(end));
            }
        }
    }

    /// Records an answer and its cost, in one append.
    fn record(&self, answer: &Answer) -> Result<(), RunError> {
        let (input, output) = answer.usage.unwrap_or_default();
        let cost = self.rung.price.map(|price| price.cost(input, output));
        let calls = answer.calls.iter();
        let calls = calls.map(|call| format!("[{} {}]", call.name, call.arguments));
        let said = std::iter::once(answer.text.trim().to_owned()).chain(calls);
        let said: Vec<String> = said.filter(|it| !it.is_empty()).collect();
        let text = said.join("\n");
        let turn = RecordTurn {
            messages: vec![("assistant".to_owned(), text)],
            usage: answer.usage.map(|_| (input, output, cost)),
            model: Some(self.rung.model.clone()),
        };
        self.attempt.record(&turn)?;
        if !answer.text.trim().is_empty() {
            let text = answer.text.trim().to_owned();
            self.attempt.observe(Happening::Said { text });
        }
        if answer.usage.is_some() {
            self.attempt.observe(Happening::Used {
                input_tokens: input,
                output_tokens: output,
                cost,
            });
            self.attempt.count_budgets()?;
        }
        Ok(())
    }

    /// Returns the calls of an answer, whichever way the model makes them.
    fn calls(&self, answer: &Answer) -> Vec<Call> {
        if self.style == ToolStyle::Native {
            return answer.calls.clone();
        }
        envelope_call(&answer.text).into_iter().collect()
    }

    /// Adds an answer to the conversation.
    fn remember(&mut self, answer: &Answer) {
        let mut message = json!({"role": "assistant", "content": answer.text});
        if self.style == ToolStyle::Native && !answer.calls.is_empty() {
            let calls = answer.calls.iter().map(|call| {
                json!({
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                })
            });
            if let Value::Object(map) = &mut message {
                map.insert("tool_calls".to_owned(), calls.collect());
            }
        }
        self.messages.push(message);
    }

    /// Asks a model that only talks for an event.
    fn remind(&mut self) -> Result<(), RunError> {
        let loaded = self.attempt.dispatcher.runs().load(self.attempt.run)?;
        let events = event_names(&loaded, &self.attempt.assignment.state)?;
        let events = format!("`{}`", events.join("`, `"));
        let alone = match self.style {
            ToolStyle::Envelope => " Answer with the JSON object alone.",
            ToolStyle::Native => "",
        };
        let text = format!(
            "Nothing has happened: call a tool, or send one of the events {events} if the work of the state is done.{alone}"
        );
        self.messages.push(json!({"role": "user", "content": text}));
        Ok(())
    }

    /// Calls a tool, and tells the model what came of it. Returns the end of the attempt if that was it.
    fn call(&mut self, call: &Call) -> Result<Option<End>, RunError> {
        let began = Instant::now();
        let name = call.name.clone();
        let (text, failed) = self.dispatch(call);
        self.attempt.observe(Happening::Called {
            tool: name.clone(),
            failed,
            milliseconds: milliseconds(began.elapsed()),
        });
        let text = if text.chars().count() > MAX_RESULT {
            format!("{}\n(The rest was cut.)", shorten(&text, MAX_RESULT))
        } else {
            text
        };
        self.messages.push(match self.style {
            ToolStyle::Native => json!({"role": "tool", "tool_call_id": call.id, "content": text}),
            ToolStyle::Envelope => {
                json!({"role": "user", "content": format!("`{name}` answers:\n{text}")})
            }
        });
        self.attempt.look(true)
    }

    /// Calls a tool through the dispatcher, which asks policy, counts and records.
    ///
    /// Returns its answer, and whether it failed.
    fn dispatch(&self, call: &Call) -> (String, bool) {
        let given = if call.arguments.trim().is_empty() {
            "{}"
        } else {
            &call.arguments
        };
        let arguments: Map<String, Value> = match serde_json::from_str(given) {
            Ok(arguments) => arguments,
            Err(error) => {
                let text = format!(
                    "the arguments of `{}` are no JSON object: {error}",
                    call.name
                );
                return (text, true);
            }
        };
        let dispatcher = self.attempt.dispatcher;
        let is_for_others = |tool: &&Tool| tool.name == call.name && !is_for_agents(tool);
        if dispatcher.tools().iter().any(|tool| is_for_others(&tool)) {
            let text = format!("`{}` isn't for the work in a state", call.name);
            return (text, true);
        }
        let cancelled = || self.attempt.is_out_of_time();
        let ctx = dispatcher.ctx(&self.attempt.caller);
        let ctx = ctx.with_progress(&cancelled, &|_, _| {});
        match dispatcher.call(&ctx, &call.name, arguments) {
            Some(reply) => (reply.text, reply.is_error),
            None => {
                let names = self.tools(|tool| tool.name.to_string());
                let text = format!(
                    "there is no tool `{}`; there are {}",
                    call.name,
                    names.join(", ")
                );
                (text, true)
            }
        }
    }

    /// Lists the tools that the state may grant, and those that drive the run.
    fn tools<T>(&self, read: impl Fn(&Tool) -> T) -> Vec<T> {
        let attempt = self.attempt;
        let offered = attempt.dispatcher.offered_tools(&attempt.caller, |tool| {
            is_for_agents(tool).then(|| read(tool))
        });
        offered.into_iter().flatten().collect()
    }

    /// Returns the tools as the interface has them.
    fn native_tools(&self) -> Result<Vec<Value>, RunError> {
        let send = self.event_schema()?;
        Ok(self.tools(|tool| {
            let parameters = if tool.name == SEND {
                send.clone()
            } else {
                arguments_of(tool)
            };
            json!({"type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": parameters,
            }})
        }))
    }

    /// Returns the schema of the arguments of the tool that moves the run.
    fn event_schema(&self) -> Result<Value, RunError> {
        let loaded = self.attempt.dispatcher.runs().load(self.attempt.run)?;
        let events = event_names(&loaded, &self.attempt.assignment.state)?;
        Ok(json!({
            "type": "object",
            "properties": {
                "event": {"type": "string", "enum": events},
                "data": {"type": "object"},
                "claims": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["event"],
        }))
    }

    /// Returns the format of answers without tools: a call or an event.
    fn envelope_format(&self) -> Result<Value, RunError> {
        let loaded = self.attempt.dispatcher.runs().load(self.attempt.run)?;
        let names = self.tools(|tool| is_enveloped(tool, &loaded).then(|| tool.name.to_string()));
        let names: Vec<String> = names.into_iter().flatten().collect();
        let mut shapes = event_shapes(&loaded, &self.attempt.assignment.state)?;
        if !names.is_empty() {
            shapes.push(json!({
                "type": "object",
                "properties": {"tool": {"enum": names}, "arguments": {"type": "object"}},
                "required": ["tool", "arguments"],
                "additionalProperties": false,
            }));
        }
        let schema = json!({"anyOf": shapes});
        Ok(json!({"type": "json_schema", "json_schema": {"name": "step", "schema": schema}}))
    }

    /// Describes the tools in words, for a model that has none of its own.
    fn describe_tools(&self) -> Result<String, RunError> {
        let loaded = self.attempt.dispatcher.runs().load(self.attempt.run)?;
        let tools = self.tools(|tool| {
            if !is_enveloped(tool, &loaded) {
                return None;
            }
            let parameters = arguments_of(tool);
            let parameters = parameters.get("properties").and_then(Value::as_object);
            let names: Vec<String> = parameters
                .into_iter()
                .flat_map(|it| it.keys().cloned())
                .collect();
            let said = tool.description.split('.').next().unwrap_or_default();
            Some(format!(
                "- `{}` ({}): {said}\n",
                tool.name,
                names.join(", ")
            ))
        });
        let lines: String = tools.into_iter().flatten().collect();
        if lines.is_empty() {
            return Ok(String::new());
        }
        Ok(format!("\n## Tools\n\n{lines}"))
    }
}

/// Reports whether a tool is for an agent that works in a state.
fn is_for_agents(tool: &Tool) -> bool {
    match tool.set {
        Set::Pack(_) | Set::Upstream => true,
        _ => OWN_TOOLS.contains(&&*tool.name),
    }
}

/// Reports whether a tool is offered to a model that has no tools of its own.
///
/// Why not all: such models are small ones, and take a tool that is always there for the work, a person's time included.
/// What there is to know of the run, their prompt says.
fn is_enveloped(tool: &Tool, loaded: &Loaded) -> bool {
    match &*tool.name {
        SEND | "get_run" | "explain_run" | "report_progress" | "request_human" => false,
        "submit_artifact" | "get_artifact" => loaded.workflow.meta().get("artifacts").is_some(),
        _ => true,
    }
}

/// Returns the schema of a tool's arguments, without those that the attempt fixes.
fn arguments_of(tool: &Tool) -> Value {
    let mut schema = Value::Object((*tool.input).clone());
    if !matches!(tool.set, Set::Pack(_) | Set::Upstream)
        && let Some(Value::Object(properties)) = schema.get_mut("properties")
    {
        for fixed in ["run_id", "expected_seq", "idempotency_key"] {
            properties.remove(fixed);
        }
    }
    schema
}

/// Reads the object of a model without tools: what it says is the object alone.
///
/// A code fence may stand around it, and what the model has thought before it. An object among words is none: a model that
/// cites a file doesn't do what the file says.
fn envelope_call(text: &str) -> Option<Call> {
    let text = match text.trim_start().strip_prefix("<think>") {
        Some(thought) => thought.split_once("</think>")?.1,
        None => text,
    };
    let text = text.trim();
    let fenced = text
        .strip_prefix("```")
        .and_then(|it| it.strip_suffix("```"));
    let text = fenced.map_or(text, |it| it.strip_prefix("json").unwrap_or(it));
    let mut said: Map<String, Value> = serde_json::from_str(text).ok()?;
    if let Some(Value::String(event)) = said.remove("event") {
        let mut arguments = Map::from_iter([("event".to_owned(), Value::String(event))]);
        for field in ["data", "claims"] {
            if let Some(value) = said.remove(field).filter(|value| !value.is_null()) {
                arguments.insert(field.to_owned(), value);
            }
        }
        return Some(Call {
            id: String::new(),
            name: SEND.to_owned(),
            arguments: Value::Object(arguments).to_string(),
        });
    }
    let Some(Value::String(name)) = said.remove("tool") else {
        return None;
    };
    let arguments = said.remove("arguments").unwrap_or_else(|| json!({}));
    Some(Call {
        id: String::new(),
        name,
        arguments: arguments.to_string(),
    })
}

/// Returns the wait before a provider is asked again: it doubles, and a part of it is chance.
///
/// Why: those who were refused together don't come back together.
fn growing_wait(first: Duration, tries: u32) -> Duration {
    let whole = first.saturating_mul(1 << tries.saturating_sub(1).min(10));
    whole.mul_f64(0.5 + fastrand::f64() / 2.0)
}

/// Returns a duration in milliseconds.
pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Attempt<'_> {
    /// Ends once the attempt has no point any more.
    async fn interrupted(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            // What can't be read now is read again in a moment.
            if self.is_out_of_time() || matches!(self.look(false), Ok(Some(_))) {
                return;
            }
        }
    }

    /// Waits; returns the end of the attempt, if something ends it meanwhile.
    fn pause(&self, time: Duration) -> Result<Option<End>, RunError> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
            if let Some(end) = self.look(false)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_all_that_a_model_says() {
        for (text, found) in [
            (
                r#"{"event": "done"}"#,
                Some(("send_event", r#"{"event":"done"}"#)),
            ),
            (
                "<think>{\"event\": \"no\"}?</think>\n```json\n{\"event\": \"done\", \"data\": {\"a\": 1}}\n```\n",
                Some(("send_event", r#"{"data":{"a":1},"event":"done"}"#)),
            ),
            // What it cites isn't what it wants.
            (
                "It says `{\"event\": \"accept\"}`, and I don't.\n{\"event\": \"reject\"}",
                None,
            ),
            (r#"{"event": "accept"} {"event": "reject"}"#, None),
            (r#"<think>{"event": "accept"}"#, None),
            (
                r#"{"tool": "read_file", "arguments": {"path": "a"}}"#,
                Some(("read_file", r#"{"path":"a"}"#)),
            ),
            (r#"{"tool": "list"}"#, Some(("list", "{}"))),
            ("{", None),
            ("done", None),
            (r#"{"tool": 3}"#, None),
        ] {
            let call = envelope_call(text);
            let call = call
                .as_ref()
                .map(|it| (it.name.as_str(), it.arguments.as_str()));
            assert_eq!(call, found, "{text}");
        }
    }

    #[test]
    fn waits_grow_and_differ() {
        for tries in 1..12 {
            let wait = growing_wait(Duration::from_millis(100), tries);
            let most = Duration::from_millis(100 << (tries - 1).min(10));
            assert!(wait <= most && wait >= most / 2, "{tries}: {wait:?}");
        }
    }
}
