//! Other servers of the project: those of `statemark.toml`, and those that accepted workflows declare.
//!
//! A declaration comes with a repository, so nothing of it is started before a person has accepted it: one of
//! `statemark.toml` by `upstream accept`, one of a workflow with the workflow.

use std::collections::BTreeMap;

use statemark_runs::check::CheckPlace;
use statemark_runs::{Authority, Workflow, Workflows as _, shell_word};
use statemark_upstream::{BadDeclaration, BadName, Declaration, Declared, Place, Wanted};

use crate::catalog::SpecCatalog;
use crate::failure::Failure;
use crate::project;

/// The servers of a project.
pub(crate) struct Servers {
    pub(crate) place: Place,
    pub(crate) declared: Vec<Declared>,
    /// By server: the workflow that declares it, if one does.
    pub(crate) workflows: BTreeMap<String, String>,
    /// Remarks about what workflows ask for.
    pub(crate) remarks: Vec<String>,
}

/// Reads the servers of the project in the current folder. `base` begins the names of all tools.
pub(crate) fn read(
    authority: &Authority,
    catalog: &SpecCatalog,
    base: &str,
) -> Result<Servers, Failure> {
    let here = project::project_folder()?;
    let root = project::root(&here).to_path_buf();
    let (folder, configured) = match project::find_config(&here)? {
        Some((path, config)) => (
            path.parent().unwrap_or(&root).to_path_buf(),
            config.upstream,
        ),
        None => (root.clone(), BTreeMap::new()),
    };
    let mut servers = Servers {
        place: Place {
            programs: CheckPlace::launched(folder.clone(), Vec::new()),
            folder,
            base: base.to_owned(),
        },
        declared: Vec::new(),
        workflows: BTreeMap::new(),
        remarks: Vec::new(),
    };
    for (name, declaration) in configured {
        declaration
            .check()
            .map_err(|error| bad(&name, "`statemark.toml`", &error))?;
        let is_accepted = authority.has_accepted_upstream(&name, &declaration.hash());
        let by = format!("statemark upstream accept {}", shell_word(&name));
        servers.declared.push(Declared {
            not_accepted: (!is_accepted).then_some(by),
            name,
            declaration,
        });
    }
    for id in catalog.ids() {
        let Some(workflow) = catalog.find(&id) else {
            continue;
        };
        // Not even in a store for trying things out: to serve a repository must run none of its programs.
        let is_accepted = authority.lists(&workflow);
        servers.add_wanted(&workflow, is_accepted)?;
    }
    Ok(servers)
}

impl Servers {
    /// Adds the servers that a workflow asks for.
    fn add_wanted(&mut self, workflow: &Workflow, is_accepted: bool) -> Result<(), Failure> {
        let Some(value) = workflow.meta().get("upstream_servers") else {
            return Ok(());
        };
        let id = workflow.id();
        let wanted = match Wanted::parse_all(value) {
            Ok(wanted) => wanted,
            Err((name, error)) if is_accepted => {
                return Err(bad(&name, &format!("the workflow `{id}`"), &error));
            }
            // A stranger's file can't keep the server from starting.
            Err((name, error)) => {
                self.remarks.push(format!(
                    "the server `{name}` of the workflow `{id}` can't be used: {error}"
                ));
                return Ok(());
            }
        };
        for Wanted { name, declaration } in wanted {
            let known = self.declared.iter().find(|it| it.name == name);
            match (known, declaration) {
                (None, None) => self.remarks.push(format!(
                    "the workflow `{id}` asks for the server `{name}`, which `statemark.toml` doesn't have"
                )),
                (None, Some(declaration)) => {
                    let by = format!("statemark accept {}", shell_word(id));
                    self.workflows.insert(name.clone(), id.to_owned());
                    self.declared.push(Declared {
                        name,
                        declaration,
                        not_accepted: (!is_accepted).then_some(by),
                    });
                }
                (Some(known), Some(declaration)) if known.declaration != declaration => {
                    self.take_either(name, declaration, id, is_accepted)?;
                }
                (Some(_), _) => {}
            }
        }
        Ok(())
    }

    /// Decides between two declarations of one server: the project's counts, then an accepted workflow's.
    fn take_either(
        &mut self,
        name: String,
        declaration: Declaration,
        id: &str,
        is_accepted: bool,
    ) -> Result<(), Failure> {
        let Some(other) = self.workflows.get(&name) else {
            self.remarks.push(format!(
                "the workflow `{id}` declares the server `{name}` in another way than `statemark.toml`, which counts"
            ));
            return Ok(());
        };
        let known = self.declared.iter_mut().find(|it| it.name == name);
        let Some(known) = known else { return Ok(()) };
        match (known.not_accepted.is_none(), is_accepted) {
            (true, true) => Err(Failure::new(format!(
                "the workflows `{other}` and `{id}` declare the server `{name}`, and not the same"
            ))
            .with_help(format!(
                "declare it in `statemark.toml`, as `[upstream.{name}]`, which counts for both"
            ))),
            (false, true) => {
                known.declaration = declaration;
                known.not_accepted = None;
                self.workflows.insert(name, id.to_owned());
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn bad(name: &str, place: &str, error: &BadDeclaration) -> Failure {
    Failure::new(format!(
        "the server `{name}` of {place} can't be used: {error}"
    ))
    .with_help("`statemark help servers` has the keys of a server")
}

/// Makes the failure of names that can't be used.
pub(crate) fn bad_names(names: &[BadName]) -> Failure {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    Failure::new(format!(
        "the tools of other servers can't be offered: {}",
        names.join("; ")
    ))
    .with_help("`tools` in the declaration of a server chooses those that are offered; `prefix` begins their names")
}
