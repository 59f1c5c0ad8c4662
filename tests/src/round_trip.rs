//! What back ends promise about every machine that compiles.

use std::fs;
use std::path::PathBuf;

use statemark_compiler::arena::Handle;
use statemark_compiler::back;
use statemark_compiler::back::mermaid::guard_text;
use statemark_compiler::diag::Code;
use statemark_compiler::ir::{Action, ActionKind, Event, EventKind, Machine, State};
use statemark_compiler::pass::trigger::{delay, is_timer_action};
use statemark_compiler::source::Sources;
use statemark_compiler::{Options, compile};
use statemark_harness::{files, root};

use crate::specs::{compile_text, outside};

fn specs() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = [
        "examples",
        "tests/corpus",
        "tests/engines",
        "tests/wild",
        "skills",
    ]
    .iter()
    .flat_map(|folder| files(&root().join(folder)))
    .collect();
    if let Some(outside) = outside() {
        all.extend(files(&outside));
    }
    all.retain(|path| {
        path.extension()
            .is_some_and(|e| e == "md" || e == "mmd" || e == "json")
    });
    all
}

/// What a diagram can say of a machine: kinds, parents, where states begin, what they do, timers with their delays, and
/// transitions with their labels. States go by their number, because an id that Mermaid can't write is written as another.
fn outline(machine: &Machine) -> String {
    let mut lines = String::new();
    let numbers = |states: &[Handle<State>]| -> Vec<usize> {
        states.iter().map(|state| state.index()).collect()
    };
    let names = |actions: &[Handle<Action>]| -> Vec<&str> {
        let actions = actions.iter();
        let own = actions.filter(|&&action| !is_timer_action(machine, action));
        own.map(|&action| machine.actions.at(action).name.as_str())
            .collect()
    };
    for (handle, state) in machine.states.iter().skip(1) {
        let parent = state.parent.map_or(0, |parent| parent.index());
        lines += &format!("{} in {parent} {:?}\n", handle.index(), state.kind);
        if let Some(initial) = &state.initial {
            let (targets, actions) = (numbers(&initial.targets), names(&initial.actions));
            lines += &format!("  begins at {targets:?} {actions:?}\n");
        }
        let (entry, exit) = (names(&state.entry), names(&state.exit));
        lines += &format!("  {entry:?} {exit:?}\n");
        for (_, transition) in machine.transitions_of(handle) {
            let events: Vec<String> = transition
                .triggers
                .iter()
                .map(|&event| match delay(machine, handle, event) {
                    Some(milliseconds) => format!("after {milliseconds}ms"),
                    None => match machine.events.at(event).kind {
                        EventKind::Completion(state) => format!("{} is done", state.index()),
                        _ => machine.events.at(event).id.clone(),
                    },
                })
                .collect();
            let guard = transition.guard.as_ref();
            let guard = guard.map_or_else(String::new, |guard| guard_text(machine, &guard.value));
            let (actions, targets) = (names(&transition.actions), numbers(&transition.targets));
            lines += &format!(
                "  {events:?} [{guard}] {actions:?} -> {targets:?} {}\n",
                transition.internal
            );
        }
    }
    for (_, action) in machine.actions.iter() {
        if let ActionKind::Assign(assigns) = &action.kind {
            let fields = assigns
                .iter()
                .map(|it| machine.fields.at(it.field).path.as_str());
            lines += &format!("{} {:?}\n", action.name, fields.collect::<Vec<_>>());
        }
    }
    for ambiguity in &machine.ambiguities {
        let event = |event: Handle<Event>| machine.events.at(event).id.as_str();
        let mut events: Vec<&str> = ambiguity.events.iter().map(|it| event(*it)).collect();
        events.sort_unstable();
        let (source, label) = (ambiguity.source.index(), event(ambiguity.label));
        lines += &format!("{label} in {source} means {events:?}\n");
    }
    lines
}

#[test]
fn a_written_diagram_reads_back_as_the_same_machine() {
    let mut compared = 0;
    let mut faults = String::new();
    for path in specs() {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let (_, compiled) = compile_text(&path.display().to_string(), &text);
        for machine in compiled
            .machines
            .iter()
            .filter(|machine| machine.parts.diagram.is_some())
        {
            let written = back::mermaid::write(machine);
            // Beside a definition, the document with its diagram replaced is what must read back.
            let replaced = machine
                .parts
                .definition
                .and(machine.parts.diagram)
                .map(|span| {
                    let mut text = text.clone();
                    text.replace_range(span.range(), &written);
                    text
                });
            let is_plain = !text.contains("\n> ") && !text.contains("\n- ") && !text.contains('\r');
            let (_, again) = match &replaced {
                Some(text) if is_plain && compiled.machines.len() == 1 => {
                    compile_text("again.md", text)
                }
                Some(_) => continue,
                None => compile_text("again.mmd", &written),
            };
            let told: Vec<&str> = again
                .diagnostics
                .iter()
                .map(|d| d.message.as_str())
                .collect();
            let same = again.machines.first().is_some_and(|again| {
                outline(again) == outline(machine) && back::mermaid::write(again) == written
            });
            if !same {
                faults += &format!(
                    "{}:\n{written}\n{told:#?}\n{}\n",
                    path.display(),
                    outline(machine)
                );
                faults.extend(again.machines.first().map(|again| outline(again)));
            }
            compared += 1;
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(compared >= 10, "only {compared} machines were compared");
}

#[test]
fn tables_verify_and_are_the_same_every_time() {
    let mut written = 0;
    for path in specs() {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let name = path.display().to_string();
        let (_, compiled) = compile_text(&name, &text);
        let (_, again) = compile_text(&name, &text);
        for (machine, again) in compiled.machines.iter().zip(&again.machines) {
            let bytes = back::table::write(machine);
            assert_eq!(bytes, back::table::write(again), "{name}");
            let sections = statemark_runtime::decode(&bytes).expect("a table that we wrote");
            assert_eq!(
                statemark_runtime::encode(&sections).expect("within limits"),
                bytes,
                "{name}"
            );
            if let Err(error) = statemark_runtime::verify(sections) {
                panic!("{name}: {error}");
            }
            written += 1;
        }
    }
    assert!(written >= 20, "only {written} tables were written");
}

#[test]
fn rust_of_an_ambiguous_label_is_an_error() {
    let path = root().join("tests/corpus/SM406-ambiguous-label/two_places.md");
    let text = fs::read_to_string(path).expect("a spec");
    let (_, compiled) = compile_text("spec.md", &text);
    let [machine] = compiled.machines.as_slice() else {
        panic!("{:#?}", compiled.diagnostics);
    };
    let code = back::rust::write_file(machine, &back::rust::Options::default());
    assert!(code.contains("compile_error!"), "{code}");
    assert!(code.contains("`reviewed` leads to several places from `reviewing`"));
    // Asked for Rust, the compiler says so in the spec.
    let mut options = Options::default();
    options.for_rust = true;
    let mut sources = Sources::new();
    sources.add("spec.md", text);
    let refused = compile(&sources, &options);
    assert!(refused.machines.is_empty());
    let mut found = refused.diagnostics.iter();
    assert!(found.any(|it| it.code == Code::ConflictingTransitions));
}
