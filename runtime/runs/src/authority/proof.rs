//! Entries of the store's journal about the store itself: its id, its purpose, and its losses.

use serde::Serialize;

use super::Right;
use super::entry::{Entry, LossAccepted, StoreNamed};
use crate::actor::Actor;
use crate::hash::Hash;
use crate::runs::RunError;
use crate::runs::operation::{Execution, Operation};

/// Marks a store without an entry as one for testing, whose clock can be set.
///
/// Only its first entry does: a store that has been used for anything else never becomes one for testing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MarkForTesting;

impl Operation for MarkForTesting {
    const NAME: &'static str = "mark_for_testing";
    const RIGHT: Right = Right::Drive;
    type Order = Actor;
    type Response = ();

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(), RunError> {
        let runs = execution.runs();
        let is_empty = runs.store().status_counts()?.is_empty();
        runs.amend_authority(execution.order(), |authority, _| {
            let is_new = is_empty && authority.store_id().is_none();
            let mark = is_new.then(|| Entry::StoreNamed(StoreNamed::new(true)));
            Ok(mark.into_iter().collect())
        })
    }
}

/// Gives a store an id, unless it has one: anchors name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NameStore(StoreNamed);

impl NameStore {
    /// Makes up an id.
    #[must_use]
    pub fn new() -> Self {
        Self(StoreNamed::new(false))
    }

    /// Returns what [`Authority::ownership`](super::Authority::ownership) is once the store has this id.
    #[must_use]
    pub fn ownership(&self) -> Hash {
        self.0.ownership()
    }
}

impl Default for NameStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Operation for NameStore {
    const NAME: &'static str = "name_store";
    const RIGHT: Right = Right::Drive;
    type Order = Actor;
    type Response = ();

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(), RunError> {
        let runs = execution.runs();
        runs.amend_authority(execution.order(), |authority, _| {
            let is_new = authority.store_id().is_none();
            let named = is_new.then(|| Entry::StoreNamed(self.0.clone()));
            Ok(named.into_iter().collect())
        })
    }
}

/// Takes a store as it is, although records are missing.
///
/// The entry says so for as long as the store exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AcceptLoss {
    /// The loss in words.
    pub lost: String,
}

impl Operation for AcceptLoss {
    const NAME: &'static str = "accept_loss";
    const RIGHT: Right = Right::Drive;
    type Order = Actor;
    type Response = ();

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<(), RunError> {
        let runs = execution.runs();
        // As for waking a backup: nobody can be made a person in a store that can't be opened.
        if !runs.authority()?.allows_anonymous() {
            Right::Keep.check(execution.order())?;
        }
        runs.amend_authority(execution.order(), |_, _| {
            let lost = self.lost.clone();
            Ok(vec![Entry::LossAccepted(LossAccepted { lost })])
        })
    }
}
