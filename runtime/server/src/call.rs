//! A call of a tool, turn by turn.
//!
//! Each turn has a thread of its caller's share, and the waits between them have none.
//! `threads.rs` says which thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use statemark_tools::{Caller, Effort, Reply, Signal, Turn, Waiting};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch::Receiver;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use crate::hub::Hub;
use crate::limits::Share;
use crate::request_id::RequestId;

/// Shortest turn that a log tells of.
///
/// Why: most take a millisecond, and a person notices a second. The waits between turns don't count.
const SLOW: Duration = Duration::from_secs(1);

/// The codes of failures that are ours or the store's, not the caller's.
const FAILURES: [&str; 5] = [
    "bad_table",
    "corrupt",
    "failed",
    "step_failed",
    "store_failed",
];

/// A call of a tool.
pub(crate) struct Call {
    pub(crate) id: RequestId,
    pub(crate) caller: Caller,
    pub(crate) share: Share,
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    /// True if it may be a tool of our own that clients aren't offered.
    pub(crate) is_own: bool,
    pub(crate) began: Instant,
    /// Is cancelled when the caller gives up.
    pub(crate) given_up: CancellationToken,
    /// Takes reports of progress: the share that is done, and a sentence.
    pub(crate) reports: Option<UnboundedSender<(f64, String)>>,
}

/// The beginning of a call's turn.
enum Step {
    Begin(Map<String, Value>),
    GoOn(Box<Waiting>),
}

impl Call {
    /// Makes the call, and counts it if there is such a tool.
    ///
    /// # Errors
    ///
    /// A turn panicked.
    pub(crate) async fn answer(mut self, hub: Arc<Hub>) -> Result<Option<Reply>, JoinError> {
        let mut step = Step::Begin(std::mem::take(&mut self.arguments));
        let mut changes = None;
        let call = Arc::new(self);
        let effort = hub.dispatcher.effort(&call.tool);
        loop {
            let working = call.share.turn(effort == Effort::Compiling).await;
            let (own, hub_of_turn) = (Arc::clone(&call), Arc::clone(&hub));
            let turn = move || {
                // Held by the work, which goes on where its caller has left.
                let _working = working;
                own.turn(&hub_of_turn, step, changes)
            };
            let (turn, receiver) = match effort {
                Effort::Brief => hub.threads.run_brief(turn).await?,
                Effort::Long | Effort::Compiling => tokio::task::spawn_blocking(turn).await?,
            };
            let mut waiting = match turn {
                None => return Ok(None),
                Some(Turn::Done(reply)) => return Ok(Some(reply)),
                Some(Turn::Waits(waiting)) => waiting,
            };
            changes = receiver;
            let signal = waiting.take_signal();
            tokio::select! {
                () = changed(changes.as_mut()) => {}
                () = signaled(signal) => {}
                () = tokio::time::sleep_until(waiting.until().into()) => {}
                () = call.given_up.cancelled() => {}
            }
            step = Step::GoOn(waiting);
        }
    }

    /// Makes a turn. Returns the changes that end the wait after it, too.
    fn turn(
        &self,
        hub: &Hub,
        step: Step,
        mut changes: Option<Receiver<()>>,
    ) -> (Option<Turn>, Option<Receiver<()>>) {
        let dispatcher = &hub.dispatcher;
        let began = Instant::now();
        let cancelled = || self.given_up.is_cancelled();
        let progress = |share: f64, text: &str| {
            if let Some(reports) = &self.reports {
                // The receiver may have been dropped.
                drop(reports.send((share, text.to_owned())));
            }
        };
        let ctx = dispatcher.ctx(&self.caller);
        let ctx = ctx.with_progress(&cancelled, &progress);
        // Whatever changes from here on ends the next wait.
        if let Some(changes) = &mut changes {
            changes.mark_unchanged();
        }
        let turn = match step {
            Step::Begin(arguments) if self.is_own => {
                dispatcher.begin_own(&ctx, &self.tool, arguments)
            }
            Step::Begin(arguments) => dispatcher.begin(&ctx, &self.tool, arguments),
            Step::GoOn(waiting) => dispatcher.resume(&ctx, *waiting),
        };
        let turn = match turn {
            Some(Turn::Waits(waiting)) if changes.is_none() && waiting.run().is_some() => {
                changes = waiting.run().map(|run| hub.publisher.watch(run));
                // The run may have changed before it was watched.
                dispatcher.resume(&ctx, *waiting)
            }
            turn => turn,
        };
        if let Some(Turn::Done(reply)) = &turn {
            let code = reply.code.as_deref();
            hub.metrics
                .count_call(&self.tool, code, self.began.elapsed());
            self.report(hub, reply);
        }
        let took = began.elapsed();
        if took >= SLOW {
            let took_ms = took.as_millis();
            tracing::warn!(request = %self.id, tool = self.tool, took_ms, "slow call");
        }
        (turn, changes)
    }
}

impl Call {
    /// Logs a reply, and reports what it says of the store.
    fn report(&self, hub: &Hub, reply: &Reply) {
        let took_ms = self.began.elapsed().as_millis();
        let code = reply.code.as_deref();
        tracing::debug!(request = %self.id, tool = self.tool, code, took_ms, "call");
        let Some(code) = code else {
            return hub.health.report_reached();
        };
        if !FAILURES.contains(&code) {
            return;
        }
        let cause = failure_cause(reply);
        if code == "store_failed" {
            hub.health.report_lost(cause);
        }
        tracing::error!(request = %self.id, tool = self.tool, code, cause, "call failed");
    }
}

/// Returns the message of a reply that failed; other systems' tools have shapes of their own.
pub(crate) fn failure_cause(reply: &Reply) -> &str {
    let message = reply.answer.pointer("/error/message");
    message.and_then(Value::as_str).unwrap_or(&reply.text)
}

/// Waits for a signal, for ever if there is none.
async fn signaled(signal: Option<Signal>) {
    match signal {
        Some(signal) => signal.await,
        None => std::future::pending().await,
    }
}

/// Waits for the next change, for ever if nothing is watched.
async fn changed(changes: Option<&mut Receiver<()>>) {
    let Some(changes) = changes else {
        return std::future::pending().await;
    };
    if changes.changed().await.is_err() {
        // The publisher has gone: time ends the wait.
        std::future::pending().await
    }
}
