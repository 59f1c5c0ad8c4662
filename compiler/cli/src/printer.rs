//! The only place that prints.
//!
//! Results go to standard output, remarks to standard error. A reader that has gone away (`statemark … | head`) is no
//! error: the rest is dropped silently.

pub(crate) mod inline;
pub(crate) mod quoted;
pub(crate) mod screen;

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use serde::Serialize;
use statemark_compiler::diag::render::{INKS, Style};
use statemark_runs::maintenance::Progress;
use statemark_text::visible;

use crate::failure::{ExitStatus, Failure, system_message};

/// Longest line. Unit: characters. Why: a terminal and an editor side by side.
pub(crate) const WIDTH: usize = 100;

/// Use of color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    /// Also in a file or a pipe.
    Always,
    /// Not at all.
    Never,
}

/// Standard output and standard error.
pub(crate) struct Printer {
    results: BufWriter<AutoStream<io::Stdout>>,
    results_color: bool,
    remarks: AutoStream<io::Stderr>,
    remarks_color: bool,
}

impl Printer {
    /// Makes the printer of this process.
    pub(crate) fn new(when: ColorWhen) -> Self {
        let choice = match when {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        choice.write_global();
        let results = AutoStream::new(io::stdout(), AutoStream::choice(&io::stdout()));
        let remarks = AutoStream::new(io::stderr(), AutoStream::choice(&io::stderr()));
        Self {
            results_color: results.current_choice() != ColorChoice::Never,
            remarks_color: remarks.current_choice() != ColorChoice::Never,
            results: BufWriter::new(results),
            remarks,
        }
    }

    /// Prints a part of the result.
    pub(crate) fn result(&mut self, text: &str) {
        self.bytes(reveal_hidden(text).as_bytes());
    }

    /// Prints findings as a part of the result, as the compiler renders them.
    pub(crate) fn findings(&mut self, rendered: &str) {
        self.bytes(reveal_in_findings(rendered).as_bytes());
    }

    /// Prints findings as a remark, as the compiler renders them.
    pub(crate) fn remark_findings(&mut self, rendered: &str) {
        self.write_remark(&reveal_in_findings(rendered));
    }

    /// Prints content that somebody handed in: byte for byte, or with nothing hidden on a terminal.
    pub(crate) fn content(&mut self, bytes: &[u8]) {
        if io::stdout().is_terminal() {
            self.result(&String::from_utf8_lossy(bytes));
        } else {
            self.raw(bytes);
        }
    }

    /// Writes bytes as they are, after all results so far: what keeps colors out of files isn't between.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.flush();
        let mut out = io::stdout().lock();
        note_lost(out.write_all(bytes).and_then(|()| out.flush()));
    }

    /// Prints a part of the result that is shown as it is, but for colors where there are none.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        note_lost(self.results.write_all(bytes));
    }

    /// Prints a line of JSON as a part of the result.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        self.bytes(visible::json(&json_line(value)).as_bytes());
    }

    /// Prints a remark, after all results so far.
    pub(crate) fn remark(&mut self, text: &str) {
        self.write_remark(&reveal_hidden(text));
    }

    /// Writes a remark that has nothing hidden any more.
    fn write_remark(&mut self, text: &str) {
        self.flush();
        ignore_closed(self.remarks.write_all(text.as_bytes()));
        ignore_closed(self.remarks.flush());
    }

    /// Prints the reason of a refusal as a remark.
    pub(crate) fn refusal(&mut self, reason: &str) {
        let label = self.remark_palette().bad("refused:");
        self.remark(&format!("{label} {}\n", visible::line(reason)));
    }

    /// Prints what to do as a remark.
    pub(crate) fn help(&mut self, help: &str) {
        let label = self.remark_palette().dim("help:");
        self.remark(&format!("  {label} {help}\n"));
    }

    /// Prints why the command failed.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        let label = self.remark_palette().bad("error:");
        self.remark(&format!("{label} {failure}\n"));
        if let Some(help) = failure.help() {
            self.help(help);
        }
    }

    /// Writes out everything that was printed.
    pub(crate) fn flush(&mut self) {
        note_lost(self.results.flush());
    }

    /// Returns the style of findings among the results.
    pub(crate) const fn style(&self) -> Style {
        Style {
            color: self.results_color,
        }
    }

    /// Returns the style of findings among the remarks.
    pub(crate) const fn remark_style(&self) -> Style {
        Style {
            color: self.remarks_color,
        }
    }

    /// Returns the colors of results.
    pub(crate) const fn palette(&self) -> Palette {
        Palette {
            color: self.results_color,
        }
    }

    /// Returns the colors of remarks.
    pub(crate) const fn remark_palette(&self) -> Palette {
        Palette {
            color: self.remarks_color,
        }
    }
}

