//! Runs as lines of JSON.
//!
//! The first line is the header, `{"statemark":"runs","version":1}`. Then, run by run, a fork behind what it was forked
//! from: `{"run":…}`, a line for each `record`, `key` and `blob`, and `{"end":…}` with the hash of these lines. Timers have no
//! lines: they are what the records say.

use std::fmt;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use super::progress::{Progress, Tell};
use super::{counted, runs};
use crate::hash::Hash;
use crate::id::{Key, RunId};
use crate::record::Record;
use crate::store::{Head, Store, StoreError};

/// The version of the lines. A newer one is refused.
pub const FORMAT: u32 = 1;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    Run(Head),
    Record(Record),
    Key(KeyLine),
    Blob(BlobLine),
    /// The hash of the run's lines before this one, as they are.
    End(Hash),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeyLine {
    pub(super) key: Key,
    pub(super) request: Hash,
}

/// A blob: as text if it is one, else as hexadecimal digits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BlobLine {
    pub(super) hash: Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hex: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) statemark: String,
    pub(super) version: u32,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// The runs, in their order.
    pub runs: Vec<RunId>,
    /// How many records.
    pub records: usize,
    /// How many blobs; one that several runs name is written for each.
    pub blobs: usize,
}

impl fmt::Display for Exported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = counted(self.records, "record");
        let blobs = counted(self.blobs, "blob");
        let runs = runs(self.runs.len());
        write!(out, "wrote {runs}, {records}, {blobs}")
    }
}

/// Writes all runs, or one with those that it was forked from and those that work for it. `tell` is told in records.
///
/// # Errors
///
/// There is no such run, or one isn't as it was written; the lines can't be written.
pub fn export(
    store: &dyn Store,
    only: Option<&RunId>,
    out: &mut dyn Write,
    tell: Tell<'_>,
) -> Result<Exported, StoreError> {
    let header = Header {
        statemark: "runs".to_owned(),
        version: FORMAT,
    };
    write(out, &header)?;
    let heads = match only {
        Some(run) => super::family(store, run)?,
        None => super::all(store)?,
    };
    let mut exported = Exported::default();
    let mut progress = Progress::of(heads.iter().map(own).sum());
    for head in heads {
        let bundle = checked(store, head, &mut progress, tell)?;
        exported.runs.push(bundle.head.run.clone());
        exported.records += bundle.records.len();
        exported.blobs += bundle.blobs.len();
        write_bundle(out, bundle)?;
    }
    out.flush().map_err(|error| unwritten(&error))?;
    Ok(exported)
}

/// How many records a run has for itself.
pub(super) fn own(head: &Head) -> u64 {
    let shared = head.forked.as_ref().map_or(0, |(_, at)| *at);
    head.seq.saturating_sub(shared)
}

/// A run that is as it was written: a damaged one is of no use to anybody who gets it.
pub(super) fn checked(
    store: &dyn Store,
    head: Head,
    progress: &mut Progress,
    tell: Tell<'_>,
) -> Result<Bundle, StoreError> {
    let bundle = Bundle::read(store, head, progress, tell)?;
    let checked = bundle.check();
    checked.map_err(|(seq, what)| StoreError::Corrupt {
        run: Some(bundle.head.run.clone()),
        seq,
        what,
    })?;
    Ok(bundle)
}

fn write_bundle(out: &mut dyn Write, bundle: Bundle) -> Result<(), StoreError> {
    let mut digest = hmac_sha256::Hash::new();
    let mut put = |line: &Line| {
        let text = write(out, line)?;
        digest.update(text);
        Ok::<(), StoreError>(())
    };
    put(&Line::Run(bundle.head))?;
    for record in bundle.records {
        put(&Line::Record(record))?;
    }
    for (key, request) in bundle.keys {
        put(&Line::Key(KeyLine { key, request }))?;
    }
    for (hash, bytes) in bundle.blobs {
        let (text, hex) = match String::from_utf8(bytes) {
            Ok(text) => (Some(text), None),
            Err(other) => (None, Some(hex(other.as_bytes()))),
        };
        put(&Line::Blob(BlobLine { hash, text, hex }))?;
    }
    let end = Hash::from_bytes(digest.finalize());
    write(out, &Line::End(end))?;
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Writes a line; what was written.
fn write(out: &mut dyn Write, line: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let mut text = serde_json::to_vec(line).map_err(|error| StoreError::Invalid {
        what: error.to_string(),
    })?;
    text.push(b'\n');
    out.write_all(&text).map_err(|error| unwritten(&error))?;
    Ok(text)
}

fn unwritten(error: &io::Error) -> StoreError {
    StoreError::Failed {
        doing: "writing the export",
        cause: error.to_string(),
    }
}
