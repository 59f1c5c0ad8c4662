//! The stream of all runs: the state of each run that changes.
//!
//! The id of an event is the store's mark up to which all changes have been sent. A reader who comes back with one gets
//! each run that has changed since, in its present state and in the order of the changes; then the new changes. So does
//! a reader that was too slow. The first id comes without an event, so that a reader who is cut off before the first
//! one misses nothing.
//!
//! What to rely on: no change is left out. No state of a run is sent twice, except to a reader that was cut off while
//! it caught up, or by a store that looks some seconds back.
//!
//! Deliberately not here: the workflows that have changed meanwhile. `workflows` comes without an id; a reader who
//! comes back looks.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::response::sse::Event;
use serde_json::{Value, json};
use statemark_runs::{Hash, Head, RunId, Watermark};
use statemark_tools::{Caller, Dispatcher};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{Last, Sender};
use crate::notifications::Notification;

/// Most runs that are read at once.
const PAGE: usize = 100;

/// The number of last events that are remembered.
///
/// Why: a change that a reader caught up with comes once more as a notification if it has just happened.
const REMEMBERED: usize = 256;

/// The end of a stream: nobody reads, or the store can't be read. A reader who comes back continues.
struct End;

/// A reader and its position.
pub(super) struct All {
    dispatcher: Arc<Dispatcher>,
    caller: Caller,
    sender: Sender,
    /// The mark up to which it has received all changes.
    mark: Watermark,
    /// The last events: runs with their last records.
    sent: VecDeque<(RunId, Hash)>,
}

impl All {
    /// Creates a stream of the changes after a mark.
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
            sent: VecDeque::new(),
        }
    }

    /// Sends the missed changes, then the new ones, until nobody reads.
    pub(super) async fn send_all(mut self, notifications: Receiver<Notification>, last: Last) {
        // Both mean the end.
        let (Ok(()) | Err(End)) = self.run(notifications, last).await;
    }

    async fn run(
        &mut self,
        mut notifications: Receiver<Notification>,
        last: Last,
    ) -> Result<(), End> {
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
                Ok(Notification::Run { run, mark }) => self.send_changed(run, mark).await?,
                Ok(Notification::Workflows) => {
                    let event = Event::default().event("workflows").data("{}");
                    self.send(event).await?;
                }
                Ok(Notification::Tools) => {}
                Err(RecvError::Lagged(_)) => {
                    notifications = notifications.resubscribe();
                    self.catch_up().await?;
                }
                Err(RecvError::Closed) => return Ok(()),
            }
        }
    }

    /// Sends each run that has changed since the mark.
    async fn catch_up(&mut self) -> Result<(), End> {
        loop {
            let (dispatcher, mark) = (Arc::clone(&self.dispatcher), self.mark.clone());
            let changes = move || dispatcher.runs().store().changes(&mark);
            let (next, hints) = blocking(changes).await?.map_err(|_| End)?;
            if next < self.mark {
                // The id is another store's, or this store was restored from an earlier copy.
                self.mark = next;
                return self.send_missed().await;
            }
            let is_all = hints.is_empty() || next == self.mark;
            // All but the last have the mark before: its id says that everything was sent.
            let mut held: Option<Head> = None;
            for hints in hints.chunks(PAGE) {
                let runs = hints.iter().map(|hint| hint.run.clone()).collect();
                for head in self.read_heads(runs).await? {
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
    async fn send_changed(&mut self, run: RunId, mark: Watermark) -> Result<(), End> {
        let head = self.read_heads(vec![run]).await?.pop();
        // It may have been sent already, with later changes.
        self.mark = mark.max(self.mark.clone());
        match head {
            Some(head) => self.send_head(head).await,
            None => Ok(()),
        }
    }

    /// Reads the runs that the caller may touch.
    async fn read_heads(&self, runs: Vec<RunId>) -> Result<Vec<Head>, End> {
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

    /// Sends the state of a run, unless that was just sent.
    async fn send_head(&mut self, head: Head) -> Result<(), End> {
        let state = (head.run, head.hash);
        if self.sent.contains(&state) {
            return Ok(());
        }
        let summary = head.summary;
        let value = json!({
            "run_id": state.0,
            "seq": head.seq,
            "workflow": summary.workflow,
            "status": summary.status,
            "states": summary.leaves,
            "requests": summary.requests,
        });
        self.sent.push_back(state);
        if self.sent.len() > REMEMBERED {
            self.sent.pop_front();
        }
        self.send(self.event("run", &value)).await
    }

    /// Sends that unknown changes may be missing: the reader looks at the list.
    async fn send_missed(&self) -> Result<(), End> {
        self.send(self.event("missed", &json!({}))).await
    }

    /// Sends the mark alone, without an event.
    async fn send_mark(&self) -> Result<(), End> {
        self.send(Event::default().id(self.mark.0.to_string()))
            .await
    }

    fn event(&self, name: &str, value: &Value) -> Event {
        Event::default()
            .event(name)
            .id(self.mark.0.to_string())
            .data(value.to_string())
    }

    async fn send(&self, event: Event) -> Result<(), End> {
        self.sender.send(Ok(event)).await.map_err(|_| End)
    }
}

/// Does slow work on a thread of its own.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, End> {
    tokio::task::spawn_blocking(work).await.map_err(|_| End)
}