/// Prints help, the version, or what is wrong with the arguments.
pub(crate) fn print_clap_answer(answer: &clap::Error) -> ExitStatus {
    ignore_closed(answer.print());
    if answer.use_stderr() {
        ExitStatus::Failed
    } else {
        ExitStatus::Clean
    }
}

/// Prints a line of the log, which has been made visible.
///
/// It is written at once, so that lines of several threads don't mix.
pub(crate) fn print_log_line(line: &str) {
    ignore_closed(
        io::stderr()
            .lock()
            .write_all(format!("{line}\n").as_bytes()),
    );
}

/// Returns a text as it goes to a terminal, with hidden characters shown as what they are.
///
/// Our own commands to a terminal carry the mark of this process, which nobody else who writes a text can know: a color of
/// somebody's own could hide what a person decides on as well as concealment.
fn reveal_hidden(text: &str) -> Cow<'_, str> {
    let own = own_prefix();
    let shown = visible::lines(text, |rest| {
        let Some(code) = rest.strip_prefix(own) else {
            return 0;
        };
        let numbers = code.split_once('m').map_or("", |(numbers, _)| numbers);
        own.len() + numbers.len() + 1
    });
    if shown.contains(own) {
        return Cow::Owned(shown.replace(own, "\u{1b}["));
    }
    shown
}

/// Returns rendered findings as they go to a terminal.
///
/// The renderer has shown what is hidden in their texts already. Only the colors that it has are taken for its own.
fn reveal_in_findings(rendered: &str) -> Cow<'_, str> {
    visible::lines(rendered, |rest| {
        let ink = INKS.iter().find(|ink| rest.starts_with(**ink));
        ink.map_or(0, |ink| ink.len())
    })
}

/// Returns the beginning of our own commands to a terminal: theirs, and this process's mark.
fn own_prefix() -> &'static str {
    static PREFIX: OnceLock<String> = OnceLock::new();
    PREFIX.get_or_init(|| {
        // The standard library seeds each of these at random.
        let mark = RandomState::new().build_hasher().finish();
        format!("\u{1b}[{mark};")
    })
}

/// Reports whether somebody at a terminal types, and sees what is printed as a result.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Reports whether results go to a terminal.
pub(crate) fn is_result_at_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Reports whether an answer to a question is a yes.
pub(crate) fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// Asks a question at the terminal, and returns the line that was typed.
///
/// Returns none where nobody can be asked: standard input or standard error is no terminal.
pub(crate) fn ask(question: &str) -> Option<String> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    let mut out = anstream::stderr();
    ignore_closed(out.write_all(reveal_hidden(question).as_bytes()));
    ignore_closed(out.flush());
    let mut line = String::new();
    // What can't be read is no consent.
    if io::stdin().read_line(&mut line).is_err() {
        line.clear();
    }
    Some(line)
}

/// Asks for a secret at the terminal, which doesn't show what is typed.
///
/// Returns none where nobody can be asked, as [`ask`] does.
pub(crate) fn ask_secret(question: &str) -> Option<String> {
    let hidden = HiddenInput::begin();
    let line = ask(question);
    drop(hidden);
    if line.is_some() {
        // The line break that was typed wasn't shown either.
        ignore_closed(anstream::stderr().write_all(b"\n"));
    }
    line.map(|line| line.trim_end_matches(['\r', '\n']).to_owned())
}

/// A terminal that doesn't show what is typed, until this is dropped.
#[cfg(unix)]
struct HiddenInput(Option<rustix::termios::Termios>);

#[cfg(unix)]
impl HiddenInput {
    fn begin() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let stdin = io::stdin();
        let before = tcgetattr(&stdin).ok();
        if let Some(before) = &before {
            let mut quiet = before.clone();
            quiet.local_modes.remove(LocalModes::ECHO);
            // A terminal that can't be told shows the secret to its owner alone.
            let _ = tcsetattr(&stdin, OptionalActions::Now, &quiet);
        }
        Self(before)
    }
}

