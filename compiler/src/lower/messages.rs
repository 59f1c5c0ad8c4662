//! Messages that several files of this stage send.
//!
//! Every other message is at the end of the file that finds the defect.

use statemark_text::list::join;

use crate::diag::{Code, Diagnostic, distance, nearest};
use crate::ir::State;
use crate::source::{Span, Spanned};

pub(super) fn history_of_the_root(sign: &str, span: Span) -> Diagnostic {
    let message = format!("`{sign}` is outside of any composite");
    Diagnostic::new(Code::MisplacedHistory, span, message)
        .label("whose history?")
        .note("the machine itself is never left and entered again, so it remembers nothing")
        .help(format!(
            "write `X{sign}` for the history of a composite `X`"
        ))
}

pub(super) fn history_with_two_defaults(id: &str, first: Span, other: Span) -> Diagnostic {
    let message = format!("`{id}` leads to two places while nothing is remembered");
    Diagnostic::new(Code::MisplacedHistory, other, message)
        .label("the second one")
        .related(first, "the first one")
        .help("keep one; an event of the composite itself can lead to the other")
}

pub(super) fn acting_history(id: &str, span: Span) -> Diagnostic {
    let message = format!("`{id}` is never active, so it can't act");
    Diagnostic::new(Code::MisplacedHistory, span, message)
        .label("an action of a history")
        .help("give the action to the transition that leads to it, or to the composite")
}

pub(super) fn unknown_event<'k>(
    name: &Spanned<String>,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let message = format!("event `{}` doesn't exist", name.value);
    let diagnostic = Diagnostic::new(Code::UnknownEvent, name.span, message)
        .label("no transition is triggered by it");
    match nearest(&name.value, known) {
        Some(similar) => diagnostic.did_you_mean(similar, name.span, "\""),
        None => diagnostic.help("name an event that triggers a transition"),
    }
}

/// Reports a state's name in the place of an event's.
pub(super) fn state_for_event(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::UnknownEvent, span, message)
        .label("a state")
        .note("when the iterations are spent, the event is sent, and its transition leads on")
}

pub(super) fn pattern_without_events<'k>(
    pattern: &Spanned<String>,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let message = format!("no event of the machine matches `{}`", pattern.value);
    let diagnostic = Diagnostic::new(Code::UnknownEvent, pattern.span, message)
        .label("would never be taken")
        .note("`*` stands for the other events of the machine, `job.*` for those that begin with `job.`");
    let begins = pattern.value.trim_end_matches('*').trim_end_matches('.');
    let heads: std::collections::BTreeSet<&str> = known
        .filter_map(|event| event.split_once('.').map(|(head, _)| head))
        .collect();
    match nearest(begins, heads) {
        Some(similar) if similar != begins => {
            diagnostic.help(format!("did you mean `{similar}.*`?"))
        }
        _ => diagnostic.help(
            "declare the events that may come in `events`, or name one that a transition takes",
        ),
    }
}

pub(super) fn unhandled_event(event: &Spanned<String>, state: &str, at: Span) -> Diagnostic {
    let message = format!("state `{state}` has no transition for `{}`", event.value);
    Diagnostic::new(Code::UnknownEvent, event.span, message)
        .label("would be sent in vain")
        .related(
            at,
            format!("neither `{state}` nor a state around it handles the event"),
        )
        .help(format!(
            "add a transition from `{state}` for `{}`",
            event.value
        ))
}

/// Reports a requirement for an event that no transition of the state takes.
pub(super) fn idle_requirement(event: &Spanned<String>, state: &str, at: Span) -> Diagnostic {
    let message = format!("state `{state}` has no transition for `{}`", event.value);
    Diagnostic::new(Code::UnknownEvent, event.span, message)
        .label("holds nothing back")
        .related(
            at,
            format!("neither `{state}` nor a state around it or inside handles the event"),
        )
        .help("name an event that leads out of the state, or write the list alone, for every event")
}

