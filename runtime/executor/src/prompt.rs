//! Prompts: what an agent is told when it begins to work in a state. A pure function of the run.
//!
//! A prompt has a budget. Its parts are ordered by what an agent can't do without; one that has no room is left out, and
//! the prompt says so, and so does the record of the attempt.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use statemark_runs::body::{AttemptOutcome, Resolution};
use statemark_runs::runs::LIMIT_REACHED;
use statemark_runs::{Legal, Loaded, RunError};
use statemark_text::shorten::shorten;

/// The size of a prompt, unless the configuration says another. Unit: tokens.
pub(crate) const BUDGET: usize = 16_000;

/// Bytes of a token. Why: what the tokenizers of today make of English and of code.
const BYTES_PER_TOKEN: usize = 4;

/// Most answers and failures that are told. Why: older ones are in the run's journal.
const MOST_LISTED: usize = 8;

/// Most characters of a value of the context that is told with others.
const MAX_VALUE: usize = 2_000;

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// The parts that had no room.
    pub left_out: Vec<String>,
}

/// The way in which an agent that gets the prompt moves the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// Calls of the tool `send_event`.
    Tools,
    /// Answers that are objects, as a schema has them.
    Envelope,
    /// Calls of tools of a server that is connected to the agent's client.
    Client,
}

/// A part of a prompt.
struct Part {
    title: &'static str,
    text: String,
    /// True if nobody can work without it: it is cut rather than left out.
    is_needed: bool,
}

/// Assembles the prompt of an agent that works in a state.
///
/// `task` is what whoever started the executor wants; else what was wanted before.
///
/// # Errors
///
/// The run's machine can't be restored.
pub(crate) fn assemble(
    loaded: &Loaded,
    state: &str,
    task: Option<&str>,
    (voice, tokens): (Voice, usize),
) -> Result<Prompt, RunError> {
    let parts = parts(loaded, state, task, voice)?;
    let mut room = tokens.saturating_mul(BYTES_PER_TOKEN);
    let mut prompt = Prompt {
        text: String::new(),
        left_out: Vec::new(),
    };
    for part in parts
        .into_iter()
        .filter(|part| !part.text.trim().is_empty())
    {
        let text = if part.title.is_empty() {
            format!("{}\n", part.text.trim_end())
        } else {
            format!("\n## {}\n\n{}\n", part.title, part.text.trim_end())
        };
        if text.len() <= room {
            room -= text.len();
            prompt.text += &text;
        } else if part.is_needed {
            prompt.text += &shorten(&text, room.max(400));
            prompt.text.push('\n');
            prompt
                .left_out
                .push(format!("the end of {}", quoted(part.title)));
            room = 0;
        } else {
            prompt.left_out.push(quoted(part.title));
        }
    }
    if !prompt.left_out.is_empty() {
        let left_out = prompt.left_out.join(", ");
        let _ = write!(
            prompt.text,
            "\n(There was no room for {left_out}: `get_run` tells it.)\n"
        );
    }
    Ok(prompt)
}

fn quoted(title: &str) -> String {
    match title {
        "" => "the beginning".to_owned(),
        title => format!("\"{title}\""),
    }
}

/// Returns the parts of a prompt, the least dispensable first.
fn parts(
    loaded: &Loaded,
    state: &str,
    task: Option<&str>,
    voice: Voice,
) -> Result<Vec<Part>, RunError> {
    let legal = events(loaded, state)?;
    let needed = |title, text| Part {
        title,
        text,
        is_needed: true,
    };
    let more = |title, text| Part {
        title,
        text,
        is_needed: false,
    };
    Ok(vec![
        needed("", rules(loaded, state, voice)),
        needed("Task", goal(loaded, task)),
        needed("What to do in this state", instructions(loaded, state)),
        needed("Events that lead on", describe_events(loaded, &legal)),
        more("What this state requires", requirements(loaded, &legal)),
        more("Answers of people", answers(loaded)),
        more("Attempts that came to nothing", failures(loaded, state)),
        more("Data of the run", context(loaded)),
        more("Artifacts", artifacts(loaded)),
    ])
}

fn rules(loaded: &Loaded, state: &str, voice: Voice) -> String {
    let how = match voice {
        Voice::Tools => {
            "call tools, and when the work of the state is done, call `send_event` with one of its events"
        }
        Voice::Envelope => {
            "answer with one JSON object each time, and nothing beside it: `{\"tool\": NAME, \"arguments\": {…}}` calls a tool, and \
             `{\"event\": NAME, \"data\": {…}}` sends an event when the work of the state is done"
        }
        Voice::Client => {
            "use your tools, and when the work of the state is done, call `send_event` of the server `statemark` with one of its events"
        }
    };
    format!(
        "You work on the run `{}` of the workflow `{}`, in its state `{state}`. A state machine holds you to this state: \
         tools that it doesn't grant are refused, and only its events lead on. Do what the state asks for, and nothing else. \
         To do it, {how}. Your work ends with the event; what follows is another's.",
        loaded.run, loaded.state.workflow,
    )
}

