//! A store in one SQLite file: for one machine and any number of processes on it.
//!
//! What to rely on:
//!
//! - What was acknowledged has reached the disk: the journal is a write-ahead log with `synchronous=FULL`.
//! - Processes take turns to write. Each waits for a [lock](lock::WriterLock) on a file beside the store, for at most as
//!   long as the store is [patient](SqliteStore::with_patience); then it is told who holds it. The kernel releases the
//!   lock of a process that was killed.
//! - Those that write at the same time in one process share a [transaction](writers::Writers), each with a part that
//!   succeeds or fails alone. What is answered is on the disk.
//! - A [mark](mark) beside the file says how far it went, so that a lost end is noticed when the file is opened.
//! - Readers wait for no writer, and see a run as it was at one moment.
//!
//! Deliberately not here: stores on network file systems, whose locks and shared memory can't be trusted, and other
//! libraries of SQLite in the same file. Below version 3.51.3 they can damage it.

mod connection;
mod copy;
mod error;
mod files;
mod lock;
mod mark;
mod read;
mod readers;
mod row;
mod schema;
mod write;
mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use self::error::Doing as _;
use self::readers::Readers;
use self::writers::Writers;
use statemark_runs::Clock;
use statemark_runs::Hash;
use statemark_runs::Record;
use statemark_runs::store::{
    Append, Appended, Derived, DueTimer, Expect, Head, Hint, KeyUse, Lease, Page, Query, Store,
    StoreError, TOUCH_AFTER, Watermark,
};
use statemark_runs::{Key, RunId};

/// Longest wait of a writer for others.
/// Why: longer than any write takes, shorter than an agent's patience.
const PATIENCE: Duration = Duration::from_secs(10);

/// A store in an SQLite file.
pub struct SqliteStore {
    path: PathBuf,
    clock: Box<dyn Clock>,
    writers: Writers,
    readers: Readers,
    watcher: Mutex<Watcher>,
}

/// A watcher of changes.
/// It has a connection of its own, because `data_version` tells what *others* have committed.
#[derive(Default)]
struct Watcher {
    /// None until somebody watches: most commands don't.
    connection: Option<Connection>,
    /// The file's version at the last look, and the store's own count.
    seen: Option<(i64, u64)>,
}

impl SqliteStore {
    /// Opens the store in a file, and makes it if there is none. Its leases and claims go by that clock.
    ///
    /// A new file can be read by its owner alone, and so can a new folder.
    ///
    /// # Errors
    ///
    /// [`StoreError::SchemaTooNew`]; [`StoreError::Busy`]; [`StoreError::Failed`] if the file is another program's, lies
    /// on a network file system, or can't be opened; [`StoreError::Lost`] if its mark says that records are missing.
    pub fn open(path: &Path, clock: impl Clock + 'static) -> Result<Self, StoreError> {
        // Before anything is written: an empty file can be put back as it was.
        let emptied = mark::emptied(path, mark::read(path));
        if let Some(what) = emptied {
            return Err(StoreError::Lost { what });
        }
        let store = Self::open_as_is(path, clock)?;
        match store.loss()? {
            Some(what) => Err(StoreError::Lost { what }),
            None => Ok(store),
        }
    }

    /// Opens the store in a file like [`open`](Self::open), also where records are missing.
    ///
    /// Whoever writes to it takes it as it is: the mark follows.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), but for [`StoreError::Lost`].
    pub fn open_as_is(path: &Path, clock: impl Clock + 'static) -> Result<Self, StoreError> {
        connection::check_library()?;
        files::prepare(path)?;
        let writers = Writers::open(path, PATIENCE, schema::bring_up)?;
        Ok(Self {
            path: path.to_owned(),
            clock: Box::new(clock),
            writers,
            readers: Readers::new(path.to_owned()),
            watcher: Mutex::default(),
        })
    }

    /// Sets the longest wait of writers for others.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        self.writers.set_patience(patience);
        self
    }

    /// Returns the path of the store's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a write, all or nothing.
    fn write<T>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.writers.write(act)
    }

    /// Runs one transaction that reads: all of it as it was at one moment.
    fn read<T>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.readers.with(|connection| {
            let transaction = connection.transaction().doing("beginning to read")?;
            let answer = act(&transaction);
            transaction.finish().doing("ending a read")?;
            answer
        })
    }
}

