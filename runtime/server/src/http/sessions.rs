//! The owners of sessions of the older era: each belongs to the token that began it.
//!
//! What to rely on: rmcp's manager alone knows which sessions exist. What is remembered here is of sessions that it has, and
//! of about as many at most that it had. A caller who begins too many loses the least recently used one, which then has
//! ended like any other.
//!
//! Deliberately not here: a session whose token is revoked. The middleware refuses its requests and ends its streams.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use statemark_runs::Hash;

/// Fewest sessions among which ended ones are looked for.
const MIN_PRUNED: usize = 64;

/// Most sessions of a caller.
///
/// Why: each keeps tasks and queues until it has been silent for hours. A caller who only begins new ones must not fill the
/// memory, and none has as many at work.
const MAX_SESSIONS: usize = 1_000;

/// The owner of a session: a token, or everybody on this machine where none is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(pub(super) Option<Hash>);

/// The sessions of a server, with their owners.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    known: Mutex<Known>,
}

/// The sessions that were begun and not seen to end.
struct Known {
    by_id: BTreeMap<SessionId, Session>,
    /// The number of sessions at which ended ones are looked for.
    prune_at: usize,
    /// The number of requests that began a session or named their own.
    uses: u64,
}

struct Session {
    owner: Owner,
    /// The number of its last use.
    used: u64,
}

impl Known {
    /// Notes that a caller uses a session. Returns whether it is the caller's.
    fn note_use(&mut self, session: &SessionId, owner: Owner) -> bool {
        let session = self.by_id.get_mut(session).filter(|it| it.owner == owner);
        session.is_some_and(|session| {
            self.uses = self.uses.saturating_add(1);
            session.used = self.uses;
            true
        })
    }

    /// Adds a session. Returns the one that its owner loses by it, if these are too many.
    fn add(&mut self, session: SessionId, owner: Owner) -> Option<SessionId> {
        self.uses = self.uses.saturating_add(1);
        let used = self.uses;
        self.by_id.insert(session, Session { owner, used });
        let owned = || self.by_id.iter().filter(|(_, it)| it.owner == owner);
        if owned().count() <= MAX_SESSIONS {
            return None;
        }
        let (oldest, _) = owned().min_by_key(|(_, it)| it.used)?;
        let oldest = oldest.clone();
        self.by_id.remove(&oldest);
        Some(oldest)
    }
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Self {
        let known = Mutex::new(Known {
            by_id: BTreeMap::new(),
            prune_at: MIN_PRUNED,
            uses: 0,
        });
        Self { manager, known }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exists(&self, session: &SessionId) -> bool {
        self.manager.has_session(session).await.unwrap_or(false)
    }

    /// Checks whether a session exists and belongs to the caller, who uses it now.
    pub(super) async fn is_owned(&self, session: &SessionId, owner: Owner) -> bool {
        let is_owned = self.known().note_use(session, owner);
        is_owned && self.exists(session).await
    }

    /// Remembers the owner of a session, and ends another of the owner's if these are too many.
    pub(super) async fn remember(&self, session: SessionId, owner: Owner) {
        let lost = self.known().add(session, owner);
        if let Some(lost) = lost {
            // An error says that it has ended already.
            let _ = self.manager.close_session(&lost).await;
        }
        self.prune().await;
    }

    /// Forgets a session that has ended.
    pub(super) fn forget(&self, session: &SessionId) {
        self.known().by_id.remove(session);
    }

    /// Forgets the sessions that have ended, whenever the number of known ones has doubled.
    async fn prune(&self) {
        let ids: Vec<SessionId> = {
            let mut known = self.known();
            if known.by_id.len() < known.prune_at {
                return;
            }
            // Keeps other requests from pruning meanwhile.
            known.prune_at = known.by_id.len().saturating_mul(2);
            known.by_id.keys().cloned().collect()
        };
        let mut ended = Vec::new();
        for session in ids {
            if !self.exists(&session).await {
                ended.push(session);
            }
        }
        let mut known = self.known();
        for session in ended {
            known.by_id.remove(&session);
        }
        known.prune_at = known.by_id.len().saturating_mul(2).max(MIN_PRUNED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_gone_is_forgotten() {
        let manager = Arc::new(LocalSessionManager::default());
        let sessions = Sessions::new(Arc::clone(&manager));
        let (ann, ben) = (Owner(None), Owner(Some(Hash::digest(b"ben"))));
        let (kept, _transport) = manager.create_session().await.unwrap();
        sessions.remember(kept.clone(), ann).await;
        for _ in 0..10 * MIN_PRUNED {
            let (session, _transport) = manager.create_session().await.unwrap();
            sessions.remember(session.clone(), ben).await;
            assert!(sessions.is_owned(&session, ben).await);
            assert!(!sessions.is_owned(&session, ann).await);
            manager.close_session(&session).await.unwrap();
            assert!(!sessions.is_owned(&session, ben).await);
            assert!(sessions.known().by_id.len() <= MIN_PRUNED);
        }
        assert!(sessions.is_owned(&kept, ann).await);
        assert!(!sessions.is_owned(&kept, ben).await);
    }

    #[tokio::test]
    async fn a_caller_with_too_many_loses_the_least_recently_used() {
        let manager = Arc::new(LocalSessionManager::default());
        let sessions = Sessions::new(Arc::clone(&manager));
        let (ann, ben) = (Owner(None), Owner(Some(Hash::digest(b"ben"))));
        let mut begun = Vec::new();
        for number in 0..=MAX_SESSIONS {
            let (session, _transport) = manager.create_session().await.unwrap();
            sessions.remember(session.clone(), ann).await;
            if number == 0 {
                let (other, _transport) = manager.create_session().await.unwrap();
                sessions.remember(other.clone(), ben).await;
                begun.push(other);
            }
            begun.push(session);
            // The first one is used all the time.
            assert!(sessions.is_owned(&begun[1], ann).await);
        }
        assert!(sessions.is_owned(&begun[0], ben).await, "another's");
        assert!(
            !sessions.exists(&begun[2]).await,
            "the one used longest ago"
        );
        assert!(sessions.is_owned(&begun[3], ann).await, "the next");
        assert_eq!(sessions.known().by_id.len(), MAX_SESSIONS + 1);
    }
}
