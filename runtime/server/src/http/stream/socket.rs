//! A stream over a WebSocket, for clients that speak that.
//!
//! The request went through the middleware as any other: the same hosts, pages and tokens. What is decided isn't said
//! here, but by `POST`: the reader's messages are read, so that it can leave, and mean nothing.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use serde_json::Value;
use tokio::sync::mpsc::Receiver;

use super::super::middleware::Standing;
use super::{KEEP_ALIVE, Update};

/// The protocol that the server chooses where a client names some.
const PROTOCOL: &str = "statemark";

/// Most bytes of a message of the reader's. Why: none means anything.
const MAX_HEARD: usize = 4 << 10;

/// Longest time in which a reader takes a message. Why: one that has gone without a word holds a place.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers a request for a WebSocket, and writes the events to it.
///
/// It ends when the reader leaves or loses its right to them.
pub(super) fn speak(
    upgrade: WebSocketUpgrade,
    receiver: Receiver<Update>,
    standing: Standing,
) -> Response {
    let upgrade = upgrade
        .protocols([PROTOCOL])
        .max_message_size(MAX_HEARD)
        .max_frame_size(MAX_HEARD);
    upgrade.on_upgrade(move |socket| write_updates(socket, receiver, standing))
}

async fn write_updates(mut socket: WebSocket, mut receiver: Receiver<Update>, standing: Standing) {
    let revoked = standing.revoked();
    tokio::pin!(revoked);
    let mut alive = tokio::time::interval(KEEP_ALIVE);
    loop {
        let message = tokio::select! {
            update = receiver.recv() => match update {
                Some(update) => Message::text(update.into_json()),
                None => close(close_code::AWAY, "the server ends"),
            },
            heard = socket.recv() => match heard {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            _ = alive.tick() => Message::Ping(Vec::new().into()),
            () = &mut revoked => close(close_code::POLICY, "the token is revoked"),
        };
        let is_last = matches!(message, Message::Close(_));
        let sent = tokio::time::timeout(PATIENCE, socket.send(message)).await;
        if is_last || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

fn close(code: u16, reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame {
        code,
        reason: reason.into(),
    }))
}

impl Update {
    /// Writes it as a message: an object with `event`, `id` and `data`, each only if it has one.
    fn into_json(self) -> String {
        let event = self.name.map(|it| format!("\"event\":{}", Value::from(it)));
        let id = self.id.map(|it| format!("\"id\":{}", Value::from(it)));
        // The data is JSON already.
        let data = self.name.map(|_| format!("\"data\":{}", self.data));
        let fields: Vec<String> = [event, id, data].into_iter().flatten().collect();
        format!("{{{}}}", fields.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_an_event_as_json() {
        let update = Update {
            name: Some("run"),
            id: Some("7".to_owned()),
            data: r#"{"run_id":"r\"1"}"#.to_owned(),
        };
        let text = update.into_json();
        assert_eq!(text, r#"{"event":"run","id":"7","data":{"run_id":"r\"1"}}"#);
        let mark = Update {
            name: None,
            id: Some("8".to_owned()),
            data: String::new(),
        };
        assert_eq!(mark.into_json(), r#"{"id":"8"}"#);
    }
}
