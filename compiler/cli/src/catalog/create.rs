//! New specs, written into the folders of a catalog.
//!
//! What to rely on: the file is in the folder itself, never in one below or above it, and never a link; nobody reads half of
//! it; a spec with an error, or one that would hide another, isn't written.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use serde_json::json;
use statemark_compiler::back;
use statemark_runs::authority::WriteSpec;
use statemark_runs::files::PendingFile;
use statemark_runs::{Hash, Workflow, Workflows as _};
use statemark_tools::{Allow, Catalog, Created, NewSpec, Problem};

use super::{SpecCatalog, findings};
use crate::files;
use crate::specs::{Checked, check_text};

/// Longest name. Unit: characters. Why: that of `statemark new`.
const MAX_NAME: usize = 64;

/// Names of files that agents or people take for instructions, without endings.
///
/// An agent that may write workflows must not thereby tell other agents what to do.
const INSTRUCTIONS: [&str; 12] = [
    "agent",
    "agents",
    "claude",
    "codex",
    "contributing",
    "copilot-instructions",
    "cursorrules",
    "gemini",
    "index",
    "readme",
    "skill",
    "windsurfrules",
];

/// Names that some systems keep for devices. Source: *Naming Files, Paths, and Namespaces*, Microsoft.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Writes a spec into the first folder of the catalog that can be written to.
pub(super) fn create(
    catalog: &SpecCatalog,
    new: &NewSpec<'_>,
    allow: Allow<'_>,
) -> Result<Created, Problem> {
    check_name(new.name)?;
    let ending = if new.is_definition {
        "workflow.json"
    } else {
        "md"
    };
    let name = format!("{}.{ending}", new.name);
    let _alone = catalog
        .writing
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let folders: Vec<&PathBuf> = catalog.specs.iter().filter(|path| path.is_dir()).collect();
    if folders.is_empty() {
        let message = "no folder is served that a spec could be written into: the server was started with files alone";
        return Err(Problem::new("no_folder", message));
    }
    let mut reason = String::new();
    for folder in folders {
        let path = folder.join(&name);
        let created = prepare(catalog, new, &path, allow)?;
        if created.unchanged {
            return Ok(created);
        }
        match write(&path, new) {
            Ok(()) => {
                note_draft(catalog, new, &path);
                catalog.invalidate();
                return Ok(created);
            }
            Err(error) if is_denied(&error) => {
                reason = format!(": {}", files::unwritable(&path, &error));
            }
            Err(error) => return Err(not_written(&error, &path)),
        }
    }
    let message = format!("none of the folders of specs can be written to{reason}");
    Err(Problem::new("not_writable", message))
}

/// Checks that a name is a file's on every system, and nothing but that.
fn check_name(name: &str) -> Result<(), Problem> {
    let refuse = |why: &str| {
        let message = format!(
            "`name`: `{name}` {why}; write letters, digits, `-` and `_`, such as `bug-fix`"
        );
        Err(Problem::new("invalid_arguments", message).with(json!({"path": "name"})))
    };
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if !name.starts_with(|first: char| first.is_ascii_alphanumeric()) || !name.chars().all(is_fine)
    {
        return refuse("is no name of a file");
    }
    if name.len() > MAX_NAME {
        return refuse("is longer than 64 characters");
    }
    if DEVICES.contains(&name.to_ascii_lowercase().as_str()) {
        return refuse("is the name of a device on some systems");
    }
    if INSTRUCTIONS.contains(&name.to_ascii_lowercase().as_str()) {
        return refuse("is the name of a file that people and agents take for instructions");
    }
    Ok(())
}

/// Remembers what an agent has written, and forgets it where a person has.
fn note_draft(catalog: &SpecCatalog, new: &NewSpec<'_>, path: &Path) {
    let mut drafts = catalog
        .drafts
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if new.is_draft {
        drafts.insert(path.to_owned(), Hash::digest(new.text.as_bytes()));
    } else {
        drafts.remove(path);
    }
}

/// Reports whether a file is as an agent of this server has written it.
fn is_draft(catalog: &SpecCatalog, path: &Path) -> bool {
    let drafts = catalog
        .drafts
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let written = drafts.get(path);
    written.is_some_and(|hash| fs::read(path).is_ok_and(|bytes| Hash::digest(&bytes) == *hash))
}

