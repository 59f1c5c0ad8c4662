//! `lint`: every finding in every spec.
//!
//! Findings go to standard output, their count to standard error.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ValueEnum;
use statemark_compiler::diag::render::{concise, footer, full, json};
use statemark_compiler::diag::{Diagnostic, Severity};

use crate::cache::Cache;
use crate::failure::{ExitStatus, Failure};
use crate::files;
use crate::printer::{Printer, count};
use crate::project::{self, Diagrams, variable};
use crate::specs::{Checked, STDIN_NAME, lint_all, merge, no_machine_message};

/// The variable that has the format.
const FORMAT_VARIABLE: &str = "STATEMARK_OUTPUT_FORMAT";

/// List every finding in specs.
#[derive(Debug, clap::Args)]
#[command(
    visible_alias = "check",
    after_help = "Examples:\n  \
                  statemark lint                            every spec below this folder\n  \
                  statemark lint docs/door.md               one file, whatever its name\n  \
                  statemark lint --output-format json       for programs\n  \
                  statemark lint --diagrams all             every state diagram in Markdown, too\n  \
                  statemark lint - --stdin-filename a.md    what an editor has not saved yet\n\n\
                  In a folder, lint reads Markdown files with a `## STATE-MACHINE` heading, *.workflow.json, *.scxml,\n\
                  and state diagrams in *.mmd and *.mermaid. It respects .gitignore and .statemarkignore.\n\n\
                  Files without findings are remembered in $XDG_CACHE_HOME/statemark/lint (or ~/.cache), by name,\n\
                  content and version of statemark, and aren't compiled again; the folder can be deleted at any time."
)]
pub(crate) struct LintArgs {
    /// Files and folders, or `-` for standard input
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to print findings: full, concise or json [env: STATEMARK_OUTPUT_FORMAT; default: full]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    output_format: Option<LintFormat>,
    /// Least severity that makes the exit code 1: error, warning, hint or never
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Warning, hide_possible_values = true)]
    fail_on: FailOn,
    /// The name of standard input; its extension tells the format
    #[arg(long, value_name = "NAME", default_value = STDIN_NAME)]
    stdin_filename: String,
    /// The diagrams of Markdown files that are checked: sections or all [default: sections, or what statemark.toml says]
    #[arg(long, value_enum, value_name = "WHICH", hide_possible_values = true)]
    diagrams: Option<Diagrams>,
    /// Print hints, too; they are only counted otherwise (JSON always has them)
    #[arg(long)]
    hints: bool,
    /// Compile every file, and remember nothing
    #[arg(long)]
    no_cache: bool,
}

/// A form of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LintFormat {
    /// With lines of the source, help and fixes.
    Full,
    /// One line each.
    Concise,
    /// One JSON object.
    Json,
}

/// The least severity that makes the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Errors.
    Error,
    /// Errors and warnings.
    Warning,
    /// Everything.
    Hint,
    /// Nothing.
    Never,
}

/// Lists findings.
pub(super) fn run(args: &LintArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let format = resolve_format(args)?;
    let diagrams = match args.diagrams {
        Some(diagrams) => diagrams,
        None => project::diagrams()?,
    };
    // The cache knows what was found with the usual diagrams.
    let is_cached = !args.no_cache && diagrams == Diagrams::Sections;
    let cache = is_cached.then(Cache::open).flatten();
    let checked = lint_all(&args.paths, &args.stdin_filename, diagrams, cache.as_ref())?;
    if let Some(cache) = cache {
        cache.save();
    }
    let (sources, diagnostics) = merge(&checked);
    let status = ExitStatus::clean_if(!fails(&diagnostics, args.fail_on));
    let shows_hints = args.hints || args.fail_on == FailOn::Hint || format == LintFormat::Json;
    let (shown, hidden): (Vec<Diagnostic>, Vec<Diagnostic>) = diagnostics
        .into_iter()
        .partition(|it| shows_hints || it.severity > Severity::Hint);
    let style = printer.style();
    printer.findings(&match format {
        LintFormat::Full => full(&shown, &sources, &style),
        LintFormat::Concise => concise(&shown, &sources, &style),
        LintFormat::Json => json(&shown, &sources),
    });
    if format == LintFormat::Full && !shown.is_empty() {
        printer.remark("\n");
    }
    print_closing(args, &checked, &shown, printer);
    if !hidden.is_empty() {
        let hints = count(hidden.len(), "hint");
        let line = format!("{hints} not shown: statemark lint --hints\n");
        printer.remark(&printer.remark_palette().dim(&line));
    }
    Ok(status)
}

