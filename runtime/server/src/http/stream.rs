//! `GET /api/stream`: what happens, as server-sent events, for as long as somebody reads.
//!
//! Of one run (`run_id`) each record is an event whose id is its place, so that a reader who was cut off goes on where it
//! was: browsers say `Last-Event-ID` by themselves, others say `after_seq`. Without a run, each event says of a run that
//! has changed where it is now; whoever comes back looks at the list first, as it would have to anyway.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use statemark_store::RunId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::api::{Api, not_offered, status_of};
use super::door::refused;
use crate::call::Call;
use crate::caller::Caller;
use crate::desk::Desk;
use crate::news::{self, News};
use crate::problem::Problem;

/// How many events wait for a slow reader, which holds up its own stream and nobody else's.
const WAITING: usize = 64;

/// Records that are read at once.
const PAGE: usize = 100;

/// How often a silent stream shows that it is there.
const ALIVE: Duration = Duration::from_secs(15);

/// What is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    run_id: Option<String>,
    after_seq: Option<u64>,
}

type Sender = mpsc::Sender<Result<Event, Infallible>>;

/// Whether anybody reads on.
#[derive(Clone, Copy, PartialEq)]
enum Reader {
    There,
    Gone,
}

pub(super) async fn stream(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    let last = headers.get("last-event-id").and_then(|it| it.to_str().ok());
    let last = last.and_then(|it| it.parse().ok());
    let named = asked.run_id.clone();
    let desk = Arc::clone(&api.desk);
    let seen = caller.clone();
    let checked = tokio::task::spawn_blocking(move || {
        let call = Call::quiet(&desk, &seen);
        let run = match &named {
            Some(named) => Some(call.run(Some(named))?),
            None => call.bound().map(|_| call.run(None)).transpose()?,
        };
        // A stream tells what a tool could be asked for.
        let tool = if run.is_some() {
            "get_events"
        } else {
            "list_runs"
        };
        if desk.own(tool).is_none() {
            return Err(not_offered(tool));
        }
        let head = run.as_ref().map(|run| desk.runs().store().head(run));
        let end = head.transpose()?.map(|it| it.seq);
        Ok::<_, Problem>((run, end, news::listen(&desk)))
    });
    let (run, end, news) = match checked.await {
        Ok(Ok(checked)) => checked,
        Ok(Err(problem)) => return refused(status_of(&problem.code), problem),
        Err(error) => {
            let problem = Problem::new("failed", error.to_string());
            return refused(StatusCode::INTERNAL_SERVER_ERROR, problem);
        }
    };
    let (tell, told) = mpsc::channel(WAITING);
    let after = last.or(asked.after_seq).or(end).unwrap_or_default();
    tokio::spawn(async move {
        let work = async {
            match run {
                Some(run) => one(&api.desk, run, after, news, &tell).await,
                None => all(&api.desk, &caller, news, &tell).await,
            }
        };
        tokio::select! {
            () = work => {}
            () = api.stop.cancelled() => {}
            () = tell.closed() => {}
        }
    });
    let alive = KeepAlive::new().interval(ALIVE);
    Sse::new(ReceiverStream::new(told))
        .keep_alive(alive)
        .into_response()
}

/// The records of one run, from behind a place on.
async fn one(
    desk: &Arc<Desk>,
    run: RunId,
    mut after: u64,
    mut news: tokio::sync::broadcast::Receiver<News>,
    tell: &Sender,
) {
    loop {
        loop {
            let (desk, own) = (Arc::clone(desk), run.clone());
            let read = move || desk.runs().store().records(&own, after, PAGE);
            let Ok(Ok(records)) = tokio::task::spawn_blocking(read).await else {
                return;
            };
            let Some(last) = records.last() else { break };
            after = last.seq;
            for record in &records {
                let body: serde_json::Value =
                    serde_json::from_str(&record.body).unwrap_or_default();
                let event = Event::default()
                    .event("record")
                    .id(record.seq.to_string())
                    .data(
                        json!({
                            "run_id": run,
                            "seq": record.seq,
                            "time": record.time,
                            "kind": record.kind,
                            "actor": record.actor,
                            "body": body,
                        })
                        .to_string(),
                    );
                if tell.send(Ok(event)).await.is_err() {
                    return;
                }
            }
        }
        loop {
            match news.recv().await {
                Ok(News::Run(changed)) if changed == run => break,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return,
            }
        }
    }
}

/// Where each run is that changes.
async fn all(
    desk: &Arc<Desk>,
    caller: &Caller,
    mut news: tokio::sync::broadcast::Receiver<News>,
    tell: &Sender,
) {
    loop {
        let reader = match news.recv().await {
            Ok(News::Run(run)) => changed(desk, caller, run, tell).await,
            Ok(News::Workflows) => said(tell, "workflows", json!({})).await,
            // Whoever has missed something looks at the list.
            Err(RecvError::Lagged(missed)) => said(tell, "missed", json!({"events": missed})).await,
            Err(RecvError::Closed) => return,
        };
        if reader == Reader::Gone {
            return;
        }
    }
}

async fn changed(desk: &Arc<Desk>, caller: &Caller, run: RunId, tell: &Sender) -> Reader {
    let (desk, caller) = (Arc::clone(desk), caller.clone());
    let look = move || {
        Call::quiet(&desk, &caller).run(Some(run.as_str())).ok()?;
        desk.runs().store().head(&run).ok()
    };
    let Ok(Some(head)) = tokio::task::spawn_blocking(look).await else {
        return Reader::There;
    };
    let summary = head.summary;
    let value = json!({
        "run_id": head.run,
        "seq": head.seq,
        "workflow": summary.workflow,
        "status": summary.status,
        "states": summary.leaves,
        "requests": summary.requests,
    });
    said(tell, "run", value).await
}

async fn said(tell: &Sender, name: &str, value: serde_json::Value) -> Reader {
    let event = Event::default().event(name).data(value.to_string());
    match tell.send(Ok(event)).await {
        Ok(()) => Reader::There,
        Err(_) => Reader::Gone,
    }
}
