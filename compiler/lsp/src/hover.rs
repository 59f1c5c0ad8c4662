//! The meaning of a name, in a few lines of Markdown.

use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind};
use serde_json::{Map, Value};
use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{EventKind, Machine, State, StateKind, Transition};
use statemark_compiler::{Mention, NameKind};
use statemark_text::markup::without_html;

use crate::analysis::{Analysis, Section, is_same};
use crate::document::{Encoding, range};
use crate::names::{bare, word};

/// Most transitions that are listed. Why: a hover is small.
const MOST_TRANSITIONS: usize = 12;

/// Most lines of instructions that are shown.
const MOST_LINES: usize = 12;

/// The keys of a state that say what an agent may do in it.
const GRANTS: [&str; 6] = [
    "allowed_tools",
    "disallowed_tools",
    "allowed_commands",
    "capabilities",
    "max_iterations",
    "max_attempts",
];

/// Returns what the name at a byte means.
pub(crate) fn hover(analysis: &Analysis, byte: usize, encoding: Encoding) -> Option<Hover> {
    let (section, at) = analysis.mention_at(byte)?;
    let machine = analysis.machine(section);
    let text = match (at.kind, machine) {
        (NameKind::State, Some(machine)) => state(machine, at, analysis),
        (NameKind::Event, Some(machine)) => event(machine, at, analysis),
        (NameKind::Guard, Some(machine)) => guard(machine, section, at, analysis),
        _ => None,
    };
    let text = text.unwrap_or_else(|| format!("**`{}`** — {}", at.name, word(at.kind)));
    let source = analysis.sources.file(analysis.file);
    Some(Hover {
        contents: Contents::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: text,
        }),
        range: Some(range(source, bare(analysis, at.span), encoding)),
    })
}

fn state(machine: &Machine, at: &Mention, analysis: &Analysis) -> Option<String> {
    let handle = machine.state_named(&at.name)?;
    let state = machine.states.at(handle);
    let mut text = format!("**`{}`** — {}", state.id, kind(state));
    if let Some(parent) = state.parent.filter(|parent| *parent != machine.root()) {
        text.push_str(&format!(" in `{}`", machine.states.at(parent).id));
    }
    if starts_at(machine, handle) {
        text.push_str(", initial");
    }
    for part in [&state.title, &state.description].into_iter().flatten() {
        text.push_str(&format!("\n\n{}", as_written(&part.value)));
    }
    let transitions = || machine.transitions.iter().map(|(_, it)| it);
    add_list(
        &mut text,
        "from",
        transitions().filter(|it| it.targets.contains(&handle)),
        machine,
        analysis,
    );
    add_list(
        &mut text,
        "to",
        transitions().filter(|it| it.source == handle),
        machine,
        analysis,
    );
    add_grants(&mut text, &state.meta);
    if let Some(instructions) = &state.instructions {
        let mut lines = instructions.value.lines();
        let shown: Vec<&str> = lines.by_ref().take(MOST_LINES).collect();
        let rest = if lines.next().is_some() {
            "\n\n…"
        } else {
            ""
        };
        text.push_str(&format!(
            "\n\n---\n\n{}{rest}",
            as_written(&shown.join("\n"))
        ));
    }
    Some(text)
}

/// Returns an author's text as it may be shown.
///
/// An editor would fetch an image from wherever the author wants to hear of it, and take HTML for its own.
fn as_written(text: &str) -> String {
    without_html(text).replace("![", "!\\[")
}

/// Reports whether its parent, or the machine, begins in a state.
fn starts_at(machine: &Machine, state: Handle<State>) -> bool {
    let parent = machine.states.at(state).parent;
    let initial = parent.and_then(|parent| machine.states.at(parent).initial.as_ref());
    initial.is_some_and(|initial| initial.targets.contains(&state))
}

/// Returns the kind of a state in words.
pub(crate) const fn kind(state: &State) -> &'static str {
    match state.kind {
        StateKind::Atomic => "state",
        StateKind::Compound => "compound state",
        StateKind::Parallel => "parallel state",
        StateKind::Final => "final state",
        _ => "history",
    }
}

fn add_list<'m>(
    text: &mut String,
    title: &str,
    transitions: impl Iterator<Item = &'m Transition>,
    machine: &Machine,
    analysis: &Analysis,
) {
    let all: Vec<String> = transitions
        .map(|it| statement(it, machine, analysis))
        .collect();
    if all.is_empty() {
        return;
    }
    text.push_str(&format!("\n\n{title}\n"));
    for line in all.iter().take(MOST_TRANSITIONS) {
        text.push_str(&format!("\n- `{line}`"));
    }
    if all.len() > MOST_TRANSITIONS {
        text.push_str(&format!("\n- and {} more", all.len() - MOST_TRANSITIONS));
    }
}

