//! `lint --watch`: what changed is checked again, until somebody ends it.
//!
//! Files are looked at again and again, by their size and the time of their last change. A system's own messages would
//! come a moment sooner; but they need a watch for each folder, which systems limit, and none come from folders that
//! another machine or a container shares. The pause between two looks grows with what a look costs, so that large
//! repositories cost no more than small ones.
//!
//! Nothing is cleared: what was printed stays where it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use statemark_compiler::diag::render::ReportFormat;

use super::{LintArgs, Look, look};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::{Printer, count};
use crate::project::{self, CONFIG_FILE, Diagrams};
use crate::search::{self, Stamp, stamp};
use crate::signals;
use crate::specs::may_be_spec;
use crate::upward;

/// Least pause between two looks. Why: a person who saves a file sees the answer at once.
const PAUSE: Duration = Duration::from_millis(50);

/// Wait between two looks, as a multiple of the time that a look takes.
///
/// Why: looking takes a twentieth of a core at most.
const REST: u32 = 20;

/// Most looks until files are still. Why: somebody who writes without end is answered, too.
const MAX_SETTLING: usize = 20;

/// Most names in a line. Why: after a change of branch there are hundreds.
const MAX_NAMES: usize = 3;

/// Files that change what all others mean.
const OF_ALL: [&str; 3] = [CONFIG_FILE, ".gitignore", ".statemarkignore"];

/// Checks files, and those that change, until the process is asked to end.
///
/// The exit code is that of the files as they were last.
pub(super) fn run(args: &LintArgs, format: ReportFormat, printer: &mut Printer) -> CommandResult {
    if args.reads_stdin() {
        return Err(
            Failure::new("standard input can't be watched").with_help("name files or folders")
        );
    }
    let is_asked = signals::watch_end()?;
    let mut seen = Snapshot::take(&args.paths);
    let mut last = report(args, format, None, printer);
    printer.remark("watching for changes; Ctrl-C ends it\n");
    while let Some(mut changes) = wait(&mut seen, &args.paths, &is_asked) {
        let diagrams = args.diagrams().unwrap_or(Diagrams::Sections);
        changes.retain_specs(&last.specs, &seen, diagrams);
        if changes.is_nothing() {
            continue;
        }
        printer.remark(&format!("\n{}\n", changes.describe()));
        // A report for programs is whole each time, and one for people has what is new.
        let is_whole = changes.is_of_all || !format.is_for_people() || args.output_file.is_some();
        let only = (!is_whole).then_some(&changes.changed);
        last = report(args, format, only, printer);
    }
    Ok(last.status)
}

/// Reports findings, or why there are none: it may be mended with the next change.
fn report(
    args: &LintArgs,
    format: ReportFormat,
    only: Option<&BTreeSet<String>>,
    printer: &mut Printer,
) -> Look {
    look(args, format, only, printer).unwrap_or_else(|failure| {
        printer.failure(&failure);
        Look {
            status: ExitStatus::Failed,
            specs: BTreeSet::new(),
        }
    })
}

/// The changes between two looks.
struct Changes {
    /// The names of the files that are there.
    changed: BTreeSet<String>,
    /// The names of those that aren't any more.
    gone: BTreeSet<String>,
    /// True if it changes what other files mean.
    is_of_all: bool,
}

impl Changes {
    /// Leaves out files that are no specs, and were none.
    fn retain_specs(&mut self, known: &BTreeSet<String>, seen: &Snapshot, diagrams: Diagrams) {
        let is_of_all = |name: &str| OF_ALL.iter().any(|it| Path::new(name).ends_with(it));
        self.changed.retain(|name| {
            let is_spec = || {
                let path = seen.files.get(name).map(|(path, _)| path);
                path.is_some_and(|path| may_be_spec(name, path, diagrams))
            };
            known.contains(name) || is_of_all(name) || is_spec()
        });
        self.gone
            .retain(|name| known.contains(name) || is_of_all(name));
    }

    fn is_nothing(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty()
    }

    fn describe(&self) -> String {
        let line = |names: &BTreeSet<String>, verb: &str| {
            if names.len() > MAX_NAMES {
                return Some(format!("{} {verb}", count(names.len(), "file")));
            }
            let names: Vec<String> = names.iter().cloned().collect();
            (!names.is_empty()).then(|| format!("{} {verb}", names.join(", ")))
        };
        let gone = if self.gone.len() == 1 {
            "is gone"
        } else {
            "are gone"
        };
        let lines = [line(&self.changed, "changed"), line(&self.gone, gone)];
        let lines: Vec<String> = lines.into_iter().flatten().collect();
        lines.join("; ")
    }
}

/// Files as they were at a look.
#[derive(Debug, PartialEq, Eq)]
struct Snapshot {
    /// Their paths and stamps, by their names.
    files: BTreeMap<String, (PathBuf, Option<Stamp>)>,
}

impl Snapshot {
    fn take(paths: &[PathBuf]) -> Self {
        // What can't be read is said when it is checked.
        let found = search::find(paths).unwrap_or_default();
        let found = found.into_iter().map(|file| (file.name, file.path));
        let here = project::current_folder().unwrap_or_default();
        let above = OF_ALL.iter().filter_map(|name| upward::find(&here, name));
        let named = above.map(|path| (files::display(&path), path));
        let stamped = found.chain(named).map(|(name, path)| {
            let stamp = stamp(&path);
            (name, (path, stamp))
        });
        Self {
            files: stamped.collect(),
        }
    }

    /// Returns what has changed until a later look.
    fn changes(&self, later: &Self) -> Changes {
        let differs = |name: &&String| self.files.get(*name) != later.files.get(*name);
        let changed = later.files.keys().filter(differs);
        let gone = self
            .files
            .keys()
            .filter(|name| !later.files.contains_key(*name));
        let changes = Changes {
            changed: changed.cloned().collect(),
            gone: gone.cloned().collect(),
            is_of_all: false,
        };
        let mut all = changes.changed.iter().chain(&changes.gone);
        let is_of_all = all.any(|name| OF_ALL.iter().any(|it| Path::new(name).ends_with(it)));
        Changes {
            is_of_all,
            ..changes
        }
    }
}

/// Waits until something has changed and is still; `None` if the process was asked to end.
fn wait(seen: &mut Snapshot, paths: &[PathBuf], is_asked: &impl Fn() -> bool) -> Option<Changes> {
    let mut pause = PAUSE;
    loop {
        let end = Instant::now() + pause;
        while Instant::now() < end {
            if is_asked() {
                return None;
            }
            std::thread::sleep(PAUSE.min(end.saturating_duration_since(Instant::now())));
        }
        let begin = Instant::now();
        let mut now = Snapshot::take(paths);
        pause = PAUSE.max(begin.elapsed() * REST);
        if now == *seen {
            continue;
        }
        // An editor may write a file in several steps.
        for _ in 0..MAX_SETTLING {
            std::thread::sleep(PAUSE / 2);
            let next = Snapshot::take(paths);
            let is_still = next == now;
            now = next;
            if is_still {
                break;
            }
        }
        let changes = seen.changes(&now);
        *seen = now;
        if !changes.is_nothing() {
            return Some(changes);
        }
    }
}