/// Reports a state that doesn't exist. `quote` stands on both sides of the name.
pub(super) fn unknown_state(name: &Spanned<String>, quote: &str, known: &[&str]) -> Diagnostic {
    let message = format!("state `{}` doesn't exist", name.value);
    let diagnostic = Diagnostic::new(Code::UnknownState, name.span, message).label("no such state");
    // In a definition, quotes are around the name. Nothing is near to one that has no letters.
    let is_end = name.value == "[*]";
    if !is_end && let Some(similar) = nearest(&name.value, known.iter().copied()) {
        return diagnostic.did_you_mean(similar, name.span, quote);
    }
    if !quote.is_empty() && (is_end || name.value.ends_with("_end")) {
        return diagnostic.help(
            "only a diagram has ends without a name: here, declare a state with `\"type\": \"final\"`, and name it",
        );
    }
    match likely_states(&name.value, known).as_slice() {
        [] => diagnostic.help("declare the state, or name one that exists"),
        [similar] => diagnostic.did_you_mean(similar, name.span, quote),
        similar => {
            let names: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
            diagnostic.help(format!("did you mean {}?", join(&names, "or")))
        }
    }
}

/// Returns the states that a short name may have meant: same first and last letter, two edits apart.
fn likely_states<'k>(name: &str, known: &[&'k str]) -> Vec<&'k str> {
    let letters = |text: &str| text.chars().take(64).collect::<Vec<char>>();
    let wanted = letters(name);
    let mut likely = known.to_vec();
    likely.retain(|state| {
        let found = letters(state);
        found.len() > 3
            && found.first() == wanted.first()
            && found.last() == wanted.last()
            && distance(&found, &wanted) == 2
    });
    likely
}

pub(super) fn initial_outside_scope(
    name: &Spanned<String>,
    scope: &str,
    declared: Span,
) -> Diagnostic {
    let message = format!(
        "`{scope}` can't begin at `{}`, which isn't inside it",
        name.value
    );
    Diagnostic::new(Code::UnknownState, name.span, message)
        .label(format!("must be a state inside `{scope}`"))
        .related(declared, format!("`{}` is here", name.value))
        .help(format!(
            "begin at a state inside `{scope}`, or move `{}` into it",
            name.value
        ))
}

#[cfg(feature = "scxml")]
pub(super) fn unknown_target(name: &Spanned<String>, similar: Option<&str>) -> Diagnostic {
    let message = format!("state `{}` doesn't exist", name.value);
    let diagnostic = Diagnostic::new(Code::UnknownState, name.span, message).label("no such state");
    match similar {
        Some(similar) => diagnostic.did_you_mean(similar, name.span, ""),
        None => diagnostic.help("give a state that id, or name one that exists"),
    }
}

pub(super) fn duplicate_state(id: &str, again: Span, first: Span) -> Diagnostic {
    let message = format!("state `{id}` is declared twice");
    Diagnostic::new(Code::DuplicateState, again, message)
        .label("declared again here")
        .related(first, "declared first here")
        .help("ids are unique in a machine, across all its states: rename one of them")
}

const WHY: &str =
    "with both, the diagram owns the states and transitions, and the definition adds to them";

pub(super) fn undrawn_state<'k>(
    name: &Spanned<String>,
    diagram: Span,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let message = format!("state `{}` isn't in the diagram", name.value);
    let diagnostic = Diagnostic::new(Code::OnlyInDefinition, name.span, message)
        .label("only in the definition")
        .related(diagram, "this diagram doesn't have it")
        .note(WHY);
    match nearest(&name.value, known) {
        Some(similar) => diagnostic.did_you_mean(similar, name.span, "\""),
        None => diagnostic.help("draw it, or remove it from the definition"),
    }
}

