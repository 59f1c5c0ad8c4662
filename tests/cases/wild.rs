//! Diagrams in the manner of those that people draw for people: they compile, and mean what their readers expect.
//!
//! `wild/media_player.mmd` has its verdict, the findings in a line each, and the machine's outline in
//! `wild/media_player.txt`.

use statemark_compiler::arena::Handle;
use statemark_compiler::back::mermaid::guard_text;
use statemark_compiler::diag::{Diagnostic, Severity};
use statemark_compiler::ir::{Action, ActionKind, Machine, State, StateKind, Transition};
use statemark_harness::{Suite, files, relative, root};
use statemark_tests::specs::{assert_spans, compile_text};

/// Least number of diagrams.
const DIAGRAMS: usize = 30;

pub(crate) fn add(suite: &mut Suite) {
    let folder = root().join("tests/wild");
    let diagrams = files(&folder).len() / 2;
    suite.check("wild::are_many", move || match diagrams {
        DIAGRAMS.. => Ok(()),
        few => Err(format!("only {few} diagrams")),
    });
    suite.goldens("wild", &folder, (&["mmd"], "txt"), |case| {
        let (found, compiles) = report(&relative(&case.path), &case.text);
        match compiles || ["issue_triage_bot", "no_start_loop"].contains(&case.name()) {
            true => Ok(found),
            false => Err(found),
        }
    });
}

fn count(diagnostics: &[Diagnostic], severity: Severity) -> String {
    let count = diagnostics
        .iter()
        .filter(|told| told.severity == severity)
        .count();
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {}{ending}", severity.name())
}

fn actions(machine: &Machine, actions: &[Handle<Action>]) -> Vec<String> {
    let text = |&action: &Handle<Action>| {
        let action = machine.actions.at(action);
        match action.kind {
            ActionKind::Schedule(timer, delay) => {
                format!("schedule {} in {delay} ms", machine.timers.at(timer).name)
            }
            ActionKind::Cancel(timer) => format!("cancel {}", machine.timers.at(timer).name),
            _ => action.name.clone(),
        }
    };
    actions.iter().map(text).collect()
}

fn ids(machine: &Machine, states: &[Handle<State>]) -> String {
    let ids: Vec<&str> = states
        .iter()
        .map(|&state| machine.states.at(state).id.as_str())
        .collect();
    ids.join(" + ")
}

fn transition(machine: &Machine, transition: &Transition) -> String {
    let events: Vec<&str> = transition
        .triggers
        .iter()
        .map(|&event| machine.events.at(event).id.as_str())
        .collect();
    let mut line = if events.is_empty() {
        "at once".to_owned()
    } else {
        format!("on {}", events.join(" or "))
    };
    if let Some(guard) = &transition.guard {
        line += &format!(" [{}]", guard_text(machine, &guard.value));
    }
    for action in actions(machine, &transition.actions) {
        line += &format!(" / {action}");
    }
    if !transition.targets.is_empty() {
        line += &format!(" -> {}", ids(machine, &transition.targets));
    }
    line
}

/// One state with everything inside.
fn outline(machine: &Machine, handle: Handle<State>, depth: usize, out: &mut String) {
    let state = machine.states.at(handle);
    let indent = "  ".repeat(depth);
    let kind = match state.kind {
        StateKind::Atomic | StateKind::Compound => String::new(),
        other => format!(" ({})", format!("{other:?}").to_lowercase()),
    };
    *out += &format!("{indent}{}{kind}\n", state.id);
    if let Some(initial) = &state.initial {
        let word = if state.kind == StateKind::Compound {
            "begins at"
        } else {
            "else"
        };
        *out += &format!("{indent}  {word} {}\n", ids(machine, &initial.targets));
    }
    for (word, list) in [("entry", &state.entry), ("exit", &state.exit)] {
        for action in actions(machine, list) {
            *out += &format!("{indent}  {word} / {action}\n");
        }
    }
    for (_, found) in machine.transitions_of(handle) {
        *out += &format!("{indent}  {}\n", transition(machine, found));
    }
    for &child in &state.children {
        outline(machine, child, depth + 1, out);
    }
}

fn report(name: &str, text: &str) -> (String, bool) {
    let (sources, compiled) = compile_text(name, text);
    assert_spans(&sources, &compiled.diagnostics);
    let verdict = match compiled.machines.as_slice() {
        [] => "refused",
        _ => "compiles",
    };
    let all = &compiled.diagnostics;
    let mut out = format!(
        "{verdict}: {}, {}, {}\n",
        count(all, Severity::Error),
        count(all, Severity::Warning),
        count(all, Severity::Hint)
    );
    for told in all {
        let file = sources.file(told.primary.span.file);
        let line = file.line_index(told.primary.span.start) + 1;
        let words = (told.severity.name(), told.code.id(), &told.message);
        out += &format!("line {line}: {} {}: {}\n", words.0, words.1, words.2);
    }
    for machine in &compiled.machines {
        out.push('\n');
        outline(machine, machine.root(), 0, &mut out);
    }
    (out, !compiled.machines.is_empty())
}
