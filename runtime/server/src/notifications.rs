//! Notifications of changes: of runs, and of the workflows.
//!
//! One thread polls the store while there are subscribers, so that fifty clients cost as much as one; a commit of this
//! process makes it poll at once. A notification is a hint: the subscriber looks at the run, and may find that nothing has
//! changed for it.
//!
//! What to rely on: after the watermark of its subscription a subscriber misses no notification; once it has received all
//! of them up to one, it has seen all changes up to that one's watermark. Watermarks are the store's, and are valid in
//! another process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use statemark_runs::{Hash, RunId, Watermark};
use statemark_tools::Dispatcher;
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio::sync::watch;

use crate::health::Health;

/// Shortest time between two polls of the store. Why: a busy store commits a thousand times a second.
const PAUSE: Duration = Duration::from_millis(5);

/// Longest time between two polls of the store. Why: nobody notices it, and it doesn't load a store.
const STORE_INTERVAL: Duration = Duration::from_millis(100);

/// Time between two looks at the workflows. Why: each look lists the spec files.
const WORKFLOWS_INTERVAL: Duration = Duration::from_secs(1);

/// Most notifications that wait for a slow subscriber; one that misses some is told so.
const CAPACITY: usize = 1_024;

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notification {
    /// A run has changed.
    Run {
        run: RunId,
        /// All changes up to here have been published.
        mark: Watermark,
    },
    /// The workflows have changed.
    Workflows,
    /// The tools of other servers have changed.
    Tools,
}

/// The publisher of notifications.
pub(crate) struct Publisher(Arc<Inner>);

struct Inner {
    dispatcher: Arc<Dispatcher>,
    health: Arc<Health>,
    sender: Sender<Notification>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// True while the polling thread runs.
    is_polling: bool,
    /// All changes up to here have been published.
    published: Watermark,
    /// The runs whose next change somebody waits for.
    watched: BTreeMap<RunId, watch::Sender<()>>,
}

impl Publisher {
    pub(crate) fn new(dispatcher: Arc<Dispatcher>, health: Arc<Health>) -> Self {
        Self(Arc::new(Inner {
            dispatcher,
            health,
            sender: broadcast::channel(CAPACITY).0,
            state: Mutex::default(),
        }))
    }

    /// Subscribes to the changes from now on. Returns the watermark after which they begin as well.
    pub(crate) fn subscribe(&self) -> (Receiver<Notification>, Watermark) {
        let mut state = self.0.state();
        let receiver = self.0.sender.subscribe();
        self.start(&mut state);
        (receiver, state.published.clone())
    }

    /// Watches a run from now on.
    pub(crate) fn watch(&self, run: &RunId) -> watch::Receiver<()> {
        let mut state = self.0.state();
        self.start(&mut state);
        let sender = state.watched.entry(run.clone());
        sender.or_insert_with(|| watch::channel(()).0).subscribe()
    }

    /// Starts the polling thread unless it runs.
    fn start(&self, state: &mut State) {
        let inner = &self.0;
        if !state.is_polling {
            state.published = inner.latest_watermark();
            let workflows = inner.workflows();
            let tools = inner.dispatcher.upstream_version();
            let weak = Arc::downgrade(inner);
            let started = std::thread::Builder::new()
                .name("notifications".to_owned())
                .spawn(move || poll(&weak, workflows, tools));
            state.is_polling = started.is_ok();
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the watermark after all changes so far.
    fn latest_watermark(&self) -> Watermark {
        let latest = self.dispatcher.runs().store().changes(&Watermark::END);
        latest.map(|(latest, _)| latest).unwrap_or_default()
    }

    /// Lists the workflows with the hashes of their tables.
    fn workflows(&self) -> Vec<(String, Hash)> {
        let specs = self.dispatcher.catalog().specs().into_iter();
        specs.map(|spec| (spec.id, spec.hash)).collect()
    }

    /// Publishes the changes of runs since the last poll.
    fn publish_runs(&self, published: &Watermark) {
        let (next, hints) = match self.dispatcher.runs().store().changes(published) {
            Ok(changes) => changes,
            // A store that can't be reached now may be in a moment.
            Err(error) => return self.health.report_lost(&error.to_string()),
        };
        self.health.report_reached();
        // Under the lock: a new subscriber receives all of these or none.
        let mut state = self.state();
        let mut left = hints.len();
        for hint in hints {
            left = left.saturating_sub(1);
            let mark = if left == 0 { &next } else { published };
            let (run, mark) = (hint.run, mark.clone());
            if let Some(watched) = state.watched.get(&run) {
                watched.send_replace(());
            }
            // The last subscriber may have gone.
            drop(self.sender.send(Notification::Run { run, mark }));
        }
        state.published = next;
    }
}

/// Publishes changes until there is no subscriber.
fn poll(weak: &Weak<Inner>, mut workflows: Vec<(String, Hash)>, mut tools: u64) {
    let mut looked = Instant::now();
    let mut commit = 0;
    loop {
        std::thread::sleep(PAUSE);
        let Some(inner) = weak.upgrade() else { return };
        commit = inner
            .dispatcher
            .runs()
            .wait_for_commit(commit, STORE_INTERVAL);
        let published = {
            let mut state = inner.state();
            state.watched.retain(|_, it| it.receiver_count() > 0);
            if inner.sender.receiver_count() == 0 && state.watched.is_empty() {
                state.is_polling = false;
                return;
            }
            state.published.clone()
        };
        inner.publish_runs(&published);
        let version = inner.dispatcher.upstream_version();
        if version != tools {
            tools = version;
            drop(inner.sender.send(Notification::Tools));
        }
        if looked.elapsed() >= WORKFLOWS_INTERVAL {
            looked = Instant::now();
            let found = inner.workflows();
            if found != workflows {
                workflows = found;
                drop(inner.sender.send(Notification::Workflows));
            }
        }
    }
}
