//! Records: the entries of a journal, and the chain of hashes that links them.
//!
//! A record is stored as it was written and never rewritten; [`Body`](crate::Body) is its meaning today. Each record has the
//! hash of the one before it, so that a reader finds a changed byte.

use serde::{Deserialize, Serialize};
use statemark_text::json::describe_repeated_key;

use crate::actor::Actor;
use crate::body::Body;
use crate::hash::Hash;
use crate::id::Key;

/// An entry of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its number: 1, 2, 3 … without gaps.
    pub seq: u64,
    /// The time of writing, by the writer's clock. Unit: milliseconds since 1970.
    pub time: u64,
    /// Its kind, `run.started` or `event` for example.
    pub kind: String,
    /// The version of the kind that the body is written in.
    pub v: u16,
    /// The actor who wrote it.
    pub actor: Actor,
    /// The key of the request that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// Its body: JSON, as it was stored.
    pub body: String,
    /// The hash of the record before it, or zeros.
    pub prev: Hash,
}

impl Record {
    /// Returns the hash of the record: of its fields in order, each after its length.
    #[must_use]
    pub fn hash(&self) -> Hash {
        let mut bytes = Vec::with_capacity(self.body.len() + 160);
        bytes.extend_from_slice(self.prev.as_bytes());
        bytes.extend_from_slice(&self.seq.to_le_bytes());
        bytes.extend_from_slice(&self.time.to_le_bytes());
        bytes.extend_from_slice(&self.v.to_le_bytes());
        let mut put = |text: Option<&str>| {
            // No string has this length; it marks a missing one.
            let length = text.map_or(u64::MAX, |text| text.len() as u64);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        };
        put(Some(&self.kind));
        put(Some(self.actor.role.name()));
        put(self.actor.name.as_deref());
        put(self.actor.session.as_deref());
        put(self.key.as_ref().map(Key::as_str));
        put(Some(&self.body));
        Hash::digest(&bytes)
    }

    /// Reports whether its batch continues: the run never was in the state between it and the next record.
    #[must_use]
    pub fn continues(&self) -> bool {
        self.body.starts_with(CONTINUES)
    }

    /// Returns its body without the mark of a batch that continues.
    #[must_use]
    pub fn plain_body(&self) -> String {
        match self.body.strip_prefix(CONTINUES) {
            Some("}") => "{}".to_owned(),
            Some(rest) => format!("{{{}", rest.strip_prefix(',').unwrap_or(rest)),
            None => self.body.clone(),
        }
    }

    /// Describes it in one line. Says so if its body can't be read.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.read() {
            Ok(body) => body.summary(),
            Err(error) => format!("can't be read: {error}"),
        }
    }

    /// Describes the key that stands twice in an object of its body, if one does.
    ///
    /// No version of ours wrote such a body, and other readers of the journal may take the other of the two.
    pub(crate) fn repeated_key(&self) -> Option<String> {
        describe_repeated_key(self.body.as_bytes())
    }

    /// Decodes its body.
    ///
    /// # Errors
    ///
    /// The body isn't what its kind and version say.
    pub fn read(&self) -> Result<Body, serde_json::Error> {
        Body::from_json(&self.kind, self.v, &self.body)
    }
}

/// A record that isn't in a journal yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// The time of writing. Unit: milliseconds since 1970.
    pub time: u64,
    /// Its kind.
    pub kind: String,
    /// The version of the kind.
    pub v: u16,
    /// The actor who writes it.
    pub actor: Actor,
    /// Its body: JSON.
    pub body: String,
}

/// A record as it was before it had a number.
impl From<Record> for NewRecord {
    fn from(record: Record) -> Self {
        let Record {
            time,
            kind,
            v,
            actor,
            body,
            ..
        } = record;
        Self {
            time,
            kind,
            v,
            actor,
            body,
        }
    }
}

impl NewRecord {
    /// Makes a record of a body.
    #[must_use]
    pub fn new(time: u64, actor: &Actor, body: &Body) -> Self {
        Self {
            time,
            kind: body.kind().to_owned(),
            v: body.version(),
            actor: actor.clone(),
            body: body.to_json(),
        }
    }

    /// Returns the record with its number, key and predecessor.
    #[must_use]
    pub fn to_record(&self, seq: u64, key: Option<&Key>, prev: Hash) -> Record {
        Record {
            seq,
            time: self.time,
            kind: self.kind.clone(),
            v: self.v,
            actor: self.actor.clone(),
            key: key.cloned(),
            body: self.body.clone(),
            prev,
        }
    }
}

/// The start of a body whose batch continues. No kind has a field of that name.
///
/// Why in the body: there the record's hash covers it, in every store and bundle.
const CONTINUES: &str = "{\"goes_on\":true";

/// Marks records as one batch: each but the last continues it.
pub(crate) fn mark_batch(records: &mut [NewRecord]) {
    let Some((_, others)) = records.split_last_mut() else {
        return;
    };
    for record in others {
        if let Some(rest) = record.body.strip_prefix('{') {
            let comma = if rest == "}" { "" } else { "," };
            record.body = format!("{CONTINUES}{comma}{rest}");
        }
    }
}

/// Links new records to the end of a journal. Returns them and the hash of the last.
#[must_use]
pub fn chain(
    records: &[NewRecord],
    key: Option<&Key>,
    after: u64,
    last: Hash,
) -> (Vec<Record>, Hash) {
    let mut prev = last;
    let mut chained = Vec::with_capacity(records.len());
    for (record, seq) in records.iter().zip(after.saturating_add(1)..) {
        let record = record.to_record(seq, key, prev);
        prev = record.hash();
        chained.push(record);
    }
    (chained, prev)
}
