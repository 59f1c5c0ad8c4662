//! Where each run is that changes.
//!
//! The id of an event is the store's mark up to which all changes have been told with it. Whoever comes back with one is told
//! of each run that has changed since, where it is now, in the order of the changes; then what is new. So is a reader that
//! was too slow. At the beginning an id comes without an event, so that whoever is cut off before the first one misses nothing.
//!
//! What to rely on: no change is left out, and no state of a run is told twice but to a reader that was cut off amid what it
//! had missed, or by a store that looks some seconds back.
//!
//! Deliberately not here: which workflows have changed meanwhile. `workflows` comes without an id; who comes back looks.

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

/// How many of the last events are remembered. Why: what a reader was told when it came comes once more as news, if it
/// happened just then.
const REMEMBERED: usize = 256;

/// Nobody reads on, or the store can't be read: who comes again goes on where it was.
struct Over;

/// A reader, and how far it is.
pub(super) struct All {
    dispatcher: Arc<Dispatcher>,
    caller: Caller,
    tell: Sender,
    /// Up to where it has been told all.
    mark: Watermark,
    /// What it was told last: which runs, and their last records.
    told: VecDeque<(RunId, Hash)>,
}

impl All {
    /// One that is to be told what comes behind a mark.
    pub(super) fn new(
        dispatcher: Arc<Dispatcher>,
        caller: Caller,
        tell: Sender,
        mark: Watermark,
    ) -> Self {
        Self {
            dispatcher,
            caller,
            tell,
            mark,
            told: VecDeque::new(),
        }
    }

    /// Tells what it has missed, and what is new, until nobody reads.
    pub(super) async fn tell(mut self, notifications: Receiver<Notification>, last: Last) {
        // Either way it is over.
        let (Ok(()) | Err(Over)) = self.tell_all(notifications, last).await;
    }

    async fn tell_all(
        &mut self,
        mut notifications: Receiver<Notification>,
        last: Last,
    ) -> Result<(), Over> {
        match last {
            Last::Nowhere => self.say_mark().await?,
            Last::At(mark) if i64::try_from(mark).is_ok() => {
                self.mark = Watermark(mark);
                self.catch_up().await?;
            }
            // No store has such a mark.
            Last::At(_) | Last::Elsewhere => self.say_missed().await?,
        }
        loop {
            match notifications.recv().await {
                Ok(Notification::Run { run, mark }) => self.changed(run, mark).await?,
                Ok(Notification::Workflows) => {
                    let event = Event::default().event("workflows").data("{}");
                    self.say(event).await?;
                }
                Err(RecvError::Lagged(_)) => {
                    notifications = notifications.resubscribe();
                    self.catch_up().await?;
                }
                Err(RecvError::Closed) => return Ok(()),
            }
        }
    }

    /// Tells of each run that has changed behind the mark.
    async fn catch_up(&mut self) -> Result<(), Over> {
        loop {
            let (dispatcher, mark) = (Arc::clone(&self.dispatcher), self.mark.clone());
            let changes = move || dispatcher.runs().store().changes(&mark);
            let (next, hints) = blocking(changes).await?.map_err(|_| Over)?;
            if next < self.mark {
                // An id of another store, or of this one before it was put back to an earlier copy.
                self.mark = next;
                return self.say_missed().await;
            }
            let is_all = hints.is_empty() || next == self.mark;
            // All of them have the mark before but the last: with its id everything has been told.
            let mut held: Option<Head> = None;
            for hints in hints.chunks(PAGE) {
                let runs = hints.iter().map(|hint| hint.run.clone()).collect();
                for head in self.look(runs).await? {
                    if let Some(head) = held.replace(head) {
                        self.say_head(head).await?;
                    }
                }
            }
            self.mark = next;
            match held {
                Some(head) => self.say_head(head).await?,
                None if is_all => self.say_mark().await?,
                None => {}
            }
            if is_all {
                return Ok(());
            }
        }
    }

    /// Tells of a run that has changed.
    async fn changed(&mut self, run: RunId, mark: Watermark) -> Result<(), Over> {
        let head = self.look(vec![run]).await?.pop();
        // It may have been told already, with what came behind it.
        self.mark = mark.max(self.mark.clone());
        match head {
            Some(head) => self.say_head(head).await,
            None => Ok(()),
        }
    }

    /// Where runs are now, those that the caller may touch.
    async fn look(&self, runs: Vec<RunId>) -> Result<Vec<Head>, Over> {
        let (dispatcher, caller) = (Arc::clone(&self.dispatcher), self.caller.clone());
        let look = move || {
            let ctx = dispatcher.ctx(&caller);
            let heads = runs.iter().filter_map(|run| {
                ctx.resolve_run(Some(run.as_str())).ok()?;
                dispatcher.runs().store().head(run).ok()
            });
            heads.collect()
        };
        blocking(look).await
    }

    /// Says where a run is, unless that was said just now.
    async fn say_head(&mut self, head: Head) -> Result<(), Over> {
        let told = (head.run, head.hash);
        if self.told.contains(&told) {
            return Ok(());
        }
        let summary = head.summary;
        let value = json!({
            "run_id": told.0,
            "seq": head.seq,
            "workflow": summary.workflow,
            "status": summary.status,
            "states": summary.leaves,
            "requests": summary.requests,
        });
        self.told.push_back(told);
        if self.told.len() > REMEMBERED {
            self.told.pop_front();
        }
        self.say(self.event("run", &value)).await
    }

    /// Says that something may have been missed, nobody knows what: whoever hears it looks at the list.
    async fn say_missed(&self) -> Result<(), Over> {
        self.say(self.event("missed", &json!({}))).await
    }

    /// Says how far all has been told, without an event.
    async fn say_mark(&self) -> Result<(), Over> {
        self.say(Event::default().id(self.mark.0.to_string())).await
    }

    fn event(&self, name: &str, value: &Value) -> Event {
        Event::default()
            .event(name)
            .id(self.mark.0.to_string())
            .data(value.to_string())
    }

    async fn say(&self, event: Event) -> Result<(), Over> {
        self.tell.send(Ok(event)).await.map_err(|_| Over)
    }
}

/// Does what may take its time where it may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Over> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Over)
}
