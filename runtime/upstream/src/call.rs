//! A call of a tool that is under way.
//!
//! It takes no thread of its caller's, is given up when its caller gives up, and is heard of meanwhile.
//!
//! What to rely on: a server is told of each call that nobody waits for any more; of what it reports of a call, the
//! caller hears the latest, in a bounded text; a report never makes a call last longer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressNotificationParam,
    ProgressToken, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};
use statemark_text::shorten::shorten;
use statemark_text::visible;
use statemark_tools::{Ctx, Outcome, Problem};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::server::Server;

/// Time that a call has beyond that of its server, whose own time-out is to be the one reported.
const MARGIN: Duration = Duration::from_secs(5);

/// Longest message of a report that is passed on.
///
/// Unit: characters. Why: it is a line of a client's status.
const MAX_REPORT: usize = 300;

/// The latest report of a server on a call, until somebody has heard it.
#[derive(Default)]
pub(crate) struct Progress {
    latest: Mutex<Option<ProgressNotificationParam>>,
    changed: Arc<Notify>,
}

impl Progress {
    fn note(&self, report: ProgressNotificationParam) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        self.changed.notify_one();
    }

    /// Passes the latest report on.
    ///
    /// `spent` is the share of the call's time that is over, for a report without a total.
    fn pass_on(&self, ctx: &Ctx<'_>, spent: f64) {
        let report = self
            .latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(report) = report else {
            return;
        };
        let share = match report.total {
            Some(total) if total > 0.0 && report.progress.is_finite() => report.progress / total,
            _ => spent,
        };
        let message = report.message.unwrap_or_default();
        let message = shorten(&visible::line(&message), MAX_REPORT);
        ctx.report_progress(share.clamp(0.0, 1.0), &message);
    }
}

/// The listeners to the reports of a connection, by the token of the call.
#[derive(Clone, Default)]
pub(crate) struct Reports(Arc<Mutex<HashMap<ProgressToken, Arc<Progress>>>>);

impl Reports {
    /// Hands a report to whoever waits for that call.
    ///
    /// A server may report on what is over: nobody hears that.
    pub(crate) fn hear(&self, report: ProgressNotificationParam) {
        let progress = self.lock().get(&report.progress_token).cloned();
        if let Some(progress) = progress {
            progress.note(report);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, Arc<Progress>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection over which calls go.
pub(crate) struct Line {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) reports: Reports,
    pub(crate) handle: Handle,
}

impl Line {
    /// Sends a call and waits for its answer. The server is told if the future is dropped before.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        progress: &Arc<Progress>,
    ) -> Result<ServerResult, ServiceError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_cancellable_request(request, options).await?;
        // The library chooses the token as it sends: a report that comes before this line is lost, the next isn't.
        let token = sent.progress_token.clone();
        self.reports
            .lock()
            .insert(token.clone(), Arc::clone(progress));
        let mut sent = Sent {
            request: Some(sent),
            token,
            line: self,
        };
        let Some(request) = &mut sent.request else {
            return Err(ServiceError::TransportClosed);
        };
        let answer = (&mut request.rx).await;
        sent.request = None;
        answer.map_err(|_| ServiceError::TransportClosed)?
    }
}

/// A call whose answer hasn't come.
struct Sent<'l> {
    /// The request; none once it is answered.
    request: Option<RequestHandle<RoleClient>>,
    token: ProgressToken,
    line: &'l Line,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        self.line.reports.lock().remove(&self.token);
        if let Some(request) = self.request.take() {
            self.line.handle.spawn(request.cancel(None));
        }
    }
}

/// A call that is under way, on no thread of its caller's.
pub(crate) struct Call {
    slot: Mutex<Option<Outcome>>,
    progress: Arc<Progress>,
    began: Instant,
    limit: Duration,
    task: Mutex<Option<AbortHandle>>,
}

impl Call {
    /// Begins a call of a tool by the name that its server has for it.
    pub(crate) fn begin(
        server: &Arc<Server>,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Arc<Self> {
        let limit = server.declared.call_limit() + server.declared.start_limit() + MARGIN;
        let call = Arc::new(Self {
            slot: Mutex::default(),
            progress: Arc::default(),
            began: Instant::now(),
            limit,
            task: Mutex::default(),
        });
        let (own, server, tool) = (Arc::clone(&call), Arc::clone(server), tool.to_owned());
        let task = server.handle.clone().spawn(async move {
            let outcome = server.call(&tool, arguments, &own.progress).await;
            *own.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            own.progress.changed.notify_one();
        });
        *call.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.abort_handle());
        call
    }

    /// Returns the outcome, or asks to be called again once there is one or the server has said something.
    pub(crate) fn outcome(self: Arc<Self>, ctx: &Ctx<'_>) -> Outcome {
        let outcome = self
            .slot
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(outcome) = outcome {
            return outcome;
        }
        let elapsed = self.began.elapsed();
        if ctx.is_cancelled() || elapsed >= self.limit {
            // The server is told that nobody waits any more.
            if let Some(task) = &*self.task.lock().unwrap_or_else(PoisonError::into_inner) {
                task.abort();
            }
            let (code, message) = if ctx.is_cancelled() {
                ("cancelled", "the call was cancelled")
            } else {
                ("upstream_timeout", "the server hasn't answered in time")
            };
            return Err(Problem::new(code, message));
        }
        let spent = elapsed.as_secs_f64() / self.limit.as_secs_f64();
        self.progress.pass_on(ctx, spent);
        let (changed, until) = (Arc::clone(&self.progress.changed), self.began + self.limit);
        let signal = Box::pin(async move { changed.notified().await });
        Err(ctx.wait_for(signal, until, move |ctx| self.outcome(ctx)))
    }
}
