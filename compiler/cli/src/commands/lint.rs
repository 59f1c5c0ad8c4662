//! `lint`: every finding in every spec, and their fixes.
//!
//! Findings go to standard output or a file, their count to standard error. Files are read, fixed and reported one after
//! the other, so that the memory that is needed doesn't grow with their number.

mod closing;
mod output;
mod watch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use similar::TextDiff;
use statemark_compiler::Format;
use statemark_compiler::diag::render::{Report, ReportFormat, Root};
use statemark_compiler::diag::{Applicability, Diagnostic, Severity};
use statemark_compiler::front::markdown::{document::Document, other_diagrams};
use statemark_compiler::source::Sources;
use statemark_runs::find_working_copy;

use super::config;
use crate::cache::Cache;
use crate::environment;
use crate::failure::{ExitStatus, Failure};
use crate::files;
use crate::printer::Printer;
use crate::project::{self, Diagrams};
use crate::rules::{LintConfig, Rules};
use crate::specs::{Checked, FileFixes, LintPlan, STDIN_NAME, find_specs, lint_each, read_specs};

use self::closing::Tally;
use self::output::Output;

/// List every finding in specs, and fix them.
#[derive(Debug, clap::Args)]
#[command(
    visible_alias = "check",
    after_help = "Examples:\n  \
                  statemark lint                            every spec below this folder\n  \
                  statemark lint docs/door.md               one file, whatever its name\n  \
                  statemark lint --diff                     what --fix would change\n  \
                  statemark lint --fix                      apply the fixes that are safe, and list the rest\n  \
                  statemark lint --output-format sarif --output-file lint.sarif\n  \
                  statemark lint --diagrams all             every state diagram in Markdown, too\n  \
                  statemark lint - --stdin-filename a.md    what an editor has not saved yet\n  \
                  statemark lint --watch                    again, whenever a file changes\n\n\
                  In a folder, lint reads Markdown files with a `## STATE-MACHINE` heading, *.workflow.json, *.scxml,\n\
                  and state diagrams in *.mmd and *.mermaid. It respects .gitignore and .statemarkignore.\n\n\
                  Formats for people: full, concise, grouped. For programs: json, json-lines. For services: sarif,\n\
                  github (annotations), gitlab (code quality), junit, rdjson (reviewdog).\n\n\
                  Files without findings are remembered in $XDG_CACHE_HOME/statemark/lint (or ~/.cache), by name,\n\
                  content and version of statemark, and aren't compiled again; the folder can be deleted at any time."
)]
pub(crate) struct LintArgs {
    /// Files and folders, or `-` for standard input
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Apply the fixes that don't change what a machine accepts, and list what is left
    #[arg(long, conflicts_with = "diff")]
    fix: bool,
    /// Show what --fix would change, and change nothing; the exit code is 1 if that is anything
    #[arg(long)]
    diff: bool,
    /// With --fix or --diff: also the fixes that may change what a machine accepts
    #[arg(long)]
    unsafe_fixes: bool,
    /// How to print findings [env: STATEMARK_OUTPUT_FORMAT; default: full]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    output_format: Option<LintFormat>,
    /// Write findings to a file, which is replaced whole
    #[arg(long, short = 'o', value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// List how many findings each code has, in place of the findings
    #[arg(long)]
    statistics: bool,
    /// List the files that are checked, and check nothing
    #[arg(long)]
    show_files: bool,
    /// List the settings that hold, and where each comes from, and check nothing
    #[arg(long, conflicts_with = "show_files")]
    show_settings: bool,
    /// Check files again whenever they change, until Ctrl-C; the exit code is that of the files as they were last
    #[arg(long, short = 'w', conflicts_with_all = ["fix", "diff", "show_files", "show_settings"])]
    watch: bool,
    /// Most findings that are listed; the others are only counted
    #[arg(long, value_name = "COUNT")]
    max_diagnostics: Option<usize>,
    /// Codes that are looked for, with commas between them: SM304, dead-end, SM3 [default: all, or what statemark.toml says]
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    select: Vec<String>,
    /// Codes that aren't reported, besides those of statemark.toml
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Least severity that makes the exit code 1: error, warning, hint or never
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Warning, hide_possible_values = true)]
    fail_on: FailOn,
    /// Exit with 0 whatever is found, as --fail-on never does
    #[arg(long)]
    exit_zero: bool,
    /// The name of standard input; its extension tells the format
    #[arg(long, value_name = "NAME", default_value = STDIN_NAME)]
    stdin_filename: String,
    /// The diagrams of Markdown files that are checked: sections or all [default: sections, or what statemark.toml says]
    #[arg(long, value_enum, value_name = "WHICH", hide_possible_values = true)]
    diagrams: Option<Diagrams>,
    /// Don't read statemark.toml: the flags alone, and the defaults, decide what is reported
    #[arg(long)]
    isolated: bool,
    /// Leave out files that are named here and ignored by .gitignore or .statemarkignore, as a hook needs it
    #[arg(long)]
    force_exclude: bool,
    /// Print hints, too; they are only counted otherwise (JSON always has them)
    #[arg(long)]
    hints: bool,
    /// Compile every file, and remember nothing
    #[arg(long)]
    no_cache: bool,
}

