//! One client over standard input and output.

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use super::Server;

/// Serves one client over standard input and output, until it goes away.
///
/// # Errors
///
/// The client doesn't speak the protocol, or the streams fail.
pub async fn serve_stdio(server: Server) -> std::io::Result<()> {
    let running = match server.serve(rmcp::transport::stdio()).await {
        // A client may leave without a word.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        running => running.map_err(std::io::Error::other)?,
    };
    running.waiting().await.map_err(std::io::Error::other)?;
    Ok(())
}
