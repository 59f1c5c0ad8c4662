//! The running calls, so that a process doesn't end within one.
//!
//! A call is a task of its own, which outlives the request and its connection: work that a tool has begun, such as a
//! check, must be stopped, and its record written.

use std::sync::Arc;

use tokio::sync::watch;

/// The count of running calls, over all handlers of a server.
#[derive(Clone)]
pub(super) struct Calls {
    count: Arc<watch::Sender<usize>>,
}

/// A running call, until this is dropped.
pub(super) struct Running {
    count: Arc<watch::Sender<usize>>,
}

impl Calls {
    pub(super) fn new() -> Self {
        let (count, _) = watch::channel(0);
        let count = Arc::new(count);
        Self { count }
    }

    pub(super) fn begin(&self) -> Running {
        let count = Arc::clone(&self.count);
        count.send_modify(|count| *count = count.saturating_add(1));
        Running { count }
    }

    /// Waits until no call runs.
    pub(super) async fn wait_until_none(&self) {
        let mut count = self.count.subscribe();
        // The sender is in `self`, so waiting can't fail.
        let _ = count.wait_for(|count| *count == 0).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.count
            .send_modify(|count| *count = count.saturating_sub(1));
    }
}
