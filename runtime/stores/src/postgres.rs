//! A store in PostgreSQL: for many machines.
//!
//! It keeps to what databases have in common that speak PostgreSQL's protocol: columns of `text`, `bytea` and `int8`, keys
//! that the client makes, primary keys that begin with the run, and no foreign keys, triggers, sequences, advisory locks
//! or savepoints. What a database aborts because of others (40001, 40P01, 23505) is tried again.
//!
//! What to rely on:
//!
//! - An append to a run whose end this process knows is one statement: it compares the end and writes where it is so. Any
//!   other append is one transaction that holds its run's row from the first statement on (`FOR UPDATE`), so that writers
//!   of one run wait for each other instead of losing again and again.
//! - If the connection is lost between a commit and its answer, an append with a key is asked again under that key, and
//!   only one without is [`StoreError::Unknown`] at once.
//! - Leases and claims go by the server's time, because the clocks of many machines differ; [`PostgresStore::with_clock`]
//!   is for those who turn the clock themselves. Safety rests on fences and `seq` alone, never on time.
//! - In another database than the one that they were made in, the tables are a copy, which sleeps (`place.rs`).
//! - Watchers ask again and again; nothing is sent with `NOTIFY`, which makes commits wait for each other.
//! - Every method may be called from any thread, one that runs asynchronous tasks included: it waits there without a
//!   runtime of its own on that thread, so it can't panic; but it holds the thread up, so better use one for blocking work.
//!
//! Addresses mean what they mean to every client of PostgreSQL: `address.rs`, and `tls.rs` for `sslmode`.

mod address;
mod append;
mod blob;
mod connect;
mod ends;
mod error;
mod inspect;
mod lease;
mod list;
mod place;
mod record;
mod row;
mod schema;
mod session;
mod timer;
mod tls;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::Pool;
use tokio::runtime::Runtime;

use address::Address;
pub(crate) use address::{judge, place_of};
use ends::Ends;
use list::Reported;
use row::stored;
use statemark_runs::Clock;
use statemark_runs::Hash;
use statemark_runs::Record;
use statemark_runs::store::{
    Append, Appended, Derived, DueTimer, Expect, Head, Hint, KeyUse, Lease, Page, Query, Store,
    StoreError, Watermark,
};
use statemark_runs::{Key, RunId};

/// A store in PostgreSQL.
pub struct PostgresStore {
    pool: Pool,
    /// The clock of leases and claims; the server's time if there is none.
    clock: Option<Arc<dyn Clock>>,
    reported: Reported,
    ends: Ends,
    /// True if the tables were made in another database, and nobody has woken them here.
    asleep: AtomicBool,
    /// Always there until the store is dropped.
    runtime: Option<Runtime>,
}

impl PostgresStore {
    /// Connects to a database, and makes or brings up to date the tables in it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Invalid`] for an address that is none, [`StoreError::Failed`] if the server can't be reached,
    /// [`StoreError::SchemaTooNew`]. A password is in none of their texts.
    pub fn open(address: &str) -> Result<Self, StoreError> {
        let address = connect::read(address)?;
        let other_way = connect::other_way(&address);
        match (Self::open_as(address), other_way) {
            (Err(error), Some(other)) if connect::is_about_tls(&error) => {
                Self::open_as(other).map_err(|_| error)
            }
            (opened, _) => opened,
        }
    }

    fn open_as(address: Address) -> Result<Self, StoreError> {
        let runtime = connect::runtime()?;
        let store = Self {
            pool: connect::pool(address)?,
            clock: None,
            reported: Reported::default(),
            ends: Ends::default(),
            asleep: AtomicBool::default(),
            runtime: Some(runtime),
        };
        let asleep = store.wait("opening the store", &async |session| {
            schema::prepare(session).await?;
            place::is_copy(session).await
        })?;
        store.asleep.store(asleep, Ordering::Release);
        Ok(store)
    }

    /// Replaces the clock of leases and claims.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Returns the time that leases and claims go by, if it isn't the server's.
    fn now(&self) -> Result<Option<i64>, StoreError> {
        let now = self.clock.as_ref().map(|clock| clock.now());
        now.map(|now| stored("a time", now)).transpose()
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.pool.close();
        if let Some(runtime) = self.runtime.take() {
            // Waiting for its threads would panic on a thread that runs asynchronous tasks.
            runtime.shutdown_background();
        }
    }
}

