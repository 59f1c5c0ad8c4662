//! News: which runs have changed, and whether the workflows have.
//!
//! One thread asks the store while anybody listens, so that fifty clients cost as much as one. News are hints: whoever gets
//! one looks for itself, and may find that nothing has changed for it.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use statemark_store::{Hash, RunId, Watermark};
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
    Run(RunId),
    /// The workflows have changed.
    Workflows,
}

/// Who tells it.
pub(crate) struct Teller {
    tell: Sender<News>,
    /// Whether the thread is at work.
    busy: Mutex<bool>,
}

impl Default for Teller {
    fn default() -> Self {
        Self {
            tell: broadcast::channel(WAITING).0,
            busy: Mutex::new(false),
        }
    }
}

/// News from now on.
pub(crate) fn listen(desk: &Arc<Desk>) -> Receiver<News> {
    let teller = desk.teller();
    let mut busy = teller.busy.lock().unwrap_or_else(PoisonError::into_inner);
    let listener = teller.tell.subscribe();
    if !*busy {
        let seen = now(desk);
        let workflows = workflows(desk);
        let desk = Arc::downgrade(desk);
        let started = std::thread::Builder::new()
            .name("news".to_owned())
            .spawn(move || work(&desk, seen, workflows));
        *busy = started.is_ok();
    }
    listener
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
fn work(desk: &Weak<Desk>, mut seen: Watermark, mut known: Vec<(String, Hash)>) {
    let mut looked = Instant::now();
    loop {
        std::thread::sleep(PAUSE);
        let Some(desk) = desk.upgrade() else { return };
        let teller = desk.teller();
        {
            let mut busy = teller.busy.lock().unwrap_or_else(PoisonError::into_inner);
            if teller.tell.receiver_count() == 0 {
                *busy = false;
                return;
            }
        }
        // A store that can't be reached now may be in a moment.
        if let Ok((next, hints)) = desk.runs().store().changes(&seen) {
            seen = next;
            for hint in hints {
                // Nobody may be left to hear it.
                drop(teller.tell.send(News::Run(hint.run)));
            }
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
