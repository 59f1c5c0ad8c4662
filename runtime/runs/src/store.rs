//! Where journals are kept: one trait, and what goes in and comes out.
//!
//! [`Store::append`] is the only way to write to a run, and one call of it is one transaction that touches one run. All
//! else is derived: a [`Head`] from the last fold, a fold cache from the journal.
//!
//! The trait is synchronous: SQLite is, and what a store does takes less than a thread's change of mind. A store that
//! speaks to a server keeps its own pool of connections; an asynchronous caller uses its threads for blocking work.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::id::{Key, RunId};
use crate::record::{NewRecord, Record};

/// What a run's journal must be like for an append to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// There is no such run.
    NoRun,
    /// It ends with this record.
    At(u64),
    /// There is one.
    Any,
}

/// A token that a later holder of the lease makes worthless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fence(pub u64);

/// Records to be put at the end of a run, all or none.
#[derive(Clone, Debug)]
pub struct Append {
    /// The run.
    pub run: RunId,
    /// What its journal must be like.
    pub expect: Expect,
    /// The key of the request, with the hash of the request: asked again, it is answered as the first time.
    pub key: Option<(Key, Hash)>,
    /// The lease under which it is written, if there is one. A newer one fences it off.
    pub fence: Option<Fence>,
    /// The records, at least one.
    pub records: Vec<NewRecord>,
    /// What lists show of the run from now on.
    pub summary: Summary,
    /// The timers of the run that are still to come from now on; none if they are as they were.
    pub timers: Option<Vec<PendingTimer>>,
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It was made.
    Done {
        /// Its first record.
        first: u64,
        /// Its last record.
        last: u64,
    },
    /// The same request had made it before.
    Replayed {
        /// Its first record.
        first: u64,
        /// Its last record.
        last: u64,
    },
}

/// What lists show of a run: derived by the fold, and kept so that a list needs none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
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
    /// The ids of requests that are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
}

/// The end of a run's journal, and what lists show of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The run.
    pub run: RunId,
    /// The last record's place.
    pub seq: u64,
    /// The last record's hash.
    pub hash: Hash,
    /// When the first record was written. Unit: milliseconds since 1970.
    pub created: u64,
    /// When the last record was written.
    pub updated: u64,
    /// The run and the record that it was forked from: its journal begins with that run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<(RunId, u64)>,
    /// What lists show.
    pub summary: Summary,
}

/// A timer of a run that is still to come.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PendingTimer {
    /// When it is due. Unit: milliseconds since 1970.
    pub due: u64,
    /// What it is for: a timer of the table (`timer:NAME`) or the expiry of a request (`request:ID`).
    pub name: String,
    /// Tells two timers of one name apart: the record that armed it.
    pub seq: u64,
}

/// What was done under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The hash of the request.
    pub request: Hash,
    /// Its first record.
    pub first: u64,
    /// Its last record.
    pub last: u64,
}

/// Which runs a list shows, newest change first.
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
    /// Whose id begins so.
    pub prefix: Option<String>,
    /// Behind this place of the list.
    pub after: Option<Cursor>,
    /// Most of them; at most [`MAX_PAGE`].
    pub limit: usize,
}

/// Most runs of a page, and most records of one reading. Why: a reader's memory stays flat.
pub const MAX_PAGE: usize = 1_000;

/// A place in a list of runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor {
    /// When the last run before it was changed.
    pub updated: u64,
    /// That run.
    pub run: RunId,
}

/// A part of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The runs.
    pub heads: Vec<Head>,
    /// Where the next part begins; none if this was the last.
    pub next: Option<Cursor>,
}

/// Leave to drive a run for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// Who has it.
    pub owner: String,
    /// Grows with each holder.
    pub fence: Fence,
    /// Until when, by the store's clock. Unit: milliseconds since 1970.
    pub until: u64,
}

/// A timer that was due, and that nobody else gets for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The run.
    pub run: RunId,
    /// The timer.
    pub timer: PendingTimer,
}

/// The point up to which a watcher has seen changes. Opaque, but that a later one of the same store is never less; it is
/// good for as long as the store is, whoever asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Watermark(pub u64);

/// A run has changed; whoever cares reads it again from the seq that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The run.
    pub run: RunId,
    /// Its last record when the hint was given.
    pub seq: u64,
}

