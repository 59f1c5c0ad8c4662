//! The text of `lint` after its findings: files without a machine, counts, and what to do next.

use std::collections::BTreeMap;

use serde::Serialize;
use statemark_compiler::diag::apply::best_fix;
use statemark_compiler::diag::render::{ReportFormat, Summary, summary_line};
use statemark_compiler::diag::{Applicability, Code, Diagnostic, Severity};
use statemark_text::list::join;

use super::LintArgs;
use crate::printer::{Printer, count};
use crate::project::Diagrams;
use crate::specs::{Checked, FileFixes, no_machine_message};

/// The counts of a run of `lint`.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Set if a finding makes the exit code 1.
    pub(super) fails: bool,
    /// Hints that aren't shown.
    pub(super) hidden_hints: usize,
    /// Findings that are shown.
    pub(super) listed: usize,
    /// Findings past the most that are shown.
    pub(super) unlisted: usize,
    /// Findings that were fixed, or would be.
    pub(super) fixed: usize,
    /// Files with such findings.
    fixed_files: usize,
    /// The codes whose fixes were taken back.
    refused: Vec<Code>,
    summary: Summary,
    /// Findings with a safe fix, and with an unsafe one alone.
    fixable: (usize, usize),
    machines: usize,
    drawings: usize,
    /// Files with machines or diagrams.
    files: usize,
    /// Files with state diagrams that weren't checked, where nothing else was.
    pub(super) others: usize,
    /// Sentences about files that weren't checked, or have nothing to check.
    remarks: String,
    most_severe: Option<(Severity, Code)>,
    by_code: BTreeMap<Code, Statistic>,
}

/// The findings of a code.
#[derive(Clone, Copy, Debug, Default)]
struct Statistic {
    count: usize,
    fixable: usize,
}

/// The findings of a code, as JSON.
#[derive(Serialize)]
struct StatisticRow {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    count: usize,
    fixable: usize,
}

impl Tally {
    /// Counts a file; one that was named and has no machine is worth a sentence.
    pub(super) fn add_file(&mut self, file: &Checked, is_named: bool, diagrams: Diagrams) {
        if let Some(problem) = &file.problem {
            self.remarks += &format!("{problem}; it isn't checked\n");
            return;
        }
        self.machines += file.machine_count;
        self.drawings += file.drawing_count;
        let is_empty = file.machine_count + file.drawing_count == 0;
        self.files += usize::from(!is_empty);
        // Where something was found, such as a near miss, it has been said.
        if is_empty && is_named && file.diagnostics.is_empty() {
            self.remarks += &match diagrams {
                Diagrams::Sections => format!("{}\n", no_machine_message(&file.name)),
                Diagrams::All => format!(
                    "no state diagram in {}: no `mermaid` fence holds one, and a fence that is indented by four blanks is text\n",
                    file.name
                ),
            };
        }
    }

    /// Reports whether nothing was checked.
    pub(super) const fn is_empty(&self) -> bool {
        self.machines + self.drawings + self.unlisted + self.listed == 0
    }

    /// Counts the findings of a file that are shown.
    pub(super) fn add_findings(&mut self, findings: &[Diagnostic]) {
        self.summary = self.summary.plus(Summary::new(findings));
        for found in findings {
            let is_worse = self
                .most_severe
                .is_none_or(|(severity, _)| found.severity > severity);
            if is_worse {
                self.most_severe = Some((found.severity, found.code));
            }
            let row = self.by_code.entry(found.code).or_default();
            row.count += 1;
            match best_fix(found, Applicability::Unsafe).map(|fix| fix.applicability) {
                Some(Applicability::Safe) => self.fixable.0 += 1,
                Some(_) => self.fixable.1 += 1,
                None => continue,
            }
            row.fixable += 1;
        }
    }

    /// Counts the fixes of a file.
    pub(super) fn add_fixes(&mut self, fixes: &FileFixes) {
        self.fixed += fixes.fixed;
        self.fixed_files += usize::from(fixes.fixed > 0);
        self.refused.extend(&fixes.refused);
    }

    /// Returns how many findings each code has, the most frequent first.
    pub(super) fn statistics(&self, format: ReportFormat) -> String {
        let mut rows: Vec<(&Code, &Statistic)> = self.by_code.iter().collect();
        rows.sort_by_key(|(code, row)| (std::cmp::Reverse(row.count), **code));
        let rows: Vec<StatisticRow> = rows
            .into_iter()
            .map(|(code, row)| StatisticRow {
                code: code.id(),
                name: code.name(),
                severity: code.severity().name(),
                count: row.count,
                fixable: row.fixable,
            })
            .collect();
        if !format.is_for_people() {
            let text = serde_json::to_string_pretty(&rows).unwrap_or_default();
            return format!("{text}\n");
        }
        let width = rows.iter().map(|row| row.count.to_string().len()).max();
        let width = width.unwrap_or_default();
        let line = |row: &StatisticRow| {
            let fixable = match row.fixable {
                0 => String::new(),
                count => format!("  ({count} with a fix)"),
            };
            let StatisticRow {
                code,
                name,
                severity,
                count,
                ..
            } = row;
            format!("{count:>width$}  {code}  {severity:<7}  {name}{fixable}\n")
        };
        rows.iter().map(line).collect()
    }

