//! A project: the folder that an agent works in, as far as tools reach into it.
//!
//! What to rely on: no path leaves the root, by `..`, by a link or by a race (cap-std opens every part of a path by
//! itself). The repository and the store are out of reach. Reads are bounded. A file is written whole or not at all.
//!
//! Deliberately not here: tools that read and write any file; packs have those.

pub mod checks;
mod feature;
mod tasks;

use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use serde_json::json;
use statemark_runs::body::WorktreeMade;
use statemark_runs::{Loaded, RunError, RunId, StoreError, WORKTREES};

use crate::{Ctx, Problem, Project};

pub(crate) use feature::DOCUMENTS;
pub use feature::Feature;
pub use tasks::{Completed, Tasks, complete_task};

/// Largest file that is read. Unit: bytes. Why: larger files aren't documents that people write.
const MAX_SIZE: u64 = 4 << 20;

/// Folders of the root that aren't documents.
const HIDDEN: &[&str] = &[".git", ".statemark", WORKTREES];

/// Returns the project that the server works on.
///
/// An attempt, or a caller that is bound to a run, has it in the worktree of its run or region, if that has one.
///
/// # Errors
///
/// There is none, or its configuration can't be read; the run can't be read.
pub fn current_project(ctx: &Ctx<'_>) -> Result<Project, Problem> {
    match ctx.attempted_run().or(ctx.bound_run()) {
        Some(run) => project_of_run(ctx, run),
        None => project_of_server(ctx),
    }
}

/// Returns the project as a run works on it.
///
/// For an attempt it is in the worktree of its state, else in the run's, if there is one.
///
/// # Errors
///
/// There is none, or its configuration can't be read; the run can't be read.
fn project_of_run(ctx: &Ctx<'_>, run: &RunId) -> Result<Project, Problem> {
    let loaded = match ctx.runs().load(run) {
        Ok(loaded) => loaded,
        // A server may be bound to a run that nobody has started yet.
        Err(RunError::Store(StoreError::NotFound { .. })) => return project_of_server(ctx),
        Err(error) => return Err(error.into()),
    };
    match attempted_state(ctx, &loaded) {
        Some(state) => project_in(ctx, loaded.worktree_of(state)),
        None => project_in(ctx, loaded.state.worktree.as_ref()),
    }
}

/// Returns the project as a check of a run is run in it.
///
/// # Errors
///
/// Those of [`project_of_run`]; several regions require it, and the caller works in none of them.
fn project_of_check(ctx: &Ctx<'_>, run: &Loaded, check: &str) -> Result<Project, Problem> {
    if let Some(state) = attempted_state(ctx, run) {
        return project_in(ctx, run.worktree_of(state));
    }
    let made = run.worktree_for_check(check, None).map_err(|several| {
        let folders = several.folders.join("`, `");
        let message =
            format!("{several}: `statemark run-check` runs it in the folder of one, `{folders}`");
        Problem::new("several_worktrees", message)
    })?;
    project_in(ctx, made)
}

/// Returns the state in which the caller works on a run by an attempt, if it does.
fn attempted_state<'r>(ctx: &Ctx<'_>, run: &'r Loaded) -> Option<&'r str> {
    let attempt = ctx.caller.attempt.as_ref().filter(|it| it.run == run.run)?;
    let attempt = run.state.attempts.get(&attempt.number)?;
    Some(&attempt.state)
}

/// Returns the project in a worktree; as the server has it if there is none.
fn project_in(ctx: &Ctx<'_>, worktree: Option<&WorktreeMade>) -> Result<Project, Problem> {
    let project = project_of_server(ctx)?;
    let Some(made) = worktree else {
        return Ok(project);
    };
    let root = PathBuf::from(&made.root);
    let checks_root = project.checks_root.strip_prefix(&project.root);
    let checks_root = checks_root.map(|inside| root.join(inside));
    Ok(Project {
        checks_root: checks_root.unwrap_or_else(|_| root.clone()),
        root,
        ..project
    })
}

fn project_of_server(ctx: &Ctx<'_>) -> Result<Project, Problem> {
    ctx.catalog()
        .project()?
        .ok_or_else(|| Problem::new("no_project", "the server isn't for a project"))
}

/// The files of a project.
pub struct Files {
    root: PathBuf,
    folder: Dir,
}

impl Files {
    /// Opens the root of a project.
    ///
    /// # Errors
    ///
    /// It can't be opened.
    pub fn open(project: &Project) -> Result<Self, Problem> {
        let root = &project.root;
        match Dir::open_ambient_dir(root, ambient_authority()) {
            Ok(folder) => Ok(Self {
                root: root.clone(),
                folder,
            }),
            Err(error) => {
                let message = format!("the project's root can't be opened: {error}");
                Err(Problem::new("no_project", message))
            }
        }
    }

