//! `GET /api/stream`: what happens, as server-sent events, for as long as somebody reads.
//!
//! Of one run (`run_id`) each record is an event: `stream/one.rs`. Without a run, each event says of a run that has changed
//! where it is now: `stream/all.rs`. Events have ids, so that a reader who was cut off goes on where it was: browsers say
//! `Last-Event-ID` by themselves; others can say `after_seq` of one run, `after` of all.

mod all;
mod one;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use statemark_runs::{RunId, Watermark};
use tokio::sync::broadcast::Receiver;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::api::{Api, not_offered, status_of};
use super::auth::refused;
use crate::caller::Caller;
use crate::dispatch::Dispatcher;
use crate::notifications::Notification;
use crate::problem::Problem;

/// Most events that wait for a slow reader, which holds up its own stream alone.
const MAX_WAITING: usize = 64;

/// Time between two signs of life of a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The query of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    run_id: Option<String>,
    after_seq: Option<u64>,
    after: Option<u64>,
}

type Sender = mpsc::Sender<Result<Event, Infallible>>;

/// The beginning of a stream: its run with the last record, and the notifications from a mark on.
struct Begin {
    run: Option<(RunId, u64)>,
    notifications: Receiver<Notification>,
    mark: Watermark,
}

/// The position of a reader.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// Nowhere: it is here for the first time.
    Nowhere,
    /// At the event with this id.
    At(u64),
    /// At an event with an id that isn't from here.
    Elsewhere,
}

impl Last {
    fn from_headers(headers: &HeaderMap) -> Self {
        let Some(given) = headers.get("last-event-id").filter(|it| !it.is_empty()) else {
            return Self::Nowhere;
        };
        let number = given.to_str().ok().and_then(|it| it.parse().ok());
        number.map_or(Self::Elsewhere, Self::At)
    }

    /// Returns it, or the position of an argument if the header has none.
    fn or(self, argument: Option<u64>) -> Self {
        match (self, argument) {
            (Self::Nowhere | Self::Elsewhere, Some(argument)) => Self::At(argument),
            _ => self,
        }
    }
}

pub(super) async fn stream(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    asked: Result<Query<StreamQuery>, QueryRejection>,
) -> Response {
    let Query(asked) = match asked {
        Ok(asked) => asked,
        Err(rejection) => {
            let problem = Problem::new("invalid_arguments", rejection.body_text());
            return refused(rejection.status(), problem);
        }
    };
    let last = Last::from_headers(&headers)
        .or(asked.after_seq)
        .or(asked.after);
    let (dispatcher, seen) = (Arc::clone(&api.dispatcher), caller.clone());
    let begun = tokio::task::spawn_blocking(move || begin(&dispatcher, &seen, &asked));
    let Begin {
        run,
        notifications,
        mark,
    } = match begun.await {
        Ok(Ok(begun)) => begun,
        Ok(Err(problem)) => return refused(status_of(&problem.code), problem),
        Err(error) => {
            let problem = Problem::new("failed", error.to_string());
            return refused(StatusCode::INTERNAL_SERVER_ERROR, problem);
        }
    };
    let (sender, events) = mpsc::channel(MAX_WAITING);
    tokio::spawn(async move {
        let work = async {
            match run {
                Some((run, end)) => {
                    let after = if let Last::At(seq) = last { seq } else { end };
                    if last != Last::Elsewhere || one::send_missed(end, &sender).await {
                        one::send_records(&api.dispatcher, run, after, notifications, &sender)
                            .await;
                    }
                }
                None => {
                    let all = all::Reader::new(api.dispatcher, caller, sender.clone(), mark);
                    all.send(notifications, last).await;
                }
            }
        };
        tokio::select! {
            () = work => {}
            () = api.stop.cancelled() => {}
            () = sender.closed() => {}
        }
    });
    let alive = KeepAlive::new().interval(KEEP_ALIVE);
    Sse::new(ReceiverStream::new(events))
        .keep_alive(alive)
        .into_response()
}

/// Checks that the caller may read what it asks for, and subscribes.
fn begin(
    dispatcher: &Arc<Dispatcher>,
    caller: &Caller,
    asked: &StreamQuery,
) -> Result<Begin, Problem> {
    let ctx = dispatcher.ctx(caller);
    let run = match &asked.run_id {
        Some(named) => Some(ctx.resolve_run(Some(named))?),
        None => ctx.bound_run().map(|_| ctx.resolve_run(None)).transpose()?,
    };
    if run.is_some() && asked.after.is_some() {
        let why = "is of the stream of all runs; one run goes on behind `after_seq`";
        return Err(Problem::argument("after", why));
    }
    if run.is_none() && asked.after_seq.is_some() {
        let why = "is of the stream of one run, named by `run_id`; all go on behind `after`";
        return Err(Problem::argument("after_seq", why));
    }
    // A stream has what a tool would answer.
    let tool = if run.is_some() {
        "get_events"
    } else {
        "list_runs"
    };
    if dispatcher.own_tool(tool).is_none() {
        return Err(not_offered(tool));
    }
    let run = match run {
        Some(run) => {
            let end = dispatcher.runs().store().head(&run)?.seq;
            Some((run, end))
        }
        None => None,
    };
    let (notifications, mark) = dispatcher.publisher().subscribe();
    Ok(Begin {
        run,
        notifications,
        mark,
    })
}
