//! The messages of the client that aren't answered yet.
//!
//! What to rely on: each request is handed over once, in the order of the client; a cancellation overtakes what waits, and
//! reaches the request that is being answered.

use std::collections::VecDeque;

use lsp_server::{Connection, Message, RequestId};

/// The messages of the client that aren't answered yet.
pub(crate) struct Inbox<'s> {
    connection: &'s Connection,
    waiting: VecDeque<Message>,
    cancelled: Vec<RequestId>,
}

impl<'s> Inbox<'s> {
    /// Makes an inbox without messages.
    pub(crate) fn new(connection: &'s Connection) -> Self {
        Self {
            connection,
            waiting: VecDeque::new(),
            cancelled: Vec::new(),
        }
    }

    /// Reports whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the next message, and waits for one if none is there; none if the client has hung up.
    pub(crate) fn next(&mut self) -> Option<Message> {
        // Cancellations alone are nothing to answer.
        while self.waiting.is_empty() {
            // What was cancelled was answered long ago.
            self.cancelled.clear();
            let first = self.connection.receiver.recv().ok()?;
            self.take(first);
        }
        self.look();
        self.waiting.pop_front()
    }

    /// Reports whether a request was cancelled, until now.
    pub(crate) fn is_cancelled(&mut self, id: &RequestId) -> bool {
        self.look();
        let at = self.cancelled.iter().position(|it| it == id);
        at.map(|at| self.cancelled.swap_remove(at)).is_some()
    }

    /// Takes in what has come meanwhile.
    fn look(&mut self) {
        for message in self.connection.receiver.try_iter() {
            self.take(message);
        }
    }

    fn take(&mut self, message: Message) {
        match cancelled_request(&message) {
            Some(id) => self.cancelled.push(id),
            None => self.waiting.push_back(message),
        }
    }
}

/// Returns the request that a message cancels.
fn cancelled_request(message: &Message) -> Option<RequestId> {
    let Message::Notification(notification) = message else {
        return None;
    };
    if notification.method != "$/cancelRequest" {
        return None;
    }
    serde_json::from_value(notification.params.get("id")?.clone()).ok()
}
