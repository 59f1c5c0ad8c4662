//! Whose a session of the older era is: that of the token that began it, and nobody else's.
//!
//! rmcp answers a request by the session that it names, whoever sends it. So a request that names another caller's session
//! is handed on as one that names a session that isn't there, and is answered as such: nobody learns which sessions there are.
//!
//! What to rely on: callers without a token are one caller. Which sessions there are is known by rmcp's manager alone; what
//! is remembered beside it is of sessions that it has, and of about as many at most that it had. A caller has a bounded
//! number of sessions: whoever begins more loses the one that was used longest ago, and is told so as of one that has ended.
//!
//! Deliberately not here: what becomes of a session whose token is revoked. The door refuses its requests and ends its streams.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use statemark_runs::Hash;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// What no session is called: rmcp's are UUIDs.
const NOBODYS: HeaderValue = HeaderValue::from_static("none");

/// What rmcp says of a session that isn't there.
const NOT_THERE: &str = "Not Found: Session not found";

/// How many sessions are remembered before it is looked which of them are gone.
const FEW: usize = 64;

/// Most sessions of a caller. Why: each keeps tasks and queues until it has been silent for hours, and whoever only ever
/// begins new ones must not fill the memory; no one has as many at work.
const MOST: usize = 1_000;

/// Who sends a request: whoever has that token; or anyone on this machine, where none is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(pub(super) Option<Hash>);

/// Who has begun which session.
#[derive(Clone)]
pub(super) struct Owners {
    sessions: Arc<LocalSessionManager>,
    begun: Arc<Mutex<Begun>>,
}

struct Begun {
    by: BTreeMap<SessionId, Session>,
    /// With how many it is looked which of them are gone.
    most: usize,
    /// How many requests have named a session of theirs or begun one.
    uses: u64,
}

struct Session {
    owner: Owner,
    /// The number of its last use.
    used: u64,
}

impl Begun {
    /// Whether a session was begun by this caller, who uses it now.
    fn is_used(&mut self, session: &SessionId, owner: Owner) -> bool {
        let own = self.by.get_mut(session).filter(|it| it.owner == owner);
        own.is_some_and(|it| {
            self.uses = self.uses.saturating_add(1);
            it.used = self.uses;
            true
        })
    }

    /// Remembers who began a session: the one that they lose by it, if they have too many.
    fn add(&mut self, session: SessionId, owner: Owner) -> Option<SessionId> {
        self.uses = self.uses.saturating_add(1);
        let used = self.uses;
        self.by.insert(session, Session { owner, used });
        let own = || self.by.iter().filter(|(_, it)| it.owner == owner);
        if own().count() <= MOST {
            return None;
        }
        let (oldest, _) = own().min_by_key(|(_, it)| it.used)?;
        let oldest = oldest.clone();
        self.by.remove(&oldest);
        Some(oldest)
    }
}

impl Owners {
    pub(super) fn new(sessions: Arc<LocalSessionManager>) -> Self {
        let begun = Arc::new(Mutex::new(Begun {
            by: BTreeMap::new(),
            most: FEW,
            uses: 0,
        }));
        Self { sessions, begun }
    }

    fn begun(&self) -> MutexGuard<'_, Begun> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a session is there.
    async fn is_there(&self, session: &SessionId) -> bool {
        self.sessions.has_session(session).await.unwrap_or(false)
    }

    /// Whether a session is there, and this caller's.
    async fn is_own(&self, session: &SessionId, owner: Owner) -> bool {
        let is_own = self.begun().is_used(session, owner);
        is_own && self.is_there(session).await
    }

    /// Remembers who began a session, and ends another one if these are too many.
    async fn remember(&self, session: SessionId, owner: Owner) {
        let lost = self.begun().add(session, owner);
        if let Some(lost) = lost {
            // One that is gone already is what is wanted.
            let _ = self.sessions.close_session(&lost).await;
        }
        self.tidy().await;
    }