/// Returns the format of the arguments, else of the environment.
fn resolve_format(args: &LintArgs) -> Result<LintFormat, Failure> {
    if let Some(format) = args.output_format {
        return Ok(format);
    }
    match variable(FORMAT_VARIABLE).as_deref() {
        None | Some("full") => Ok(LintFormat::Full),
        Some("concise") => Ok(LintFormat::Concise),
        Some("json") => Ok(LintFormat::Json),
        Some(value) => Err(Failure::bad_variable(
            FORMAT_VARIABLE,
            value,
            "full, concise or json",
        )),
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

/// Prints what was checked: files without a machine, the count of findings, and what to do next.
fn print_closing(
    args: &LintArgs,
    checked: &[Checked],
    diagnostics: &[Diagnostic],
    printer: &mut Printer,
) {
    let palette = printer.remark_palette();
    let mut words = String::new();
    for file in checked {
        if let Some(problem) = &file.problem {
            words.push_str(&format!("{problem}; it isn't checked\n"));
        }
    }
    let is_read = |file: &&Checked| file.problem.is_none();
    let empty = checked
        .iter()
        .filter(is_read)
        .filter(|file| file.machine_count + file.drawing_count == 0 && !file.has_errors());
    let named: BTreeSet<String> = args.paths.iter().map(|path| files::display(path)).collect();
    for file in empty {
        let is_stdin = file.name == args.stdin_filename;
        // A near miss has said it.
        let is_said = !file.diagnostics.is_empty();
        if !is_said && (is_stdin || named.contains(&file.name)) {
            words.push_str(&format!("{}\n", no_machine_message(&file.name)));
        }
    }
    let machines: usize = checked.iter().map(|file| file.machine_count).sum();
    let drawings: usize = checked.iter().map(|file| file.drawing_count).sum();
    if !diagnostics.is_empty() {
        printer.remark(&words);
        printer.remark_findings(&footer(diagnostics, &printer.remark_style()));
        words = palette.dim(&describe_explain(diagnostics));
    } else if machines + drawings > 0 {
        let clean = palette.good("no findings");
        let is_checked = |file: &&Checked| file.machine_count + file.drawing_count > 0;
        let files = count(checked.iter().filter(is_checked).count(), "file");
        let what = match (machines, drawings) {
            (_, 0) => count(machines, "machine"),
            (0, _) => count(drawings, "diagram"),
            _ => format!(
                "{} and {}",
                count(machines, "machine"),
                count(drawings, "other diagram")
            ),
        };
        words.push_str(&format!("{clean} in {what} ({files})\n"));
    } else if words.is_empty() {
        words.push_str("no spec found: no file has a heading `## STATE-MACHINE` with a mermaid state diagram; `statemark new NAME` begins one\n");
    }
    printer.remark(&words);
}

/// Names the command that explains the most severe finding.
fn describe_explain(diagnostics: &[Diagnostic]) -> String {
    let most_severe = diagnostics
        .iter()
        .rev()
        .max_by_key(|diagnostic| diagnostic.severity)
        .map_or("", |diagnostic| diagnostic.code.id());
    format!("for more about a finding: statemark explain {most_severe}\n")
}
