//! The API: the tools of ours by paths and verbs, for programs that don't speak MCP.
//!
//! | request | tool |
//! |---|---|
//! | `GET /` | none: an index of these paths |
//! | `GET /workflows`, `GET /workflows/ID` | `list_workflows`, `describe_workflow` |
//! | `GET /runs`, `POST /runs` | `list_runs`, `start_run` |
//! | `GET /runs/ID`, `…/events`, `…/timeline`, `…/artifacts`, `…/requests` | `get_run`, `get_events`, `get_timeline`, `get_artifact`, `list_requests` |
//! | `POST /runs/ID/events` | `send_event` |
//! | `POST /requests/ID` | `resolve_request` |
//! | `GET /stream` | server-sent events: `http/stream.rs` |
//!
//! Arguments come from the query or from the body, which is a JSON object; what the path names can't be said otherwise there.
//! The answer is the envelope that a tool gives, with a status by its code. The same policy holds as for tools.

use std::sync::Arc;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::auth::refused;
use super::stream;
use crate::caller::Caller;
use crate::dispatch::Dispatcher;
use crate::problem::Problem;

/// The paths, as the index tells them: verbs, path, and what it is in a few words.
const PATHS: [(&str, &str, &str); 11] = [
    ("GET", "/workflows", "the workflows"),
    (
        "GET",
        "/workflows/{id}",
        "one of them; `format` may be json, mermaid or markdown",
    ),
    ("GET, POST", "/runs", "the runs; begins one"),
    ("GET", "/runs/{id}", "a run, and what is next"),
    (
        "GET, POST",
        "/runs/{id}/events",
        "its records; sends it an event",
    ),
    (
        "GET",
        "/runs/{id}/timeline",
        "its branches, visits and checkpoints",
    ),
    ("GET", "/runs/{id}/artifacts", "what was handed in"),
    ("GET", "/runs/{id}/requests", "what people are asked"),
    ("POST", "/requests/{id}", "a person decides"),
    ("GET", "/stream", "what changes, as server-sent events"),
    ("POST", "/mcp", "the Model Context Protocol, beside the API"),
];

/// What every request is answered from.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) dispatcher: Arc<Dispatcher>,
    /// Ends streams.
    pub(super) stop: CancellationToken,
}

type Pairs = Query<Vec<(String, String)>>;
type Given = Result<Json<Map<String, Value>>, JsonRejection>;

/// The paths below `/api`.
pub(super) fn router(dispatcher: Arc<Dispatcher>, stop: CancellationToken) -> Router {
    let read = |tool, named| {
        get(move |api, caller, path, query| read(tool, named, (api, caller, path, query)))
    };
    let write = |tool, named| {
        post(move |api, caller, path, given| write(tool, named, (api, caller, path, given)))
    };
    let runs = get(|api, caller, query| list("list_runs", (api, caller, query))).post(start);
    Router::new()
        .route("/", get(index))
        .route(
            "/workflows",
            get(|api, caller, query| list("list_workflows", (api, caller, query))),
        )
        .route("/workflows/{id}", read("describe_workflow", "workflow"))
        .route("/runs", runs)
        .route("/runs/{id}", read("get_run", "run_id"))
        .route("/runs/{id}/artifacts", read("get_artifact", "run_id"))
        .route(
            "/runs/{id}/events",
            read("get_events", "run_id").merge(write("send_event", "run_id")),
        )
        .route("/runs/{id}/requests", read("list_requests", "run_id"))
        .route("/runs/{id}/timeline", read("get_timeline", "run_id"))
        .route("/requests/{id}", write("resolve_request", "request_id"))
        .route("/stream", get(stream::stream))
        .fallback(|| async {
            let message = "the API has no such path; `GET /api` lists those that it has";
            let problem = Problem::new("unknown_path", message);
            refused(StatusCode::NOT_FOUND, problem)
        })
        .method_not_allowed_fallback(|| async {
            let problem = Problem::new("unknown_method", "the path has no such method");
            refused(StatusCode::METHOD_NOT_ALLOWED, problem)
        })
        .with_state(Api { dispatcher, stop })
}

/// What there is.
pub(super) async fn index() -> Response {
    let paths = PATHS.iter().map(|(verbs, path, what)| {
        let at = if *path == "/mcp" { "" } else { "/api" };
        json!({"methods": verbs.split(", ").collect::<Vec<_>>(), "path": format!("{at}{path}"), "what": what})
    });
    let paths: Vec<Value> = paths.collect();
    Json(json!({"ok": true, "data": {"paths": paths}})).into_response()
}

async fn list(
    tool: &'static str,
    (State(api), Extension(caller), Query(pairs)): (State<Api>, Extension<Caller>, Pairs),
) -> Response {
    asked(api, caller, tool, pairs, None).await
}

async fn read(
    tool: &'static str,
    named: &'static str,
    (State(api), Extension(caller), Path(id), Query(pairs)): (
        State<Api>,
        Extension<Caller>,
        Path<String>,
        Pairs,
    ),
) -> Response {
    asked(api, caller, tool, pairs, Some((named, id))).await
}

