//! One client over standard input and output.

use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
#[cfg(target_os = "linux")]
use tokio::net::unix::pipe;

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
    #[cfg(target_os = "linux")]
    if let Some((input, output)) = pipes() {
        return serve_lines(server, Lines::new(input, output)).await;
    }
    let (input, output) = rmcp::transport::stdio();
    serve_lines(server, Lines::new(input, output)).await
}

/// Opens standard input and output once more, if they are pipes.
///
/// Why: of a pipe the kernel tells when there is something to read or room to write, where anything else takes a thread
/// for each read and each write, which is a third of what a call takes. Opened once more, it can be set not to wait: that
/// is a property of the open file, which whoever started this process may have as well.
#[cfg(target_os = "linux")]
fn pipes() -> Option<(pipe::Receiver, pipe::Sender)> {
    let options = pipe::OpenOptions::new();
    let input = options.open_receiver("/proc/self/fd/0").ok()?;
    let output = options.open_sender("/proc/self/fd/1").ok()?;
    Some((input, output))
}

async fn serve_lines<R, W>(server: Server, lines: Lines<R, W>) -> std::io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match server.serve(lines).await {
        // A client may leave without a word.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        running => running.map_err(std::io::Error::other)?,
    };
    running.waiting().await.map_err(std::io::Error::other)?;
    Ok(())
}
