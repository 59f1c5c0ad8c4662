//! Runs from lines of JSON, as [`export`](super::export()) writes them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, Read as _};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::bundle::{Bundle, Put};
use super::export::{BlobLine, FORMAT, Header, Line};
use super::runs;
use crate::hash::Hash;
use crate::id::RunId;
use crate::redact::Redactor;
use crate::store::{Store, StoreError};

/// Longest line. Unit: bytes. Why: a blob of a hundred megabytes in hexadecimal digits fits; a file without line breaks
/// doesn't fill the memory.
const MAX_LINE: u64 = 256 << 20;

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The runs that are new, in their order.
    pub new: Vec<RunId>,
    /// The runs that were there, and are the same.
    pub same: Vec<RunId>,
}

impl fmt::Display for Imported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} new", runs(self.new.len()))?;
        match self.same.len() {
            0 => Ok(()),
            count => write!(out, ", {count} there already"),
        }
    }
}

/// Why not everything was read. The runs before it are in the store.
#[derive(Debug)]
pub struct ImportError {
    /// The line, from 1.
    pub line: u64,
    /// What was done before it.
    pub done: Imported,
    /// Why.
    pub cause: StoreError,
}

impl fmt::Display for ImportError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "line {}: {} ({} before it)",
            self.line, self.cause, self.done
        )
    }
}

impl std::error::Error for ImportError {}

/// Puts all runs into a store, each whole or not at all, and only if its hashes are right. A run that is there already is
/// passed over if it is the same.
///
/// # Errors
///
/// The lines aren't what an export writes, or were changed; a run is there and is another; the store's.
pub fn import(store: &dyn Store, input: &mut dyn BufRead) -> Result<Imported, Box<ImportError>> {
    import_without(store, input, &Redactor::of_environment(&[]))
}

/// The same with another idea of what is secret. A run with a secret in it isn't taken: without the secret its hashes would
/// be wrong, and it would be another run than the one that was exported.
///
/// # Errors
///
/// As for [`import`].
pub fn import_without(
    store: &dyn Store,
    input: &mut dyn BufRead,
    secrets: &Redactor,
) -> Result<Imported, Box<ImportError>> {
    let mut lines = Lines {
        input,
        number: 0,
        digest: hmac_sha256::Hash::new(),
        before: Hash::ZERO,
    };
    let mut done = Imported::default();
    match read_all(store, &mut lines, &mut done, secrets) {
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
        if let Some((seq, name)) = bundle.secret(secrets) {
            let run = &bundle.head.run;
            let at = seq.map_or_else(String::new, |seq| format!(" at record {seq}"));
            return Err(invalid(&format!(
                "run `{run}` has a secret in it{at} (`{name}`); nothing of it was kept"
            )));
        }
        match bundle.put(store)? {
            Put::New => done.new.push(bundle.head.run),
            Put::Same => done.same.push(bundle.head.run),
        }
    }
    Ok(())
}

/// The lines of a run, up to its end.
fn read_bundle(lines: &mut Lines<'_>, bundle: &mut Bundle) -> Result<(), StoreError> {
    loop {
        match lines.next::<Line>()? {
            Some(Line::Record(record)) => bundle.records.push(record),
            Some(Line::Key(line)) => {
                bundle.keys.insert(line.key, line.request);
            }
            Some(Line::Blob(line)) => {
                let hash = line.hash;
                let bytes = bytes(line).ok_or_else(|| invalid("a blob is `text` or `hex`"))?;
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

fn bytes(line: BlobLine) -> Option<Vec<u8>> {
    match (line.text, line.hex) {
        (Some(text), None) => Some(text.into_bytes()),
        (None, Some(hex)) if hex.len() % 2 == 0 => hex
            .as_bytes()
            .chunks(2)
            .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())
            .collect(),
        _ => None,
    }
}

struct Lines<'a> {
    input: &'a mut dyn BufRead,
    number: u64,
    /// Of the lines since the last `end`.
    digest: hmac_sha256::Hash,
    /// The same without the last line.
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
