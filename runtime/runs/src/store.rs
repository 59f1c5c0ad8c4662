//! The store trait: what a back end keeps of runs, and the types that go in and come out.
//!
//! [`Store::append`] is the only way to write to a run. One call is one transaction, and it touches one run. Everything
//! else is derived: the [`RunSummary`] in a [`Head`] comes from the run state, and the fold cache from the journal.
//!
//! The trait is synchronous: SQLite is, and an operation takes less time than a context switch. A store that talks to a
//! server keeps its own pool of connections; asynchronous callers use their threads for blocking work.

mod error;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use error::StoreError;

use crate::hash::Hash;
use crate::id::{Key, RunId};
use crate::record::{NewRecord, Record};
use crate::state::SessionState;

/// Most bytes of a record's body. Unit: bytes.
///
/// Why: larger content is an artifact, which journals only name.
pub const MAX_BODY: usize = 1 << 20;

/// Latest time of a record. Unit: milliseconds since 1970. Why: databases have signed numbers.
pub const MAX_TIME: u64 = i64::MAX.unsigned_abs();

/// Most runs in a page of a list, and most records in one read. Why: a reader's memory stays flat.
pub const MAX_PAGE: usize = 1_000;

/// Most fold caches of one run, beside its newest. Unit: caches.
///
/// Why: a fork of 100,000 records begins at most 256 records after one.
pub const MAX_CACHES: usize = 512;

/// Most bytes of a run's fold caches, beside its newest. Unit: bytes.
///
/// Why: a state may hold a context of a megabyte, and its journal can always be read instead.
pub const MAX_CACHE_BYTES: u64 = 8 << 20;

/// The longest time of a lease or of a claim on a timer. Unit: milliseconds.
///
/// Why: one that ends later was made by a clock that was ahead and has been set back, and nobody waits for it.
pub const MAX_HOLD: u64 = 30 * 24 * 3_600 * 1_000;

/// The age at which a blob's last use is written again. Unit: milliseconds.
///
/// Why: putting a blob that the store has shouldn't write each time.
pub const TOUCH_AFTER: u64 = 10 * 60 * 1_000;

/// The end that a journal must have for an append to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The run doesn't exist.
    NoRun,
    /// The run ends with this record.
    At(u64),
    /// The run ends with this record, and it has this hash.
    ///
    /// Of two journals that are equally long, only one is the journal that a decision was made for.
    Exactly(u64, Hash),
    /// The run exists.
    Any,
}

impl Expect {
    /// Reports whether it is met by a journal that ends with a record.
    #[must_use]
    pub fn is_met_by(self, seq: u64, hash: Hash) -> bool {
        match self {
            Self::NoRun => false,
            Self::At(expected) => expected == seq,
            Self::Exactly(expected, its_hash) => (expected, its_hash) == (seq, hash),
            Self::Any => true,
        }
    }
}

/// A fencing token: a later holder of the lease invalidates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fence(pub u64);

/// Records for the end of a run: all are appended, or none.
#[derive(Clone, Debug)]
pub struct Append {
    /// The run.
    pub run: RunId,
    /// The end that its journal must have.
    pub expect: Expect,
    /// The idempotency key, with the hash of the request. A repetition gets the first answer.
    pub key: Option<(Key, Hash)>,
    /// The token of the lease under which it is written, if there is one. A newer lease fences it off.
    pub fence: Option<Fence>,
    /// The records, at least one.
    pub records: Vec<NewRecord>,
    /// The run's new summary for lists.
    pub summary: RunSummary,
    /// The run's new set of pending timers; `None` leaves it unchanged.
    pub timers: Option<Vec<PendingTimer>>,
}

/// The outcome of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// A new append.
    Done {
        /// Its first record.
        first: u64,
        /// Its last record.
        last: u64,
    },
    /// A request with the same key had made it before.
    Replayed {
        /// Its first record.
        first: u64,
        /// Its last record.
        last: u64,
    },
}

