//! The API: the tools of ours by paths and methods, for programs that don't speak MCP.
//!
//! Paths, methods and the index at `/` are made from the [`Route`]s that tools declare; only drawings, `/stream`
//! (`http/stream.rs`), `/me` and `/mcp` have none.
//!
//! Arguments come from the query or from the body, which is a JSON object; what the path names can't be said otherwise there.
//! The answer is the envelope that a tool gives, with a status by its code. The same policy holds as for tools.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Query, RawPathParams, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Json, Router};
use serde::Serialize;
use serde_json::{Map, Value, json};
use statemark_tools::{Address, Caller, Credential, Method, Problem, Route, own_tools};
use tokio_util::sync::CancellationToken;

use super::middleware::{Cause, refuse};
use crate::call::{Call, failure_cause};
use crate::hub::Hub;
use crate::limits::Share;
use crate::request_id::RequestId;
use crate::resource;

/// The state of the API's handlers.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) hub: Arc<Hub>,
    /// Ends streams.
    pub(super) stop: CancellationToken,
}

type Pairs = Query<Vec<(String, String)>>;
type Given = Result<Json<Map<String, Value>>, JsonRejection>;

/// Creates the router of the paths below `/api`; `stream` answers at `/stream`.
pub(super) fn router(stream: MethodRouter<Api>, hub: Arc<Hub>, stop: CancellationToken) -> Router {
    let mut router = Router::new().route("/", index());
    for (tool, route) in routes() {
        router = router.route(route.path, handler(tool, route));
    }
    for (path, _, address) in DRAWINGS {
        router = router.route(path, drawing(*address));
    }
    router
        .route("/stream", stream)
        .route("/me", get(describe_caller))
        .fallback(|| async {
            let message = "the API has no such path; `GET /api` lists those that it has";
            let problem = Problem::new("unknown_path", message);
            refuse(StatusCode::NOT_FOUND, problem)
        })
        .method_not_allowed_fallback(|| async {
            let problem = Problem::new("unknown_method", "the path has no such method");
            refuse(StatusCode::METHOD_NOT_ALLOWED, problem)
        })
        .with_state(Api { hub, stop })
}

/// The address of a drawing, by what a path names.
type DrawingAddress = fn(String) -> Result<Address, Problem>;

/// The paths of drawings: resources with addresses of their own, for pages.
const DRAWINGS: &[(&str, &str, DrawingAddress)] = &[
    (
        "/workflows/{workflow}/graph.svg",
        "a drawing of one of them",
        |id| Ok(Address::Drawing(id)),
    ),
    (
        "/runs/{run_id}/graph.svg",
        "a drawing of its workflow, with its way",
        |id| {
            let run = id
                .parse()
                .map_err(|error| Problem::argument("run_id", error))?;
            Ok(Address::RunDrawing(run))
        },
    ),
];

/// Creates the handler of a drawing.
fn drawing(address: DrawingAddress) -> MethodRouter<Api> {
    get(
        move |State(api): State<Api>,
              Extension(caller): Extension<Caller>,
              Extension(share): Extension<Share>,
              Path(id): Path<String>| async move {
            let working = share.turn(true).await;
            let read = tokio::task::spawn_blocking(move || {
                // Held by the work, which goes on where its caller has left.
                let _working = working;
                let dispatcher = &api.hub.dispatcher;
                resource::read(&dispatcher.ctx(&caller), &address(id)?)
            });
            match read.await {
                Ok(Ok(content)) => {
                    // Nothing in it is a script; a browser that opens it alone shall run none either.
                    let policy = "default-src 'none'; style-src 'unsafe-inline'";
                    let headers = [
                        (CONTENT_TYPE, content.media.as_str()),
                        (CONTENT_SECURITY_POLICY, policy),
                        (CACHE_CONTROL, "no-cache"),
                    ];
                    (headers, content.bytes).into_response()
                }
                Ok(Err(problem)) => refuse(status_of(&problem.code), problem),
                Err(error) => {
                    let problem = Problem::new("failed", error.to_string());
                    refuse(StatusCode::INTERNAL_SERVER_ERROR, problem)
                }
            }
        },
    )
}

/// Lists the routes of our own tools, each with its tool.
fn routes() -> impl Iterator<Item = (&'static str, Route)> {
    let tools = own_tools().into_iter();
    tools.flat_map(|tool| {
        let name = tool.own_name();
        let routes = tool.routes.iter();
        routes.filter_map(move |route| Some((name?, *route)))
    })
}

/// A path in the index of the API.
#[derive(Serialize)]
struct IndexedPath {
    methods: Vec<&'static str>,
    path: String,
    what: String,
}

/// Creates the handler that lists the paths.
pub(super) fn index<S: Clone + Send + Sync + 'static>() -> MethodRouter<S> {
    let mut paths: Vec<IndexedPath> = Vec::new();
    let fixed = [
        (
            "GET",
            "/api/stream",
            "what changes, as server-sent events or over a WebSocket",
        ),
        (
            "GET",
            "/api/me",
            "who the caller is: role, name, its only run",
        ),
        ("POST", "/mcp", "the Model Context Protocol, beside the API"),
    ];
    let routes = routes().map(|(_, route)| {
        let path = format!("/api{}", route.shown_path());
        (route.method.name(), path, route.summary)
    });
    let fixed = fixed.map(|(method, path, what)| (method, path.to_owned(), what));
    let drawings = DRAWINGS.iter();
    let drawings = drawings.map(|(path, what, _)| ("GET", format!("/api{path}"), *what));
    for (method, path, what) in routes.chain(drawings).chain(fixed) {
        match paths.iter_mut().find(|known| known.path == path) {
            Some(known) => {
                known.methods.push(method);
                known.what = format!("{}; {what}", known.what);
            }
            None => paths.push(IndexedPath {
                methods: vec![method],
                path,
                what: what.to_owned(),
            }),
        }
    }
    let index = json!({"ok": true, "data": {"paths": paths}});
    get(|| async move { Json(index) })
}

