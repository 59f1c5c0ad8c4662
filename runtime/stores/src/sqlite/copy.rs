//! Copies of the file, which sleep until they are woken.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::error::{self, Doing as _};
use super::{SqliteStore, connection};
use statemark_runs::files::create_new;
use statemark_runs::maintenance::{OnProgress, Progress};
use statemark_runs::store::StoreError;

/// Part of the file that is copied at once.
/// Unit: pages. Why: somebody is told how far it is.
const PAGES: std::ffi::c_int = 1_024;

/// Longest wait for another process that holds the file.
/// Why: a checkpoint takes milliseconds.
const BUSY: Duration = Duration::from_millis(5);

/// Statements that put a copy to sleep.
/// Nobody has a lease any more, and no fencing token that was given out is the newest; nobody gets a timer; nothing is
/// written.
const SLEEP: &str = "
    UPDATE runs SET fence = fence + 1, lease_owner = NULL, lease_until = 0;
    UPDATE timers SET claimed = 9223372036854775807;
    INSERT OR REPLACE INTO counts (name, value) VALUES ('asleep', 1);
";

impl SqliteStore {
    /// Copies the store to a new file, which sleeps: how many runs and timers it has.
    pub(crate) fn copy_to(
        &self,
        path: &Path,
        on_progress: OnProgress<'_>,
    ) -> Result<(usize, usize), StoreError> {
        let made = create_new(path);
        made.map_err(|error| error::refused(format!("`{}`: {error}", path.display())))?;
        let copied = self.fill(path, on_progress);
        if copied.is_err() {
            // Half a copy looks like a whole one.
            let _ = std::fs::remove_file(path);
        }
        copied
    }

    fn fill(&self, path: &Path, on_progress: OnProgress<'_>) -> Result<(usize, usize), StoreError> {
        let from = connection::reader(&self.path)?;
        let mut to = Connection::open(path).doing("making the copy")?;
        {
            // What others commit meanwhile isn't part of the copy. Without one snapshot of it all SQLite begins anew with
            // each of their commits, and comes to no end where they go on.
            let one_moment = from.unchecked_transaction().doing("copying the store")?;
            let first = "SELECT count(*) FROM counts";
            let read = one_moment.query_row(first, [], |row| row.get::<_, i64>(0));
            read.doing("copying the store")?;
            copy_pages(&one_moment, &mut to, on_progress).doing("copying the store")?;
        }
        // One file, without a log beside it, until somebody opens it as a store.
        to.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;")
            .doing("making the copy")?;
        let transaction = to.transaction().doing("making the copy")?;
        transaction.execute_batch(SLEEP).doing("making the copy")?;
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            let count = transaction.query_row(&sql, [], |row| row.get::<_, i64>(0));
            let count = count.doing("reading the copy");
            count.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        let counts = (count("runs WHERE run <> '$store'")?, count("timers")?);
        transaction.commit().doing("making the copy")?;
        Ok(counts)
    }
}

/// Wakes a copy; returns the number of timers that were woken.
pub(super) fn wake(connection: &Connection) -> Result<usize, StoreError> {
    let run = |sql: &str| connection.execute(sql, []).doing("waking the store");
    run("DELETE FROM counts WHERE name = 'asleep'")?;
    // Runs that are missing are missed no more: this is the store from now on.
    run("UPDATE counts SET value = (SELECT count(*) FROM runs) WHERE name = 'runs'")?;
    run("UPDATE timers SET claimed = 0 WHERE claimed = 9223372036854775807")
}

fn copy_pages(
    from: &Connection,
    to: &mut Connection,
    on_progress: OnProgress<'_>,
) -> rusqlite::Result<()> {
    let copy = Backup::new(from, to)?;
    loop {
        let step = copy.step(PAGES)?;
        let progress = copy.progress();
        let pages = |count| u64::try_from(count).unwrap_or(0);
        let total = pages(progress.pagecount);
        let done = total.saturating_sub(pages(progress.remaining));
        on_progress(Progress { done, total });
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => std::thread::sleep(BUSY),
        }
    }
}
