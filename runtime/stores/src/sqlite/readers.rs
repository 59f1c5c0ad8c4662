//! Connections that read: a few for all threads of a process.
//!
//! A read is computation, so that more of them at once than a machine has cores are no quicker. Opening a connection
//! takes longer than most reads; whoever finds all of them busy waits for one.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use rusqlite::Connection;

use super::{connection, lock_mutex};
use statemark_runs::store::StoreError;

/// Least number of connections. Why: one may wait for a page from the disk while others read.
const LEAST: usize = 4;

/// The connections of a store that read.
pub(super) struct Readers {
    path: PathBuf,
    most: usize,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Connection>,
    /// The number of connections, idle or not.
    open: usize,
}

/// A connection that is given back when it is dropped.
pub(super) struct Reader<'a> {
    readers: &'a Readers,
    /// Always there until it is dropped.
    connection: Option<Connection>,
}

impl Readers {
    /// Returns the readers of a file: two for each core.
    pub(super) fn new(path: PathBuf) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            path,
            most: cores.saturating_mul(2).max(LEAST),
            pool: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Runs a function on a connection, and opens one if all are busy and more are allowed.
    pub(super) fn with<T>(
        &self,
        act: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut reader = self.take();
        match &mut reader.connection {
            Some(connection) => act(connection),
            None => act(reader.connection.insert(connection::reader(&self.path)?)),
        }
    }

    fn take(&self) -> Reader<'_> {
        let mut pool = lock_mutex(&self.pool);
        loop {
            let connection = pool.idle.pop();
            if connection.is_some() || pool.open < self.most {
                pool.open += usize::from(connection.is_none());
                return Reader {
                    readers: self,
                    connection,
                };
            }
            let wait = self.returned.wait(pool);
            pool = wait.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let mut pool = lock_mutex(&self.readers.pool);
        // One that couldn't be opened, or in which a transaction is left, is replaced by another.
        match self.connection.take().filter(Connection::is_autocommit) {
            Some(connection) => pool.idle.push(connection),
            None => pool.open -= 1,
        }
        self.readers.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::files::Scratch;
    use super::*;

    #[test]
    fn no_more_connections_are_opened_than_there_may_be() {
        let folder = Scratch::new("readers");
        let path = folder.0.join("runs.db");
        std::fs::write(&path, b"").unwrap();
        let readers = Readers::new(path.clone());
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..readers.most * 4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let answer = readers.with(|_| {
                            let busy = now.fetch_add(1, Ordering::SeqCst) + 1;
                            most.fetch_max(busy, Ordering::SeqCst);
                            std::thread::yield_now();
                            now.fetch_sub(1, Ordering::SeqCst);
                            Ok(())
                        });
                        answer.unwrap();
                    }
                });
            }
        });
        assert!(most.into_inner() <= readers.most);
        let pool = lock_mutex(&readers.pool);
        assert!(pool.open <= readers.most && pool.idle.len() == pool.open);
        drop(pool);
        drop(folder);
        // One that can't be opened leaves its place to others.
        let missing = Readers::new(path);
        for _ in 0..=missing.most {
            missing.with(|_| Ok(())).unwrap_err();
        }
    }
}
