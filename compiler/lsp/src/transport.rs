//! Messages over a pair of byte streams, such as a program's standard input and output.
//!
//! A message is a header with its length, and JSON. What isn't JSON, or no message, is answered as JSON-RPC 2.0 says, with
//! the codes -32700 and -32600, and the next message is read: the length tells where it begins. Only a header that can't
//! be read ends the stream.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::unbounded;
use lsp_server::{Connection, Message};
use serde_json::{Value, json};

/// Most bytes of a message.
///
/// Why: a document of the longest length, escaped, has less; a longer one is passed over, without being kept.
const MAX_MESSAGE: u64 = 64 << 20;

/// Most bytes of a line of a header. Why: it has a name and a number.
const MAX_HEADER: u64 = 4 << 10;

/// The threads that read and write.
#[derive(Debug)]
pub struct Transport {
    writer: JoinHandle<io::Result<()>>,
}

impl Transport {
    /// Waits until everything is written, after the connection was dropped.
    ///
    /// # Errors
    ///
    /// Something couldn't be written.
    pub fn finish(self) -> io::Result<()> {
        let result = self.writer.join();
        result.unwrap_or_else(|_| Err(io::Error::other("the writer of messages is gone")))
    }
}

/// Connects with an editor over the program's standard input and output.
#[must_use]
pub fn stdio() -> (Connection, Transport) {
    connect(BufReader::new(io::stdin()), io::stdout())
}

/// Connects with an editor over two streams.
#[must_use]
pub fn connect(
    mut input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> (Connection, Transport) {
    let (to_editor, outgoing) = unbounded::<Message>();
    let (to_server, incoming) = unbounded::<Message>();
    let output = Arc::new(Mutex::new(output));
    let faults = Arc::clone(&output);
    // It ends with the stream, or with the process: a read can't be interrupted.
    let _reader = thread::spawn(move || {
        while let Ok(Some(text)) = read_text(&mut input) {
            let sent = match parse(&text) {
                Ok(message) => to_server.send(message).is_ok(),
                Err(answer) => {
                    let mut output = faults.lock().unwrap_or_else(PoisonError::into_inner);
                    write_text(&mut *output, &answer.to_string()).is_ok()
                }
            };
            if !sent {
                break;
            }
        }
    });
    let writer = thread::spawn(move || {
        for message in outgoing {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            message.write(&mut *output)?;
        }
        Ok(())
    });
    let connection = Connection {
        sender: to_editor,
        receiver: incoming,
    };
    (connection, Transport { writer })
}

/// Reads the next text; none at the end of the stream. A text that is too long is empty.
fn read_text(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(MAX_HEADER).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        if name.trim().eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.ok_or(io::ErrorKind::InvalidData)?;
    let mut message = input.by_ref().take(length);
    if length > MAX_MESSAGE {
        io::copy(&mut message, &mut io::sink())?;
        return Ok(Some(Vec::new()));
    }
    let mut text = Vec::new();
    message.read_to_end(&mut text)?;
    let is_whole = u64::try_from(text.len()) == Ok(length);
    Ok(is_whole.then_some(text))
}

/// Reads a message, or makes the answer to what isn't one.
fn parse(text: &[u8]) -> Result<Message, Value> {
    let failed = |id: &Value, code: i32, message: String| {
        let error = json!({ "code": code, "message": message });
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    };
    let value: Value = serde_json::from_slice(text)
        .map_err(|error| failed(&Value::Null, -32700, format!("no JSON: {error}")))?;
    let id = value
        .get("id")
        .filter(|it| it.is_number() || it.is_string());
    let id = id.cloned().unwrap_or_default();
    serde_json::from_value(value)
        .map_err(|error| failed(&id, -32600, format!("no message: {error}")))
}

fn write_text(output: &mut impl Write, text: &str) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that can be read after it was written.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_no_message_is_answered_and_the_next_one_is_read() {
        let messages = [
            "{\"jsonrpc\":\"2.0\",",
            "[1,2]",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}",
            "\u{0}\u{1}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"initialized\",\"params\":{}}",
        ];
        let mut input = String::new();
        for message in messages {
            let length = message.len();
            input.push_str(&format!(
                "content-length: {length}\r\nX: y\r\n\r\n{message}"
            ));
        }
        let output = Shared::default();
        let (connection, transport) = connect(io::Cursor::new(input), output.clone());
        let received: Vec<Message> = connection.receiver.iter().collect();
        assert!(
            matches!(received.as_slice(), [Message::Notification(it)] if it.method == "initialized")
        );
        drop(connection);
        transport.finish().unwrap();
        let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
        assert_eq!(written.matches("-32700").count(), 2, "{written}");
        assert_eq!(written.matches("-32600").count(), 2, "{written}");
        assert!(written.contains("\"id\":7"), "{written}");
    }

    #[test]
    fn a_cut_stream_ends() {
        for input in [
            "Content-Length: 10\r\n\r\n{}",
            "x",
            "Content-Length: -1\r\n\r\n{}",
            "\r\n",
        ] {
            let (connection, _) = connect(io::Cursor::new(input), io::sink());
            assert!(connection.receiver.iter().next().is_none(), "{input:?}");
        }
    }
}