#[cfg(unix)]
impl Drop for HiddenInput {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(before) = &self.0 {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// No terminal of such a system can be told.
#[cfg(not(unix))]
struct HiddenInput;

#[cfg(not(unix))]
impl HiddenInput {
    const fn begin() -> Self {
        Self
    }
}

/// The reason for which results were lost, if any were: a full disk, for example.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Ignores that a terminal or a pipe takes no more text: nobody is left to read of it.
fn ignore_closed(outcome: io::Result<()>) {
    drop(outcome);
}

/// Remembers that results were lost, unless it is a reader that has gone away.
fn note_lost(outcome: io::Result<()>) {
    if let Err(error) = outcome
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        // The first reason is the one to be told.
        drop(LOST.set(error));
    }
}

/// Makes the failure of results that couldn't be written.
pub(crate) fn lost_results() -> Option<Failure> {
    let error = LOST.get()?;
    let message = system_message(error);
    Some(Failure::new(format!(
        "standard output can't be written: {message}"
    )))
}

/// Returns a value as a line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    format!("{}\n", serde_json::to_string(value).unwrap_or_default())
}

/// Returns a count with its noun: `1 file`, `2 files`.
pub(crate) fn count(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns the first line that isn't blank, without the marks of a heading or a list.
pub(crate) fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let plain = line.trim_start_matches(['#', '-', '*', '>', ' ']);
    Some(plain.to_owned())
}

/// Returns a text cut to a width, with `…` as its last character where something was cut.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    statemark_text::shorten::shorten(text, width.saturating_sub(1))
}

/// Wraps a text into lines of a width, which is at least one; a longer word is broken.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let letters: Vec<char> = word.chars().collect();
        let mut pieces = letters.chunks(width.max(1)).map(String::from_iter);
        let first = pieces.next().unwrap_or_default();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + first.chars().count() <= width => {
                line.push(' ');
                line.push_str(&first);
            }
            _ => lines.push(first),
        }
        lines.extend(pieces);
    }
    lines
}

/// Returns rows of two columns, the second one aligned.
pub(crate) fn columns(rows: &[(String, String)], palette: Palette) -> String {
    let width = rows.iter().map(|(first, _)| first.chars().count()).max();
    let width = width.unwrap_or(0);
    let row = |(first, second): &(String, String)| {
        let blanks = " ".repeat(width - first.chars().count());
        format!(
            "  {}{blanks}  {}\n",
            palette.event(first),
            palette.dim(second)
        )
    };
    rows.iter().map(row).collect()
}

/// The colors of the command line's own texts, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    color: bool,
}

impl Palette {
    /// Paints a title or the name of a state.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Paints a side remark.
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Paints an event or a command: something that one can do.
    pub(crate) fn event(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// Paints a guard: something that must hold.
    pub(crate) fn guard(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Paints a success.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Paints a failure or a refusal.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    fn paint(self, codes: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            let own = own_prefix();
            format!("{own}{codes}m{text}{own}0m")
        } else {
            text.to_owned()
        }
    }
}

/// Time before progress is shown. Why: shorter work is done before anybody asks.
const QUIET: Duration = Duration::from_secs(1);

/// Time between two updates on a terminal. Why: people see ten steps a second as one movement.
const TERMINAL_PAUSE: Duration = Duration::from_millis(100);

/// Time between two updates in a file or a pipe. Why: the log of an hour has a few hundred lines.
const LOG_PAUSE: Duration = Duration::from_secs(10);

/// Width of the bar. Unit: characters.
const BAR_WIDTH: u64 = 24;

/// A progress bar on standard error, for work that takes longer than a second.
pub(crate) struct ProgressBar<'p> {
    printer: &'p mut Printer,
    /// The work, such as `verifying`.
    work: &'static str,
    unit: Unit,
    began: Instant,
    updated: Option<Instant>,
    /// The characters that stand in the terminal's line.
    width: usize,
    is_terminal: bool,
}

/// The unit of progress.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    Records,
    Runs,
    Tokens,
    Pages,
    Bytes,
}

impl<'p> ProgressBar<'p> {
    /// Makes a bar that isn't shown yet.
    pub(crate) fn new(printer: &'p mut Printer, work: &'static str, unit: Unit) -> Self {
        Self {
            printer,
            work,
            unit,
            began: Instant::now(),
            updated: None,
            width: 0,
            is_terminal: io::stderr().is_terminal(),
        }
    }

    /// Shows the progress, if it is time to.
    pub(crate) fn update(&mut self, progress: Progress) {
        let now = Instant::now();
        let pause = self.updated.map(|updated| now.duration_since(updated));
        if !is_due(now.duration_since(self.began), pause, self.is_terminal) {
            return;
        }
        self.updated = Some(now);
        let line = progress_line(self.work, self.unit, progress);
        self.printer.write_remark(&if self.is_terminal {
            format!("{}{line}", blank(self.width))
        } else {
            format!("{line}\n")
        });
        self.width = line.len();
    }
}

impl Drop for ProgressBar<'_> {
    /// Clears the line.
    fn drop(&mut self) {
        if self.is_terminal && self.updated.is_some() {
            self.printer.write_remark(&blank(self.width));
        }
    }
}

