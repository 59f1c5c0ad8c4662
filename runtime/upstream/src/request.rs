//! Requests over HTTP: a connection each, over TLS where the address says so.
//!
//! What to rely on: redirects aren't followed; certificates are the system's; whoever drops the future or the body closes the
//! connection, so that a server sees at once that nobody reads on.
//!
//! Deliberately not here: proxies, and a pool of connections.

use std::io;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The reason why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The address is none.
    #[error("its address can't be used: {0}")]
    Address(String),
    /// Nobody listens there, or the network fails.
    #[error("it can't be reached: {0}")]
    Unreachable(#[from] io::Error),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Broken(#[from] hyper::Error),
    /// The request has a header that can't be one.
    #[error("the request can't be made: {0}")]
    Request(#[from] http::Error),
    /// A body isn't JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
}

/// Sends a request over a connection of its own, and returns the answer when its head is there.
///
/// # Errors
///
/// The address can't be used, or the server can't be reached. An answer of whatever status is none.
pub async fn send(
    uri: &str,
    (method, body): (Method, Bytes),
    headers: HeaderMap,
) -> Result<Response<Incoming>, HttpError> {
    let bad = |what: &str| HttpError::Address(what.to_owned());
    let uri: Uri = uri.parse().map_err(|_| bad("it is no address"))?;
    let host = uri.host().ok_or_else(|| bad("it has no host"))?;
    let is_secure = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let authority = uri.authority().map_or(host, |it| it.as_str());
    let path = uri.path_and_query().map_or("/", |it| it.as_str());
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, authority)
        .body(Full::new(body))?;
    request.headers_mut().extend(headers);
    // An address of IPv6 stands in brackets.
    let host = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    stream.set_nodelay(true)?;
    if !is_secure {
        return send_over(TokioIo::new(stream), request).await;
    }
    let name = ServerName::try_from(host).map_err(|_| bad("its host is no name"))?;
    let connector = TlsConnector::from(tls()?);
    let stream = connector.connect(name, stream).await?;
    send_over(TokioIo::new(stream), request).await
}

/// Sends a request over a stream, which is kept as long as the answer comes.
async fn send_over<S>(
    stream: TokioIo<S>,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, HttpError>
where
    TokioIo<S>: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!("a connection failed: {error}");
        }
    });
    Ok(sender.send_request(request).await?)
}

/// Returns the configuration of TLS: the system's authorities, read once.
fn tls() -> Result<Arc<ClientConfig>, HttpError> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}