/// Returns a transition as a diagram has it.
fn statement(transition: &Transition, machine: &Machine, analysis: &Analysis) -> String {
    let name = |state: Handle<State>| {
        let state = machine.states.at(state);
        if state.implied {
            "[*]"
        } else {
            state.id.as_str()
        }
    };
    let targets: Vec<&str> = transition.targets.iter().map(|it| name(*it)).collect();
    let mut text = name(transition.source).to_owned();
    if !targets.is_empty() {
        text.push_str(&format!(" --> {}", targets.join(", ")));
    }
    let mut label: Vec<String> = Vec::new();
    let events: Vec<&str> = transition
        .triggers
        .iter()
        .map(|it| machine.events.at(*it).id.as_str())
        .collect();
    if !events.is_empty() {
        label.push(events.join(", "));
    }
    let drawn = transition.label.as_ref().and_then(|it| it.guard.clone());
    let guard = drawn.or_else(|| {
        let guard = transition.guard.as_ref()?;
        Some(analysis.words(bare(analysis, guard.span)).to_owned())
    });
    if let Some(guard) = guard.filter(|it| !it.is_empty()) {
        label.push(format!("[{guard}]"));
    }
    let actions: Vec<&str> = transition
        .actions
        .iter()
        .map(|it| machine.actions.at(*it).name.as_str())
        .collect();
    if !actions.is_empty() {
        label.push(format!("/ {}", actions.join(", ")));
    }
    if !label.is_empty() {
        text.push_str(&format!(" : {}", label.join(" ")));
    }
    // One line of code, whatever the author's words hold.
    text.replace('`', "'")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn add_grants(text: &mut String, meta: &Map<String, Value>) {
    for key in GRANTS {
        let Some(value) = meta.get(key) else {
            continue;
        };
        let words = match value {
            Value::Array(items) => {
                let items = items
                    .iter()
                    .map(|it| it.as_str().map_or(it.to_string(), str::to_owned));
                items
                    .map(|it| format!("`{it}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            }
            other => format!("`{other}`"),
        };
        text.push_str(&format!("\n\n{key}: {words}"));
    }
}

fn event(machine: &Machine, at: &Mention, analysis: &Analysis) -> Option<String> {
    let (handle, event) = machine.events.iter().find(|(_, event)| {
        let own = Mention {
            name: event.id.clone(),
            ..at.clone()
        };
        is_same(&own, NameKind::Event, &at.name)
    })?;
    let origin = match event.kind {
        EventKind::Named => "event",
        _ => "event of the engine",
    };
    let mut text = format!("**`{}`** — {origin}", event.id);
    let title = event.title.as_ref().filter(|title| **title != event.id);
    for part in [title, event.description.as_ref()].into_iter().flatten() {
        text.push_str(&format!("\n\n{}", as_written(part)));
    }
    let transitions = machine.transitions.iter().map(|(_, it)| it);
    let own = transitions.filter(|it| it.triggers.contains(&handle));
    add_list(&mut text, "leads", own, machine, analysis);
    let data = event
        .data
        .as_ref()
        .and_then(|it| it.get("properties"))
        .and_then(Value::as_object);
    if let Some(data) = data {
        let fields: Vec<String> = data
            .iter()
            .map(
                |(name, schema)| match schema.get("type").and_then(Value::as_str) {
                    Some(kind) => format!("`{name}`: {kind}"),
                    None => format!("`{name}`"),
                },
            )
            .collect();
        text.push_str(&format!("\n\ndata: {}", fields.join(", ")));
    }
    Some(text)
}

fn guard(
    machine: &Machine,
    section: &Section,
    at: &Mention,
    analysis: &Analysis,
) -> Option<String> {
    let mut text = format!("**`{}`** — guard", at.name);
    let mut mentions = section.mentions.iter();
    let declared = mentions.find(|it| it.declares && is_same(it, NameKind::Guard, &at.name));
    let host = machine
        .guards
        .iter()
        .map(|(_, it)| it)
        .find(|it| it.name == at.name);
    match (declared, host) {
        (Some(declared), _) => {
            let rest = analysis.text().get(declared.span.range().start..)?;
            text.push_str(&format!("\n\n```json\n{}\n```", property(rest)));
        }
        (None, Some(host)) if host.is_claim => {
            text.push_str(
                "\n\nNothing defines it: it holds where the sender of the event says so.",
            );
        }
        (None, Some(_)) => text.push_str("\n\nThe host answers it."),
        (None, None) => {}
    }
    let bracket = format!("[{}]", at.name);
    let transitions = machine.transitions.iter().map(|(_, it)| it);
    let own = transitions.filter(|it| statement(it, machine, analysis).contains(&bracket));
    add_list(&mut text, "guards", own, machine, analysis);
    Some(text)
}

/// Returns the property that a text of JSON begins with, on one line.
///
/// It ends at the comma or bracket that is outside of its own brackets, or after a few lines where there is none.
fn property(text: &str) -> String {
    let (mut depth, mut in_string, mut is_escaped) = (0_u32, false, false);
    let mut end = text.len();
    for (at, sign) in text.char_indices() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' => depth += 1,
            '}' | ']' | ',' if depth == 0 => {
                end = at;
                break;
            }
            '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    let lines = text.get(..end).unwrap_or_default().lines().take(MOST_LINES);
    lines
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ")
}
