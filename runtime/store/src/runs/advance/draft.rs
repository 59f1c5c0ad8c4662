//! Records that aren't written yet, and the run as it will be with them.

use std::sync::Arc;

use crate::actor::Actor;
use crate::body::Body;
use crate::fold::RunState;
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::{NewRecord, chain};
use crate::runs::{Loaded, RunError};
use crate::store::{Head, StoreError, Summary};
use crate::workflow::Workflow;

/// Records that aren't written yet, and the run as it will be with them.
pub(super) struct Draft {
    /// The run with them. Its head has no hash and no summary: both come with writing.
    pub(super) loaded: Loaded,
    /// What they say.
    pub(super) bodies: Vec<Body>,
    /// When they are made. Unit: milliseconds since 1970.
    pub(super) now: u64,
    actor: Actor,
}

impl Draft {
    /// None yet.
    pub(super) fn new(loaded: &Loaded, actor: &Actor, now: u64) -> Self {
        Self {
            loaded: loaded.clone(),
            bodies: Vec::new(),
            now,
            actor: actor.clone(),
        }
    }

    /// A run that isn't written yet, with its first record.
    pub(super) fn begun(
        run: &RunId,
        actor: &Actor,
        workflow: Arc<Workflow>,
        body: Body,
        now: u64,
    ) -> Result<Self, RunError> {
        let head = Head {
            run: run.clone(),
            seq: 0,
            hash: Hash::ZERO,
            created: now,
            updated: now,
            forked: None,
            summary: Summary::default(),
        };
        let loaded = Loaded {
            run: run.clone(),
            head,
            state: RunState::default(),
            workflow,
        };
        let mut draft = Self::new(&loaded, actor, now);
        draft.push(body)?;
        Ok(draft)
    }

    /// One more record.
    pub(super) fn push(&mut self, body: Body) -> Result<(), RunError> {
        let new = [NewRecord::new(self.now, &self.actor, &body)];
        let (records, _) = chain(&new, None, self.loaded.head.seq, Hash::ZERO);
        for record in &records {
            let applied = self.loaded.state.apply(record);
            applied.map_err(|error| StoreError::Invalid {
                what: format!("a record of `{}` can't be read back: {error}", record.kind),
            })?;
            self.loaded.head.seq = record.seq;
        }
        self.bodies.push(body);
        Ok(())
    }
}
