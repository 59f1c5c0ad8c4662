//! Records for people: with names, a line for each microstep.

use std::fmt::Write as _;

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::Machine;
use statemark_runtime::Microstep;

use super::engine::Told;

/// Most microsteps that are shown.
const MOST: usize = 5;

/// An outcome and its record, from the microstep of that number on.
pub(super) fn told(machine: &Machine, told: &Told, from: usize) -> String {
    let (outcome, record) = told;
    let mut text = format!("{outcome:?}, {} microsteps\n", record.steps.len());
    for (number, step) in record.steps.iter().enumerate().skip(from).take(MOST) {
        writeln!(text, "  {number}: {}", microstep(machine, step)).unwrap();
    }
    let absent = record.absent.iter().map(|field| {
        let field = machine.fields.at(Handle::at(field.index()));
        field.path.as_str()
    });
    let absent: Vec<&str> = absent.collect();
    writeln!(text, "  absent: {}", absent.join(" ")).unwrap();
    text
}

fn microstep(machine: &Machine, step: &Microstep) -> String {
    let mut text = String::new();
    let mut part = |word: &str, names: Vec<&str>| {
        if !names.is_empty() {
            write!(text, "{word} {}; ", names.join(" ")).unwrap();
        }
    };
    let state = |id: usize| machine.states.at(Handle::at(id)).id.as_str();
    let transitions: Vec<String> = step
        .transitions
        .iter()
        .map(|transition| transition.index().to_string())
        .collect();
    part("takes", transitions.iter().map(String::as_str).collect());
    part(
        "leaves",
        step.exited.iter().map(|id| state(id.index())).collect(),
    );
    let action = |id: usize| machine.actions.at(Handle::at(id)).name.as_str();
    part(
        "does",
        step.actions.iter().map(|id| action(id.index())).collect(),
    );
    part(
        "enters",
        step.entered.iter().map(|id| state(id.index())).collect(),
    );
    let event = |id: usize| machine.events.at(Handle::at(id)).id.as_str();
    part(
        "raises",
        step.raised.iter().map(|id| event(id.index())).collect(),
    );
    text
}
