//! A repository as agents read it: what is checked out, what has changed, and its history.
//!
//! What to rely on: as everywhere here, git reads data alone. References and the index are copied into a directory of our
//! own, so that no configuration, hook, filter, external diff or pager of the repository has any effect, and nothing of the
//! repository is written.
//!
//! Deliberately not here: attributes. Files that are filtered on checkout (large files, other line ends) show as changed.

use std::fs;
use std::io;
use std::path::Path;

use super::{GitError, Repository, failed};

/// A repository that is only read.
#[derive(Debug)]
pub struct RepositoryView {
    repository: Repository,
}

impl RepositoryView {
    /// Opens the repository that a folder is in.
    ///
    /// # Errors
    ///
    /// There is none, or it can't be read.
    pub fn open(folder: &Path) -> Result<Self, GitError> {
        let repository = Repository::open(folder, None)?;
        let view = Self { repository };
        view.copy_references()
            .map_err(|error| failed("reading the references", error))?;
        Ok(view)
    }

    /// Returns what git says to some words of a command that only reads.
    ///
    /// Whoever asks keeps options out of the words that come from elsewhere.
    ///
    /// # Errors
    ///
    /// Git refuses, with its own words.
    pub fn ask(&self, doing: &'static str, words: &[&str]) -> Result<Vec<u8>, GitError> {
        let repository = &self.repository;
        let mut command = repository.over_theirs();
        if let Some(list) = repository.ignore_list() {
            command.args(["-c", &format!("core.excludesFile={list}")]);
        }
        if let Some(index) = repository.theirs.index() {
            command.env("GIT_INDEX_FILE", index);
        }
        repository.link_shared_indexes();
        command
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_PAGER", "cat")
            .args(["--no-pager", "-c", "core.quotePath=false"])
            .args(words);
        repository.output(doing, command, b"")
    }

    /// Returns the path of a folder from the root of the working copy, as git writes it.
    ///
    /// It is empty for the root.
    #[must_use]
    pub fn path_of(&self, folder: &Path) -> String {
        let path = folder.strip_prefix(self.repository.folder());
        let parts = path.unwrap_or(Path::new("")).components();
        let parts: Vec<_> = parts.map(|it| it.as_os_str().to_string_lossy()).collect();
        parts.join("/")
    }

    /// Copies what is checked out and the references into our own directory.
    fn copy_references(&self) -> io::Result<()> {
        let (theirs, session) = (&self.repository.theirs, self.repository.session.path());
        let references = theirs.references();
        let lines = references.iter().map(|(name, id)| format!("{id} {name}\n"));
        let text: String = std::iter::once("# pack-refs with: sorted \n".to_owned())
            .chain(lines)
            .collect();
        fs::write(session.join("packed-refs"), text)?;
        if let Some(head) = theirs.head_line() {
            fs::write(session.join("HEAD"), format!("{head}\n"))?;
        }
        match theirs.shallow() {
            Some(text) => fs::write(session.join("shallow"), text),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, words: &[&str]) {
        let done = Command::new("git")
            .current_dir(folder)
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(words)
            .output()
            .unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let folder =
            std::env::temp_dir().join(format!("statemark-view-{}-{name}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).unwrap();
        git(&folder, &["init", "-q", "-b", "main"]);
        fs::write(folder.join("a.txt"), "one\n").unwrap();
        git(&folder, &["add", "."]);
        git(&folder, &["commit", "-q", "-m", "first"]);
        git(&folder, &["tag", "v1"]);
        folder
    }

    fn said(folder: &Path, words: &[&str]) -> String {
        let said = RepositoryView::open(folder).unwrap().ask("asking", words);
        String::from_utf8(said.unwrap()).unwrap()
    }

    #[test]
    fn branches_tags_and_changes_are_read() {
        let folder = folder("read");
        fs::write(folder.join("a.txt"), "two\n").unwrap();
        fs::write(folder.join("b.txt"), "new\n").unwrap();
        let status = said(&folder, &["status", "--short", "--branch"]);
        assert_eq!(status, "## main\n M a.txt\n?? b.txt\n");
        assert_eq!(
            said(&folder, &["log", "--format=%s%d"]),
            "first (HEAD -> main, tag: v1)\n"
        );
        git(&folder, &["pack-refs", "--all"]);
        git(&folder, &["checkout", "-q", "-b", "other"]);
        assert_eq!(
            said(&folder, &["log", "--format=%s%d"]),
            "first (HEAD -> other, tag: v1, main)\n"
        );
        assert!(said(&folder, &["diff"]).contains("-one\n+two\n"));
        assert_eq!(said(&folder, &["show", "v1:a.txt"]), "one\n");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn nothing_that_a_repository_configures_is_run() {
        let folder = folder("quiet");
        let owned = folder.join("owned");
        let runs = format!("touch {}", owned.display());
        for (key, value) in [
            ("core.fsmonitor", runs.as_str()),
            ("core.pager", &runs),
            ("diff.external", &runs),
            ("diff.evil.textconv", &runs),
            ("filter.evil.clean", &runs),
            ("filter.evil.process", &runs),
            ("gpg.program", &runs),
            ("log.showSignature", "true"),
            ("core.alternateRefsCommand", &runs),
            ("core.sshCommand", &runs),
        ] {
            git(&folder, &["config", key, value]);
        }
        fs::write(folder.join(".gitattributes"), "* filter=evil diff=evil\n").unwrap();
        fs::write(folder.join("a.txt"), "two\n").unwrap();
        fs::create_dir_all(folder.join(".git/hooks")).unwrap();
        for words in [
            &["status"][..],
            &["diff"],
            &["log", "-p", "--show-signature"],
            &["show", "HEAD"],
        ] {
            said(&folder, words);
            assert!(!owned.exists(), "{words:?}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
