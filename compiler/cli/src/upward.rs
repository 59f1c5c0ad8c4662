//! The search for a project's files, in a folder and in those that it is in.
//!
//! A folder above may be anybody's, as `/tmp` is. What lies there and belongs to another user isn't the project's: its
//! configuration would start that user's programs as whoever works below.
//!
//! What to rely on: what is found belongs to this user, to root, or to whoever owns the folder where the search begins, as the
//! files of a container's project do; or it is in a repository that belongs to one of them.
//!
//! Deliberately not here: what a file says, and whether it may be a link.

use std::path::{Path, PathBuf};

use statemark_runs::find_working_copy;

/// Finds the nearest file or folder of a name that belongs to the project.
pub(crate) fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut paths = folder.ancestors().map(|it| it.join(name));
    paths.find(|path| path.exists() && is_own(path, folder))
}

/// Reports whether something above a folder belongs to the folder's project.
pub(crate) fn is_own(path: &Path, folder: &Path) -> bool {
    let trusted = Trusted::new(folder);
    if trusted.have(path) {
        return true;
    }
    repository(folder).is_some_and(|top| path.starts_with(top))
}

/// Returns the repository that a folder is in, if it belongs to the folder's project.
pub(crate) fn repository(folder: &Path) -> Option<&Path> {
    let trusted = Trusted::new(folder);
    find_working_copy(folder).filter(|top| trusted.have(&top.join(".git")))
}

/// The users whose files count.
#[cfg(unix)]
struct Trusted([Option<u32>; 3]);

#[cfg(unix)]
impl Trusted {
    fn new(folder: &Path) -> Self {
        let own = rustix::process::geteuid().as_raw();
        let root = 0;
        Self([Some(own), Some(root), owner(folder)])
    }

    fn have(&self, path: &Path) -> bool {
        owner(path).is_some_and(|it| self.0.contains(&Some(it)))
    }
}

/// Returns who owns a file; of a link, who has made the link.
#[cfg(unix)]
fn owner(path: &Path) -> Option<u32> {
    let facts = std::fs::symlink_metadata(path).ok()?;
    Some(std::os::unix::fs::MetadataExt::uid(&facts))
}

/// Elsewhere folders above a user's own aren't anybody's to write.
#[cfg(not(unix))]
struct Trusted;

#[cfg(not(unix))]
impl Trusted {
    fn new(_: &Path) -> Self {
        Self
    }

    fn have(&self, _: &Path) -> bool {
        true
    }
}
