//! The states of runs as streams tell them, read once for all readers.
//!
//! A change is told to every reader at about the same time. Whoever comes first reads the run, and the others wait for that.
//!
//! What to rely on: a state is at least as new as the change that it is asked for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use statemark_runs::{Hash, Head, RunId, Watermark};
use statemark_tools::Dispatcher;
use tokio::sync::OnceCell;

/// The number of changes whose states are kept.
///
/// Why: readers are some changes apart at most; a slower one reads by itself.
const KEPT: usize = 64;

/// The state of a run at some time.
pub(crate) struct RunState {
    pub(crate) run: RunId,
    /// The project that it belongs to, if it does to one.
    pub(crate) project: Option<String>,
    /// The hash of its last record.
    pub(crate) hash: Hash,
    /// The text for readers: JSON.
    pub(crate) data: String,
}

impl From<Head> for RunState {
    fn from(head: Head) -> Self {
        let summary = head.summary;
        let value = json!({
            "run_id": head.run,
            "seq": head.seq,
            "workflow": summary.workflow,
            "status": summary.status,
            "states": summary.leaves,
            "requests": summary.requests,
            "title": summary.title,
            "parent": summary.parent,
            "updated_at": head.updated,
        });
        Self {
            run: head.run,
            project: summary.project,
            hash: head.hash,
            data: value.to_string(),
        }
    }
}

/// A state that is being read or was; none if the run can't be read.
type Reading = Arc<OnceCell<Option<Arc<RunState>>>>;

/// The states after the last changes.
#[derive(Default)]
pub(crate) struct States(Mutex<VecDeque<(Watermark, RunId, Reading)>>);

impl States {
    /// Returns the state of a run after a change, or a later one.
    pub(crate) async fn after(
        &self,
        dispatcher: &Arc<Dispatcher>,
        run: RunId,
        mark: Watermark,
    ) -> Option<Arc<RunState>> {
        let reading = self.reading(&run, mark);
        let read = || async {
            let dispatcher = Arc::clone(dispatcher);
            let read = move || dispatcher.runs().store().head(&run).ok();
            let head = tokio::task::spawn_blocking(read).await.ok().flatten();
            head.map(|head| Arc::new(RunState::from(head)))
        };
        reading.get_or_init(read).await.clone()
    }

    fn reading(&self, run: &RunId, mark: Watermark) -> Reading {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut newest_first = kept.iter().rev();
        if let Some((_, _, reading)) = newest_first.find(|(at, it, _)| *at == mark && it == run) {
            return Arc::clone(reading);
        }
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        let reading = Reading::default();
        kept.push_back((mark, run.clone(), Arc::clone(&reading)));
        reading
    }
}
