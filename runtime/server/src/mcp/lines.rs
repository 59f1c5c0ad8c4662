//! Messages as lines.
//!
//! rmcp's own transport drops a line that is too long or can't be read, and its sender waits forever. Here each gets an
//! answer (`mcp/wire.rs`). rmcp writes the answers.

use std::pin::Pin;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader, Empty};

use super::wire::{self, Unread};

type Message = RxJsonRpcMessage<RoleServer>;
type Written = Pin<Box<dyn Future<Output = std::io::Result<()>> + Send>>;

/// The mark that an editor may write before a text.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// One client, by lines.
pub(super) struct Lines<R, W: AsyncWrite> {
    input: BufReader<R>,
    /// The part of a line that has arrived.
    line: Vec<u8>,
    /// Set while the rest of a line that is too long is skipped.
    is_skipping: bool,
    output: AsyncRwTransport<RoleServer, Empty, W>,
    /// An answer that is being written.
    answer: Option<Written>,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_skipping: false,
            output: AsyncRwTransport::new(tokio::io::empty(), output),
            answer: None,
        }
    }

    /// Reads to the end of a line; `None` at the end of the input.
    ///
    /// What has arrived is kept if this is dropped.
    async fn read(&mut self) -> Option<Result<(), Unread>> {
        loop {
            let arrived = self.input.fill_buf().await.ok()?;
            if arrived.is_empty() {
                // The last line may lack its end.
                return (!self.line.is_empty()).then_some(Ok(()));
            }
            let end = arrived.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(arrived.len(), |at| at.saturating_add(1));
            let is_too_long = self.line.len().saturating_add(taken) > wire::MAX_MESSAGE;
            let mut unread = None;
            if !self.is_skipping && is_too_long {
                unread = Some(wire::too_long(&std::mem::take(&mut self.line)));
            } else if !self.is_skipping {
                self.line.extend(arrived.iter().take(taken));
            }
            self.input.consume(taken);
            let was_skipping = self.is_skipping;
            self.is_skipping = (was_skipping || is_too_long) && end.is_none();
            if let Some(unread) = unread {
                return Some(Err(unread));
            }
            if end.is_some() && !was_skipping {
                return Some(Ok(()));
            }
        }
    }

    /// Parses the line; `None` if it is empty, or nobody waits for its answer.
    fn message(&mut self) -> Option<Result<Message, Unread>> {
        let line = std::mem::take(&mut self.line);
        let text = line.strip_prefix(MARK).unwrap_or(&line).trim_ascii();
        if text.is_empty() {
            return None;
        }
        let checked = wire::check_values(text).and_then(|()| wire::check_keys(text));
        if let Err(unread) = checked {
            return Some(Err(unread));
        }
        match serde_json::from_slice(text) {
            Ok(message) => Some(Ok(message)),
            Err(error) => wire::unread(text, &error).map(Err),
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.output.send(message)
    }

    // rmcp drops this and calls it again whenever there is something else to do: its state is kept in `self`.
    async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(answer) = &mut self.answer {
                let written = answer.await;
                self.answer = None;
                written.ok()?;
            }
            let read = match self.read().await? {
                Ok(()) => self.message(),
                Err(unread) => Some(Err(unread)),
            };
            match read {
                None => {}
                Some(Ok(message)) => return Some(message),
                Some(Err(unread)) => {
                    let answer = TxJsonRpcMessage::<RoleServer>::error(unread.error, unread.id);
                    self.answer = Some(Box::pin(self.output.send(answer)));
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.close().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_answered_and_the_next_is_read() {
        let long = format!(
            "{{\"jsonrpc\": \"2.0\", \"id\": 3, \"x\": \"{}\"}}\n",
            "x".repeat(wire::MAX_MESSAGE)
        );
        let next = "{\"jsonrpc\": \"2.0\", \"id\": 4, \"method\": \"ping\"}\n";
        let input = format!("{long}\r\n{next}");
        let (near, mut far) = tokio::io::duplex(1 << 10);
        let mut lines = Lines::new(input.as_bytes(), near);
        let message = lines.receive().await.unwrap();
        assert!(serde_json::to_string(&message).unwrap().contains("ping"));
        assert!(lines.receive().await.is_none());
        drop(lines);
        let mut answer = String::new();
        far.read_to_string(&mut answer).await.unwrap();
        assert!(
            answer.contains("\"id\":3") && answer.contains("-32600"),
            "{answer}"
        );
        assert_eq!(answer.lines().count(), 1, "{answer}");
    }

    #[tokio::test]
    async fn the_last_line_counts_without_its_end() {
        let input = "{\"jsonrpc\": \"2.0\", \"id\": 4, \"method\": \"ping\"}";
        let (near, _far) = tokio::io::duplex(1 << 10);
        let mut lines = Lines::new(input.as_bytes(), near);
        let message = lines.receive().await.unwrap();
        assert!(serde_json::to_string(&message).unwrap().contains("ping"));
        assert!(lines.receive().await.is_none());
    }
}