/// A run as lists show it. Derived from the run state, and stored so that a list needs no state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The workflow's id.
    pub workflow: String,
    /// `running`, `waiting`, `paused`, `completed`, `failed` or `cancelled`.
    pub status: String,
    /// The project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The client's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The run that it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// The active leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// The ids of its open requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// The names of the agents that have acted on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<String>,
    /// By name: the clients' sessions that it holds, or held until a person released them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sessions: BTreeMap<String, SessionState>,
    /// True if an agent gave it up, and its states go on restricting its callers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
    /// True if it began with a workflow that nobody had accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreviewed: bool,
    /// The actor who imported it, if its first records are another store's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_by: Option<String>,
}

/// The end of a run's journal, with the run's summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The run.
    pub run: RunId,
    /// The last record's number.
    pub seq: u64,
    /// The last record's hash.
    pub hash: Hash,
    /// The time of the first record. Unit: milliseconds since 1970.
    pub created: u64,
    /// The time of the last record.
    pub updated: u64,
    /// The run and the record that it was forked from: its journal begins with that run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<(RunId, u64)>,
    /// The summary for lists.
    pub summary: RunSummary,
}

/// A timer of a run that hasn't fired.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PendingTimer {
    /// The time at which it is due. Unit: milliseconds since 1970.
    pub due: u64,
    /// Its name: a timer of the table (`timer:NAME`) or the expiry of a request (`request:ID`).
    pub name: String,
    /// The record that armed it; tells two timers of one name apart.
    pub seq: u64,
}

/// The append that an idempotency key was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// The hash of the request.
    pub request: Hash,
    /// Its first record.
    pub first: u64,
    /// Its last record.
    pub last: u64,
}

/// The runs that a list shows, most recently changed first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// With one of these statuses; any if none is named.
    pub statuses: Vec<String>,
    /// Of this workflow.
    pub workflow: Option<String>,
    /// Of this project.
    pub project: Option<String>,
    /// Under this run.
    pub parent: Option<RunId>,
    /// Forked from this run.
    pub forked: Option<RunId>,
    /// With an open request, if true.
    pub has_requests: bool,
    /// With an id that begins so.
    pub prefix: Option<String>,
    /// After this position of the list.
    pub after: Option<Cursor>,
    /// The page size; at most [`MAX_PAGE`].
    pub limit: usize,
}

/// A position in a list of runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor {
    /// The time of the last change of the run before it.
    pub updated: u64,
    /// The run.
    pub run: RunId,
}

/// The text in a [`RunSummary`]'s JSON that says that the run has an open request.
///
/// Why a text: a database indexes the runs that have it, whatever version of this program wrote their rows. A string of
/// JSON can't hold it, because its quotation marks would be escaped there.
pub const REQUESTS_MARK: &str = "\"requests\":[";

/// A page of a list of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The runs.
    pub heads: Vec<Head>,
    /// The position of the next page; `None` on the last one.
    pub next: Option<Cursor>,
}

/// Calls a function with every run that a query finds, page after page.
///
/// A run that changes meanwhile may come twice, or not at all: the list is in the order of changes.
///
/// # Errors
///
/// The store's.
pub fn for_each_head(
    store: &dyn Store,
    query: Query,
    mut each: impl FnMut(Head),
) -> Result<(), StoreError> {
    let mut query = Query {
        limit: MAX_PAGE,
        ..query
    };
    loop {
        let page = store.list(&query)?;
        page.heads.into_iter().for_each(&mut each);
        query.after = page.next;
        if query.after.is_none() {
            return Ok(());
        }
    }
}

/// Lists every run that a query finds, as [`for_each_head`] does.
///
/// # Errors
///
/// The store's.
pub fn list_all(store: &dyn Store, query: Query) -> Result<Vec<Head>, StoreError> {
    let mut heads = Vec::new();
    for_each_head(store, query, |head| heads.push(head))?;
    Ok(heads)
}

/// The right to drive a run for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// The holder.
    pub owner: String,
    /// Its token, which grows with each holder.
    pub fence: Fence,
    /// Its end, by the store's clock. Unit: milliseconds since 1970.
    pub until: u64,
}

/// A timer that was due, claimed by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueTimer {
    /// The run.
    pub run: RunId,
    /// The timer.
    pub timer: PendingTimer,
}

/// The point up to which a watcher has seen changes.
///
/// Opaque, but never less than an earlier one of the same store. It is valid as long as the store is, for every caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Watermark(pub u64);

