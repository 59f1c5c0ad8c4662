//! The tokens by which callers over HTTP are known: those of the store.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use statemark_runs::authority::{InvalidToken, RecordFirstUse};
use statemark_runs::{Authority, Hash, Token};
use statemark_tools::Dispatcher;

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
    known: Mutex<Option<(Instant, Arc<Authority>)>>,
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
    pub(super) fn of_store(dispatcher: Arc<Dispatcher>) -> Self {
        Self::Store(Arc::new(StoreKeys {
            dispatcher,
            known: Mutex::default(),
        }))
    }

    /// Reports whether callers need no token.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    pub(super) async fn allow_anonymous(&self) -> Result<bool, String> {
        match self {
            Self::Nobody => Ok(true),
            Self::Store(keys) => Ok(keys.authority(FRESH).await?.allows_anonymous()),
        }
    }

    /// Finds the entry of a token by its text, and records its first use.
    ///
    /// # Errors
    ///
    /// It isn't valid, or the store can't be read.
    pub(super) async fn find(&self, text: &str) -> Result<Token, Unknown> {
        let Self::Store(keys) = self else {
            return Err(Unknown::Invalid(InvalidToken::Unknown));
        };
        let now = keys.dispatcher.runs().now();
        let mut known = keys.authority(FRESH).await.map_err(Unknown::Unreadable)?;
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
            let authority = authority.map_err(|error| error.to_string())?;
            let mut known = keys.known.lock().unwrap_or_else(PoisonError::into_inner);
            *known = Some((began, Arc::clone(&authority)));
            Ok(authority)
        };
        let read = tokio::task::spawn_blocking(read).await;
        read.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Records the first use of a token. A store that can't be written still gives rights to read.
    async fn record_first_use(self: Arc<Self>, token: &Token) {
        let (actor, hash) = (token.actor(), token.hash);
        let record = move || {
            let used = RecordFirstUse { hash };
            drop(self.dispatcher.runs().execute(&actor, &used));
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            *known = None;
        };
        drop(tokio::task::spawn_blocking(record).await);
    }
}
