//! One process at a time puts files into a working copy.
//!
//! The lock is on a file in the system's folder for temporary files, named after the working copy's path: in the
//! repository it would be litter that somebody saves. A process that dies gives its turn up.

use std::fs::{self, File};
use std::path::Path;

use super::{GitError, failed};
use crate::hash::Hash;

/// A turn; it ends when this goes away.
pub(crate) struct Turn {
    _file: File,
}

/// Waits for the turn to change a working copy.
///
/// # Errors
///
/// The lock can't be had.
pub(crate) fn take(working_copy: &Path) -> Result<Turn, GitError> {
    let doing = "the working copy can't be locked";
    let whole = fs::canonicalize(working_copy).map_err(|error| failed(doing, error))?;
    let name = Hash::of(whole.as_os_str().as_encoded_bytes()).to_string();
    let path = std::env::temp_dir().join(format!("statemark-{name}.lock"));
    let mut options = File::options();
    let options = options.create(true).truncate(false).write(true);
    let file = options.open(path).map_err(|error| failed(doing, error))?;
    file.lock().map_err(|error| failed(doing, error))?;
    Ok(Turn { _file: file })
}
