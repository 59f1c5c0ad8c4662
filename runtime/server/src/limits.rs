//! Limits of what each caller may have under way, so that none starves the others.
//!
//! ```text
//! Limits ──one for each token──→ Share ──┬─→ connections   at most three quarters of the server's
//!                                        ├─→ calls         open: at work, queued or waiting
//!                                        └─→ turns         at work, each on a thread
//! ```
//!
//! Turns queue; for connections and calls a caller is refused. Callers without a token are one caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use statemark_runs::Hash;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Most turns of a caller at once.
///
/// Why: a turn takes about a millisecond; these keep any store busy, and all threads of the runtime are 512.
const MAX_TURNS: usize = 16;

/// Most open calls and streams of a caller.
///
/// Why: one that waits takes some kilobytes; a person with ten windows on a hundred runs has as many.
const MAX_CALLS: usize = 1024;

/// Most turns that compile at once, of all callers.
///
/// Why: a turn that compiles may work for a second, and the others need a core meanwhile.
const MAX_COMPILING: usize = 2;

/// The shares of a server's callers.
pub(crate) struct Limits {
    connections: usize,
    /// A share for each token that has come, and one for callers without.
    shares: Mutex<HashMap<Option<Hash>, Share>>,
    compiling: Arc<Semaphore>,
}

/// A caller's share of what may be under way.
#[derive(Clone)]
pub(crate) struct Share {
    connections: Arc<Semaphore>,
    calls: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    /// Held by the one request of the caller that has a large body.
    large: Arc<Semaphore>,
    compiling: Arc<Semaphore>,
}

/// Something under way, until this is dropped.
pub(crate) type Permit = OwnedSemaphorePermit;

impl Limits {
    /// Makes limits where each caller may have that many connections.
    pub(crate) fn new(connections: usize) -> Self {
        Self {
            connections,
            shares: Mutex::default(),
            compiling: Arc::new(Semaphore::new(MAX_COMPILING)),
        }
    }

    /// Returns the share of the caller with that token.
    pub(crate) fn share(&self, token: Option<Hash>) -> Share {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let semaphore = |most| Arc::new(Semaphore::new(most));
        let new = || Share {
            connections: semaphore(self.connections),
            calls: semaphore(MAX_CALLS),
            turns: semaphore(MAX_TURNS),
            large: semaphore(1),
            compiling: Arc::clone(&self.compiling),
        };
        shares.entry(token).or_insert_with(new).clone()
    }
}

impl Default for Limits {
    /// Makes limits for a server without connections of its own.
    fn default() -> Self {
        Self::new(0)
    }
}

impl Share {
    /// Takes one of the caller's connections, if it has any left.
    pub(crate) fn connect(&self) -> Option<Permit> {
        Arc::clone(&self.connections).try_acquire_owned().ok()
    }

    /// Opens a call, if the caller hasn't too many.
    pub(crate) fn call(&self) -> Option<Permit> {
        Arc::clone(&self.calls).try_acquire_owned().ok()
    }

    /// Waits until no other request of the caller has a large body.
    ///
    /// # Errors
    ///
    /// Never: nobody closes the queue.
    pub(crate) async fn large_body(&self) -> Result<Permit, AcquireError> {
        Arc::clone(&self.large).acquire_owned().await
    }

    /// Waits for a turn, and for one that compiles if the tool does.
    ///
    /// # Errors
    ///
    /// Never: nobody closes the queue.
    pub(crate) async fn turn(
        &self,
        compiles: bool,
    ) -> Result<(Permit, Option<Permit>), AcquireError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await?;
        let compiling = match compiles {
            true => Some(Arc::clone(&self.compiling).acquire_owned().await?),
            false => None,
        };
        Ok((turn, compiling))
    }
}
