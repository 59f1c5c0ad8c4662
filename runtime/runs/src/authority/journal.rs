//! The store's journal: reading it, and writing to it.

use std::sync::{Arc, Mutex, PoisonError};

use super::entry::{Entry, StoreNamed};
use super::{Authority, TokenError};
use crate::actor::Actor;
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::{NewRecord, Record};
use crate::runs::{RunError, Runs};
use crate::store::{Append, Expect, MAX_PAGE, RunSummary, Store, StoreError};

/// Most times that a change is decided again because others wrote first.
const MAX_TRIES: u32 = 32;

/// The status of the store's journal in its summary. Lists never show it.
const STATUS: &str = "store";

/// Reads the authority over a store.
///
/// # Errors
///
/// The store can't be read, or its journal isn't one.
pub fn load_authority(store: &dyn Store) -> Result<Authority, StoreError> {
    let run = RunId::store_journal();
    let mut authority = Authority::default();
    match store.head(&run) {
        Ok(_) => {}
        Err(StoreError::NotFound { .. }) => return Ok(authority),
        Err(error) => return Err(error),
    }
    loop {
        let records = store.records(&run, authority.seq, MAX_PAGE)?;
        for record in &records {
            let entry = Entry::from_json(&record.kind, record.v, &record.body);
            let entry = entry.map_err(|error| StoreError::Corrupt {
                run: Some(run.clone()),
                seq: Some(record.seq),
                what: format!("an entry of the store's journal can't be read: {error}"),
            })?;
            authority.apply(entry, (record.seq, record.time, &record.actor));
        }
        if records.len() < MAX_PAGE {
            return Ok(authority);
        }
    }
}

/// Returns the first record of the store's journal that isn't as it was written, with the defect.
///
/// # Errors
///
/// The store can't be read.
pub fn first_difference(store: &dyn Store) -> Result<Option<(u64, String)>, StoreError> {
    let run = RunId::store_journal();
    let head = match store.head(&run) {
        Ok(head) => head,
        Err(StoreError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut seq, mut hash) = (0_u64, Hash::ZERO);
    loop {
        let records = store.records(&run, seq, MAX_PAGE)?;
        for record in &records {
            if let Some(what) = difference(record, hash) {
                return Ok(Some((record.seq, what)));
            }
            (seq, hash) = (record.seq, record.hash());
        }
        if records.len() < MAX_PAGE {
            break;
        }
    }
    Ok((hash != head.hash).then(|| (seq, "the journal ends with another hash".to_owned())))
}

fn difference(record: &Record, before: Hash) -> Option<String> {
    if record.prev != before {
        return Some("it doesn't follow from the entry before it".to_owned());
    }
    let read = Entry::from_json(&record.kind, record.v, &record.body);
    read.err().map(|error| format!("it can't be read: {error}"))
}

/// The authority as it was read last.
#[derive(Default)]
pub(crate) struct AuthorityCache(Mutex<Option<(Hash, Arc<Authority>)>>);

impl Runs {
    /// Returns the authority over the store as it is now.
    ///
    /// # Errors
    ///
    /// The store can't be read, or its journal isn't one.
    pub fn authority(&self) -> Result<Arc<Authority>, RunError> {
        let hash = match self.store().head(&RunId::store_journal()) {
            Ok(head) => head.hash,
            Err(StoreError::NotFound { .. }) => return Ok(Arc::default()),
            Err(error) => return Err(error.into()),
        };
        let mut known = self.known_authority();
        if let Some((of, authority)) = &*known
            && *of == hash
        {
            return Ok(Arc::clone(authority));
        }
        let authority = Arc::new(load_authority(self.store())?);
        *known = Some((hash, Arc::clone(&authority)));
        Ok(authority)
    }

    fn known_authority(&self) -> std::sync::MutexGuard<'_, Option<(Hash, Arc<Authority>)>> {
        let AuthorityCache(known) = &self.authority;
        known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends entries to the store's journal, if there is something to change.
    ///
    /// `decide` is called again with the authority as it is then if somebody wrote meanwhile.
    ///
    /// # Errors
    ///
    /// Those of `decide`, and the store's.
    pub(crate) fn amend_authority(
        &self,
        actor: &Actor,
        decide: impl Fn(&Authority, u64) -> Result<Vec<Entry>, TokenError>,
    ) -> Result<(), RunError> {
        for _ in 0..MAX_TRIES {
            let authority = load_authority(self.store())?;
            let now = self.now();
            let mut entries = decide(&authority, now)?;
            if entries.is_empty() {
                return Ok(());
            }
            let is_named = matches!(entries.first(), Some(Entry::StoreNamed(_)));
            if authority.store.is_none() && !is_named {
                entries.insert(0, Entry::StoreNamed(StoreNamed::new(false)));
            }
            let records = entries.iter().map(|entry| NewRecord {
                time: now,
                kind: entry.kind().to_owned(),
                v: entry.version(),
                actor: actor.clone(),
                body: entry.to_json(),
            });
            let append = Append {
                run: RunId::store_journal(),
                expect: match authority.seq {
                    0 => Expect::NoRun,
                    seq => Expect::At(seq),
                },
                key: None,
                fence: None,
                records: records.collect(),
                summary: RunSummary {
                    status: STATUS.to_owned(),
                    ..RunSummary::default()
                },
                timers: None,
            };
            match self.store().append(&append) {
                Ok(_) => return Ok(()),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(RunError::Contention { tries: MAX_TRIES })
    }
}