/// Locks a mutex, poisoned or not.
/// A panic of another thread leaves nothing half-done: its transaction was rolled back when it was dropped.
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for SqliteStore {
    fn append(&self, append: &Append) -> Result<Appended, StoreError> {
        append.check()?;
        self.write(|transaction| write::append(transaction, append, None))
    }

    fn head(&self, run: &RunId) -> Result<Head, StoreError> {
        self.read(|transaction| read::head(transaction, run))
    }

    fn records(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.read(|transaction| read::records(transaction, run, after, limit))
    }

    fn key_use(&self, run: &RunId, key: &Key) -> Result<Option<KeyUse>, StoreError> {
        self.read(|transaction| read::find_seen(transaction, run, key))
    }

    fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.read(|transaction| read::list(transaction, query))
    }

    fn status_counts(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        self.read(read::counts)
    }

    fn fork(&self, from: &RunId, at: u64, append: &Append) -> Result<Appended, StoreError> {
        append.check()?;
        self.write(|transaction| write::append(transaction, append, Some((from, at))))
    }

    fn create(&self, from: Option<(&RunId, u64)>, appends: &[Append]) -> Result<(), StoreError> {
        for append in appends {
            append.check()?;
        }
        self.write(|transaction| write::make(transaction, from, appends))
    }

    fn lease(&self, run: &RunId, owner: &str, milliseconds: u64) -> Result<Lease, StoreError> {
        self.write(|transaction| {
            write::lease(transaction, run, owner, milliseconds, self.clock.now())
        })
    }

    fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.write(|transaction| write::release(transaction, lease))
    }

    fn claim_due(&self, now: u64, limit: usize, claim: u64) -> Result<Vec<DueTimer>, StoreError> {
        let clock = self.clock.now();
        // Whoever only looks doesn't keep writers waiting.
        if self
            .read(|transaction| read::due(transaction, now, limit, clock))?
            .is_empty()
        {
            return Ok(Vec::new());
        }
        self.write(|transaction| {
            let due = read::due(transaction, now, limit, clock)?;
            write::claim(transaction, &due, clock.saturating_add(claim))?;
            Ok(due)
        })
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn loss(&self) -> Result<Option<String>, StoreError> {
        // Others may write between the two: the mark first, which then says less.
        let mark = mark::read(&self.path);
        self.read(|transaction| mark::missing(transaction, mark))
    }

    fn derived(&self, run: &RunId) -> Result<Option<Derived>, StoreError> {
        self.read(|transaction| read::derived(transaction, run))
            .map(Some)
    }

    fn table_damage(&self) -> Result<Vec<String>, StoreError> {
        self.read(read::table_damage)
    }

    fn is_asleep(&self) -> Result<bool, StoreError> {
        self.read(read::is_asleep)
    }

    fn wake(&self) -> Result<usize, StoreError> {
        self.write(copy::wake)
    }

    fn next_due(&self) -> Result<Option<u64>, StoreError> {
        let clock = self.clock.now();
        self.read(|transaction| read::next_due(transaction, clock))
    }

    fn changes(&self, since: &Watermark) -> Result<(Watermark, Vec<Hint>), StoreError> {
        let mut watcher = lock_mutex(&self.watcher);
        let Watcher { connection, seen } = &mut *watcher;
        let connection = match connection {
            Some(connection) => connection,
            None => connection.insert(connection::reader(&self.path)?),
        };
        let version = read::file_version(connection)?;
        if let Some((file, count)) = *seen
            && file == version
            && since.0 >= count
        {
            return Ok((Watermark(count), Vec::new()));
        }
        let transaction = connection.transaction().doing("beginning to read")?;
        let (count, mark, hints) = read::changes(&transaction, since)?;
        transaction.finish().doing("ending a read")?;
        // The version from before the reading: what came in between is looked for again.
        *seen = Some((version, count));
        Ok((mark, hints))
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Hash, StoreError> {
        let hash = Hash::digest(bytes);
        let now = self.clock.now();
        let kept = self.read(|transaction| read::last_kept(transaction, &hash))?;
        if kept.is_none_or(|kept| now.saturating_sub(kept) >= TOUCH_AFTER) {
            self.write(|transaction| write::blob(transaction, &hash, bytes, Some(now)))?;
        }
        Ok(hash)
    }

    fn sweep_blobs(
        &self,
        named: &BTreeSet<Hash>,
        idle: u64,
        really: bool,
    ) -> Result<Vec<Hash>, StoreError> {
        let before = self.clock.now().saturating_sub(idle);
        let gone = |transaction: &Connection| {
            let mut gone = read::idle(transaction, before)?;
            gone.retain(|hash| !named.contains(hash));
            Ok(gone)
        };
        if !really {
            return self.read(gone);
        }
        self.write(|transaction| {
            let gone = gone(transaction)?;
            write::sweep(transaction, &gone)?;
            Ok(gone)
        })
    }

    fn blob(&self, hash: &Hash) -> Result<Vec<u8>, StoreError> {
        let bytes = self.read(|transaction| read::blob(transaction, hash))?;
        if Hash::digest(&bytes) != *hash {
            return Err(StoreError::Corrupt {
                run: None,
                seq: None,
                what: format!("blob {hash} has other bytes"),
            });
        }
        Ok(bytes)
    }

    fn put_fold_cache(&self, run: &RunId, seq: u64, fold: &[u8]) -> Result<(), StoreError> {
        self.write(|transaction| write::fold(transaction, run, seq, fold))
    }

    fn fold_cache(&self, run: &RunId, upto: u64) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        self.read(|transaction| read::fold(transaction, run, upto))
    }

    fn remove(&self, run: &RunId, expect: Expect) -> Result<(), StoreError> {
        self.write(|transaction| write::remove(transaction, run, expect))
    }
}
