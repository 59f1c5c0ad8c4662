//! Export of runs as lines of JSON.
//!
//! The first line is the header, `{"statemark":"runs","version":1}`. Then come the runs, a fork after the run that it was
//! forked from: `{"run":…}`, a line for each `record`, `key` and `blob`, and `{"end":…}` with the hash of these lines. Timers
//! have no lines: they follow from the records.

use std::fmt;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use statemark_text::hex;

use super::bundle::Bundle;
use super::{OnProgress, Progress, counted};
use crate::hash::Hash;
use crate::id::{Key, RunId};
use crate::record::Record;
use crate::store::{Head, Store, StoreError};

/// The version of the format. Import refuses a newer one.
pub const FORMAT: u32 = 1;

/// A line of the format.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    Run(Head),
    Record(Record),
    Key(KeyLine),
    Blob(BlobLine),
    /// The hash of the run's lines before this one, byte by byte.
    End(Hash),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeyLine {
    pub(super) key: Key,
    pub(super) request: Hash,
}

/// A blob: a string if it is UTF-8, else hexadecimal digits.
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

/// The report of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// The runs, in the order of the lines.
    pub runs: Vec<RunId>,
    /// The number of records.
    pub records: usize,
    /// The number of blobs; one that several runs refer to is written for each.
    pub blobs: usize,
}

impl fmt::Display for Exported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = counted(self.records, "record");
        let blobs = counted(self.blobs, "blob");
        let runs = counted(self.runs.len(), "run");
        write!(out, "wrote {runs}, {records}, {blobs}")
    }
}

/// Writes all runs, or one with its family. Unit of progress: records.
///
/// The family is the run and its children, theirs too, and what any of them was forked from: not its parent, and not its
/// forks.
///
/// # Errors
///
/// There is no such run, a run is damaged, or the lines can't be written.
pub fn export(
    store: &dyn Store,
    only: Option<&RunId>,
    out: &mut dyn Write,
    on_progress: OnProgress<'_>,
) -> Result<Exported, StoreError> {
    let header = Header {
        statemark: "runs".to_owned(),
        version: FORMAT,
    };
    write_line(out, &header)?;
    let heads = match only {
        Some(run) => super::family(store, run)?,
        None => super::all_runs(store)?,
    };
    let mut exported = Exported::default();
    let mut progress = Progress::new(heads.iter().map(own_records).sum());
    for head in heads {
        let bundle = read_intact(store, head, &mut progress, on_progress)?;
        exported.runs.push(bundle.head.run.clone());
        exported.records += bundle.records.len();
        exported.blobs += bundle.blobs.len();
        write_bundle(out, bundle)?;
    }
    out.flush().map_err(|error| write_failed(&error))?;
    Ok(exported)
}

/// Returns the number of records that a run doesn't share with the run that it was forked from.
pub(super) fn own_records(head: &Head) -> u64 {
    let shared = head.forked.as_ref().map_or(0, |(_, at)| *at);
    head.seq.saturating_sub(shared)
}

/// Reads a run and checks it, because nobody can use a damaged one.
pub(super) fn read_intact(
    store: &dyn Store,
    head: Head,
    progress: &mut Progress,
    on_progress: OnProgress<'_>,
) -> Result<Bundle, StoreError> {
    let bundle = Bundle::read(store, head, progress, on_progress)?;
    match bundle.check() {
        Ok(()) => Ok(bundle),
        Err((seq, what)) => Err(StoreError::Corrupt {
            run: Some(bundle.head.run),
            seq,
            what,
        }),
    }
}

fn write_bundle(out: &mut dyn Write, bundle: Bundle) -> Result<(), StoreError> {
    let mut digest = hmac_sha256::Hash::new();
    let mut put = |line: &Line| {
        let text = write_line(out, line)?;
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
            Err(other) => (None, Some(hex::encode(other.as_bytes()))),
        };
        put(&Line::Blob(BlobLine { hash, text, hex }))?;
    }
    let end = Hash::from_bytes(digest.finalize());
    write_line(out, &Line::End(end))?;
    Ok(())
}

/// Writes a line and returns its bytes.
fn write_line(out: &mut dyn Write, line: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let mut text = serde_json::to_vec(line).map_err(|error| StoreError::Invalid {
        what: error.to_string(),
    })?;
    text.push(b'\n');
    out.write_all(&text).map_err(|error| write_failed(&error))?;
    Ok(text)
}

fn write_failed(error: &io::Error) -> StoreError {
    StoreError::Failed {
        doing: "writing the export",
        cause: error.to_string(),
    }
}
