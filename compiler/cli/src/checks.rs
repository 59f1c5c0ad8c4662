//! The check that a name means, and the folder that it runs in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use statemark_runs::body::WorktreeMade;
use statemark_runs::check::{CheckError, Declaration};
use statemark_runs::{Loaded, Workflow, Workflows as _};

use crate::catalog::SpecCatalog;
use crate::failure::Failure;
use crate::project;

/// A check, and the folder that it runs in.
pub(crate) struct DeclaredCheck {
    pub(crate) declaration: Declaration,
    pub(crate) folder: PathBuf,
}

/// The workflows that may declare a check, besides `statemark.toml`.
#[derive(Clone, Copy)]
pub(crate) enum CheckSource<'a> {
    /// The workflow of a run.
    Run(&'a Loaded),
    /// A workflow of some specs.
    Workflow(&'a str, &'a [PathBuf]),
    /// Any workflow of some specs.
    Any(&'a [PathBuf]),
}

/// Finds the check of a name: that of the workflow, else that of `statemark.toml`.
///
/// Where no workflow is named, `statemark.toml` comes first.
pub(crate) fn find(name: &str, source: CheckSource<'_>) -> Result<DeclaredCheck, Failure> {
    let here = project::project_folder()?;
    let config = project::find_config(&here)?;
    let root = project::root(&here).to_path_buf();
    // A run works in its worktrees, and what a state requires counts in the state's.
    let worktree = match source {
        CheckSource::Run(loaded) => worktree_for(loaded, name)?,
        CheckSource::Workflow(..) | CheckSource::Any(_) => None,
    };
    let in_workspace = |folder: &Path| {
        let Some(made) = worktree else {
            return folder.to_path_buf();
        };
        match folder.strip_prefix(&root) {
            Ok(inside) => Path::new(&made.root).join(inside),
            Err(_) => PathBuf::from(&made.root),
        }
    };
    let folder = in_workspace(&root);
    let mut known = BTreeSet::new();
    let declaration = match source {
        CheckSource::Run(loaded) => find_in(&loaded.workflow, name, &mut known)?,
        CheckSource::Workflow(id, specs) => {
            let catalog = SpecCatalog::read(specs)?;
            let workflow = catalog.find_or_fail(id)?;
            find_in(&workflow, name, &mut known)?
        }
        CheckSource::Any(_) => None,
    };
    if let Some(declaration) = declaration {
        return Ok(DeclaredCheck {
            declaration,
            folder,
        });
    }
    if let Some((path, config)) = config {
        if let Some(declaration) = config.checks.get(name) {
            return Ok(DeclaredCheck {
                declaration: declaration.clone(),
                folder: path.parent().map_or(folder, in_workspace),
            });
        }
        known.extend(config.checks.into_keys());
    }
    if let CheckSource::Any(specs) = source
        && let Some(declaration) = find_in_any(name, &SpecCatalog::read(specs)?, &mut known)?
    {
        return Ok(DeclaredCheck {
            declaration,
            folder,
        });
    }
    let message = format!("there is no check `{name}`");
    if known.is_empty() {
        return Err(Failure::new(message).with_help(
            "`checks` in a workflow's definition or in statemark.toml declares checks",
        ));
    }
    let known: Vec<String> = known.into_iter().collect();
    Err(Failure::unknown_name(message, name, &known))
}

/// Returns the worktree that a check of a run is run in: first of all the one of the current folder.
fn worktree_for<'r>(run: &'r Loaded, name: &str) -> Result<Option<&'r WorktreeMade>, Failure> {
    let here = std::env::current_dir().ok();
    let found = run.worktree_for_check(name, here.as_deref());
    found.map_err(|several| {
        let help = format!("run it in one of them: {}", several.folders.join(", "));
        Failure::new(several.to_string()).with_help(help)
    })
}

/// Finds the check of a workflow, and adds the names of all its checks.
fn find_in(
    workflow: &Workflow,
    name: &str,
    known: &mut BTreeSet<String>,
) -> Result<Option<Declaration>, Failure> {
    known.extend(workflow.checks());
    let declaration = workflow.check(name).transpose();
    declaration.map_err(|error| bad_check(name, &error))
}

/// Finds the check of all workflows that have one of that name, if all declare the same.
fn find_in_any(
    name: &str,
    catalog: &SpecCatalog,
    known: &mut BTreeSet<String>,
) -> Result<Option<Declaration>, Failure> {
    let mut declaration: Option<Declaration> = None;
    let mut workflows = Vec::new();
    let mut is_one = true;
    for id in catalog.ids() {
        let Some(workflow) = catalog.find(&id) else {
            continue;
        };
        if let Some(other) = find_in(&workflow, name, known)? {
            is_one &= declaration.as_ref().is_none_or(|first| *first == other);
            declaration = Some(other);
            workflows.push(id);
        }
    }
    if is_one {
        return Ok(declaration);
    }
    let workflows = workflows.join(", ");
    Err(Failure::new(format!(
        "several workflows declare a check `{name}`, and not the same"
    ))
    .with_help(format!("choose one with `--workflow`: {workflows}")))
}

/// Makes the failure of a check that can't be run as it is declared.
pub(crate) fn bad_check(name: &str, error: &CheckError) -> Failure {
    Failure::new(format!(
        "the check `{name}` can't be run as it is declared: {error}"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use statemark_compiler::source::Sources;
    use statemark_compiler::{Options, compile};
    use statemark_runs::check::Timeout;

    #[test]
    fn timeouts_that_lint_lets_pass_are_those_of_checks() {
        for timeout in [
            json!("90s"),
            json!("5 minutes"),
            json!("1h 30m"),
            json!("1.5h"),
            json!("1ns"),
            json!("24h"),
            json!("24h 1s"),
            json!("0s"),
            json!("-5m"),
            json!("10"),
            json!("soon"),
            json!(""),
            json!("99999999999999999999y"),
            json!(30),
            json!(0.5),
            json!(86_400),
            json!(86_401),
            json!(1e-12),
            json!(0),
            json!(-1),
            json!(1e300),
        ] {
            let definition = json!({
                "id": "errand",
                "initial": "over",
                "states": {"over": {"type": "final"}},
                "checks": {"tests": {"command": ["make"], "timeout": timeout}},
            });
            let mut sources = Sources::new();
            sources.add("errand.workflow.json", definition.to_string());
            let passes = !compile(&sources, &Options::default()).machines.is_empty();
            let timeout: Timeout = serde_json::from_value(timeout).unwrap();
            assert_eq!(passes, timeout.duration().is_some(), "{timeout}");
        }
    }
}
