//! News: which runs have changed, and whether the workflows have.
//!
//! One thread asks the store while anybody listens, so that fifty clients cost as much as one. News are hints: whoever gets
//! one looks for itself, and may find that nothing has changed for it.
//!
//! What to rely on: news have no gap behind the mark with which they begin, and whoever has had all of them up to one of them
//! has had all changes up to its mark. Marks are the store's: they are good in another process, too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use statemark_runs::{Hash, RunId, Watermark};
use tokio::sync::broadcast::{self, Receiver, Sender};

use crate::desk::Desk;

/// How often the store is asked. Why: nobody notices a tenth of a second, and a store isn't busy by it.
const PAUSE: Duration = Duration::from_millis(100);

/// How often the workflows are looked at. Why: every time, the files are.
const WORKFLOWS: Duration = Duration::from_secs(1);

/// How many news wait for a slow listener; one that misses some is told so.
const WAITING: usize = 1_024;

/// Something is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// A run has changed.
    Run {
        run: RunId,
        /// Up to where all has been told with it.
        mark: Watermark,
    },
    /// The workflows have changed.
    Workflows,
}

/// Who tells it.
pub(crate) struct Teller {
    tell: Sender<News>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether the thread is at work.
    busy: bool,
    /// Up to where it has told all.
    seen: Watermark,
}

impl Teller {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Teller {
    fn default() -> Self {
        Self {
            tell: broadcast::channel(WAITING).0,
            state: Mutex::default(),
        }
    }
}

/// News from now on, and the mark behind which they begin.
pub(crate) fn listen(desk: &Arc<Desk>) -> (Receiver<News>, Watermark) {
    let teller = desk.teller();
    let mut state = teller.state();
    let listener = teller.tell.subscribe();
    if !state.busy {
        state.seen = now(desk);
        let workflows = workflows(desk);
        let desk = Arc::downgrade(desk);
        let started = std::thread::Builder::new()
            .name("news".to_owned())
            .spawn(move || work(&desk, workflows));
        state.busy = started.is_ok();
    }
    (listener, state.seen.clone())
}

/// The point behind all changes so far.
fn now(desk: &Desk) -> Watermark {
    let mut seen = Watermark::default();
    // A store may tell its changes in parts.
    while let Ok((next, hints)) = desk.runs().store().changes(&seen) {
        if hints.is_empty() || next == seen {
            return next;
        }
        seen = next;
    }
    seen
}

/// What the workflows are, in short.
fn workflows(desk: &Desk) -> Vec<(String, Hash)> {
    let specs = desk.catalog().specs().into_iter();
    specs.map(|it| (it.id, it.hash)).collect()
}

/// Tells news until nobody listens.
fn work(desk: &Weak<Desk>, mut known: Vec<(String, Hash)>) {
    let mut looked = Instant::now();
    loop {
        std::thread::sleep(PAUSE);
        let Some(desk) = desk.upgrade() else { return };
        let teller = desk.teller();
        let seen = {
            let mut state = teller.state();
            if teller.tell.receiver_count() == 0 {
                state.busy = false;
                return;
            }
            state.seen.clone()
        };
        // A store that can't be reached now may be in a moment.
        if let Ok((next, hints)) = desk.runs().store().changes(&seen) {
            // Whoever begins to listen meanwhile hears all of it or nothing.
            let mut state = teller.state();
            let mut left = hints.len();
            for hint in hints {
                left = left.saturating_sub(1);
                let mark = if left == 0 { &next } else { &seen };
                let (run, mark) = (hint.run, mark.clone());
                // Nobody may be left to hear it.
                drop(teller.tell.send(News::Run { run, mark }));
            }
            state.seen = next;
        }
        if looked.elapsed() >= WORKFLOWS {
            looked = Instant::now();
            let found = workflows(&desk);
            if found != known {
                known = found;
                drop(teller.tell.send(News::Workflows));
            }
        }
    }
}