fn goal(loaded: &Loaded, task: Option<&str>) -> String {
    let task = task.or(loaded.state.task.as_deref());
    let mut text = task.unwrap_or_default().to_owned();
    if text.is_empty() {
        text = loaded.state.title.clone().unwrap_or_default();
    }
    if let Some(unit) = loaded.state.parent.as_ref().and_then(|it| it.unit.as_ref()) {
        // Whoever has begun the run may have named it by any text.
        let unit = statemark_text::visible::line(unit);
        let _ = write!(text, "\n\nYour unit of this work: `{unit}`.");
    }
    let input = &*loaded.state.input;
    if input.as_object().is_some_and(|it| !it.is_empty()) {
        let _ = write!(text, "\n\nThe run's input:\n\n```json\n{input:#}\n```");
    }
    text.trim().to_owned()
}

/// Returns the instructions of a state and of those around it, the outermost first.
fn instructions(loaded: &Loaded, state: &str) -> String {
    let table = loaded.workflow.table();
    let Some(id) = table.state_named(state) else {
        return String::new();
    };
    let chain: Vec<_> = table.chain(id).collect();
    let mut text = String::new();
    for id in chain.into_iter().rev() {
        let meta = loaded.workflow.state_meta(id);
        let instruction = meta.get("instructions").and_then(Value::as_str);
        if let Some(instruction) = instruction {
            let _ = write!(text, "{}\n\n", instruction.trim());
        }
    }
    text
}

/// Returns the transitions that an event could take from a state or from one around it.
fn events(loaded: &Loaded, state: &str) -> Result<Vec<Legal>, RunError> {
    let table = loaded.workflow.table();
    let id = table.state_named(state);
    let chain: Vec<&str> = id
        .into_iter()
        .flat_map(|id| table.chain(id))
        .map(|it| table.state_name(it))
        .collect();
    let mut legal = loaded.legality().transitions()?;
    // What limits send isn't an agent's to send.
    legal.retain(|it| chain.contains(&it.from.as_str()) && it.event != LIMIT_REACHED);
    Ok(legal)
}

/// Returns the events that an agent can send from a state now, or could.
pub(crate) fn event_names(loaded: &Loaded, state: &str) -> Result<Vec<String>, RunError> {
    let mut names: Vec<String> = Vec::new();
    for legal in events(loaded, state)? {
        if !names.contains(&legal.event) {
            names.push(legal.event);
        }
    }
    Ok(names)
}

