//! The search for files that may be specs, and what is left out of it.
//!
//! Folders are walked by `ignore`, as ripgrep walks them. What it would read without a bound is looked at here before.
//!
//! What to rely on: a list of ignored files above a folder counts if it is the project's ([`upward`]); what can't be looked
//! into is told, not passed over.
//!
//! Deliberately not here: what is in a spec.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ignore::WalkBuilder;
use statemark_runs::files::{NotAFile, read_regular};
use statemark_runs::find_working_copy;

use crate::failure::Failure;
use crate::files::{display, spell, unreadable};
use crate::project::current_folder;
use crate::upward;

/// The endings of files that may be specs.
const SPEC_ENDINGS: [&str; 6] = [
    ".md",
    ".markdown",
    ".workflow.json",
    ".mmd",
    ".mermaid",
    ".scxml",
];

/// A file that may be a spec.
#[derive(Clone, Debug)]
pub(crate) struct FoundFile {
    /// Its name, as diagnostics have it.
    pub(crate) name: String,
    /// Its path, for the system.
    pub(crate) path: PathBuf,
    /// True if it was named on the command line, not met in a folder.
    pub(crate) named: bool,
    /// The sentence that says why it can't be read; it may be a folder then.
    pub(crate) problem: Option<String>,
}

impl FoundFile {
    /// Returns what was met at a path and can't be read, which is no reason to give up the rest.
    fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self {
            name: display(path),
            path: path.to_owned(),
            named: false,
            problem: Some(unreadable(path, error).to_string()),
        }
    }
}

/// Finds the files that some paths mean, sorted by path, each once.
///
/// A file is taken as it is, a folder with every file below it that may be a spec by its name. Folders below that can't be
/// read are among them, with the reason.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Vec<FoundFile>, Failure> {
    let mut found: Vec<FoundFile> = Vec::new();
    for path in paths {
        let facts = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if facts.is_dir() {
            walk(path, &mut found)?;
        } else {
            found.push(FoundFile {
                name: display(path),
                path: path.clone(),
                named: true,
                problem: None,
            });
        }
    }
    // A file that was named and is in a named folder, too, counts as named.
    found.sort_by(|one, other| (&one.name, !one.named).cmp(&(&other.name, !other.named)));
    found.dedup_by(|later, earlier| {
        later.name == earlier.name && spell(&later.path) == spell(&earlier.path)
    });
    Ok(found)
}

/// Finds the files that some paths name, as they would be met in the current folder.
///
/// So those that are ignored there are left out. What lies elsewhere is taken as it is.
pub(crate) fn find_wanted(paths: &[PathBuf]) -> Result<Vec<FoundFile>, Failure> {
    let mut found = find(paths)?;
    let is_here = |file: &FoundFile| {
        let mut parts = file.path.components();
        file.path.is_relative() && parts.all(|part| part != Component::ParentDir)
    };
    if !found.iter().any(|file| file.named && is_here(file)) {
        return Ok(found);
    }
    let met = find(&[PathBuf::from(".")])?;
    found.retain(|file| {
        let is_met = || met.binary_search_by(|it| it.name.cmp(&file.name)).is_ok();
        !file.named || !is_here(file) || is_met()
    });
    for file in &mut found {
        file.named &= !is_here(file);
    }
    Ok(found)
}

fn walk(folder: &Path, found: &mut Vec<FoundFile>) -> Result<(), Failure> {
    let real = folder.canonicalize();
    let real = real.map_err(|error| unreadable(folder, &error))?;
    let mut lists = Lists::default();
    for above in real.ancestors() {
        let checked = lists.check(above);
        checked.map_err(|(path, error)| unreadable(&path, &error))?;
    }
    let mut walk = builder(folder, &real)?;
    let passed_over = Arc::new(Mutex::new((lists, Vec::new())));
    let pass_over = Arc::clone(&passed_over);
    walk.filter_entry(move |entry| {
        if entry.file_name() == ".git" {
            return false;
        }
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
            return true;
        }
        let mut passed_over = pass_over.lock().unwrap_or_else(PoisonError::into_inner);
        let (lists, problems) = &mut *passed_over;
        let Err((path, error)) = lists.check(entry.path()) else {
            return true;
        };
        problems.push(FoundFile::unreadable(&path, &error));
        false
    });
    let is_top = |path: &Path| path == folder || path == real;
    for entry in walk.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let (path, error) = take_path_apart(error, folder);
                if is_top(&path) {
                    return Err(unreadable(folder, &error));
                }
                found.push(FoundFile::unreadable(&path, &error));
                continue;
            }
        };
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && may_be_spec(entry.path()) {
            // As the caller names it: the walk may have gone by the real path.
            let path = match entry.path().strip_prefix(&real) {
                Ok(below) => folder.join(below),
                Err(_) => entry.into_path(),
            };
            found.push(FoundFile {
                name: display(&path),
                path,
                named: false,
                problem: None,
            });
        }
    }
    let mut passed_over = passed_over.lock().unwrap_or_else(PoisonError::into_inner);
    found.append(&mut passed_over.1);
    Ok(())
}

