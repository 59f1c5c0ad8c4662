//! Anchors: the ends of journals, to be kept where whoever can write to the store can't.
//!
//! A chain of hashes can be made again by anybody who can write to the store. So its ends are written down, and kept
//! elsewhere: in a repository, with another user, on paper. An anchor is a line of JSON, and a file has one a day or as
//! often as somebody likes, each with the ends that have changed since the lines before:
//!
//! ```json
//! {"statemark":"anchor","version":1,"store":"6f0c…","time":1800000000000,"ends":{"$store":[2,"9a41…"],"p1":[7,"03be…"]}}
//! ```
//!
//! `store` is the store's random id, `time` the time of the line, and `ends` has by run the number and the hash of the last
//! record; `$store` is the store's own journal. Every line holds for ever: a journal only grows, so the record of that
//! number has that hash as long as nothing was changed. A run that is gone has to have been pruned, by somebody, and the
//! store's journal says so.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Difference, counted};
use crate::authority::{Authority, load_authority};
use crate::hash::Hash;
use crate::id::RunId;
use crate::store::{Head, Store, StoreError};

/// The version of the format. A newer one isn't read.
pub const ANCHOR_FORMAT: u32 = 1;

/// A line of a file of anchors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The word `anchor`, by which one knows the format.
    statemark: String,
    /// The version of the format.
    version: u32,
    /// The store's random id.
    store: String,
    /// The time of the line. Unit: milliseconds since 1970.
    time: u64,
    /// By run: the last record, and its hash.
    ends: BTreeMap<String, (u64, Hash)>,
}

/// Anchors as they were read from a file, one line after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors {
    lines: Vec<Anchor>,
}

/// The reasons why a file isn't one of anchors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnchorError {
    /// A line is no anchor.
    #[error("line {line} is no anchor: {cause}")]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// The defect.
        cause: String,
    },
    /// A newer version of this program wrote the line.
    #[error(
        "a newer version has written line {line} (format {found}; this version knows {ANCHOR_FORMAT})"
    )]
    TooNew {
        /// The line, from 1.
        line: usize,
        /// Its version.
        found: u32,
    },
    /// The lines are of several stores.
    #[error("line {line} is of another store than the lines before it")]
    OtherStore {
        /// The line, from 1.
        line: usize,
    },
    /// There is no line.
    #[error("there is no anchor in it")]
    Empty,
}

/// The report of a comparison with anchors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Anchored {
    /// The number of lines.
    pub lines: usize,
    /// The number of ends that were compared.
    pub ends: usize,
    /// The runs that were pruned since.
    pub pruned: usize,
    /// The ends that the store doesn't have.
    pub differences: Vec<Difference>,
}

impl fmt::Display for Anchored {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            writeln!(out, "{difference}")?;
        }
        let (lines, ends) = (counted(self.lines, "anchor"), counted(self.ends, "end"));
        match self.differences.len() {
            0 => write!(out, "as anchored: {ends} in {lines}")?,
            count => write!(
                out,
                "{} from {ends} in {lines}",
                counted(count, "difference")
            )?,
        }
        match self.pruned {
            0 => Ok(()),
            1 => out.write_str("; 1 run was pruned since"),
            count => write!(out, "; {count} runs were pruned since"),
        }
    }
}

impl Anchors {
    /// Reads the lines of a file. Empty lines say nothing.
    ///
    /// # Errors
    ///
    /// A line is no anchor, or is of another store than the first.
    pub fn parse(text: &str) -> Result<Self, AnchorError> {
        let mut anchors = Self::default();
        for (text, line) in text.lines().zip(1..) {
            if text.trim().is_empty() {
                continue;
            }
            let malformed = |cause: String| AnchorError::Malformed { line, cause };
            let anchor: Anchor =
                serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
            if anchor.statemark != "anchor" {
                return Err(malformed("it isn't one by its own word".to_owned()));
            }
            if anchor.version > ANCHOR_FORMAT {
                let found = anchor.version;
                return Err(AnchorError::TooNew { line, found });
            }
            let first = anchors.lines.first();
            if first.is_some_and(|first| first.store != anchor.store) {
                return Err(AnchorError::OtherStore { line });
            }
            anchors.lines.push(anchor);
        }
        Ok(anchors)
    }

    /// Reports whether there is no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the latest end of each run.
    fn latest(&self) -> BTreeMap<&str, (u64, Hash)> {
        let ends = self.lines.iter().flat_map(|line| &line.ends);
        ends.map(|(run, end)| (run.as_str(), *end)).collect()
    }

