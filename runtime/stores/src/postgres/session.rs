//! One connection for as long as one call takes, and what is done when it breaks.

use std::cell::Cell;
use std::time::Duration;

use deadpool_postgres::Object;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use super::PostgresStore;
use super::error::Failure;
use statemark_runs::store::StoreError;

/// Most tries of a call that collides with others.
/// Why: writers of one run wait in line, so that only beginnings of runs and databases without row locks come here.
const CROSSINGS: u32 = 16;

/// Most tries of a call on new connections.
/// Why: a server that is started anew takes a second or two.
const LOSSES: u32 = 7;

/// Longest time of one try.
const PATIENCE: Duration = Duration::from_secs(30);

/// The parameters of a statement.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection, and how far its transaction is.
pub(super) struct Session {
    object: Object,
    /// True if there is a transaction.
    open: Cell<bool>,
    /// True if a commit was asked for, and its outcome isn't known yet.
    committing: Cell<bool>,
}

impl Session {
    /// Returns a statement, from the connection's cache if it was used before.
    pub(super) async fn prepare(&self, sql: &str) -> Result<Statement, Failure> {
        Ok(self.object.prepare_cached(sql).await?)
    }

    pub(super) async fn rows(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<Vec<Row>, Failure> {
        Ok(self.object.query(statement, params).await?)
    }

    pub(super) async fn run(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<u64, Failure> {
        Ok(self.object.execute(statement, params).await?)
    }

    /// Prepares and asks.
    pub(super) async fn query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Failure> {
        let statement = self.prepare(sql).await?;
        self.rows(&statement, params).await
    }

    /// Prepares and does.
    pub(super) async fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64, Failure> {
        let statement = self.prepare(sql).await?;
        self.run(&statement, params).await
    }

    /// Runs statements without parameters, unprepared.
    /// They change tables.
    pub(super) async fn define(&self, sql: &str) -> Result<(), Failure> {
        Ok(self.object.batch_execute(sql).await?)
    }

    /// Begins a transaction, unless there is one.
    pub(super) async fn begin(&self) -> Result<(), Failure> {
        if self.open.replace(true) {
            return Ok(());
        }
        Ok(self.object.batch_execute("BEGIN").await?)
    }

    /// Commits.
    /// A transaction in which something has failed is rolled back by this; the failure is the answer.
    pub(super) async fn commit(&self) -> Result<(), Failure> {
        self.committing.set(true);
        self.object.batch_execute("COMMIT").await?;
        self.committing.set(false);
        self.open.set(false);
        Ok(())
    }

    /// Runs a statement that is a transaction of its own; returns the number of its rows.
    pub(super) async fn commit_by(
        &self,
        statement: &Statement,
        params: Params<'_>,
    ) -> Result<u64, Failure> {
        self.committing.set(true);
        let rows = self.run(statement, params).await?;
        self.committing.set(false);
        Ok(rows)
    }

    async fn roll_back(&self) -> Result<(), Failure> {
        if self.open.replace(false) {
            self.object.batch_execute("ROLLBACK").await?;
        }
        Ok(())
    }

    /// Closes a connection whose state is unknown, instead of giving it back.
    fn close(self) {
        drop(Object::take(self.object));
    }
}

/// The tries of a call.
/// One of them may have been written.
#[derive(Default)]
struct Tries {
    crossings: u32,
    losses: u32,
    unsure: bool,
}

impl PostgresStore {
    /// Does something on a connection, and again if others or the connection were in the way; waits for it.
    pub(super) fn wait<T>(
        &self,
        doing: &'static str,
        work: &impl AsyncFn(&Session) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.wait_for(doing, true, work)
    }

    /// Runs a call and waits for it.
    /// `again` says whether it may be repeated when its outcome is unknown.
    pub(super) fn wait_for<T>(
        &self,
        doing: &'static str,
        again: bool,
        work: &impl AsyncFn(&Session) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let _context = self.runtime.as_ref().map(|runtime| runtime.enter());
        // A caller may itself be polled by an executor that gives a task only so many turns; what blocks can't give one back.
        pollster::block_on(tokio::task::unconstrained(async {
            let mut tries = Tries::default();
            loop {
                let fault = match self.attempt(work, &mut tries).await {
                    Ok(done) => return Ok(done),
                    Err(Failure::Answer(error)) => return Err(error),
                    Err(fault) => fault,
                };
                if let Some(error) = tries.give_up(doing, again, fault) {
                    return Err(error);
                }
                sleep(tries.pause()).await;
            }
        }))
    }

    async fn attempt<T>(
        &self,
        work: &impl AsyncFn(&Session) -> Result<T, Failure>,
        tries: &mut Tries,
    ) -> Result<T, Failure> {
        let session = Session {
            object: self.pool.get().await?,
            open: Cell::new(false),
            committing: Cell::new(false),
        };
        let done = timeout(PATIENCE, work(&session)).await;
        let done = done.unwrap_or_else(|_| Err(Failure::Lost("no answer in time".to_owned())));
        match &done {
            Err(Failure::Lost(_)) => {
                tries.unsure |= session.committing.get();
                session.close();
            }
            _ if session.roll_back().await.is_err() => session.close(),
            _ => {}
        }
        done
    }
}

impl Tries {
    /// Returns the failure to report if it isn't tried again.
    fn give_up(&mut self, doing: &'static str, again: bool, fault: Failure) -> Option<StoreError> {
        let (cause, enough) = match fault {
            Failure::Answer(error) => return Some(error),
            Failure::Contention(cause) => {
                self.crossings += 1;
                (cause, self.crossings > CROSSINGS)
            }
            Failure::Lost(cause) => {
                self.losses += 1;
                (cause, self.losses > LOSSES || (self.unsure && !again))
            }
            Failure::Refused(cause) => (cause, true),
        };
        let failure = if self.unsure {
            StoreError::Unknown { cause }
        } else {
            StoreError::Failed { doing, cause }
        };
        enough.then_some(failure)
    }

    /// Returns the wait before the next try.
    /// It is 2, 4, 8 … milliseconds because of others, 20, 40 … because of the server.
    fn pause(&self) -> Duration {
        let crossings = 1_u64 << self.crossings.min(7);
        let losses = if self.losses == 0 {
            0
        } else {
            10_u64 << self.losses.min(7)
        };
        Duration::from_millis(crossings.max(losses))
    }
}
