//! The program of a check: which file a command means, and what is in it.
//!
//! A run's first record names the programs of the checks that it requires. So a search path that somebody sets later leads
//! to another program, which is noticed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Declaration;
use crate::hash::Hash;

/// The part of a program that is read. Unit: bytes.
///
/// Why: interpreters with everything in them have a hundred megabytes.
const MOST: u64 = 256 << 20;

/// Size of one read. Unit: bytes.
const CHUNK: usize = 64 << 10;

/// A program as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The absolute path of its file, without links.
    pub path: String,
    /// The checksum of the file's content.
    pub hash: Hash,
}

impl Program {
    /// Finds the program that a declared check runs in a project.
    ///
    /// A name without `/` is looked for in the folders of the declared `PATH`, else of this process's, as `execvp(3)` does.
    #[must_use]
    pub fn find(declared: &Declaration, root: &Path) -> Option<Self> {
        let (program, _) = declared.program().ok()?;
        let folder = match &declared.cwd {
            Some(cwd) => root.join(cwd),
            None => root.to_path_buf(),
        };
        let path = declared.env.get("PATH").map(Into::into);
        let path = path.or_else(|| std::env::var_os("PATH"));
        let file = find_file(program, &folder, path.as_deref())?;
        let file = file.canonicalize().ok()?;
        Some(Self {
            hash: hash_file(&file)?,
            path: file.to_string_lossy().into_owned(),
        })
    }

    /// Returns a program below a folder as the one that stands at the same place below another.
    ///
    /// A worktree has the project's own programs, each at its place.
    #[must_use]
    pub fn moved(&self, from: &str, to: &str) -> Self {
        let path = Path::new(&self.path).strip_prefix(from);
        let path = path.map(|rest| Path::new(to).join(rest).to_string_lossy().into_owned());
        Self {
            path: path.unwrap_or_else(|_| self.path.clone()),
            ..self.clone()
        }
    }

    /// Reports whether it is another one, as it was found before.
    ///
    /// One that lies in the project may have been changed: it is part of what agents work on, as tests are.
    #[must_use]
    pub fn is(&self, other: &Self, root: &str) -> bool {
        let is_ours = || PathBuf::from(&self.path).starts_with(root);
        self.path == other.path && (self.hash == other.hash || is_ours())
    }
}

/// Finds the file of a program in the folders of a search path, as `execvp(3)` does.
pub(super) fn find_file(program: &str, folder: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(folder.join(program));
    }
    let mut places = std::env::split_paths(path?);
    places.find_map(|place| {
        let file = folder.join(place).join(program);
        is_program(&file).then_some(file)
    })
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let facts = file.metadata();
    facts.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

fn hash_file(path: &Path) -> Option<Hash> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?.take(MOST);
    let mut digest = hmac_sha256::Hash::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = file.read(&mut chunk).ok()?;
        match chunk.get(..count) {
            Some([]) | None => break,
            Some(bytes) => digest.update(bytes),
        }
    }
    Some(Hash::from_bytes(digest.finalize()))
}
