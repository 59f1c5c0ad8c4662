//! The check that a name means, and the folder that it runs in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use statemark_compiler::diag::nearest;
use statemark_runs::check::Declaration;
use statemark_runs::{Loaded, Workflow, Workflows as _};
use statemark_server::Project;

use super::{catalog::Catalog, place, unknown_workflow};
use crate::config;
use crate::failure::{Failure, FailureKind};

/// A check, and the folder that it is declared for.
pub(crate) struct Found {
    pub(crate) declared: Declaration,
    pub(crate) root: PathBuf,
}

/// Where checks are looked for besides `statemark.toml`.
#[derive(Clone, Copy)]
pub(crate) enum Whose<'a> {
    /// In the workflow of a run.
    Run(&'a Loaded),
    /// In a workflow that the specs define.
    Workflow(&'a str, &'a [PathBuf]),
    /// In whichever workflow of the specs has one of that name.
    Any(&'a [PathBuf]),
}

/// The check of a name: the workflow's own, else that of `statemark.toml`. Where no workflow is named, the latter comes
/// first.
pub(crate) fn find(name: &str, whose: Whose<'_>) -> Result<Found, Failure> {
    let here = place::here()?;
    let config = config::find(&here)?;
    let root = place::root(&here).to_path_buf();
    let mut known = BTreeSet::new();
    let own = match whose {
        Whose::Run(loaded) => of_workflow(&loaded.workflow, name, &mut known)?,
        Whose::Workflow(id, specs) => {
            let catalog = Catalog::new(specs)?;
            let none = || unknown_workflow(id, catalog.ids(), catalog.broken());
            let workflow = catalog.find(id).ok_or_else(none)?;
            of_workflow(&workflow, name, &mut known)?
        }
        Whose::Any(_) => None,
    };
    if let Some(declared) = own {
        return Ok(Found { declared, root });
    }
    if let Some((path, config)) = config {
        if let Some(declared) = config.checks.get(name) {
            let declared = declared.clone();
            let root = path.parent().map_or(root, Path::to_path_buf);
            return Ok(Found { declared, root });
        }
        known.extend(config.checks.into_keys());
    }
    if let Whose::Any(specs) = whose
        && let Some(declared) = of_any(name, &Catalog::new(specs)?, &mut known)?
    {
        return Ok(Found { declared, root });
    }
    let near = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    Err(FailureKind::UnknownCheck {
        name: name.to_owned(),
        near,
        known: known.into_iter().collect(),
    }
    .into())
}

/// The project around the current folder.
pub(super) fn project() -> Result<Project, Failure> {
    let here = place::here()?;
    let root = place::root(&here).to_path_buf();
    let Some((path, config)) = config::find(&here)? else {
        return Ok(Project {
            checks: BTreeMap::new(),
            checks_root: root.clone(),
            root,
        });
    };
    Ok(Project {
        checks: config.checks,
        checks_root: path
            .parent()
            .map_or_else(|| root.clone(), Path::to_path_buf),
        root,
    })
}

fn of_workflow(
    workflow: &Workflow,
    name: &str,
    known: &mut BTreeSet<String>,
) -> Result<Option<Declaration>, Failure> {
    known.extend(workflow.checks());
    let declared = workflow.check(name).transpose();
    declared.map_err(|cause| bad(name, cause))
}

/// The check of all workflows that have one of that name, if they declare the same.
fn of_any(
    name: &str,
    catalog: &Catalog,
    known: &mut BTreeSet<String>,
) -> Result<Option<Declaration>, Failure> {
    let mut found: Option<Declaration> = None;
    let mut workflows = Vec::new();
    let mut is_one = true;
    for id in catalog.ids() {
        let Some(workflow) = catalog.find(&id) else {
            continue;
        };
        if let Some(declared) = of_workflow(&workflow, name, known)? {
            is_one &= found.as_ref().is_none_or(|found| *found == declared);
            found = Some(declared);
            workflows.push(id);
        }
    }
    if is_one {
        return Ok(found);
    }
    let name = name.to_owned();
    Err(FailureKind::SeveralChecks { name, workflows }.into())
}

/// That a check can't be used as it is declared.
pub(crate) fn bad(name: &str, cause: statemark_runs::check::CheckError) -> Failure {
    let name = name.to_owned();
    FailureKind::BadCheck { name, cause }.into()
}
