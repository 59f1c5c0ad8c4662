//! `GET /api/stream`: changes, until the reader leaves.
//!
//! They are server-sent events, or messages of a WebSocket if the reader asks for one.
//!
//! A stream of one run (`run_id`) has an event for each record: `stream/one.rs`. A stream of all runs has an event for
//! each run that has changed, with its state: `stream/all.rs`. Events have ids, so that a reader who was cut off
//! continues after the last one: browsers send `Last-Event-ID`; others say `after_seq` of one run, `after` of all.
//!
//! A message of a WebSocket is an event as JSON: `{event, id, data}` (`stream/socket.rs`). What the reader says is ignored.

mod all;
mod one;
mod socket;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use statemark_runs::{RunId, Watermark};
use statemark_tools::{Caller, Problem};
use tokio::sync::broadcast::Receiver;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::api::{Api, not_offered, status_of};
use super::middleware::{Standing, refuse};
use crate::hub::Hub;
use crate::notifications::{Interest, Notification};

/// Most events that wait for a slow reader, who delays no other stream.
const MAX_PENDING: usize = 64;

/// Longest silence of a stream without a sign of life.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The query of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    run_id: Option<String>,
    after_seq: Option<u64>,
    after: Option<u64>,
}

type Sender = mpsc::Sender<Update>;

/// An event of a stream.
struct Update {
    /// Its name; none for an id alone.
    name: Option<&'static str>,
    /// The position of a reader that has received it.
    id: Option<String>,
    /// JSON.
    data: String,
}

impl Update {
    fn into_sse(self) -> Event {
        let mut event = Event::default();
        if let Some(id) = self.id {
            event = event.id(id);
        }
        match self.name {
            Some(name) => event.event(name).data(self.data),
            None => event,
        }
    }
}

/// The beginning of a stream: its run with its last record, and the notifications after a mark.
struct Begin {
    run: Option<(RunId, u64)>,
    notifications: Receiver<Notification>,
    interest: Interest,
    mark: Watermark,
}

/// The position of a reader who comes back.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// No position: the reader is new.
    Nowhere,
    /// The event with this id.
    At(u64),
    /// An event with an id that isn't from here.
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

    /// Replaces a position that the header doesn't name by an argument's.
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
    Extension(standing): Extension<Standing>,
    headers: HeaderMap,
    query: Result<Query<StreamQuery>, QueryRejection>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match (upgrade, headers.contains_key(header::UPGRADE)) {
        (Ok(upgrade), _) => Some(upgrade),
        (Err(_), false) => None,
        (Err(rejection), true) => {
            let problem = Problem::new("invalid_arguments", rejection.body_text());
            return refuse(rejection.status(), problem);
        }
    };
    let Query(query) = match query {
        Ok(query) => query,
        Err(rejection) => {
            let problem = Problem::new("invalid_arguments", rejection.body_text());
            return refuse(rejection.status(), problem);
        }
    };
    let last = Last::from_headers(&headers)
        .or(query.after_seq)
        .or(query.after);
    let (hub, reader) = (Arc::clone(&api.hub), caller.clone());
    let began = tokio::task::spawn_blocking(move || begin(&hub, &reader, &query));
    let Begin {
        run,
        notifications,
        interest,
        mark,
    } = match began.await {
        Ok(Ok(begin)) => begin,
        Ok(Err(problem)) => return refuse(status_of(&problem.code), problem),
        Err(error) => {
            let problem = Problem::new("failed", error.to_string());
            return refuse(StatusCode::INTERNAL_SERVER_ERROR, problem);
        }
    };
    let (sender, receiver) = mpsc::channel(MAX_PENDING);
    tokio::spawn(async move {
        let _interest = interest;
        let dispatcher = Arc::clone(&api.hub.dispatcher);
        let work = async {
            match run {
                Some((run, end)) => {
                    let after = if let Last::At(seq) = last { seq } else { end };
                    if last != Last::Elsewhere || one::send_missed(end, &sender).await {
                        one::send_records(&dispatcher, run, after, notifications, &sender).await;
                    }
                }
                None => {
                    let all = all::All::new(Arc::clone(&api.hub), caller, sender.clone(), mark);
                    all.send_all(notifications, last).await;
                }
            }
        };
        tokio::select! {
            () = work => {}
            () = api.stop.cancelled() => {}
            () = sender.closed() => {}
        }
    });
    if let Some(upgrade) = upgrade {
        return socket::speak(upgrade, receiver, standing);
    }
    let alive = KeepAlive::new().interval(KEEP_ALIVE);
    let events = ReceiverStream::new(receiver).map(|update| Ok::<_, Infallible>(update.into_sse()));
    Sse::new(events).keep_alive(alive).into_response()
}

/// Checks that the caller may read the stream, and subscribes to changes.
fn begin(hub: &Hub, caller: &Caller, query: &StreamQuery) -> Result<Begin, Problem> {
    let dispatcher = &hub.dispatcher;
    let ctx = dispatcher.ctx(caller);
    let run = match &query.run_id {
        Some(named) => Some(ctx.resolve_run(Some(named))?),
        None => ctx.bound_run().map(|_| ctx.resolve_run(None)).transpose()?,
    };
    if run.is_some() && query.after.is_some() {
        let why = "it is for the stream of all runs; use `after_seq` for one run";
        return Err(Problem::argument("after", why));
    }
    if run.is_none() && query.after_seq.is_some() {
        let why = "it is for the stream of one run (`run_id`); use `after` for all";
        return Err(Problem::argument("after_seq", why));
    }
    // A stream gives what a tool would.
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
    let notifications = hub.publisher.subscribe();
    let (interest, mark) = hub.publisher.take_interest();
    Ok(Begin {
        run,
        notifications,
        interest,
        mark,
    })
}
