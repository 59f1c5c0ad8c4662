//! Writers of a process: one transaction for those that wait at the same time.
//!
//! The disk is what a write waits for, and it takes as long for one as for many. So each thread does its own part, on the
//! one connection that writes; if others wait for their turn by then, it leaves the transaction open to them, and the
//! last one commits. Every answer waits for the commit, a refusal too: what it was refused for may not come to be.
//!
//! What to rely on: a part sees those before it, and one that fails is undone alone (a savepoint). If the transaction
//! fails, all of its parts do. Other processes wait for it as they wait for a single write; [`MOST`] bounds how long.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::error::{self, Doing as _};
use super::lock::WriterLock;
use super::mark::{Mark, MarkFile};
use super::{connection, lock_mutex};
use statemark_runs::store::StoreError;

/// Most parts of a transaction. Why: it takes milliseconds then, and other processes wait for its end.
const MOST: usize = 64;

/// The writers of a store in this process.
pub(super) struct Writers {
    turn: Mutex<Turn>,
    /// The number of threads that wait for their turn.
    waiting: AtomicUsize,
}

/// The connection that writes, and the transaction that is open on it.
struct Turn {
    lock: WriterLock,
    mark: MarkFile,
    connection: Connection,
    batch: Option<Arc<Batch>>,
    /// The number of parts of the transaction.
    parts: usize,
}

/// The outcome of a transaction, for which its parts wait.
#[derive(Default)]
struct Batch {
    outcome: Mutex<Option<Result<(), StoreError>>>,
    ended: Condvar,
}

impl Writers {
    /// Opens the connection of a file, and has its tables made.
    pub(super) fn open(
        path: &Path,
        patience: Duration,
        prepare: impl FnOnce(&mut Connection, &mut WriterLock) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let mut lock = WriterLock::new(path, patience)?;
        let mut connection = connection::writer(path)?;
        prepare(&mut connection, &mut lock)?;
        Ok(Self {
            turn: Mutex::new(Turn {
                lock,
                mark: MarkFile::new(path),
                connection,
                batch: None,
                parts: 0,
            }),
            waiting: AtomicUsize::new(0),
        })
    }

    /// Sets the longest wait for other processes.
    pub(super) fn set_patience(&self, patience: Duration) {
        lock_mutex(&self.turn).lock.patience = patience;
    }

    /// Runs a part of a transaction, and returns when that has been committed.
    /// What it returns as an error is undone.
    pub(super) fn write<T>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut turn = lock_mutex(&self.turn);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        let batch = turn.join()?;
        let answer = turn.act(act);
        // Whoever waits can't get its turn before this one ends, so it will find the transaction.
        let has_next = self.waiting.load(Ordering::Relaxed) > 0 && turn.parts < MOST;
        if turn.batch.is_some() && !has_next {
            turn.commit();
        }
        drop(turn);
        batch.wait().and(answer)
    }
}

impl Turn {
    /// Begins a transaction, if there is none.
    fn join(&mut self) -> Result<Arc<Batch>, StoreError> {
        if let Some(batch) = &self.batch {
            return Ok(Arc::clone(batch));
        }
        self.lock.enter()?;
        if let Err(error) = self.run("BEGIN IMMEDIATE").doing("beginning a write") {
            self.lock.leave();
            return Err(error);
        }
        self.parts = 0;
        Ok(Arc::clone(self.batch.insert(Arc::default())))
    }

