//! Where runs are kept: what the flag says, else the environment, else the folder `.statemark` that is found upward, else
//! one that is made at the root of the repository or here.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, FailureKind};
use crate::files;

const VARIABLE: &str = "STATEMARK_STORE";

/// The folder of a project's runs.
const FOLDER: &str = ".statemark";

/// The file in it.
const FILE: &str = "runs.db";

/// The address of the store.
pub(super) fn find(flag: Option<&str>) -> Result<String, Failure> {
    if let Some(address) = flag {
        return Ok(address.to_owned());
    }
    if let Ok(address) = std::env::var(VARIABLE)
        && !address.is_empty()
    {
        return Ok(address);
    }
    let here = std::env::current_dir().map_err(|cause| {
        let path = PathBuf::from(".");
        Failure::from(FailureKind::Unreadable { path, cause })
    })?;
    let folder = match upward(&here, FOLDER) {
        Some(found) => found,
        None => upward(&here, ".git")
            .and_then(|git| git.parent().map(Path::to_path_buf))
            .unwrap_or(here)
            .join(FOLDER),
    };
    if !folder.is_dir() {
        files::make_folder(&folder)?;
        // What is in it is nobody else's.
        files::write(&folder.join(".gitignore"), b"*\n")?;
    }
    Ok(format!("sqlite:{}", folder.join(FILE).display()))
}

/// The nearest file or folder of that name, here or in a folder around this one.
fn upward(here: &Path, name: &str) -> Option<PathBuf> {
    let mut around = here.ancestors().map(|folder| folder.join(name));
    around.find(|path| path.exists())
}
