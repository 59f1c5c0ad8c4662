//! Cases in files, each a test of its own name.
//!
//! A test binary with `harness = false` collects a [`Suite`] and runs it. Each file of a folder becomes a test that is
//! called `group::folder::file`, and libtest's arguments hold: a filter, `--exact`, `--skip`, `--list`, `--test-threads`.
//! Files are found when the binary runs, so a new case needs no build.
//!
//! A case is compared as a whole text, in one of two ways:
//!
//! - [`Suite::documents`]: a document holds its own answers. Playing it returns the document with the answers of today.
//! - [`Suite::goldens`]: the expected text is a file next to the case. A golden without a case fails.
//!
//! [`script`] has what documents with calls and answers have in common, [`instructions`] counts those of a program.
//!
//! `UPDATE=1` rewrites what differs; the diff then says what changed.
//! A case that panics fails, and the others go on.

mod golden;
pub mod instructions;
pub mod script;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

pub use self::golden::{compare, files, first_difference, is_update, mentions, relative, root};

/// A file that is a test.
#[derive(Debug, Clone)]
pub struct Case {
    /// The file.
    pub path: PathBuf,
    /// The text in it.
    pub text: String,
}

impl Case {
    fn read(path: &Path) -> Result<Self, String> {
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let path = path.to_path_buf();
        Ok(Self { path, text })
    }

    /// The file's name without its extension.
    pub fn name(&self) -> &str {
        let name = self.path.file_stem().and_then(|name| name.to_str());
        name.unwrap_or_default()
    }
}

/// A collection of tests that one binary runs.
#[derive(Default)]
pub struct Suite {
    trials: Vec<Trial>,
}

impl Suite {
    /// Returns an empty suite.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one test.
    pub fn check(
        &mut self,
        name: &str,
        check: impl FnOnce() -> Result<(), String> + Send + 'static,
    ) {
        let trial = Trial::test(name, || check().map_err(Into::into));
        self.trials.push(trial);
    }

    /// Adds a test for each file under `folder` that has one of the extensions.
    ///
    /// At least one is there, or a test fails that says so.
    pub fn files(
        &mut self,
        group: &str,
        folder: &Path,
        extensions: &[&str],
        check: impl Fn(&Case) -> Result<(), String> + Send + Sync + 'static,
    ) {
        let check = Arc::new(check);
        let paths = with_extension(folder, extensions);
        if paths.is_empty() {
            let fault = format!("no case in {}", folder.display());
            self.check(&format!("{group}::is_not_empty"), || Err(fault));
        }
        for path in paths {
            let check = Arc::clone(&check);
            self.check(&name(group, folder, &path), move || {
                check(&Case::read(&path)?)
            });
        }
    }

    /// Adds a test for each Markdown document under `folder`, which `play` returns with the answers of today.
    pub fn documents(
        &mut self,
        group: &str,
        folder: &Path,
        play: impl Fn(&Case) -> String + Send + Sync + 'static,
    ) {
        self.files(group, folder, &["md"], move |case| {
            compare(&case.path, &play(case))
        });
    }

    /// Adds a test for each file under `folder` that has one of the extensions, and one that finds orphans.
    ///
    /// `render` returns the text that the golden has to hold: the file of the same name with the extension `golden`.
    pub fn goldens(
        &mut self,
        group: &str,
        folder: &Path,
        (extensions, golden): (&'static [&'static str], &'static str),
        render: impl Fn(&Case) -> Result<String, String> + Send + Sync + 'static,
    ) {
        self.files(group, folder, extensions, move |case| {
            compare(&case.path.with_extension(golden), &render(case)?)
        });
        let folder = folder.to_path_buf();
        self.check(&format!("{group}::no_golden_is_an_orphan"), move || {
            let has_case = |path: &PathBuf| {
                let mut extensions = extensions.iter();
                extensions.any(|extension| path.with_extension(extension).exists())
            };
            let mut orphans = with_extension(&folder, &[golden]);
            orphans.retain(|path| !has_case(path));
            match orphans.as_slice() {
                [] => Ok(()),
                orphans => Err(format!("no case of that name: {orphans:#?}")),
            }
        });
    }

    /// Runs the tests that the arguments of the process select.
    ///
    /// As with libtest, there may be several filters; a test runs if one of them names it.
    pub fn run(mut self) -> ExitCode {
        let (options, filters) = split_filters(std::env::args());
        let arguments = Arguments::from_iter(options);
        self.trials.retain(|trial| {
            let is_selected = |filter: &String| match arguments.exact {
                true => trial.name() == filter,
                false => trial.name().contains(filter.as_str()),
            };
            filters.is_empty() || filters.iter().any(is_selected)
        });
        libtest_mimic::run(&arguments, self.trials).exit_code()
    }
}

/// Options of libtest whose value is the next argument.
const VALUED: [&str; 6] = [
    "--color",
    "--format",
    "--logfile",
    "--skip",
    "--test-threads",
    "-Z",
];

/// Separates filters, of which `libtest-mimic` takes one, from the other arguments.
fn split_filters(arguments: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let mut is_value = true;
    arguments.partition(|argument| {
        let is_option = is_value || argument.starts_with('-');
        is_value = !is_value && VALUED.contains(&argument.as_str());
        is_option
    })
}

fn with_extension(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut all = files(folder);
    all.retain(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension))
    });
    all
}

/// Returns the name of a test: `group::folder::file`.
fn name(group: &str, folder: &Path, path: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let parts = path.iter().map(|part| part.to_string_lossy());
    parts.fold(group.to_owned(), |name, part| name + "::" + &part)
}