/// Returns the shapes of an agent's answers that are events.
///
/// There is one for each event, with the data and the claims that it takes.
///
/// A field that nothing reads has no place in them: a small model goes on with fields of its own for as long as it may.
pub(crate) fn event_shapes(loaded: &Loaded, state: &str) -> Result<Vec<Value>, RunError> {
    let all = events(loaded, state)?;
    let shapes = event_names(loaded, state)?.into_iter().map(|name| {
        let mut properties = Map::from_iter([("event".to_owned(), json!({"const": name}))]);
        let mut required = vec!["event"];
        if let Some(data) = data_shape(loaded, &name) {
            let needs = data.get("required").and_then(Value::as_array);
            if needs.is_some_and(|it| !it.is_empty()) {
                required.push("data");
            }
            properties.insert("data".to_owned(), data);
        }
        let claims = all.iter().filter(|it| it.event == name);
        let claims: Vec<&String> = claims.flat_map(|it| &it.claims).collect();
        if !claims.is_empty() {
            let claims = json!({"type": "array", "items": {"enum": claims}});
            properties.insert("claims".to_owned(), claims);
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    });
    Ok(shapes.collect())
}

/// Returns the schema of an event's data; none if it takes none.
///
/// It is the definition's, else one with the fields that somebody reads.
fn data_shape(loaded: &Loaded, event: &str) -> Option<Value> {
    let id = loaded.workflow.table().event_named(event);
    let declared = id.and_then(|id| loaded.workflow.event_meta(id).get("data"));
    if let Some(declared) = declared {
        return (*declared != Value::Bool(false)).then(|| declared.clone());
    }
    let fields = loaded.legality().data_fields(event);
    let tops = fields.iter().filter_map(|field| field.split('.').next());
    let properties: Map<String, Value> = tops.map(|top| (top.to_owned(), json!({}))).collect();
    (!properties.is_empty())
        .then(|| json!({"type": "object", "properties": properties, "additionalProperties": false}))
}

fn describe_events(loaded: &Loaded, legal: &[Legal]) -> String {
    let table = loaded.workflow.table();
    let mut text = String::new();
    for event in legal {
        let to = match event.to.as_slice() {
            [] => "stays in the state".to_owned(),
            to => format!("leads to `{}`", to.join("`, `")),
        };
        let _ = write!(text, "- `{}` {to}", event.event);
        if let Some(title) = &event.title {
            let _ = write!(text, " (\"{title}\")");
        }
        if event.requires_approval {
            text += "; a person has to approve it";
        }
        if let Some(held) = &event.held_by {
            let _ = write!(text, "; not now: {}", held.reason);
        } else if !event.holds {
            let unmet: Vec<String> = event
                .unmet
                .iter()
                .map(|it| format!("`{}`", it.part))
                .collect();
            let _ = write!(text, "; not now: it needs {}", unmet.join(" and "));
        }
        text.push('\n');
        let id = table.event_named(&event.event);
        let schema = id.and_then(|id| loaded.workflow.event_meta(id).get("data"));
        if let Some(schema) = schema {
            let _ = writeln!(text, "  its `data` is like `{schema}`");
        }
    }
    if legal.iter().any(|it| !it.claims.is_empty()) {
        text += "\nClaims are words that you say are true: pass them as `claims`.\n";
    }
    text
}

fn requirements(loaded: &Loaded, legal: &[Legal]) -> String {
    let contracts = loaded.workflow.meta().get("artifacts");
    let mut names: Vec<&String> = legal.iter().flat_map(|it| &it.lacks).collect();
    names.sort();
    names.dedup();
    let mut text = String::new();
    for name in names {
        let _ = write!(text, "- `{name}`");
        if let Some(contract) = contracts.and_then(|it| it.get(name)) {
            let _ = write!(
                text,
                ": an artifact, to be handed in by `submit_artifact`; its contract is `{contract}`"
            );
        }
        text.push('\n');
    }
    text
}

fn answers(loaded: &Loaded) -> String {
    let requests = loaded.state.requests.values();
    let resolved = requests.filter_map(|it| Some((it, it.resolved.as_ref()?)));
    let mut resolved: Vec<_> = resolved.collect();
    resolved.sort_by_key(|(request, _)| request.seq);
    let mut text = String::new();
    for (request, (resolved, who, _)) in resolved.iter().rev().take(MOST_LISTED).rev() {
        let said = match (&resolved.value, resolved.resolution) {
            (Some(Value::String(value)), _) => value.clone(),
            (Some(value), _) => value.to_string(),
            (None, resolution) => resolution_word(resolution),
        };
        let asked = request.opened.prompt.trim();
        let _ = write!(text, "- \"{asked}\": {said} ({who})");
        if let Some(comment) = &resolved.comment {
            let _ = write!(text, ", with the comment \"{comment}\"");
        }
        text.push('\n');
    }
    text
}

fn resolution_word(resolution: Resolution) -> String {
    match json!(resolution) {
        Value::String(word) => word.replace('_', " "),
        _ => String::new(),
    }
}

fn failures(loaded: &Loaded, state: &str) -> String {
    let of_visit = loaded.state.attempts_of_visit(state);
    let ended: Vec<_> = of_visit
        .filter_map(|it| Some((it, it.ended.as_ref()?)))
        .collect();
    let mut text = String::new();
    for (attempt, (outcome, reason, _)) in ended.iter().rev().take(MOST_LISTED).rev() {
        let said = match outcome {
            AttemptOutcome::Lost => {
                "its agent has gone; what it did outside of the run isn't known, so look before you repeat anything"
            }
            AttemptOutcome::Cancelled => "it was cancelled; what it did before may stand",
            _ => reason.as_deref().unwrap_or(outcome.name()),
        };
        let _ = writeln!(text, "- attempt {}: {said}", attempt.number);
    }
    text
}

fn context(loaded: &Loaded) -> String {
    let mut text = String::new();
    for (field, value) in loaded.state.context.iter() {
        let value = shorten(&value.to_string(), MAX_VALUE);
        let _ = writeln!(text, "- `{field}`: {value}");
    }
    text
}

fn artifacts(loaded: &Loaded) -> String {
    let mut text = String::new();
    for name in loaded.state.artifacts.keys() {
        if let Some(standing) = loaded.state.standing(name) {
            let revision = standing.artifact.revision;
            let _ = writeln!(
                text,
                "- `{name}`, revision {revision}: `get_artifact` reads it"
            );
        }
    }
    text
}