    /// Says how much `--fix` would fix.
    pub(super) fn print_diff_closing(&self, args: &LintArgs, printer: &mut Printer) {
        printer.remark(&self.remarks);
        let words = match self.fixed {
            0 if args.unsafe_fixes => "no finding has a fix\n".to_owned(),
            0 => "no finding has a safe fix\n".to_owned(),
            _ => format!(
                "{} would be fixed in {}\n",
                self.fixed_findings(),
                self.fixed_places()
            ),
        };
        printer.remark(&words);
        self.print_refused(printer);
    }

    /// Says what was fixed and checked, how much was found, and what to do next.
    pub(super) fn print_closing(&self, args: &LintArgs, printer: &mut Printer) {
        let palette = printer.remark_palette();
        let mut words = self.remarks.clone();
        if self.fixed > 0 {
            let fixed = palette.good(&format!("fixed {}", self.fixed_findings()));
            words += &format!("{fixed} in {}\n", self.fixed_places());
        }
        if self.summary.total() > 0 {
            printer.remark(&words);
            printer.remark_findings(&summary_line(&self.summary, &printer.remark_style()));
            words = palette.dim(&(self.describe_fixes(args) + &self.describe_explain()));
        } else if self.machines + self.drawings > 0 && self.unlisted == 0 {
            let clean = palette.good("no findings");
            let files = count(self.files, "file");
            words += &format!("{clean} in {} ({files})\n", self.describe_checked());
        } else if words.is_empty() && self.unlisted == 0 && !args.watch {
            words.push_str("no spec found: no file has a heading `## STATE-MACHINE` with a mermaid state diagram; `statemark new NAME` begins one\n");
        }
        if self.others > 0 {
            let (files, have) = match self.others {
                1 => ("1 file".to_owned(), "has"),
                more => (count(more, "file"), "have"),
            };
            words += &format!(
                "{files} {have} state diagrams without that heading: `statemark lint --diagrams all` checks them\n"
            );
        }
        printer.remark(&words);
        if self.unlisted > 0 && !args.statistics {
            let more = count(self.unlisted, "finding");
            printer.remark(&palette.dim(&format!(
                "{more} not listed: --max-diagnostics lists more\n"
            )));
        }
        if self.hidden_hints > 0 {
            let hints = count(self.hidden_hints, "hint");
            let line = format!("{hints} not shown: statemark lint --hints\n");
            printer.remark(&palette.dim(&line));
        }
        self.print_refused(printer);
    }

    /// Says which fixes were taken back.
    fn print_refused(&self, printer: &mut Printer) {
        let mut codes: Vec<String> = self.refused.iter().map(ToString::to_string).collect();
        codes.dedup();
        if !codes.is_empty() {
            let line = format!(
                "the fix of {} wasn't applied: it would have broken the spec\n",
                join(&codes, "and")
            );
            printer.remark(&line);
        }
    }

    fn fixed_findings(&self) -> String {
        count(self.fixed, "finding")
    }

    fn fixed_places(&self) -> String {
        count(self.fixed_files, "file")
    }

    /// Returns what was checked: `2 machines and 1 other diagram`.
    fn describe_checked(&self) -> String {
        match (self.machines, self.drawings) {
            (machines, 0) => count(machines, "machine"),
            (0, drawings) => count(drawings, "diagram"),
            (machines, drawings) => format!(
                "{} and {}",
                count(machines, "machine"),
                count(drawings, "other diagram")
            ),
        }
    }

    /// Names the command that applies fixes.
    fn describe_fixes(&self, args: &LintArgs) -> String {
        // What is left after fixing needs a person, or the other flag.
        let safe = if args.fix { 0 } else { self.fixable.0 };
        let risky = match args.fix && args.unsafe_fixes {
            true => 0,
            false => self.fixable.1,
        };
        match (safe, risky) {
            (0, 0) => String::new(),
            (0, _) => "to apply fixes that may change what a machine accepts: statemark lint --fix --unsafe-fixes\n".to_owned(),
            (_, 0) => "to apply the fixes: statemark lint --fix\n".to_owned(),
            (_, risky) => format!("to apply the safe fixes: statemark lint --fix ({risky} more with --unsafe-fixes)\n"),
        }
    }

    /// Names the command that explains the most severe finding.
    fn describe_explain(&self) -> String {
        let code = self.most_severe.map_or("", |(_, code)| code.id());
        format!("for more about a finding: statemark explain {code}\n")
    }
}