impl Watermark {
    /// A mark after all changes that will ever be: a store answers it by its latest.
    pub const END: Self = Self(u64::MAX >> 1);
}

/// A notice that a run has changed. Watchers read it again from the record that they know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The run.
    pub run: RunId,
    /// Its last record when the hint was given.
    pub seq: u64,
}

/// The data that a store derives from the records of a run: columns, indexes and timers behind lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derived {
    /// The last record when this was read.
    pub seq: u64,
    /// The workflow by which lists find the run.
    pub workflow: String,
    /// The status by which lists find it.
    pub status: String,
    /// The project by which lists find it.
    pub project: Option<String>,
    /// The parent by which lists find it.
    pub parent: Option<String>,
    /// Its timers, in order.
    pub timers: Vec<PendingTimer>,
    /// The number of its idempotency keys.
    pub keys: u64,
    /// The record of its latest fold cache, if it has one.
    pub cached: Option<u64>,
}

/// The mark of a store's file, in the header of an SQLite database (its application id): `SMRK`.
pub const FILE_MARK: i32 = 0x534d_524b;

/// The first bytes of an SQLite database, and where its header has the mark of a program.
/// Source: <https://sqlite.org/fileformat.html#the_database_header>.
const DATABASE: &[u8] = b"SQLite format 3\0";
const MARK_AT: usize = 68;

/// Reports whether a file is a store's, whoever uses it, by what it begins with.
pub fn is_store(mut file: impl Read) -> bool {
    let mut header = [0; MARK_AT + 4];
    file.read_exact(&mut header).is_ok()
        && header.starts_with(DATABASE)
        && header.ends_with(&FILE_MARK.to_be_bytes())
}

/// A keeper of journals. Every method is one transaction; many threads and processes may call at once.
pub trait Store: Send + Sync {
    /// Appends records to a run, all or none. The only way to write to a run.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the journal doesn't end as expected, [`StoreError::Fenced`], [`StoreError::KeyReused`],
    /// [`StoreError::TooLarge`], or [`StoreError::Invalid`] for no record.
    fn append(&self, append: &Append) -> Result<Appended, StoreError>;

    /// Returns the end of a run.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`].
    fn head(&self, run: &RunId) -> Result<Head, StoreError>;