/// Why a store didn't do something.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The journal isn't as expected.
    Conflict {
        /// Its last record; zero if there is no such run.
        actual: u64,
    },
    /// Somebody else holds the run's lease now.
    Fenced {
        /// The newest token.
        newest: Fence,
    },
    /// There is no such run or blob.
    NotFound {
        /// What.
        what: String,
    },
    /// A record is too large.
    TooLarge {
        /// Its size. Unit: bytes.
        bytes: usize,
        /// Its kind.
        kind: String,
    },
    /// The key was used for another request.
    KeyReused {
        /// The key.
        key: Key,
    },
    /// Somebody else holds the store or the lease.
    Busy {
        /// Who.
        by: String,
    },
    /// The answer was lost: the append was made or not. The same key asks again.
    Unknown {
        /// What happened.
        cause: String,
    },
    /// It is a copy that nobody has woken.
    Asleep,
    /// What is stored isn't what was written.
    Corrupt {
        /// Where.
        run: Option<RunId>,
        /// At which record.
        seq: Option<u64>,
        /// What is wrong.
        what: String,
    },
    /// A newer version of this program has written it.
    SchemaTooNew {
        /// The version found.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// The request itself can't be met.
    Invalid {
        /// Why.
        what: String,
    },
    /// The store couldn't be reached, opened or written.
    Failed {
        /// What was tried.
        doing: &'static str,
        /// What happened.
        cause: String,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { actual: 0 } => out.write_str("there is no such run"),
            Self::Conflict { actual } => {
                write!(
                    out,
                    "the run ends with record {actual}, not where this was meant for"
                )
            }
            Self::Fenced { newest } => {
                write!(
                    out,
                    "another holder has the run's lease (fence {})",
                    newest.0
                )
            }
            Self::NotFound { what } => write!(out, "there is no {what}"),
            Self::TooLarge { bytes, kind } => write!(
                out,
                "a record of {bytes} bytes (`{kind}`) is too large; most are {MAX_BODY}"
            ),
            Self::KeyReused { key } => write!(out, "the key `{key}` was used for another request"),
            Self::Busy { by } => write!(out, "the store is busy: {by} holds it"),
            Self::Unknown { cause } => write!(
                out,
                "it isn't known whether this was written ({cause}); ask again with the same key"
            ),
            Self::Asleep => out.write_str(
                "the store is a copy that sleeps, so that no two stores act on one run; `statemark store wake` makes it the one that does",
            ),
            Self::Corrupt { run, seq, what } => {
                out.write_str("the store is damaged")?;
                if let Some(run) = run {
                    write!(out, " in run `{run}`")?;
                }
                if let Some(seq) = seq {
                    write!(out, " at record {seq}")?;
                }
                write!(out, ": {what}")
            }
            Self::SchemaTooNew { found, known } => write!(
                out,
                "a newer version has written this store (schema {found}; this version knows {known})"
            ),
            Self::Invalid { what } => out.write_str(what),
            Self::Failed { doing, cause } => write!(out, "{doing}: {cause}"),
        }
    }
}

impl std::error::Error for StoreError {}

/// Keeps journals. Every method is one transaction, and may be called by many threads and processes at once.
pub trait Store: Send + Sync {
    /// Puts records at the end of a run, all or none. The only way to write to one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the journal isn't as expected, [`StoreError::Fenced`], [`StoreError::KeyReused`],
    /// [`StoreError::TooLarge`], or [`StoreError::Invalid`] for no record.
    fn append(&self, append: &Append) -> Result<Appended, StoreError>;

    /// The end of a run.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`].
    fn head(&self, run: &RunId) -> Result<Head, StoreError>;

    /// The records after one, at most so many and at most [`MAX_PAGE`]. Of a fork, its parent's come first.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`].
    fn records(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Record>, StoreError>;

    /// What was done under a key of a run, if anything was.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn seen(&self, run: &RunId, key: &Key) -> Result<Option<Seen>, StoreError>;

    /// Runs, newest change first.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn list(&self, query: &Query) -> Result<Page, StoreError>;

    /// How many runs there are, by status; a status that no run has isn't told.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn counts(&self) -> Result<BTreeMap<String, u64>, StoreError>;

    /// Makes a run whose journal begins with another's, up to one of its records; the records given come behind. The
    /// other is untouched.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] for the run or the record; else as [`Store::append`], which it is with
    /// [`Expect::NoRun`], whatever the append expects.
    fn fork(&self, from: &RunId, at: u64, append: &Append) -> Result<Appended, StoreError>;

    /// Makes a run by several appends, all or none: the first makes it, from nothing or as a fork; each of the others is
    /// put behind. For runs that come from another store.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if there is such a run; [`StoreError::KeyReused`] if two appends have one key; else as
    /// [`Store::append`] and [`Store::fork`].
    fn make(&self, from: Option<(&RunId, u64)>, appends: &[Append]) -> Result<(), StoreError>;

    /// Gets or prolongs the lease of a run.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] if somebody else has it and it isn't over.
    fn lease(&self, run: &RunId, owner: &str, milliseconds: u64) -> Result<Lease, StoreError>;

    /// Gives a lease back, if it is still held.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn release(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Timers that are due by a time, the earliest first, at most so many. Each is the caller's for so many milliseconds
    /// of the store's clock; whoever has taken its event leaves it out of [`Append::timers`].
    ///
    /// # Errors
    ///
    /// As the store's.
    fn due(&self, now: u64, limit: usize, claim: u64) -> Result<Vec<Due>, StoreError>;

    /// Whether it is a copy that nobody has woken: it is read, and nothing is written to its runs.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn is_asleep(&self) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// When the next timer of any run is due that nobody has claimed.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn next_due(&self) -> Result<Option<u64>, StoreError>;

    /// Which runs have changed since. Many are told in parts: who asks on from each mark until there are none has been told
    /// all. Each change is told at least once.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn changes(&self, since: &Watermark) -> Result<(Watermark, Vec<Hint>), StoreError>;

    /// Keeps bytes under their hash.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn put_blob(&self, bytes: &[u8]) -> Result<Hash, StoreError>;

    /// The bytes with this hash.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`]; [`StoreError::Corrupt`] if they have another hash.
    fn blob(&self, hash: &Hash) -> Result<Vec<u8>, StoreError>;

    /// Removes the blobs that aren't among these and that nobody has kept anew for so many milliseconds of the store's clock;
    /// or only says which. Whoever keeps a blob has that long to append the record that names it.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn sweep(
        &self,
        named: &BTreeSet<Hash>,
        idle: u64,
        really: bool,
    ) -> Result<Vec<Hash>, StoreError>;

