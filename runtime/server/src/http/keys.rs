//! The tokens by which callers over HTTP are known: those of the store.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use statemark_runs::authority::{InvalidToken, RecordFirstUse};
use statemark_runs::{Authority, Hash, Token};
use statemark_tools::Dispatcher;

use crate::health::Health;

/// Longest time for which tokens are used as they were read.
///
/// Why: a revoked token is refused in a moment, and a busy server doesn't ask its store for each request.
const FRESH: Duration = Duration::from_millis(250);

/// The source of tokens.
#[derive(Clone)]
pub(super) enum Keys {
    /// There are none: every caller is the server's own.
    Nobody,
    /// The tokens of the dispatcher's store.
    Store(Arc<StoreKeys>),
}

/// The tokens of a store, as they were read last.
pub(super) struct StoreKeys {
    dispatcher: Arc<Dispatcher>,
    health: Arc<Health>,
    known: Mutex<Option<(Instant, Arc<Authority>)>>,
}

/// The tokens that count where the store can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// None: one may have been revoked meanwhile.
    None,
    /// The keys that were read last, for answers that show nothing of runs.
    Last,
}

/// The reason why a caller isn't known.
pub(super) enum Unknown {
    /// The store can't be read.
    Unreadable(String),
    /// The token isn't valid.
    Invalid(InvalidToken),
}

impl Keys {
    /// Makes the source of the tokens of a dispatcher's store.
    pub(super) fn of_store(dispatcher: Arc<Dispatcher>, health: Arc<Health>) -> Self {
        Self::Store(Arc::new(StoreKeys {
            dispatcher,
            health,
            known: Mutex::default(),
        }))
    }

    /// Reports whether callers need no token.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    pub(super) async fn allow_anonymous(&self, unread: Unread) -> Result<bool, String> {
        match self {
            Self::Nobody => Ok(true),
            Self::Store(keys) => {
                let known = keys.authority(FRESH).await;
                let known = known.or_else(|cause| keys.last_known(unread).ok_or(cause));
                Ok(known?.allows_anonymous())
            }
        }
    }

    /// Finds the entry of a token by its text, and records its first use.
    ///
    /// # Errors
    ///
    /// It isn't valid, or the store can't be read.
    pub(super) async fn find(&self, text: &str, unread: Unread) -> Result<Token, Unknown> {
        let Self::Store(keys) = self else {
            return Err(Unknown::Invalid(InvalidToken::Unknown));
        };
        let now = keys.dispatcher.runs().now();
        let mut known = match keys.authority(FRESH).await {
            Ok(known) => known,
            Err(cause) => {
                let known = keys.last_known(unread).ok_or(Unknown::Unreadable(cause))?;
                return known.find(text, now).cloned().map_err(Unknown::Invalid);
            }
        };
        if known.find(text, now).is_err() {
            // It may have been made a moment ago.
            let read = keys.authority(Duration::ZERO).await;
            known = read.map_err(Unknown::Unreadable)?;
        }
        let token = known.find(text, now).map_err(Unknown::Invalid)?.clone();
        if token.used.is_none() {
            Arc::clone(keys).record_first_use(&token).await;
        }
        Ok(token)
    }

    /// Reports whether a token that was found before is still valid.
    pub(super) async fn is_valid(&self, hash: &Hash) -> bool {
        match self {
            Self::Nobody => false,
            Self::Store(keys) => {
                let now = keys.dispatcher.runs().now();
                let known = keys.authority(FRESH).await;
                known.is_ok_and(|known| known.is_valid(hash, now))
            }
        }
    }
}

impl StoreKeys {
    /// Returns the authority over the store, no older than `age`.
    async fn authority(self: &Arc<Self>, age: Duration) -> Result<Arc<Authority>, String> {
        if let Some((read, known)) = &*self.known.lock().unwrap_or_else(PoisonError::into_inner)
            && read.elapsed() < age
        {
            return Ok(Arc::clone(known));
        }
        let keys = Arc::clone(self);
        let read = move || {
            let began = Instant::now();
            let authority = keys.dispatcher.runs().authority();
            let authority = authority.map_err(|error| {
                let cause = error.to_string();
                keys.health.report_lost(&cause);
                cause
            })?;
            keys.health.report_reached();
            let mut known = keys.known.lock().unwrap_or_else(PoisonError::into_inner);
            *known = Some((began, Arc::clone(&authority)));
            Ok(authority)
        };
        let read = tokio::task::spawn_blocking(read).await;
        read.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Returns the authority as it was read last, if that counts.
    fn last_known(&self, unread: Unread) -> Option<Arc<Authority>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref().filter(|_| unread == Unread::Last);
        known.map(|(_, known)| Arc::clone(known))
    }

    /// Records the first use of a token. A store that can't be written still gives rights to read.
    async fn record_first_use(self: Arc<Self>, token: &Token) {
        let (actor, hash) = (token.actor(), token.hash);
        tracing::info!(
            name = token.name,
            role = token.role.name(),
            "token used for the first time"
        );
        let record = move || {
            let used = RecordFirstUse { hash };
            drop(self.dispatcher.runs().execute(&actor, &used));
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            // Read again next time; if that fails, it is still what was known last.
            if let Some((read, _)) = known.as_mut() {
                *read = read.checked_sub(FRESH).unwrap_or(*read);
            }
        };
        drop(tokio::task::spawn_blocking(record).await);
    }
}