/// A progress bar below the lines of work that goes on; on a terminal alone.
pub(crate) struct Footer<'p> {
    printer: &'p mut Printer,
    line: Option<String>,
    is_terminal: bool,
}

impl<'p> Footer<'p> {
    /// Makes a bar that isn't shown yet.
    pub(crate) fn new(printer: &'p mut Printer) -> Self {
        Self {
            printer,
            line: None,
            is_terminal: io::stderr().is_terminal(),
        }
    }

    /// Prints a line above the bar.
    pub(crate) fn remark(&mut self, text: &str) {
        self.clear();
        self.printer.remark(text);
        self.draw();
    }

    /// Prints a value as a line of the result.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        self.printer.json(value);
        self.printer.flush();
    }

    /// Shows how far the work has come.
    pub(crate) fn show(&mut self, work: &str, unit: Unit, progress: Progress) {
        if self.is_terminal {
            self.clear();
            self.line = Some(progress_line(work, unit, progress));
            self.draw();
        }
    }

    fn clear(&mut self) {
        if let Some(line) = &self.line {
            self.printer.write_remark(&blank(line.len()));
        }
    }

    fn draw(&mut self) {
        if let Some(line) = &self.line {
            self.printer.write_remark(line);
        }
    }
}

impl Drop for Footer<'_> {
    /// Clears the line.
    fn drop(&mut self) {
        self.clear();
    }
}

/// Returns what blanks the beginning of a terminal's line, and goes back to it.
///
/// Where no colors are wanted no codes are written, and the one that clears a line is such a code.
fn blank(width: usize) -> String {
    format!("\r{}\r", " ".repeat(width))
}

/// Reports whether progress is to be shown, by the time since the beginning and since the last update.
fn is_due(since_began: Duration, since_updated: Option<Duration>, is_terminal: bool) -> bool {
    let pause = if is_terminal {
        TERMINAL_PAUSE
    } else {
        LOG_PAUSE
    };
    since_updated.map_or(since_began >= QUIET, |since| since >= pause)
}

fn progress_line(work: &str, unit: Unit, Progress { done, total }: Progress) -> String {
    let (scale, unit) = match unit {
        Unit::Records => (1, "records"),
        Unit::Runs => (1, "runs"),
        Unit::Tokens => (1, "tokens"),
        Unit::Pages => (1, "pages"),
        Unit::Bytes => (1 << 20, "MiB"),
    };
    if total == 0 {
        return format!("{work}: {} {unit}", done / scale);
    }
    let done = done.min(total);
    let filled = done.saturating_mul(BAR_WIDTH) / total;
    let percent = done.saturating_mul(100) / total;
    let marks = |count: u64, mark: &str| mark.repeat(usize::try_from(count).unwrap_or(0));
    format!(
        "{work} [{}{}] {percent:>3} %  {} of {} {unit}",
        marks(filled, "#"),
        marks(BAR_WIDTH.saturating_sub(filled), "-"),
        done / scale,
        total / scale
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_work_shows_no_progress() {
        let after = Duration::from_millis;
        assert!(!is_due(after(999), None, true));
        assert!(!is_due(after(999), None, false));
        assert!(is_due(after(1_000), None, true));
        assert!(is_due(after(1_000), None, false));
        assert!(!is_due(after(5_000), Some(after(99)), true));
        assert!(is_due(after(5_000), Some(after(100)), true));
        assert!(!is_due(after(9_000), Some(after(8_000)), false));
        assert!(is_due(after(11_000), Some(after(10_000)), false));
    }

    #[test]
    fn a_line_shows_the_progress() {
        let at = |done, total| Progress { done, total };
        assert_eq!(
            progress_line("verifying", Unit::Records, at(500, 2_000)),
            "verifying [######------------------]  25 %  500 of 2000 records"
        );
        assert_eq!(
            progress_line("reading", Unit::Bytes, at(3 << 20, 0)),
            "reading: 3 MiB"
        );
        assert_eq!(
            progress_line("verifying", Unit::Records, at(7, 5)),
            "verifying [########################] 100 %  5 of 5 records"
        );
    }

    #[test]
    fn no_line_is_too_wide() {
        assert_eq!(wrap("a bc def ghijklm", 4), ["a bc", "def", "ghij", "klm"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("abcd", 4), "abcd");
    }

    #[test]
    fn the_first_line_is_plain() {
        assert_eq!(
            first_line("\n## A title\n\ntext").as_deref(),
            Some("A title")
        );
        assert_eq!(first_line(" \n"), None);
    }
}