    /// Checks whether a file exists.
    pub fn is_file(&self, path: &str) -> bool {
        self.folder.metadata(path).is_ok_and(|it| it.is_file())
    }

    pub(crate) fn is_folder(&self, path: &str) -> bool {
        self.folder.metadata(path).is_ok_and(|it| it.is_dir())
    }

    /// Lists the names in a folder, sorted.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = self.folder.read_dir(path).into_iter().flatten();
        let names = entries.filter_map(|it| it.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// There is no such text below the root, or it is too large.
    pub fn read(&self, path: &str) -> Result<String, Problem> {
        check(path)?;
        let failed = |error: std::io::Error| read_problem(path, &error);
        // Opening a pipe would wait for its writer.
        let facts = self.folder.metadata(path).map_err(failed)?;
        if !facts.is_file() {
            let message = format!("`{path}` is a folder, or another thing without text");
            return Err(Problem::new("not_a_file", message));
        }
        // A link may lead to a hidden folder.
        let real = self.folder.canonicalize(path).map_err(failed)?;
        check(&real.to_string_lossy())?;
        let mut bytes = Vec::new();
        let file = self.folder.open(path).map_err(failed)?;
        file.take(MAX_SIZE.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_SIZE {
            let message = format!("`{path}` has more than {MAX_SIZE} bytes");
            return Err(Problem::new("too_large", message));
        }
        String::from_utf8(bytes)
            .map_err(|_| Problem::new("not_text", format!("`{path}` isn't UTF-8")))
    }

    /// Replaces the text of a file, unless it has changed since it was read.
    fn replace(&self, path: &str, before: &str, text: &str) -> Result<(), Problem> {
        check(path)?;
        let place = Path::new(path);
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let temporary = place.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let failed = |error: std::io::Error| {
            Problem::new("not_written", format!("`{path}` can't be written: {error}"))
        };
        // A link would be replaced by a file.
        if self
            .folder
            .symlink_metadata(path)
            .is_ok_and(|it| it.is_symlink())
        {
            let message = format!("`{path}` is a link, and links aren't written to");
            return Err(Problem::new("not_a_file", message));
        }
        let written = || -> Result<(), Problem> {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            let mut file = self
                .folder
                .open_with(&temporary, &options)
                .map_err(failed)?;
            file.write_all(text.as_bytes()).map_err(failed)?;
            file.sync_all().map_err(failed)?;
            if let Ok(facts) = self.folder.metadata(path) {
                file.set_permissions(facts.permissions()).map_err(failed)?;
            }
            if self.read(path)? != before {
                let message = format!("`{path}` was changed meanwhile; try again");
                return Err(Problem::new("conflict", message));
            }
            self.folder
                .rename(&temporary, &self.folder, path)
                .map_err(failed)
        };
        // A process that has ended may have left one.
        drop(self.folder.remove_file(&temporary));
        let outcome = written();
        if outcome.is_err() {
            // It may not exist.
            drop(self.folder.remove_file(&temporary));
        }
        outcome
    }

    fn root(&self) -> &Path {
        &self.root
    }
}

/// Checks that a path is below the root, as far as its text shows.
fn check(path: &str) -> Result<(), Problem> {
    let outside = |fault: &str| {
        let message = format!(
            "`{path}` {fault}; give a path below the project's root, such as `docs/plan.md`"
        );
        Err(Problem::new("outside", message).with(json!({"path": path})))
    };
    if path.is_empty() || path.contains('\0') {
        return outside("is no path");
    }
    let mut parts = Path::new(path).components();
    if parts.any(|it| !matches!(it, Component::Normal(_) | Component::CurDir)) {
        return outside("leads out of the project");
    }
    let hidden = |part: Component<'_>| {
        let part = part.as_os_str().to_string_lossy().to_lowercase();
        HIDDEN.contains(&part.as_str())
    };
    if Path::new(path).components().any(hidden) {
        return outside("belongs to the repository or to the runs");
    }
    Ok(())
}

fn read_problem(path: &str, error: &std::io::Error) -> Problem {
    match error.kind() {
        ErrorKind::NotFound => Problem::new("not_found", format!("there is no file `{path}`")),
        // cap-std's error for paths that leave the root.
        ErrorKind::PermissionDenied => {
            let message = format!("`{path}` can't be read, or leads out of the project: {error}");
            Problem::new("outside", message)
        }
        _ => Problem::new("not_read", format!("`{path}` can't be read: {error}")),
    }
}