    /// Keeps a fold of a run's first records, for whoever reads on from there. One is kept for each run.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn put_fold(&self, run: &RunId, seq: u64, fold: &[u8]) -> Result<(), StoreError>;

    /// The fold that was kept, if there is one: up to which record, and its bytes.
    ///
    /// # Errors
    ///
    /// As the store's.
    fn fold(&self, run: &RunId) -> Result<Option<(u64, Vec<u8>)>, StoreError>;

    /// Removes a run with everything that only it has.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`]; [`StoreError::Invalid`] if a fork begins with its journal.
    fn remove(&self, run: &RunId) -> Result<(), StoreError>;
}

/// After how long a blob that nobody has kept anew is old enough to be said so once more. Unit: milliseconds. Why: a store
/// isn't written for each time that a blob is kept which it has.
pub const TOUCH_AFTER: u64 = 10 * 60 * 1_000;

/// Most bytes of a record's body. Unit: bytes. Why: what is larger is an artifact, which journals only name.
pub const MAX_BODY: usize = 1 << 20;

/// Latest time of a record. Unit: milliseconds since 1970. Why: databases have signed numbers.
pub const MAX_TIME: u64 = i64::MAX.unsigned_abs();

/// The end of a run, as a back end finds it before it appends.
pub struct End {
    /// The last record.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
    /// The newest token of the run's lease; zero if nobody has had one.
    pub fence: u64,
}

/// That there is no such run.
pub fn no_run(run: &RunId) -> StoreError {
    StoreError::NotFound {
        what: format!("run `{run}`"),
    }
}

/// That a run has no such record.
pub fn no_record(run: &RunId, seq: u64) -> StoreError {
    StoreError::NotFound {
        what: format!("record {seq} in run `{run}`"),
    }
}

impl Append {
    /// Returns the record that the new ones follow, with its hash: the run's end, or `start` for a new run.
    ///
    /// A fork is a new run, whatever the append expects.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the run doesn't end as expected; [`StoreError::Fenced`] if the lease has a newer token.
    pub fn behind(
        &self,
        end: Option<&End>,
        start: (u64, Hash),
        is_fork: bool,
    ) -> Result<(u64, Hash), StoreError> {
        let expect = if is_fork { Expect::NoRun } else { self.expect };
        let place = match (expect, end) {
            (Expect::NoRun, None) => start,
            (Expect::Any, Some(end)) => (end.seq, end.hash),
            (Expect::At(seq), Some(end)) if end.seq == seq => (seq, end.hash),
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
        Ok(place)
    }

    /// Answers an append whose key was seen before.
    ///
    /// # Errors
    ///
    /// [`StoreError::KeyReused`] if the key belongs to another request.
    pub fn replayed(&self, seen: &Seen) -> Result<Appended, StoreError> {
        match &self.key {
            Some((key, request)) if *request != seen.request => {
                Err(StoreError::KeyReused { key: key.clone() })
            }
            _ => Ok(Appended::Replayed {
                first: seen.first,
                last: seen.last,
            }),
        }
    }

    /// Checks that the append was made now, as one of several that make a run.
    ///
    /// # Errors
    ///
    /// [`StoreError::KeyReused`] if it was made before.
    pub fn made(&self, done: Appended) -> Result<(), StoreError> {
        match (done, &self.key) {
            (Appended::Replayed { .. }, Some((key, _))) => {
                Err(StoreError::KeyReused { key: key.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Whether it can be made at all.
    ///
    /// # Errors
    ///
    /// [`StoreError::TooLarge`]; [`StoreError::Invalid`]: it has no record, or one that is too late.
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
    /// Whether a run is one that the list shows, wherever in it.
    #[must_use]
    pub fn matches(&self, head: &Head) -> bool {
        let summary = &head.summary;
        let is = |wanted: &Option<String>, found: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| Some(wanted) == found)
        };
        (self.statuses.is_empty() || self.statuses.contains(&summary.status))
            && is(&self.workflow, Some(&summary.workflow))
            && is(&self.project, summary.project.as_ref())
            && (self.parent.is_none() || self.parent == summary.parent)
            && (self.forked.is_none()
                || self.forked.as_ref() == head.forked.as_ref().map(|it| &it.0))
            && self
                .prefix
                .as_ref()
                .is_none_or(|prefix| head.run.as_str().starts_with(prefix))
    }
}
