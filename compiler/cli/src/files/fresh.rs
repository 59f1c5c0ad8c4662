//! A file that is written beside its place and takes it when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::unwritable;
use crate::failure::{Failure, FailureKind};

/// A file that isn't at its place yet. Until [`Fresh::settle`] nothing is there, or what was there before; whoever gives up
/// leaves nothing behind.
pub(crate) struct Fresh {
    path: PathBuf,
    temporary: PathBuf,
    overwrite: bool,
}

impl Fresh {
    /// For a place where no file is, unless one may be replaced.
    pub(crate) fn new(path: &Path, overwrite: bool) -> Result<Self, Failure> {
        let path = path.to_owned();
        if path.is_dir() {
            return Err(FailureKind::Folder { path }.into());
        }
        if !overwrite && path.symlink_metadata().is_ok() {
            return Err(FailureKind::Overwrites { path }.into());
        }
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let path = folder.to_owned();
            return Err(FailureKind::Missing { path }.into());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        // One of that name is left from a process that is gone.
        drop(fs::remove_file(&temporary));
        Ok(Self {
            path,
            temporary,
            overwrite,
        })
    }

    /// Where it is written.
    pub(crate) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Makes it, for its owner alone.
    pub(crate) fn make(&self) -> Result<File, Failure> {
        self.made(0o600)
    }

    /// Makes it, for everybody whom the process lets read its files.
    pub(crate) fn make_shared(&self) -> Result<File, Failure> {
        self.made(0o666)
    }

    fn made(&self, mode: u32) -> Result<File, Failure> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        let made = options.open(&self.temporary);
        made.map_err(|cause| unwritable(&self.path, cause))
    }

    /// It is whole, and takes its place.
    pub(crate) fn settle(self) -> Result<(), Failure> {
        let settled = self.take_place();
        settled.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => {
                let path = self.path.clone();
                FailureKind::Overwrites { path }.into()
            }
            _ => unwritable(&self.path, cause),
        })
    }

    fn take_place(&self) -> io::Result<()> {
        OpenOptions::new()
            .write(true)
            .open(&self.temporary)?
            .sync_all()?;
        if self.overwrite {
            return fs::rename(&self.temporary, &self.path);
        }
        // A link never takes the place of a file that came in between. Not every file system has links.
        match fs::hard_link(&self.temporary, &self.path) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Err(cause),
            Err(_) if self.path.symlink_metadata().is_ok() => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            Err(_) => fs::rename(&self.temporary, &self.path),
            Ok(()) => Ok(()),
        }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // It may not even be there.
        drop(fs::remove_file(&self.temporary));
    }
}