impl Store for PostgresStore {
    fn append(&self, append: &Append) -> Result<Appended, StoreError> {
        self.append_to(append, None)
    }

    fn head(&self, run: &RunId) -> Result<Head, StoreError> {
        let head = self.wait("reading a run", &async |session| {
            record::head(session, run).await
        })?;
        self.ends.put(run, head.seq, head.hash);
        Ok(head)
    }

    fn records(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.wait("reading records", &async |session| {
            record::page(session, run, after, limit).await
        })
    }

    fn key_use(&self, run: &RunId, key: &Key) -> Result<Option<KeyUse>, StoreError> {
        self.wait("looking for a key", &async |session| {
            record::find_seen(session, run, key).await
        })
    }

    fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.wait("listing runs", &async |session| {
            list::page(session, query).await
        })
    }

    fn status_counts(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        self.wait("counting runs", &async |session| {
            list::counts(session).await
        })
    }

    fn fork(&self, from: &RunId, at: u64, append: &Append) -> Result<Appended, StoreError> {
        self.append_to(append, Some((from, at)))
    }

    fn create(&self, from: Option<(&RunId, u64)>, appends: &[Append]) -> Result<(), StoreError> {
        self.make_of(from, appends)
    }

    fn lease(&self, run: &RunId, owner: &str, milliseconds: u64) -> Result<Lease, StoreError> {
        self.check_awake()?;
        let now = self.now()?;
        self.wait("leasing a run", &async |session| {
            lease::take(session, run, owner, milliseconds, now).await
        })
    }

    fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.wait("giving a lease back", &async |session| {
            lease::release(session, lease).await
        })
    }

    fn claim_due(&self, now: u64, limit: usize, claim: u64) -> Result<Vec<DueTimer>, StoreError> {
        if self.sleeps()? {
            return Ok(Vec::new());
        }
        let clock = self.now()?;
        self.wait("claiming timers", &async |session| {
            timer::claim(session, now, limit, claim, clock).await
        })
    }

    fn derived(&self, run: &RunId) -> Result<Option<Derived>, StoreError> {
        self.wait("reading a run", &async |session| {
            inspect::derived(session, run).await
        })
        .map(Some)
    }

    fn table_damage(&self) -> Result<Vec<String>, StoreError> {
        self.wait("looking for rows without a run", &async |session| {
            inspect::orphans(session).await
        })
    }

    fn is_asleep(&self) -> Result<bool, StoreError> {
        self.sleeps()
    }

    fn wake(&self) -> Result<usize, StoreError> {
        let woken = self.wait("waking the store", &place::wake)?;
        self.asleep.store(false, Ordering::Release);
        Ok(woken)
    }

    fn next_due(&self) -> Result<Option<u64>, StoreError> {
        if self.sleeps()? {
            return Ok(None);
        }
        let clock = self.now()?;
        self.wait("looking for timers", &async |session| {
            timer::next(session, clock).await
        })
    }

    fn changes(&self, since: &Watermark) -> Result<(Watermark, Vec<Hint>), StoreError> {
        self.wait("looking for changes", &async |session| {
            list::changes(session, since, &self.reported).await
        })
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Hash, StoreError> {
        let now = self.now()?;
        self.wait("keeping a blob", &async |session| {
            blob::put(session, bytes, now).await
        })
    }

    fn sweep_blobs(
        &self,
        named: &BTreeSet<Hash>,
        idle: u64,
        really: bool,
    ) -> Result<Vec<Hash>, StoreError> {
        let times = (stored("a time", idle)?, self.now()?);
        self.wait("sweeping blobs", &async |session| {
            blob::sweep(session, named, times, really).await
        })
    }

    fn blob(&self, hash: &Hash) -> Result<Vec<u8>, StoreError> {
        self.wait("reading a blob", &async |session| {
            blob::get(session, hash).await
        })
    }

    fn put_fold_cache(&self, run: &RunId, seq: u64, fold: &[u8]) -> Result<(), StoreError> {
        self.wait("keeping a fold", &async |session| {
            blob::put_fold_cache(session, run, seq, fold).await
        })
    }

    fn fold_cache(&self, run: &RunId, upto: u64) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        self.wait("reading a fold", &async |session| {
            blob::fold(session, run, upto).await
        })
    }

    fn remove(&self, run: &RunId, expect: Expect) -> Result<(), StoreError> {
        self.check_awake()?;
        self.wait("removing a run", &async |session| {
            record::remove(session, run, expect).await
        })
    }
}