/// A form of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LintFormat(ReportFormat);

impl ValueEnum for LintFormat {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [LintFormat; ReportFormat::ALL.len()] = {
            let mut all = [LintFormat(ReportFormat::Full); ReportFormat::ALL.len()];
            let (mut to, mut from): (&mut [LintFormat], &[(&str, ReportFormat)]) =
                (&mut all, &ReportFormat::ALL);
            while let ([first, others @ ..], [(_, format), rest @ ..]) = (to, from) {
                *first = LintFormat(*format);
                (to, from) = (others, rest);
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
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

impl FailOn {
    /// Reports whether a severity makes the exit code 1.
    fn fails(self, severity: Severity) -> bool {
        match self {
            Self::Error => severity >= Severity::Error,
            Self::Warning => severity >= Severity::Warning,
            Self::Hint => true,
            Self::Never => false,
        }
    }
}

impl LintArgs {
    /// Reports whether hints are listed, and not counted alone.
    fn shows_hints(&self, format: ReportFormat) -> bool {
        let json = [ReportFormat::Json, ReportFormat::JsonLines];
        self.hints || self.fail_on() == FailOn::Hint || json.contains(&format)
    }

    /// Returns the least trust in a fix that is applied.
    const fn least_trust(&self) -> Applicability {
        match self.unsafe_fixes {
            true => Applicability::Unsafe,
            false => Applicability::Safe,
        }
    }

    /// Returns the format of the arguments, else of the environment.
    fn format(&self) -> Result<ReportFormat, Failure> {
        if let Some(format) = self.output_format {
            return Ok(format.0);
        }
        let Some(value) = environment::OUTPUT_FORMAT.text() else {
            return Ok(ReportFormat::Full);
        };
        let formats = ReportFormat::ALL;
        let found = formats.iter().find(|(name, _)| *name == value);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<String> = formats.iter().map(|(name, _)| (*name).to_owned()).collect();
            let names = statemark_text::list::join(&names, "or");
            Failure::bad_variable(&environment::OUTPUT_FORMAT, &value, &names)
        })
    }

    fn fail_on(&self) -> FailOn {
        if self.exit_zero {
            FailOn::Never
        } else {
            self.fail_on
        }
    }
}

/// Lists findings, after their fixes where these are wanted.
pub(super) fn run(args: &LintArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    if args.unsafe_fixes && !args.fix && !args.diff {
        return Err(Failure::new("`--unsafe-fixes` alone fixes nothing")
            .with_help("add `--fix`, or `--diff` to see what it would change"));
    }
    let format = args.format()?;
    if args.show_files {
        return show_files(args, printer);
    }
    if args.show_settings {
        return config::show_lint(&args.settings(), args.isolated, printer);
    }
    if args.watch {
        return watch::run(args, format, printer);
    }
    look(args, format, None, printer).map(|look| look.status)
}

/// The outcome of one look at all files.
struct Look {
    status: ExitStatus,
    /// The names of the specs.
    specs: BTreeSet<String>,
}

/// Lists the findings of every spec, or of some; all of them decide about the outcome.
fn look(
    args: &LintArgs,
    format: ReportFormat,
    only: Option<&BTreeSet<String>>,
    printer: &mut Printer,
) -> Result<Look, Failure> {
    let diagrams = args.diagrams()?;
    let rules = args.rules()?;
    // The cache knows what was found with the usual diagrams.
    let is_cached = !args.no_cache && diagrams == Diagrams::Sections;
    let cache = is_cached.then(Cache::open).flatten();
    let plan = LintPlan {
        diagrams,
        excludes: args.force_exclude,
        cache: cache.as_ref(),
        fix: (args.fix || args.diff).then(|| args.least_trust()),
        hints: args.shows_hints(format),
        rules: &rules,
    };
    let mut run = LintRun::new(args, format, only, printer)?;
    run.begin()?;
    lint_each(&args.paths, &args.stdin_filename, &plan, |file| {
        run.file(file, diagrams)
    })?;
    let look = run.finish()?;
    if let Some(cache) = cache {
        cache.save();
    }
    Ok(look)
}

/// Lists the files that would be checked.
fn show_files(args: &LintArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let which = (args.diagrams()?, args.force_exclude);
    find_specs(&args.paths, &args.stdin_filename, which, |name| {
        printer.result(&format!("{name}\n"));
    })?;
    Ok(ExitStatus::Clean)
}

/// Counts the files with state diagrams that aren't checked because no section holds them.
fn unchecked_diagrams(args: &LintArgs) -> Result<usize, Failure> {
    if args.reads_stdin() || args.diagrams()? == Diagrams::All {
        return Ok(0);
    }
    let which = (Diagrams::All, args.force_exclude);
    let mut files = 0;
    read_specs(&args.paths, &args.stdin_filename, which, |name, _, text| {
        let mut sources = Sources::new();
        let file = sources.add(name, text.as_str());
        let is_other = Format::of_name(name) == Format::Markdown
            && !other_diagrams(file, &text, &Document::default()).is_empty();
        files += usize::from(is_other);
        Ok(())
    })?;
    Ok(files)
}

/// A run of `lint`: what it has reported so far.
struct LintRun<'a> {
    args: &'a LintArgs,
    printer: &'a mut Printer,
    report: Report,
    output: Output,
    format: ReportFormat,
    /// The files that are reported, unless it is all.
    only: Option<&'a BTreeSet<String>>,
    specs: BTreeSet<String>,
    tally: Tally,
}

