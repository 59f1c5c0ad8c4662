//! One entry of a journal, and the chain that holds entries together.
//!
//! A record is stored as it was written and never rewritten; [`Body`](crate::Body) is how it is read today. Each has the
//! hash of the one before it, so that a changed byte is found by whoever reads on.

use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::body::Body;
use crate::hash::Hash;
use crate::id::Key;

/// One entry of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its place: 1, 2, 3 … without gaps.
    pub seq: u64,
    /// When it was written, by the writer's clock. Unit: milliseconds since 1970.
    pub time: u64,
    /// What kind of entry it is: `run.started`, `event`, …
    pub kind: String,
    /// The version of the kind that the body is written in.
    pub v: u16,
    /// Who wrote it.
    pub actor: Actor,
    /// The key of the request that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// What it says: JSON, as it was stored.
    pub body: String,
    /// The hash of the record before it, or zeros.
    pub prev: Hash,
}

impl Record {
    /// The hash of the record: of its fields in order, each with its length before it.
    #[must_use]
    pub fn hash(&self) -> Hash {
        let mut bytes = Vec::with_capacity(self.body.len() + 160);
        bytes.extend_from_slice(self.prev.bytes());
        bytes.extend_from_slice(&self.seq.to_le_bytes());
        bytes.extend_from_slice(&self.time.to_le_bytes());
        bytes.extend_from_slice(&self.v.to_le_bytes());
        let mut put = |text: Option<&str>| {
            // A length that no text has says that there is none.
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
        Hash::of(&bytes)
    }

    /// Whether the next record was written along with it, all or none: the run never was as it is between the two.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.body.starts_with(GOES_ON)
    }

    /// What it says, without the mark that it goes on.
    #[must_use]
    pub fn said(&self) -> String {
        match self.body.strip_prefix(GOES_ON) {
            Some("}") => "{}".to_owned(),
            Some(rest) => format!("{{{}", rest.strip_prefix(',').unwrap_or(rest)),
            None => self.body.clone(),
        }
    }

    /// What it says, as it is read today.
    ///
    /// # Errors
    ///
    /// The body isn't what its kind and version say.
    pub fn read(&self) -> Result<Body, serde_json::Error> {
        Body::read(&self.kind, self.v, &self.body)
    }
}

/// An entry that isn't in a journal yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// When. Unit: milliseconds since 1970.
    pub time: u64,
    /// What kind.
    pub kind: String,
    /// In which version of the kind.
    pub v: u16,
    /// Who.
    pub actor: Actor,
    /// What: JSON.
    pub body: String,
}

impl NewRecord {
    /// An entry that says this.
    #[must_use]
    pub fn new(time: u64, actor: &Actor, body: &Body) -> Self {
        Self {
            time,
            kind: body.kind().to_owned(),
            v: body.version(),
            actor: actor.clone(),
            body: body.write(),
        }
    }

    /// The entry at its place in a journal.
    #[must_use]
    pub fn at(&self, seq: u64, key: Option<&Key>, prev: Hash) -> Record {
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

/// Begins the body of a record that goes on. Why in the body: so it is under the record's hash, in every store and bundle.
/// No kind has a field of that name.
const GOES_ON: &str = "{\"goes_on\":true";

/// Marks entries as written together: each but the last goes on.
pub(crate) fn join(records: &mut [NewRecord]) {
    let Some((_, others)) = records.split_last_mut() else {
        return;
    };
    for record in others {
        if let Some(rest) = record.body.strip_prefix('{') {
            let comma = if rest == "}" { "" } else { "," };
            record.body = format!("{GOES_ON}{comma}{rest}");
        }
    }
}

/// Puts entries behind each other at the end of a journal: their records, and the hash of the last.
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
        let record = record.at(seq, key, prev);
        prev = record.hash();
        chained.push(record);
    }
    (chained, prev)
}
