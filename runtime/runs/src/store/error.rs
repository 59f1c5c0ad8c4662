//! Errors of stores.

use super::{Fence, MAX_BODY};
use crate::id::{Key, RunId};

/// The reasons why a store can't do something.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The journal doesn't end as expected.
    #[error("{}", conflict(*actual))]
    Conflict {
        /// Its last record; zero if there is no such run.
        actual: u64,
    },
    /// A newer holder has the run's lease.
    #[error("another holder has the run's lease (fence {})", newest.0)]
    Fenced {
        /// The newest token.
        newest: Fence,
    },
    /// A run, record or blob doesn't exist.
    #[error("there is no {what}")]
    NotFound {
        /// Its kind and name.
        what: String,
    },
    /// A record is too large.
    #[error("a record of {bytes} bytes (`{kind}`) is too large; most are {MAX_BODY}")]
    TooLarge {
        /// Its size. Unit: bytes.
        bytes: usize,
        /// Its kind.
        kind: String,
    },
    /// The idempotency key belongs to another request.
    #[error("the key `{key}` was used for another request")]
    KeyReused {
        /// The key.
        key: Key,
    },
    /// Another holder has the store or the lease.
    #[error("the store is busy: {by} holds it")]
    Busy {
        /// The holder.
        by: String,
        /// The end of its lease, by the store's clock. Unit: milliseconds since 1970.
        ///
        /// None if it is the store itself that is held.
        until: Option<u64>,
    },
    /// The answer was lost, and with it whether the append was made. The same key asks again.
    #[error("it isn't known whether this was written ({cause}); ask again with the same key")]
    Unknown {
        /// The failure.
        cause: String,
    },
    /// The store is a backup that is asleep.
    #[error("the store is a copy that sleeps, so that no two stores act on one run")]
    Asleep,
    /// Records are missing that the store had.
    #[error("the store has lost records: {what}")]
    Lost {
        /// The missing part, and how that shows.
        what: String,
    },
    /// Stored bytes aren't as they were written.
    #[error("the store is damaged{}: {what}", location(run.as_ref(), *seq))]
    Corrupt {
        /// The run.
        run: Option<RunId>,
        /// The record.
        seq: Option<u64>,
        /// The damage.
        what: String,
    },
    /// A newer version of this program wrote the store.
    #[error("a newer version has written this store (schema {found}; this version knows {known})")]
    SchemaTooNew {
        /// The version found.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// The request itself can't be met.
    #[error("{what}")]
    Invalid {
        /// The reason.
        what: String,
    },
    /// The store couldn't be reached, opened or written.
    #[error("{doing}: {cause}")]
    Failed {
        /// The attempted operation.
        doing: &'static str,
        /// The failure.
        cause: String,
    },
}

fn conflict(actual: u64) -> String {
    match actual {
        0 => "there is no such run".to_owned(),
        _ => format!("the run ends with record {actual}, not where this was meant for"),
    }
}

fn location(run: Option<&RunId>, seq: Option<u64>) -> String {
    let run = run.map_or_else(String::new, |run| format!(" in run `{run}`"));
    let seq = seq.map_or_else(String::new, |seq| format!(" at record {seq}"));
    run + &seq
}

impl StoreError {
    /// Returns the code for programs, such as `unknown_run`: the same at each front end.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { what } if what.starts_with("run ") => "unknown_run",
            Self::NotFound { .. } => "not_found",
            Self::Conflict { .. } => "conflict",
            Self::TooLarge { .. } => "too_large",
            Self::KeyReused { .. } => "key_reused",
            Self::Fenced { .. } => "fenced",
            Self::Busy { .. } => "busy",
            Self::Asleep => "asleep",
            Self::Corrupt { .. } => "corrupt",
            Self::Unknown { .. }
            | Self::Lost { .. }
            | Self::SchemaTooNew { .. }
            | Self::Invalid { .. }
            | Self::Failed { .. } => "store_failed",
        }
    }

    /// Returns the error for a run that doesn't exist.
    #[must_use]
    pub fn missing_run(run: &RunId) -> Self {
        Self::NotFound {
            what: format!("run `{run}`"),
        }
    }

    /// Returns the error for a record that a run doesn't have.
    #[must_use]
    pub fn missing_record(run: &RunId, seq: u64) -> Self {
        Self::NotFound {
            what: format!("record {seq} in run `{run}`"),
        }
    }
}