pub(super) fn undrawn_transition(
    source: &str,
    event: &str,
    target: Option<&str>,
    span: Span,
    drawn: Span,
) -> Diagnostic {
    let on = if event.is_empty() {
        String::new()
    } else {
        format!(" on `{event}`")
    };
    let to = target.map_or_else(String::new, |target| format!(" to `{target}`"));
    let label = if event.is_empty() {
        String::new()
    } else {
        format!(" : {event}")
    };
    let line = target.map_or_else(
        || format!("{source}{label} / action()"),
        |target| format!("{source} --> {target}{label}"),
    );
    let message = format!("the diagram has no transition from `{source}`{on}{to}");
    Diagnostic::new(Code::OnlyInDefinition, span, message)
        .label("only in the definition")
        .related(drawn, format!("`{source}` in the diagram"))
        .note(WHY)
        .help(format!("draw `{line}`, or remove this branch"))
}

pub(super) fn guard_differs_from_drawn(defined: Span, drawn: &Spanned<String>) -> Diagnostic {
    let message = format!(
        "the diagram guards this transition with `{}`, the definition with another guard",
        drawn.value
    );
    Diagnostic::new(Code::OnlyInDefinition, defined, message)
        .label("differs from the diagram")
        .related(drawn.span, format!("guarded by `{}` here", drawn.value))
        .note("one guard can't hide another: the transition is taken when what it says holds")
        .help(format!(
            "name the same guard in both places, or remove `[{}]` from the label",
            drawn.value
        ))
}

pub(super) fn composite_called_final(id: &str, kind: Span, drawn: Span) -> Diagnostic {
    let message = format!("`{id}` can't be final: the diagram draws states inside it");
    Diagnostic::new(Code::OnlyInDefinition, kind, message)
        .label("differs from the diagram")
        .related(drawn, format!("`{id}` has a body"))
        .help(format!("remove the type, and lead from `{id}` to `[*]`"))
}

pub(super) fn type_differs_from_drawn(id: &str, kind: &str, span: Span, drawn: Span) -> Diagnostic {
    let (why, help) = match kind {
        "parallel" => (
            "draws no regions in it",
            "separate its regions by a line `--`, or drop the type".to_owned(),
        ),
        "compound" => (
            "draws no states inside it",
            format!("draw its states inside `state {id} {{`, or drop the type"),
        ),
        "a history" => (
            "draws it as a state",
            "draw `[H]` in the state that it remembers, or drop the type".to_owned(),
        ),
        "atomic" => ("draws states inside it", "drop the type".to_owned()),
        _ => ("draws it as a history", "drop the type".to_owned()),
    };
    let message = format!("`{id}` can't be {kind}: the diagram {why}");
    Diagnostic::new(Code::OnlyInDefinition, span, message)
        .label("differs from the diagram")
        .related(drawn, format!("`{id}` in the diagram"))
        .note(WHY)
        .help(help)
}

pub(super) fn undrawn_fork(span: Span, source: &str, from: Span) -> Diagnostic {
    let message = format!("a fork from `{source}` has to be drawn");
    Diagnostic::new(Code::OnlyInDefinition, span, message)
        .label("only in the definition")
        .related(from, format!("`{source}` in the diagram"))
        .note(WHY)
        .help(format!(
            "draw `state split <<fork>>`, lead from `{source}` to it and from it to each branch, and remove this `fork`"
        ))
}

/// Reports a beginning that isn't the diagram's.
///
/// That is `drawn`; `None` where the diagram begins in several places.
pub(super) fn initial_differs_from_drawn(
    initial: Span,
    target: &str,
    drawn: Option<&State>,
    span: Span,
) -> Diagnostic {
    let (whole, part) = match drawn {
        Some(drawn) => (
            format!("at `{}`", drawn.id),
            format!("begins at `{}`", drawn.id),
        ),
        None => ("in several places".to_owned(), "one of them".to_owned()),
    };
    let message = format!("the diagram begins {whole}, the definition at `{target}`");
    Diagnostic::new(Code::OnlyInDefinition, initial, message)
        .label("differs from the diagram")
        .related(span, part)
        .note(WHY)
        .help("remove `initial`, or change the diagram")
}
