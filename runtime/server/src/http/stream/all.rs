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

use statemark_runs::{Hash, RunId, Watermark};
use statemark_tools::Caller;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{Last, Sender, Update};
use crate::hub::Hub;
use crate::notifications::Notification;
use crate::states::RunState;

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
    hub: Arc<Hub>,
    caller: Caller,
    sender: Sender,
    /// The mark up to which it has received all changes.
    mark: Watermark,
    /// The last events: the last records of runs, with the runs.
    sent: VecDeque<(Hash, RunId)>,
}

impl All {
    /// Creates a stream of the changes after a mark.
    pub(super) fn new(hub: Arc<Hub>, caller: Caller, sender: Sender, mark: Watermark) -> Self {
        Self {
            hub,
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
                    let update = Update {
                        name: Some("workflows"),
                        id: None,
                        data: "{}".to_owned(),
                    };
                    self.send(update).await?;
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
            let (hub, mark) = (Arc::clone(&self.hub), self.mark.clone());
            let changes = move || hub.dispatcher.runs().store().changes(&mark);
            let (next, hints) = blocking(changes).await?.map_err(|_| End)?;
            if next < self.mark {
                // The id is another store's, or this store was restored from an earlier copy.
                self.mark = next;
                return self.send_missed().await;
            }
            let is_all = hints.is_empty() || next == self.mark;
            // All but the last have the mark before: its id says that everything was sent.
            let mut held: Option<RunState> = None;
            for hints in hints.chunks(PAGE) {
                let runs = hints.iter().map(|hint| hint.run.clone()).collect();
                for state in self.read_states(runs).await? {
                    if let Some(state) = held.replace(state) {
                        self.send_state(&state).await?;
                    }
                }
            }
            self.mark = next;
            match held {
                Some(state) => self.send_state(&state).await?,
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
        // A caller that may touch one run only has the stream of that one.
        let states = &self.hub.states;
        let state = states.after(&self.hub.dispatcher, run, mark.clone()).await;
        // It may have been sent already, with later changes.
        self.mark = mark.max(self.mark.clone());
        let may_see = |state: &RunState| {
            let ctx = self.hub.dispatcher.ctx(&self.caller);
            ctx.may_touch_project(state.project.as_deref())
        };
        match state.filter(|state| may_see(state)) {
            Some(state) => self.send_state(&state).await,
            None => Ok(()),
        }
    }

    /// Reads the runs that the caller may touch.
    async fn read_states(&self, runs: Vec<RunId>) -> Result<Vec<RunState>, End> {
        let (hub, caller) = (Arc::clone(&self.hub), self.caller.clone());
        let read = move || {
            let ctx = hub.dispatcher.ctx(&caller);
            let states = runs.iter().filter_map(|run| {
                ctx.resolve_run(Some(run.as_str())).ok()?;
                let head = hub.dispatcher.runs().store().head(run).ok()?;
                Some(RunState::from(head))
            });
            states.collect()
        };
        blocking(read).await
    }

    /// Sends the state of a run, unless that was just sent.
    async fn send_state(&mut self, state: &RunState) -> Result<(), End> {
        let is_sent = |(hash, run): &(Hash, RunId)| *hash == state.hash && *run == state.run;
        if self.sent.iter().rev().any(is_sent) {
            return Ok(());
        }
        self.sent.push_back((state.hash, state.run.clone()));
        if self.sent.len() > REMEMBERED {
            self.sent.pop_front();
        }
        self.send(self.event("run", state.data.clone())).await
    }

    /// Sends that unknown changes may be missing: the reader looks at the list.
    async fn send_missed(&self) -> Result<(), End> {
        self.send(self.event("missed", "{}".to_owned())).await
    }

    /// Sends the mark alone, without an event.
    async fn send_mark(&self) -> Result<(), End> {
        let update = Update {
            name: None,
            id: Some(self.mark.0.to_string()),
            data: String::new(),
        };
        self.send(update).await
    }

    fn event(&self, name: &'static str, data: String) -> Update {
        Update {
            name: Some(name),
            id: Some(self.mark.0.to_string()),
            data,
        }
    }

    async fn send(&self, update: Update) -> Result<(), End> {
        self.sender.send(update).await.map_err(|_| End)
    }
}

/// Does slow work on a thread of its own.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, End> {
    tokio::task::spawn_blocking(work).await.map_err(|_| End)
}