async fn asked(
    api: Api,
    caller: Caller,
    tool: &'static str,
    pairs: Vec<(String, String)>,
    named: Option<(&'static str, String)>,
) -> Response {
    let mut arguments = match api.dispatcher.own_tool(tool) {
        Some(known) => typed(pairs, &known.input),
        None => Map::new(),
    };
    if let Some((name, id)) = named {
        arguments.insert(name.to_owned(), json!(id));
    }
    called(api, caller, tool, arguments, StatusCode::OK).await
}

async fn start(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    given: Given,
) -> Response {
    match given {
        Ok(Json(arguments)) => {
            called(api, caller, "start_run", arguments, StatusCode::CREATED).await
        }
        Err(rejection) => malformed(&rejection),
    }
}

async fn write(
    tool: &'static str,
    named: &'static str,
    (State(api), Extension(caller), Path(id), given): (
        State<Api>,
        Extension<Caller>,
        Path<String>,
        Given,
    ),
) -> Response {
    match given {
        Ok(Json(mut arguments)) => {
            arguments.insert(named.to_owned(), json!(id));
            called(api, caller, tool, arguments, StatusCode::OK).await
        }
        Err(rejection) => malformed(&rejection),
    }
}

fn malformed(rejection: &JsonRejection) -> Response {
    if let JsonRejection::JsonDataError(_) = rejection {
        // It is JSON, and no object.
        let what = "expected an object, as the body of the request";
        return refused(StatusCode::BAD_REQUEST, Problem::argument("", what));
    }
    let status = rejection.status();
    let code = match status {
        StatusCode::PAYLOAD_TOO_LARGE => "too_large",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "not_json",
        _ => "invalid_arguments",
    };
    refused(status, Problem::new(code, rejection.body_text()))
}

/// Calls a tool where that may take its time.
async fn called(
    api: Api,
    caller: Caller,
    tool: &'static str,
    arguments: Map<String, Value>,
    done: StatusCode,
) -> Response {
    let work = tokio::task::spawn_blocking(move || {
        api.dispatcher
            .call_own(&api.dispatcher.ctx(&caller), tool, arguments)
    });
    match work.await {
        Ok(Some((answer, false))) => (done, Json(answer)).into_response(),
        Ok(Some((answer, true))) => {
            let code = answer.pointer("/error/code").and_then(Value::as_str);
            (status_of(code.unwrap_or_default()), Json(answer)).into_response()
        }
        Ok(None) => {
            let problem = not_offered(tool);
            refused(status_of(&problem.code), problem)
        }
        Err(error) => {
            let problem = Problem::new("failed", error.to_string());
            refused(StatusCode::INTERNAL_SERVER_ERROR, problem)
        }
    }
}

/// A path leads to a tool that the server's options leave out.
pub(super) fn not_offered(tool: &str) -> Problem {
    let message = format!("this server doesn't offer `{tool}`");
    Problem::new("not_offered", message)
}

/// The status of a problem; what a run refuses is a conflict with where it is.
pub(super) fn status_of(code: &str) -> StatusCode {
    match code {
        "invalid_arguments" | "invalid_request" | "bad_data" => StatusCode::BAD_REQUEST,
        "read_only" | "other_run" | "needs_person" | "not_a_person" | "not_granted"
        | "disallowed" => StatusCode::FORBIDDEN,
        "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
        "busy" => StatusCode::SERVICE_UNAVAILABLE,
        "store_failed" | "corrupt" | "bad_table" | "failed" | "step_failed" => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        "no_run" | "not_offered" => StatusCode::NOT_FOUND,
        code if code.starts_with("unknown_") => StatusCode::NOT_FOUND,
        _ => StatusCode::CONFLICT,
    }
}

/// What a query says, as the tool's schema wants it: numbers, truths, and lists with commas.
fn typed(pairs: Vec<(String, String)>, schema: &Map<String, Value>) -> Map<String, Value> {
    let properties = schema.get("properties");
    let kind = |name: &str| {
        let property = properties.and_then(|it| it.get(name));
        property
            .and_then(|it| it.get("type"))
            .and_then(Value::as_str)
    };
    let typed = pairs.into_iter().map(|(name, text)| {
        let value = match kind(&name) {
            Some("integer" | "number" | "boolean" | "object") => {
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }
            Some("array") => json!(text.split(',').collect::<Vec<_>>()),
            _ => Value::String(text),
        };
        (name, value)
    });
    typed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_becomes_arguments() {
        let schema = json!({"properties": {
            "limit": {"type": "integer"},
            "resume": {"type": "boolean"},
            "kinds": {"type": "array"},
            "query": {"type": "string"},
        }});
        let pairs = [
            ("limit", "5"),
            ("resume", "true"),
            ("kinds", "event,refused"),
            ("query", "7"),
            ("other", "x"),
        ];
        let pairs = pairs.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(
            Value::Object(typed(pairs.to_vec(), schema.as_object().unwrap())),
            json!({"limit": 5, "resume": true, "kinds": ["event", "refused"], "query": "7", "other": "x"})
        );
        let wrong = vec![("limit".to_owned(), "many".to_owned())];
        assert_eq!(
            Value::Object(typed(wrong, schema.as_object().unwrap())),
            json!({"limit": "many"})
        );
    }
}
