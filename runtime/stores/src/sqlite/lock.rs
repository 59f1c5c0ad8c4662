//! The door that writers go through one by one: an advisory lock on a file beside the store.
//!
//! SQLite has a lock of its own, but whoever waits for it sleeps and looks again, and one who writes all the time takes it
//! in between: with eight writers one of them waited for six seconds. A lock of the kernel wakes whoever waits.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use statemark_runs::files;
use statemark_runs::store::StoreError;

const DOING: &str = "waiting to write";

/// The lock that a process shares with the others.
pub(super) struct WriterLock {
    path: PathBuf,
    /// None where a thread still waits with it that nobody waits for.
    file: Option<File>,
    /// The thread that waits, once it was needed.
    waiter: Option<SyncSender<Wait>>,
    /// The longest wait.
    pub(super) patience: Duration,
}

/// A file to be locked, and who gets it then.
type Wait = (File, SyncSender<std::io::Result<File>>);

impl WriterLock {
    /// Returns the lock of the store in a file.
    pub(super) fn new(store: &Path, patience: Duration) -> Result<Self, StoreError> {
        let mut path = store.as_os_str().to_owned();
        path.push("-lock");
        let path = PathBuf::from(path);
        let file = files::open_or_create(&path).map_err(|error| StoreError::Failed {
            doing: "opening the store's lock",
            cause: error.to_string(),
        })?;
        Ok(Self {
            path,
            file: Some(file),
            waiter: None,
            patience,
        })
    }

    /// Waits until nobody else writes.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] after as long as its patience lasts.
    pub(super) fn enter(&mut self) -> Result<(), StoreError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => files::open_or_create(&self.path).map_err(|error| failed(&error))?,
        };
        let file = match file.try_lock() {
            Ok(()) => file,
            Err(TryLockError::WouldBlock) => self.wait(file)?,
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        };
        // Only a message depends on it.
        let _ = sign(&file);
        self.file = Some(file);
        Ok(())
    }

    /// Lets others write.
    pub(super) fn leave(&mut self) {
        // A file that can't be unlocked is closed, which unlocks it.
        self.file = self.file.take().filter(|file| file.unlock().is_ok());
    }

    /// Waits in the kernel's queue, which knows no deadline.
    /// So a thread waits there, and closes the file if its caller has given up.
    fn wait(&mut self, file: File) -> Result<File, StoreError> {
        // Without room for a message, sending it means that somebody has taken it.
        let (sender, receiver) = sync_channel(0);
        let waiter = match self.waiter.take() {
            Some(waiter) => waiter,
            None => start_waiter().map_err(|error| failed(&error))?,
        };
        let sent = waiter.send((file, sender));
        let answer = sent
            .ok()
            .and_then(|()| receiver.recv_timeout(self.patience).ok());
        match answer {
            Some(answer) => {
                self.waiter = Some(waiter);
                answer.map_err(|error| failed(&error))
            }
            None => Err(StoreError::Busy {
                by: self.holder(),
                until: None,
            }),
        }
    }

    /// Returns the last holder, as far as the file says.
    fn holder(&self) -> String {
        let mut text = String::new();
        let read = files::open(&self.path).and_then(|file| file.take(32).read_to_string(&mut text));
        match text.trim().parse::<u32>() {
            Ok(id) if read.is_ok() => format!("pid {id}"),
            _ => "another process".to_owned(),
        }
    }
}

/// Starts the thread that waits for locks, until nobody asks it any more.
fn start_waiter() -> std::io::Result<SyncSender<Wait>> {
    let (sender, receiver) = sync_channel::<Wait>(0);
    let stand = move || {
        for (file, caller) in receiver {
            let answer = file.lock().map(|()| file);
            // Nobody waits any more: dropping the file releases the lock.
            let _ = caller.send(answer);
        }
    };
    let thread = std::thread::Builder::new().name("statemark-lock".to_owned());
    thread.spawn(stand).map(|_| sender)
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
