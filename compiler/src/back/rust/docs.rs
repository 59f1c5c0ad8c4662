//! The prose of a generated module.
//!
//! A text of the spec is in the docs as its author wrote it, as far as it does nothing but be read (`tokens::doc`).

use proc_macro2::TokenStream;
use quote::quote;

use super::facts::Facts;
use super::tokens::{doc, own_doc};
use crate::arena::Handle;
use crate::back::mermaid::{self, guard_text};
use crate::back::svg;
use crate::ir::{Event, EventKind, Expression, State, StateKind, Transition};
use crate::valid::Valid;

/// Most transitions that the table in a module's docs lists.
///
/// Unit: rows. Why: beyond it nobody reads, and rustc does.
const MAX_ROWS: usize = 300;

/// Writes the page of the module: title, description, diagram, transitions.
pub(super) fn module(valid: &Valid, facts: &Facts<'_>) -> TokenStream {
    let mut text = match &valid.title {
        Some(title) => format!("{}\n", one_line(title)),
        None => format!("The state machine `{}`.\n", valid.id.value),
    };
    if let Some(description) = &valid.description {
        text.push('\n');
        text.push_str(description);
        text.push('\n');
    }
    let drawing = drawing(valid, facts);
    let head = doc(text.trim_end());
    let mut text = String::new();
    if facts.machine.transitions.len() <= MAX_ROWS {
        let diagram = diagram(valid);
        if !diagram.is_empty() {
            text.push_str("```mermaid\n");
            text.push_str(&diagram);
            text.push_str("```\n");
        }
        text.push_str(&transitions(facts));
    }
    let rest = text.trim();
    let rest = match rest {
        "" => TokenStream::new(),
        // Markdown ends a paragraph at an empty line.
        rest => own_doc(&format!("\n{rest}")),
    };
    quote! { #head #drawing #rest }
}

/// Returns the drawing of the machine, for rustdoc alone, if the options ask for it.
fn drawing(valid: &Valid, facts: &Facts<'_>) -> TokenStream {
    if !facts.options.drawing || facts.machine.transitions.len() > MAX_ROWS {
        return TokenStream::new();
    }
    let options = svg::Options {
        prefix: format!("{}-", valid.id.value),
        ..svg::Options::default()
    };
    let Ok(drawing) = svg::write(valid, &options) else {
        return TokenStream::new();
    };
    // Markdown takes lines for HTML that begin with a tag, up to an empty line.
    let drawing = format!("\n{drawing}\n");
    quote! { #[cfg_attr(doc, doc = #drawing)] }
}

/// Returns the canonical Mermaid source.
fn diagram(valid: &Valid) -> String {
    let mut text = mermaid::write(valid);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Renders the transitions as a Markdown table.
fn transitions(facts: &Facts<'_>) -> String {
    let machine = facts.machine;
    if machine.transitions.is_empty() {
        return String::new();
    }
    let mut text =
        "\n| state | event | guard | actions | next |\n|---|---|---|---|---|\n".to_owned();
    for (_, transition) in machine.transitions.iter() {
        let events: Vec<_> = transition
            .triggers
            .iter()
            .map(|&e| code(&machine.events.at(e).id))
            .collect();
        let guard = transition
            .guard
            .as_ref()
            .map_or(String::new(), |g| code(&guard_line(facts, &g.value)));
        let actions: Vec<_> = transition
            .actions
            .iter()
            .map(|&a| code(&machine.actions.at(a).name))
            .collect();
        let next: Vec<_> = transition
            .targets
            .iter()
            .map(|&target| state_code(facts, target))
            .collect();
        let row = [
            state_code(facts, transition.source),
            events.join(", "),
            guard,
            actions.join(", "),
            next.join(", "),
        ];
        text.push_str("| ");
        text.push_str(&row.join(" | "));
        text.push_str(" |\n");
    }
    text
}

fn state_code(facts: &Facts<'_>, state: Handle<State>) -> String {
    code(&facts.machine.states.at(state).id)
}

/// Puts a name between backticks, fit for a cell of a table.
fn code(name: &str) -> String {
    format!("`{}`", one_line(name).replace('`', "'").replace('|', "\\|"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Renders a guard on one line, as a person reads it.
pub(super) fn guard_line(facts: &Facts<'_>, guard: &Expression) -> String {
    one_line(&guard_text(facts.machine, guard))
}

/// Writes the docs of a state's variant: title, description, first paragraph of its instructions.
pub(super) fn state(facts: &Facts<'_>, handle: Handle<State>) -> TokenStream {
    let state = &facts.machine.states.at(handle);
    let mut paragraphs = Vec::new();
    paragraphs.push(match &state.title {
        Some(title) => sentence(&one_line(&title.value)),
        None if state.implied => implied(facts, state),
        None if state.kind == StateKind::Final => format!("The final state `{}`.", state.id),
        None => format!("The state `{}`.", state.id),
    });
    if let Some(description) = &state.description {
        paragraphs.push(description.value.trim().to_owned());
    }
    if let Some(instructions) = &state.instructions
        && let Some(first) = instructions.value.trim().split("\n\n").next()
        && !first.trim_start().starts_with("```")
    {
        paragraphs.push(first.to_owned());
    }
    doc(&paragraphs.join("\n\n"))
}

/// Describes a final state that the spec writes as `[*]`.
fn implied(facts: &Facts<'_>, state: &State) -> String {
    let handle = facts
        .machine
        .states
        .iter()
        .find(|(_, other)| std::ptr::eq(*other, state));
    let leads_here =
        |t: &Transition| t.target().is_some() && t.target() == handle.map(|(handle, _)| handle);
    let mut sources: Vec<_> = facts
        .machine
        .transitions
        .iter()
        .filter(|(_, t)| leads_here(t))
        .map(|(_, t)| state_code(facts, t.source))
        .collect();
    sources.dedup();
    let outer = state
        .parent
        .filter(|&parent| parent != facts.machine.root());
    let owner = outer.map_or(String::new(), |outer| {
        format!(" of {}", state_code(facts, outer))
    });
    format!(
        "The end{owner} to which {} leads: a `[*]` in the spec.",
        sources.join(", ")
    )
}

/// Writes the docs of an event's variant: title and description.
pub(super) fn event(facts: &Facts<'_>, handle: Handle<Event>) -> TokenStream {
    let event = &facts.machine.events.at(handle);
    let mut text = match &event.title {
        Some(title) => sentence(&one_line(title)),
        None if event.kind == EventKind::Unknown => {
            "The event that stands for every name that no event has.".to_owned()
        }
        None => format!("The event `{}`.", event.id),
    };
    if let Some(description) = &event.description {
        text.push_str("\n\n");
        text.push_str(description.trim());
    }
    debug_assert!(event.kind.is_sendable(), "{}", event.id);
    doc(&text)
}

/// Adds a full stop to a text, unless it ends like a sentence.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', ':', '…']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}