    /// Does a part. The first one is undone with the transaction, each other one alone.
    fn act<T>(
        &mut self,
        act: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let is_first = self.parts == 0;
        self.parts += 1;
        let mut part = Part {
            turn: self,
            is_done: false,
        };
        let turn = &mut *part.turn;
        let begun = if is_first {
            Ok(())
        } else {
            turn.run("SAVEPOINT part")
        };
        let begun = begun.doing("beginning a write");
        let answer = begun.and_then(|()| act(&turn.connection));
        let ended = match &answer {
            _ if is_first => Ok(()),
            Ok(_) => turn.run("RELEASE part"),
            Err(_) => turn
                .run("ROLLBACK TO part")
                .and_then(|()| turn.run("RELEASE part")),
        };
        let is_whole = ended.is_ok() && !turn.connection.is_autocommit();
        let answer = answer.and_then(|answer| ended.doing("writing").map(|()| answer));
        if let Err(error) = &answer {
            if is_first {
                turn.end(Ok(()));
            } else if !is_whole {
                // What the disk refuses undoes more than a part.
                turn.end(Err(error.clone()));
            }
        }
        part.is_done = true;
        answer
    }

    /// Ends the transaction with all of its parts.
    fn commit(&mut self) {
        let mark = Mark::of_store(&self.connection);
        let done = self.run("COMMIT");
        if let (Ok(()), Ok(mark)) = (&done, mark) {
            // The log is on the disk, and nobody else writes yet.
            self.mark.write(mark);
        }
        self.end(done.map_err(|error| error::from_commit(&error)));
    }

    /// Ends the transaction with this outcome; undoes it if it hasn't been committed.
    fn end(&mut self, outcome: Result<(), StoreError>) {
        if !self.connection.is_autocommit() {
            // If even that fails, the next transaction can't begin and says so.
            let _ = self.run("ROLLBACK");
        }
        self.lock.leave();
        if let Some(batch) = self.batch.take() {
            *lock_mutex(&batch.outcome) = Some(outcome);
            batch.ended.notify_all();
        }
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}

/// A part that is being done.
struct Part<'a> {
    turn: &'a mut Turn,
    is_done: bool,
}

impl Drop for Part<'_> {
    /// Ends the transaction if the part panicked: nobody may wait for its end for ever.
    fn drop(&mut self) {
        if !self.is_done {
            let cause = "another write of the same transaction panicked".to_owned();
            let doing = "writing";
            self.turn.end(Err(StoreError::Failed { doing, cause }));
        }
    }
}