/// Tells a caller who it is, so that a page shows what it may do before it is refused.
async fn describe_caller(Extension(caller): Extension<Caller>) -> Json<Value> {
    let mut data = json!({
        "role": caller.actor.role,
        "has_token": !matches!(caller.credential, Credential::Nothing),
    });
    if let Value::Object(data) = &mut data {
        data.extend(caller.actor.name.map(|it| ("name".to_owned(), it.into())));
        data.extend(caller.run.map(|it| ("run_id".to_owned(), json!(it))));
    }
    Json(json!({"ok": true, "data": data}))
}

/// Creates the handler of a tool's route.
fn handler(tool: &'static str, route: Route) -> MethodRouter<Api> {
    match route.method {
        Method::Get => get(
            move |State(api): State<Api>,
                  Extension(id),
                  Extension(caller),
                  Extension(share),
                  params: RawPathParams,
                  Query(pairs): Pairs| async move {
                if let Some(name) = find_repeated(&pairs) {
                    let what = "it stands twice in the query; give it once, with commas between the items of a list";
                    let problem = Problem::argument(name, what);
                    return refuse(StatusCode::BAD_REQUEST, problem);
                }
                let arguments = match api.hub.dispatcher.own_tool(tool) {
                    Some(known) => typed(pairs, &known.input),
                    None => Map::new(),
                };
                let arguments = add_path_argument(&params, arguments);
                call(api, (id, caller, share), tool, arguments, StatusCode::OK).await
            },
        ),
        Method::Post | Method::Create => post(
            move |State(api): State<Api>,
                  Extension(id),
                  Extension(caller),
                  Extension(share),
                  params: RawPathParams,
                  given: Given| async move {
                let arguments = match given {
                    Ok(Json(arguments)) => add_path_argument(&params, arguments),
                    Err(rejection) => return malformed(&rejection),
                };
                let done = match route.method {
                    Method::Create => StatusCode::CREATED,
                    _ => StatusCode::OK,
                };
                call(api, (id, caller, share), tool, arguments, done).await
            },
        ),
    }
}

/// Adds the argument that the path names.
fn add_path_argument(
    params: &RawPathParams,
    mut arguments: Map<String, Value>,
) -> Map<String, Value> {
    for (name, value) in params {
        arguments.insert(name.to_owned(), Value::from(value));
    }
    arguments
}

fn malformed(rejection: &JsonRejection) -> Response {
    if let JsonRejection::JsonDataError(_) = rejection {
        // It is JSON, and no object.
        let what = "expected an object, as the body of the request";
        return refuse(StatusCode::BAD_REQUEST, Problem::argument("", what));
    }
    let status = rejection.status();
    let code = match status {
        StatusCode::PAYLOAD_TOO_LARGE => "too_large",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "not_json",
        _ => "invalid_arguments",
    };
    refuse(status, Problem::new(code, rejection.body_text()))
}

/// Calls a tool where that may take its time.
async fn call(
    api: Api,
    (id, caller, share): (RequestId, Caller, Share),
    tool: &'static str,
    arguments: Map<String, Value>,
    done: StatusCode,
) -> Response {
    // If the client leaves, this is dropped: a wait ends, and what a tool does goes on to its end.
    let call = Call {
        id,
        caller,
        share,
        tool: tool.to_owned(),
        arguments,
        is_own: true,
        began: Instant::now(),
        given_up: CancellationToken::new(),
        reports: None,
    };
    match call.answer(api.hub).await {
        Ok(Some(reply)) => {
            let status = reply.code.as_deref().map_or(done, status_of);
            let cause = status
                .is_server_error()
                .then(|| Cause(failure_cause(&reply).to_owned()));
            let media = [(CONTENT_TYPE, "application/json")];
            let mut response = (status, media, reply.text).into_response();
            if let Some(cause) = cause {
                response.extensions_mut().insert(cause);
            }
            response
        }
        Ok(None) => {
            let problem = not_offered(tool);
            refuse(status_of(&problem.code), problem)
        }
        Err(error) => {
            let problem = Problem::new("failed", error.to_string());
            refuse(StatusCode::INTERNAL_SERVER_ERROR, problem)
        }
    }
}

/// Creates the problem of a path to a tool that the server's options leave out.
pub(super) fn not_offered(tool: &str) -> Problem {
    let message = format!("this server doesn't offer `{tool}`");
    Problem::new("not_offered", message)
}

/// Returns the status of a problem; what a run refuses is a conflict with its state.
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

/// Finds a parameter that a query has twice, of which one value would be lost.
fn find_repeated(pairs: &[(String, String)]) -> Option<&str> {
    let mut seen = BTreeSet::new();
    let mut names = pairs.iter().map(|(name, _)| name.as_str());
    names.find(|name| !seen.insert(*name))
}

/// Converts a query to arguments of the types of the tool's schema; lists have commas.
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
        assert_eq!(find_repeated(&pairs), None);
        let twice = [pairs.as_slice(), &pairs[1..2]].concat();
        assert_eq!(find_repeated(&twice), Some("resume"));
        let wrong = vec![("limit".to_owned(), "many".to_owned())];
        assert_eq!(
            Value::Object(typed(wrong, schema.as_object().unwrap())),
            json!({"limit": "many"})
        );
    }
}
