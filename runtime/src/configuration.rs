//! Which states are active.
//!
//! A legal configuration has exactly one active child in each active compound state, so that its leaves say it all.
//! There is one leaf as long as machines have no parallel states; nothing outside this file relies on that.

use core::fmt;

use crate::id::StateId;
use crate::table::Table;

/// The active states of a machine, named by the leaves among them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    pub(crate) leaf: StateId,
}

/// Leaves that are no configuration of the table's machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreError {
    kind: RestoreErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RestoreErrorKind {
    Count { leaves: usize },
    NoState { state: StateId },
    NotALeaf { state: StateId },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            RestoreErrorKind::Count { leaves } => {
                write!(
                    out,
                    "a configuration of this machine has one leaf, not {leaves}"
                )
            }
            RestoreErrorKind::NoState { state } => {
                write!(out, "the machine has no state number {}", state.raw())
            }
            RestoreErrorKind::NotALeaf { state } => {
                write!(
                    out,
                    "state number {} has children, so it is no leaf",
                    state.raw()
                )
            }
        }
    }
}

impl core::error::Error for RestoreError {}

impl Configuration {
    /// The configuration with these leaves: what [`Configuration::leaves`] gave, kept as numbers or found by name.
    ///
    /// # Errors
    ///
    /// They are no legal configuration of the table's machine.
    pub fn from_leaves(table: &Table, leaves: &[StateId]) -> Result<Self, RestoreError> {
        let &[leaf] = leaves else {
            return Err(RestoreError {
                kind: RestoreErrorKind::Count {
                    leaves: leaves.len(),
                },
            });
        };
        let configuration = Self { leaf };
        configuration.check(table)?;
        Ok(configuration)
    }

    /// Whether this is a legal configuration of the table's machine.
    ///
    /// # Errors
    ///
    /// It isn't.
    pub fn check(&self, table: &Table) -> Result<(), RestoreError> {
        let state = self.leaf;
        if table.state(state).is_none() {
            return Err(RestoreError {
                kind: RestoreErrorKind::NoState { state },
            });
        }
        if !table.is_leaf(state) {
            return Err(RestoreError {
                kind: RestoreErrorKind::NotALeaf { state },
            });
        }
        Ok(())
    }

    /// The active states without active children, in document order.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = StateId> + use<> {
        core::iter::once(self.leaf)
    }

    /// Whether the state is active: a leaf, or around one.
    #[must_use]
    pub fn is_active(&self, table: &Table, state: StateId) -> bool {
        self.leaf == state || table.is_descendant(self.leaf, state)
    }

    /// Whether the machine has ended: it is in a final child of its root.
    #[must_use]
    pub fn is_ended(&self, table: &Table) -> bool {
        table.is_end(self.leaf)
    }
}
