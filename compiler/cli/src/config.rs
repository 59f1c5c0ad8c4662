//! `statemark.toml`: what a project says once for all commands.
//!
//! ```toml
//! project = "shop"
//! store = "postgres://runs.example.org/statemark"
//!
//! [checks.tests]
//! command = ["cargo", "test"]
//! timeout = "10m"
//! ```
//!
//! The nearest one counts, in this folder or in one around it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use statemark_runs::check::Declaration;

use crate::failure::{Failure, FailureKind};
use crate::files;

/// Its name.
const FILE: &str = "statemark.toml";

/// Largest one. Unit: bytes. Why: it says a few things.
const MOST: usize = 1 << 20;

/// What a project says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The project's id, by which runs in a store that several projects share are told apart.
    pub(crate) project: Option<String>,
    /// Where runs are kept. A file is looked for beside the configuration.
    pub(crate) store: Option<String>,
    /// The checks that it has besides those of its workflows. They run beside the configuration.
    #[serde(default)]
    pub(crate) checks: BTreeMap<String, Declaration>,
}

/// Whether a folder has one.
pub(crate) fn is_in(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

/// The configuration of the project around a folder, and where it is written; none if there is none.
pub(crate) fn find(here: &Path) -> Result<Option<(PathBuf, Config)>, Failure> {
    let Some(path) = files::upward(here, FILE) else {
        return Ok(None);
    };
    let text = match files::read(&path, MOST)? {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    };
    match toml::from_str(&text) {
        Ok(config) => Ok(Some((path, config))),
        Err(cause) => Err(FailureKind::BadConfig {
            path,
            cause: Box::new(cause),
        }
        .into()),
    }
}
