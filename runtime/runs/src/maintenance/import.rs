//! Import of runs from the lines of JSON that [`export`](super::export()) writes.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, Read as _};

use serde::Serialize;
use serde::de::DeserializeOwned;
use statemark_text::hex;
use statemark_text::json::describe_repeated_key;

use super::bundle::{Arrival, Bundle, Put};
use super::counted;
use super::export::{BlobLine, FORMAT, Header, Line};
use crate::hash::Hash;
use crate::id::RunId;
use crate::redact::Redactor;
use crate::store::{Store, StoreError};

/// Longest line. Unit: bytes.
///
/// Why: a blob of a hundred megabytes fits as hexadecimal digits, and a file without line breaks doesn't fill the
/// memory.
const MAX_LINE: u64 = 256 << 20;

/// The report of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The new runs, in the order of the lines.
    pub new: Vec<RunId>,
    /// The runs that the store had already.
    pub same: Vec<RunId>,
}

impl fmt::Display for Imported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} new", counted(self.new.len(), "run"))?;
        match self.same.len() {
            0 => Ok(()),
            count => write!(out, ", {count} there already"),
        }
    }
}

/// The error that ended an import. The runs before it are in the store.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {cause} ({done} before it)")]
pub struct ImportError {
    /// The line, from 1.
    pub line: u64,
    /// The report of the runs before it.
    pub done: Imported,
    /// The cause.
    pub cause: StoreError,
}

/// Imports all runs into a store, each whole or not at all, after checking its hashes.
///
/// A run that the store has already is skipped if it is the same.
///
/// # Errors
///
/// The lines aren't an export's, or were changed; the store has another run of that id; those of the store.
pub fn import(store: &dyn Store, input: &mut dyn BufRead) -> Result<Imported, Box<ImportError>> {
    import_with(store, input, &Redactor::from_environment(&[]))
}

/// Imports like [`import`], with other secrets than this process's.
///
/// A run that holds a secret is refused: without the secret its hashes would be wrong, and it would be another run than the
/// exported one.
///
/// # Errors
///
/// Those of [`import`].
pub fn import_with(
    store: &dyn Store,
    input: &mut dyn BufRead,
    secrets: &Redactor,
) -> Result<Imported, Box<ImportError>> {
    import_as(store, input, secrets, None)
}

/// Imports runs, each of which says afterwards who has taken it in, if somebody does.
pub(super) fn import_as(
    store: &dyn Store,
    input: &mut dyn BufRead,
    secrets: &Redactor,
    arrival: Option<&Arrival>,
) -> Result<Imported, Box<ImportError>> {
    let mut lines = Lines {
        input,
        number: 0,
        digest: hmac_sha256::Hash::new(),
        before: Hash::ZERO,
    };
    let mut done = Imported::default();
    match read_all(store, &mut lines, &mut done, secrets, arrival) {
        Ok(()) => Ok(done),
        Err(cause) => Err(Box::new(ImportError {
            line: lines.number,
            done,
            cause,
        })),
    }
}

fn read_all(
    store: &dyn Store,
    lines: &mut Lines<'_>,
    done: &mut Imported,
    secrets: &Redactor,
    arrival: Option<&Arrival>,
) -> Result<(), StoreError> {
    match lines.next::<Header>()? {
        Some(header) if header.statemark == "runs" && header.version <= FORMAT => {}
        Some(Header { version: found, .. }) if found > FORMAT => {
            let known = FORMAT;
            return Err(StoreError::SchemaTooNew { found, known });
        }
        _ => {
            return Err(invalid(
                "this is no export of runs: its first line isn't the header",
            ));
        }
    }
    lines.digest = hmac_sha256::Hash::new();
    while let Some(line) = lines.next::<Line>()? {
        let Line::Run(head) = line else {
            return Err(invalid("a run begins with a line `run`"));
        };
        let mut bundle = Bundle {
            head,
            records: Vec::new(),
            keys: BTreeMap::new(),
            blobs: BTreeMap::new(),
        };
        read_bundle(lines, &mut bundle)?;
        bundle.check().map_err(|(seq, what)| {
            let run = &bundle.head.run;
            let at = seq.map_or_else(String::new, |seq| format!(" at record {seq}"));
            invalid(&format!(
                "run `{run}` was changed{at}: {what}; nothing of it was kept"
            ))
        })?;
        if let Some((seq, name)) = bundle.find_secret(secrets) {
            let run = &bundle.head.run;
            let at = seq.map_or_else(String::new, |seq| format!(" at record {seq}"));
            return Err(invalid(&format!(
                "run `{run}` has a secret in it{at} (`{name}`); nothing of it was kept"
            )));
        }
        match bundle.put(store, arrival)? {
            Put::New => done.new.push(bundle.head.run),
            Put::Same => done.same.push(bundle.head.run),
        }
    }
    Ok(())
}

/// Reads the lines of a run, up to its end.
fn read_bundle(lines: &mut Lines<'_>, bundle: &mut Bundle) -> Result<(), StoreError> {
    loop {
        match lines.next::<Line>()? {
            Some(Line::Record(record)) => bundle.records.push(record),
            Some(Line::Key(line)) => {
                bundle.keys.insert(line.key, line.request);
            }
            Some(Line::Blob(line)) => {
                let hash = line.hash;
                let bytes = blob_bytes(line).ok_or_else(|| invalid("a blob is `text` or `hex`"))?;
                bundle.blobs.insert(hash, bytes);
            }
            Some(Line::End(hash)) if hash == lines.before => {
                lines.digest = hmac_sha256::Hash::new();
                return Ok(());
            }
            Some(Line::End(_)) => {
                let run = &bundle.head.run;
                return Err(invalid(&format!(
                    "run `{run}` was changed: its lines have another hash; nothing of it was kept"
                )));
            }
            Some(Line::Run(_)) | None => {
                let run = &bundle.head.run;
                return Err(invalid(&format!(
                    "run `{run}` has no end: the file was cut"
                )));
            }
        }
    }
}

fn blob_bytes(line: BlobLine) -> Option<Vec<u8>> {
    match (line.text, line.hex) {
        (Some(text), None) => Some(text.into_bytes()),
        (None, Some(digits)) => hex::decode(&digits),
        _ => None,
    }
}

struct Lines<'a> {
    input: &'a mut dyn BufRead,
    number: u64,
    /// The checksum of the lines since the last `end`.
    digest: hmac_sha256::Hash,
    /// The checksum of the lines before the last one.
    before: Hash,
}

impl Lines<'_> {
    fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        let mut line = Vec::new();
        self.number += 1;
        let mut limited = (&mut *self.input).take(MAX_LINE);
        let count = limited.read_until(b'\n', &mut line);
        let count = count.map_err(|error| StoreError::Failed {
            doing: "reading the export",
            cause: error.to_string(),
        })?;
        if count == 0 {
            return Ok(None);
        }
        if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
            return Err(invalid(&format!(
                "the line is longer than {MAX_LINE} bytes"
            )));
        }
        self.before = Hash::from_bytes(self.digest.finalize());
        self.digest.update(&line);
        if let Some(repeated) = describe_repeated_key(&line) {
            return Err(invalid(&repeated));
        }
        let read = serde_json::from_slice(&line);
        read.map(Some)
            .map_err(|error| invalid(&format!("the line can't be read: {error}")))
    }
}

fn invalid(what: &str) -> StoreError {
    StoreError::Invalid {
        what: what.to_owned(),
    }
}
