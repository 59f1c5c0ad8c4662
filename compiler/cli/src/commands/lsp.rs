//! `lsp`: the language server, for editors.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use statemark_compiler::Servers;
use statemark_compiler::diag::{Code, Diagnostic, Severity};
use statemark_compiler::source::MAX_SOURCE_BYTES;
use statemark_lsp::{FileRules, Project, SpecFile, serve, stdio};

use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::files;
use crate::printer::Printer;
use crate::project::{self, Diagrams};
use crate::rules::Rules;
use crate::search::{self, FoundFile};
use crate::specs::may_hold_machine;

/// Serve editors: findings, fixes, completion, names and drawings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark lsp       started by an editor, which speaks to it over standard input and output\n\n\
                        It speaks the Language Server Protocol. `statemark help editors` has settings for VS Code, Neovim,\n\
                        Helix, Zed and Emacs. Findings are those of `lint`, with statemark.toml of the editor's folder.")]
pub(crate) struct LspArgs {
    /// Taken for the sake of editors that name the transport; there is no other
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Serves an editor until it ends the session.
pub(super) fn run(_: &LspArgs, _: &mut Printer) -> CommandResult {
    let (connection, transport) = stdio();
    let served = serve(&connection, &Workspace);
    drop(connection);
    let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
    served.map_err(|error| failed(&error))?;
    transport.finish().map_err(|error| failed(&error))?;
    Ok(ExitStatus::Clean)
}

/// The folders of an editor.
struct Workspace;

impl Project for Workspace {
    fn is_spec(&self, path: &Path) -> bool {
        search::may_be_spec(path)
    }

    fn rules(&self, path: &Path, folders: &[PathBuf]) -> Result<Box<dyn FileRules + '_>, String> {
        // What a command finds that is started in the editor's folder.
        let above = folders.iter().filter(|folder| path.starts_with(folder));
        let above = above.max_by_key(|folder| folder.components().count());
        let here = above.map(PathBuf::as_path).or(path.parent());
        let here = here
            .filter(|it| it.is_absolute())
            .or(folders.first().map(PathBuf::as_path));
        let here = match here {
            Some(here) => here.to_owned(),
            None => project::current_folder().map_err(|it| it.to_string())?,
        };
        let read = || -> Result<DocumentRules, Failure> {
            Ok(DocumentRules {
                name: files::display(path),
                diagrams: project::diagrams_in(&here)?,
                rules: project::lint_rules_in(&here, &[], &[])?,
            })
        };
        Ok(Box::new(read().map_err(|failure| failure.to_string())?))
    }

    fn specs(&self, folder: &Path) -> Vec<SpecFile> {
        // A folder that can't be read has no specs, and an editor has nobody to tell.
        let found = search::find(&[folder.to_owned()]).unwrap_or_default();
        let readable = found.into_iter().filter(|file| file.problem.is_none());
        let stamped = readable.map(|FoundFile { path, .. }| SpecFile {
            stamp: search::stamp(&path),
            path,
        });
        stamped.collect()
    }

    fn read(&self, path: &Path) -> Option<String> {
        let bytes = files::read(path, MAX_SOURCE_BYTES).ok()?.ok()?;
        let is_spec = may_hold_machine(&files::display(path), &bytes, Diagrams::Sections);
        is_spec.then(|| String::from_utf8(bytes).ok()).flatten()
    }

    fn tools(&self) -> Vec<(String, String)> {
        let tools = statemark_tools::own_tools().into_iter();
        let packs = statemark_packs::all().into_iter();
        let mut names: Vec<(String, String)> = tools
            .chain(packs)
            .map(|tool| (tool.name.to_string(), tool.title.to_string()))
            .collect();
        names.sort();
        names
    }
}

/// The findings that the project wants of a document.
struct DocumentRules {
    /// The path of the document.
    name: String,
    diagrams: Diagrams,
    rules: Rules,
}

impl FileRules for DocumentRules {
    fn checks_all_diagrams(&self) -> bool {
        self.diagrams == Diagrams::All
    }

    fn servers(&self) -> Arc<Servers> {
        self.rules.servers()
    }

    fn unwanted(&self) -> BTreeSet<Code> {
        self.rules.unwanted(&self.name)
    }

    fn severity_of(&self, finding: &Diagnostic) -> Option<Severity> {
        self.rules.severity_of(&self.name, finding)
    }

    fn apply(&self, findings: &mut Vec<Diagnostic>) {
        self.rules.apply(&self.name, findings);
    }
}
