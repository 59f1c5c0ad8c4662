//! A spec that somebody wrote becomes a file among the others.
//!
//! What to rely on: the file is in the folder itself, never in one below or above it, and never behind a link; nobody reads
//! half of it; a spec with an error, or one that would hide another, isn't written.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use serde_json::json;
use statemark_compiler::back;
use statemark_runs::Hash;
use statemark_server::{Catalog, Created, NewSpec, Problem};

use super::{Served, checked, findings};
use crate::failure::{Failure, FailureKind};
use crate::files::{self, Fresh};

/// Longest name. Unit: characters. Why: that of `statemark new`.
const MAX_NAME: usize = 64;

/// Names that some systems keep for devices. Source: *Naming Files, Paths, and Namespaces*, Microsoft.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

pub(super) fn create(served: &Served, new: &NewSpec<'_>) -> Result<Created, Problem> {
    check_name(new.name)?;
    let ending = if new.is_definition {
        "workflow.json"
    } else {
        "md"
    };
    let name = format!("{}.{ending}", new.name);
    let _alone = served
        .writing
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let folders: Vec<&PathBuf> = served.specs.iter().filter(|it| it.is_dir()).collect();
    if folders.is_empty() {
        let message = "no folder is served that a spec could be written into: the server was started with files alone";
        return Err(Problem::new("no_folder", message));
    }
    let mut refused = None;
    for folder in folders {
        let path = folder.join(&name);
        let created = prepared(served, new, &path)?;
        if created.unchanged {
            return Ok(created);
        }
        match written(&path, new) {
            Ok(()) => {
                served.look_again();
                return Ok(created);
            }
            Err(failure) if is_shut(&failure) => refused = Some(failure),
            Err(failure) => return Err(unwritten(&failure, &path)),
        }
    }
    let why = refused.map(|it| format!(": {it}")).unwrap_or_default();
    let message = format!("none of the folders of specs can be written to{why}");
    Err(Problem::new("not_writable", message))
}

/// A name that is a file's on every system, and nothing but that.
fn check_name(name: &str) -> Result<(), Problem> {
    let bad = |why: &str| {
        let message = format!(
            "`name`: `{name}` {why}; write letters, digits, `-` and `_`, such as `bug-fix`"
        );
        Err(Problem::new("invalid_arguments", message).with(json!({"path": "name"})))
    };
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if !name.starts_with(|first: char| first.is_ascii_alphanumeric()) || !name.chars().all(is_fine)
    {
        return bad("is no name of a file");
    }
    if name.len() > MAX_NAME {
        return bad("is longer than 64 characters");
    }
    if DEVICES.contains(&name.to_ascii_lowercase().as_str()) {
        return bad("is what some systems call a device");
    }
    Ok(())
}

/// What would be created, if there is nothing against it.
fn prepared(served: &Served, new: &NewSpec<'_>, path: &Path) -> Result<Created, Problem> {
    let shown = files::shown(path);
    let file = checked(&shown, new.text);
    let found = findings(&file);
    if file.has_errors() {
        let message =
            "nothing was written: the spec has errors; mend them as their `help` and `fixes` say";
        return Err(Problem::new("has_errors", message).with(json!({"findings": found})));
    }
    let ids: Vec<String> = file.machines.iter().map(|it| it.id.value.clone()).collect();
    let (Some(first), Some(id)) = (file.machines.first(), ids.first()) else {
        let message = "nothing was written: there is no machine in it. A document has its diagram below a heading \
                       `## STATE-MACHINE`, in a fence `mermaid`";
        return Err(Problem::new("no_machine", message)
            .mended_by("search_docs", json!({"query": "one spec"}))
            .with(json!({"findings": found})));
    };
    let elsewhere = |id: &String| {
        let specs = served.specs();
        let other = specs.into_iter().find(|it| it.id == *id)?;
        (other.source != shown).then_some((id.clone(), other.source))
    };
    if let Some((id, source)) = ids.iter().find_map(elsewhere) {
        let message = format!(
            "nothing was written: `{source}` defines a workflow `{id}` already, and only one can have the id"
        );
        return Err(Problem::new("id_taken", message).with(json!({"id": id, "source": source})));
    }
    let hash = Hash::digest(&back::table::write(first));
    let unchanged = stands(path, new, &shown)?;
    Ok(Created {
        id: id.clone(),
        hash,
        path: shown,
        ids: if ids.len() > 1 { ids } else { Vec::new() },
        unchanged,
        findings: found,
    })
}

/// Whether the file stands there with the same text; a problem if what stands there may not be replaced.
fn stands(path: &Path, new: &NewSpec<'_>, shown: &str) -> Result<bool, Problem> {
    let Ok(facts) = path.symlink_metadata() else {
        return Ok(false);
    };
    if !facts.is_file() {
        let message = format!("nothing was written: `{shown}` is a link or a folder");
        return Err(Problem::new("not_a_file", message));
    }
    let same_size = facts.len() == u64::try_from(new.text.len()).unwrap_or(u64::MAX);
    if same_size && fs::read(path).is_ok_and(|bytes| bytes == new.text.as_bytes()) {
        return Ok(true);
    }
    if !new.overwrite {
        let message =
            format!("nothing was written: `{shown}` is there already; `overwrite` replaces it");
        return Err(Problem::new("exists", message).with(json!({"path": shown})));
    }
    Ok(false)
}

fn written(path: &Path, new: &NewSpec<'_>) -> Result<(), Failure> {
    let fresh = Fresh::new(path, new.overwrite)?;
    let mut file = fresh.make_shared()?;
    let outcome = file.write_all(new.text.as_bytes());
    drop(file);
    outcome.map_err(|cause| {
        let path = path.to_owned();
        Failure::from(FailureKind::Unwritable { path, cause })
    })?;
    fresh.settle()
}

/// Whether a folder can't be written to, so that the next one may.
fn is_shut(failure: &Failure) -> bool {
    let shut = [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem,
    ];
    match failure.kind() {
        FailureKind::Unwritable { cause, .. } => shut.contains(&cause.kind()),
        _ => false,
    }
}

fn unwritten(failure: &Failure, path: &Path) -> Problem {
    let code = match failure.kind() {
        FailureKind::Overwrites { .. } => "exists",
        _ => "not_written",
    };
    let path = files::shown(path);
    Problem::new(code, failure.to_string()).with(json!({"path": path}))
}
