//! A repository in a folder of its own, and what is in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A working copy.
pub(super) struct Work {
    path: PathBuf,
    owned: bool,
}

impl Work {
    /// A repository without a commit.
    pub(super) fn new() -> Self {
        let path = fresh();
        fs::create_dir_all(&path).unwrap();
        Self { path, owned: true }.init()
    }

    /// Another working copy of the same repository.
    pub(super) fn beside(other: &Self) -> Self {
        let path = fresh();
        other.git(&["worktree", "add", "-q", "--detach", path.to_str().unwrap()]);
        Self { path, owned: true }
    }

    /// A repository inside this one.
    pub(super) fn inside(&self, name: &str) -> Self {
        let path = self.path.join(name);
        fs::create_dir_all(&path).unwrap();
        let owned = false;
        Self { path, owned }.init()
    }

    fn init(self) -> Self {
        self.git(&["init", "-q"]);
        self
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn git(&self, words: &[&str]) -> &Self {
        assert!(self.try_git(words), "git {words:?}");
        self
    }

    pub(super) fn try_git(&self, words: &[&str]) -> bool {
        self.git_output(words).0
    }

    /// What git says, without the end of its line.
    pub(super) fn git_text(&self, words: &[&str]) -> String {
        let (succeeded, text) = self.git_output(words);
        assert!(succeeded, "git {words:?}");
        String::from_utf8(text).unwrap().trim_end().to_owned()
    }

    fn git_output(&self, words: &[&str]) -> (bool, Vec<u8>) {
        let mut command = Command::new("git");
        command
            .current_dir(&self.path)
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(words);
        let output = command.output().unwrap();
        (output.status.success(), output.stdout)
    }

    pub(super) fn commit(&self) -> &Self {
        self.git(&["add", "-A"])
            .git(&["commit", "-q", "--no-verify", "-m", "all"])
    }

    pub(super) fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    pub(super) fn remove(&self, name: &str) -> &Self {
        let path = self.path.join(name);
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
        self
    }

    pub(super) fn link(&self, name: &str, to: &str) -> &Self {
        symlink(to, self.path.join(name)).unwrap();
        self
    }

    pub(super) fn executable(&self, name: &str, on: bool) -> &Self {
        let mode = if on { 0o755 } else { 0o644 };
        fs::set_permissions(self.path.join(name), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    /// What is git's and nobody else's: the index byte by byte, what is checked out, branches, the stash.
    pub(super) fn git_state(&self) -> Vec<Vec<u8>> {
        let (_, index) = self.git_output(&["rev-parse", "--git-path", "index"]);
        let index = String::from_utf8(index).unwrap();
        let index = self.path.join(index.trim_end());
        let mut all = vec![fs::read(index).unwrap_or_default()];
        for words in [
            &["symbolic-ref", "-q", "HEAD"][..],
            &["rev-parse", "-q", "--verify", "HEAD"],
            &["for-each-ref", "refs/heads", "refs/stash", "refs/tags"],
            &["reflog"],
            &["stash", "list"],
        ] {
            all.push(self.git_output(words).1);
        }
        all
    }

    /// What was left behind in the repository's own folder, and in the folder of checkpoints.
    pub(super) fn litter(&self) -> Vec<String> {
        let (_, folder) = self.git_output(&["rev-parse", "--absolute-git-dir"]);
        let folder = String::from_utf8(folder).unwrap();
        let names = |folder: &Path| -> Vec<String> {
            let entries = fs::read_dir(folder).unwrap();
            let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
            names.collect()
        };
        let mut all = names(Path::new(folder.trim_end()));
        all.retain(|name| name.contains("statemark"));
        let own = names(&self.path.join(".statemark/checkpoints.git"));
        let kept = ["HEAD", "config", "objects", "refs"];
        all.extend(
            own.into_iter()
                .filter(|name| !kept.contains(&name.as_str())),
        );
        all
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.owned {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// A folder that nobody else has; its name is none that a shell likes.
fn fresh() -> PathBuf {
    let count = COUNT.fetch_add(1, Ordering::SeqCst);
    let name = format!("statemark files {}-{count}", std::process::id());
    std::env::temp_dir().join(name)
}

/// Every file, link and bit of a working copy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot(BTreeMap<PathBuf, (char, Vec<u8>)>);

impl Snapshot {
    pub(super) fn of(work: &Work) -> Self {
        let mut all = BTreeMap::new();
        fill(&work.path, &work.path, &mut all);
        Self(all)
    }
}

fn fill(root: &Path, folder: &Path, all: &mut BTreeMap<PathBuf, (char, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_path_buf();
        let kind = fs::symlink_metadata(&path).unwrap();
        if name == Path::new(".git") || name == Path::new(".statemark") {
            continue;
        }
        if kind.is_symlink() {
            let to = fs::read_link(&path).unwrap().into_os_string();
            all.insert(name, ('l', to.into_encoded_bytes()));
        } else if kind.is_dir() {
            fill(root, &path, all);
        } else {
            let bit = if kind.permissions().mode() & 0o100 == 0 {
                'f'
            } else {
                'x'
            };
            all.insert(name, (bit, fs::read(&path).unwrap()));
        }
    }
}
