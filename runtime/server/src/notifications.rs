//! Notifications of changes: of runs, and of the workflows.
//!
//! One thread polls while there are subscribers, so that fifty clients cost as much as one: the store only while one of
//! them has an interest in runs, which few have; a commit of this process makes it poll at once. A notification is a hint:
//! the subscriber looks at the run, and may find that nothing has changed for it.
//!
//! What to rely on: after the watermark of its interest a subscriber misses no notification; once it has received all of
//! them up to one, it has seen all changes up to that one's watermark. Watermarks are the store's, and are valid in another
//! process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::Thread;
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
    /// The polling thread, while it runs.
    poller: Option<Thread>,
    /// The number of those who want to know of changes of any run.
    interested: usize,
    /// All changes up to here have been published. It stands still while nobody wants to know.
    published: Watermark,
    /// The runs whose next change somebody waits for.
    watched: BTreeMap<RunId, watch::Sender<()>>,
}

impl State {
    fn wants_runs(&self) -> bool {
        let mut watched = self.watched.values();
        self.interested > 0 || watched.any(|it| it.receiver_count() > 0)
    }
}

/// An interest in the changes of runs, until this is dropped.
pub(crate) struct Interest(Arc<Inner>);

impl Drop for Interest {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.interested = state.interested.saturating_sub(1);
    }
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

    /// Subscribes to changes of workflows and tools, and of runs while somebody takes an interest in them.
    pub(crate) fn subscribe(&self) -> Receiver<Notification> {
        let mut state = self.0.state();
        let receiver = self.0.sender.subscribe();
        self.start(&mut state);
        receiver
    }

    /// Takes an interest in runs. Returns the watermark after which their changes are published.
    pub(crate) fn take_interest(&self) -> (Interest, Watermark) {
        let mut state = self.0.state();
        self.want_runs(&mut state);
        state.interested = state.interested.saturating_add(1);
        (Interest(Arc::clone(&self.0)), state.published.clone())
    }

    /// Watches a run from now on.
    pub(crate) fn watch(&self, run: &RunId) -> watch::Receiver<()> {
        let mut state = self.0.state();
        self.want_runs(&mut state);
        self.start(&mut state);
        let sender = state.watched.entry(run.clone());
        sender.or_insert_with(|| watch::channel(()).0).subscribe()
    }

    /// Begins with the changes from now on, unless somebody wants to know of runs already.
    fn want_runs(&self, state: &mut State) {
        if !state.wants_runs() {
            state.published = self.0.latest_watermark();
            if let Some(poller) = &state.poller {
                poller.unpark();
            }
        }
    }

    /// Starts the polling thread unless it runs.
    fn start(&self, state: &mut State) {
        let inner = &self.0;
        if state.poller.is_none() {
            let workflows = inner.workflows();
            let tools = inner.dispatcher.upstream_version();
            let weak = Arc::downgrade(inner);
            let started = std::thread::Builder::new()
                .name("notifications".to_owned())
                .spawn(move || poll(&weak, workflows, tools));
            state.poller = started.ok().map(|started| started.thread().clone());
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
    let mut is_wanted = true;
    loop {
        std::thread::sleep(PAUSE);
        if !is_wanted {
            // Whoever begins to want to know ends it.
            std::thread::park_timeout(STORE_INTERVAL);
        }
        let Some(inner) = weak.upgrade() else { return };
        if is_wanted {
            let runs = inner.dispatcher.runs();
            commit = runs.wait_for_commit(commit, STORE_INTERVAL);
        }
        let published = {
            let mut state = inner.state();
            state.watched.retain(|_, it| it.receiver_count() > 0);
            if inner.sender.receiver_count() == 0 && state.watched.is_empty() {
                state.poller = None;
                return;
            }
            state.wants_runs().then(|| state.published.clone())
        };
        is_wanted = published.is_some();
        if let Some(published) = published {
            inner.publish_runs(&published);
        }
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

#[cfg(test)]
mod tests {
    use statemark_compiler::source::Sources;
    use statemark_compiler::{Options as Compile, back, compile};
    use statemark_runs::{Actor, Order, Role, SendEvent, StartRun, SystemClock, Workflow};
    use statemark_stores::MemoryStore;
    use statemark_tools::Options;

    use super::*;

    /// Longest time that the test waits for what comes in milliseconds.
    const LONGEST: Duration = Duration::from_secs(60);

    fn dispatcher() -> Dispatcher {
        let mut sources = Sources::new();
        sources.add(
            "door.md",
            "## STATE-MACHINE: door\n\n```mermaid\nstateDiagram-v2\n    [*] --> shut\n    shut --> shut : push\n```\n",
        );
        let compiled = compile(&sources, &Compile::default());
        let table = compiled.machines.iter().map(back::table::write).next();
        let workflow = Arc::new(Workflow::from_bytes(table.unwrap()).unwrap());
        let workflows = BTreeMap::from([("door".to_owned(), workflow)]);
        Dispatcher::new(
            Arc::new(MemoryStore::new(SystemClock)),
            Arc::new(workflows),
            Arc::new(SystemClock),
            Options::default(),
            Vec::new(),
        )
        .unwrap()
    }

    /// The run of the next notification that is about one.
    fn next_run(notifications: &mut Receiver<Notification>) -> String {
        let began = Instant::now();
        loop {
            match notifications.try_recv() {
                Ok(Notification::Run { run, .. }) => return run.to_string(),
                _ => assert!(began.elapsed() < LONGEST, "nothing was told"),
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn runs_are_looked_at_while_somebody_wants_to_know_of_them() {
        let dispatcher = Arc::new(dispatcher());
        let publisher = Publisher::new(Arc::clone(&dispatcher), Arc::default());
        let published = || publisher.0.state().published.clone();
        let order = |id: &str| Order::new(id.parse().unwrap(), Actor::new(Role::Agent));
        let start = StartRun {
            workflow: "door".to_owned(),
            ..StartRun::default()
        };
        let push = SendEvent {
            event: "push".to_owned(),
            ..SendEvent::default()
        };
        let mut notifications = publisher.subscribe();
        for id in ["one", "two"] {
            dispatcher.runs().execute(&order(id), &start).unwrap();
            // Long enough for several polls, of which there is none.
            std::thread::sleep(3 * STORE_INTERVAL);
            assert_eq!(published(), Watermark::default());
            let (interest, mark) = publisher.take_interest();
            assert_ne!(mark, Watermark::default());
            dispatcher.runs().execute(&order(id), &push).unwrap();
            assert_eq!(next_run(&mut notifications), id);
            drop(interest);
            // Whatever a poll that had begun has found, the next ones find nothing.
            let is_left_alone = (0..20).any(|_| {
                std::thread::sleep(3 * STORE_INTERVAL);
                while notifications.try_recv().is_ok() {}
                let before = published();
                dispatcher.runs().execute(&order(id), &push).unwrap();
                std::thread::sleep(3 * STORE_INTERVAL);
                published() == before
            });
            assert!(is_left_alone);
            publisher.0.state().published = Watermark::default();
        }
        // Who waits for one run wants to know as well.
        let watched = publisher.watch(&"one".parse().unwrap());
        assert!(!watched.has_changed().unwrap());
        dispatcher.runs().execute(&order("one"), &push).unwrap();
        let began = Instant::now();
        while !watched.has_changed().unwrap() {
            assert!(began.elapsed() < LONGEST, "nothing was told");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
