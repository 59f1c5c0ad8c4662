//! `statemark` alone: the specs in this folder, and what to do next.

use std::path::PathBuf;

use statemark_runs::shell_word;

use crate::failure::{CommandResult, ExitStatus};
use crate::printer::{Printer, columns, count};
use crate::specs::{Checked, STDIN_NAME, check_all};

/// Most specs that are listed. Unit: specs. Why: half a terminal; `lint` lists all that have findings.
const MAX_LISTED: usize = 12;

/// Prints the specs in this folder, and what to do next.
pub(super) fn run(printer: &mut Printer) -> CommandResult {
    let checked = check_all(&[PathBuf::from(".")], STDIN_NAME)?;
    let specs: Vec<&Checked> = checked
        .iter()
        .filter(|file| file.machine_count > 0)
        .collect();
    let palette = printer.palette();
    let mut text = format!(
        "{} compiles state machines written in Markdown.\n\n",
        palette.strong("statemark")
    );
    let step = |command: &str, purpose: &str| (command.to_owned(), purpose.to_owned());
    let Some(first) = specs.first() else {
        text.push_str("This folder has no spec. To begin one:\n\n");
        let steps = [
            step("statemark new door", "a spec: a diagram in a Markdown file"),
            step("statemark new fix-bug --skill", "a skill for an agent"),
            step("statemark --help", "everything else"),
        ];
        printer.result(&(text + &columns(&steps, palette)));
        return Ok(ExitStatus::Clean);
    };
    text.push_str(&format!("Found {} here:\n\n", count(specs.len(), "spec")));
    let listed = specs.iter().take(MAX_LISTED);
    let width = listed.clone().map(|spec| spec.name.chars().count()).max();
    let width = width.unwrap_or(0);
    for spec in listed {
        let blanks = " ".repeat(width - spec.name.chars().count());
        let name = palette.strong(&spec.name);
        text.push_str(&format!("  {name}{blanks}  {}\n", summarize(spec, printer)));
    }
    if specs.len() > MAX_LISTED {
        text.push_str(&format!("  … and {} more\n", specs.len() - MAX_LISTED));
    }
    let mut sound = specs.iter().filter(|spec| !spec.has_errors());
    let example = shell_word(&sound.next().unwrap_or(first).name);
    let steps = [
        step("statemark lint", "list findings, and how to fix them"),
        step(&format!("statemark show {example}"), "read the machine"),
        step(&format!("statemark simulate {example}"), "try the machine"),
        step("statemark --help", "everything else"),
    ];
    text.push_str("\nNext:\n\n");
    printer.result(&(text + &columns(&steps, palette)));
    Ok(ExitStatus::Clean)
}

/// Summarizes a spec: `front, back (7 states)`.
fn summarize(spec: &Checked, printer: &Printer) -> String {
    let palette = printer.palette();
    if spec.has_errors() {
        return palette.bad("has errors");
    }
    let states = spec.machines.iter().flat_map(|valid| valid.named_states());
    let states = states.filter(|(_, state)| !state.implied).count();
    let states = palette.dim(&format!("({})", count(states, "state")));
    format!("{} {states}", spec.ids().join(", "))
}