/// Returns the facts on which it depends who may write a spec.
fn propose(catalog: &SpecCatalog, file: &Checked, path: &Path) -> WriteSpec {
    let name = files::display(path);
    let mut ids = file.ids();
    let specs = catalog.specs();
    let others = specs.iter().map(|it| it.id.clone()).collect();
    let specs = specs.into_iter().filter(|it| it.source == name);
    ids.extend(specs.map(|it| it.id));
    ids.extend(catalog.with(|snapshot| {
        let lost = snapshot.lost.iter().filter(|(_, source)| **source == name);
        lost.map(|(id, _)| id.clone()).collect::<Vec<_>>()
    }));
    let mut declares = Vec::new();
    for machine in &file.machines {
        // INVARIANT: a table that was just written can be read.
        if let Ok(workflow) = Workflow::from_bytes(back::table::write(machine)) {
            declares.extend(workflow.declared_powers().into_iter().map(|(key, _)| key));
        }
    }
    WriteSpec {
        replaces: path.symlink_metadata().is_ok() && !is_draft(catalog, path),
        path: name,
        ids,
        declares,
        others,
    }
}

/// Checks a spec, and returns what creating it will answer.
fn prepare(
    catalog: &SpecCatalog,
    new: &NewSpec<'_>,
    path: &Path,
    allow: Allow<'_>,
) -> Result<Created, Problem> {
    let name = files::display(path);
    let file = check_text(&name, new.text);
    let findings = findings(&file);
    if file.has_errors() {
        let message =
            "nothing was written: the spec has errors; mend them as their `help` and `fixes` say";
        return Err(Problem::new("has_errors", message).with(json!({"findings": findings})));
    }
    let ids = file.ids();
    let (Some(first), Some(id)) = (file.machines.first(), ids.first()) else {
        let message = "nothing was written: there is no machine in it. A document has its diagram below a heading \
                       `## STATE-MACHINE`, in a fence `mermaid`";
        return Err(Problem::new("no_machine", message)
            .mended_by("search_docs", json!({"query": "one spec"}))
            .with(json!({"findings": findings})));
    };
    let defined_elsewhere = |id: &String| {
        let specs = catalog.specs();
        let other = specs.into_iter().find(|spec| spec.id == *id);
        // A file that has an error now still has the id.
        let lost = || catalog.with(|snapshot| snapshot.lost.get(id).cloned());
        let rival = || {
            catalog
                .rivals(id)
                .into_iter()
                .find(|source| *source != name)
        };
        let other = other.map(|spec| spec.source);
        let source = other.or_else(lost).or_else(rival)?;
        (source != name).then_some((id.clone(), source))
    };
    if let Some((id, source)) = ids.iter().find_map(defined_elsewhere) {
        let message = format!(
            "nothing was written: `{source}` defines a workflow `{id}` already, and only one can have the id"
        );
        return Err(Problem::new("id_taken", message).with(json!({"id": id, "source": source})));
    }
    let unchanged = is_unchanged(path, new, &name)?;
    if !unchanged {
        allow(&propose(catalog, &file, path))?;
    }
    Ok(Created {
        id: id.clone(),
        hash: Hash::digest(&back::table::write(first)),
        path: name,
        ids: if ids.len() > 1 { ids } else { Vec::new() },
        unchanged,
        findings,
    })
}

/// Reports whether the file has this text already.
///
/// # Errors
///
/// There is something that may not be replaced.
fn is_unchanged(path: &Path, new: &NewSpec<'_>, name: &str) -> Result<bool, Problem> {
    let Ok(facts) = path.symlink_metadata() else {
        return Ok(false);
    };
    if !facts.is_file() {
        let message = format!("nothing was written: `{name}` is a link or a folder");
        return Err(Problem::new("not_a_file", message));
    }
    let has_same_size = facts.len() == u64::try_from(new.text.len()).unwrap_or(u64::MAX);
    if has_same_size && fs::read(path).is_ok_and(|bytes| bytes == new.text.as_bytes()) {
        return Ok(true);
    }
    if !new.overwrite {
        let message =
            format!("nothing was written: `{name}` exists already; `overwrite` replaces it");
        return Err(Problem::new("exists", message).with(json!({"path": name})));
    }
    Ok(false)
}

fn write(path: &Path, new: &NewSpec<'_>) -> io::Result<()> {
    let pending = PendingFile::new(path, new.overwrite)?;
    pending.create_shared()?.write_all(new.text.as_bytes())?;
    pending.finish()
}

/// Reports whether a folder can't be written to, so that the next one is tried.
fn is_denied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

fn not_written(error: &io::Error, path: &Path) -> Problem {
    let code = match error.kind() {
        io::ErrorKind::AlreadyExists => "exists",
        _ => "not_written",
    };
    let failure = files::unwritable(path, error);
    Problem::new(code, failure.to_string()).with(json!({"path": files::display(path)}))
}
