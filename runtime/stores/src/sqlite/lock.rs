//! The door that writers go through one by one: an advisory lock on a file beside the store.
//!
//! SQLite has a lock of its own, but whoever waits for it sleeps and looks again, and one who writes all the time takes it
//! in between: with eight writers one of them waited for six seconds. A lock of the kernel wakes whoever waits.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::files;
use statemark_runs::store::StoreError;

const DOING: &str = "waiting to write";

/// The lock that a process shares with the others.
pub(super) struct WriterLock {
    path: PathBuf,
    file: File,
    /// The longest wait.
    pub(super) patience: Duration,
}

/// Leave to write, until it is dropped.
pub(super) struct WriterGuard<'a> {
    file: &'a File,
}

impl WriterLock {
    /// Returns the door of the store in a file.
    pub(super) fn new(store: &Path, patience: Duration) -> Result<Self, StoreError> {
        let mut path = store.as_os_str().to_owned();
        path.push("-lock");
        let path = PathBuf::from(path);
        let file = files::open(&path).map_err(|error| StoreError::Failed {
            doing: "opening the store's lock",
            cause: error.to_string(),
        })?;
        Ok(Self {
            path,
            file,
            patience,
        })
    }

    /// Waits until nobody else writes.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] after as long as its patience lasts.
    pub(super) fn enter(&mut self) -> Result<WriterGuard<'_>, StoreError> {
        match self.file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => self.file = self.wait()?,
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        }
        // Only a message depends on it.
        let _ = sign(&self.file);
        Ok(WriterGuard { file: &self.file })
    }

    /// Waits in the kernel's queue, which knows no deadline.
    /// So a thread waits there, and releases the lock if its caller has given up. It has a file of its own, because
    /// locks belong to open files.
    fn wait(&self) -> Result<File, StoreError> {
        let file = files::open(&self.path).map_err(|error| failed(&error))?;
        // Without room for a message, sending it means that somebody has taken it.
        let (sender, receiver) = sync_channel(0);
        let stand = move || {
            let answer = file.lock().map(|()| file);
            // Nobody waits any more: dropping the file opens the door again.
            let _ = sender.send(answer);
        };
        std::thread::Builder::new()
            .name("statemark-door".to_owned())
            .spawn(stand)
            .map_err(|error| failed(&error))?;
        match receiver.recv_timeout(self.patience) {
            Ok(answer) => answer.map_err(|error| failed(&error)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err(StoreError::Busy { by: self.holder() })
            }
        }
    }

    /// Returns the last holder, as far as the file says.
    fn holder(&self) -> String {
        let mut text = String::new();
        let read = File::open(&self.path).and_then(|file| file.take(32).read_to_string(&mut text));
        match text.trim().parse::<u32>() {
            Ok(id) if read.is_ok() => format!("pid {id}"),
            _ => "another process".to_owned(),
        }
    }
}

/// Leaves the process's id, at one width, so that nothing of a longer one stays.
fn sign(mut file: &File) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    let text = format!("{:<10}\n", std::process::id());
    file.write_all(text.as_bytes())
}

fn failed(error: &std::io::Error) -> StoreError {
    let cause = error.to_string();
    StoreError::Failed {
        doing: DOING,
        cause,
    }
}

impl Drop for WriterGuard<'_> {
    fn drop(&mut self) {
        // If it fails, the file is closed with the store at the latest.
        let _ = self.file.unlock();
    }
}
