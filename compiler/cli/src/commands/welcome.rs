//! `statemark` alone: what is here, and what to do next.

use std::path::PathBuf;

use crate::commands::lint::check_all;
use crate::failure::Failure;
use crate::lines::counted;
use crate::printer::Printer;
use crate::report::Checked;
use crate::status::ExitStatus;
use statemark_runs::shell_word;

/// Most specs that are listed. Unit: specs. Why: half a terminal; `lint` lists all that have findings.
const MOST_LISTED: usize = 12;

pub(super) fn run(printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let checked = check_all(&[PathBuf::from(".")], "")?;
    let specs: Vec<&Checked> = checked.iter().filter(|file| file.found > 0).collect();
    let palette = printer.palette();
    let mut text = format!(
        "{} compiles state machines written in Markdown.\n\n",
        palette.strong("statemark")
    );
    let Some(first) = specs.first() else {
        text.push_str("There is no spec in this folder. To begin one:\n\n");
        text.push_str(&steps(
            printer,
            &[
                ("statemark new door", "a spec: a diagram in a Markdown file"),
                ("statemark new fix-bug --skill", "a skill for an agent"),
                ("statemark --help", "everything else"),
            ],
        ));
        printer.result(&text);
        return Ok(ExitStatus::Clean);
    };
    text.push_str(&format!("Found {} here:\n\n", counted(specs.len(), "spec")));
    let width = specs
        .iter()
        .take(MOST_LISTED)
        .map(|spec| spec.name.chars().count());
    let width = width.max().unwrap_or(0);
    for spec in specs.iter().take(MOST_LISTED) {
        let blanks = " ".repeat(width - spec.name.chars().count());
        let name = palette.strong(&spec.name);
        text.push_str(&format!("  {name}{blanks}  {}\n", summary(spec, printer)));
    }
    if specs.len() > MOST_LISTED {
        text.push_str(&format!("  … and {} more\n", specs.len() - MOST_LISTED));
    }
    let example = specs
        .iter()
        .find(|spec| !spec.has_errors())
        .unwrap_or(first);
    let quoted = shell_word(&example.name);
    text.push_str("\nNext:\n\n");
    text.push_str(&steps(
        printer,
        &[
            ("statemark lint", "what is wrong, and how to mend it"),
            (&format!("statemark show {quoted}"), "the machine, to read"),
            (
                &format!("statemark simulate {quoted}"),
                "the machine, to try",
            ),
            ("statemark --help", "everything else"),
        ],
    ));
    printer.result(&text);
    Ok(ExitStatus::Clean)
}

/// `2 machines: front, back` or what is wrong.
fn summary(spec: &Checked, printer: &Printer) -> String {
    let palette = printer.palette();
    if spec.has_errors() {
        return palette.bad("has errors");
    }
    let ids: Vec<&str> = spec
        .machines
        .iter()
        .map(|valid| valid.id.value.as_str())
        .collect();
    let states = spec.machines.iter().flat_map(|valid| valid.named_states());
    let states = states.filter(|(_, state)| !state.implied).count();
    let facts = format!("({})", counted(states, "state"));
    format!("{} {}", ids.join(", "), palette.dim(&facts))
}

fn steps(printer: &Printer, steps: &[(&str, &str)]) -> String {
    let palette = printer.palette();
    let width = steps
        .iter()
        .map(|(command, _)| command.chars().count())
        .max();
    let width = width.unwrap_or(0);
    steps
        .iter()
        .map(|(command, what)| {
            let blanks = " ".repeat(width - command.chars().count());
            format!(
                "  {}{blanks}  {}\n",
                palette.event(command),
                palette.dim(what)
            )
        })
        .collect()
}
