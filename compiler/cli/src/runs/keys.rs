//! The project's tokens for a server, read again when somebody has changed them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use statemark_runs::Tokens;
use statemark_server::Keys;

use super::caller;
use crate::failure::Failure;

/// What tells one state of a file from another: it is always replaced as a whole.
type Stamp = Option<(u64, Option<SystemTime>, u64)>;

/// The list of tokens as it is now.
pub(crate) struct ListedKeys {
    path: PathBuf,
    known: Mutex<(Stamp, Arc<Tokens>)>,
}

/// The project's tokens.
pub(crate) fn keys() -> Result<ListedKeys, Failure> {
    let path = caller::list()?;
    // The stamp is older than what is read: a change in between is read again.
    let stamp = stamp(&path).unwrap_or_default();
    let tokens = Arc::new(caller::read_from(&path)?);
    Ok(ListedKeys {
        path,
        known: Mutex::new((stamp, tokens)),
    })
}

impl Keys for ListedKeys {
    fn tokens(&self) -> Result<Arc<Tokens>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = stamp(&self.path).map_err(|error| error.to_string())?;
        if found != known.0 {
            let tokens = caller::read_from(&self.path).map_err(|error| error.to_string())?;
            *known = (found, Arc::new(tokens));
        }
        Ok(Arc::clone(&known.1))
    }
}

fn stamp(path: &std::path::Path) -> std::io::Result<Stamp> {
    match std::fs::metadata(path) {
        Ok(facts) => Ok(Some((facts.len(), facts.modified().ok(), inode(&facts)))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn inode(facts: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(facts)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}
