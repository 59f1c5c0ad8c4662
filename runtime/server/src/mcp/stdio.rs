//! One client over standard input and output.

use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use super::Server;
use super::lines::Lines;

/// Longest time that calls get to end once nobody waits for them.
///
/// Why: by then, the work that they began is stopped and recorded.
const GRACE: Duration = Duration::from_secs(5);

/// Serves one client over standard input and output, until it leaves or `stop` is over.
///
/// Calls that are still running then are cancelled, and get a few seconds.
///
/// # Errors
///
/// The client doesn't speak the protocol, or the streams fail.
pub async fn serve_stdio(server: Server, stop: impl Future<Output = ()>) -> std::io::Result<()> {
    let calls = server.calls.clone();
    let ended = tokio::select! {
        ended = serve(server) => ended,
        () = stop => Ok(()),
    };
    let _ = tokio::time::timeout(GRACE, calls.wait_until_none()).await;
    ended
}

async fn serve(server: Server) -> std::io::Result<()> {
    let (input, output) = rmcp::transport::stdio();
    let running = match server.serve(Lines::new(input, output)).await {
        // A client may leave without a word.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        running => running.map_err(std::io::Error::other)?,
    };
    running.waiting().await.map_err(std::io::Error::other)?;
    Ok(())
}
