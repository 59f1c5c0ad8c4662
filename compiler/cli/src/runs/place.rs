//! Where runs are kept: what the flag says, else the environment, else `statemark.toml`, else the folder `.statemark` that
//! is found upward, else one that is made at the root of the repository or here.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, FailureKind};
use crate::{config, files};

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
    if let Some((path, config)) = config::find(&here)?
        && let Some(address) = config.store
    {
        return Ok(beside(&path, address));
    }
    let folder = match files::upward(&here, FOLDER) {
        Some(found) => found,
        None => files::upward(&here, ".git")
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

/// An address in a configuration: a file is meant as seen from there.
fn beside(config: &Path, address: String) -> String {
    let is_elsewhere = address.contains("://") || address == "memory:";
    match config.parent() {
        Some(folder) if !is_elsewhere => {
            let file = address.strip_prefix("sqlite:").unwrap_or(&address);
            format!("sqlite:{}", folder.join(file).display())
        }
        _ => address,
    }
}