    /// As often as there are twice as many, it is looked which of the sessions are gone.
    async fn tidy(&self) {
        let known: Vec<SessionId> = {
            let mut begun = self.begun();
            if begun.by.len() < begun.most {
                return;
            }
            // Nobody else looks meanwhile.
            begun.most = begun.by.len().saturating_mul(2);
            begun.by.keys().cloned().collect()
        };
        let mut gone = Vec::new();
        for session in known {
            if !self.is_there(&session).await {
                gone.push(session);
            }
        }
        let mut begun = self.begun();
        for session in gone {
            begun.by.remove(&session);
        }
        begun.most = begun.by.len().saturating_mul(2).max(FEW);
    }
}

/// The session that is named, as rmcp reads it.
fn named(headers: &HeaderMap) -> Option<SessionId> {
    let text = headers.get(SESSION)?.to_str().ok()?;
    Some(text.to_owned().into())
}

/// Lets a request reach no other session than its caller's.
pub(super) async fn isolate(
    State(owners): State<Owners>,
    Extension(owner): Extension<Owner>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut own = None;
    let mut is_elsewhere = false;
    if let Some(session) = named(request.headers()) {
        is_elsewhere = !owners.is_own(&session, owner).await;
        own = Some(session).filter(|_| !is_elsewhere);
    }
    if is_elsewhere {
        request.headers_mut().insert(SESSION, NOBODYS);
    }
    let is_end = request.method() == Method::DELETE;
    let response = next.run(request).await;
    // That a session isn't there is said to who wants to end it, too; rmcp doesn't.
    if is_end && is_elsewhere && response.status().is_success() {
        let mut response = Response::new(Body::from(NOT_THERE));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    if is_end
        && let Some(session) = own
        && response.status().is_success()
    {
        owners.begun().by.remove(&session);
    } else if let Some(session) = named(response.headers()) {
        owners.remember(session, owner).await;
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_gone_is_forgotten() {
        let sessions = Arc::new(LocalSessionManager::default());
        let owners = Owners::new(Arc::clone(&sessions));
        let (ann, ben) = (Owner(None), Owner(Some(Hash::digest(b"ben"))));
        let (kept, _transport) = sessions.create_session().await.unwrap();
        owners.remember(kept.clone(), ann).await;
        for _ in 0..10 * FEW {
            let (session, _transport) = sessions.create_session().await.unwrap();
            owners.remember(session.clone(), ben).await;
            assert!(owners.is_own(&session, ben).await);
            assert!(!owners.is_own(&session, ann).await);
            sessions.close_session(&session).await.unwrap();
            assert!(!owners.is_own(&session, ben).await);
            assert!(owners.begun().by.len() <= FEW);
        }
        assert!(owners.is_own(&kept, ann).await);
        assert!(!owners.is_own(&kept, ben).await);
    }

    #[tokio::test]
    async fn whoever_begins_too_many_loses_the_one_used_longest_ago() {
        let sessions = Arc::new(LocalSessionManager::default());
        let owners = Owners::new(Arc::clone(&sessions));
        let (ann, ben) = (Owner(None), Owner(Some(Hash::digest(b"ben"))));
        let mut begun = Vec::new();
        for number in 0..=MOST {
            let (session, _transport) = sessions.create_session().await.unwrap();
            owners.remember(session.clone(), ann).await;
            if number == 0 {
                let (other, _transport) = sessions.create_session().await.unwrap();
                owners.remember(other.clone(), ben).await;
                begun.push(other);
            }
            begun.push(session);
            // The first one is used all the time.
            assert!(owners.is_own(&begun[1], ann).await);
        }
        assert!(owners.is_own(&begun[0], ben).await, "another's");
        assert!(
            !owners.is_there(&begun[2]).await,
            "the one used longest ago"
        );
        assert!(owners.is_own(&begun[3], ann).await, "the next");
        assert_eq!(owners.begun().by.len(), MOST + 1);
    }
}
