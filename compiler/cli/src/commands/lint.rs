//! `lint`: every finding in every spec.
//!
//! Findings go to standard output, the sum of them to standard error.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use statemark_compiler::Format;
use statemark_compiler::diag::render::{concise, footer, full, json};
use statemark_compiler::diag::{Diagnostic, Severity};
use statemark_compiler::front::mermaid::is_state_diagram;
use statemark_compiler::source::MAX_SOURCE_BYTES;

use crate::args::{FailOn, LintArgs, LintFormat};
use crate::failure::{Failure, FailureKind, no_machine};
use crate::files::{self, Found};
use crate::lines::counted;
use crate::printer::Printer;
use crate::report::{Checked, check, merged};
use crate::status::ExitStatus;

/// What a document has that speaks of a machine.
const HEADING: &str = "STATE-MACHINE";

const FORMAT_VARIABLE: &str = "STATEMARK_OUTPUT_FORMAT";

pub(super) fn run(args: &LintArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let format = format(args)?;
    let checked = check_all(&args.paths, &args.stdin_filename)?;
    let (sources, diagnostics) = merged(&checked);
    let style = printer.style();
    printer.result(&match format {
        LintFormat::Full => full(&diagnostics, &sources, &style),
        LintFormat::Concise => concise(&diagnostics, &sources, &style),
        LintFormat::Json => json(&diagnostics, &sources),
    });
    if format == LintFormat::Full && !diagnostics.is_empty() {
        printer.talk("\n");
    }
    printer.talk(&closing_words(args, &checked, &diagnostics, printer));
    Ok(if fails(&diagnostics, args.fail_on) {
        ExitStatus::Findings
    } else {
        ExitStatus::Clean
    })
}

/// The format that the arguments ask for, else the environment.
fn format(args: &LintArgs) -> Result<LintFormat, Failure> {
    if let Some(format) = args.output_format {
        return Ok(format);
    }
    match std::env::var(FORMAT_VARIABLE).as_deref() {
        Err(_) | Ok("" | "full") => Ok(LintFormat::Full),
        Ok("concise") => Ok(LintFormat::Concise),
        Ok("json") => Ok(LintFormat::Json),
        Ok(value) => Err(FailureKind::BadVariable {
            name: FORMAT_VARIABLE,
            value: value.to_owned(),
            values: "full, concise or json",
        }
        .into()),
    }
}

/// Every spec among the paths, compiled, by path. Files that were met in a folder and are no spec are left out.
pub(crate) fn check_all(paths: &[PathBuf], stdin_name: &str) -> Result<Vec<Checked>, Failure> {
    let (stdin, paths): (Vec<&PathBuf>, Vec<&PathBuf>) = paths
        .iter()
        .partition(|path| path.as_path() == Path::new("-"));
    let paths: Vec<PathBuf> = paths.into_iter().cloned().collect();
    let found = files::find(&paths)?;
    let mut checked: Vec<Checked> = found
        .par_iter()
        .map(check_found)
        .collect::<Result<Vec<Option<Checked>>, Failure>>()?
        .into_iter()
        .flatten()
        .collect();
    if !stdin.is_empty() {
        checked.push(check(stdin_name, files::read_stdin(MAX_SOURCE_BYTES)?));
    }
    Ok(checked)
}

fn check_found(found: &Found) -> Result<Option<Checked>, Failure> {
    let name = files::shown(&found.path);
    let read = files::read(&found.path, MAX_SOURCE_BYTES)?;
    let is_spec = match &read {
        Ok(bytes) => found.named || may_hold_machine(&name, bytes),
        Err(_) => found.named,
    };
    Ok(is_spec.then(|| check(&name, read)))
}

/// Whether a file that was met in a folder is worth a compilation.
fn may_hold_machine(name: &str, bytes: &[u8]) -> bool {
    match Format::of_name(name) {
        Format::Diagram => is_state_diagram(&String::from_utf8_lossy(bytes)),
        Format::Definition => true,
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.contains(HEADING),
            Err(_) => bytes
                .windows(HEADING.len())
                .any(|window| window == HEADING.as_bytes()),
        },
    }
}

fn fails(diagnostics: &[Diagnostic], fail_on: FailOn) -> bool {
    let least = match fail_on {
        FailOn::Error => Severity::Error,
        FailOn::Warning => Severity::Warning,
        FailOn::Hint => Severity::Hint,
        FailOn::Never => return false,
    };
    diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity >= least)
}

/// What is said at the end: what there is none of, the sum, and what to do next.
fn closing_words(
    args: &LintArgs,
    checked: &[Checked],
    diagnostics: &[Diagnostic],
    printer: &Printer,
) -> String {
    let palette = printer.talk_palette();
    let mut words = String::new();
    let empty = checked
        .iter()
        .filter(|file| file.found == 0 && !file.has_errors());
    let named: BTreeSet<String> = args.paths.iter().map(|path| files::shown(path)).collect();
    for file in empty {
        let is_stdin = file.name == args.stdin_filename;
        if is_stdin || named.contains(&file.name) {
            words.push_str(&format!("{}\n", no_machine(&file.name)));
        }
    }
    let machines: usize = checked.iter().map(|file| file.found).sum();
    if !diagnostics.is_empty() {
        words.push_str(&footer(diagnostics, &printer.talk_style()));
        words.push_str(&palette.dim(&more_about(diagnostics)));
    } else if machines > 0 {
        let clean = palette.good("no findings");
        let files = counted(checked.iter().filter(|file| file.found > 0).count(), "file");
        words.push_str(&format!(
            "{clean} in {} ({files})\n",
            counted(machines, "machine")
        ));
    } else if words.is_empty() {
        words.push_str("no spec found: no file has a heading `## STATE-MACHINE` with a mermaid state diagram; `statemark new NAME` begins one\n");
    }
    words
}

/// How to learn more about the gravest of the findings.
fn more_about(diagnostics: &[Diagnostic]) -> String {
    let gravest = diagnostics
        .iter()
        .rev()
        .max_by_key(|diagnostic| diagnostic.severity)
        .map_or("", |diagnostic| diagnostic.code.id());
    format!("for more about a finding: statemark explain {gravest}\n")
}