/// Prepares a walk through a folder, whose real path is known.
fn builder(folder: &Path, real: &Path) -> Result<WalkBuilder, Failure> {
    let mut above: Vec<&Path> = real.ancestors().skip(1).collect();
    above.reverse();
    let lists = |folder: &Path| IGNORE_FILES.map(|name| folder.join(name));
    let is_foreign = |list: &PathBuf| list.exists() && !upward::is_own(list, real);
    let has_foreign = above.iter().any(|it| lists(it).iter().any(is_foreign));
    let mut walk = WalkBuilder::new(if has_foreign { real } else { folder });
    // Agents keep their skills in hidden folders; `.git` has no specs.
    walk.hidden(false)
        .require_git(false)
        // So that the same folders are beyond a limit each time.
        .sort_by_file_name(OsStr::cmp)
        .add_custom_ignore_filename(IGNORE_FILE);
    if has_foreign {
        // The library takes all lists above, or none: ours are added one by one.
        walk.parents(false);
        let top = find_working_copy(real);
        for folder in above {
            walk.current_dir(folder);
            let is_in_repository = top.is_none_or(|top| folder.starts_with(top));
            let counts = |list: &PathBuf| {
                list.exists()
                    && upward::is_own(list, real)
                    && (is_in_repository || list.file_name() != Some(OsStr::new(GIT_IGNORE)))
            };
            for list in lists(folder).iter().filter(|list| counts(list)) {
                // What it can't take of a list, it leaves out in any other walk, too.
                let _ = walk.add_ignore(list);
            }
        }
        walk.current_dir(current_folder()?);
    }
    Ok(walk)
}

/// The names of the files that list what isn't looked at; a later one counts more.
const IGNORE_FILES: [&str; 3] = [GIT_IGNORE, ".ignore", IGNORE_FILE];

/// The file that lists what git leaves alone.
const GIT_IGNORE: &str = ".gitignore";

/// The file that lists what isn't looked at here alone.
const IGNORE_FILE: &str = ".statemarkignore";

/// Most bytes of a file that lists what isn't looked at, and of the files that lead to one.
///
/// Why: people write them by hand, and some thousand lines fit.
const MAX_IGNORE_FILE: u64 = 128 << 10;

/// Most bytes of all such files of a walk.
///
/// Why: a pattern costs 500 times its size in memory. One of 500 bytes in each of 2,000 folders fits.
const MAX_IGNORE_FILES: u64 = 1 << 20;

/// The lists of ignored files that a walk reads.
#[derive(Default)]
struct Lists {
    /// Their size until now. Unit: bytes.
    size: u64,
}

impl Lists {
    /// Checks that a folder's lists can be read, before the walker reads them.
    ///
    /// It would wait for a pipe, and read a device without end.
    fn check(&mut self, folder: &Path) -> Result<(), (PathBuf, io::Error)> {
        for name in IGNORE_FILES {
            self.check_file(folder.join(name))?;
        }
        let mut git = folder.join(".git");
        // A working copy beside others has a file there, which leads to a folder, which may lead to another.
        let line = |path: &Path| {
            let text = read_regular(path, MAX_IGNORE_FILE).ok().flatten()?;
            text.lines().next().map(str::to_owned)
        };
        if git.is_file() {
            self.check_file(git.clone())?;
            let own = line(&git).and_then(|it| it.strip_prefix("gitdir: ").map(PathBuf::from));
            let own = own.unwrap_or_default();
            self.check_file(own.join("commondir"))?;
            // As the walker finds it: only what begins with a dot is meant from there on.
            git = match line(&own.join("commondir")) {
                Some(common) if common.starts_with('.') => own.join(common),
                Some(common) => PathBuf::from(common),
                None => return Ok(()),
            };
        }
        self.check_file(git.join("info/exclude"))
    }

    fn check_file(&mut self, path: PathBuf) -> Result<(), (PathBuf, io::Error)> {
        let facts = match fs::metadata(&path) {
            Ok(facts) if !facts.is_dir() => facts,
            // Whatever else is wrong with it, reading it says so at once.
            _ => return Ok(()),
        };
        if !facts.is_file() {
            return Err((path, NotAFile::Special.into()));
        }
        if facts.len() > MAX_IGNORE_FILE {
            let max = MAX_IGNORE_FILE;
            return Err((path, NotAFile::TooLarge { max }.into()));
        }
        self.size = self.size.saturating_add(facts.len());
        if self.size > MAX_IGNORE_FILES {
            let message = format!(
                "with it, the lists of ignored files have more than {MAX_IGNORE_FILES} bytes"
            );
            return Err((path, io::Error::other(message)));
        }
        Ok(())
    }
}

/// Returns the path that an error of a walk through a folder is about, and the system's error.
fn take_path_apart(error: ignore::Error, folder: &Path) -> (PathBuf, io::Error) {
    let mut path = folder.to_owned();
    let mut inner = &error;
    loop {
        match inner {
            ignore::Error::WithPath { path: at, err } => {
                path.clone_from(at);
                inner = err;
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
                inner = err;
            }
            _ => break,
        }
    }
    let message = error.to_string();
    // The system's error stands within others, which tell the path once more.
    let error = match error.into_io_error().map(|error| error.kind()) {
        None | Some(io::ErrorKind::Other) => io::Error::other(message),
        Some(kind) => kind.into(),
    };
    (path, error)
}

/// Reports whether a file may be a spec by its name.
pub(crate) fn may_be_spec(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    SPEC_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The time when a file was changed, and its size in bytes.
pub(crate) type Stamp = (SystemTime, u64);

/// Returns the stamp of a file, another one once it is changed; none if it can't be known.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let facts = fs::metadata(path).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}
