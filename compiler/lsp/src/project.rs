//! The project around documents, as far as the server needs to know it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use statemark_compiler::Servers;
use statemark_compiler::diag::{Code, Diagnostic, Severity};

/// The project around the documents of an editor.
pub trait Project {
    /// Reports whether a file of that name may be a spec.
    fn is_spec(&self, path: &Path) -> bool;

    /// Returns the rules of a file, which is below one of the editor's folders or below none.
    ///
    /// # Errors
    ///
    /// The configuration can't be read: the sentence that says why.
    fn rules(&self, path: &Path, folders: &[PathBuf]) -> Result<Box<dyn FileRules + '_>, String>;

    /// Returns the files below a folder that may be specs by their names.
    fn specs(&self, folder: &Path) -> Vec<SpecFile>;

    /// Returns the text of such a file; none if it has no machine, or can't be read.
    fn read(&self, path: &Path) -> Option<String>;

    /// Returns the names of tools that states can grant, each with what it does.
    fn tools(&self) -> Vec<(String, String)>;
}

/// The time when a file was changed, and its size in bytes.
pub type Stamp = (SystemTime, u64);

/// A file that may be a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "projects make them, and they are all that is to be known"
)]
pub struct SpecFile {
    /// Its path.
    pub path: PathBuf,
    /// Another one once it is changed. Without it, the file is read anew whenever somebody asks.
    pub stamp: Option<Stamp>,
}

/// The findings that are wanted of a file.
pub trait FileRules {
    /// Reports whether all diagrams of a Markdown document are checked, not those of machines alone.
    fn checks_all_diagrams(&self) -> bool;

    /// Returns the servers whose tools states may grant.
    fn servers(&self) -> Arc<Servers>;

    /// Returns the codes that aren't wanted, so that what follows from such findings is reported.
    fn unwanted(&self) -> BTreeSet<Code>;

    /// Returns the severity of a finding; none if it isn't wanted.
    fn severity_of(&self, finding: &Diagnostic) -> Option<Severity>;

    /// Removes the findings that aren't wanted, and gives the others their severity.
    fn apply(&self, findings: &mut Vec<Diagnostic>);
}

/// A project without configuration: every finding is wanted, no file is known but those that are open.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProject;

impl Project for NoProject {
    fn is_spec(&self, _: &Path) -> bool {
        true
    }

    fn rules(&self, _: &Path, _: &[PathBuf]) -> Result<Box<dyn FileRules + '_>, String> {
        Ok(Box::new(Self))
    }

    fn specs(&self, _: &Path) -> Vec<SpecFile> {
        Vec::new()
    }

    fn read(&self, _: &Path) -> Option<String> {
        None
    }

    fn tools(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl FileRules for NoProject {
    fn checks_all_diagrams(&self) -> bool {
        false
    }

    fn servers(&self) -> Arc<Servers> {
        Arc::default()
    }

    fn unwanted(&self) -> BTreeSet<Code> {
        BTreeSet::new()
    }

    fn severity_of(&self, finding: &Diagnostic) -> Option<Severity> {
        Some(finding.severity)
    }

    fn apply(&self, _: &mut Vec<Diagnostic>) {}
}
