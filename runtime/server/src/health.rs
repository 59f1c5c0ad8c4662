//! The store's health, as calls and checks have found it.
//!
//! ```text
//! calls, polls of changes, counts ─→ report_lost, report_reached ─→ one log line for each change
//! GET /readyz ─→ check: asks the store, at most once a second
//! ```
//!
//! What to rely on: a cause has no secret that the environment or its shape gives away; a store that doesn't answer keeps
//! one thread busy, however many ask.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use statemark_runs::{Redactor, Watermark};
use statemark_text::visible;
use statemark_tools::Dispatcher;
use tokio::sync::watch;

/// Time for which a check holds. Why: `/readyz` needs no token, and must not keep the store busy.
const FRESH: Duration = Duration::from_secs(1);

/// Longest time that a check waits for the store. Why: those who ask give up after some seconds.
const PATIENCE: Duration = Duration::from_secs(3);

/// The health of a store, shared by everything that uses it.
#[derive(Default)]
pub(crate) struct Health {
    is_lost: AtomicBool,
    checks: Mutex<Checks>,
}

/// The last check, and the one that runs.
#[derive(Default)]
struct Checks {
    last: Option<(Instant, Readiness)>,
    running: Option<watch::Receiver<Option<Readiness>>>,
}

/// The outcome of a check: ready, or the cause why not.
type Readiness = Result<(), String>;

impl Health {
    /// Reports whether the store was lost when it was used last.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Reports that the store has answered.
    pub(crate) fn report_reached(&self) {
        // A load is cheaper than a swap, and calls make it each time.
        if self.is_lost() && self.is_lost.swap(false, Ordering::Relaxed) {
            tracing::info!("the store is reachable again");
        }
    }

    /// Reports that the store hasn't answered, and why.
    pub(crate) fn report_lost(&self, cause: &str) {
        if !self.is_lost.swap(true, Ordering::Relaxed) {
            tracing::error!(cause, "the store can't be reached");
        }
    }

    /// Asks the store whether it answers, unless that was just done.
    ///
    /// # Errors
    ///
    /// It doesn't; the cause is safe to show.
    pub(crate) async fn check(self: &Arc<Self>, dispatcher: &Arc<Dispatcher>) -> Readiness {
        let mut running = match self.begin_check(dispatcher) {
            Ok(known) => return known,
            Err(running) => running,
        };
        let answer = async {
            let answered = running.wait_for(Option::is_some).await;
            answered.ok().and_then(|it| it.clone())
        };
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Some(readiness)) => readiness,
            Ok(None) => Err("the check failed".to_owned()),
            Err(_) => {
                let cause = format!("the store hasn't answered for {} s", PATIENCE.as_secs());
                self.report_lost(&cause);
                Err(cause)
            }
        }
    }

    /// Returns the last check if it still holds, else the one that runs, which may begin now.
    fn begin_check(
        self: &Arc<Self>,
        dispatcher: &Arc<Dispatcher>,
    ) -> Result<Readiness, watch::Receiver<Option<Readiness>>> {
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, last)) = &checks.last
            && when.elapsed() < FRESH
        {
            return Ok(last.clone());
        }
        if let Some(running) = &checks.running {
            return Err(running.clone());
        }
        let (sender, receiver) = watch::channel(None);
        checks.running = Some(receiver.clone());
        let (health, dispatcher) = (Arc::clone(self), Arc::clone(dispatcher));
        tokio::task::spawn_blocking(move || {
            let asked = dispatcher.runs().store().changes(&Watermark::END);
            let readiness = asked
                .map(drop)
                .map_err(|error| redact_cause(&error.to_string()));
            match &readiness {
                Ok(()) => health.report_reached(),
                Err(cause) => health.report_lost(cause),
            }
            let mut checks = health.checks.lock().unwrap_or_else(PoisonError::into_inner);
            checks.last = Some((Instant::now(), readiness.clone()));
            checks.running = None;
            drop(checks);
            sender.send_replace(Some(readiness));
        });
        Err(receiver)
    }
}

/// Returns a cause that anybody may read.
fn redact_cause(cause: &str) -> String {
    let redacted = Redactor::from_environment(&[])
        .redact_str(cause)
        .into_owned();
    visible::line(&redacted).into_owned()
}