impl<'a> LintRun<'a> {
    fn new(
        args: &'a LintArgs,
        format: ReportFormat,
        only: Option<&'a BTreeSet<String>>,
        printer: &'a mut Printer,
    ) -> Result<Self, Failure> {
        let output = Output::new(args.output_file.as_deref(), format)?;
        // A fixed text has standard output for itself.
        let style = match (args.output_file.is_some(), args.fix && args.reads_stdin()) {
            (true, _) => statemark_compiler::diag::render::Style::default(),
            (false, true) => printer.remark_style(),
            (false, false) => printer.style(),
        };
        Ok(Self {
            args,
            report: Report::new(format, style, root()),
            printer,
            output,
            format,
            only,
            specs: BTreeSet::new(),
            tally: Tally::default(),
        })
    }

    fn begin(&mut self) -> Result<(), Failure> {
        if self.args.diff || self.args.statistics {
            return Ok(());
        }
        let text = self.report.begin();
        self.print(&text)
    }

    /// Writes the fixes of a file, and reports the rest of its findings.
    fn file(&mut self, mut file: Checked, diagrams: Diagrams) -> Result<(), Failure> {
        self.output.check_is_not(&file.name)?;
        if file.machine_count + file.drawing_count > 0 || !file.diagnostics.is_empty() {
            self.specs.insert(file.name.clone());
        }
        if self.only.is_some_and(|only| !only.contains(&file.name)) {
            self.tally.fails |= self.fails(&file.diagnostics);
            return Ok(());
        }
        if let Some(fixes) = file.fixes.take() {
            self.tally.add_fixes(&fixes);
            self.apply(&file.name, &fixes)?;
        } else if self.args.fix && file.name == self.args.stdin_filename {
            self.pass_through(&file);
        }
        let is_named = self.args.names(&file.name);
        self.tally.add_file(&file, is_named, diagrams);
        let findings = std::mem::take(&mut file.diagnostics);
        self.tally.fails |= self.fails(&findings);
        let findings = self.choose(findings);
        self.tally.add_findings(&findings);
        if self.args.diff || self.args.statistics {
            return Ok(());
        }
        // A suite of tests also says what has passed.
        if findings.is_empty() && file.machine_count + file.drawing_count == 0 {
            return Ok(());
        }
        let text = self.report.file(&file.name, &findings, &file.sources);
        self.print(&text)
    }

    /// Reports whether one of some findings makes the exit code 1.
    fn fails(&self, findings: &[Diagnostic]) -> bool {
        let fail_on = self.args.fail_on();
        findings.iter().any(|it| fail_on.fails(it.severity))
    }

    /// Returns the findings that are shown, and counts the others.
    fn choose(&mut self, findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let shows_hints = self.args.shows_hints(self.format);
        let (mut shown, hidden): (Vec<Diagnostic>, Vec<Diagnostic>) = findings
            .into_iter()
            .partition(|it| shows_hints || it.severity > Severity::Hint);
        self.tally.hidden_hints += hidden.len();
        if let Some(most) = self.args.max_diagnostics {
            let left = most.saturating_sub(self.tally.listed);
            self.tally.unlisted += shown.len().saturating_sub(left);
            if !self.args.statistics {
                shown.truncate(left);
            }
        }
        self.tally.listed += shown.len();
        shown
    }