impl Batch {
    /// Waits for the end of the transaction.
    fn wait(&self) -> Result<(), StoreError> {
        let mut outcome = lock_mutex(&self.outcome);
        loop {
            if let Some(outcome) = &*outcome {
                return outcome.clone();
            }
            let wait = self.ended.wait(outcome);
            outcome = wait.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::files::Scratch;
    use super::*;

    fn scratch(name: &str) -> (Scratch, PathBuf, Writers) {
        let folder = Scratch::new(name);
        let path = folder.0.join("runs.db");
        std::fs::write(&path, b"").unwrap();
        let writers = Writers::open(&path, Duration::from_secs(10), |connection, _| {
            connection::use_log(connection)?;
            connection
                .execute_batch("CREATE TABLE words (word TEXT)")
                .doing("making a table")
        });
        (folder, path, writers.unwrap())
    }

    fn put(connection: &Connection, word: &str) -> Result<(), StoreError> {
        let done = connection.execute("INSERT INTO words VALUES (?1)", [word]);
        done.doing("writing").map(drop)
    }

    fn words(path: &Path) -> Vec<String> {
        let connection = Connection::open(path).unwrap();
        let mut words = connection
            .prepare("SELECT word FROM words ORDER BY word")
            .unwrap();
        let words = words.query_map([], |row| row.get(0)).unwrap();
        words.map(Result::unwrap).collect()
    }

    /// Counts the commits in the write-ahead log: frames that say how large the file is after them.
    fn commits(path: &Path) -> usize {
        let log = std::fs::read(path.with_extension("db-wal")).unwrap();
        let frames = log[32..].chunks(24 + 4_096);
        frames.filter(|frame| frame[4..8] != [0; 4]).count()
    }

    /// Has threads wait for their turn while the first one has its own; returns what each got, the first one's first.
    fn meet(
        writers: &Writers,
        others: usize,
        act: impl Fn(&Connection, usize) -> Result<(), StoreError> + Sync,
    ) -> Vec<std::thread::Result<Result<(), StoreError>>> {
        std::thread::scope(|scope| {
            let act = &act;
            let first = scope.spawn(move || {
                writers.write(|connection| {
                    while writers.waiting.load(Ordering::SeqCst) < others {
                        std::thread::yield_now();
                    }
                    act(connection, 0)
                })
            });
            while lock_is_free(writers) {
                std::thread::yield_now();
            }
            let others =
                (1..=others).map(|number| scope.spawn(move || writers.write(|it| act(it, number))));
            let others: Vec<_> = others.collect();
            std::iter::once(first)
                .chain(others)
                .map(|it| it.join())
                .collect()
        })
    }

    fn lock_is_free(writers: &Writers) -> bool {
        writers.turn.try_lock().is_ok()
    }

    #[test]
    fn those_that_wait_are_committed_together() {
        let (_scratch, path, writers) = scratch("together");
        let before = commits(&path);
        let answers = meet(&writers, 10, |connection, number| {
            put(connection, &format!("{number:02}"))?;
            // Nobody sees it before it is committed.
            assert!(words(&path).is_empty());
            Ok(())
        });
        assert!(answers.iter().all(|it| matches!(it, Ok(Ok(())))));
        assert_eq!(words(&path).len(), 11);
        assert_eq!(commits(&path) - before, 1);
        // Other processes get their turn in between.
        let answers = meet(&writers, MOST, |connection, _| put(connection, "more"));
        assert!(answers.iter().all(|it| matches!(it, Ok(Ok(())))));
        assert_eq!(words(&path).len(), 12 + MOST);
        assert_eq!(commits(&path) - before, 3);
    }

    #[test]
    fn a_part_that_fails_is_undone_alone() {
        let (_scratch, path, writers) = scratch("alone");
        for failing in [0, 3] {
            let answers = meet(&writers, 5, |connection, number| {
                put(connection, &number.to_string())?;
                match number == failing {
                    true => Err(error::damaged("no")),
                    false => Ok(()),
                }
            });
            let failed = answers.iter().position(|it| matches!(it, Ok(Err(_))));
            assert_eq!(failed, Some(failing));
            assert_eq!(words(&path).len(), 5);
            assert!(!words(&path).contains(&failing.to_string()));
            writers
                .write(|it| it.execute("DELETE FROM words", []).doing("clearing"))
                .unwrap();
        }
    }

    #[test]
    fn a_part_that_panics_ends_the_transaction() {
        let (_scratch, path, writers) = scratch("panic");
        let answers = meet(&writers, 1, |connection, number| {
            put(connection, &number.to_string())?;
            assert_ne!(number, 1, "as it should");
            Ok(())
        });
        let failed = answers[0].as_ref().unwrap().as_ref().unwrap_err();
        assert_eq!(
            failed.to_string(),
            "writing: another write of the same transaction panicked"
        );
        assert!(answers[1].is_err() && words(&path).is_empty());
        writers.write(|connection| put(connection, "next")).unwrap();
        assert_eq!(words(&path), ["next"]);
    }

    #[test]
    fn all_fail_with_the_transaction() {
        let (_scratch, path, writers) = scratch("failed");
        let answers = meet(&writers, 4, |connection, number| {
            put(connection, &number.to_string())?;
            // As SQLite does where the disk is full.
            match number {
                4 => connection.execute_batch("ROLLBACK").doing("writing"),
                _ => Ok(()),
            }
        });
        // Those after it begin another transaction.
        let kept = words(&path);
        for (answer, number) in answers.iter().zip(0..) {
            let is_done = matches!(answer, Ok(Ok(())));
            assert_eq!(
                is_done,
                kept.contains(&number.to_string()),
                "{number}: {answer:?}"
            );
        }
        assert!(matches!(&answers[0], Ok(Err(_))));
        assert!(matches!(&answers[4], Ok(Err(_))));
    }
}
