//! Who is let in: by the name under which the server is asked for, by the page that asks, and by a token.
//!
//! A page that somebody has open in a browser can send requests to a server of the same machine; it can't choose their
//! `Host` and `Origin`. So both are checked before anything is read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use statemark_runs::{Hash, Tokens};

use super::HttpOptions;
use super::count::Count;
use super::sessions::Owner;
use crate::caller::Caller;
use crate::envelope;
use crate::problem::Problem;

/// How often an open stream's token is looked at. Why: whoever revokes a token waits a moment, not longer.
const LOOK: Duration = Duration::from_millis(500);

/// Where the tokens are.
pub trait Keys: Send + Sync {
    /// The tokens that are good now. It is asked for every request.
    ///
    /// # Errors
    ///
    /// They can't be read: why. Nobody is let in.
    fn tokens(&self) -> Result<Arc<Tokens>, String>;
}

/// A list that doesn't change.
impl Keys for Tokens {
    fn tokens(&self) -> Result<Arc<Tokens>, String> {
        Ok(Arc::new(self.clone()))
    }
}

/// Who is let in.
#[derive(Clone)]
pub(super) struct Auth(Arc<Inner>);

struct Inner {
    count: Arc<dyn Count>,
    keys: Arc<dyn Keys>,
    caller: Caller,
    is_loopback: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Auth {
    pub(super) fn new(options: &HttpOptions, count: Arc<dyn Count>) -> Self {
        let origin = |it: &String| it.trim_end_matches('/').to_ascii_lowercase();
        Self(Arc::new(Inner {
            count,
            keys: Arc::clone(&options.keys),
            caller: options.caller.clone(),
            is_loopback: options.address.ip().is_loopback(),
            hosts: hosts(options),
            origins: options.origins.iter().map(origin).collect(),
        }))
    }

    fn tokens(&self) -> Result<Arc<Tokens>, Box<Response>> {
        let told = |why: String| {
            let problem = Problem::new("tokens_unreadable", why);
            Box::new(self.refuse(StatusCode::SERVICE_UNAVAILABLE, problem))
        };
        self.0.keys.tokens().map_err(told)
    }

    /// Refuses somebody, and counts it.
    fn refuse(&self, status: StatusCode, problem: Problem) -> Response {
        self.0.count.metrics().count_refusal(&problem.code);
        refused(status, problem)
    }

    /// Refuses somebody whose token isn't good, or who has none.
    fn unknown(&self, why: &'static str) -> Response {
        let problem = Problem::new("unauthorized", why);
        let mut response = self.refuse(StatusCode::UNAUTHORIZED, problem);
        let challenge = header::HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
        response
    }

    /// Whether a token is still good.
    fn is_good(&self, token: &Hash) -> bool {
        let tokens = self.0.keys.tokens();
        tokens.is_ok_and(|all| all.iter().any(|it| it.hash == *token))
    }
}

/// The names under which the server may be asked for.
pub(super) fn hosts(options: &HttpOptions) -> Vec<String> {
    let mut hosts = ["localhost", "127.0.0.1", "::1"]
        .map(str::to_owned)
        .to_vec();
    hosts.extend(options.hosts.iter().map(|it| it.to_ascii_lowercase()));
    hosts
}

/// Refuses requests to another name, and those of pages that aren't allowed.
pub(super) async fn check_source(
    State(auth): State<Auth>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|it| it.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(Authority::as_str));
    if !host.is_some_and(|host| is_among(host, &auth.0.hosts)) {
        let message = "the server isn't asked for under this name; `--host NAME` allows one";
        return auth.refuse(StatusCode::FORBIDDEN, Problem::new("bad_host", message));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        // Pages that the server itself gives may call it: what they are asked for under was checked above.
        let own = host.map(|host| format!("http://{}", host.to_ascii_lowercase()));
        if own.as_ref() != Some(&origin) && !auth.0.origins.contains(&origin) {
            let message = "pages of this origin may not call; `--origin URL` allows one";
            return auth.refuse(StatusCode::FORBIDDEN, Problem::new("bad_origin", message));
        }
    }
    next.run(request).await
}

/// Whether an authority is one of the names, with whatever port, or one with that port.
fn is_among(authority: &str, names: &[String]) -> bool {
    let authority = authority.to_ascii_lowercase();
    let Ok(parsed) = authority.parse::<Uri>() else {
        return false;
    };
    let name = parsed.host().unwrap_or_default();
    let name = name.trim_start_matches('[').trim_end_matches(']');
    names.iter().any(|it| it == name || *it == authority)
}

/// Lets a request in as its token says. Who is on the same machine is an agent where there never were tokens: whoever
/// revokes the last one doesn't mean to let everybody in.
pub(super) async fn authenticate(
    State(auth): State<Auth>,
    mut request: Request,
    next: Next,
) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    let tokens = match auth.tokens() {
        Ok(tokens) => tokens,
        Err(response) => return *response,
    };
    let (caller, token) = match given {
        Some(given) => {
            let text = given.to_str().ok().and_then(|it| {
                let (scheme, text) = it.split_once(' ')?;
                scheme.eq_ignore_ascii_case("bearer").then_some(text)
            });
            let Some(token) = text.and_then(|text| tokens.find(text)) else {
                return auth
                    .unknown("the token isn't good here: it was revoked, or is another project's");
            };
            let caller = Caller {
                actor: token.actor(),
                run: token.run.clone(),
                project: auth.0.caller.project.clone(),
            };
            (caller, Some(token.hash))
        }
        None if auth.0.is_loopback && tokens.allows_anonymous() => (auth.0.caller.clone(), None),
        None => return auth.unknown("a token is needed: `Authorization: Bearer …`"),
    };
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(Owner(token));
    let response = next.run(request).await;
    match token {
        Some(token) if is_stream(&response) => response.map(|body| {
            let revoked = Box::pin(async move {
                while auth.is_good(&token) {
                    tokio::time::sleep(LOOK).await;
                }
            });
            Body::new(Guarded { body, revoked })
        }),
        _ => response,
    }
}

fn is_stream(response: &Response) -> bool {
    let media = response.headers().get(header::CONTENT_TYPE);
    media.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"))
}

/// A refusal in the one shape of all answers.
pub(super) fn refused(status: StatusCode, problem: Problem) -> Response {
    let (answer, _) = envelope::wrap(Err(problem));
    (status, axum::Json(json!(answer))).into_response()
}

/// A stream that ends when its caller's token is revoked.
struct Guarded {
    body: Body,
    revoked: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for Guarded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        if self.revoked.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_with_any_port_and_nothing_else_does() {
        let names = ["localhost", "::1", "runs.example.org:8443"].map(str::to_owned);
        for good in [
            "localhost",
            "LOCALHOST:7420",
            "[::1]:80",
            "runs.example.org:8443",
        ] {
            assert!(is_among(good, &names), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example",
            "localhost@evil.example",
            "runs.example.org",
            "local host",
        ] {
            assert!(!is_among(bad, &names), "{bad}");
        }
    }
}