    /// Shows or writes what the fixes of a file change.
    fn apply(&mut self, name: &str, fixes: &FileFixes) -> Result<(), Failure> {
        if self.args.diff {
            let diff = unified_diff(name, &fixes.before, &fixes.after);
            self.printer.result(&diff);
            return Ok(());
        }
        match &fixes.path {
            Some(path) if fixes.before != fixes.after => {
                files::rewrite(path, fixes.after.as_bytes())
            }
            Some(_) => Ok(()),
            None => {
                self.printer.content(fixes.after.as_bytes());
                Ok(())
            }
        }
    }

    /// Prints the text of standard input, which has nothing to fix.
    fn pass_through(&mut self, file: &Checked) {
        if let Some((_, source)) = file.sources.iter().next() {
            self.printer.content(source.text().as_bytes());
        }
    }

    fn finish(mut self) -> Result<Look, Failure> {
        let specs = std::mem::take(&mut self.specs);
        if self.args.diff {
            let status = ExitStatus::clean_if(self.tally.fixed == 0);
            self.tally.print_diff_closing(self.args, self.printer);
            return Ok(Look { status, specs });
        }
        if self.args.statistics {
            let text = self.tally.statistics(self.format);
            self.print(&text)?;
        } else {
            let text = self.report.finish();
            self.print(&text)?;
        }
        let has_findings = self.tally.listed > 0;
        let is_on_screen = self.args.output_file.is_none() && !self.args.statistics;
        self.output.finish()?;
        if self.format == ReportFormat::Full && has_findings && is_on_screen {
            self.printer.remark("\n");
        }
        if self.tally.is_empty() {
            self.tally.others = unchecked_diagrams(self.args)?;
        }
        self.tally.print_closing(self.args, self.printer);
        let status = ExitStatus::clean_if(!self.tally.fails);
        Ok(Look { status, specs })
    }

    /// Prints a part of the report.
    fn print(&mut self, text: &str) -> Result<(), Failure> {
        let is_remark = self.args.fix && self.args.reads_stdin();
        self.output.write(text, is_remark, self.printer)
    }
}

impl LintArgs {
    /// Returns the diagrams of the arguments, else of the project.
    fn diagrams(&self) -> Result<Diagrams, Failure> {
        match self.diagrams {
            Some(diagrams) => Ok(diagrams),
            None if self.isolated => Ok(Diagrams::Sections),
            None => project::diagrams(),
        }
    }

    /// Returns the rules of the project, with those of the arguments.
    fn rules(&self) -> Result<Rules, Failure> {
        if !self.isolated {
            return project::lint_rules(&self.select, &self.ignore);
        }
        let here = project::current_folder()?;
        let config = LintConfig::default().with_flags(&self.select, &self.ignore);
        Rules::new(&config, &here, &here)
    }

    /// Returns the settings that flags change: the key, the flag, and the value.
    fn settings(&self) -> Vec<(&str, &'static str, String)> {
        let mut settings = Vec::new();
        if !self.select.is_empty() {
            settings.push(("lint.select", "--select", self.select.join(", ")));
        }
        if !self.ignore.is_empty() {
            settings.push(("lint.ignore", "--ignore", self.ignore.join(", ")));
        }
        if let Some(diagrams) = self.diagrams.and_then(|it| it.to_possible_value()) {
            settings.push(("diagrams", "--diagrams", diagrams.get_name().to_owned()));
        }
        settings
    }

    /// Reports whether standard input is among the paths.
    fn reads_stdin(&self) -> bool {
        self.paths.iter().any(|path| path == Path::new("-"))
    }

    /// Reports whether a file was named, not met in a folder.
    fn names(&self, name: &str) -> bool {
        (name == self.stdin_filename && self.reads_stdin())
            || self.paths.iter().any(|path| files::display(path) == name)
    }
}

/// Returns the root of the repository, and the current folder.
fn root() -> Root {
    let Ok(here) = project::current_folder() else {
        return Root::default();
    };
    let root = find_working_copy(&here).unwrap_or(&here);
    Root::new(&files::display(root), &files::display(&here))
}

/// Returns the lines in which two texts of a file differ.
pub(super) fn unified_diff(name: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let (old, new) = (format!("a/{name}"), format!("b/{name}"));
    diff.unified_diff().header(&old, &new).to_string()
}