    /// Compares a store with every line.
    ///
    /// # Errors
    ///
    /// The store can't be read. A difference is no error: it is in the report.
    pub fn compare(&self, store: &dyn Store) -> Result<Anchored, StoreError> {
        let authority = load_authority(store)?;
        let mut report = Anchored {
            lines: self.lines.len(),
            ..Anchored::default()
        };
        let anchored = self.lines.first().map(|line| line.store.as_str());
        if anchored != authority.store_id() {
            let what = match authority.store_id() {
                Some(_) => "it isn't the store that the anchors are of: it has another id",
                None => "it isn't the store that the anchors are of: it has no journal of its own",
            };
            report.differences.push(Difference {
                run: RunId::store_journal(),
                seq: None,
                what: what.to_owned(),
            });
        }
        // The same end in several lines is one.
        let ends = self.lines.iter().flat_map(|line| &line.ends);
        let ends: std::collections::BTreeSet<(&String, u64, Hash)> =
            ends.map(|(run, (seq, hash))| (run, *seq, *hash)).collect();
        let mut gone: Option<&String> = None;
        for (name, seq, hash) in ends {
            report.ends += 1;
            if gone == Some(name) {
                continue;
            }
            match compare_end(store, &authority, name, (seq, hash))? {
                Compared::Same => {}
                Compared::Pruned => {
                    gone = Some(name);
                    report.pruned += 1;
                }
                Compared::Other(difference) => {
                    gone = Some(name);
                    report.differences.push(difference);
                }
            }
        }
        Ok(report)
    }
}

/// The outcome of a comparison with an end.
enum Compared {
    Same,
    Pruned,
    Other(Difference),
}

fn compare_end(
    store: &dyn Store,
    authority: &Authority,
    name: &str,
    (seq, hash): (u64, Hash),
) -> Result<Compared, StoreError> {
    let other = |run: RunId, seq: Option<u64>, what: &str| {
        let what = what.to_owned();
        Ok(Compared::Other(Difference { run, seq, what }))
    };
    let Ok(run) = RunId::from_stored(name) else {
        let what = format!("the anchors have a run `{name}`, which can't be one");
        return other(RunId::store_journal(), None, &what);
    };
    let tombstone = authority.tombstones(&run).last();
    let head = match store.head(&run) {
        Ok(head) => head,
        Err(StoreError::NotFound { .. }) => {
            return match tombstone {
                // The end of the store's journal is anchored, too: no tombstone can be slipped in before it.
                Some(tombstone) if tombstone.seq >= seq => Ok(Compared::Pruned),
                Some(_) => other(run, Some(seq), "it had more records than were pruned"),
                None => other(run, None, "it is gone, and nobody has pruned it"),
            };
        }
        Err(error) => return Err(error),
    };
    if head.seq < seq {
        return other(run, Some(seq), "it isn't there any more");
    }
    let record = store.records(&run, seq.saturating_sub(1), 1);
    let found = match record {
        Ok(records) => records.first().map(crate::record::Record::hash),
        Err(StoreError::Corrupt { seq: at, what, .. }) => {
            return other(run, at.or(Some(seq)), &what);
        }
        Err(error) => return Err(error),
    };
    if found == Some(hash) {
        return Ok(Compared::Same);
    }
    let what = match tombstone {
        Some(_) => "it was pruned, and another run has its id",
        None => "it isn't as it was when it was anchored: this record or one before it was changed",
    };
    other(run, Some(seq), what)
}

/// Makes the line of a store as it is now, with the ends that aren't in the lines before.
///
/// # Errors
///
/// The store can't be read, or has no journal of its own and so no id.
pub fn make_anchor(store: &dyn Store, before: &Anchors, time: u64) -> Result<Anchor, StoreError> {
    let authority = load_authority(store)?;
    let Some(id) = authority.store_id() else {
        let what = "the store has no journal of its own".to_owned();
        return Err(StoreError::NotFound { what });
    };
    let known = before.latest();
    let journal = store.head(&RunId::store_journal())?;
    let heads = super::all_runs(store)?;
    let ends = std::iter::once(&journal).chain(&heads);
    let ends = ends
        .map(|Head { run, seq, hash, .. }| (run.to_string(), (*seq, *hash)))
        .filter(|(run, end)| known.get(run.as_str()) != Some(end));
    Ok(Anchor {
        statemark: "anchor".to_owned(),
        version: ANCHOR_FORMAT,
        store: id.to_owned(),
        time,
        ends: ends.collect(),
    })
}

impl Anchor {
    /// Returns the number of ends in the line.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Reports whether nothing has changed since the lines before.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the line, without its end.
    #[must_use]
    pub fn to_line(&self) -> String {
        // INVARIANT: the keys are texts, and nothing else can fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}
