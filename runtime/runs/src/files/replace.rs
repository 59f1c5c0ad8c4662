//! Files that are replaced: whole or not at all, and not by two at once.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::create_new;

/// Longest wait for a folder.
/// Why: whoever holds it syncs one small file, and another user could hold it for ever.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two looks at a folder that somebody holds.
const LOOK: Duration = Duration::from_millis(5);

/// Tells the temporary files of this process apart.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// A file under a temporary name, until it is whole.
///
/// Until [`PendingFile::finish`], the path has what it had before. Dropping the value leaves nothing behind.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    temporary: PathBuf,
    overwrite: bool,
}

impl PendingFile {
    /// Prepares a file.
    ///
    /// # Errors
    ///
    /// `AlreadyExists`, unless the file may be replaced; `IsADirectory`; `NotFound` if there is no such folder.
    pub fn new(path: &Path, overwrite: bool) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !overwrite && path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let temporary = path.with_file_name(format!(".{name}.{process}-{count}.tmp"));
        // A file of that name is from a process that is gone.
        drop(fs::remove_file(&temporary));
        Ok(Self {
            path: path.to_owned(),
            temporary,
            overwrite,
        })
    }

    /// Returns the path of the temporary file.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Creates the temporary file, for its owner alone.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn create(&self) -> io::Result<File> {
        create_new(&self.temporary)
    }

    /// Creates the temporary file, for everybody who may read the files of this process.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn create_shared(&self) -> io::Result<File> {
        File::create_new(&self.temporary)
    }

    /// Gives the file, which is whole, its name.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if another process was faster, and the file may not be replaced.
    pub fn finish(self) -> io::Result<()> {
        OpenOptions::new()
            .write(true)
            .open(&self.temporary)?
            .sync_all()?;
        if self.overwrite {
            return fs::rename(&self.temporary, &self.path);
        }
        // A link never replaces a file that came in between. Not every file system has links.
        match fs::hard_link(&self.temporary, &self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if self.path.symlink_metadata().is_ok() => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            Err(_) => fs::rename(&self.temporary, &self.path),
            Ok(()) => Ok(()),
        }
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        // It may not even be there.
        drop(fs::remove_file(&self.temporary));
    }
}

/// Keeps others out who change a file of a folder, threads and processes, until it is dropped.
///
/// Whoever reads a file, and replaces it by what they have made of it, else loses what another has put there in between.
/// It excludes only those who ask for it, and is advice: after ten seconds, and where a folder can't be opened (Windows),
/// nobody is excluded.
#[derive(Debug)]
pub struct FolderLock {
    _held: Option<File>,
}

impl FolderLock {
    /// Waits until nobody else has the folder.
    #[must_use]
    pub fn take(folder: &Path) -> Self {
        let until = Instant::now() + PATIENCE;
        // Each opened folder has a lock of its own, also within a process.
        let mut held = File::open(folder).ok();
        while let Some(folder) = &held {
            match folder.try_lock() {
                Ok(()) => break,
                Err(fs::TryLockError::WouldBlock) if Instant::now() < until => sleep(LOOK),
                Err(_) => held = None,
            }
        }
        Self { _held: held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each adds a line to what it has read.
    #[test]
    fn a_file_that_many_change_keeps_what_each_has_put_there() {
        let name = format!("statemark-replace-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        drop(fs::remove_dir_all(&folder));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("lines");
        let add = |line: u32| {
            let _alone = FolderLock::take(&folder);
            let text = fs::read_to_string(&file).unwrap_or_default();
            let pending = PendingFile::new(&file, true).unwrap();
            let text = format!("{text}{line}\n");
            io::Write::write_all(&mut pending.create().unwrap(), text.as_bytes()).unwrap();
            pending.finish().unwrap();
        };
        std::thread::scope(|scope| {
            for first in 0..4 {
                scope.spawn(move || (0..8).for_each(|line| add(8 * first + line)));
            }
        });
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().count(), 32, "{text}");
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            1,
            "nothing else is left"
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