    /// Returns the records after one, at most `limit` and at most [`MAX_PAGE`].
    ///
    /// A fork's begin with its parent's.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`].
    fn records(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Record>, StoreError>;

    /// Returns the append that a key of a run was used for, if there is one.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn key_use(&self, run: &RunId, key: &Key) -> Result<Option<KeyUse>, StoreError>;

    /// Lists runs, most recently changed first.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn list(&self, query: &Query) -> Result<Page, StoreError>;

    /// Counts the runs of each status. A status without runs is left out.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn status_counts(&self) -> Result<BTreeMap<String, u64>, StoreError>;

    /// Creates a run with another's journal up to record `at`, and the records of `append`.
    ///
    /// The other run is untouched. `append` is made with [`Expect::NoRun`], whatever it expects.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] for the run or the record; else those of [`Store::append`].
    fn fork(&self, from: &RunId, at: u64, append: &Append) -> Result<Appended, StoreError>;

    /// Creates a run by several appends, all or none. The first creates it, from nothing or as a fork.
    ///
    /// For runs that come from another store.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the run exists; [`StoreError::KeyReused`] if two appends have one key; else those of
    /// [`Store::append`] and [`Store::fork`].
    fn create(&self, from: Option<(&RunId, u64)>, appends: &[Append]) -> Result<(), StoreError>;

    /// Acquires or prolongs the lease of a run.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] if somebody else holds it and it hasn't ended.
    fn lease(&self, run: &RunId, owner: &str, milliseconds: u64) -> Result<Lease, StoreError>;

    /// Releases a lease, if it is still held.
    ///
    /// # Errors
    ///
    /// The store can't be written.
    fn release(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Claims timers that are due by a time, the earliest first, at most `limit`.
    ///
    /// Each is the caller's for `claim` milliseconds of the store's clock. Who takes a timer's event leaves the timer out
    /// of [`Append::timers`].
    ///
    /// # Errors
    ///
    /// The store can't be written.
    fn claim_due(&self, now: u64, limit: usize, claim: u64) -> Result<Vec<DueTimer>, StoreError>;

    /// Returns the file that the store lies in, if it lies in one.
    ///
    /// Its others stand beside it, under names that begin with its name and `-`.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Describes the records that are missing since the store was last written, if the store can tell.
    ///
    /// A file has a mark beside it that says how far it went.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn loss(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// Returns what the store has derived from a run's records, if it keeps that apart from them.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`].
    fn derived(&self, run: &RunId) -> Result<Option<Derived>, StoreError> {
        let _ = run;
        Ok(None)
    }

    /// Describes the damage that is in no run: rows whose run isn't there, and broken indexes.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn table_damage(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// Reports whether the store is a copy that is asleep: its runs can be read, and not written.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn is_asleep(&self) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Lets a copy be written to, and its timers fire.
    ///
    /// From now on this is the store, and the one that it was copied from must not act any more. Returns the number of
    /// timers that were woken: none in a store that doesn't sleep.
    ///
    /// # Errors
    ///
    /// The store can't be written.
    fn wake(&self) -> Result<usize, StoreError> {
        Ok(0)
    }

    /// Returns the time at which the next unclaimed timer of any run is due.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn next_due(&self) -> Result<Option<u64>, StoreError>;

    /// Returns runs that have changed since a watermark, and the watermark to continue from.
    ///
    /// Many changes come in parts: a watcher that continues from each watermark until there is no change has seen them
    /// all. Each change is reported at least once.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn changes(&self, since: &Watermark) -> Result<(Watermark, Vec<Hint>), StoreError>;

    /// Stores bytes under their hash.
    ///
    /// # Errors
    ///
    /// The store can't be written.
    fn put_blob(&self, bytes: &[u8]) -> Result<Hash, StoreError>;

    /// Returns the bytes with a hash.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`]; [`StoreError::Corrupt`] if they have another hash.
    fn blob(&self, hash: &Hash) -> Result<Vec<u8>, StoreError>;

    /// Returns the blobs that aren't `referenced` and weren't put for `idle` milliseconds.
    ///
    /// Deletes them if told to.
    ///
    /// Time is that of the store's clock. Whoever puts a blob has that long to append the record that names it.
    ///
    /// # Errors
    ///
    /// The store can't be read or written.
    fn sweep_blobs(
        &self,
        referenced: &BTreeSet<Hash>,
        idle: u64,
        delete: bool,
    ) -> Result<Vec<Hash>, StoreError>;

    /// Stores a fold cache of a run: its encoded state after record `seq`.
    ///
    /// Those of other records stay, but for [`surplus_caches`].
    ///
    /// # Errors
    ///
    /// The store can't be written.
    fn put_fold_cache(&self, run: &RunId, seq: u64, state: &[u8]) -> Result<(), StoreError>;

    /// Returns the newest fold cache of a run up to a record: the last record in it, and its bytes.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn fold_cache(&self, run: &RunId, upto: u64) -> Result<Option<(u64, Vec<u8>)>, StoreError>;

    /// Removes a run that ends as expected, with everything that belongs to it alone.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`]; [`StoreError::Conflict`] if it has gone on; [`StoreError::Invalid`] if a fork begins with
    /// its journal.
    fn remove(&self, run: &RunId, expect: Expect) -> Result<(), StoreError>;
}

/// Returns the fold caches to drop, of those before the newest: records and sizes, in order.
///
/// Those that stay are spread evenly over the journal: the first to be dropped is the one whose neighbors are nearest to
/// each other.
#[must_use]
pub fn surplus_caches(older: &[(u64, u64)], newest: u64) -> Vec<u64> {
    let mut kept = older.to_vec();
    let mut bytes: u64 = kept.iter().map(|(_, size)| size).sum();
    let mut surplus = Vec::new();
    while kept.len() > MAX_CACHES || bytes > MAX_CACHE_BYTES {
        let before = std::iter::once(0).chain(kept.iter().map(|(seq, _)| *seq));
        let after = kept.iter().skip(1).map(|(seq, _)| *seq).chain([newest]);
        let gaps = before
            .zip(after)
            .map(|(before, after)| after.saturating_sub(before));
        let Some((index, _)) = gaps.enumerate().min_by_key(|(_, gap)| *gap) else {
            break;
        };
        let (seq, size) = kept.remove(index);
        bytes -= size;
        surplus.push(seq);
    }
    surplus
}

/// The end of a run, as a back end finds it before it appends.
pub struct JournalEnd {
    /// The last record.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
    /// The newest token of the run's lease; zero if it was never leased.
    pub fence: u64,
}

impl Append {
    /// Returns the record that the new ones follow, with its hash: the run's end, or `start` for a new run.
    ///
    /// A fork is a new run, whatever the append expects.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the run doesn't end as expected; [`StoreError::Fenced`] if the lease has a newer token.
    pub fn predecessor(
        &self,
        end: Option<&JournalEnd>,
        start: (u64, Hash),
        is_fork: bool,
    ) -> Result<(u64, Hash), StoreError> {
        let expect = if is_fork { Expect::NoRun } else { self.expect };
        let predecessor = match (expect, end) {
            (Expect::NoRun, None) => start,
            (expect, Some(end)) if expect.is_met_by(end.seq, end.hash) => (end.seq, end.hash),
            (_, end) => {
                let actual = end.map_or(0, |end| end.seq);
                return Err(StoreError::Conflict { actual });
            }
        };
        let newest = end.map_or(0, |end| end.fence);
        if self.fence.is_some_and(|fence| fence.0 != newest) {
            let newest = Fence(newest);
            return Err(StoreError::Fenced { newest });
        }
        Ok(predecessor)
    }

    /// Answers an append whose key was used before.
    ///
    /// # Errors
    ///
    /// [`StoreError::KeyReused`] if the key belongs to another request.
    pub fn answer_repeated(&self, used: &KeyUse) -> Result<Appended, StoreError> {
        match &self.key {
            Some((key, request)) if *request != used.request => {
                Err(StoreError::KeyReused { key: key.clone() })
            }
            _ => Ok(Appended::Replayed {
                first: used.first,
                last: used.last,
            }),
        }
    }

    /// Checks that the append was made now, as one of several that create a run.
    ///
    /// # Errors
    ///
    /// [`StoreError::KeyReused`] if it was made before.
    pub fn expect_done(&self, outcome: Appended) -> Result<(), StoreError> {
        match (outcome, &self.key) {
            (Appended::Replayed { .. }, Some((key, _))) => {
                Err(StoreError::KeyReused { key: key.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Checks that the append can be made at all.
    ///
    /// # Errors
    ///
    /// [`StoreError::TooLarge`]; [`StoreError::Invalid`] if it has no record, or one that is too late.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.records.is_empty() {
            let what = "an append without a record".to_owned();
            return Err(StoreError::Invalid { what });
        }
        for record in &self.records {
            if record.body.len() > MAX_BODY {
                return Err(StoreError::TooLarge {
                    bytes: record.body.len(),
                    kind: record.kind.clone(),
                });
            }
            if record.time > MAX_TIME {
                let time = record.time;
                let what = format!("a record at {time}; the latest time is {MAX_TIME}");
                return Err(StoreError::Invalid { what });
            }
        }
        Ok(())
    }
}

impl Query {
    /// Reports whether the list shows a run, on whatever page.
    #[must_use]
    pub fn matches(&self, head: &Head) -> bool {
        let summary = &head.summary;
        let is = |wanted: &Option<String>, actual: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| Some(wanted) == actual)
        };
        (self.statuses.is_empty() || self.statuses.contains(&summary.status))
            && is(&self.workflow, Some(&summary.workflow))
            && is(&self.project, summary.project.as_ref())
            && (self.parent.is_none() || self.parent == summary.parent)
            && (self.forked.is_none()
                || self.forked.as_ref() == head.forked.as_ref().map(|it| &it.0))
            && (!self.has_requests || !summary.requests.is_empty())
            && self
                .prefix
                .as_ref()
                .is_none_or(|prefix| head.run.as_str().starts_with(prefix))
    }
}
