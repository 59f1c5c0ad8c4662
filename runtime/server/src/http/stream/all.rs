//! Changes of all runs: the state of each run that changes.
//!
//! The id of an event is the store's mark up to which all changes have been sent with it. A reader that comes back with one is
//! sent each run that has changed since, as it is now, in the order of the changes; then what is new. So is a reader that
//! was too slow. At the beginning an id comes without an event, so that a reader that is cut off before the first one misses
//! nothing.
//!
//! What to rely on: no change is left out, and no state of a run is sent twice but to a reader that was cut off amid what it
//! had missed, or by a store that looks some seconds back.
//!
//! Deliberately not here: which workflows have changed meanwhile. `workflows` comes without an id; a reader that comes back looks.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::response::sse::Event;
use serde_json::{Value, json};
use statemark_runs::{Hash, Head, RunId, Watermark};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{Last, Sender};
use crate::caller::Caller;
use crate::dispatch::Dispatcher;
use crate::notifications::Notification;

/// Runs that are looked at together.
const PAGE: usize = 100;

/// Number of the last events that are remembered.
///
/// What a reader was sent when it came may come once more as a notification.
const REMEMBERED: usize = 256;

/// The end of a stream: the reader is gone, or the store can't be read.
struct Over;

/// A reader, and its position.
pub(super) struct Reader {
    dispatcher: Arc<Dispatcher>,
    caller: Caller,
    sender: Sender,
    /// The mark up to which everything was sent.
    mark: Watermark,
    /// The runs that were sent last, with their last records.
    recent: VecDeque<(RunId, Hash)>,
}

impl Reader {
    /// Creates a reader that is to be sent what comes after a mark.
    pub(super) fn new(
        dispatcher: Arc<Dispatcher>,
        caller: Caller,
        sender: Sender,
        mark: Watermark,
    ) -> Self {
        Self {
            dispatcher,
            caller,
            sender,
            mark,
            recent: VecDeque::new(),
        }
    }

    /// Sends what it has missed, and what is new, until it is gone.
    pub(super) async fn send(mut self, notifications: Receiver<Notification>, last: Last) {
        // Either way it is over.
        let (Ok(()) | Err(Over)) = self.send_all(notifications, last).await;
    }

    async fn send_all(
        &mut self,
        mut notifications: Receiver<Notification>,
        last: Last,
    ) -> Result<(), Over> {
        match last {
            Last::Nowhere => self.send_mark().await?,
            Last::At(mark) if i64::try_from(mark).is_ok() => {
                self.mark = Watermark(mark);
                self.catch_up().await?;
            }
            // No store has such a mark.
            Last::At(_) | Last::Elsewhere => self.send_missed().await?,
        }
        loop {
            match notifications.recv().await {
                Ok(Notification::Run { run, mark }) => self.send_change(run, mark).await?,
                Ok(Notification::Workflows) => {
                    let event = Event::default().event("workflows").data("{}");
                    self.send_event(event).await?;
                }
                Err(RecvError::Lagged(_)) => {
                    notifications = notifications.resubscribe();
                    self.catch_up().await?;
                }
                Err(RecvError::Closed) => return Ok(()),
            }
        }
    }

    /// Sends each run that has changed after the mark.
    async fn catch_up(&mut self) -> Result<(), Over> {
        loop {
            let (dispatcher, mark) = (Arc::clone(&self.dispatcher), self.mark.clone());
            let changes = move || dispatcher.runs().store().changes(&mark);
            let (next, hints) = blocking(changes).await?.map_err(|_| Over)?;
            if next < self.mark {
                // An id of another store, or of this one before it was put back to an earlier copy.
                self.mark = next;
                return self.send_missed().await;
            }
            let is_all = hints.is_empty() || next == self.mark;
            // All of them have the mark before but the last: with its id everything has been sent.
            let mut held: Option<Head> = None;
            for hints in hints.chunks(PAGE) {
                let runs = hints.iter().map(|hint| hint.run.clone()).collect();
                for head in self.heads(runs).await? {
                    if let Some(head) = held.replace(head) {
                        self.send_head(head).await?;
                    }
                }
            }
            self.mark = next;
            match held {
                Some(head) => self.send_head(head).await?,
                None if is_all => self.send_mark().await?,
                None => {}
            }
            if is_all {
                return Ok(());
            }
        }
    }

    /// Sends a run that has changed.
    async fn send_change(&mut self, run: RunId, mark: Watermark) -> Result<(), Over> {
        let head = self.heads(vec![run]).await?.pop();
        // It may have been sent already, with what came after it.
        self.mark = mark.max(self.mark.clone());
        match head {
            Some(head) => self.send_head(head).await,
            None => Ok(()),
        }
    }

    /// Reads the heads of runs, as far as the caller may touch them.
    async fn heads(&self, runs: Vec<RunId>) -> Result<Vec<Head>, Over> {
        let (dispatcher, caller) = (Arc::clone(&self.dispatcher), self.caller.clone());
        let read = move || {
            let ctx = dispatcher.ctx(&caller);
            let heads = runs.iter().filter_map(|run| {
                ctx.resolve_run(Some(run.as_str())).ok()?;
                dispatcher.runs().store().head(run).ok()
            });
            heads.collect()
        };
        blocking(read).await
    }

    /// Sends a run, unless that was done just now.
    async fn send_head(&mut self, head: Head) -> Result<(), Over> {
        let key = (head.run, head.hash);
        if self.recent.contains(&key) {
            return Ok(());
        }
        let summary = head.summary;
        let value = json!({
            "run_id": key.0,
            "seq": head.seq,
            "workflow": summary.workflow,
            "status": summary.status,
            "states": summary.leaves,
            "requests": summary.requests,
        });
        self.recent.push_back(key);
        if self.recent.len() > REMEMBERED {
            self.recent.pop_front();
        }
        self.send_event(self.event("run", &value)).await
    }

    /// Sends that something may have been missed: the reader has to look at the list.
    async fn send_missed(&self) -> Result<(), Over> {
        self.send_event(self.event("missed", &json!({}))).await
    }

    /// Sends the mark up to which everything was sent, without an event.
    async fn send_mark(&self) -> Result<(), Over> {
        self.send_event(Event::default().id(self.mark.0.to_string()))
            .await
    }

    fn event(&self, name: &str, value: &Value) -> Event {
        Event::default()
            .event(name)
            .id(self.mark.0.to_string())
            .data(value.to_string())
    }

    async fn send_event(&self, event: Event) -> Result<(), Over> {
        self.sender.send(Ok(event)).await.map_err(|_| Over)
    }
}

/// Carries out work that blocks, on a thread for it.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Over> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Over)
}
