//! Files of ours that a project doesn't have, and that no check may give it.
//!
//! Whoever cloned a project, or works in it, is held to its `statemark.toml`: it names the store, checks and servers. A
//! check can be kept from a file that is there; one that isn't there can't be mounted read-only, and grants know folders
//! alone. So what has come while a check ran is set aside once it has ended, and its result says so.
//!
//! What to rely on: nothing is deleted. What a person has written meanwhile is set aside, too, and still there.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The ending of the name of a file that is set aside.
const ASIDE: &str = "from-check";

/// Most names that are tried. Why: whoever fills them all has a project that nobody reads any more.
const MAX_NAMES: usize = 100;

/// Files that weren't there when a check began.
#[derive(Debug)]
pub(super) struct Missing {
    paths: Vec<PathBuf>,
}

impl Missing {
    /// Notes which of some files aren't there.
    pub(super) fn among(paths: impl Iterator<Item = PathBuf>) -> Self {
        Self {
            paths: paths.filter(|path| !is_there(path)).collect(),
        }
    }

    /// Sets aside what is there now, and returns what is to be said of it.
    pub(super) fn set_aside(&self) -> Option<String> {
        let mut said = String::new();
        for path in self.paths.iter().filter(|path| is_there(path)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let gap = if said.is_empty() { "" } else { "; " };
            let outcome = match rename(path) {
                Ok(aside) => format!(
                    "`{name}` wasn't there before it ran, so what it made of that name is now `{aside}`: a person can take it back"
                ),
                Err(error) => format!(
                    "`{name}` wasn't there before it ran, and can't be set aside ({error}): look at it before you go on"
                ),
            };
            // Writing to a string doesn't fail.
            let _ = write!(said, "{gap}{outcome}");
        }
        (!said.is_empty()).then_some(said)
    }
}

/// Reports whether anything has that name, be it a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Gives a file a name by which nothing reads it, and returns that name.
fn rename(path: &Path) -> std::io::Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let numbers = std::iter::once(String::new()).chain((2..=MAX_NAMES).map(|it| format!("-{it}")));
    let mut names = numbers.map(|number| format!("{name}.{ASIDE}{number}"));
    let free = names.find(|name| !is_there(&path.with_file_name(name)));
    let free = free.ok_or_else(|| std::io::Error::other("too many were set aside already"))?;
    fs::rename(path, path.with_file_name(&free))?;
    Ok(free)
}

/// Makes a folder for its owner alone, unless something has that name.
///
/// Where that fails, there is nothing to protect.
#[cfg(target_os = "linux")]
pub(super) fn make_private_folder(path: &Path) {
    use std::os::unix::fs::DirBuilderExt as _;
    let _ = fs::DirBuilder::new().mode(0o700).create(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_is_set_aside_and_what_was_there_is_left() {
        let name = format!("statemark-missing-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).unwrap();
        let path = |name: &str| root.join(name);
        fs::write(path("there"), "").unwrap();
        for number in ["", "-2"] {
            let names = ["there", "later", "never"].map(path);
            let missing = Missing::among(names.into_iter());
            assert_eq!(missing.set_aside(), None);
            std::os::unix::fs::symlink("nowhere", path("later")).unwrap();
            let said = missing.set_aside().unwrap();
            assert!(
                said.contains(&format!("`later.from-check{number}`")),
                "{said}"
            );
            assert!(is_there(&path("there")) && !is_there(&path("later")));
        }
        fs::remove_dir_all(&root).unwrap();
    }
}
