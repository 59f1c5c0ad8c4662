//! How far something has come, on standard error: said of what takes longer than a second.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use statemark_runs::maintenance::Progress;

use crate::printer::Printer;

/// What takes no longer is done before anybody asks.
const QUIET: Duration = Duration::from_secs(1);

/// How often a terminal shows how far it is. Why: people see ten steps a second as one movement.
const ON_TERMINAL: Duration = Duration::from_millis(100);

/// How often a file or a pipe is told. Why: a log of an hour has a few hundred lines.
const ELSEWHERE: Duration = Duration::from_secs(10);

/// Width of the bar. Unit: characters.
const WIDTH: u64 = 24;

/// Says how far something has come.
pub(crate) struct Bar<'p> {
    printer: &'p mut Printer,
    /// What is done, such as `verifying`.
    doing: &'static str,
    unit: Unit,
    begun: Instant,
    said: Option<Instant>,
    is_terminal: bool,
}

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    Records,
    Runs,
    Pages,
    Bytes,
}

impl<'p> Bar<'p> {
    pub(crate) fn new(printer: &'p mut Printer, doing: &'static str, unit: Unit) -> Self {
        Self {
            printer,
            doing,
            unit,
            begun: Instant::now(),
            said: None,
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// So far it has come.
    pub(crate) fn tell(&mut self, progress: Progress) {
        let now = Instant::now();
        let since = self.said.map(|said| now.duration_since(said));
        if !is_due(now.duration_since(self.begun), since, self.is_terminal) {
            return;
        }
        self.said = Some(now);
        let line = line(self.doing, self.unit, progress);
        let text = if self.is_terminal {
            format!("\r\u{1b}[K{line}")
        } else {
            format!("{line}\n")
        };
        self.printer.talk(&text);
    }
}

impl Drop for Bar<'_> {
    /// What comes behind it stands at the beginning of a line.
    fn drop(&mut self) {
        if self.is_terminal && self.said.is_some() {
            self.printer.talk("\r\u{1b}[K");
        }
    }
}

/// Whether it is time to say something, so long after the beginning and after the last word.
fn is_due(since_begun: Duration, since_said: Option<Duration>, is_terminal: bool) -> bool {
    let pause = if is_terminal { ON_TERMINAL } else { ELSEWHERE };
    since_said.map_or(since_begun >= QUIET, |since| since >= pause)
}

fn line(doing: &str, unit: Unit, Progress { done, total }: Progress) -> String {
    let (scale, unit) = match unit {
        Unit::Records => (1, "records"),
        Unit::Runs => (1, "runs"),
        Unit::Pages => (1, "pages"),
        Unit::Bytes => (1 << 20, "MiB"),
    };
    if total == 0 {
        return format!("{doing}: {} {unit}", done / scale);
    }
    let done = done.min(total);
    let filled = done.saturating_mul(WIDTH) / total;
    let percent = done.saturating_mul(100) / total;
    let marks = |count: u64, mark: &str| mark.repeat(usize::try_from(count).unwrap_or(0));
    format!(
        "{doing} [{}{}] {percent:>3} %  {} of {} {unit}",
        marks(filled, "#"),
        marks(WIDTH.saturating_sub(filled), "-"),
        done / scale,
        total / scale
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quick_says_nothing() {
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
    fn a_line_says_how_far_it_is() {
        let at = |done, total| Progress { done, total };
        assert_eq!(
            line("verifying", Unit::Records, at(500, 2_000)),
            "verifying [######------------------]  25 %  500 of 2000 records"
        );
        assert_eq!(
            line("reading", Unit::Bytes, at(3 << 20, 0)),
            "reading: 3 MiB"
        );
        assert_eq!(
            line("verifying", Unit::Records, at(7, 5)),
            "verifying [########################] 100 %  5 of 5 records"
        );
    }
}
